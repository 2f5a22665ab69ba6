"""A bundle as a `Judgement` needs it: its methods, its error codes, and who judges params and results.

Two judge. The compiled one is quick and can only say yes or no; what it refuses goes to the reference, whose verdict counts and
who can explain it. Most logs never need the reference, so it is loaded when the first frame does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from .findings import Direction, Problem
from .tags import Definitions, Schema
from .wording import Json, Path

if TYPE_CHECKING:
    from .compiled import Compiled
    from .judge import Judge
    from .structs import Structs

_SENT_BY: Final[Mapping[str, Direction]] = {"client": "c2s", "server": "s2c"}


class Method(Struct, frozen=True):
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles what cannot be made again; all else is made on demand."""
        return Protocol, (self.revision, self.bundle, self.elsewhere)

    @cached_property
    def methods(self) -> Mapping[str, Method]:
        """The methods by name."""
        return {
            row["name"]: Method(row["name"], _SENT_BY[row["sender"]], row.get("params"), row.get("result"))
            for row in self.bundle["x-methods"]
        }

    @cached_property
    def codes(self) -> frozenset[int]:
        """The declared error codes."""
        return frozenset(row["code"] for row in self.bundle.get("x-errors", ()))

    @cached_property
    def definitions(self) -> Definitions:
        """The `$defs`."""
        return Definitions(self.bundle)

    @cached_property
    def structs(self) -> Structs:
        """What accepts ordinary lines at once."""
        from .structs import Structs

        return Structs(self.bundle)

    @cached_property
    def compiled(self) -> Compiled:
        """The quick judge: what it accepts is valid."""
        from .compiled import Compiled

        return Compiled(self.bundle)

    @cached_property
    def judge(self) -> Judge:
        """The reference."""
        from .judge import Judge

        return Judge(self.bundle)

    def is_valid(self, definition: str, value: Json) -> bool:
        """Whether `value` is valid against `#/$defs/<definition>`. Raises `RecursionError` for hopelessly deep values."""
        return self.compiled.is_valid(definition, value) or self.judge.is_valid(definition, value)

    def problems(self, rule: str, definition: str, value: Json, at: Path, *, explain: bool = True) -> list[Problem]:
        """What keeps `value`, which stands at `at` in its frame, from being valid, outermost first.

        Without `explain` one problem stands for all of them, and the quick judge's word is enough.
        """
        if self.compiled.is_valid(definition, value):
            return []
        if not explain and self.compiled.decides(definition, value):
            return [Problem(rule, "", at)]
        return self.judge.problems(rule, definition, value, at)


def protocols(bundles: Sequence[tuple[str, Schema]], chosen: Collection[str]) -> list[Protocol]:
    """The `chosen` revisions of all that there are (name and bundle, oldest first), in that order."""
    methods = {row["name"]: name for name, bundle in bundles for row in bundle["x-methods"]}
    return [Protocol(name, bundle, methods) for name, bundle in bundles if name in chosen]
