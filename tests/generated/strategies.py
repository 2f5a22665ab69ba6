"""Hypothesis strategies for the valid instances of a bundle's definitions, read from the schema forms that bundles use.

Objects get members that their schema does not declare now and then, as those of later revisions have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.generated.revisions import Json, Revision, Schema, canonical, snake, target

Strategy = st.SearchStrategy[Any]

MOST_ITEMS: Final = 2
"""Items beyond the least number that an array gets."""

ODD_STRINGS: Final = ("", " ", "0", "a\nb", "\x00", "\u2028", "\ud800", "\U0001f600", '"""\\', "null", "__proto__", "{{ 7 }}")
ODD_NUMBERS: Final = (0, -1, 1, 1.0, 1.5, -0.0, 2**53 - 1, 2**53, float(2**60), 10**30, 1e308, -1e308, 5e-324)
ODD_NAMES: Final = ("extra", "x-future", "self", "__class__", "", "a b", "constructor", "\u2028")

_STRINGS: Final = st.one_of(st.sampled_from(ODD_STRINGS), st.text(max_size=6))
_SCALARS: Final[Strategy] = st.one_of(st.none(), st.booleans(), st.sampled_from(ODD_NUMBERS), _STRINGS)
_FLAT: Final[Strategy] = st.one_of(
    _SCALARS, st.lists(_SCALARS, max_size=2), st.dictionaries(st.sampled_from(ODD_NAMES), _SCALARS, max_size=2)
)
JSON: Final[Strategy] = st.one_of(
    _FLAT,
    st.lists(_FLAT, max_size=2),
    st.dictionaries(st.sampled_from(["type", "kind", "data", *ODD_NAMES]), _FLAT, max_size=3),
)
"""Any JSON value, mostly a small one."""


@cache
def instances(revision: Revision, definition: str) -> Strategy:
    """Valid instances of a definition."""
    return st.deferred(lambda: _schema(revision, revision.defs[definition]))


def _schema(revision: Revision, schema: Schema) -> Strategy:
    if "$ref" in schema:
        return instances(revision, target(schema))
    if "allOf" in schema:
        first, *rest = schema["allOf"]
        return _schema(revision, first).filter(Draft202012Validator({"allOf": rest}).is_valid)
    if "anyOf" in schema:
        return st.one_of([_schema(revision, arm) for arm in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from([schema["const"]] if "const" in schema else schema["enum"])
    if "type" not in schema:
        return JSON
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_KINDS[kind](revision, {**schema, "type": kind}) for kind in kinds])


def _object(revision: Revision, schema: Schema) -> Strategy:
    properties: Schema = schema.get("properties", {})
    required = schema.get("required", ())
    members = {wire: _schema(revision, inner) for wire, inner in properties.items()}
    declared = st.fixed_dictionaries(
        {wire: members[wire] for wire in required},
        optional={wire: inner for wire, inner in members.items() if wire not in required},
    )
    rest = schema.get("additionalProperties", True)
    if rest is False:
        return declared
    if isinstance(rest, dict):
        return st.dictionaries(_STRINGS, _schema(revision, rest), max_size=3)
    names = sorted({*ODD_NAMES, *map(snake, properties)} - properties.keys())
    unknown = st.dictionaries(st.sampled_from(names), JSON, min_size=1, max_size=2)
    return st.one_of(declared, declared, st.builds(dict[str, Any].__or__, declared, unknown))


def _array(revision: Revision, schema: Schema) -> Strategy:
    low = schema.get("minItems", 0)
    high = min(schema.get("maxItems", low + MOST_ITEMS), low + MOST_ITEMS)
    unique_by = canonical if schema.get("uniqueItems") else None
    return st.lists(_schema(revision, schema.get("items", {})), min_size=low, max_size=high, unique_by=unique_by)


def _string(_revision: Revision, schema: Schema) -> Strategy:
    if "pattern" in schema:
        return _matching(schema["pattern"])
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    long_enough = [text for text in ODD_STRINGS if low <= len(text) <= (high or len(text))]
    texts = st.text(min_size=low, max_size=low + 6 if high is None else min(high, low + 6))
    known = schema.get("x-known", ())
    strings = st.one_of([st.sampled_from(pool) for pool in (known, long_enough) if pool] + [texts])
    excluded = schema.get("not", {}).get("enum", ())
    return strings.filter(lambda text: text not in excluded) if excluded else strings


@cache
def _matching(pattern: str) -> Strategy:
    # hypothesis does not look ahead; the bundles do so only to say that `$` is the very end
    return st.from_regex(pattern.replace(r"$(?!\n)", r"\Z")).filter(lambda text: re.search(pattern, text) is not None)


def _number(_revision: Revision, schema: Schema) -> Strategy:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    integers: Strategy = st.integers(low, high).filter(_within(schema))
    edges = [bound for bound in (low, high, *ODD_NUMBERS) if bound is not None and _within(schema)(bound)]
    integral = [edge for edge in edges if float(edge).is_integer()]
    if schema["type"] == "integer":
        return st.one_of(integers, st.sampled_from(integral)) if integral else integers
    floats = st.floats(low, high, allow_nan=False, allow_infinity=False, exclude_min="exclusiveMinimum" in schema)
    return st.one_of(integers, floats.filter(_within(schema)), st.sampled_from(edges))


def _within(schema: Schema) -> Callable[[Json], bool]:
    return Draft202012Validator({key: schema[key] for key in schema.keys() & _BOUNDS}).is_valid


_BOUNDS: Final = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}

_KINDS: Final[dict[str, Callable[[Revision, Schema], Strategy]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": lambda _revision, _schema: st.booleans(),
    "null": lambda _revision, _schema: st.none(),
}
