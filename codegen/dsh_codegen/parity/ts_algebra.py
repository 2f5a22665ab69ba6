"""What TypeScript's operators do to shapes: intersections, `keyof`, assignability, `Exclude`. Only as far as JSON goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from .model import ABSENT, NOTHING, NUMBER, STRING, Member, Object, Place, Shape, json_text, kind, kind_of, union

Expand: TypeAlias = Callable[[str], "Shape | None"]
"""The shape behind a reference; None if there is none to be seen."""


def name_of(key: str) -> str:
    """The member name of a literal key: `"a"` -> a, `1` -> 1."""
    value = json.loads(key)
    return value if isinstance(value, str) else key


def objects_of(shape: Shape, expand: Expand, seen: frozenset[str] = frozenset()) -> list[Object]:
    """The objects of a shape, those behind its references included."""
    found = list(shape.objects)
    if shape.values is not None:
        found.append(Object((), True, shape.values))
    for name in sorted(shape.refs - seen):
        inner = expand(name)
        if inner is not None:
            found += objects_of(inner, expand, seen | shape.refs)
    return found


def spelled(shape: Shape, expand: Expand, seen: frozenset[str] = frozenset()) -> Shape:
    """A shape with the references expanded that stand for keys; one that leads back to itself stays."""
    for name in sorted(shape.refs - seen):
        inner = expand(name)
        if inner is not None:
            shape = union(replace(shape, refs=shape.refs - {name}), spelled(inner, expand, seen | shape.refs))
    return shape


def member_of(wire: str, shape: Shape, *, optional: bool, place: Place | None = None) -> Member:
    """A member as TypeScript has them: `undefined` is the same as optional."""
    required = not (optional or shape.absent)
    return Member(wire, required, required, replace(shape, absent=False), place=place)


def map_of(values: Shape) -> Shape:
    """A map; one that no value fits is an object without members."""
    return Shape(objects=(Object(()),)) if values == NOTHING else Shape(values=values)


def keys_of(objects: Sequence[Object]) -> Shape:
    """`keyof` a union of objects: the names that all of them have."""
    if not objects:
        return NOTHING
    names = {member.wire for member in objects[0].members if all(node.member(member.wire) for node in objects)}
    open_ = kind(STRING) if all(node.values is not None for node in objects) else NOTHING
    return union(Shape(literals=frozenset(json_text(name) for name in names)), open_)


def indexed(target: Shape, key: Shape, expand: Expand) -> Shape | None:
    """`T[K]`: what an array or the objects of `target` hold there; None if that is nothing."""
    found: list[Shape] = []
    if target.items is not None and key.kinds:
        found.append(target.items)
    for node in objects_of(target, expand):
        chosen = [member for member in node.members if json_text(member.wire) in key.literals]
        found += [member.shape if member.required else union(member.shape, ABSENT) for member in chosen]
        if node.values is not None:
            found.append(node.values)
    return union(NOTHING, *found) if found else None


def intersection(shapes: Sequence[Shape], expand: Expand) -> Shape:
    """The values of all of `shapes`. A scalar with an object is the scalar: the object is a brand, or `{}`."""
    scalars = [shape for shape in shapes if shape.kinds or shape.literals]
    if scalars:
        return _narrowest(scalars)
    known = [shape for shape in shapes if not shape.any]
    if len(known) < 2:
        return known[0] if known else shapes[0]
    strange = tuple(dict.fromkeys(text for shape in known for text in shape.unread))
    # `object` and `{}` add nothing to other objects
    parts = [found for shape in known if not all(map(_neutral, found := objects_of(shape, expand)))]
    if not parts:
        return Shape(objects=(Object(()),), unread=strange)
    if len(parts) == 1 and not strange:
        return next(shape for shape in known if not all(map(_neutral, objects_of(shape, expand))))
    merged = tuple(dict.fromkeys(_merged(chosen) for chosen in product(*parts)))
    return Shape(objects=merged, unread=strange)


def _narrowest(shapes: Sequence[Shape]) -> Shape:
    found = shapes[0]
    for other in shapes[1:]:
        literals = {text for text in found.literals if text in other.literals or kind_of(text) in other.kinds}
        literals |= {text for text in other.literals if kind_of(text) in found.kinds}
        found = replace(found, kinds=found.kinds & other.kinds, literals=frozenset(literals), null=found.null and other.null)
    return found


def _neutral(node: Object) -> bool:
    return not node.members and (node.values is None or node.values.any)


def _merged(nodes: Sequence[Object]) -> Object:
    members: dict[str, Member] = {}
    values: Shape | None = None
    for node in nodes:
        values = node.values if values is None else values
        for member in node.members:
            before = members.get(member.wire)
            members[member.wire] = member if before is None else _both(before, member)
    return Object(tuple(members.values()), None if values is None else True, values)


def _both(first: Member, second: Member) -> Member:
    """A member of two objects at once: the later one, unless the earlier one is narrower."""
    shape = first.shape if _within(first.shape, second.shape) else second.shape
    required = first.required or second.required
    return replace(second, shape=shape, required=required, sent=required)


def _within(inner: Shape, outer: Shape) -> bool:
    scalar = not (inner.refs or inner.objects or inner.any or inner.items or inner.values or inner.unread)
    covered = all(text in outer.literals or kind_of(text) in outer.kinds for text in inner.literals)
    return outer.any or (scalar and covered and inner.kinds <= outer.kinds)


def assignable(inner: Shape, outer: Shape, expand: Expand, depth: int = 0) -> bool | None:
    """Whether every value of `inner` is one of `outer`; None if the texts don't tell."""
    if outer.any or inner == NOTHING:
        return True
    for name in sorted(outer.refs - inner.refs):
        found = expand(name)
        if found is None or depth > 8:
            return None
        outer = union(replace(outer, refs=outer.refs - {name}), found)
    if inner.unread or outer.unread:
        return None
    if inner.refs <= outer.refs and not (inner.objects or inner.items or inner.values or inner.any):
        kinds = frozenset(NUMBER if name == "integer" else name for name in outer.kinds)
        covered = all(text in outer.literals or _coarse(kind_of(text)) in kinds for text in inner.literals)
        nothing_else = (not inner.null or outer.null) and (not inner.absent or outer.absent)
        return covered and inner.kinds <= outer.kinds and nothing_else
    if not (inner.refs or inner.objects or inner.items or inner.values):
        return False
    return None


def pick(shape: Shape, other: Shape, expand: Expand, *, keep: bool) -> Shape:
    """`Extract` (keep what is assignable to `other`) or `Exclude` (drop it), alternative by alternative."""
    parts = [
        *(Shape(literals=frozenset({text})) for text in sorted(shape.literals)),
        *(Shape(kinds=frozenset({name})) for name in sorted(shape.kinds)),
        *(Shape(refs=frozenset({name})) for name in sorted(shape.refs)),
        *(Shape(objects=(node,)) for node in shape.objects),
        *([Shape(null=True)] if shape.null else []),
    ]
    chosen = [part for part in parts if _matches(part, other, expand) == keep]
    return union(NOTHING, *chosen)


def _matches(part: Shape, other: Shape, expand: Expand) -> bool:
    holds = assignable(part, other, expand)
    if holds is not None:
        return holds
    node = next(iter(part.objects), None)
    for name in part.refs:
        behind = expand(name)
        node = behind.objects[0] if behind is not None and behind.objects else node
    return node is not None and any(_fits(node, wanted) for wanted in other.objects)


def _fits(node: Object, wanted: Object) -> bool:
    """Whether an object has every member of `wanted`, narrow enough."""
    return all(
        (found := node.member(member.wire)) is not None and _within(found.shape, member.shape) for member in wanted.members
    )


def _coarse(name: str) -> str:
    return NUMBER if name == "integer" else name
