#!/usr/bin/env python3
"""Checks that Postlude's source folders, its rooms, include each other in one direction only.

    check_rooms.py SOURCE_ROOT

Prints one line for each broken rule, `file:line: what is wrong`, and exits with 1 if there is one.
Includes are taken as written: also those that only some backend compiles, and none in comments.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

# The order in which data flows. A room includes itself and earlier ones.
ROOMS = ["expression", "evaluator", "program", "plan", "compilation", "gemm", "sweep", "execute", "reference", "cli"]

# Not a room of the flow: what the releases of Kokkos differ in, for the rooms that call Kokkos.
COMPAT = "compat"
MAY_INCLUDE_COMPAT = ["gemm", "sweep", "execute", "capi"]

# Rooms that a host compiler alone can build: no Kokkos and no CUDA, neither directly nor through
# any header of ours.
WITHOUT_KOKKOS = ["expression", "evaluator", "program", "plan"]
# Rooms whose functions run on the host only. (The evaluator's run on devices too.)
WITHOUT_DEVICE_CODE = ["expression", "program", "plan"]

# The oracle is written apart from what it judges.
NEVER_DIRECTLY = {"reference": ["evaluator"]}

SYSTEM_HEADERS_OF_C_INTERFACE = ["stddef.h", "stdint.h"]

BACKEND_HEADER = re.compile(r"(Kokkos|cuda|cublas|cutlass|nvrtc|nv/|cub/|thrust/|hip/|sycl/|CL/sycl)")
BACKEND_NAME = re.compile(r"\b(Kokkos\s*::|KokkosBlas\b|KOKKOS_\w+|cuda[A-Z]\w+)")
DEVICE_NAME = re.compile(r"\b(POSTLUDE_FUNCTION|POSTLUDE_ON_DEVICE|__device__|__global__|__CUDA_ARCH__)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE_SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".cuh", ".in"}


class Include(NamedTuple):
    line: int
    is_quoted: bool
    name: str

    def __str__(self):
        return f'"{self.name}"' if self.is_quoted else f"<{self.name}>"


class Violation(NamedTuple):
    file: str
    line: int
    text: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.text}"


def without_comments(text):
    """The text with comments blanked out, lines kept."""
    # A quoted part is matched first, so that a "//" inside it starts no comment.
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'

    def blank(match):
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return re.sub(pattern, blank, text, flags=re.DOTALL)


class SourceTree:
    """The files of a checkout and what they include."""

    def __init__(self, root):
        self.root = Path(root)
        self.lines = {}
        self.includes = {}
        for folder in ("src", "include", "capi"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.is_file() and path.suffix in SOURCE_SUFFIXES:
                    self.read(path)

    def read(self, path):
        name = path.relative_to(self.root).as_posix()
        self.lines[name] = without_comments(path.read_text(encoding="utf-8")).split("\n")
        self.includes[name] = []
        for number, line in enumerate(self.lines[name], start=1):
            match = INCLUDE.match(line)
            if match:
                self.includes[name].append(Include(number, match[1] == '"', match[2]))

    def resolve(self, file, include):
        """The file of this tree that an include names, None when it is none of ours."""
        candidates = [f"include/{include.name}", f"include/{include.name}.in", f"capi/include/{include.name}"]
        if include.is_quoted:
            candidates = [f"{file.rpartition('/')[0]}/{include.name}", f"src/{include.name}"] + candidates
        return next((name for name in candidates if name in self.includes), None)

    def path_to_backend(self, file, seen):
        """How `file` reaches a backend's header: the includes on the way, [] when it does not."""
        for include in self.includes[file]:
            if BACKEND_HEADER.match(include.name):
                return [str(include)]
            target = self.resolve(file, include)
            if target and target not in seen:
                seen.add(target)
                rest = self.path_to_backend(target, seen)
                if rest:
                    return [str(include)] + rest
        return []


def room_of(file):
    """The room that a file belongs to, "" for a file outside src/."""
    parts = file.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else ""


def check_include_of_room(tree, file, room, include):
    """What is wrong with one include of a file in src/, "" when nothing is."""
    target = tree.resolve(file, include)
    if room == "cli":
        is_own = include.is_quoted and target is not None and room_of(target) == "cli"
        is_public = not include.is_quoted and include.name == "postlude.h"
        is_ours = target is not None or include.name.startswith("postlude/")
        if BACKEND_HEADER.match(include.name):
            return f"the command is written on the C interface alone, not on {include}"
        if (include.is_quoted or is_ours) and not is_own and not is_public:
            return f"the command includes <postlude.h> and its own files only, not {include}"
        return ""
    if not include.is_quoted:
        if target and room_of(target):
            return f"{include} is private: it is included with quotes"
        return ""
    other = include.name.split("/")[0]
    if "/" not in include.name or other not in ROOMS + [COMPAT]:
        return f'{include} does not name a room: includes in src/ are "room/file.hpp"'
    if target is None:
        return f"{include} does not exist"
    if other == COMPAT:
        allowed = room == COMPAT or room in MAY_INCLUDE_COMPAT
        return "" if allowed else f"room {room} must not include {include}: only {', '.join(MAY_INCLUDE_COMPAT)} may"
    if room == COMPAT:
        return f"compat stands apart from the rooms and must not include {include}"
    if ROOMS.index(other) > ROOMS.index(room):
        return f"room {room} must not include {include}: {other} is a later room"
    if other in NEVER_DIRECTLY.get(room, []):
        return f"room {room} must not include {include}: it is written independently of {other}"
    return ""


def check_names(tree, file, pattern, reason):
    for number, line in enumerate(tree.lines[file], start=1):
        match = pattern.search(line)
        if match:
            yield Violation(file, number, f"{match.group()} in a room {reason}")


def check_room_file(tree, file, room):
    for include in tree.includes[file]:
        text = check_include_of_room(tree, file, room, include)
        if text:
            yield Violation(file, include.line, text)
    if room in WITHOUT_KOKKOS:
        for include in tree.includes[file]:
            if BACKEND_HEADER.match(include.name):
                yield Violation(file, include.line, f"room {room} must not include {include}: no Kokkos and no CUDA here")
                continue
            target = tree.resolve(file, include)
            path = tree.path_to_backend(target, {target}) if target else []
            if path:
                way = " -> ".join([str(include)] + path)
                yield Violation(file, include.line, f"room {room} must not reach Kokkos or CUDA: {way}")
        yield from check_names(tree, file, BACKEND_NAME, f"without Kokkos and CUDA: {room}")
    if room in WITHOUT_DEVICE_CODE:
        yield from check_names(tree, file, DEVICE_NAME, f"without device code: {room}")


def check_public_header(tree, file):
    for include in tree.includes[file]:
        target = tree.resolve(file, include)
        if include.is_quoted:
            yield Violation(file, include.line, f"a public header includes with <>, not {include}")
        elif include.name.startswith("postlude/") and target is None:
            yield Violation(file, include.line, f"{include} does not exist")
        elif (target and room_of(target)) or include.name.split("/")[0] in ROOMS + [COMPAT, "src"]:
            yield Violation(file, include.line, f"a public header must not include the private {include}")


def check_c_header(tree, file):
    for include in tree.includes[file]:
        if include.is_quoted or include.name not in SYSTEM_HEADERS_OF_C_INTERFACE:
            allowed = " and ".join(f"<{name}>" for name in SYSTEM_HEADERS_OF_C_INTERFACE)
            yield Violation(file, include.line, f"the C header includes {allowed} only, not {include}")


def check_c_source(tree, file):
    for include in tree.includes[file]:
        target = tree.resolve(file, include)
        room = room_of(target) if target else ""
        if room and not (room == COMPAT and "capi" in MAY_INCLUDE_COMPAT):
            yield Violation(file, include.line, f"the C interface is written on the public headers, not on {include}")


def check(tree):
    """Every broken rule of a SourceTree."""
    for file in tree.includes:
        room = room_of(file)
        if file.startswith("src/"):
            if room not in ROOMS + [COMPAT]:
                yield Violation(file, 1, "not in a room: add its folder to ROOMS in tests/rooms/check_rooms.py")
            else:
                yield from check_room_file(tree, file, room)
        elif file.startswith("include/"):
            yield from check_public_header(tree, file)
        elif file.startswith("capi/include/"):
            yield from check_c_header(tree, file)
        elif file.startswith("capi/src/"):
            yield from check_c_source(tree, file)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    tree = SourceTree(arguments[0])
    # A check that finds nothing to check must not pass.
    for room in ["expression", "program", "evaluator", "plan", "gemm", "sweep", "execute"]:
        if not any(room_of(file) == room for file in tree.includes):
            sys.exit(f"check_rooms.py: {arguments[0]}/src has no room {room}")
    violations = sorted(check(tree))
    for violation in violations:
        print(violation)
    count = sum(len(includes) for includes in tree.includes.values())
    print(f"{len(tree.includes)} files, {count} includes, {len(violations)} broken rules")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
