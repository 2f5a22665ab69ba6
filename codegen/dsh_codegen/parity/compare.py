"""The sides of one revision against each other: pair by pair, definition by definition, then the method map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, compress
from operator import is_not
from typing import Final
from urllib.parse import quote

from dsh_codegen.parity.difference import Agreement, Difference, Direction, Relation, Role, Severity
from dsh_codegen.parity.direction import Links, broken, opposite, sent_by, travel
from dsh_codegen.parity.model import Definition, Method, Object, Place, Shape, Side, text
from dsh_codegen.parity.pairwise import MISSING, At, Found, Pair, Tags
from dsh_codegen.parity.unions import dispatch, future, reached_arms, tags_of

_METHOD: Final = frozenset({"method", "sender", "params", "result"})


@dataclass(slots=True)
class Memory:
    """Generated sides that agreed. Comparing almost the same sides again asks only for definitions that are new objects."""

    agreed: dict[tuple[str, str], tuple[Mapping[str, Definition], Mapping[str, Definition]]] = field(
        default_factory=dict[tuple[str, str], tuple[Mapping[str, Definition], Mapping[str, Definition]]]
    )

    arms: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    links: Links = field(default_factory=dict[int, tuple[Definition, set[str]]])

    last: tuple[Side, Tags, Mapping[str, frozenset[Direction]]] | None = None

    def tags(self, schema: Side) -> Tags:
        """The tags of the unions of the schema."""
        return self._of(schema)[0]

    def travel(self, schema: Side) -> Mapping[str, frozenset[Direction]]:
        """The ways of the definitions of the schema."""
        return self._of(schema)[1]

    def _of(self, schema: Side) -> tuple[Tags, Mapping[str, frozenset[Direction]]]:
        if self.last is None or self.last[0] is not schema:
            self.last = (schema, tags_of(schema.definitions), travel(schema, self.links))
        return self.last[1:]

    def touched(self, schema: Side, other: Side) -> list[str]:
        """The tagged unions that were not compared yet as they are, and with all their arms as they are."""
        tagged = [name for name, definition in schema.definitions.items() if definition.tag is not None]
        if (schema.name, other.name) not in self.agreed:
            return tagged
        known, theirs = self.agreed[schema.name, other.name]
        changed = _replaced(known, schema.definitions) | _replaced(theirs, other.definitions)
        return [name for name in tagged if name not in known or changed & reached_arms(name, known, self.arms)]

    def changed(self, left: Side, right: Side) -> list[str]:
        """The definitions of `left` that were not compared yet as they are."""
        mine, theirs = self.agreed.get((left.name, right.name), ({}, {}))
        changed = _replaced(mine, left.definitions) | _replaced(theirs, right.definitions)
        return [name for name in left.definitions if name in changed] if changed else []


def _replaced(before: Mapping[str, Definition], now: Mapping[str, Definition]) -> set[str]:
    """The names whose definition is another object, new and gone ones included."""
    if before is now:
        return set()
    if list(before) == list(now):
        return set(compress(now, map(is_not, before.values(), now.values())))
    return {name for name in {*before, *now} if before.get(name) is not now.get(name)}


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
        _difference(revision, key, founds, sides, ways, "both" if generated else role, generated=generated)
        for key, founds in merged.items()
    ]
    return tuple(sorted(found_, key=lambda each: (each.category in _METHOD, each.definition, each.path, each.category)))


def renamed(side: Side, names: Mapping[str, str | None]) -> Side:
    """A side with its definitions called as in the schema; those mapped to None match nothing by their names."""
    if not names:
        return side
    known = {name: f"{name} (theirs)" if new is None else new for name, new in names.items()}
    definitions: dict[str, Definition] = {}
    for name, definition in side.definitions.items():
        new = known.get(name, name)
        definitions[new] = replace(definition, name=new, shape=_renamed(definition.shape, known))
    methods = side.methods and {
        name: replace(
            method,
            params=method.params and _renamed(method.params, known),
            result=method.result and _renamed(method.result, known),
        )
        for name, method in side.methods.items()
    }
    return replace(side, definitions=definitions, methods=methods)


def _renamed(shape: Shape, names: Mapping[str, str]) -> Shape:
    return replace(
        shape,
        refs=frozenset(names.get(name, name) for name in shape.refs),
        items=shape.items and _renamed(shape.items, names),
        values=shape.values and _renamed(shape.values, names),
        objects=tuple(
            Object(
                tuple(replace(member, shape=_renamed(member.shape, names)) for member in node.members),
                node.open,
                node.values and _renamed(node.values, names),
            )
            for node in shape.objects
        ),
    )


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
            found.append(Found(At(name), "definition", "narrower", "there", MISSING, (definition.place, None)))
    if nominal:
        for name in right.definitions.keys() - left.definitions.keys():
            place = right.definitions[name].place
            found.append(Found(At(name), "definition", "wider", MISSING, "there", (None, place)))
        if not found:
            memory.agreed.setdefault(sides, (left.definitions, right.definitions))
    else:
        found += _loose_ends(left, right)
    yield from found
    yield from _methods(left, right, pair)


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
        yield Found(At(name), "unread", "unseen", "there", "named, but not there to be read", (None, place))


def _named(shape: Shape) -> Iterator[str]:
    yield from shape.refs
    for inner in (shape.items, shape.values):
        if inner is not None:
            yield from _named(inner)
    for node in shape.objects:
        for member in node.members:
            yield from _named(member.shape)


# The method map


def _methods(left: Side, right: Side, pair: Pair) -> Iterator[Found]:
    if left.methods is None or right.methods is None:
        return
    for name in dict.fromkeys([*left.methods, *right.methods]):
        one, other = left.methods.get(name), right.methods.get(name)
        if one is None or other is None:
            places = (None if one is None else one.place, None if other is None else other.place)
            said = (MISSING, _signature(other)) if one is None else (_signature(one), MISSING)
            yield Found(At(name), "method", "wider" if one is None else "narrower", *said, places)
            continue
        places = (one.place, other.place)
        if one.name != other.name:
            yield Found(At(name), "method", "other", one.name, other.name, places)
            continue
        if one.sender is not None and other.sender is not None and one.sender != other.sender:
            yield Found(At(name), "sender", "other", one.sender, other.sender, places)
        for way, first, second in (("params", one.params, other.params), ("result", one.result, other.result)):
            if first is None or second is None:
                if first is not second:
                    yield Found(At(name), way, "other", _shown(first), _shown(second), places)
            elif right.complete and first != second:
                yield Found(At(name), way, "other", text(first), text(second), places)
            else:
                yield from pair.shapes(first, second, At(name, f".{way}"))


def _signature(method: Method | None) -> str:
    if method is None:
        return MISSING
    kind = "notification" if method.result is None else "request"
    return f"{kind} of the {method.sender}" if method.sender else kind


def _shown(shape: Shape | None) -> str:
    return "none" if shape is None else text(shape)


# Differences


def _difference(
    revision: str,
    key: tuple[str, str, str],
    founds: Sequence[tuple[str, str, Found]],
    sides: Sequence[Side],
    ways: Mapping[str, frozenset[Direction]],
    role: Role,
    *,
    generated: bool,
) -> Difference:
    definition, path, category = key
    said: dict[str, str] = {}
    places: dict[str, Place] = {}
    for left, right, found in founds:
        for side, shown, place in ((left, found.left, found.places[0]), (right, found.right, found.places[1])):
            said.setdefault(side, shown)
            if place is not None:
                places.setdefault(side, place)
    relation = founds[0][2].relation if generated else _together(found.relation for _, _, found in founds)
    methods = sides[0].methods or {}
    method = category in _METHOD or definition in methods
    travels: Iterable[Direction] = _of_method(methods.get(definition), path, category) if method else ways.get(definition, ())
    breaks = broken(relation, travels, role)
    return Difference(
        revision,
        category,
        definition,
        path,
        tuple((side.name, said.get(side.name)) for side in sides),
        tuple(dict.fromkeys((left, right) for left, right, _ in founds)),
        relation,
        breaks,
        _severity(relation, breaks, bool(travels), category, generated=generated),
        _pointer(sides[0], definition, path, method=method),
        tuple(places.items()),
    )


def _together(relations: Iterable[Relation]) -> Relation:
    """One relation for a difference that was found more than once, in several arms."""
    found: set[Relation] = {relation for relation in relations if relation != "unseen"}
    if len(found) > 1:
        return "other"
    return found.pop() if found else "unseen"


def _severity(relation: Relation, breaks: Sequence[Direction], travels: bool, category: str, *, generated: bool) -> Severity:
    if breaks or generated:
        return "error"
    return "warning" if relation == "unseen" or not travels or category == "unread" else "note"


def _of_method(method: Method | None, path: str, category: str) -> tuple[Direction, ...]:
    if method is None:
        return ()
    way = sent_by(method.sender)
    if category == "sender":
        return tuple({way, opposite(way)})
    return (opposite(way),) if category == "result" or path.startswith(".result") else (way,)


def _pointer(schema: Side, definition: str, path: str, *, method: bool) -> str:
    """The place in the bundle, as far as it has one."""
    if method:
        names = list(schema.methods or {})
        return f"#/x-methods/{names.index(definition)}" if definition in names else "#/x-methods"
    found = schema.definitions.get(definition)
    if found is None:
        return "#/$defs"
    steps = [f"#/$defs/{_step(definition)}"]
    node = found.shape.objects[0] if found.shape.objects else None
    # longest first: a member's name may contain a dot
    for member in sorted(node.members if node else (), key=lambda each: -len(each.wire)):
        if path == f".{member.wire}" or path.startswith(
            (f".{member.wire}.", f".{member.wire}[", f".{member.wire}{{", f".{member.wire}<")
        ):
            steps += ["properties", _step(member.wire)]
            path = path[len(member.wire) + 1 :]
            break
    while path.startswith(("[]", "{}")):
        steps.append("items" if path.startswith("[]") else "additionalProperties")
        path = path[2:]
    return "/".join(steps)


def _step(name: str) -> str:
    return quote(name.replace("~", "~0").replace("/", "~1"), safe="~$()!*'@:,;&=+")


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
