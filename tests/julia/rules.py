"""The rules that the Julia package has to keep. Each gives one line for each breach."""

import re
import uuid

import julia_source as julia
from names import undefined_names

RAW = "LibPostlude"


# ---- Types ---------------------------------------------------------------------------------------

BASIC = {"int32_t": "Int32", "int64_t": "Int64", "size_t": "Csize_t", "double": "Cdouble"}


def julia_type(header, c_type):
    """The one Julia type that stands for a C type in LibPostlude."""
    array = re.fullmatch(r"(.*)\[(\d+)\]", c_type)
    if array:
        return f"NTuple{{{array[2]},{julia_type(header, array[1])}}}"
    if c_type == "char *":
        return "Cstring"
    if c_type == "void *":
        return "Ptr{Cvoid}"
    if c_type.endswith("*"):
        return f"Ptr{{{julia_type(header, c_type[:-1].rstrip())}}}"
    if c_type in BASIC:
        return BASIC[c_type]
    if c_type in header.integers or c_type in header.structs or c_type in header.opaque:
        return c_type
    raise ValueError(f"no Julia type is known for '{c_type}'")


def size_and_alignment(type_, structs, aliases):
    """As Julia lays out types without pointers to its own objects: as C does."""
    sizes = {"Int32": 4, "Int64": 8, "Csize_t": 8, "Cdouble": 8, "Cstring": 8}
    if type_ in sizes:
        return sizes[type_], sizes[type_]
    if type_.startswith("Ptr{"):
        return 8, 8
    array = re.fullmatch(r"NTuple\{(\d+),(.*)\}", type_)
    if array:
        size, alignment = size_and_alignment(array[2], structs, aliases)
        return size * int(array[1]), alignment
    if type_ in aliases:
        return size_and_alignment(aliases[type_], structs, aliases)
    if type_ in structs:
        return layout(structs[type_], structs, aliases)[1:]
    raise ValueError(f"the size of {type_} is not known")


def layout(fields, structs, aliases):
    """(offsets, size, alignment)"""
    offsets, end, widest = [], 0, 1
    for _, type_ in fields:
        size, alignment = size_and_alignment(type_, structs, aliases)
        end = -(-end // alignment) * alignment
        offsets.append(end)
        end += size
        widest = max(widest, alignment)
    return offsets, -(-end // widest) * widest, widest


# ---- LibPostlude against the header --------------------------------------------------------------


def integer_of(value):
    """3 for `Int32(3)`, else None."""
    found = re.fullmatch(r"Int32\((-?\d+)\)", julia.text_of(value))
    return int(found[1]) if found else None


def constants_are_the_headers(raw, header):
    found = {
        name: integer_of(value)
        for name, value in julia.constants(raw.tree.root_node).items()
        if name.startswith("POSTLUDE_")
    }
    for name in sorted(header.enumerators.keys() | found.keys()):
        if found.get(name) != header.enumerators.get(name):
            yield f"{raw.path}: {name} is {found.get(name)}: expected {header.enumerators.get(name)}"


def aliases_of(raw):
    return {
        name: julia.text_of(value)
        for name, value in julia.constants(raw.tree.root_node).items()
        if name.startswith("postlude_")
    }


def aliases_are_the_headers(raw, header):
    expected = {name: BASIC.get(type_, type_) for name, type_ in header.integers.items()}
    expected.update({name: "Cvoid" for name in header.opaque})
    found = aliases_of(raw)
    for name in sorted(expected.keys() | found.keys()):
        if found.get(name) != expected.get(name):
            yield f"{raw.path}: {name} is {found.get(name)}: expected {expected.get(name)}"


def structs_are_the_headers(raw, header):
    structs, aliases = julia.structs(raw.tree.root_node), aliases_of(raw)
    for name in sorted(structs.keys() ^ header.structs.keys()):
        yield f"{raw.path}: struct {name} is only in the {'package' if name in structs else 'header'}"
    for name in sorted(structs.keys() & header.structs.keys()):
        fields, struct = structs[name], header.structs[name]
        expected = [(field.name, julia_type(header, field.type)) for field in struct.fields]
        if fields != expected:
            yield f"{raw.path}: struct {name} has the fields {fields}: expected {expected}"
        try:
            offsets, size, _ = layout(fields, structs, aliases)
        except ValueError as error:
            yield f"{raw.path}: struct {name}: {error}"
            continue
        if size != struct.size:
            yield f"{raw.path}: struct {name} has {size} bytes: expected {struct.size}"
        if offsets != [field.offset for field in struct.fields]:
            yield (
                f"{raw.path}: struct {name} has its fields at {offsets}: expected "
                f"{[field.offset for field in struct.fields]}"
            )


def ccalls(source):
    for call in julia.calls(source.tree.root_node):
        if call.function == "ccall":
            yield call


def ccalls_are_the_headers(raw, header):
    called = []
    for call in ccalls(raw):
        at = raw.at(call.node)
        pointer, result, types, *arguments = call.arguments
        symbol = re.fullmatch(r"symbol\(:(\w+)\)", julia.text_of(pointer))
        if not symbol or types.type != "tuple_expression":
            yield f"{at}: a ccall is not of the form ccall(symbol(:name), Result, (Types...), arguments...)"
            continue
        name = symbol[1]
        called.append(name)
        if name not in header.functions:
            yield f"{at}: {name} is no function of the header"
            continue
        function = header.functions[name]
        expected = julia_type(header, function.result)
        if julia.text_of(result) != expected:
            yield f"{at}: {name} returns {julia.text_of(result)}: expected {expected}"
        found = [julia.text_of(each) for each in julia.named(types)]
        expected = [julia_type(header, each.type) for each in function.parameters]
        if found != expected:
            yield f"{at}: {name} takes ({', '.join(found)}): expected ({', '.join(expected)})"
        # A tuple of one type without its comma is no tuple, and was refused above.
        names = [each.name for each in function.parameters]
        if [julia.text_of(each) for each in arguments] != names:
            yield f"{at}: {name} is given ({', '.join(map(julia.text_of, arguments))}): expected ({', '.join(names)})"
        definition = next(
            (each for each in julia.ancestors(call.node) if each.type == "assignment"), None
        )
        signature = "nothing" if definition is None else julia.text_of(julia.named(definition)[0])
        if signature != f"{name}({','.join(names)})":
            yield f"{at}: {name} is called by {signature}: expected {name}({','.join(names)})"
    for name in sorted(header.functions):
        if called.count(name) != 1:
            yield f"{raw.path}: {name} has {called.count(name)} ccalls: expected 1"


# ---- The rest of the package against LibPostlude -------------------------------------------------


def ccalls_are_in_one_file(sources):
    for source in sources:
        for call in ccalls(source):
            yield f"{source.at(call.node)}: a ccall outside {RAW}"


def uses_of_raw(source):
    """(node, name) for each `LibPostlude.name`."""
    for node in julia.walk(source.tree.root_node):
        if node.type == "field_expression":
            found = re.fullmatch(rf"{RAW}\.(\w+)", julia.text_of(node))
            if found:
                yield node, found[1]


def raw_names_exist(sources, raw):
    root = raw.tree.root_node
    defined = set(julia.constants(root)) | set(julia.structs(root))
    defined |= {call.function for call in julia.calls(root) if julia.is_signature(call.node)}
    for source in sources:
        for node, name in uses_of_raw(source):
            if name not in defined:
                yield f"{source.at(node)}: {RAW}.{name} is not defined"


def raw_calls_have_all_arguments(sources, raw, header):
    structs = julia.structs(raw.tree.root_node)
    for source in sources:
        for call in julia.calls(source.tree.root_node):
            name = call.function.removeprefix(RAW + ".")
            if name == call.function or not (name in structs or name in header.functions):
                continue
            expected = (
                len(structs[name]) if name in structs else len(header.functions[name].parameters)
            )
            if len(call.arguments) != expected:
                yield f"{source.at(call.node)}: {name} has {len(call.arguments)} arguments: expected {expected}"


def is_preserved(node):
    return any(
        each.type == "macrocall_expression" and julia.text_of(each).startswith("GC.@preserve")
        for each in julia.ancestors(node)
    )


def raw_calls_are_guarded(sources, header):
    """A call that takes pointers keeps what they point to alive, and a status is looked at."""
    for source in sources:
        for call in julia.calls(source.tree.root_node):
            name = call.function.removeprefix(RAW + ".")
            if name == call.function or name not in header.functions:
                continue
            function = header.functions[name]
            if any("*" in each.type for each in function.parameters) and not is_preserved(
                call.node
            ):
                yield f"{source.at(call.node)}: {name} is called outside GC.@preserve"
            looks = call.node.parent is not None and call.node.parent.type == "argument_list"
            looks = looks and julia.text_of(call.node.parent.parent).startswith("check(")
            if function.result == "postlude_status" and not looks and not name.endswith("_destroy"):
                yield f"{source.at(call.node)}: the status of {name} is not checked"


# ---- The package as a whole ----------------------------------------------------------------------


def exported_names(main):
    for node in julia.walk(main.tree.root_node):
        if node.type == "export_statement":
            for each in julia.named(node):
                yield julia.text_of(each)


def documented_names(sources):
    """Names of the definitions that a string stands right before."""
    for source in sources:
        for node in julia.walk(source.tree.root_node):
            if node.type != "string_literal" or node.next_named_sibling is None:
                continue
            head = re.match(
                r"(?:mutable\s+)?(?:struct|function|module|macro)?\s*([\w!]+)",
                node.next_named_sibling.text.decode(),
            )
            if head:
                yield head[1]


def exports_are_documented(sources, main):
    documented = set(documented_names(sources))
    exported = list(exported_names(main))
    if not exported:
        yield f"{main.path}: nothing is exported"
    for name in exported:
        if name not in documented:
            yield f"{main.path}: {name} is exported and has no docstring"


def every_file_is_included(sources, main):
    included = {
        julia.text_of(call.arguments[0]).strip('"')
        for call in julia.calls(main.tree.root_node)
        if call.function == "include"
    }
    present = {source.path.rsplit("/", 1)[1] for source in sources if "/src/" in source.path} - {
        "Postlude.jl"
    }
    for name in sorted(included ^ present):
        yield f"{main.path}: {name} is {'not there' if name in included else 'not included'}"


def project_file_is_right(path, project, version, extensions):
    for key in ("name", "uuid", "version", "deps", "compat"):
        if key not in project:
            yield f"{path}: {key} is missing"
            return
    try:
        for owner, number in {
            "uuid": project["uuid"],
            **project["deps"],
            **project.get("weakdeps", {}),
        }.items():
            if str(uuid.UUID(number)) != number:
                yield f"{path}: the UUID of {owner} is not written as usual"
    except ValueError:
        yield f"{path}: the UUID of {owner} is none"
    if project["version"] != version:
        yield f"{path}: version is {project['version']}: expected {version}"
    for name, triggers in project.get("extensions", {}).items():
        if name not in extensions:
            yield f"{path}: there is no ext/{name}.jl"
        for trigger in [triggers] if isinstance(triggers, str) else triggers:
            if trigger not in project.get("weakdeps", {}):
                yield f"{path}: {name} is triggered by {trigger}, which is not in weakdeps"
            if trigger not in project["compat"]:
                yield f"{path}: {trigger} has no compat entry"
    for name in extensions:
        if name not in project.get("extensions", {}):
            yield f"{path}: ext/{name}.jl is not in extensions"


def dependencies_are_declared(sources, project):
    known = {"Postlude", "Test", *project["deps"], *project.get("weakdeps", {})}
    for source in sources:
        for node in julia.walk(source.tree.root_node):
            if node.type not in ("using_statement", "import_statement"):
                continue
            name = re.match(r"(?:using|import)\s+(\w+)", node.text.decode())
            if name and name[1] not in known:
                yield f"{source.at(node)}: {name[1]} is not among the dependencies"


def names_are_defined(sources):
    return undefined_names(sources)
