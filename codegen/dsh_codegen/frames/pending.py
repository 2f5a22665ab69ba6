"""Requests that wait for a response, in one stream of frames.

The two directions have ids of their own. Requests with the same id are all answered, so they wait side by side: a multiset.
Where a log does not say who wrote a frame, a request of an unknown method belongs to neither side, and a response is looked
for on both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from .findings import Direction
from .frame import IdKey

OPPOSITE: Final[dict[Direction, Direction]] = {"c2s": "s2c", "s2c": "c2s"}
"""The way back."""

_EITHER: Final[tuple[Direction, Direction]] = ("c2s", "s2c")


class Asked(NamedTuple):
    """A request that was waiting: who sent it, and what for."""

    direction: Direction | None
    method: str


class Pending:
    """The requests of one stream that were not answered yet. Memory: one entry for each of them."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Direction | None, IdKey], list[str]] = {}

    def __len__(self) -> int:
        return sum(len(methods) for methods in self._waiting.values())

    def ask(self, direction: Direction | None, key: IdKey, method: str) -> bool:
        """A request was sent. True if its id was waiting already."""
        waiting = self._waiting.setdefault((direction, key), [])
        waiting.append(method)
        return len(waiting) > 1

    def answer(self, direction: Direction | None, key: IdKey, misfit: Callable[[str], float]) -> Asked | None:
        """A response was sent in `direction`: the request it answers, which waits no longer; None for an orphan.

        Of several requests with this id the one is meant whose `misfit(method)` is least; of equals, the first.
        """
        senders = (*_EITHER, None) if direction is None else (OPPOSITE[direction], None)
        for sender in senders:
            waiting = self._waiting.get((sender, key))
            if not waiting:
                continue
            method = waiting[0] if len(set(waiting)) == 1 else min(waiting, key=misfit)
            waiting.remove(method)
            if not waiting:
                del self._waiting[sender, key]
            return Asked(sender, method)
        return None

    def same_text(self, direction: Direction | None, key: IdKey) -> bool:
        """Whether a request waits whose id differs from `key` only in its JSON type."""
        kind, value = key
        if kind == "string":
            try:
                other: IdKey = ("number", float(value))
            except ValueError:
                return False
        else:
            number = float(value)
            other = ("string", str(int(number)) if number.is_integer() else str(number))
        senders = (*_EITHER, None) if direction is None else (OPPOSITE[direction], None)
        return any((sender, other) in self._waiting for sender in senders)
