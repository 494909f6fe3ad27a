"""What postlude.h declares: functions, enumerators and structs.

A parser of C tells the types, and a C compiler tells the values, sizes and offsets.
"""

import json
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

from pycparser import c_ast, c_parser


class Parameter(NamedTuple):
    name: str
    type: str


class Function(NamedTuple):
    result: str
    parameters: list


class Field(NamedTuple):
    name: str
    type: str
    offset: int
    size: int


class Struct(NamedTuple):
    size: int
    fields: list


class Header(NamedTuple):
    functions: dict
    structs: dict
    enumerators: dict
    integers: dict  # typedefs of integers, {"postlude_status": "int32_t"}
    opaque: set  # structs without fields


# Only what the parser has to know of the system's headers. The compiler gets the real ones.
STUBS = {
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "typedef int int32_t;\ntypedef long int64_t;\n",
}


def type_text(node):
    """'postlude_plan *', 'int64_t[3]': a type without its qualifiers."""
    if isinstance(node, c_ast.PtrDecl):
        return type_text(node.type).rstrip() + ("*" if type_text(node.type).endswith("*") else " *")
    if isinstance(node, c_ast.ArrayDecl):
        return f"{type_text(node.type)}[{node.dim.value}]"
    if isinstance(node, c_ast.TypeDecl):
        return type_text(node.type)
    if isinstance(node, c_ast.IdentifierType):
        return " ".join(node.names)
    if isinstance(node, c_ast.Struct):
        return f"struct {node.name}"
    raise ValueError(f"a type of the header is not understood: {node}")


def syntax_tree(path, compiler):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STUBS.items():
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        command = [
            compiler,
            "-E",
            "-P",
            "-nostdinc",
            "-I",
            folder,
            "-D__attribute__(x)=",
            str(path),
        ]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return c_parser.CParser().parse(text, str(path))


def measured(path, compiler, enumerators, fields):
    """Runs a C program that prints the enumerators' values, and sizes and offsets of the structs."""
    lines = [f'printf("\\"{name}\\": %ld,\\n", (long)({name}));' for name in enumerators]
    for struct, names in fields.items():
        lines.append(f'printf("\\"{struct}\\": %zu,\\n", sizeof({struct}));')
        for name in names:
            member = f"{struct}.{name}"
            lines.append(f'printf("\\"{member}\\": %zu,\\n", offsetof({struct}, {name}));')
            lines.append(
                f'printf("\\"sizeof {member}\\": %zu,\\n", sizeof((({struct} *)0)->{name}));'
            )
    program = (
        f'#include "{path}"\n#include <stdio.h>\nint main(void) {{\nprintf("{{");\n'
        + "\n".join(lines)
        + '\nprintf("\\"\\": 0}");\nreturn 0;\n}\n'
    )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "measure.c", pathlib.Path(folder) / "measure"
        source.write_text(program, encoding="utf-8")
        subprocess.run([compiler, "-o", str(binary), str(source)], check=True, capture_output=True)
        return json.loads(
            subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
        )


def read_header(path, compiler):
    path = pathlib.Path(path).resolve()
    functions, field_types, enumerator_names, integers, declared = {}, {}, [], {}, set()
    for node in syntax_tree(path, compiler).ext:
        if isinstance(node, c_ast.Typedef):
            inner = node.type.type
            if isinstance(inner, c_ast.Struct):
                declared.add(node.name)
                if inner.decls is not None:
                    field_types[node.name] = {
                        field.name: type_text(field.type) for field in inner.decls
                    }
            elif node.name.startswith("postlude_"):
                integers[node.name] = type_text(node.type)
        elif isinstance(node.type, c_ast.FuncDecl):
            parameters = [] if node.type.args is None else node.type.args.params
            functions[node.name] = Function(
                type_text(node.type.type),
                [
                    Parameter(each.name, type_text(each.type))
                    for each in parameters
                    if type_text(each.type) != "void"
                ],
            )
        elif isinstance(node.type, c_ast.Enum):
            enumerator_names += [each.name for each in node.type.values.enumerators]

    numbers = measured(path, compiler, enumerator_names, field_types)
    structs = {
        name: Struct(
            numbers[name],
            [
                Field(field, type_, numbers[f"{name}.{field}"], numbers[f"sizeof {name}.{field}"])
                for field, type_ in fields.items()
            ],
        )
        for name, fields in field_types.items()
    }
    enumerators = {name: numbers[name] for name in enumerator_names}
    return Header(functions, structs, enumerators, integers, declared - field_types.keys())
