#!/usr/bin/env python3
"""Draws two pictures from files of results of one machine, as SVG and PNG: the speed-ups over each peer
and the roofline.

    pictures.py FILE.json... --output FOLDER [--sets founding,layers] [--dtype f32]

Writes speedups.svg, speedups.png, roofline.svg and roofline.png. Needs Matplotlib.
"""

import argparse
import pathlib
import sys

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
         "svg.hashsalt": "postlude"}  # the same file from the same numbers


def selected(files, sets, dtype):
    return {key: entry for key, entry in results.merge(files).items()
            if entry["set"] in sets and entry["dtype"] == dtype}


def caption(files):
    head = files[0]
    return f"{results.machine_text(head)}, {head['date'][:10]}, commit {head['git'].get('commit', 'unknown')[:12]}"


def save(figure, folder, name):
    for suffix in ("svg", "png"):
        figure.savefig(folder / f"{name}.{suffix}", dpi=150, bbox_inches="tight",
                       metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)


def draw_speed_ups(files, measurements, folder, dtype):
    cases = [case for case, peer in measurements if peer == results.POSTLUDE]
    peers = [peer for peer in dict.fromkeys(peer for _, peer in measurements) if peer != results.POSTLUDE]
    if not cases or not peers:
        return False
    height = 0.9 / len(peers)
    figure, axes = plt.subplots(figsize=(9, 1.2 + len(cases) * max(0.32, 0.11 * len(peers))))
    for number, peer in enumerate(peers):
        colour = COLOURS[(number + 1) % len(COLOURS)]  # the first is Postlude's, in the other picture
        is_labelled = False
        for row, case in enumerate(cases):
            entry = measurements.get((case, peer))
            if entry is None:
                continue
            ratio = entry["seconds"]["median"] / measurements[case, results.POSTLUDE]["seconds"]["median"]
            # A wrong answer is hatched: its time is that of something else.
            is_right = results.is_right(entry)
            axes.barh(row - 0.45 + (number + 0.5) * height, ratio, height, facecolor=colour if is_right else "none",
                      edgecolor=colour, hatch=None if is_right else "////", linewidth=0.6,
                      label=None if is_labelled else peer)
            is_labelled = True
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_yticks(range(len(cases)))
    axes.set_yticklabels([label_of(measurements[case, results.POSTLUDE]) for case in cases])
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    low, high = axes.get_xlim()
    # Numbers between powers of ten have room where there are few powers.
    axes.xaxis.set_minor_formatter(matplotlib.ticker.LogFormatter(minor_thresholds=(2, 0.5)) if high / low < 100
                                   else matplotlib.ticker.NullFormatter())
    axes.set_xlabel("time of the peer / time of Postlude (above 1: Postlude is faster; hatched: outside tolerance)")
    axes.grid(axis="x")
    axes.set_title(f"Speed-ups, {dtype}\n{caption(files)}", fontsize=10)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.9 / figure.get_figheight()), ncols=2, fontsize=9)
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
    return bandwidth, {name: rate for name, rate in rates.items() if rate > 0}


def draw_roofline(files, measurements, folder, dtype):
    bandwidth, rates = roofs_of(files, dtype)
    peers = sorted(dict.fromkeys(peer for _, peer in measurements), key=lambda peer: peer != results.POSTLUDE)
    if not peers or bandwidth <= 0 or not rates:
        return False
    figure, axes = plt.subplots(figsize=(9, 5.5))
    intensities = [entry["flops"] / entry["bytes"] for entry in measurements.values()]
    low, high = min(intensities) / 3, max(intensities) * 3
    for (name, rate), line in zip(rates.items(), ("-", "--")):
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
