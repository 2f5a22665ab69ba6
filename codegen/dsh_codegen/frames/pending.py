"""Requests that wait for a response, in one stream of frames.

The two directions have ids of their own. Requests with the same id are all answered, so they wait side by side: a multiset.
Where a log does not say who wrote a frame, a request of an unknown method belongs to neither side, and a response is looked
for on both.

A log may hold requests only, so the number that is kept is limited: see `trim`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from .findings import Direction
from .frame import IdKey

OPPOSITE: Final[dict[Direction, Direction]] = {"c2s": "s2c", "s2c": "c2s"}
"""The way back."""
MOST_WAITING: Final = 100_000
"""Ids of one log with which requests are kept waiting at the same time."""
MOST_ALIKE: Final = 1_000
"""Requests with the same id that are kept waiting between two parts of a log."""
_EITHER: Final[tuple[Direction, Direction]] = ("c2s", "s2c")


class Asked(NamedTuple):
    """A request that waits, or waited: who sent it, what for, in which line of which file, and when.

    `time` is what the capture row says, in nanoseconds of its clock; None where it says nothing.
    """

    direction: Direction | None
    method: str
    line: int
    file: str = ""
    time: int | None = None


class Pending:
    """The requests of one stream that were not answered yet. `forgotten`: there were others, of which nothing is known now."""

    def __init__(self) -> None:
        self.forgotten = False
        self._waiting: dict[tuple[Direction | None, IdKey], list[Asked]] = {}

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in self._waiting.values())

    def __iter__(self) -> Iterator[Asked]:
        for waiting in self._waiting.values():
            yield from waiting

    def copy(self) -> Pending:
        """Another one with the same requests."""
        copy = Pending()
        copy.forgotten = self.forgotten
        copy._waiting = {key: waiting.copy() for key, waiting in self._waiting.items()}
        return copy

    def ask(self, key: IdKey, asked: Asked) -> bool:
        """A request was sent. True if its id was waiting already."""
        waiting = self._waiting.setdefault((asked.direction, key), [])
        waiting.append(asked)
        return len(waiting) > 1

    def ask_alone(self, key: IdKey, asked: Asked) -> bool:
        """A request was sent, unless its id waits already: then nothing is done, and it is False."""
        place = (asked.direction, key)
        if place in self._waiting:
            return False
        self._waiting[place] = [asked]
        return True

    def only(self, direction: Direction | None, key: IdKey) -> Asked | None:
        """The request that a response in `direction` answers, if there is exactly one that it can be."""
        found: Asked | None = None
        for sender in _senders(direction):
            waiting = self._waiting.get((sender, key))
            if waiting is not None:
                if found is not None or len(waiting) > 1:
                    return None
                (found,) = waiting
        return found

    def answered(self, key: IdKey, asked: Asked) -> None:
        """A request that was the only one with its id waits no longer."""
        del self._waiting[asked.direction, key]

    def answer(self, direction: Direction | None, key: IdKey, misfit: Callable[[str], float]) -> Asked | None:
        """A response was sent in `direction`: the request it answers, which waits no longer; None for an orphan.

        Of several requests with this id the one is meant whose `misfit(method)` is least; of equals, the first.
        """
        for sender in _senders(direction):
            waiting = self._waiting.get((sender, key))
            if not waiting:
                continue
            asked = waiting[0]
            if len(waiting) > 1 and len(methods := {each.method for each in waiting}) > 1:
                misfits = {method: misfit(method) for method in methods}  # one a method: as many as there are may wait
                asked = min(waiting, key=lambda each: misfits[each.method])
            waiting.remove(asked)
            if not waiting:
                del self._waiting[sender, key]
            return asked
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
        return any((sender, other) in self._waiting for sender in _senders(direction))

    def has_any(self, keys: Iterable[IdKey]) -> bool:
        """Whether a request of either side waits with one of these ids."""
        waiting = {key for _, key in self._waiting}
        return not waiting.isdisjoint(keys)

    def trim(self, most: int = MOST_WAITING, alike: int = MOST_ALIKE) -> list[Asked]:
        """Forget requests, until no more than `most` ids wait, and no more than `alike` requests with the same one.

        The oldest go first. Returns what was forgotten.
        """
        gone: list[Asked] = []
        for waiting in self._waiting.values():
            if len(waiting) > alike:
                gone += waiting[:-alike]
                del waiting[:-alike]
                self.forgotten = True
        for key in list(islice(self._waiting, max(0, len(self._waiting) - most))):
            gone += self._waiting.pop(key)
            self.forgotten = True
        return gone

    def settle(self, file: str, lines: int) -> None:
        """Say in which file the requests without one are, which were added by a part of it with `lines` lines before it."""
        for waiting in self._waiting.values():
            waiting[:] = [each if each.file else each._replace(line=each.line + lines, file=file) for each in waiting]

    def extend(self, later: Pending, file: str, lines: int) -> None:
        """Add requests that a later part of the log left waiting: in `file`, with `lines` lines before the part."""
        for (_, key), waiting in later._waiting.items():
            for asked in waiting:
                self.ask(key, asked._replace(line=asked.line + lines, file=file))


def _senders(direction: Direction | None) -> tuple[Direction | None, ...]:
    return (*_EITHER, None) if direction is None else (OPPOSITE[direction], None)
