"""Sessions, and what begins and ends in them (turns, say): what is counted.

Counts of parts of a log merge into those of the whole; `watch` does the counting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from .sample import Distinct, Sample
from .seen import Seen

MOST_SESSIONS: Final = 1000
"""Sessions that are told one by one."""
MOST_OUTCOMES: Final = 20
"""Outcomes of a span that are told one by one, in all and of each session."""


@dataclass(slots=True)
class Ends:
    """Spans of one kind: how many began, and how many ended, by outcome (`""`: without one)."""

    started: int = 0
    outcomes: Sample[Seen] = field(default_factory=lambda: Sample[Seen](MOST_OUTCOMES))

    @property
    def ended(self) -> int:
        """How many ended."""
        return self.outcomes.left_out + sum(each.count for each in self.outcomes.entries.values())

    def end(self, outcome: str, line: int) -> None:
        """One ended."""
        seen = self.outcomes.get((outcome,))
        if seen is None:
            self.outcomes.put((outcome,), Seen(1, line))
        else:
            seen.count += 1

    def merge(self, other: Ends, file: str | None, lines: int) -> None:
        """Add what was counted elsewhere."""
        self.started += other.started
        self.outcomes.merge(other.outcomes, file, lines)


Spans = dict[str, Ends]
"""By the name of the span."""


def _add(spans: Spans, others: Spans, file: str | None, lines: int) -> None:
    for name, ends in others.items():
        spans.setdefault(name, Ends()).merge(ends, file, lines)


@dataclass(slots=True)
class Session:
    """One session: its frames, the place of the first one, its spans."""

    count: int
    line: int
    file: str | None = None
    spans: Spans = field(default_factory=Spans)

    def merge(self, other: Session, /) -> None:
        """Add what was seen of the session elsewhere."""
        self.count += other.count
        if other.file == self.file and other.line < self.line:
            self.line = other.line
        _add(self.spans, other.spans, None, 0)

    def moved(self, file: str | None, lines: int, /) -> Session:
        """A copy with its place in `file`, `lines` further down, unless its file is known already."""
        spans = Spans()
        _add(spans, self.spans, file, lines)
        if self.file is not None:
            return Session(self.count, self.line, self.file, spans)
        return Session(self.count, self.line + lines, file, spans)


class Last(NamedTuple):
    """The last event of a span: whether it began one, and where it stands."""

    began: bool
    line: int
    file: str | None = None

    def moved(self, file: str | None, lines: int) -> Last:
        """The same in `file`, `lines` further down, unless its file is known already."""
        return self if self.file is not None else Last(self.began, self.line + lines, file)


LastKey: TypeAlias = tuple[int, str, str]
"""The number of a conversation, the name of a span, its key."""


@dataclass(slots=True)
class Sessions:
    """What is known of the sessions of a log, or of a part of one.

    `last` holds the last event of each key of a span: by the number of the conversation (a log may hold several), the name of
    the span and the key. What begins with the log (`from_start`) needs those only that are open. `begun` counts the beginnings
    of conversations; `open` counts spans that were open when their conversation or its log ended.
    """

    from_start: bool = True
    distinct: Distinct = field(default_factory=Distinct)
    table: Sample[Session] = field(default_factory=lambda: Sample[Session](MOST_SESSIONS))
    spans: Spans = field(default_factory=Spans)
    last: dict[LastKey, Last] = field(default_factory=dict["LastKey", Last])
    begun: int = 0
    open: dict[str, int] = field(default_factory=dict[str, int])

    def merge(self, other: Sessions, file: str | None, lines: int) -> None:
        """Add what comes later in the input, or other lines of the same part."""
        self.distinct.merge(other.distinct)
        self.table.merge(other.table, file, lines)
        _add(self.spans, other.spans, file, lines)
        for name, count in other.open.items():
            self.open[name] = self.open.get(name, 0) + count
        for (number, span, name), event in other.last.items():
            self._follow((self.begun + number, span, name), event.moved(file, lines))
        self.begun += other.begun
        if self.from_start and other.begun:
            self._close(self.begun)

    def _follow(self, key: LastKey, event: Last) -> None:
        mine = self.last.get(key)
        if mine is not None and mine.file == event.file and mine.line > event.line:
            return
        if event.began or not self.from_start:
            self.last[key] = event
        else:
            self.last.pop(key, None)

    def _close(self, before: int) -> None:
        """What is open in earlier conversations stays open."""
        for key in [key for key in self.last if key[0] < before]:
            if self.last.pop(key).began:
                self.open[key[1]] = self.open.get(key[1], 0) + 1

    def cut(self) -> None:
        """Drop what is over the limits."""
        self.distinct.cut()
        self.table.cut()
        for spans in (self.spans, *(session.spans for session in self.table.entries.values())):
            for ends in spans.values():
                ends.outcomes.cut()

    def end_of_log(self) -> None:
        """What is open now stays open."""
        self._close(self.begun + 1)
        self.begun = 0

    def left_open(self) -> dict[str, int]:
        """How many spans are open, by name."""
        counts = dict(self.open)
        for (_, name, _), event in self.last.items():
            if event.began:
                counts[name] = counts.get(name, 0) + 1
        return counts
