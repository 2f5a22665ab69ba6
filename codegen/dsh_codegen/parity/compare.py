"""The sides of one revision against each other: pair by pair, definition by definition, then the method map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from .difference import Agreement, Difference, Direction, Role
from .found import MISSING, At, Found, Tags
from .judging import OF_METHODS, judged
from .memory import Memory
from .methods import compare_methods
from .model import Place, Shape, Side
from .pairwise import Pair
from .unions import dispatch, future


def compare(revision: str, sides: Sequence[Side], *, role: Role = "both") -> Agreement:
    """Compare the first side, the schema, with the others; generated sides with each other too.

    `role` is what a foreign side is used for; a generated one is used for both.
    """
    names = tuple(side.name for side in sides)
    return Agreement(revision, names, differences(revision, sides, role=role), _counts(sides), *_coverage(sides))


def differences(
    revision: str, sides: Sequence[Side], *, role: Role = "both", memory: Memory | None = None
) -> tuple[Difference, ...]:
    """What the sides say differently, definitions first, then methods, each by name."""
    schema = sides[0]
    memory = Memory() if memory is None else memory
    merged: dict[tuple[str, str, str], list[tuple[str, str, Found]]] = {}
    tags = memory.tags(schema)
    pairs = [pair for pair in combinations(sides, 2) if pair[0] is schema or (pair[0].complete and pair[1].complete)]
    for left, right in pairs:
        for found in _pair(left, right, tags, memory):
            merged.setdefault((found.at.definition, found.at.path, found.category), []).append((left.name, right.name, found))
    explained = {(definition, path) for definition, path, _ in merged}
    for left, right in pairs:
        if left is schema and right.complete:
            for found in _unions(schema, right, explained, memory.touched(schema, right)):
                key = (found.at.definition, found.at.path, found.category)
                merged.setdefault(key, []).append((left.name, right.name, found))
    ways: Mapping[str, frozenset[Direction]] = memory.travel(schema) if merged else {}
    generated = all(side.complete for side in sides)
    found_ = [
        judged(revision, key, founds, sides, ways, "both" if generated else role, generated=generated)
        for key, founds in merged.items()
    ]
    return tuple(sorted(found_, key=lambda each: (each.category in OF_METHODS, each.definition, each.path, each.category)))


def _pair(left: Side, right: Side, tags: Tags, memory: Memory) -> Iterator[Found]:
    nominal = left.complete and right.complete
    integers = left.integers and right.integers
    pair = Pair(left.definitions, right.definitions, tags, nominal=nominal, integers=integers)
    sides = (left.name, right.name)
    found: list[Found] = []
    for name in memory.changed(left, right) if nominal else left.definitions:
        definition, other = left.definitions[name], right.definitions.get(name)
        if other is not None:
            found += pair.definition(definition, other)
        elif nominal:
            found.append(Found(At(name), "definition", "narrower", "present", MISSING, (definition.place, None)))
    if nominal:
        for name in right.definitions.keys() - left.definitions.keys():
            place = right.definitions[name].place
            found.append(Found(At(name), "definition", "wider", MISSING, "present", (None, place)))
        if not found:
            memory.agreed.setdefault(sides, (left.definitions, right.definitions))
    else:
        found += _loose_ends(left, right)
    yield from found
    yield from compare_methods(left, right, pair)


def _unions(schema: Side, other: Side, explained: set[tuple[str, str]], names: Iterable[str]) -> Iterator[Found]:
    for name in names:
        if name in other.definitions:
            yield from dispatch(schema.definitions, schema.definitions[name], other.definitions[name], explained)
            yield from future(schema.definitions, schema.definitions[name], other.definitions[name], explained)


def _loose_ends(schema: Side, foreign: Side) -> Iterator[Found]:
    """References of a foreign side that lead nowhere, though the schema has such a definition."""
    wanted: dict[str, Place | None] = {}
    for definition in foreign.definitions.values():
        for name in _named(definition.shape):
            if name in schema.definitions and name not in foreign.definitions:
                wanted.setdefault(name, definition.place)
    for name, place in wanted.items():
        yield Found(At(name), "unread", "unseen", "present", "named, but its declaration was not found", (None, place))


def _named(shape: Shape) -> Iterator[str]:
    yield from shape.refs
    for inner in (shape.items, shape.values):
        if inner is not None:
            yield from _named(inner)
    for node in shape.objects:
        for member in node.members:
            yield from _named(member.shape)


def _counts(sides: Sequence[Side]) -> dict[str, int]:
    """What the schema and all other sides have in common."""
    schema, *others = sides
    shared = set(schema.definitions).intersection(*(side.definitions for side in others))
    members = sum(len(node.members) for name in shared for node in schema.definitions[name].shape.objects)
    tables = [side.methods for side in others if side.methods is not None]
    methods = sum(all(name in table for table in tables) for name in schema.methods or ()) if tables else 0
    return {"definitions": len(shared), "members": members, "methods": methods}


def _coverage(sides: Sequence[Side]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    foreign = [side for side in sides if not side.complete]
    if not foreign:
        return (), ()
    schema = sides[0].definitions
    found = {name for side in foreign for name in side.definitions}
    return tuple(name for name in schema if name not in found), tuple(sorted(found - set(schema)))
