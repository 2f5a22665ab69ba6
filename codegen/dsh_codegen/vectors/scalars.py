"""Cases of types that hold no other type: strings, numbers, literals, and what is of another JSON type altogether."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from ..errors import CodegenError
from ..ir import Literals, Number, OpenEnum, Scalar, String
from .row import FUTURE, UNLISTED, Case, Reason, Value
from .text import beside, matching

LARGEST: Final = 4096
"""Bounds of lengths and counts beyond this get no values at them: vectors are to stay small."""

# by JSON type, what a careless peer sends in its place
_CONFUSED: Final[dict[str, tuple[Value, ...]]] = {
    "string": (7,),
    "number": (True, "1"),
    "boolean": (0, "true"),
    "array": ({}, "text"),
    "object": ([], "text"),
    "null": (0, ""),
}
_ANYTHING: Final[tuple[Value, ...]] = (7, "text", True, [], {})
_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


def json_type(value: Value) -> str:
    """The JSON type of a value; all numbers are of one."""
    return "null" if value is None else _JSON_TYPES[type(value)]


def wrong_types(kinds: Collection[str]) -> Iterator[Case]:
    """Values of JSON types other than `kinds`: null if that is one, and what is easily taken for the right type."""
    if "null" not in kinds:
        yield Case("negative", None, reason="null")
    likely = [value for kind in sorted(kinds) for value in _CONFUSED[kind] if json_type(value) not in kinds]
    for value in (likely or [value for value in _ANYTHING if json_type(value) not in kinds])[:2]:
        yield Case("negative", value, reason="wrong type")


def string_values(node: String) -> list[str]:
    """Valid strings, the shortest first. Raises `CodegenError` if none is known."""
    if node.pattern is not None:
        texts = matching(node.pattern)
    else:
        lengths = [node.min_length, node.min_length + 1, *([] if node.max_length is None else [node.max_length])]
        texts = ["x" * length for length in lengths if length <= max(LARGEST, node.min_length)]
        texts += [FUTURE, "text"]
        if node.excluded:
            texts = [FUTURE, *texts]
    found = [text for text in dict.fromkeys(texts) if not string_fault(node, text)]
    if not found:
        raise CodegenError(f"no string is known that fits {node}")
    return found


def string_fault(node: String, text: str) -> Reason:
    """Why a string does not fit, or empty."""
    import re

    if len(text) < node.min_length or (node.max_length is not None and len(text) > node.max_length):
        return "out of range"
    if node.pattern is not None and re.search(node.pattern, text) is None:
        return "pattern"
    return "wrong tag" if text in node.excluded else ""


def string_cases(node: String) -> Iterator[Case]:
    """Lengths at and just past each bound (in code points), the forms of a pattern and what is beside them, excluded values."""
    low, high = node.min_length, node.max_length
    lengths = (low - 1, low, *(() if high is None else (high, high + 1)))
    texts = ["\U0001f600" * length for length in lengths if 0 <= length <= LARGEST]
    if low == 1 and node.pattern is None:
        texts += ["", " "]
    if node.pattern is not None:
        texts += [*string_values(node)[:6], *beside(node.pattern)[:8]]
    texts += node.excluded
    for text in dict.fromkeys(texts):
        fault = string_fault(node, text)
        yield Case("negative" if fault else "boundary", text, reason=fault)


def number_fault(node: Number, value: int | float) -> Reason:
    """Why a number does not fit, or empty."""
    if node.integer and isinstance(value, float) and not value.is_integer():
        return "fraction"
    below = (node.minimum is not None and value < node.minimum) or (
        node.exclusive_minimum is not None and value <= node.exclusive_minimum
    )
    above = (node.maximum is not None and value > node.maximum) or (
        node.exclusive_maximum is not None and value >= node.exclusive_maximum
    )
    uneven = node.multiple_of is not None and value % node.multiple_of != 0
    return "out of range" if below or above or uneven else ""


def number_values(node: Number) -> list[int | float]:
    """Valid numbers, plain ones first. Raises `CodegenError` if none is known."""
    found = [value for value in _numbers(node) if not number_fault(node, value)]
    if not found:
        raise CodegenError(f"no number is known that fits {node}")
    return found


def number_cases(node: Number) -> Iterator[Case]:
    """Numbers at and on both sides of each bound; a fraction; an integer that is spelled with one."""
    for value in _numbers(node):
        fault = number_fault(node, value)
        yield Case("negative" if fault else "boundary", value, reason=fault)


def _numbers(node: Number) -> list[int | float]:
    step = node.multiple_of or 1
    bounds = [node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum]
    values: list[int | float] = [0, step]
    for bound in (bound for bound in bounds if bound is not None):
        whole = math.ceil(bound / step) * step if abs(bound) < 2**53 else bound
        values += [bound, bound - 1, bound + 1, whole, whole - step, whole + step]
        values += [bound - 0.5, bound + 0.5] if abs(bound) < 2**40 and not node.integer else []
    values += [float(step), 0.5, *([-step] if node.minimum is None else []), *([step + 1] if step > 1 else [])]
    fitting = next((value for value in values if not number_fault(node, value)), None)
    if node.integer and fitting is not None and abs(fitting) < 2**40:
        above = fitting + 0.5
        values.append(above if number_fault(replace(node, integer=False), above) == "" else fitting - 0.5)
    seen: dict[str, int | float] = {}
    for value in values:
        seen.setdefault(repr(value), value)
    return list(seen.values())


def literal_cases(node: Literals) -> Iterator[Case]:
    """Every value; one of the same JSON type that is not among them; an integer as 1.0, and not as true."""
    yield from (Case("enum", value) for value in node.values)
    for value in outside(node):
        yield Case("negative", value, reason="wrong constant")


def outside(node: Literals) -> list[Scalar]:
    """Values beside a closed set, of the JSON types that it has."""
    found: list[Scalar] = []
    kinds = {json_type(value) for value in node.values}
    if "string" in kinds:
        texts = [value for value in node.values if isinstance(value, str)]
        found += [text for text in (UNLISTED, texts[0].swapcase()) if text not in texts]
    if "number" in kinds:
        found.append(max(value for value in node.values if type(value) is int) + 1)
    if "boolean" in kinds:
        found += [value for value in (True, False) if not any(value is other for other in node.values)]
    return found


def open_enum_cases(node: OpenEnum) -> Iterator[Case]:
    """Every known value, one of the future, and what is too short."""
    yield from (Case("enum", value) for value in node.known)
    yield Case("future", FUTURE.ljust(node.min_length, "-"))
    yield Case("boundary", "x" * node.min_length)
    if node.min_length:
        yield Case("negative", "x" * (node.min_length - 1), reason="out of range")
