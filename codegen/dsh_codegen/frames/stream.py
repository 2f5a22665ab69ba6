"""The parts of one log, put together in order: requests find their responses, and sessions go on, across the cuts.

A stream holds what is open (requests that wait, the last event of each session) and what was counted; how long the log is does
not matter. What is known only here, a response whose request lay in an earlier part, or a pair of events on both sides of a
cut, is judged here. So the outcome does not depend on where the log was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from .examine import Examiner
from .findings import RULES, Finding, Problem
from .groups import Groups
from .order import Order
from .part import Part
from .pending import Asked, Pending
from .setup import Setup
from .source import Piece
from .summary import Summary
from .words import Words

if TYPE_CHECKING:
    from .observed import Observed

Again = Callable[[Setup, Piece, Pending], Part]
"""Examines a piece once more, now that it is known what waits before it."""


UNREAD: Final = frozenset({"file/encoding", "file/unreadable"})
"""Problems of files that may not have been read at all: such a file counts as one frame, which was skipped."""


@dataclass(slots=True)
class Outcome:
    """What one log amounts to, or several."""

    summary: Summary = field(default_factory=Summary)
    groups: Groups = field(default_factory=Groups)
    observed: Observed | None = None

    def merge(self, later: Outcome) -> None:
        """Add the outcome of another log, which comes later in the input."""
        self.groups.merge(later.groups, self.summary.files)
        self.summary.merge(later.summary)
        if later.observed is not None:
            if self.observed is None:
                self.observed = later.observed
            else:
                self.observed.merge(later.observed)


class Stream:
    """One log. `again` examines a piece in full, if it turns out that its part can't be used as it is."""

    def __init__(self, setup: Setup, again: Again) -> None:
        self._setup = setup
        self._again = again
        self._words = Words(setup.sequencing, setup.protocol, strict=setup.strict)
        self._order = Order(setup.sequencing, self._words)
        self._pending = Pending()
        self._outcome = Outcome(groups=Groups(setup.listed))
        self._files: dict[str, int] = {}
        self._file = ""
        self._lines = 0

    def pending(self) -> Pending:
        """The requests that wait for a response after the parts so far; the next part says what becomes of them."""
        return self._pending

    def open(self, file: str) -> None:
        """Go on with another file."""
        self._file = file
        self._lines = 0
        self._files[file] = self._outcome.summary.files
        self._outcome.summary.files += 1

    def add(self, piece: Piece, part: Part) -> list[Finding]:
        """Add the next part: that of `piece`, which lies in the file opened last. Returns its findings that are listed."""
        if not part.whole and not self._completed(part):
            part = self._again(self._setup, piece, self._pending)
        if part.whole:
            part.pending.settle(part.file, self._lines)
            self._pending = part.pending
        else:
            self._pending.extend(part.pending, part.file, self._lines)
        groups = part.groups.shifted(self._lines)
        for found in (self._within(part), ((each, 1) for each in self._order.join(part.track, part.file, self._lines))):
            more = Groups(self._setup.listed)
            for finding, count in found:
                part.summary.tell(finding.severity, count)
                more.add(finding, count)
            groups.weave(more)
        self._merge(part.summary, groups, part.observed)
        self._lines += part.lines
        self._notes(map(_unanswered, self._pending.trim()))
        return sorted((finding for group in groups for finding in group.findings), key=lambda finding: finding.line)

    def problem(self, problem: Problem) -> list[Finding]:
        """Something is wrong with the file opened last, after its lines so far."""
        severity = RULES[problem.rule].severity
        unread = problem.rule in UNREAD and not self._lines
        summary = Summary(frames=1, skipped=1) if unread else Summary()
        summary.tell(severity)
        groups = Groups(self._setup.listed)
        finding = Finding(self._file, self._lines + 1, None, None, None, problem.rule, "$", None, problem.message, severity)
        groups.add(finding)
        self._merge(summary, groups, None)
        return [finding]

    def close(self, *, ended: bool = True) -> Outcome:
        """The outcome of the log. `ended`: it is complete, so what is open now will stay open."""
        if self._outcome.observed is not None:
            self._outcome.observed.end_of_log()
        if ended:
            self._notes([*map(_unanswered, self._pending), *self._order.ends()])
        return self._outcome

    def _notes(self, notes: Iterable[Finding]) -> None:
        """Add notes on any of the files so far."""
        groups = Groups(self._setup.listed)
        for note in sorted(notes, key=lambda note: (self._files[note.file], note.line)):
            self._outcome.summary.tell(note.severity)
            groups.add(note)
            groups.files[note.file] = self._files[note.file]
        self._outcome.groups.merge(groups)

    def _within(self, part: Part) -> Iterator[tuple[Finding, int]]:
        """What breaks a rule on the order of frames within a part."""
        for breach, count in part.breaches:
            if breach.headless and not self._order.began():
                continue
            moved = breach._replace(line=breach.line + self._lines, previous_line=breach.previous_line + self._lines)
            yield self._words.breach(moved, part.file), count

    def _completed(self, part: Part) -> bool:
        """Whether a part can be used, with what comes of its responses whose requests lie before it, which are judged here.

        It can't if an id is used again while a request with it waits, across the cut: pairs found within the part may be wrong.
        Nor if something turns up of a key of which the part tells no more than that it is closed.
        """
        if self._pending.has_any(part.asked) or self._order.knows_any(part.track):
            return False
        if not part.late:
            return True
        pending = self._pending.copy()
        examiner = Examiner(self._setup, part.file, pending)
        for late in part.late:
            examiner.late(late)
        judged = examiner.finish()
        if any(set(late).intersection(closed) for late, closed in zip(judged.track.late, part.track.late_closed, strict=True)):
            return False
        self._pending = pending
        part.groups.weave(judged.groups)
        part.summary.merge(judged.summary)
        for events, more in zip(part.track.late, judged.track.late, strict=True):
            for key, runs in more.items():
                events[key] = sorted([*events.get(key, ()), *runs])
        if judged.track.conversation == part.track.conversation:
            part.track.names |= judged.track.names
        if part.observed is not None and judged.observed is not None:
            part.observed.merge(judged.observed)
        return True

    def _merge(self, summary: Summary, groups: Groups, observed: Observed | None) -> None:
        if len(groups):
            groups.files[self._file] = self._files[self._file]
        self._outcome.summary.merge(summary)
        self._outcome.groups.merge(groups)
        if observed is not None:
            if self._outcome.observed is None:
                self._outcome.observed = type(observed)()
            self._outcome.observed.merge(observed, file=self._file, lines_before=self._lines)


def _unanswered(asked: Asked) -> Finding:
    rule = "request/unanswered"
    message = "the log ends before the response to this request"
    return Finding(
        asked.file, asked.line, asked.direction, "request", asked.method, rule, "$", None, message, RULES[rule].severity
    )
