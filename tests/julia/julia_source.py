"""Julia source files as syntax trees."""

from typing import NamedTuple

import tree_sitter
import tree_sitter_julia

LANGUAGE = tree_sitter.Language(tree_sitter_julia.language())


class Source(NamedTuple):
    path: str  # as it is shown
    text: bytes
    tree: object

    def at(self, node):
        return f"{self.path}:{node.start_point[0] + 1}"


class Call(NamedTuple):
    node: object
    function: str  # 'check', 'LibPostlude.postlude_execute'
    arguments: list  # nodes


def parse(path, text):
    return Source(str(path), text, tree_sitter.Parser(LANGUAGE).parse(text))


def text_of(node):
    """A node's text, without white space."""
    return "".join(node.text.decode().split())


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)


def named(node):
    """Children that are no punctuation and no comments."""
    return [each for each in node.children if each.is_named and "comment" not in each.type]


def ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def syntax_errors(source):
    for node in walk(source.tree.root_node):
        if node.is_missing:
            yield f"{source.at(node)}: syntax error: {node.type} is missing"
        elif node.type == "ERROR":
            yield f"{source.at(node)}: syntax error at '{node.text.decode().strip()[:40]}'"


def calls(root):
    for node in walk(root):
        if node.type != "call_expression":
            continue
        parts = named(node)
        lists = [each for each in parts if each.type == "argument_list"]
        if lists:
            yield Call(node, text_of(parts[0]), named(lists[0]))


def constants(root):
    """{name: value node} of `const name = value`."""
    found = {}
    for node in walk(root):
        if node.type == "const_statement":
            name, *_, value = named(named(node)[0])
            found[text_of(name)] = value
    return found


def structs(root):
    """{name: [(field, type)]} of struct definitions."""
    found = {}
    for node in walk(root):
        if node.type != "struct_definition":
            continue
        head, *body = named(node)
        fields = []
        for line in body:
            for each in named(line) if line.type == "block" else [line]:
                if each.type == "typed_expression":
                    field, type_ = named(each)
                    fields.append((text_of(field), text_of(type_)))
        found[text_of(head).split("<:")[0]] = fields
    return found


def is_signature(call):
    """True for the `f(x)` of a definition, `f(x) = ...` or `function f(x) ...`."""
    node, parent = call, call.parent
    while parent is not None and parent.type in ("where_expression", "typed_expression"):
        node, parent = parent, parent.parent
    if parent is None or parent.type not in ("signature", "assignment"):
        return False
    return named(parent)[0] == node
