#!/usr/bin/env python3
"""Compares two files of results and prints what changed beyond the noise.

    compare.py OLD.json NEW.json [--peer "postlude*"] [--deviations 4] [--least 0.03] [--allow-other-machine]

A time has changed when old and new medians differ by more than `deviations` standard deviations,
estimated from the spread of both (1.4826 times the median absolute deviation of the samples, divided
by the square root of their number, and never less than the share `least` of the old time).
Exit code 0: nothing is slower or wrong; 1: something is slower, newly outside its tolerance, or
was measured before and no longer is; 2: the files cannot be compared.
"""

import argparse
import fnmatch
import math
import sys

import results


def standard_error(entry):
    # The mean of normal samples has the standard deviation sigma / sqrt(n), their median pi / 2
    # times that variance; sigma is 1.4826 times the median absolute deviation.
    seconds = entry["seconds"]
    return 1.4826 * seconds["mad"] * math.sqrt(math.pi / 2 / seconds["samples"])


def threshold(old, new, deviations, least):
    """The change of the median, in seconds, that is taken to be real."""
    noise = math.hypot(standard_error(old), standard_error(new))
    return max(deviations * noise, least * old["seconds"]["median"])


def describe(verdict, key, old, new, limit):
    before, after = old["seconds"]["median"], new["seconds"]["median"]
    return (f"{verdict:8} {key[0]}, {key[1]}: {results.time_text(before)} -> {results.time_text(after)} "
            f"({after / before - 1:+.1%}, noise {limit / before:.1%})")


def compare(old, new, deviations, least):
    """Lines to print, and whether something got worse."""
    lines, is_worse, unchanged = [], False, 0
    for key, before in sorted(old.items()):
        after = new.get(key)
        if after is None:
            lines.append(f"{'gone':8} {key[0]}, {key[1]}: measured before and not now")
            is_worse = True
            continue
        if results.is_right(before) and not results.is_right(after):
            lines.append(f"{'wrong':8} {key[0]}, {key[1]}: {after['error']['violations']} of "
                         f"{after['error']['elements']} elements are outside the tolerance, none was before")
            is_worse = True
        limit = threshold(before, after, deviations, least)
        change = after["seconds"]["median"] - before["seconds"]["median"]
        if abs(change) <= limit:
            unchanged += 1
            continue
        is_worse = is_worse or change > 0
        lines.append(describe("slower" if change > 0 else "faster", key, before, after, limit))
    for key in sorted(set(new) - set(old)):
        lines.append(f"{'new':8} {key[0]}, {key[1]}: {results.time_text(new[key]['seconds']['median'])}")
    lines.append(f"{unchanged} of {len(old)} times did not change beyond the noise")
    return lines, is_worse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--peer", default="*", help="compare the times of these peers alone; * and ? as in a shell")
    parser.add_argument("--deviations", type=float, default=4)
    parser.add_argument("--least", type=float, default=0.03)
    parser.add_argument("--allow-other-machine", action="store_true")
    arguments = parser.parse_args()
    try:
        old, new = results.read(arguments.old), results.read(arguments.new)
    except (OSError, results.SchemaError) as error:
        print(error, file=sys.stderr)
        return 2
    machines = [results.machine_text(data) for data in (old, new)]
    if machines[0] != machines[1] and not arguments.allow_other_machine:
        print(f"these are of two machines: {machines[0]}; {machines[1]}", file=sys.stderr)
        return 2
    sides = [{key: entry for key, entry in results.merge([data]).items() if fnmatch.fnmatchcase(key[1], arguments.peer)}
             for data in (old, new)]
    if not sides[0]:
        print(f"{arguments.old} has nothing to compare", file=sys.stderr)
        return 2
    lines, is_worse = compare(*sides, arguments.deviations, arguments.least)
    print(f"{machines[0]}: {old['git'].get('commit', 'unknown')[:12]} of {old['date']} and "
          f"{new['git'].get('commit', 'unknown')[:12]} of {new['date']}")
    print("\n".join(lines))
    return 1 if is_worse else 0


if __name__ == "__main__":
    sys.exit(main())
