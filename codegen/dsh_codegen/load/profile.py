"""The part of JSON Schema 2020-12 that has an exact counterpart in the IR, as tables.

A keyword is an annotation (read for docs or ignored), a constraint (read by the type it belongs to) or refused. A keyword that
the standard doesn't know is an annotation, as the standard says.
"""

from __future__ import annotations

from typing import Any, Final

from .files import Place

GENERAL: Final = frozenset("type enum const $ref allOf anyOf oneOf not".split())
BY_KIND: Final = {
    "object": frozenset("properties required additionalProperties".split()),
    "array": frozenset("items minItems maxItems uniqueItems".split()),
    "string": frozenset("minLength maxLength pattern not".split()),
    "integer": frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()),
    "number": frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
}
CONSTRAINTS: Final = GENERAL.union(*BY_KIND.values())
REFUSED: Final = frozenset(
    "if then else dependentRequired dependentSchemas dependencies prefixItems contains minContains maxContains "
    "unevaluatedItems unevaluatedProperties patternProperties propertyNames minProperties maxProperties "
    "$anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary".split()
)

EXTENSIONS: Final[dict[str, dict[str, Any]]] = {
    "x-abstract": {"type": "boolean"},
    "x-by-member": {"type": "object", "additionalProperties": {"type": "string"}},
    "x-known": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "x-lenient": {"type": "boolean"},
    "x-module": {"type": "string"},
    "x-open": {"type": "boolean"},
    "x-tag": {"type": "string"},
}
"""Our own keywords, and what their values must look like, as JSON Schema."""


def kinds_of(place: Place) -> tuple[str, ...]:
    """The JSON types a plain schema names, in order; none if it constrains nothing. Refuses keywords of other types."""
    schema = place.value
    named = schema.get("type", ())
    kinds: tuple[str, ...] = (named,) if isinstance(named, str) else tuple(named)
    if "integer" in kinds and "number" in kinds:
        kinds = tuple(kind for kind in kinds if kind != "integer")
    spoken = frozenset[str]().union(*(BY_KIND[kind] for kind in kinds))
    for keyword in schema:
        if keyword in CONSTRAINTS - GENERAL - spoken or (keyword == "not" and "string" not in kinds):
            owners = " or ".join(sorted(kind for kind, keywords in BY_KIND.items() if keyword in keywords)) or "nothing"
            raise place.child(keyword).refuse(f"'{keyword}' speaks of {owners} only; name that in 'type'")
    return kinds
