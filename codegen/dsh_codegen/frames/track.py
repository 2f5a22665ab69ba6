"""What a part of a log has to remember of the order of its frames, so that parts can be put together.

A rule of a `Sequencing` looks, for each key (a session, say), at one event and the one before it, and at nothing else. So of
each rule and key a part remembers its first and its last event: what lies between was checked on the way (`follower`), and
putting two parts together (`order`) is checking one more pair.

Responses are the exception. Which event a response is depends on its request, and that may lie in an earlier part. Rules with
such events are `late`: of them the part lists its events, and they are checked when the parts are put together.

A log may hold several conversations, one after another; a part counts those that begin in it, and so it is known of two
neighbours whether they belong to the same one.

There may be thousands of keys in a part, and all of this is sent by one process to another, so it is made of plain tuples, and
of what began and ended well only the key is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from .paths import Key, Scalar
from .sequencing import NOTHING, Event, SequenceRule


class Breach(NamedTuple):
    """Two neighbours that a rule does not allow: `event` in `line`, after `previous` in `previous_line` (0: nothing came
    before).

    Of a rule on rising values `event` and `previous` are the values. `headless`: it is none if the log begins in the middle of
    the conversation, since then nothing before may mean that it is not known.
    """

    rule: int
    key: Key
    line: int
    event: Scalar
    previous: Scalar
    previous_line: int
    headless: bool = False


class Values:
    """The first value of a rule on rising ones, with its line and its conversation; and the same of the last one."""

    __slots__ = ("conversation", "first", "last", "line")

    def __init__(self, value: Scalar, line: int, conversation: int) -> None:
        self.first = (value, line, conversation)
        self.last = value
        self.line = line
        self.conversation = conversation


_NONE_YET: Final = Values(float("inf"), 0, 0)


class Record:
    """What was seen of one key.

    `state` is the number of its last state. `firsts` are the operations that were the first to concern some rule, each followed
    by its line and its conversation; `lines` has for each operation where it was done last; `rising`, by rule, values that
    rise. `top` are those of the rule that has to do with most frames; none is greater than before while there are none.
    """

    __slots__ = ("firsts", "lines", "rising", "state", "top")

    def __init__(self) -> None:
        self.top = _NONE_YET
        self.state = 0
        self.firsts: list[int] = []
        self.lines: dict[int, int] = {}
        self.rising: dict[int, Values] = {}


Run: TypeAlias = "tuple[int, int, str, int, int]"
"""One event of a late rule, or several equal ones in a row: the first line, the last line, the event, the epoch (how many
responses came before it without a request in the part) and the conversation."""
KeyOrPart: TypeAlias = "Key | Scalar"
"""A key; one that has a single part may be just that."""
State: TypeAlias = "tuple[tuple[str, str, int] | None, ...]"
"""By rule, the first event, the last event and its conversation."""
Seen: TypeAlias = "tuple[int, tuple[int, ...], list[int], tuple[Scalar, ...]]"
"""What is told of a `Record`: its state, the line of each event that this leaves open (see `Left`), and `firsts`. Then, for
each rule on rising values, the members of a `Step`."""


class Step(NamedTuple):
    """Events of a rule in a part, or values that rise: the first and the last, each with its line and its conversation.

    `last_line` counts only where the last one leaves something open.
    """

    rule: int
    first: Scalar
    first_line: int
    first_conversation: int
    last: Scalar
    last_line: int
    conversation: int


class Left(NamedTuple):
    """What is left of a key that was new and ends in some state: is all of it `well`, that is, did each rule begin well?

    `open` are the rules with something left, each with its last event and the conversation of that. Most keys of a log begin
    well, and leave little. Rules on rising values are not looked at.
    """

    well: bool
    open: list[tuple[int, str, int]]


@dataclass(slots=True)
class Track:
    """What to remember of a part.

    `seen` is by key; `states` and `operations`, which are events by rule, have numbers of this part only. `closed` are keys of
    which nothing else is told, since all about them began and ended well in the part. `late` are, by rule and key, the events
    of late rules; `late_closed` are, by rule, keys of which these are not told, for the same reason. `conversation` is how many
    conversations begin in the part; `names` are the events in the last of them that an end of the log may be told by.
    """

    late: list[dict[KeyOrPart, list[Run]]] = field(default_factory=list["dict[KeyOrPart, list[Run]]"])
    late_closed: list[list[KeyOrPart]] = field(default_factory=list["list[KeyOrPart]"])
    seen: dict[KeyOrPart, Seen] = field(default_factory=dict["KeyOrPart", Seen])
    closed: list[KeyOrPart] = field(default_factory=list["KeyOrPart"])
    states: list[State] = field(default_factory=list[State])
    operations: list[tuple[tuple[int, str], ...]] = field(default_factory=list[tuple[tuple[int, str], ...]])
    conversation: int = 0
    names: set[str] = field(default_factory=set[str])

    def shorten(self, rules: Sequence[SequenceRule]) -> None:
        """Tell no more than the key where events of a late rule began and ended well."""
        for events, rule in zip(self.late, rules, strict=True):
            closing = rule.closing
            closed = [key for key, runs in events.items() if ended_well(rule, closing, runs)]
            for key in closed:
                del events[key]
            self.late_closed.append(closed)


def is_late(rule: SequenceRule, events: Mapping[str, Event]) -> bool:
    """Whether a rule is about responses too."""
    return any(events[name].kind == "response" for name in rule.events)


def falls(before: Scalar, after: Scalar) -> bool:
    """Whether a value does not rise; what is no number, as no schema allows, is left to the schema."""
    return isinstance(before, int | float) and isinstance(after, int | float) and not after > before


def whole_key(key: KeyOrPart) -> Key:
    """A key with all its parts."""
    return key if isinstance(key, tuple) else (key,)


def left_open(state: State, rules: Sequence[SequenceRule], closing: Sequence[frozenset[str]]) -> Left:
    """What is left of a key that ends in that state. `closing` are, by rule, the events that close."""
    well = True
    left: list[tuple[int, str, int]] = []
    for index, (rule, known) in enumerate(zip(rules, state, strict=True)):
        if known is None or rule.rising is not None:
            continue
        first, last, conversation = known
        well = well and NOTHING in rule.after[first]
        if last not in closing[index]:
            left.append((index, last, conversation))
    return Left(well, left)


def ended_well(rule: SequenceRule, closing: frozenset[str], runs: Iterable[Run]) -> bool:
    """Whether the events of a late rule began and ended well: a key that was new before them is as new after them."""
    last: Run | None = None
    for run in runs:
        _, _, event, _, conversation = run
        before = rule.after[event]
        if last is None:
            if NOTHING not in before:
                return False
        elif last[2] not in before and (rule.whole or last[4] == conversation):
            return False
        last = None if event in closing else run
    return last is None
