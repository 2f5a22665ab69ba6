"""Parts of a log put together: is the order of frames right across the cuts, and what is open at the end?

Memory: one entry for each key that some rule still needs. An event that closes (a call has its result, a turn has ended) leaves
its key as if it had never been seen. Beyond `MOST_KEYS` the key that was seen least recently is forgotten, and from then on
nothing is reported for having nothing before it.

All parts are put together by one process, whoever examined them. Most keys are new in their part and never seen again, so of
those no more is done than to keep what the part tells.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from .findings import Finding
from .paths import Scalar
from .sequencing import NOTHING, SequenceRule, Sequencing
from .track import Breach, KeyOrPart, Left, Seen, Step, Track, ended_well, falls, left_open, whole_key
from .words import Words

MOST_KEYS: Final = 25_000
"""Keys (sessions, calls, ...) that are followed at the same time."""


class Last(NamedTuple):
    """The last event (or value) of a key, with its place and its conversation."""

    event: Scalar
    file: str
    line: int
    conversation: int


class Place(NamedTuple):
    """A part in its log: `lines` of its file and `conversation` are how many come before it. `left` is by state, and so is
    `noted`: whether there may be a note on a key if the log ends there.
    """

    file: str
    lines: int
    conversation: int
    left: list[Left]
    noted: list[bool]

    def last(self, step: Step) -> Last:
        """The last event of a step."""
        return Last(step.last, self.file, step.last_line + self.lines, self.conversation + step.conversation)


New: TypeAlias = "tuple[Place, int, tuple[int, ...], tuple[Scalar, ...]]"
"""What is kept of a key that was new in a part: what that told of it (see `Seen`), but for its beginning."""
Known: TypeAlias = "dict[int, Last] | New"
"""By rule, the last event of a key; or what it can be made of."""


class Order:
    """The order of the frames of one log, part after part."""

    def __init__(self, sequencing: Sequencing, words: Words) -> None:
        self._rules: Final = sequencing.rules
        self._words: Final = words
        self._closing: Final = [rule.closing for rule in self._rules]
        self._ends: Final = {(index, event) for index, rule in enumerate(self._rules) for event in rule.ends}
        self._keys: OrderedDict[KeyOrPart, Known] = OrderedDict()  # a dict takes long to find its first key if many are gone
        self._forgotten = False
        self._conversation = 0
        self._names: set[str] = set()

    def join(self, track: Track, file: str, lines: int) -> Iterator[Finding]:
        """Findings where the next part begins: of `file`, with `lines` lines before it."""
        left = [left_open(state, self._rules, self._closing) for state in track.states]
        noted = [any((index, event) in self._ends for index, event, _ in each.open) for each in left]
        place = Place(file, lines, self._conversation, left, noted)
        keys = self._keys
        for key, seen in track.seen.items():
            known = keys.pop(key, None)
            state, ends, _, rose = seen
            if known is None and left[state].well:
                if ends or rose:
                    self._keep(key, (place, state, ends, rose))
            else:
                lasts = _unfolded(known)
                for step in _steps(track, left[state], seen):
                    yield from self._join(key, lasts, step, place)
                self._keep(key, lasts)
        for index, late in enumerate(track.late):
            for key, runs in late.items():
                known = keys.pop(key, None)
                if known is None and ended_well(self._rules[index], self._closing[index], runs):
                    continue
                lasts = _unfolded(known)
                for first_line, last_line, event, _, begun in runs:
                    step = Step(index, event, first_line, begun, event, last_line, begun)
                    yield from self._join(key, lasts, step, place)
                self._keep(key, lasts)
        if track.conversation:
            self._conversation += track.conversation
            self._names.clear()
        self._names |= track.names

    def _join(self, key: KeyOrPart, lasts: dict[int, Last], step: Step, place: Place) -> Iterator[Finding]:
        rule = self._rules[step.rule]
        last = lasts.pop(step.rule, None)
        if self._breaks(rule, step, last):
            previous, previous_line = (NOTHING, 0) if last is None else (last.event, last.line)
            breach = Breach(step.rule, whole_key(key), step.first_line + place.lines, step.first, previous, previous_line)
            yield self._words.breach(breach, place.file)
        if step.last not in self._closing[step.rule]:
            lasts[step.rule] = place.last(step)

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

    def _keep(self, key: KeyOrPart, known: Known) -> None:
        if not known:
            return
        self._keys[key] = known
        if len(self._keys) > MOST_KEYS:
            self._keys.popitem(last=False)
            self._forgotten = True

    def knows_any(self, track: Track) -> bool:
        """Whether something is known of a key of which a part tells no more than that it is closed."""
        keys = self._keys
        return not keys.keys().isdisjoint(track.closed) or any(
            index in _unfolded(keys[key])
            for index, closed in enumerate(track.late_closed)
            if not keys.keys().isdisjoint(closed)
            for key in closed
            if key in keys
        )

    def began(self) -> bool:
        """Whether the beginning of the present conversation was seen."""
        return self._conversation > 0

    def ends(self) -> Iterator[Finding]:
        """What is open when the log ends: notes, each at the last event of its key."""
        for key, known in self._keys.items():
            if isinstance(known, tuple) and not known[0].noted[known[1]]:
                continue
            for index, last in _unfolded(known).items():
                recent = self._rules[index].whole or last.conversation == self._conversation
                seen = self._names if recent else ()
                note = self._words.end(index, whole_key(key), last.event, last.file, last.line, seen)
                if note is not None:
                    yield note


def _unfolded(known: Known | None) -> dict[int, Last]:
    """By rule, the last event of a key."""
    if known is None:
        return {}
    if isinstance(known, dict):
        return known
    place, state, ends, rose = known
    lasts = {step.rule: place.last(step) for step in _rises(rose)}
    for (rule, event, conversation), line in zip(place.left[state].open, ends, strict=True):
        lasts[rule] = Last(event, place.file, line + place.lines, place.conversation + conversation)
    return lasts


def _rises(rose: Sequence[Any]) -> Iterator[Step]:
    """The values that rose, rule by rule."""
    return map(Step, *(rose[at :: len(Step._fields)] for at in range(len(Step._fields))))


def _steps(track: Track, left: Left, seen: Seen) -> Iterator[Step]:
    """What was seen of a key, rule by rule."""
    number, ends, firsts, rose = seen
    rises = list(_rises(rose))
    yield from rises
    lines = {rule: line for (rule, _, _), line in zip(left.open, ends, strict=True)}
    state = track.states[number]
    done = {step.rule for step in rises}
    for operation, line, conversation in zip(firsts[::3], firsts[1::3], firsts[2::3], strict=True):
        for index, event in track.operations[operation]:
            last = state[index]
            if index not in done and last is not None:
                done.add(index)
                yield Step(index, event, line, conversation, last[1], lines.get(index, 0), last[2])
