"""What a place of a bundle takes, by JSON type: the form between a schema and the msgspec types made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from .tags import Schema

JsonType: TypeAlias = Literal["null", "boolean", "number", "string", "array", "object"]
"""The JSON types; integers are numbers."""

Tag: TypeAlias = "str | int"

Limits: TypeAlias = dict[str, Any]
"""Arguments for `msgspec.Meta`."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A msgspec type that takes values of one JSON type."""

    type: Any


@dataclass(frozen=True, slots=True)
class Array:
    """Arrays of a length within `limits`; `unique`: no two items are equal."""

    items: Shape
    limits: Limits
    unique: bool


@dataclass(frozen=True, slots=True)
class Map:
    """Objects with any members."""

    values: Shape


@dataclass(frozen=True, slots=True)
class Record:
    """Objects with declared members. `entries`: how many recursive definitions were entered on the way to it."""

    schema: Schema
    entries: int

    @property
    def required(self) -> frozenset[str]:
        """The members that it must have."""
        return frozenset(self.schema.get("required", ()))


@dataclass(frozen=True, slots=True)
class Records:
    """Objects with declared members by the value of their `tag`, which is a required member of each."""

    tag: str
    by_tag: Mapping[Tag, Record]


Part: TypeAlias = Scalar | Array | Map | Record | Records


@dataclass(frozen=True, slots=True)
class Shape:
    """What a place takes of each JSON type. `free`: any JSON at all."""

    parts: Mapping[JsonType, Part] = field(default_factory=dict[JsonType, Part])
    free: bool = False


ANYTHING: Final = Shape(free=True)
