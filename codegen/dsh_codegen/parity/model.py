"""What a side says about the protocol: definitions, members, methods. One small model for every language.

A `Shape` is a set of JSON values in normal form: what order its alternatives were written in, or how they were nested, is gone.
It is frozen, so two shapes are equal if they are the same set by the same names. Where a shape or a definition came from
(`Place`) takes no part in comparing it.

None stands for "this side does not say" throughout.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

Sender: TypeAlias = Literal["client", "server"]

STRING: Final = "string"
NUMBER: Final = "number"
INTEGER: Final = "integer"
BOOLEAN: Final = "boolean"

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written: a file as it was named, and a line from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A set of JSON values: the union of everything that its fields name.

    `kinds` are string, number, integer, boolean; `literals` are values as JSON text; a literal beside its own kind is a known
    value of an open enum. `items` and `values` are those of an array and of a map; `refs` are definitions by name; `objects`
    have no name of their own. `absent` means that the member may be left out instead (TypeScript's undefined). `unread` are
    the texts that the reader can't follow.
    """

    any: bool = False
    null: bool = False
    absent: bool = False
    kinds: frozenset[str] = _NONE
    literals: frozenset[str] = _NONE
    items: Shape | None = None
    values: Shape | None = None
    refs: frozenset[str] = _NONE
    objects: tuple[Object, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def alternatives(self) -> int:
        """How many things the union is of, null left out."""
        parts = (self.any, self.items is not None, self.values is not None)
        return sum(parts) + len(self.kinds) + len(self.literals) + len(self.refs) + len(self.objects)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, by its name on the wire.

    `required`: a reader of this side demands it. `sent`: a writer of this side always writes it. They differ where a class
    fills in a default. `default` is that default as JSON text, where it is a scalar other than null. `excluded` are values that
    the schema takes out of the shape; only it can say so, so they are not compared.
    """

    wire: str
    required: bool
    sent: bool
    shape: Shape
    default: str | None = None
    excluded: frozenset[str] = field(default=_NONE, compare=False)
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object with named members. `open`: it may have others too; `values` is their shape, if it is declared."""

    members: tuple[Member, ...]
    open: bool | None = None
    values: Shape | None = None

    def member(self, wire: str) -> Member | None:
        """The member with that wire name."""
        return next((member for member in self.members if member.wire == wire), None)


@dataclass(frozen=True, slots=True)
class Definition:
    """A named shape.

    Of a tagged union a side may state: `tag`, the member that tells the arms apart; `open`, whether values of the tag that are
    yet to come pass; `arms`, which definition each value of the tag leads to (`"*"`: any other value), as pairs; `by_member`,
    pairs of a definition and the member that it is chosen by; `future`, the names of what an open union adds.
    """

    name: str
    shape: Shape
    tag: str | None = None
    open: bool | None = None
    arms: frozenset[tuple[str, str]] | None = None
    by_member: frozenset[tuple[str, str]] | None = None
    future: frozenset[str] | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Method:
    """One method; `params` None takes none, `result` None means that it is a notification, `sender` None is not stated."""

    name: str
    sender: str | None
    params: Shape | None
    result: Shape | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Side:
    """All that one side says. `name` is schema, python or typescript; `methods` is None where it has no method map.

    `integers`: it tells integers from numbers. `complete`: it is meant to have every definition (a generated side is).
    """

    name: str
    definitions: Mapping[str, Definition]
    methods: Mapping[str, Method] | None = None
    integers: bool = True
    complete: bool = True


FUTURE: Final = "OrUnknown"
"""What TypeScript calls an open union with its arms for the future: `XOrUnknown`."""

NOTHING: Final = Shape()
ANY: Final = Shape(any=True)
NULL: Final = Shape(null=True)
ABSENT: Final = Shape(absent=True)


def kind(name: str) -> Shape:
    """All strings, numbers, integers or booleans."""
    return Shape(kinds=frozenset({name}))


def ref(name: str) -> Shape:
    """Whatever the definition `name` is."""
    return Shape(refs=frozenset({name}))


def unread(text: str) -> Shape:
    """Something that can't be followed, in its own words."""
    return Shape(unread=(" ".join(text.split()),))


def literal(value: str | float | bool | None) -> Shape:
    """One scalar value."""
    return NULL if value is None else Shape(literals=frozenset({json_text(value)}))


def json_text(value: str | float | bool) -> str:
    """A scalar as JSON text; a number without a fraction is an integer, as JSON Schema has it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)


def kind_of(text: str) -> str:
    """The kind of a literal's JSON text."""
    if text.startswith('"'):
        return STRING
    if text in ("true", "false"):
        return BOOLEAN
    return NUMBER if set(text) & set(".eEnN") else INTEGER


def union(*shapes: Shape) -> Shape:
    """All values of all `shapes`, in normal form."""
    if len(shapes) == 1:
        return shapes[0]
    absent = any(shape.absent for shape in shapes)
    strange = tuple(dict.fromkeys(text for shape in shapes for text in shape.unread))
    if any(shape.any for shape in shapes):
        return Shape(any=True, absent=absent, unread=strange)
    kinds = frozenset[str]().union(*(shape.kinds for shape in shapes))
    literals = frozenset[str]().union(*(shape.literals for shape in shapes))
    if {"true", "false"} <= literals:
        literals -= {"true", "false"}
        kinds |= {BOOLEAN}
    if NUMBER in kinds:
        kinds -= {INTEGER}
    items = [shape.items for shape in shapes if shape.items is not None]
    values = [shape.values for shape in shapes if shape.values is not None]
    return Shape(
        null=any(shape.null for shape in shapes),
        absent=absent,
        kinds=kinds,
        literals=literals,
        items=union(*items) if items else None,
        values=union(*values) if values else None,
        refs=frozenset[str]().union(*(shape.refs for shape in shapes)),
        objects=tuple(dict.fromkeys(found for shape in shapes for found in shape.objects)),
        unread=strange,
    )


def coarse(shape: Shape) -> Shape:
    """`shape` as a language sees it that has numbers only; what is inside it is left as it is."""
    return replace(shape, kinds=frozenset(NUMBER if name == INTEGER else name for name in shape.kinds))


def text(shape: Shape) -> str:
    """A shape for people, the same for every side: `"a" | "b" | string`, `TextBlock[]`, `{ [key]: any }`, `any`."""
    if shape.any:
        return "any"
    parts = [*sorted(shape.literals), *sorted(shape.refs), *sorted(shape.kinds)]
    if shape.items is not None:
        inner = text(shape.items)
        parts.append(f"({inner})[]" if shape.items.alternatives + shape.items.null > 1 else f"{inner}[]")
    if shape.values is not None:
        parts.append(f"{{ [key]: {text(shape.values)} }}")
    parts += [object_text(found) for found in shape.objects]
    parts += [f"<{strange}>" for strange in shape.unread]
    if shape.null:
        parts.append("null")
    return " | ".join(parts) or "never"


def object_text(node: Object) -> str:
    """The members of an object in short: `{ name, version? }`."""
    members = [f"{member.wire}{'' if member.required else '?'}" for member in node.members]
    return f"{{ {', '.join(members)} }}" if members else "{}"
