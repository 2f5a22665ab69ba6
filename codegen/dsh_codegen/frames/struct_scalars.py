"""What a schema says about scalars and lengths, as msgspec types that accept nothing else.

Everything here is an allowlist. What msgspec can't say exactly is left out, so that it is refused: a type may accept less than
its schema, and never more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Meta

from .struct_parts import JsonType, Limits, Scalar
from .tags import Schema

# As values, to be subscripted with what is known at run time only.
_ANNOTATED: Final[Any] = Annotated
_LITERAL: Final[Any] = Literal
_UNION: Final[Any] = Union
_DICT: Final[Any] = dict
_LIST: Final[Any] = list

# Constants are kept as 64-bit integers; a bound has to stay well away from where that ends.
_LEAST_CONSTANT: Final = -(2**63)
_GREATEST_CONSTANT: Final = 2**63 - 1
_GREATEST_BOUND: Final = 2**62
_LONGEST: Final = 2**31

_BOUNDS: Final = {"minimum": "ge", "maximum": "le", "exclusiveMinimum": "gt", "exclusiveMaximum": "lt"}
_LENGTHS: Final = {"minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length"}

KEYWORDS: Final[Mapping[str, frozenset[str]]] = {
    "null": frozenset(),
    "boolean": frozenset(),
    "integer": frozenset(_BOUNDS),
    "number": frozenset(_BOUNDS),
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}
"""What can be said here of each type that a schema names. A schema that says anything else is not understood."""


def one_of(types: Iterable[Any]) -> Any:
    """The union of these types, at least one."""
    return _UNION[tuple(types)]


def literal(values: Iterable[Any]) -> Any:
    """The type of these strings, integers or booleans, at least one."""
    return _LITERAL[tuple(dict.fromkeys(values))]


def takes_only(type_: Any, classes: Collection[type]) -> bool:
    """Whether all that a type takes is of one of these classes, which are some of those of scalars."""
    if get_origin(type_) is _LITERAL:
        return {value.__class__ for value in get_args(type_)} <= {*classes}
    if get_origin(type_) is _UNION:
        return all(takes_only(each, classes) for each in get_args(type_))
    return (get_args(type_)[0] if get_origin(type_) is _ANNOTATED else type_) in classes


def array_of(item: Any, limits: Limits) -> Any:
    """The type of arrays within limits."""
    return _limited(_LIST[item], limits)


def map_of(value: Any) -> Any:
    """The type of objects with any members."""
    return _DICT[str, value]


def _limited(type_: Any, limits: Limits) -> Any:
    return _ANNOTATED[type_, Meta(**limits)] if limits else type_


def constants(given: Iterable[Any], types: frozenset[str]) -> dict[JsonType, Scalar]:
    """Those of the constants that are of one of `types`, and that msgspec compares as JSON Schema does."""
    values = list(given)
    texts = [value for value in values if isinstance(value, str) and is_constant(value)]
    numbers = [value for value in values if not isinstance(value, str) and is_constant(value)]
    truths = {value for value in values if isinstance(value, bool)}
    found: dict[JsonType, Scalar] = {}
    if texts and "string" in types:
        found["string"] = Scalar(literal(texts))
    if numbers and types & {"integer", "number"}:
        found["number"] = Scalar(literal(numbers))
    if truths and "boolean" in types:
        found["boolean"] = Scalar(bool if len(truths) == 2 else literal(truths))
    if any(value is None for value in values) and "null" in types:
        found["null"] = Scalar(None)
    return found


def is_constant(value: Any) -> bool:
    """Whether msgspec takes a string or an integer as a constant."""
    return is_text(value) if isinstance(value, str) else type(value) is int and _LEAST_CONSTANT <= value <= _GREATEST_CONSTANT


def is_text(text: str) -> bool:
    """Whether `text` can be written in UTF-8."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def number(schema: Schema, *, integer: bool) -> Scalar | None:
    """Numbers within the bounds of `schema`; None if msgspec would compare them in another way.

    Integers and fractions are told apart: as a `float`, an integer beyond 2**53 would be rounded before it is compared.
    """
    whole: Limits = {}
    fraction: Limits = {}
    for keyword, name in _BOUNDS.items():
        if keyword not in schema:
            continue
        bound: Any = schema[keyword]
        if type(bound) not in (int, float) or not abs(bound) <= _GREATEST_BOUND or float(bound) != bound:
            return None
        lower = name in ("ge", "gt")
        if fraction.keys() & ({"ge", "gt"} if lower else {"le", "lt"}):
            return None  # msgspec takes one bound on each side
        fraction[name] = float(bound)
        if bound == int(bound):
            whole[name] = int(bound)
        else:
            whole |= {"ge": math.ceil(bound)} if lower else {"le": math.floor(bound)}
    if integer:
        return Scalar(_limited(int, whole))
    return Scalar(one_of([_limited(int, whole), _limited(float, fraction)]))


def string(schema: Schema) -> Scalar | None:
    """Strings as `schema` wants them; None if msgspec can't say it."""
    limits = lengths(schema, "minLength", "maxLength")
    if limits is None:
        return None
    if "pattern" in schema:
        pattern: Any = schema["pattern"]
        if not isinstance(pattern, str) or not _compiles(pattern):
            return None
        limits["pattern"] = pattern
    return Scalar(_limited(str, limits))


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def lengths(schema: Schema, least: str, most: str) -> Limits | None:
    """What `schema` says about a length under these keywords; None if msgspec can't say it."""
    found: Limits = {}
    for keyword in (least, most):
        if keyword in schema:
            length: Any = schema[keyword]
            if type(length) is not int or not 0 <= length <= _LONGEST:
                return None
            found[_LENGTHS[keyword]] = length
    return found
