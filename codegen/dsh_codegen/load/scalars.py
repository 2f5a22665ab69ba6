"""Schemas of scalar values -> IR."""

from __future__ import annotations

import math
from typing import Any

from ..ir import Boolean, Literals, Null, Number, OpenEnum, Scalar, String, Type
from . import patterns
from .files import Place
from .profile import CONSTRAINTS


def scalar(kind: str, place: Place) -> Type:
    """The type of one scalar JSON type, with the constraints that `place` puts on it."""
    match kind:
        case "null":
            return Null()
        case "boolean":
            return Boolean()
        case "string":
            return String(size(place, "minLength") or 0, size(place, "maxLength"), _pattern(place), _excluded(place))
        case _:
            return Number(
                kind == "integer",
                minimum=_bound(place, "minimum"),
                maximum=_bound(place, "maximum"),
                exclusive_minimum=_bound(place, "exclusiveMinimum"),
                exclusive_maximum=_bound(place, "exclusiveMaximum"),
                multiple_of=_multiple(place),
            )


def literals(place: Place) -> Literals | OpenEnum:
    """The set of values that `enum` or `const` admits."""
    schema = place.value
    if schema.get("x-open") is True:
        return open_enum(place)
    keyword = "const" if "const" in schema else "enum"
    beside = (schema.keys() & CONSTRAINTS) - {keyword, "type"}
    if beside:
        raise place.refuse(f"{sorted(beside)} beside '{keyword}' are not supported; list the values that remain")
    values: list[Scalar] = []
    for value in [schema["const"]] if keyword == "const" else schema["enum"]:
        if isinstance(value, float) and value.is_integer():  # JSON may spell 2 as 2.0
            value = int(value)
        if isinstance(value, (dict, list, float)):
            raise place.child(keyword).refuse(
                f"the value {value!r} can't be a literal type; only strings, integers, booleans and null can"
            )
        if not _has_type(value, schema.get("type")):
            raise place.child(keyword).refuse(f"the value {value!r} is not of type {schema['type']!r}")
        if not any(value is other or (value == other and type(value) is type(other)) for other in values):
            values.append(value)
    if not values:
        raise place.child(keyword).refuse("no value is admitted")
    return Literals(tuple(values))


def open_enum(place: Place, keyword: str = "enum") -> OpenEnum:
    """A set of strings that may grow; a bundle lists the known ones under `x-known`."""
    schema = place.value
    beside = (schema.keys() & CONSTRAINTS) - {keyword, "type", "minLength"}
    values = schema.get(keyword, ())
    if beside or schema.get("type") != "string" or not values or not all(isinstance(value, str) for value in values):
        raise place.refuse(
            "an open enum reads {'type': 'string', 'enum': [strings], 'x-open': true}, and 'minLength' if needed"
        )
    shortest = size(place, "minLength") or 0
    short = next((value for value in values if len(value) < shortest), None)
    if short is not None:
        raise place.child(keyword).refuse(f"the value {short!r} is shorter than 'minLength'")
    return OpenEnum(tuple(dict.fromkeys(values)), shortest)


def size(place: Place, keyword: str) -> int | None:
    """A length or count, where there is one; JSON may spell 2 as 2.0."""
    value: int | float | None = place.value.get(keyword)
    return None if value is None else int(value)


def _pattern(place: Place) -> str | None:
    if "pattern" not in place.value:
        return None
    try:
        return patterns.portable(place.value["pattern"])
    except patterns.PatternError as error:
        raise place.child("pattern").refuse(f"the pattern can't be used: {error}") from None


def _excluded(place: Place) -> tuple[str, ...]:
    if "not" not in place.value:
        return ()
    rule = place.child("not").schema
    values: list[Any] = rule.get("enum", [])
    if set(rule) != {"enum"} or not values or not all(isinstance(value, str) for value in values):
        raise place.child("not").refuse("'not' is read only as {'enum': [strings]}")
    return tuple(dict.fromkeys(values))


def _bound(place: Place, keyword: str) -> int | float | None:
    value: int | float | None = place.value.get(keyword)
    if isinstance(value, float) and not math.isfinite(value):
        raise place.child(keyword).refuse("the bound is too large for a number")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _multiple(place: Place) -> int | None:
    value = place.value.get("multipleOf")
    if value is None:
        return None
    if isinstance(value, float) and not value.is_integer():
        raise place.child("multipleOf").refuse("a fractional 'multipleOf' is rounded differently by different engines")
    return int(value)


def _has_type(value: Any, named: Any) -> bool:
    if named is None:
        return True
    kinds = [named] if isinstance(named, str) else named
    kind = {str: "string", bool: "boolean", int: "integer", type(None): "null"}[type(value)]
    return kind in kinds or (kind == "integer" and "number" in kinds)
