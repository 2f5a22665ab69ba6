"""The utility types of TypeScript that matter for JSON: containers, and objects with their members changed or chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .model import NOTHING, Member, Object, Shape, union, unread
from .ts_algebra import Expand, map_of, member_of, name_of, objects_of, pick, spelled


def utility(name: str, given: Sequence[Shape], expand: Expand) -> Shape | None:
    """What the utility type `name` makes of its arguments; None if there is no such type."""
    match name, given:
        case (("Array" | "ReadonlyArray" | "Set" | "ReadonlySet"), [item]):
            return Shape(items=item)
        case "Record", [keys, value]:
            return _record(keys, value, expand)
        case (("Readonly" | "NoInfer" | "Awaited"), [inner]):
            return inner
        case "NonNullable", [inner]:
            return replace(inner, null=False, absent=False)
        case (("Partial" | "Required"), [inner]):
            required = name == "Required"
            return _changed(inner, expand, lambda member: replace(member, required=required, sent=required))
        case (("Pick" | "Omit"), [inner, keys]):
            wanted = {name_of(key) for key in spelled(keys, expand).literals}
            return _changed(inner, expand, lambda member: member if (member.wire in wanted) == (name == "Pick") else None)
        case (("Exclude" | "Extract"), [inner, other]):
            return pick(inner, other, expand, keep=name == "Extract")
        case _:
            return None


def _record(keys: Shape, value: Shape, expand: Expand) -> Shape:
    keys = spelled(keys, expand)
    if keys.kinds or keys.any:
        return map_of(value)
    members = tuple(member_of(name_of(key), value, optional=False) for key in sorted(keys.literals))
    return Shape(objects=(Object(members),))


def _changed(shape: Shape, expand: Expand, change: Callable[[Member], Member | None]) -> Shape:
    """Every object of a shape with its members changed, or dropped."""
    found: list[Shape] = []
    for node in objects_of(shape, expand):
        members = tuple(new for member in node.members if (new := change(member)) is not None)
        found.append(Shape(objects=(Object(members, node.open, node.values),)))
    return union(NOTHING, *found) if found else unread("a utility type over something that is no object")
