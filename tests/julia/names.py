"""Finds names that are neither defined in the package nor known to be Julia's.

Julia finds a misspelt name when the line runs, and nothing runs here. Scopes are not looked at: a name
counts as defined when anything of the same package or file has it.
"""

import julia_source as julia

# What the package uses of Base and the standard library; a new name is added here after a look into
# Julia's manual.
OF_JULIA = set("""
    Adjoint ArgumentError Base Bool Cdouble Core Cstring Csize_t Cvoid C_NULL DataType Dict Dims ENV
    Exception Float16 Float32 Float64 GC IO Int Int32 Int64 Integer LinearAlgebra NTuple Number Ptr Real
    ReentrantLock Ref StridedArray String Symbol Threads Transpose Tuple Type Union VersionNumber Vector
    AbstractArray AbstractString Array Any Nothing
    abs all any append! argmax ccall collect convert count eachcol eachindex eltype end error exit false
    fill finalize finalizer get get! haskey in include isa isempty join keys length lock max maximum min
    ndims new nothing ntuple occursin pairs parent pointer print println prod rand reinterpret repr
    reshape rethrow reverse show showerror similar size sizeof sprint sqrt stride strides string sum throw
    transpose true typeof unsafe_convert unsafe_string vec view zeros zip
    """.split())
MACROS = {"preserve", "test", "testset", "test_throws", "threads"}


def last_name(node):
    """The name that an expression like `f(x)::T where T`, `A{T} <: B` or `Base.show(io)` defines."""
    while True:
        if node.type == "field_expression":
            return None  # a method for somebody else's function
        if node.type == "identifier":
            return julia.text_of(node)
        if node.type == "operator":
            return None
        parts = julia.named(node)
        if not parts:
            return None
        node = parts[0]


def parameters(node):
    """Names of an argument list, or of the left side of an assignment."""
    if node.type == "identifier":
        yield julia.text_of(node)
    elif node.type in ("typed_expression", "named_argument", "assignment", "splat_expression"):
        parts = julia.named(node)
        # `::Type` has no name
        if node.type != "typed_expression" or len(parts) == 2:
            yield from parameters(parts[0])
    elif node.type in (
        "tuple_expression",
        "argument_list",
        "open_tuple",
        "parenthesized_expression",
    ):
        for part in julia.named(node):
            yield from parameters(part)


def defined_in(root):
    for node in julia.walk(root):
        parts = julia.named(node)
        if node.type in ("assignment", "for_binding"):
            left = parts[0]
            yield from parameters(left)
            if left.type in ("call_expression", "where_expression", "typed_expression"):
                yield from signature_names(left)
        elif node.type == "signature":
            yield from signature_names(parts[0])
        elif node.type == "function_expression" or node.type == "arrow_function_expression":
            yield from parameters(parts[0])
        elif node.type == "do_clause" or node.type == "catch_clause":
            if parts and parts[0].type in ("argument_list", "identifier"):
                yield from parameters(parts[0])
        elif node.type == "struct_definition":
            name = last_name(parts[0])
            yield name
            for each in julia.walk(parts[0]):
                if each.type == "curly_expression":
                    yield from (
                        julia.text_of(one) for one in julia.named(each) if one.type == "identifier"
                    )
        elif node.type == "module_definition":
            yield julia.text_of(parts[0])
        elif node.type in ("using_statement", "import_statement"):
            for each in julia.walk(node):
                if each.type == "identifier":
                    yield julia.text_of(each)


def signature_names(node):
    """Name, parameters and type parameters of a signature."""
    name = last_name(node)
    if name:
        yield name
    for each in julia.walk(node):
        if each.type == "argument_list":
            yield from parameters(each)
        elif each.type == "parenthesized_expression":  # (plan::Plan)(...)
            yield from parameters(each)
            for part in julia.named(each):
                yield from parameters(part)
        elif each.type == "where_expression":
            for part in julia.named(each)[1:]:
                for one in julia.walk(part):
                    if one.type == "identifier":
                        yield julia.text_of(one)


def is_field(node):
    """True for the b of `a.b`: whose it is cannot be told here."""
    parent = node.parent
    if parent is None or parent.type != "field_expression":
        return False
    return julia.named(parent)[0].start_byte != node.start_byte


def is_label(node):
    """True for names that are no variables: `:symbol`, `f(keyword = 1)`, fields, exports."""
    parent = node.parent
    if parent.type == "quote_expression" or any(
        each.type in ("export_statement", "using_statement", "import_statement")
        for each in julia.ancestors(node)
    ):
        return True
    if parent.type in ("named_argument", "named_field") and julia.named(parent)[0] == node:
        return True
    return (
        parent.type == "typed_expression"
        and any(each.type == "struct_definition" for each in julia.ancestors(node))
        and julia.named(parent)[0] == node
    )


def undefined_names(sources):
    defined = set(OF_JULIA)
    for source in sources:
        defined.update(name for name in defined_in(source.tree.root_node) if name)
    for source in sources:
        for node in julia.walk(source.tree.root_node):
            if node.type == "macro_identifier":
                name = julia.text_of(julia.named(node)[0])
                if name not in MACROS:
                    yield f"{source.at(node)}: @{name} is not defined"
            elif node.type == "identifier":
                if node.parent.type == "macro_identifier" or is_field(node) or is_label(node):
                    continue
                if julia.text_of(node) not in defined:
                    yield f"{source.at(node)}: {julia.text_of(node)} is not defined"
