"""What a log tells beyond right and wrong: what `--report` reports.

An `Observer` looks at the frames of one piece of a log; its `observed` merges with those of other pieces into one of the whole.
However the input is cut, the whole is the same. It is bounded: by the schema, and by the limits of `sample` and `sessions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from .frame import Frame, undeclared_in_envelope
from .observing.coverage import Coverage, Layout, coverage
from .observing.sample import Sample, shortened
from .observing.seen import Seen
from .observing.sessions import Sessions
from .observing.tables import Table, tables
from .observing.told import as_json
from .observing.traffic import Clock, Latency, Traffic, microseconds
from .observing.walks import Tally, Undeclared, text_of
from .observing.watch import Watcher
from .protocol import Protocol
from .sequencing import Sequencing
from .summary import OTHER_METHODS
from .wording import Json

__all__ = ["Observed", "Observer", "Table", "as_json", "tables"]

MOST_NAMES: Final = 1000
"""Undeclared names that are told one by one."""

Row: TypeAlias = tuple[str, str]
"""A method and a kind of frame; `""` where there is none."""


@dataclass(slots=True)
class Observed:
    """What was seen in logs, or in a part of one. Without arguments: nothing yet, from the beginning of a log.

    `counts` are those that `layout` numbers. `undeclared` has as keys a kind, the schema that declares no such thing, for tags
    the member that is the tag, and the name. `traffic` is by method and kind of frame, `latencies` by method; methods that no
    revision has are `OTHER_METHODS`. `codes` counts the declared error codes.
    """

    layout: Layout | None = None
    counts: list[int] = field(default_factory=list[int])
    undeclared: Sample[Seen] = field(default_factory=lambda: Sample[Seen](MOST_NAMES))
    codes: dict[int, int] = field(default_factory=dict[int, int])
    traffic: dict[Row, Traffic] = field(default_factory=dict[Row, Traffic])
    latencies: dict[str, Latency] = field(default_factory=dict[str, Latency])
    clock: Clock = field(default_factory=Clock)
    sessions: Sessions = field(default_factory=Sessions)

    def merge(self, other: Observed, *, file: str | None = None, lines_before: int = 0) -> None:
        """Add what comes later in the input; `other` stays as it is.

        Places of `other` that have no file yet get `file`, and `lines_before` more lines. With neither argument it may also be
        other lines of the same piece. Raises `ValueError` if it is about another revision.
        """
        if self.layout is None:
            self.layout = other.layout
            self.counts = [0] * len(other.counts)
        if other.layout is not None:
            if other.layout is not self.layout and other.layout != self.layout:
                raise ValueError("what was observed under different revisions can't be merged")
            self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.undeclared.merge(other.undeclared, file, lines_before)
        for code, count in other.codes.items():
            self.codes[code] = self.codes.get(code, 0) + count
        for row, traffic in other.traffic.items():
            self.traffic.setdefault(row, Traffic()).merge(traffic)
        for method, latency in other.latencies.items():
            self.latencies.setdefault(method, Latency()).merge(latency)
        self.clock.merge(other.clock)
        self.sessions.merge(other.sessions, file, lines_before)

    def end_of_log(self) -> None:
        """No more pieces of this log come: what is open stays open, and the time that it spans is known."""
        self.clock.end_of_log()
        self.sessions.end_of_log()


class Observer:
    """Looks at the frames of one piece of a log, in order, under one revision. `sequencing` None: sessions are not followed."""

    def __init__(self, protocol: Protocol, sequencing: Sequencing | None) -> None:
        self._coverage: Final[Coverage] = coverage(protocol)
        self._methods: Final = protocol.methods
        self._elsewhere: Final = protocol.elsewhere
        self._codes: Final = protocol.codes
        self._watcher: Final = None if sequencing is None else Watcher(sequencing)
        self._tally: Final = Tally(self._coverage.layout.size, self._tell)
        self._observed: Final = Observed(self._coverage.layout, self._tally.counts)
        if self._watcher is not None:
            self._observed.sessions = self._watcher.sessions
        self._observed.sessions.from_start = False
        self._line = 0

    @property
    def observed(self) -> Observed:
        """What was seen, to be asked for after the last frame. It can be pickled; its lines are those of the piece."""
        self._observed.undeclared.cut()
        self._observed.sessions.cut()
        return self._observed

    def frame(
        self, frame: Frame, method: str | None, values: Sequence[tuple[str, Json]], *, line: int, size: int, ts: Json
    ) -> None:
        """Look at a frame: `line` of the piece, of `size` bytes, recorded at `ts` (seconds; anything else is no time).

        `method` of a response is that of its request. `values` are its params or result, with the definition they are held to;
        they need not be valid.
        """
        self._line = line
        observed = self._observed
        time = microseconds(ts)
        if time is not None:
            observed.clock.add(time)
        row = ("" if method is None else self._known(method), frame.kind or "")
        traffic = observed.traffic.get(row)
        if traffic is None:
            traffic = observed.traffic[row] = Traffic()
        traffic.add(size, timed=time is not None)
        for definition, value in values:
            self._coverage.walk(definition, value, self._tally)
        self._envelope(frame)
        if self._watcher is not None and method is not None and frame.kind is not None:
            self._watcher.frame(frame.kind, method, frame.members, line)

    def latency(self, method: str, nanoseconds: int) -> None:
        """A request of that method was answered after so long. Less than no time (a clock was set) is counted apart."""
        method = self._known(method)
        found = self._observed.latencies.get(method)
        if found is None:
            found = self._observed.latencies[method] = Latency()
        found.add(nanoseconds)

    def _known(self, method: str) -> str:
        return method if method in self._methods or method in self._elsewhere else OTHER_METHODS

    def _envelope(self, frame: Frame) -> None:
        if frame.method is not None and frame.method not in self._methods:
            self._tell("method", "", "", frame.method)
        for *owner, name in undeclared_in_envelope(frame):
            self._tell("member", "", ".".join(owner), name)
        error: Json = frame.members.get("error")
        if frame.kind == "response" and isinstance(error, dict):
            self._code(error.get("code"))

    def _code(self, code: Json) -> None:
        if isinstance(code, bool) or not isinstance(code, int | float):
            return
        if code in self._codes:
            self._observed.codes[int(code)] = self._observed.codes.get(int(code), 0) + 1
        elif self._codes:
            self._tell("code", "", "", text_of(code))

    def _tell(self, kind: Undeclared, schema: str, owner: str, name: str) -> None:
        key = (kind, schema, owner, shortened(name))
        seen = self._observed.undeclared.get(key)
        if seen is None:
            self._observed.undeclared.put(key, Seen(1, self._line))
        else:
            seen.count += 1
