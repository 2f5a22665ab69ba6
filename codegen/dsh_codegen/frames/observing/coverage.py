"""How much of a schema the values of a log make use of, and what they have that it does not declare.

Definitions are compiled into functions once (see `declared`); they add to numbered counters, and a `Layout` says what each
number stands for. The walk follows the definitions as `members` does: by tag, and not into what is lenient or free JSON. An
object with a tag that only an open arm takes counts for the members that this arm declares; apart from its tag nothing in it is
undeclared. A value that breaks the schema is followed as far as it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from ..protocol import Protocol
from ..tags import PREFIX
from ..wording import Json
from .declared import Declared, Place
from .walks import Tally, Walk


@dataclass(frozen=True, slots=True)
class Layout:
    """What a revision declares, as far as its methods lead there.

    `definitions` are by name, in the order of the bundle, each with its places (the definition itself first); `size` is the
    number of counters. `calls` are the methods, `answers` those of them that have a result, `codes` the error codes.
    """

    revision: str
    size: int
    definitions: tuple[tuple[str, tuple[Place, ...]], ...]
    calls: tuple[str, ...]
    answers: tuple[str, ...]
    codes: tuple[int, ...]


@dataclass(frozen=True)
class Coverage:
    """The definitions of a revision, ready to walk."""

    layout: Layout
    walks: Mapping[str, Walk] = field(repr=False)

    def walk(self, definition: str, value: Json, tally: Tally) -> None:
        """Count what `value`, which is held to `#/$defs/<definition>`, makes use of; too deep a value in part only."""
        walk = self.walks.get(definition)
        if walk is not None:
            tally.depth = 0
            with suppress(RecursionError):
                walk(value, tally)


def coverage(protocol: Protocol) -> Coverage:
    """That of a revision; made once for each `Protocol`."""
    return _coverage(_Same(protocol))


@dataclass(frozen=True)
class _Same:
    """A protocol as a key: equal to itself only."""

    protocol: Protocol

    def __hash__(self) -> int:
        return id(self.protocol)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.protocol is other.protocol


@lru_cache(maxsize=16)
def _coverage(key: _Same) -> Coverage:
    protocol = key.protocol
    rows = protocol.methods.values()
    declared = Declared(protocol.definitions)
    used = dict.fromkeys(name for row in rows for name in (row.params, row.result) if name is not None)
    walks = {name: declared.reference(PREFIX + name, quiet=False) for name in used}
    layout = Layout(
        protocol.revision,
        declared.size,
        tuple(declared.places()),
        tuple(row.name for row in rows),
        tuple(row.name for row in rows if row.result is not None),
        tuple(sorted(protocol.codes, reverse=True)),
    )
    return Coverage(layout, walks)
