#!/usr/bin/env python3
"""Prints the README's table, in Markdown, from files of results of one machine.

    table.py FILE.json... [--set NAME]

The time of every peer stands beside Postlude's, with its error against float64; below the table are
the geometric means of the speed-ups over right answers, and what is missing with the reason.
"""

import argparse
import collections
import sys

import results


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


def columns_of(measurements):
    peers = list(dict.fromkeys(peer for _, peer in measurements))
    return sorted(peers, key=lambda peer: peer != results.POSTLUDE)


def table(measurements, peers):
    cases = dict.fromkeys(case for case, _ in measurements)
    lines = ["| program, dtype, MxNxK | " + " | ".join(peers) + " |", "|---|" + "---|" * len(peers)]
    for case in cases:
        entries = [measurements.get((case, peer)) for peer in peers]
        first = next(entry for entry in entries if entry)
        text = case_text(first).replace("|", "\\|")
        lines.append(f"| {text} | " + " | ".join(cell(entry) for entry in entries) + " |")
    return lines


def speed_ups(measurements, peers):
    lines = []
    for peer in peers:
        if peer == results.POSTLUDE:
            continue
        ratios, wrong = [], 0
        for (case, name), entry in measurements.items():
            ours = measurements.get((case, results.POSTLUDE))
            if name != peer or ours is None:
                continue
            wrong += not results.is_right(entry)
            ratios.append(entry["seconds"]["median"] / ours["seconds"]["median"])
        if ratios:
            lines.append(f"- {peer}: geometric mean {results.geometric_mean(ratios):.2f}, {min(ratios):.2f} to "
                         f"{max(ratios):.2f}, over {len(ratios)} cases, of which the peer is outside the tolerance in "
                         f"{wrong}")
    return lines


def missing(files, cases):
    """A peer's reasons, each with the number of cases."""
    count = collections.Counter()
    for data in files:
        for entry in data["missing"]:
            if entry["case"] == "*" or cases is None or entry["case"].split("/")[0] == cases:
                count[entry["peer"], entry["reason"], entry["case"] == "*"] += 1
    return [f"- {peer}, {'all' if is_all else number} cases: {reason}"
            for (peer, reason, is_all), number in count.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--set", help="cases of this set alone, for example layers")
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
    peers = columns_of(measurements)
    head = files[0]
    print(f"{results.machine_text(head)}, backend {head['backend']}, {head['date'][:10]}, commit "
          f"{head['git'].get('commit', 'unknown')[:12]}{', with changes' if head['git'].get('changed') else ''}. "
          "Median time ± its median absolute deviation, and the largest absolute error against float64, in bold where "
          "it is outside the tolerance.")
    print()
    print("\n".join(table(measurements, peers)))
    print("\nTime of each peer over Postlude's:\n")
    print("\n".join(speed_ups(measurements, peers) or ["- no peer was measured"]))
    print("\nMissing:\n")
    print("\n".join(missing(files, arguments.set) or ["- nothing"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
