"""The intermediate representation: what a protocol is, once its schema has been read.

Frozen values, wire names only, no behaviour beyond a look-up. Emitters see nothing else: no schema text, no Python or
TypeScript names (those come from `naming`). Every definition keeps the JSON Pointer it was read from.

A `Type` is one of the node classes below; take it apart with `match`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema dialect that schemas are read in and bundles are written in."""

Scalar: TypeAlias = str | int | float | bool | None
"""A JSON value that is neither an array nor an object."""


@dataclass(frozen=True, slots=True)
class Json:
    """Any JSON value, kept raw.

    `lenient` marks a place that merely echoes what another party sent (`x-lenient`): it is described, but not judged.
    """

    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Null:
    """JSON null."""


@dataclass(frozen=True, slots=True)
class Boolean:
    """JSON true or false."""


@dataclass(frozen=True, slots=True)
class String:
    """A JSON string; lengths count code points. `pattern` is a search and means the same in every engine (see `patterns`).

    `excluded` are values that are refused: the tags an open arm leaves to others.
    """

    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number. With `integer`, its value has no fraction: `1.0` is the integer 1. `multiple_of` is an integer."""

    integer: bool
    minimum: int | float | None = None
    maximum: int | float | None = None
    exclusive_minimum: int | float | None = None
    exclusive_maximum: int | float | None = None
    multiple_of: int | None = None


@dataclass(frozen=True, slots=True)
class Literals:
    """A closed set of scalar values, in schema order (`enum`, or `const` as a set of one)."""

    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class OpenEnum:
    """A string whose known values are listed but whose future values must pass through (`x-open`)."""

    known: tuple[str, ...]
    min_length: int = 0


@dataclass(frozen=True, slots=True)
class Array:
    """A JSON array of one item type."""

    items: Type
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """A JSON object with free keys and one value type."""

    values: Type


@dataclass(frozen=True, slots=True)
class Ref:
    """A definition of the same protocol, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Arm:
    """One way a union's value can look, after nested unions were flattened.

    An object arm of a tagged union is a `Ref` to a `Record` and owns `tags`, the values of the union's tag. Arms that share a
    tag value are told apart by `member`: the arm is chosen when the object has it; the arm without `member` is chosen
    otherwise. The `open` arm takes every tag value that its own tag member admits (see `String.excluded`).
    Any other arm has no tags and is told apart by its JSON type.
    """

    type: Type
    tags: tuple[Scalar, ...] = ()
    member: str | None = None
    open: bool = False


@dataclass(frozen=True, slots=True)
class Union:
    """Exactly one of several arms, decided without trial: by JSON type, then by the value of `tag`.

    `declared` is what the schema wrote (it may name other unions); `arms` is flat.
    """

    declared: tuple[Type, ...]
    arms: tuple[Arm, ...]
    tag: str | None = None

    @property
    def open_arm(self) -> Arm | None:
        """The arm for tags of the future, if the union is open."""
        return next((arm for arm in self.arms if arm.open), None)


@dataclass(frozen=True, slots=True)
class Member:
    """One named member of an object. Optional means it may be absent; null is a matter of its type."""

    wire: str
    type: Type
    required: bool
    doc: str = ""
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object with named members. Readers keep unknown members unless `closed` (`additionalProperties: false`)."""

    members: tuple[Member, ...]
    closed: bool = False

    def member(self, wire: str) -> Member | None:
        """The member with that wire name."""
        return next((member for member in self.members if member.wire == wire), None)


Type: TypeAlias = Json | Null | Boolean | String | Number | Literals | OpenEnum | Array | Map | Ref | Union | Record


def scalar_kind(value: Scalar) -> str:
    """The JSON type of a scalar; integers are numbers."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case _:
            return "number"


def kinds(node: Type) -> tuple[str, ...]:
    """The JSON types that a type admits, in order. A `Ref` and a `Union` have to be looked into by the caller."""
    match node:
        case Null():
            return ("null",)
        case Boolean():
            return ("boolean",)
        case String() | OpenEnum():
            return ("string",)
        case Number():
            return ("number",)
        case Array():
            return ("array",)
        case Literals(values):
            return tuple(dict.fromkeys(scalar_kind(value) for value in values))
        case Json():
            return ("null", "boolean", "string", "number", "array", "object")
        case Map() | Record() | Ref() | Union():
            return ("object",)


@dataclass(frozen=True, slots=True)
class Definition:
    """A named type. `pointer` is `file#/json/pointer`; `module` the schema file's stem, which becomes the Python module.

    Records and tagged unions appear only as the `type` of a definition, never nested inside another type.
    """

    name: str
    pointer: str
    module: str
    type: Type
    doc: str = ""
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """One method. Without `result` it is a notification. `params` None means the method takes none and ignores what it gets."""

    name: str
    sender: Literal["client", "server"]
    params: str | None
    result: str | None
    doc: str = ""


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code that responses of this protocol carry."""

    code: int
    doc: str


@dataclass(frozen=True, slots=True)
class Protocol:
    """One revision of a protocol. Definitions are in file order, then schema order."""

    revision: str
    title: str
    definitions: tuple[Definition, ...]
    methods: tuple[Method, ...] = ()
    errors: tuple[ErrorCode, ...] = ()
    by_name: dict[str, Definition] = field(default_factory=dict[str, "Definition"], repr=False, compare=False)

    def __post_init__(self) -> None:
        self.by_name.update((definition.name, definition) for definition in self.definitions)

    def resolve(self, node: Type) -> Type:
        """Follow references until a type that is not a `Ref`."""
        while isinstance(node, Ref):
            node = self.by_name[node.name].type
        return node
