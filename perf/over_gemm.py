#!/usr/bin/env python3
"""Prints, in Markdown, what each peer of a run in turns takes over the GEMM alone, and over Postlude.

    over_gemm.py FILE.json

FILE.json is of postlude_perf_suite --in-turns. A ratio is the median of the ratios of samples that were taken together.
"""

import argparse
import statistics
import sys

import results

GEMM = "BLAS, the GEMM alone"


def ratio(entry, other):
    """The median of entry's time over other's, sample by sample; None where one is missing."""
    if entry is None or other is None:
        return None
    pairs = zip(entry["seconds"]["in_turns"], other["seconds"]["in_turns"])
    return statistics.median(a / b for a, b in pairs)


def number(value):
    return "-" if value is None else f"{value:.3f}"


def table(data):
    entries = {(entry["case"], entry["peer"]): entry for entry in data["measurements"]
               if "in_turns" in entry["seconds"]}
    peers = [peer for peer in results.peers_of(entries) if peer not in (GEMM, results.POSTLUDE)]
    lines = ["| program, MxNxK | GEMM alone | Postlude | over the GEMM alone | " +
             " | ".join(f"{peer}, over Postlude" for peer in peers) + " |",
             "|---|" + "---|" * (len(peers) + 3)]
    for case in dict.fromkeys(case for case, _ in entries):
        gemm, mine = entries.get((case, GEMM)), entries.get((case, results.POSTLUDE))
        if mine is None:
            continue
        cells = [f"`{mine['text']}`, {mine['m']}x{mine['n']}x{mine['k']}".replace("|", "\\|"),
                 results.time_text(gemm["seconds"]["median"]) if gemm else "-",
                 results.time_text(mine["seconds"]["median"]), number(ratio(mine, gemm))]
        cells += [number(ratio(entries.get((case, peer)), mine)) for peer in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    try:
        print("\n".join(table(results.read(parser.parse_args().file))))
    except (OSError, results.SchemaError) as error:
        sys.exit(f"over_gemm.py: {error}")


if __name__ == "__main__":
    main()
