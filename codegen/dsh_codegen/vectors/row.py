"""What a vector is: one JSON value, what it is a value of, and whether it is valid there.

A file of vectors is JSON Lines, one row each, so that a test of any language reads it without this package.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

Value: TypeAlias = Any
"""Parsed JSON."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the whole value down to a place."""

Kind: TypeAlias = Literal["minimal", "full", "boundary", "arm", "enum", "null", "future", "negative"]
KINDS: Final[tuple[Kind, ...]] = ("minimal", "full", "boundary", "arm", "enum", "null", "future", "negative")

Reason: TypeAlias = Literal[
    "",
    "missing",
    "wrong type",
    "null",
    "wrong constant",
    "wrong tag",
    "retired tag",
    "out of range",
    "fraction",
    "pattern",
    "repeated item",
    "unknown member",
    "unknown method",
]
"""Why a negative is one; empty for a positive."""

Side: TypeAlias = Literal["", "params", "result", "frame"]

FUTURE: Final = "x-future"
"""A member, tag or value that no schema names: what a later peer might send where a place is open."""
UNLISTED: Final = "x-unlisted"
"""A value that no closed set has."""

_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_SHORT: Final = 40


@dataclass(frozen=True, slots=True)
class Case:
    """A value of some type, before it is known of which definition. `path` leads to what makes it a case of its own.

    Where the reason is `missing`, the path names the absent member.
    """

    kind: Kind
    value: Value
    path: Path = ()
    reason: Reason = ""

    def within(self, key: str | int, whole: Value) -> Case:
        """The same case one level up: `whole` holds its value under `key`."""
        return replace(self, value=whole, path=(key, *self.path))


@dataclass(frozen=True, slots=True)
class Vector:
    """One row. Exactly one of `definition` and `method` is set; `side` says what of a method the value is."""

    id: str
    definition: str
    method: str
    side: Side
    kind: Kind
    reason: Reason
    path: str
    value: Value

    @property
    def valid(self) -> bool:
        """Whether the schema takes the value."""
        return not self.reason

    def row(self) -> str:
        """The line of a vector file, without its end."""
        target = {"definition": self.definition} if self.definition else {"method": self.method, "side": self.side}
        row = {
            "id": self.id,
            **target,
            "kind": self.kind,
            "valid": self.valid,
            "reason": self.reason,
            "path": self.path,
            "value": self.value,
        }
        return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def vector(case: Case, *, definition: str = "", method: str = "", side: Side = "") -> Vector:
    """The vector of a case. Its id says what it is, and stays the same as long as that does."""
    target = definition or f"{method}#{side}"
    path = text_of(case.path)
    here = place(case.value, case.path)
    what = (case.reason or case.kind).replace(" ", "-")
    ident = f"{target}:{what}:{path}" + ("" if here is None or case.kind in {"minimal", "full"} else f"={_brief(here[0])}")
    return Vector(ident, definition, method, side, case.kind, case.reason, path, case.value)


def place(value: Value, path: Path) -> tuple[Value] | None:
    """What stands at `path`, in a tuple; None where nothing does."""
    here = value
    for key in path:
        try:
            here = here[key]
        except (LookupError, TypeError):
            return None
    return (here,)


def text_of(path: Path) -> str:
    """`("events", 3, "odd name")` -> `$.events[3]["odd name"]`."""
    steps = (
        f"[{key}]" if isinstance(key, int) else f".{key}" if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]" for key in path
    )
    return "$" + "".join(steps)


def canonical(value: Value) -> str:
    """Text that is equal for values that are the same to every reader: `1`, `1.0` and `true` all differ."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _brief(value: Value) -> str:
    text = canonical(value)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 10]}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"
