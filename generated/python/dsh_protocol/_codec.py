"""What all generated codecs share. Standard library only.

Public through the package root: `UNSET`, `UnsetType`, `DecodeError`, `Payload`, `encode`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn, TypeVar

T = TypeVar("T")


class UnsetType(enum.Enum):
    """The type of `UNSET`."""

    UNSET = "UNSET"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = UnsetType.UNSET
"""An optional member that is absent, where None stands for JSON null. Elsewhere None itself means absent."""


class DecodeError(ValueError):
    """A JSON value that its schema refuses.

    `path` leads to the value (`$.event.data.turn`), `expected` says in words what the schema wants there and `got` what there is.
    """

    def __init__(self, path: str, expected: str, got: str) -> None:
        super().__init__(path, expected, got)
        self.path = path
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


class Payload:
    """The base of every generated dataclass: equality and text are written once, which halves the time that importing them takes."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _member_names(self))

    __hash__ = None  # type: ignore[assignment]  # instances can be changed

    def __repr__(self) -> str:
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in _member_names(self))
        return f"{self.__class__.__qualname__}({members})"


def _member_names(payload: Payload) -> tuple[str, ...]:
    """The attributes of a generated dataclass, in order."""
    names: tuple[str, ...] = payload.__slots__
    return names


class Mismatch(Exception):
    """A decoder gives up. Never leaves the package: `run` turns it into a `DecodeError`."""


Decoder = Callable[[Any], Any]
Encoder = Callable[[Any], dict[str, Any]]

CODECS: Final[dict[type, tuple[str, str, Decoder, Encoder]]] = {}
"""Package, definition name, decoder and encoder by generated class; filled as modules load."""

new: Final = object.__new__


def register(package: str, codecs: Mapping[type, tuple[str, Decoder, Encoder]]) -> None:
    """Make the classes of one generated module known to `encode` and `decode`."""
    for cls, (name, decoder, encoder) in codecs.items():
        CODECS[cls] = package, name, decoder, encoder


def run(decoder: Callable[[Any], T], package: str, definition: str, value: object) -> T:
    """`decoder(value)`, or the `DecodeError` that says where and why not."""
    try:
        return decoder(value)
    except (Mismatch, KeyError, RecursionError) as error:
        failure = error
    explain_failure(failure, package, definition, value)


def explain_failure(failure: Exception, package: str, definition: str, value: object) -> NoReturn:
    """Raise the `DecodeError` for a decode that failed."""
    from ._explain import explain

    try:
        if isinstance(failure, RecursionError):
            raise failure
        found = explain(package, definition, value)
    except RecursionError:  # explaining takes more stack than decoding
        raise DecodeError("$", "a value that is not nested so deeply", "more levels than Python's stack allows") from None
    if found is None:  # pragma: no cover
        raise AssertionError(f"the decoder of {definition} refuses what the schema accepts; please report this") from failure
    raise found from None


def encode(value: Any) -> Any:
    """The JSON value of a generated dataclass, or of a list, dict or scalar that may hold some.

    Nothing is checked: a dataclass that holds what its hints allow encodes to what its schema allows, up to ranges and patterns.
    Raises `TypeError` for an object of any other class.
    """
    kind: type[Any] = value.__class__
    codec = CODECS.get(kind)
    if codec is not None:
        return codec[3](value)
    if kind is list:
        return [encode(item) for item in value]
    if kind is dict:
        return {key: encode(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"can't encode {kind.__qualname__}: not a class of this package and not JSON")


def extra(obj: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The members of `obj` that its schema does not declare."""
    return {key: value for key, value in obj.items() if key not in known}


def merge(obj: dict[str, Any], unknown: dict[str, Any]) -> None:
    """Put undeclared members back; a declared one is never overwritten."""
    for key, value in unknown.items():
        obj.setdefault(key, value)


def integral(value: Any) -> int:
    """JSON has one kind of number: `1.0` is the integer 1."""
    if value.__class__ is float and value.is_integer():
        return int(value)
    raise Mismatch


def literal(value: Any, admitted: frozenset[tuple[type | None, Any]]) -> Any:
    """The admitted value that equals `value` as JSON: 1 is 1.0, but not true."""
    if value.__class__ is float:
        value = integral(value)
    if value is not None and value.__class__ not in (str, int, bool):
        raise Mismatch
    if (None if value is None else value.__class__, value) not in admitted:
        raise Mismatch
    return value


def unique(values: list[Any]) -> None:
    """No two of `values` are equal as JSON."""
    if len({_key(value) for value in values}) != len(values):
        raise Mismatch


def _key(value: Any) -> Any:
    kind: type[Any] = value.__class__
    if kind is bool:
        return bool, value
    if kind is list:
        return list, tuple(_key(item) for item in value)
    if kind is dict:
        return dict, frozenset((key, _key(item)) for key, item in value.items())
    return value
