"""TypeScript that holds its values itself: predefined and literal types, the members of enums, constants."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tree_sitter import Node

from .model import ABSENT, ANY, BOOLEAN, NOTHING, NULL, NUMBER, STRING, Shape, kind, literal, union, unread
from .ts_nodes import number, string, text

_PREDEFINED: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "string": kind(STRING),
        "number": kind(NUMBER),
        "boolean": kind(BOOLEAN),
        "unknown": ANY,
        "any": ANY,
        "object": Shape(values=ANY),
        "undefined": ABSENT,
        "void": ABSENT,
        "null": NULL,
        "never": NOTHING,
    }
)


def predefined(node: Node) -> Shape:
    """`string`, `unknown`, `never` and their like."""
    return _PREDEFINED.get(text(node), unread(text(node)))


def written(node: Node) -> Shape:
    """A literal type."""
    inner = node.named_children[0] if node.named_children else node
    match inner.type:
        case "string":
            return literal(string(inner))
        case "number":
            return literal(number(inner))
        case "unary_expression":
            return literal(-number(inner.named_children[0]))
        case "true" | "false":
            return literal(inner.type == "true")
        case _:
            return predefined(inner)


def enumerated(node: Node) -> Shape:
    """The values of an enum's body; those without a value of their own are counted."""
    values: list[Shape] = []
    following = 0
    for part in node.named_children:
        value = part.child_by_field_name("value") if part.type == "enum_assignment" else None
        if part.type == "comment":
            continue
        if value is None:
            values.append(literal(following))
            following += 1
        elif value.type == "string":
            values.append(literal(string(value)))
        elif value.type == "number":
            following = int(number(value))
            values.append(literal(following))
            following += 1
        else:
            values.append(unread(text(part)))
    return union(NOTHING, *values)


def constant(node: Node) -> Shape:
    """A value written `as const`."""
    match node.type:
        case "as_expression" | "satisfies_expression" | "parenthesized_expression":
            return constant(node.named_children[0])
        case "array":
            return Shape(items=union(NOTHING, *(constant(part) for part in node.named_children)))
        case "string":
            return literal(string(node))
        case "number":
            return literal(number(node))
        case _:
            return unread(text(node))
