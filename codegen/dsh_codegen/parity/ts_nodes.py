"""What one node of TypeScript's syntax tree says: its text, its value if it is a literal, and its parts."""

from __future__ import annotations

import json
import re
from typing import Final

from tree_sitter import Node

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def text(node: Node | None) -> str:
    """The source text of a node."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "surrogatepass")


def string(node: Node) -> str:
    """The value of a string literal."""
    return "".join(_unescaped(part) if part.type == "escape_sequence" else text(part) for part in node.named_children)


def _unescaped(node: Node) -> str:
    escape = text(node)
    if code := re.fullmatch(r"\\(?:u\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))", escape):
        return chr(int(next(filter(None, code.groups())), 16))
    return _ESCAPES.get(escape[1:], escape[1:].removeprefix("\n"))


def number(node: Node) -> int | float:
    """The value of a number literal."""
    source = text(node).replace("_", "")
    try:
        return int(source, 0)
    except ValueError:
        return float(json.loads(source))


def child(node: Node, name: str) -> Node:
    """A part that nodes of this type always have."""
    found = node.child_by_field_name(name)
    assert found is not None, f"{node.type} without {name}"
    return found


def bare(node: Node) -> Node:
    """The type behind a `: `, or the type itself."""
    return node.named_children[0] if node.type.endswith("type_annotation") else node


def parameters(node: Node) -> list[Node]:
    """The type parameters of a declaration."""
    found = node.child_by_field_name("type_parameters")
    return [] if found is None else [part for part in found.named_children if part.type == "type_parameter"]


def parents(node: Node) -> list[Node]:
    """The types that an interface or a class extends."""
    clauses = [part for part in node.named_children if part.type == "extends_type_clause"]
    for heritage in (part for part in node.named_children if part.type == "class_heritage"):
        clauses += [part for part in heritage.named_children if part.type == "extends_clause"]
    return [parent for clause in clauses for parent in clause.named_children]
