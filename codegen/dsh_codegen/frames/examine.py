"""A piece of a log -> a part of the outcome: a pure function, whatever process or machine it runs on.

Lines take the quickest lane that accepts them: `structs` decode an ordinary line and judge it in one go; the rest is read
without types and judged by the compiled schema; what that refuses is read again and judged by the reference. A lane that
accepts a line gives the verdict that the reference would give, so the report does not depend on the lanes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from .findings import RULES, Direction, Finding, Kind, Problem, Severity
from .follower import Follower
from .groups import Groups
from .part import Breaches, Late, Part
from .pending import Pending
from .rows import Row, overlong, read_line
from .setup import Setup
from .source import Batch, Overlong, Piece, batches
from .track import Breach, Track
from .verdict import Judgement, Verdict
from .wording import Json, json_path

if TYPE_CHECKING:
    from .observed import Observer
    from .shortcut import Shortcut

MOST_SECONDS: Final = 1e11
"""Times beyond this, the year 5138, are no times."""


def examine(setup: Setup, piece: Piece, pending: Pending | None = None) -> Part:
    """Judge the lines of a piece. `pending`: the requests that wait before it (it is used up); None: that is not known.

    Raises `OSError` as reading does.
    """
    examiner = Examiner(setup, piece.file, pending)
    for batch in batches(piece, setup.max_line, partial(setup.open, stop=piece.end)):
        examiner.batch(batch)
    return examiner.finish()


class Examiner:
    """Judges lines of one file, in order."""

    def __init__(self, setup: Setup, file: str, pending: Pending | None) -> None:
        self._setup = setup
        self._file = file
        self._judgement = Judgement(
            setup.protocol, strict=setup.strict, count_undeclared=setup.count_undeclared, explain=setup.explain
        )
        self._follower = Follower(setup.sequencing, self._tell)
        self._part = Part(file, Groups(setup.listed), Track(), Breaches(setup.listed), whole=pending is not None)
        if pending is not None:
            self._judgement.pending = pending
        self._observer = setup.observer()
        self._shortcut: Shortcut | None = None
        if setup.quick and self._observer is None and setup.envelope is None:
            from .shortcut import Shortcut

            self._shortcut = Shortcut(setup.protocol, self._judgement.pending, self._follower, self._part)
        self._number = 0

    def batch(self, batch: Batch | Overlong) -> None:
        """Judge the next lines."""
        first = self._number
        if isinstance(batch, Overlong):
            self._number += 1
            self._row(overlong(self._number, batch.size, self._setup.max_line), b"", batch.offset)
            return
        lines = batch.lines
        self._number += len(lines)
        envelope = self._setup.envelope
        at, offset = 0, batch.offset
        for index in self._missed(batch, first):
            offset += sum(map(len, lines[at:index]))
            at = index
            terminated = lines[index].endswith(b"\n")
            line = lines[index][:-1] if terminated else lines[index]
            row = read_line(line, first + index + 1, offset, terminated=terminated, envelope=envelope)
            if row is not None:
                self._row(row, line, offset)

    def _missed(self, batch: Batch, first: int) -> Iterable[int]:
        """The indexes of lines that no shortcut accepts. Each is judged before the next one is asked for."""
        if self._shortcut is None:
            return range(len(batch.lines))
        return self._shortcut.judge(batch, first)

    def late(self, late: Late) -> None:
        """Judge a response on which an earlier part of the log could give no verdict."""
        self._judgement.alike = late.alike
        self._follower.operations.conversation = late.conversation
        envelope = self._setup.envelope
        row = read_line(late.data, late.line, late.offset, terminated=late.terminated, envelope=envelope)
        if row is not None:
            self._row(row, late.data, late.offset)

    def finish(self) -> Part:
        """What the lines amount to."""
        part = self._part
        part.lines = self._number
        part.pending = self._judgement.pending
        part.track = self._follower.track(short=not part.whole)
        if self._shortcut is not None:
            self._shortcut.count(part.summary)
        if self._observer is not None:
            part.observed = self._observer.observed
        del self._follower, self._shortcut  # each refers to the other by way of this
        return part

    def _row(self, row: Row, data: bytes, offset: int) -> None:
        time = nanoseconds(row.time) if self._observer is not None else None
        verdict = self._judgement.of(row, time)
        if verdict.orphan and not self._part.whole:
            frame = verdict.frame
            alike = frame.id is not None and self._judgement.pending.same_text(verdict.direction, frame.id)
            conversation = self._follower.operations.conversation
            self._part.late.append(Late(row.line, offset, data, row.terminated, alike, conversation))
            self._follower.unknown()
            return
        self._count(row, verdict)
        frame = verdict.frame
        for problem in verdict.problems:
            self._add(row.line, verdict.direction, frame.kind, verdict.method, problem)
        if frame.kind == "request" and frame.id is not None:
            self._part.asked.add(frame.id)
        if frame.kind is not None and verdict.method is not None and verdict.sent_rightly(self._setup.protocol):
            self._follower.frame(frame.kind, verdict.method, frame.value, row.line)
        if self._observer is not None:
            self._observe(self._observer, row, verdict, time)

    def _count(self, row: Row, verdict: Verdict) -> None:
        summary = self._part.summary
        summary.frames += 1
        summary.elsewhere += verdict.elsewhere
        summary.undeclared += verdict.undeclared
        if row.state == "skipped":
            summary.skipped += 1
        elif verdict.problems:
            summary.invalid += 1
        else:
            summary.valid += 1
        if verdict.method is not None:
            counted = summary.method(verdict.method)
            counted.count += 1
            counted.bytes += row.size
            counted.invalid += bool(verdict.problems)

    def _add(self, line: int, direction: Direction | None, kind: Kind | None, method: str | None, problem: Problem) -> None:
        rule = RULES[problem.rule]
        severity: Severity = "error" if self._setup.strict and rule.severity == "warning" else rule.severity
        path = json_path(problem.path)
        finding = Finding(
            self._file, line, direction, kind, method, problem.rule, path, problem.schema, problem.message, severity
        )
        self._part.summary.tell(severity)
        self._part.groups.add(finding)

    def _tell(self, breach: Breach) -> None:
        rule = self._setup.sequencing.rules[breach.rule]
        self._part.breaches.add(breach, rising=rule.rising is not None)

    def _observe(self, observer: Observer, row: Row, verdict: Verdict, time: int | None) -> None:
        observer.frame(verdict.frame, verdict.method, verdict.values, line=row.line, size=row.size, ts=row.time)
        asked = verdict.asked
        if asked is not None and asked.time is not None and time is not None:
            observer.latency(asked.method, time - asked.time)


def nanoseconds(seconds: Json) -> int | None:
    """The time of a capture row; None if it has none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) < MOST_SECONDS:
        return None
    return int(seconds * 1_000_000_000)
