#!/usr/bin/env python3
"""Prints the table, in Markdown, from files of results of one machine.

    table.py FILE.json... [--set NAME]
    table.py FILE.json... --readme README.md --pictures FOLDER

The time of every peer stands beside Postlude's, with its error against float64; below the table are
the geometric means of the ratios, and what is missing with the reason.

With --readme it writes the short table into that file, between the lines <!-- measured: begin --> and
<!-- measured: end -->, with the pictures of that folder and a link to its table.md.
"""

import argparse
import collections
import os
import pathlib
import sys

import results

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SHORT = {"s1": "S1", "s2_dim0": "S2, `dim=0`", "s2_dim1": "S2, `dim=1`"}


def error_text(entry):
    error = entry["error"]
    largest = error["largest_absolute_error"]
    text = "not finite" if largest is None else f"{largest:.1e}"
    if error["elements"] == 0:
        return error["checked"]
    if results.is_right(entry):
        return text
    return f"**{text}**"


def cell(entry):
    if entry is None:
        return "-"
    seconds = entry["seconds"]
    return f"{results.time_text(seconds['median'])} ± {seconds['mad'] / seconds['median']:.0%}, {error_text(entry)}"


def case_text(entry):
    return f"`{entry['text']}`, {entry['dtype']}, {entry['m']}x{entry['n']}x{entry['k']}"


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(measurements, peers):
    cases = dict.fromkeys(case for case, _ in measurements)
    lines = [row(["program, dtype, MxNxK", *peers]), "|---|" + "---|" * len(peers)]
    for case in cases:
        entries = [measurements.get((case, peer)) for peer in peers]
        first = next(entry for entry in entries if entry)
        lines.append(row([case_text(first).replace("|", "\\|"), *map(cell, entries)]))
    return lines


def wrong_of(measurements, peer, cases):
    return sum(not results.is_right(measurements[case, peer]) for case in cases)


def means(measurements, peers):
    """For each peer, the geometric mean of its time over that of each variant of Postlude's."""
    variants = [peer for peer in peers if results.is_postlude(peer)]
    lines = [row(["peer", *variants, "outside its tolerance"]), "|---|" + "---|" * (len(variants) + 1)]
    for peer in peers:
        if results.is_postlude(peer):
            continue
        cells = []
        for variant in variants:
            values = results.ratios(measurements, peer, lambda all, case: all.get((case, variant)))
            cells.append(f"{results.geometric_mean(values.values()):.2f}, {min(values.values()):.2f} to "
                         f"{max(values.values()):.2f}, {len(values)} cases" if values else "-")
        cases = [case for case, name in measurements if name == peer]
        lines.append(row([peer, *cells, f"{wrong_of(measurements, peer, cases)} of {len(cases)}"]))
    for variant in variants:
        cases = [case for case, name in measurements if name == variant]
        lines.append(row([variant, *["" for _ in variants],
                          f"{wrong_of(measurements, variant, cases)} of {len(cases)}"]))
    return lines if len(lines) > 2 + len(variants) else ["no peer was measured"]


def missing(files, cases):
    """A peer's reasons, each with the number of cases."""
    count = collections.Counter()
    for data in files:
        for entry in data["missing"]:
            if entry["case"] == "*" or cases is None or entry["case"].split("/")[0] == cases:
                count[entry["peer"], entry["reason"], entry["case"] == "*"] += 1
    return [f"- {peer}, {'all' if is_all else number} cases: {reason}"
            for (peer, reason, is_all), number in count.items()]


def head_text(files):
    head = results.head(files)
    versions = [f"{name} {data['software'][name]}" for data in files for name in ("cuda", "kokkos", "pytorch")
                if name in data["software"]]
    changes = ", with changes" if head["git"].get("changed") else ""
    return ", ".join([results.machine_text(head), f"backend {head['backend']}", *dict.fromkeys(versions),
                      head["date"][:10], f"commit {head['git'].get('commit', 'unknown')[:12]}{changes}"])


def named(measurements):
    """The cases that the targets speak of: the founding programs and the layers, in float32."""
    return {key: entry for key, entry in measurements.items()
            if entry["set"] in results.NAMED_SETS and entry["dtype"] == "f32"}


def long_text(files, measurements, only):
    peers = results.peers_of(measurements)
    lines = [f"{head_text(files)}. Median time ± its median absolute deviation, and the largest absolute error against "
             "float64, in bold where it is outside the tolerance.", "", *table(measurements, peers),
             "", "Time of each peer over that of each variant of Postlude's: geometric mean, least and largest.", ""]
    chosen = named(measurements)
    if chosen and len(chosen) < len(measurements):
        lines += ["The founding programs and the layers, f32:", "", *means(chosen, results.peers_of(chosen)),
                  "", "Everything:", ""]
    return "\n".join(lines + [*means(measurements, peers), "", "Missing:", "",
                              *(missing(files, only) or ["- nothing"])])


def short_text(files, measurements, pictures):
    """What stands in the README."""
    chosen = named(measurements)
    cases = [case for case in dict.fromkeys(case for case, _ in chosen) if results.ours(chosen, case)]
    variants = [peer for peer in results.OURS if any(results.ours(chosen, case)["peer"] == peer for case in cases)]
    founding = [case for case in cases if results.ours(chosen, case)["set"] == "founding"]
    names = [SHORT.get(results.ours(chosen, case)["program"], case) for case in founding]
    lines = [f"{head_text(files)}. Postlude is `{variants[0]}`"
             + "".join(f", and where that has not been measured `{variant}`" for variant in variants[1:])
             + ". Median times, in brackets the largest absolute error against float64, in bold where it is outside the "
             f"tolerance of 1e-4, absolute and relative; then the peer's time over Postlude's, over {len(cases)} "
             "programs.", "",
             row(["", *names, "geometric mean", "least and largest", "outside the tolerance"]),
             "|---|" + "---|" * (len(names) + 3)]

    def times(entries):
        return [f"{results.time_text(entry['seconds']['median'])} ({error_text(entry)})" if entry else "-"
                for entry in entries]

    mine = [results.ours(chosen, case) for case in cases]
    wrong = sum(not results.is_right(entry) for entry in mine)
    lines.append(row(["Postlude", *times(results.ours(chosen, case) for case in founding), "1", "",
                      f"{wrong} of {len(mine)}"]))
    for peer in results.peers_of(chosen):
        values = results.ratios(chosen, peer)
        if results.is_postlude(peer) or not values:
            continue
        lines.append(row([peer, *times(chosen.get((case, peer)) for case in founding),
                          f"{results.geometric_mean(values.values()):.2f}",
                          f"{min(values.values()):.2f} to {max(values.values()):.2f}",
                          f"{wrong_of(chosen, peer, values)} of {len(values)}"]))
    if pictures:
        lines += ["", f"[All numbers]({pictures}/table.md).", "", f"![Speed-ups]({pictures}/speedups.svg)", "",
                  f"![Roofline]({pictures}/roofline.svg)"]
    return "\n".join(lines)


def write_readme(path, text):
    whole = path.read_text(encoding="utf-8")
    begin, end = whole.find(BEGIN), whole.find(END)
    if begin < 0 or end < begin:
        print(f"{path} has no lines {BEGIN} and {END}", file=sys.stderr)
        return 2
    path.write_text(f"{whole[:begin]}{BEGIN}\n{text}\n{whole[end:]}", encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--set", help="cases of this set alone, for example layers")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        files = [results.read(path) for path in arguments.files]
    except (OSError, results.SchemaError) as error:
        print(error, file=sys.stderr)
        return 2
    machines = {results.machine_text(data) for data in files}
    if len({data["machine"].get("device") or data["machine"].get("processor") for data in files}) > 1:
        print(f"these are of several machines: {'; '.join(sorted(machines))}", file=sys.stderr)
        return 2
    measurements = {key: entry for key, entry in results.merge(files).items()
                    if arguments.set in (None, entry["set"])}
    if arguments.readme is None:
        print(long_text(files, measurements, arguments.set))
        return 0
    if not any(results.ours(measurements, case) for case, _ in named(measurements)):
        print("these have none of Postlude's results for the README", file=sys.stderr)
        return 2
    pictures = arguments.pictures and os.path.relpath(arguments.pictures, arguments.readme.resolve().parent)
    return write_readme(arguments.readme, short_text(files, measurements, pictures))


if __name__ == "__main__":
    sys.exit(main())
