"""Which way definitions travel, and which way a difference breaks.

A side that sends a type may be stricter than what its peer accepts, and a side that reads one more tolerant than what its peer
sends. So a difference breaks a direction only where the stricter one reads, or the wider one writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from .difference import TO_CLIENT, TO_SERVER, Direction, Relation, Role
from .model import Definition, Shape, Side


def opposite(direction: Direction) -> Direction:
    """The other way."""
    return TO_CLIENT if direction == TO_SERVER else TO_SERVER


def sent_by(sender: str | None) -> Direction:
    """The way of what `sender` writes."""
    return TO_CLIENT if sender == "server" else TO_SERVER


Links: TypeAlias = "dict[int, tuple[Definition, set[str]]]"
"""What definitions refer to, by their id; the definition is kept so that the id stays its own."""


def travel(side: Side, links: Links) -> dict[str, frozenset[Direction]]:
    """The ways each definition goes: params with the method, results against it, and all that they refer to."""
    roots: dict[Direction, set[str]] = {TO_SERVER: set(), TO_CLIENT: set()}
    for method in (side.methods or {}).values():
        way = sent_by(method.sender)
        roots[way] |= references(method.params) if method.params is not None else set()
        roots[opposite(way)] |= references(method.result) if method.result is not None else set()
    found: dict[str, set[Direction]] = {}
    for direction, names in roots.items():
        for name in reached(names, side.definitions, links):
            found.setdefault(name, set()).add(direction)
    return {name: frozenset(ways) for name, ways in found.items()}


def reached(names: Iterable[str], definitions: Mapping[str, Definition], links: Links) -> set[str]:
    """Those names and all that their definitions refer to."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        definition = definitions.get(name)
        if name not in found and definition is not None:
            found.add(name)
            if id(definition) not in links:
                links[id(definition)] = (definition, references(definition.shape))
            todo += links[id(definition)][1]
    return found


def references(shape: Shape) -> set[str]:
    """The names that a shape refers to itself."""
    found = set(shape.refs)
    for inner in (shape.items, shape.values):
        if inner is not None:
            found |= references(inner)
    for node in shape.objects:
        for member in node.members:
            found |= references(member.shape)
        if node.values is not None:
            found |= references(node.values)
    return found


def broken(relation: Relation, ways: Iterable[Direction], role: Role) -> tuple[Direction, ...]:
    """The directions in which a side of that relation to the schema breaks, if it plays `role`."""
    found: set[Direction] = set()
    for way in ways:
        sender = "client" if way == TO_SERVER else "server"
        sends, reads = role in ("both", sender), role != sender
        if (reads and relation in ("narrower", "other")) or (sends and relation in ("wider", "other")):
            found.add(way)
    return tuple(sorted(found))
