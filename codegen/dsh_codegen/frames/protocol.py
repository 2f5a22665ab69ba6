"""A bundle as `examine` needs it: its methods, its error codes, its judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .findings import Direction
from .judge import Judge
from .tags import Schema

_SENT_BY: Final[Mapping[str, Direction]] = {"client": "c2s", "server": "s2c"}


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the method table. `params` None: whatever comes is ignored. `result` None: it is a notification."""

    name: str
    direction: Direction
    params: str | None
    result: str | None


@dataclass(frozen=True)
class Protocol:
    """One revision, ready to judge. `codes` are the error codes that responses carry; none declared: any integer.

    `elsewhere` maps the methods of other revisions to one that has them. Calling such a method breaks nothing: no frame tells
    the revision, so a peer that tries a newer method and is refused has done what it can (rules S1, S9).
    """

    revision: str
    bundle: Schema = field(repr=False)
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    methods: Mapping[str, Method] = field(init=False, repr=False)
    codes: frozenset[int] = field(init=False, repr=False)
    judge: Judge = field(init=False, repr=False)

    def __post_init__(self) -> None:
        methods = {
            row["name"]: Method(row["name"], _SENT_BY[row["sender"]], row.get("params"), row.get("result"))
            for row in self.bundle["x-methods"]
        }
        object.__setattr__(self, "methods", methods)
        object.__setattr__(self, "codes", frozenset(row["code"] for row in self.bundle.get("x-errors", ())))
        object.__setattr__(self, "judge", Judge(self.bundle))


def protocols(bundles: Sequence[tuple[str, Schema]], chosen: Collection[str]) -> list[Protocol]:
    """The `chosen` revisions of all that there are (name and bundle, oldest first), in that order."""
    methods = {row["name"]: name for name, bundle in bundles for row in bundle["x-methods"]}
    return [Protocol(name, bundle, methods) for name, bundle in bundles if name in chosen]
