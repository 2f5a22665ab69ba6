"""Object schemas and what they inherit.

An object may extend others: `allOf`, or `$ref` beside its own `properties`. `parts` lists the schemas whose members it unites,
bases first, so that the lowering can write one flat record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .files import Place, Source
from .profile import BY_KIND, CONSTRAINTS


@dataclass(frozen=True, slots=True)
class Part:
    """One schema whose `properties` and `required` belong to the object."""

    place: Place


def is_object(place: Place, source: Source, seen: tuple[str, ...] = ()) -> bool:
    """Whether `place` describes an object with members of its own (a plain `$ref` or map beside other types does not)."""
    schema = place.schema
    if schema.keys() & {"anyOf", "oneOf", "enum", "const"}:
        return False
    if schema.get("type") == "object":
        return True
    if "type" in schema:
        return False
    if schema.keys() & BY_KIND["object"]:
        return "$ref" in schema or "allOf" in schema
    return "allOf" in schema and (str(place) in seen or _all_objects(place, source, (*seen, str(place))))


def is_map(schema: dict[str, Any]) -> bool:
    """Whether an object schema names no member, so that it says nothing but what its values are."""
    if schema.keys() & {"$ref", "allOf"} or schema.get("properties") or schema.get("required"):
        return False
    free = schema.get("additionalProperties", True)
    return isinstance(free, dict) or (free is True and "properties" not in schema)


def parts(place: Place, source: Source, seen: tuple[str, ...] = ()) -> list[Part]:
    """The schemas to unite for the object at `place`, bases first, itself last. Raises `SchemaError` for what does not fit."""
    if str(place) in seen:
        raise place.refuse("the object extends itself")
    schema = place.value
    beside = (schema.keys() & CONSTRAINTS) - BY_KIND["object"] - {"type", "$ref", "allOf"}
    if beside:
        raise place.refuse(f"{sorted(beside)} beside an object's members are not supported")
    found: list[Part] = []
    for base in _bases(place, source):
        if not is_object(base, source):
            raise place.refuse(f"it extends {base}, which is not an object with members")
        found += parts(base, source, (*seen, str(place)))
    return [*found, Part(place)]


def _bases(place: Place, source: Source) -> list[Place]:
    schema = place.schema
    bases = [source.follow(schema["$ref"], place)] if "$ref" in schema else []
    for index in range(len(schema.get("allOf", ()))):
        base = place.child("allOf", index)
        plain_ref = "$ref" in base.schema and not base.schema.keys() & BY_KIND["object"]
        bases.append(source.follow(base.schema["$ref"], base) if plain_ref else base)
    return bases


def _all_objects(place: Place, source: Source, seen: tuple[str, ...]) -> bool:
    bases = _bases(place, source)
    return len(bases) > 1 and all(is_object(base, source, seen) for base in bases)
