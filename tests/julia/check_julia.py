#!/usr/bin/env python3
"""Checks the Julia package without running Julia.

    check_julia.py PACKAGE POSTLUDE_H C_COMPILER VERSION [JULIA_FILE...]

- every file follows Julia's grammar;
- in LibPostlude every constant, struct (fields, types, size, offsets) and ccall (name, types of result and
  arguments, their number and order) is as postlude.h says, and none is missing;
- the rest of the package calls LibPostlude with all arguments, inside GC.@preserve where pointers are
  passed, and looks at each status;
- names are defined, exported ones have docstrings, and Project.toml fits.

What it cannot see: types, dispatch, and whether the package does what it says. JULIA_FILEs, such as
examples, are checked for grammar and names. Prints one line for each fault and exits with 1 if there is one.
"""

import pathlib
import sys
import tomllib

import header as c_header
import julia_source as julia
import rules


def read_sources(package):
    paths = [
        path
        for folder in ("src", "ext", "test")
        for path in sorted((package / folder).glob("*.jl"))
    ]
    return [julia.parse(path.as_posix(), path.read_bytes()) for path in paths]


def faults(package, header_path, compiler, version, files=()):
    package = pathlib.Path(package)
    sources = read_sources(package)
    others = [julia.parse(path, pathlib.Path(path).read_bytes()) for path in files]
    found = [line for source in sources + others for line in julia.syntax_errors(source)]
    if found:
        return found  # a broken tree would only lead to more of the same

    header = c_header.read_header(header_path, compiler)
    if not header.functions or not header.structs or not header.enumerators:
        return [f"{header_path}: nothing was found in it"]
    by_name = {pathlib.Path(source.path).stem: source for source in sources}
    raw, main = by_name["LibPostlude"], by_name["Postlude"]
    rest = [source for source in sources if source is not raw]
    project_path = package / "Project.toml"
    project = tomllib.loads(project_path.read_text(encoding="utf-8"))
    extensions = [path.stem for path in (package / "ext").glob("*.jl")]

    checks = [
        rules.constants_are_the_headers(raw, header),
        rules.aliases_are_the_headers(raw, header),
        rules.structs_are_the_headers(raw, header),
        rules.ccalls_are_the_headers(raw, header),
        rules.ccalls_are_in_one_file(rest + others),
        rules.raw_names_exist(rest, raw),
        rules.raw_calls_have_all_arguments(rest, raw, header),
        rules.raw_calls_are_guarded(rest, header),
        rules.exports_are_documented(rest, main),
        rules.every_file_is_included(sources, main),
        rules.project_file_is_right(project_path, project, version, extensions),
        rules.dependencies_are_declared(sources + others, project),
        rules.names_are_defined(sources + others),
    ]
    return [line for check in checks for line in check]


def main(arguments):
    if len(arguments) < 4:
        sys.exit(__doc__)
    found = faults(*arguments[:4], arguments[4:])
    print("\n".join(found) if found else "no fault was found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
