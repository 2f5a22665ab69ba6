"""The shape of a union: its arms by JSON type, and its objects by tag.

An arm counts only where `members` walks down that very arm for every value that the arm's shape takes. Else the walk might find
something undeclared in a value although this arm declares all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .struct_parts import JsonType, Part, Record, Records, Scalar, Tag
from .struct_scalars import is_constant

if TYPE_CHECKING:
    from .struct_shapes import Shapes
    from .tags import Definitions, Schema, TagTable


def union(shapes: Shapes, schema: Schema, entries: int) -> dict[JsonType, Part]:
    """What a schema with `anyOf` takes, by JSON type."""
    if "x-tag" in schema:
        return _tagged(shapes, schema, entries)
    arms: list[Any] = schema["anyOf"]
    found: dict[JsonType, Part] = {}
    walked: dict[JsonType, int] = {
        "object": _walked(arms, "object", shapes.definitions),
        "array": _walked(arms, "array", shapes.definitions),
    }
    for index, arm in enumerate(arms):
        for kind, part in shapes.parts(arm, entries):
            if kind not in found and walked.get(kind, index) == index:
                found[kind] = part
    return found


def _walked(arms: list[Any], kind: JsonType, definitions: Definitions) -> int:
    """The arm that `members` walks down for an array or an object; past the last one if there is none."""
    for index, arm in enumerate(arms):
        schema = definitions.resolve(arm)
        named: Any = schema.get("type", ())
        types: Sequence[str] = (named,) if isinstance(named, str) else named
        if kind == "object" if "x-tag" in schema else kind in types:
            return index
    return len(arms)


def _tagged(shapes: Shapes, schema: Schema, entries: int) -> dict[JsonType, Part]:
    """Scalars of any arm, and the objects of those arms to which their tag leads."""
    table = shapes.definitions.table(schema)
    found: dict[JsonType, Part] = {}
    records: list[tuple[Tag, Record]] = []
    for index, given in enumerate(schema["anyOf"]):
        arm, lost = _giving_way(given, table.tag)
        for kind, part in shapes.parts(arm, entries):
            if isinstance(part, Scalar):
                if lost is None:  # what gives way does so by `not`, which refuses all but objects
                    found.setdefault(kind, part)
                continue
            records += (
                (tag, record)
                for tag, record in _owned(part, table.tag, shapes.definitions)
                if tag not in (lost or ()) and _leads_to(index, record, tag, table, schema["anyOf"], shapes.definitions)
            )
    texts = any(isinstance(tag, str) for tag, _ in records)  # msgspec takes tags of one type
    by_tag = {tag: record for tag, record in records if isinstance(tag, str) is texts}
    if by_tag:
        found["object"] = Records(table.tag, by_tag)
    return found


def _giving_way(arm: Any, tag: str) -> tuple[Any, list[Any] | None]:
    """What an arm is that gives way to others (`x-by-member`), and the tags it may lose to them. None: it gives way to none."""
    schema: Any = arm
    if not isinstance(arm, dict) or set(schema) != {"allOf"}:
        return schema, None
    lost: list[Any] = []
    only, *rules = schema["allOf"]
    for rule in rules:
        refused = rule.get("not", {})
        tags = refused.get("properties", {}).get(tag, {}).get("enum", [])
        if rule != {"not": {"properties": {tag: {"enum": tags}}, "required": refused.get("required")}}:
            return False, []
        lost += tags
    return only, lost


def _owned(part: Part, tag: str, definitions: Definitions) -> Iterator[tuple[Tag, Record]]:
    """The objects of an arm by the values of `tag`."""
    if isinstance(part, Records) and part.tag == tag:
        yield from part.by_tag.items()
    elif isinstance(part, Record) and tag in part.required:
        schema = definitions.resolve(part.schema["properties"][tag])
        values: Any = [schema["const"]] if "const" in schema else schema.get("enum", [])
        yield from ((value, part) for value in values if is_constant(value))


def _leads_to(index: int, record: Record, tag: Tag, table: TagTable, arms: list[Any], definitions: Definitions) -> bool:
    """Whether `members` walks down arm `index` for each object of `record` with that tag."""
    rivals = [each for each in table.candidates({table.tag: tag}) if _may_report(definitions.resolve(arms[each]))]
    if rivals == [index]:
        return True
    if table.members.get(index) not in record.required:
        return False
    return not any(rival in table.members for rival in rivals if rival < index)


def _may_report(schema: Schema) -> bool:
    """Whether `members` can find anything below an arm."""
    return not schema.keys().isdisjoint({"properties", "additionalProperties", "anyOf", "allOf"})
