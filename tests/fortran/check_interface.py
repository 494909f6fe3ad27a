#!/usr/bin/env python3
"""Compares the Fortran module postlude_c with postlude.h.

    check_interface.py POSTLUDE_H POSTLUDE_C_F90 [GFORTRAN]

Every enumerator has to be there with its value, and every function; with GFORTRAN, which prints the
C prototypes of interfaces, the types of results and arguments are compared too. Prints one line for
each difference, and exits with 1 if there is one.
"""

import re
import subprocess
import sys
import tempfile


def header_parts(text):
    """({enumerator: value}, {function: [result type, argument types...]}) of postlude.h."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    enumerators = {
        name: int(value) for name, value in re.findall(r"\b(POSTLUDE_\w+) = (\d+)", text)
    }
    functions = {}
    for result, name, arguments in re.findall(
        r"POSTLUDE_API ([^;]*?)(postlude_\w+)\(([^;]*)\);", text
    ):
        parts = [] if arguments.strip() == "void" else arguments.split(",")
        functions[name] = [passed_as(result)] + [passed_as(part) for part in parts]
    return enumerators, functions


def passed_as(declaration):
    """How a value of a C type is passed: a pointer, int, long, float or double."""
    declaration = declaration.replace("postlude_value", "int64_t")  # its only 64-bit typedef
    if "*" in declaration or "[" in declaration:
        return "pointer"
    words = declaration.split()
    if "double" in words or "float" in words:
        return "double" if "double" in words else "float"
    if "size_t" in words or "int64_t" in words or "long" in words:
        return "long"
    return "int"  # int32_t, and the enumerations, which are that


def module_enumerators(text):
    pattern = r"parameter :: (POSTLUDE_\w+) = (\d+)_c_int32_t"
    return {name: int(value) for name, value in re.findall(pattern, text)}


def module_functions(text):
    return set(re.findall(r"^\s*function (postlude_\w+)\(", text, flags=re.M))


def prototypes(gfortran, path):
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(
            [gfortran, "-fsyntax-only", "-fc-prototypes", "-J", folder, path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    functions = {}
    for result, name, arguments in re.findall(
        r"^(.*?)(postlude_\w+) \((.*)\);$", printed, flags=re.M
    ):
        parts = [part for part in arguments.split(",") if part.strip()]
        functions[name] = [passed_as(result)] + [passed_as(part) for part in parts]
    return functions


def differences(header, module, printed):
    enumerators, functions = header_parts(header)
    if not enumerators or not functions:
        yield "nothing was found in the header"
    found = module_enumerators(module)
    for name in sorted(enumerators.keys() | found.keys()):
        if enumerators.get(name) != found.get(name):
            yield f"{name} is {found.get(name)} in the module and {enumerators.get(name)} in the header"
    for name in sorted(functions.keys() ^ module_functions(module)):
        yield f"{name} is only in the {'header' if name in functions else 'module'}"
    for name, types in sorted((printed or {}).items()):
        if types != functions.get(name, types):
            yield f"{name} is {types} in the module and {functions[name]} in the header"


def main(header_path, module_path, gfortran=None):
    with open(header_path, encoding="utf-8") as file:
        header = file.read()
    with open(module_path, encoding="utf-8") as file:
        module = file.read()
    printed = prototypes(gfortran, module_path) if gfortran else None
    if gfortran and not printed:
        return ["the compiler printed no prototypes"]
    # A check that cannot fail is none.
    broken = module.replace("_OVERLAP = 7_", "_OVERLAP = 8_").replace(
        "function postlude_free(", "function free("
    )
    assert len(list(differences(header, broken, printed))) >= 2
    if printed:
        assert list(
            differences(
                header.replace("int32_t postlude_version(", "double postlude_version("),
                module,
                printed,
            )
        )
    return list(differences(header, module, printed))


if __name__ == "__main__":
    found = main(*sys.argv[1:])
    print("\n".join(found) if found else "the module is as the header")
    sys.exit(1 if found else 0)
