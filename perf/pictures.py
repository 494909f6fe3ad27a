#!/usr/bin/env python3
"""Draws two pictures from files of results of one machine, as SVG and PNG: the speed-ups over each peer
and the roofline.

    pictures.py FILE.json... --output FOLDER [--sets founding,layers] [--dtype f32]

Writes speedups.svg, speedups.png, roofline.svg and roofline.png. Needs Matplotlib.
"""

import argparse
import pathlib
import sys
import textwrap

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

import results

# The background stays transparent, and every colour here has a contrast of at least 3 to white and to
# GitHub's dark grey alike.
GREY = "#7d8590"
COLOURS = ["#2f81f7", "#d4691e", "#2da44e", "#bf5fd6", "#d6455d", "#1b9e9e", "#8f7a1a", "#6e7bd9"]
STYLE = {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "text.color": GREY,
         "axes.labelcolor": GREY, "axes.edgecolor": GREY, "xtick.color": GREY, "ytick.color": GREY,
         "grid.color": GREY, "grid.alpha": 0.25, "legend.frameon": False, "font.size": 10,
         "svg.fonttype": "none", "svg.hashsalt": "postlude"}  # the same file from the same numbers


# More would hide each other.
ROOFLINE_PEERS = (*results.OURS, "pytorch eager", "pytorch eager, tf32", "BLAS, one loop per operation",
                  "oneDNN with post-ops")


def selected(files, sets, dtype):
    return {key: entry for key, entry in results.merge(files).items()
            if entry["set"] in sets and entry["dtype"] == dtype}


def caption(files):
    head = results.head(files)
    return f"{results.machine_text(head)}, {head['date'][:10]}, commit {head['git'].get('commit', 'unknown')[:12]}"


def save(figure, folder, name):
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"{name}.{suffix}", dpi=150, bbox_inches="tight",
                       metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)


def draw_speed_ups(files, measurements, folder, dtype):
    """A panel for each peer, a row for each program."""
    cases = [case for case in dict.fromkeys(case for case, _ in measurements) if results.ours(measurements, case)]
    peers = [peer for peer in results.peers_of(measurements) if not results.is_postlude(peer)]
    if not cases or not peers:
        return False
    columns = min(len(peers), 5)
    lines = -(-len(peers) // columns)
    figure, grid = plt.subplots(lines, columns, sharex=True, sharey=True, squeeze=False,
                                figsize=(3.0 + 1.9 * columns, lines * (1.1 + 0.21 * len(cases))))
    for panel in grid.flat[len(peers):]:
        panel.set_visible(False)
    largest = max(max(results.ratios(measurements, peer).values(), default=1) for peer in peers)
    least = min(min(results.ratios(measurements, peer).values(), default=1) for peer in peers)
    for number, (peer, axes) in enumerate(zip(peers, grid.flat)):
        colour = COLOURS[(number + 1) % len(COLOURS)]  # the first is Postlude's, in the other picture
        ratios = results.ratios(measurements, peer)
        for row, case in enumerate(cases):
            if case not in ratios:
                axes.text(1, row, " not measured", va="center", fontsize=6)
                continue
            # A wrong answer is hatched: its time is that of something else.
            is_right = results.is_right(measurements[case, peer])
            axes.barh(row, ratios[case] - 1, 0.75, left=1, facecolor=colour if is_right else "none", edgecolor=colour,
                      hatch=None if is_right else "/////", linewidth=0.6)
            axes.text(max(ratios[case], 1), row, f" {ratios[case]:.2f}", va="center", fontsize=6)
        axes.axvline(1, color=GREY, linewidth=1)
        axes.set_xscale("log")
        axes.set_xlim(min(least, 1) / 1.3, max(largest, 1) * 2.2)
        axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
        axes.grid(axis="x")
        mean = f"geometric mean {results.geometric_mean(ratios.values()):.2f}" if ratios else "not measured"
        axes.set_title("\n".join(textwrap.wrap(peer, 24)) + f"\n{mean}", fontsize=8)
        axes.set_xlabel("peer's time / Postlude's", fontsize=7)
        axes.set_yticks(range(len(cases)))
        axes.set_yticklabels([label_of(results.ours(measurements, case)) for case in cases], fontsize=7)
        axes.set_ylim(len(cases) - 0.4, -0.6)
        axes.tick_params(axis="x", labelbottom=True, labelsize=7)
    variants = dict.fromkeys(results.ours(measurements, case)["peer"] for case in cases)
    figure.suptitle(f"Speed-ups, {dtype}: time of the peer / time of Postlude (above 1: Postlude is faster; hatched: the "
                    f"peer is outside the tolerance)\nPostlude is: {'; else: '.join(variants)}\n{caption(files)}",
                    fontsize=9)
    figure.tight_layout()
    save(figure, folder, "speedups")
    return True


def label_of(entry):
    return f"{entry['program'].replace('_', ' ')}, {entry['m']}x{entry['n']}x{entry['k']}"


def roofs_of(files, dtype):
    """Bytes a second and floating-point operations a second, the best that any file has measured."""
    bandwidth = max((data["roofs"].get("copy_bytes_per_second", 0) for data in files), default=0)
    names = [dtype] + (["tf32"] if dtype == "f32" else [])
    rates = {}
    for data in files:
        for name in names:
            rate = data["roofs"].get("gemm_flops_per_second", {}).get(name, 0)
            rates[name] = max(rates.get(name, 0), rate)
    rates = {name: rate for name, rate in rates.items() if rate > 0}
    if dtype == "f32":
        halves = max((data["roofs"].get("gemm_flops_per_second", {}).get("f16", 0) for data in files), default=0)
        if halves:
            rates["a third of the f16"] = halves / 3  # what float32 from products of float16 parts can reach
    return bandwidth, rates


def draw_roofline(files, measurements, folder, dtype):
    bandwidth, rates = roofs_of(files, dtype)
    peers = [peer for peer in results.peers_of(measurements) if peer in ROOFLINE_PEERS]
    measurements = {key: entry for key, entry in measurements.items() if key[1] in peers}
    if not peers or bandwidth <= 0 or not rates:
        return False
    figure, axes = plt.subplots(figsize=(9, 5.5))
    intensities = [entry["flops"] / entry["bytes"] for entry in measurements.values()]
    low, high = min(intensities) / 3, max(intensities) * 3
    for (name, rate), line in zip(rates.items(), ("-", "--", ":")):
        corner = rate / bandwidth
        points = sorted({low, min(max(corner, low), high), high})
        axes.plot(points, [min(rate, bandwidth * point) * 1e-12 for point in points], line, color=GREY, linewidth=1.3,
                  label=f"measured: copy {bandwidth * 1e-12:.3g} TB/s, {name} GEMM {rate * 1e-12:.3g} TFLOP/s")
    markers = "osD^vP*X"
    for number, peer in enumerate(peers):
        entries = [entry for (_, name), entry in measurements.items() if name == peer]
        for is_right in (True, False):
            chosen = [entry for entry in entries if results.is_right(entry) == is_right]
            if not chosen:
                continue
            colour = COLOURS[number % len(COLOURS)]
            axes.plot([entry["flops"] / entry["bytes"] for entry in chosen],
                      [entry["flops"] / entry["seconds"]["median"] * 1e-12 for entry in chosen],
                      markers[number % len(markers)], color=colour, markersize=5,
                      markerfacecolor=colour if is_right else "none",
                      label=peer if is_right else f"{peer}, outside tolerance")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("FLOPs of the GEMM / bytes of inputs and results, each once (FLOP/B)")
    axes.set_ylabel("achieved (TFLOP/s)")
    axes.grid(which="major")
    axes.set_title(f"Roofline, {dtype}\n{caption(files)}", fontsize=10)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, fontsize=8)
    save(figure, folder, "roofline")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--sets", default="founding,layers")
    parser.add_argument("--roofline-sets", default="founding,layers,batch_sweep,depth_sweep")
    parser.add_argument("--dtype", default="f32")
    arguments = parser.parse_args()
    try:
        files = [results.read(path) for path in arguments.files]
    except (OSError, results.SchemaError) as error:
        print(error, file=sys.stderr)
        return 2
    arguments.output.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update(STYLE)
    drawn = [draw_speed_ups(files, selected(files, arguments.sets.split(","), arguments.dtype), arguments.output,
                            arguments.dtype),
             draw_roofline(files, selected(files, arguments.roofline_sets.split(","), arguments.dtype),
                           arguments.output, arguments.dtype)]
    for name, is_drawn in zip(("speed-ups", "roofline"), drawn):
        if not is_drawn:
            print(f"{name}: the files have nothing to draw", file=sys.stderr)
    return 0 if all(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
