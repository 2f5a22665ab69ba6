"""Parts of a log put together: is the order of frames right across the cuts, and what is open at the end?

Memory: one entry for each key that some rule still needs. An event that closes (a call has its result, a turn has ended) leaves
its key as if it had never been seen. Beyond `MOST_KEYS` the key that was seen least recently is forgotten, and from then on
nothing is reported for having nothing before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .findings import Finding
from .paths import Scalar
from .sequencing import NOTHING, SequenceRule, Sequencing
from .track import Breach, KeyOrPart, Record, Track, falls, left_open, whole_key
from .words import Words

MOST_KEYS: Final = 25_000
"""Keys (sessions, calls, ...) that are followed at the same time."""


class Last(NamedTuple):
    """The last event (or value) of a key, with its place and its conversation."""

    event: Scalar
    file: str
    line: int
    conversation: int


class Step(NamedTuple):
    """Events of a rule in a part: the first and the last, each with its line and its conversation."""

    rule: int
    first: Scalar
    first_line: int
    first_conversation: int
    last: Scalar
    last_line: int
    conversation: int


class Order:
    """The order of the frames of one log, part after part."""

    def __init__(self, sequencing: Sequencing, words: Words) -> None:
        self._rules: Final = sequencing.rules
        self._words: Final = words
        self._closing: Final = [rule.closing() for rule in self._rules]
        self._keys: dict[KeyOrPart, dict[int, Last]] = {}
        self._forgotten = False
        self._conversation = 0
        self._names: set[str] = set()

    def join(self, track: Track, file: str, lines: int) -> Iterator[Finding]:
        """Findings where the next part begins: of `file`, with `lines` lines before it."""
        about = [{rule for rule, _ in events} for events in track.operations]
        open_at_end = [left_open(state, self._rules, self._closing) for state in track.states]
        makers: dict[tuple[int, str], list[int]] = {}
        for number, events in enumerate(track.operations):
            for each in events:
                makers.setdefault(each, []).append(number)
        for key, record in track.records.items():
            known = self._keys.pop(key, None)
            kept = open_at_end[record.state]
            if known is not None or kept is None:
                known = known or {}
                for step in _steps(track, about, record):
                    yield from self._join(key, known, step, file, lines)
                self._keep(key, known)
            elif kept or record.rising:
                known = {each.rule: self._last(each, file, lines) for each in _rising(about, record)}
                for rule, event, conversation in kept:
                    line = max([record.lines.get(number, 0) for number in makers[rule, event]])
                    known[rule] = Last(event, file, line + lines, self._conversation + conversation)
                self._keep(key, known)
        for index, late in enumerate(track.late):
            for key, runs in late.items():
                known = self._keys.pop(key, {})
                for run in runs:
                    place = run.conversation
                    step = Step(index, run.event, run.first_line, place, run.event, run.last_line, place)
                    yield from self._join(key, known, step, file, lines)
                self._keep(key, known)
        if track.conversation:
            self._conversation += track.conversation
            self._names.clear()
        self._names |= track.names

    def _join(self, key: KeyOrPart, known: dict[int, Last], step: Step, file: str, lines: int) -> Iterator[Finding]:
        rule = self._rules[step.rule]
        last = known.pop(step.rule, None)
        if self._breaks(rule, step, last):
            previous, previous_line = (NOTHING, 0) if last is None else (last.event, last.line)
            breach = Breach(step.rule, whole_key(key), step.first_line + lines, step.first, previous, previous_line)
            yield self._words.breach(breach, file)
        if step.last not in self._closing[step.rule]:
            known[step.rule] = self._last(step, file, lines)

    def _breaks(self, rule: SequenceRule, step: Step, last: Last | None) -> bool:
        conversation = self._conversation + step.first_conversation
        if last is None:
            began = (rule.whole or conversation > 0) and not self._forgotten
            return began and rule.rising is None and NOTHING not in rule.after[str(step.first)]
        if not rule.whole and last.conversation != conversation:
            return False  # what an earlier conversation has left open may go on in this one
        if rule.rising is not None:
            return falls(last.event, step.first)
        return last.event not in rule.after[str(step.first)]

    def _last(self, step: Step, file: str, lines: int) -> Last:
        return Last(step.last, file, step.last_line + lines, self._conversation + step.conversation)

    def _keep(self, key: KeyOrPart, known: dict[int, Last]) -> None:
        if not known:
            return
        self._keys[key] = known
        if len(self._keys) > MOST_KEYS:
            del self._keys[next(iter(self._keys))]
            self._forgotten = True

    def knows_any(self, keys: Iterable[KeyOrPart]) -> bool:
        """Whether something is known of one of these keys."""
        return any(key in self._keys for key in keys)

    def began(self) -> bool:
        """Whether the beginning of the present conversation was seen."""
        return self._conversation > 0

    def ends(self) -> Iterator[Finding]:
        """What is open when the log ends: notes, each at the last event of its key."""
        for key, known in self._keys.items():
            for index, last in known.items():
                recent = self._rules[index].whole or last.conversation == self._conversation
                seen = self._names if recent else ()
                note = self._words.end(index, whole_key(key), last.event, last.file, last.line, seen)
                if note is not None:
                    yield note


def _steps(track: Track, about: Sequence[set[int]], record: Record) -> Iterator[Step]:
    """What was seen of a key, rule by rule. `about`: the rules that each operation concerns."""
    yield from _rising(about, record)
    lines: dict[tuple[int, str], int] = {}
    for number, line in record.lines.items():
        for each in track.operations[number]:
            lines[each] = max(lines.get(each, 0), line)
    state = track.states[record.state]
    done = set(record.rising)
    for number, line, conversation in record.firsts:
        for index, event in track.operations[number]:
            last = state[index]
            if index not in done and last is not None:
                done.add(index)
                yield Step(index, event, line, conversation, last[1], lines[index, last[1]], last[2])


def _rising(about: Sequence[set[int]], record: Record) -> Iterator[Step]:
    """The same for the rules on rising values."""
    for rule, values in record.rising.items():
        last_line = max([line for number, line in record.lines.items() if rule in about[number]])
        yield Step(rule, *values.first, values.last, last_line, values.conversation)
