"""Functions that walk a value as one schema says, and count: what `coverage` compiles definitions into.

Each takes a value and a `Tally`. A value of another JSON type than the schema wants is passed over: nothing of it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from ..tags import Schema
from ..wording import Json, show

Undeclared: TypeAlias = Literal["member", "tag", "value", "method", "code"]
"""What isn't declared: a member of an object, a tag of a union, a value of an enumeration, a method, an error code."""

Tell: TypeAlias = Callable[[Undeclared, str, str, str], None]
"""Takes something undeclared: what it is, the schema that doesn't declare it, of tags the member that is the tag, the name."""

DEEPEST: Final = 50
"""How often definitions that contain themselves are entered, one inside the other. What is deeper is not walked."""


class Tally:
    """Counters by number, and who is told of what is undeclared."""

    __slots__ = ("counts", "depth", "tell")

    def __init__(self, size: int, tell: Tell) -> None:
        self.counts = [0] * size
        self.depth = 0
        self.tell = tell


Walk: TypeAlias = Callable[[Json, Tally], None]
"""Walks a value."""
Member: TypeAlias = "tuple[int, Walk | None]"
"""Of a member, an item or a constant: the number of its counter, and what walks its value."""


Constant: TypeAlias = tuple[bool, Any]
"""A scalar as JSON compares it: 1 equals 1.0, but not true."""


def constant(value: object) -> Constant:
    """A scalar as a key."""
    return (isinstance(value, bool), value)


def constants_of(schema: Schema) -> list[Any]:
    """The values that an enumeration names, null and structures apart."""
    return [value for value in schema.get("enum", schema.get("x-known", ())) if isinstance(value, str | int | float)]


def text_of(value: Json) -> str:
    """A scalar as its name in reports: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else show(value)


def counting(counter: int) -> Walk:
    """Counts every value."""

    def walk(_value: Json, tally: Tally) -> None:
        tally.counts[counter] += 1

    return walk


def in_turn(walks: Sequence[Walk]) -> Walk | None:
    """Walks the value several times; None if never."""
    if len(walks) < 2:
        return walks[0] if walks else None

    def walk(value: Json, tally: Tally) -> None:
        for each in walks:
            each(value, tally)

    return walk


def recursive(find: Callable[[], Walk]) -> Walk:
    """A walk of a definition inside itself, as far as `DEEPEST`. `find` is asked when it is there."""

    def walk(value: Json, tally: Tally) -> None:
        if tally.depth < DEEPEST:
            tally.depth += 1
            find()(value, tally)
            tally.depth -= 1

    return walk


def items(counter: int, item: Walk | None) -> Walk:
    """Walks the items of an array."""

    def walk(value: Json, tally: Tally) -> None:
        if isinstance(value, list):
            tally.counts[counter] += 1
            if item is not None:
                for each in value:
                    item(each, tally)

    return walk


def members(counter: int, known: Mapping[str, Member], others: Walk | None, pointer: str | None) -> Walk:
    """Walks the members of an object. Those that are not `known` go to `others`, or are undeclared at `pointer` unless None."""
    get = known.get

    def walk(value: Json, tally: Tally) -> None:
        if not isinstance(value, dict):
            return
        counts = tally.counts
        counts[counter] += 1
        for name, inner in value.items():
            found = get(name)
            if found is not None:
                counts[found[0]] += 1
                if found[1] is not None:
                    found[1](inner, tally)
            elif others is not None:
                others(inner, tally)
            elif pointer is not None:
                tally.tell("member", pointer, "", name)

    return walk


def one_of(counter: int, known: Mapping[Constant, int], pointer: str | None) -> Walk:
    """Counts the values of an enumeration. Another one, of a type that it has, is undeclared at `pointer` unless None."""
    kinds: set[type] = {type(value) for _, value in known}
    if not kinds.isdisjoint((int, float)):
        kinds |= {int, float}

    def walk(value: Json, tally: Tally) -> None:
        if type(value) not in kinds:
            return
        tally.counts[counter] += 1
        found = known.get(constant(value))
        if found is not None:
            tally.counts[found] += 1
        elif pointer is not None:
            tally.tell("value", pointer, "", text_of(value))

    return walk
