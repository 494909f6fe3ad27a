#!/usr/bin/env python3
"""Holds GUIDE.md to the library.

    tests/docs/check_guide.py SOURCE_FOLDER PATH/TO/postlude

- Every operation of operation_table.hpp is in the guide, with its arguments and their defaults.
- Every block of the language (```postlude) can be planned.
- Every command of a ```console block prints what the guide shows.
- Every file of the source tree that is named in the guide exists.
"""

import pathlib
import re
import shlex
import subprocess
import sys

OPERANDS = {"c": "2", "seed": "3", "bias": "random:row", "scale": "random:col", "residual": "random:full",
            "gain": "random:element"}


def lines_of(table, header):
    """The lines X(...) of one list of the operation table, as lists of words without quotes."""
    body = re.search(rf"#define POSTLUDE_{table}\(X\)((?:.*\\\n)*.*\n)", header).group(1)
    body = re.sub(r'"\s+"', "", body.replace("\\\n", " "))  # strings in pieces
    for line in re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", body):
        yield [word.strip('"') for word in re.findall(r'"[^"]*"|[^,"\s]+', line)]


def expected_calls(header):
    for name, _, arguments, _ in lines_of("FUNCTION_OPERATIONS", header):
        yield f"`{name}({arguments})`"
    for alias, name in lines_of("ALIASES", header):
        yield f", `{alias}("
    for name, parameter, default, _ in lines_of("REDUCTIONS", header):
        yield f"`{name}(v, dim{f', {parameter}={default}' if parameter else ''})`"
    for name, arguments, _ in lines_of("COMPOSITES", header):
        yield f"`{name}({arguments})`"
    for name, _, _, _ in lines_of("OPERATOR_OPERATIONS", header):
        yield f"| `{name}` |"


def blocks(kind, guide):
    return re.findall(rf"^```{kind}\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)


def run(postlude, arguments):
    finished = subprocess.run([postlude, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return finished.returncode, finished.stdout


def main():
    root, postlude = pathlib.Path(sys.argv[1]), sys.argv[2]
    guide = (root / "GUIDE.md").read_text()
    header = (root / "include/postlude/operation_table.hpp").read_text()
    faults = []

    calls = list(expected_calls(header))
    faults += [f"not in the guide: {call}" for call in calls if call not in guide]

    programs = blocks("postlude", guide)
    for program in programs:
        arguments = ["explain", program, "--shape", "6,20,9"]
        for name, value in OPERANDS.items():
            if re.search(rf"\b{name}\b(?!\s*=[^=])", re.sub("#.*", "", program)):
                arguments += ["-D", f"{name}={value}"]
        code, output = run(postlude, arguments)
        if code != 0:
            faults.append(f"cannot be planned:\n{program}{output}")

    commands = blocks("console", guide)
    for command in commands:
        line, expected = command.split("\n", 1)
        _, output = run(postlude, shlex.split(line)[2:])
        if not output.startswith(expected):  # the command adds advice of its own
            faults.append(f"{line}\nprints\n{output}and not\n{expected}")

    files = set(re.findall(r"`((?:include|src|capi|tests|perf|cmake|examples)/[\w./]+)`", guide))
    files |= {link for link in re.findall(r"\]\(([^)#:]+)\)", guide)}
    faults += [f"no such file: {file}" for file in sorted(files) if not (root / file).exists()]

    if not (len(calls) > 70 and programs and commands and files):
        faults.append("the guide, or the operation table, could not be read")
    for fault in faults:
        print(fault)
    print(f"{len(calls)} operations, {len(programs)} programs, {len(commands)} commands, {len(files)} files: "
          f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
