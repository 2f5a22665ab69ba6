"""Differences between sides, as values. What they look like is the business of the renderers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from .model import Place

Direction: TypeAlias = Literal["client->server", "server->client"]
Relation: TypeAlias = Literal["narrower", "wider", "other", "unseen"]
"""How the other side stands to the first: it accepts less, more, something else, or the same less what it can't see."""
Role: TypeAlias = Literal["client", "server", "both"]
Severity: TypeAlias = Literal["error", "warning", "note"]

TO_SERVER: Final[Direction] = "client->server"
TO_CLIENT: Final[Direction] = "server->client"

CATEGORIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "definition": "Every definition is there on every side.",
        "member": "An object has the same members, by their names on the wire.",
        "required": "A member is required on every side or on none.",
        "nullable": "A value may be null on every side or on none.",
        "type": "A value has the same type.",
        "literals": "A closed set of values has the same values.",
        "arms": "A union has the same arms.",
        "discriminator": "The arms of a union are told apart by the same member, and by the same values of it.",
        "open": "What takes values or members yet to come is open on every side.",
        "array": "A value is an array on every side or on none.",
        "map": "A value is a map on every side or on none.",
        "method": "The method map has the same methods.",
        "sender": "A method is sent by the same side.",
        "params": "A method takes the same params.",
        "result": "A method has the same result.",
        "unread": "Every type can be read; what can't be is not compared.",
    }
)
"""What is compared: each class of difference, and what holds where there is none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the sides say differently.

    `definition` is a definition, or a method for the classes of the method map. `path` leads from it: `.a` a member, `[]` the
    items of an array, `{}` the values of a map, `<"x">` the arm with that tag. `texts` are what each side says there, None for
    a side that was not asked; `between` are the pairs that disagree. `breaks` are the directions in which a message may be sent
    that its reader refuses. `pointer` leads into the bundle; `places` into the texts.
    """

    revision: str
    category: str
    definition: str
    path: str
    texts: tuple[tuple[str, str | None], ...]
    between: tuple[tuple[str, str], ...]
    relation: Relation
    breaks: tuple[Direction, ...]
    severity: Severity
    pointer: str
    places: tuple[tuple[str, Place], ...] = ()

    @property
    def where(self) -> str:
        """`InitializeResult.serverInfo.name`, or the method."""
        return f"{self.definition}{self.path}"

    @property
    def consequence(self) -> str:
        """What the difference does, in words."""
        if self.breaks:
            return f"breaks {' and '.join(self.breaks)}"
        if self.severity == "note":
            return "breaks nothing: merely stricter on the sending side or more tolerant on the reading side"
        if self.category == "unread":
            return "not compared: it can't be read"
        if self.relation == "unseen":
            return "breaks no message, but not every side knows all that may pass"
        return "breaks no message: the schema has no method for it"

    def __str__(self) -> str:
        said = ", ".join(f"{side} says {text}" for side, text in self.texts if text is not None)
        return f"{self.where}: {self.category}: {said}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What came of comparing the sides of one revision.

    `compared` counts definitions, members and methods. `uncovered` are definitions that a foreign side doesn't have,
    `unmatched` what it has beside them.
    """

    revision: str
    sides: tuple[str, ...]
    differences: tuple[Difference, ...]
    compared: Mapping[str, int]
    uncovered: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing worse than a note was found."""
        return all(difference.severity == "note" for difference in self.differences)
