"""Small changes to a JSON value: what a hostile, a careless, or a later peer might send instead.

A change is made at one place. Most operators look at the value alone; the vocabulary of a bundle adds what its schemas say of
members of that name: every constant (so also the tags of other arms and retired ones) and what lies beside a bound.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

from tests.generated.revisions import Json, Revision, Schema, snake
from tests.generated.strategies import ODD_NUMBERS

Path = tuple[str | int, ...]

DROP: Final = object()
"""Stands for the absence of a value."""
ANYTHING: Final = object()
"""Stands for whatever JSON value the caller drew."""

_ONE_OF_EACH_TYPE: Final[tuple[Json, ...]] = (None, True, False, 0, 1, 1.5, "text", "1", [], [None], {}, {"type": "text"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """`value` is the whole after something happened at `path`: `replacement` is what stands there now, or `DROP`."""

    operator: str
    path: Path
    replacement: Json
    value: Json


def mutants(revision: Revision, definition: str, value: Json, random: Random, anything: Json, count: int) -> Iterator[Mutant]:
    """`value`, an instance of `definition`, with one change, `count` times. `anything` is put in some places."""
    spots = list(places(value))
    for _ in range(count):
        path, here = random.choice(spots)
        operator, at, replacement = random.choice(list(_changes(revision, definition, path, here)))
        if replacement is ANYTHING:
            replacement = anything
        yield Mutant(operator, path + at, replacement, replaced(value, path + at, replacement))


def member_mutants(revision: Revision, definition: str, value: Json, seen: set[str]) -> Iterator[Mutant]:
    """`value`, an instance of `definition`, with one declared member left out, of another type, or at an edge of its schema.

    Each schema of a member takes its turn once; `seen` remembers which did.
    """
    for wire, schema in revision.defs[definition].get("properties", {}).items():
        kind = json.dumps([{**schema, "description": ""}, wire in revision.defs[definition]["required"]])
        if kind in seen:
            continue
        seen.add(kind)
        if wire in value:
            yield Mutant("drop", (wire,), DROP, replaced(value, (wire,), DROP))
        here = value.get(wire)
        longer = [here * 2, here * (schema.get("maxItems", 0) + 1)] if isinstance(here, list) else []
        for replacement in _distinct([None, True, 0, 1, 1.5, "1", [], {}, *longer, *_words(revision, schema)]):
            yield Mutant("member", (wire,), replacement, {**value, wire: replacement})


def places(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Every value inside `value`, itself included, with the path to it."""
    yield path, value
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value: Json, path: Path, replacement: Json) -> Json:
    """A copy of `value` with another value at `path`, or none for `DROP`; the last step of the path may be new."""
    if not path:
        return replacement
    key: Any
    key, *rest = path
    changed: Any = value.copy()
    if not rest and replacement is DROP:
        del changed[key]
    elif not rest and isinstance(changed, list) and key == len(changed):
        changed.append(replacement)
    else:
        changed[key] = replaced(value[key], tuple(rest), replacement) if rest else replacement
    return changed


def _changes(revision: Revision, definition: str, path: Path, here: Json) -> Iterator[tuple[str, Path, Json]]:
    """Operator, where below `path`, and what is put there."""
    words = vocabulary(revision)
    member = next((key for key in reversed(path) if isinstance(key, str)), f"#{definition}")
    yield from (("type", (), other) for other in _ONE_OF_EACH_TYPE)
    yield from (("word", (), word) for word in words.get(member, ()))
    yield "anything", (), ANYTHING
    if path:
        yield "drop", (), DROP
    match here:
        case bool() | None:
            return
        case int() | float():
            yield from (("number", (), number) for number in (*ODD_NUMBERS, here + 0.5, str(here)))
            yield "number", (), int(here) if isinstance(here, float) and here.is_integer() else float(min(here, 2**53))
        case str():
            yield from (("text", (), text) for text in ("", here[:-1], here + "\n", here.upper(), [here], {here: here}))
        case list():
            yield from (("item", (len(here),), item) for item in (None, "text", 1, 1.0, True, {}, *here[:1]))
            yield from (("items", (), items) for items in (here * 2, here[::-1], [], here[:1], [1, 1.0], [1, True]))
        case dict():
            yield "unknown member", ("x-future",), ANYTHING
            for name in _nearby(revision, here):
                yield "unknown member", (snake(name),), None
                yield from (("member", (name,), value) for value in (None, True, 0, "", "AAAA", {}, [], ANYTHING))
                yield from (("member", (name,), word) for word in words.get(name, ())[:4])


def _nearby(revision: Revision, value: Schema) -> list[str]:
    """Names that `value` lacks, but that some definition declares whose required members it has."""
    names = (name for required, names in _members(revision) if required <= value.keys() for name in names)
    return [name for name in dict.fromkeys(names) if name not in value]


@cache
def _members(revision: Revision) -> list[tuple[set[str], list[str]]]:
    records = [schema for schema in revision.defs.values() if "properties" in schema]
    chosen_by = [set(schema["x-by-member"].values()) for schema in revision.defs.values() if "x-by-member" in schema]
    selecting = set[str]().union(*chosen_by)
    return [
        (set(schema["required"]) - selecting, list(schema["properties"])) for schema in records if len(schema["required"]) > 1
    ] + [({wire}, [wire, *selecting]) for wire in tags(revision)]


@cache
def tags(revision: Revision) -> frozenset[str]:
    """Members by which the arms of some union are chosen."""
    unions = [schema for schema in revision.defs.values() if "x-tag" in schema]
    return frozenset(name for union in unions for name in (union["x-tag"], *union.get("x-by-member", {}).values()))


@cache
def vocabulary(revision: Revision) -> dict[str, list[Json]]:
    """What schemas say about values, by the name of the member that has the schema; `#Name` is the definition itself."""
    found: dict[str, list[Json]] = {}
    for name, schema in revision.defs.items():
        found.setdefault(f"#{name}", []).extend(_words(revision, schema))
        for wire, inner in schema.get("properties", {}).items():
            found.setdefault(wire, []).extend(_words(revision, inner))
    return {name: _distinct(words) for name, words in found.items() if words}


def _words(revision: Revision, schema: Schema) -> Iterator[Json]:
    schema = revision.resolve(schema)
    if "const" in schema:
        yield schema["const"]
    yield from schema.get("enum", ())
    yield from schema.get("x-known", ())
    yield from schema.get("not", {}).get("enum", ())
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if keyword in schema:
            bound = schema[keyword]
            yield from (bound, bound - 1, bound + 1, float(bound), bound + 0.5, bound - 0.5)
    for keyword in ("minLength", "maxLength"):
        if keyword in schema:
            yield from ("x" * length for length in range(max(0, schema[keyword] - 1), schema[keyword] + 2))
    if "pattern" in schema:
        yield from (
            "A",
            "AA==",
            "AB==",
            "AAA=",
            "AAAA",
            "AAAA\n",
            "AAAA AAAA",
            "2026-01-01T00:00:00.000Z",
            "2026-01-01T00:00:00.000Z\n",
        )
    if "items" in schema:
        yield from _words(revision, schema["items"])
    if "properties" in schema and "anyOf" not in schema:
        yield {}
    for arm in schema.get("anyOf", ()):
        if "$ref" in arm or "const" in arm:
            yield from _words(revision, arm)


def _distinct(words: list[Json]) -> list[Json]:
    return list({(type(word), repr(word)): word for word in words}.values())
