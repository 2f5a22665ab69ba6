"""Why a group of the JSON-Schema-Test-Suite is refused: a keyword outside the profile, or one of these limits within it.

`dsh_codegen.load.profile` is the authority on keywords. It lists those that are refused wherever they stand; the others are
refused only in the forms that this table names, each told by the words of the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dsh_codegen.load.profile import REFUSED


@dataclass(frozen=True, slots=True)
class Limit:
    """A form that the profile leaves out although its keywords are in it. `words` find it in the text of a refusal."""

    name: str
    words: re.Pattern[str]
    why: str


LIMITS: Final = tuple(
    Limit(name, re.compile(words), why)
    for name, words, why in (
        (
            "keyword without its type",
            r"'\w+' speaks of .+ only; name that in 'type'",
            "values of other types would pass unjudged, which is an author's slip far more often than a wish",
        ),
        ("'allOf' of what is no object", r"'allOf' is read for objects only", "members can be united, other constraints can't"),
        (
            "extending what is no object",
            r"it extends .+, which is not an object with members",
            "members can be united, other constraints can't",
        ),
        (
            "constraints beside a union",
            r"beside '(anyOf|oneOf)' are not supported",
            "no type says them; an arm can",
        ),
        ("arms of one JSON type", r"two arms take a JSON \w+", "no codec could choose an arm without trying"),
        ("arms that overlap in 'oneOf'", r"two arms admit the same values", "an arm would have to exclude another"),
        ("nothing is admitted", r"'false' admits nothing|no value is admitted", "there is no instance to have a type"),
        ("a boolean as a whole schema", r"a schema file holds one JSON object", "there is nothing to generate"),
        (
            "an array, object or fraction as a literal",
            r"can't be a literal type",
            "neither language has a literal type for it",
        ),
        ("a fractional 'multipleOf'", r"a fractional 'multipleOf'", "engines round it differently"),
        ("a pattern that engines read differently", r"the pattern can't be used", "it must mean the same everywhere"),
        ("a default that is no instance", r"the default is not valid", "it would be written into the types"),
        ("a remote reference", r"remote references are refused", "nothing is fetched"),
        ("a reference to an '$id'", r"names no file of the schema directory", "files are found by their names only"),
        ("a reference to an anchor", r"uses an anchor", "definitions are found by JSON Pointer only"),
        ("a reference into a definition", r"points inside a definition", "what is referred to needs a name"),
        ("another dialect", r"only draft 2020-12 is read", "a dialect may change the meaning of any keyword"),
    )
)

_MANY: Final = frozenset("properties $defs patternProperties dependentSchemas definitions".split())
_LISTS: Final = frozenset("allOf anyOf oneOf prefixItems".split())
_ONE: Final = frozenset(
    "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties "
    "contentSchema".split()
)


def keywords(schema: Any) -> set[str]:
    """The keywords of a schema and of all schemas in it."""
    return {keyword for part in _schemas(schema) for keyword in part}


def outside(schema: Any) -> set[str]:
    """The keywords that the profile refuses wherever they stand."""
    return keywords(schema) & REFUSED


def limit(reason: str) -> Limit | None:
    """The limit that the text of a refusal speaks of."""
    found = [each for each in LIMITS if each.words.search(reason)]
    assert len(found) < 2, f"{reason!r} fits more than one row: {[each.name for each in found]}"
    return found[0] if found else None


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in _MANY and isinstance(value, dict):
            parts: list[Any] = list(value.values())
        elif keyword in _LISTS:
            parts = value
        else:
            parts = [value] if keyword in _ONE else []
        for part in parts:
            yield from _schemas(part)
