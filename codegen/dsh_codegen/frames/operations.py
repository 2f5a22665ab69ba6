"""Records of keys, and what events do to them.

Of each key there is a `Record`. Its state is the first and the last event of every rule, taken together, as a number: what a
frame makes of it is looked up in the table of its `Operation`, which fills as such frames come. Most frames of a log are of a
few kinds in a few states, so following one is two look-ups, however many rules there are. Only what is new in a table goes
through the rules one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final, TypeAlias

from .paths import Scalar
from .sequencing import NOTHING, SequenceRule
from .track import Breach, KeyOrPart, Record, Seen, State, Values, falls, left_open, whole_key

NUMBERS: Final = (int, float)
Tell: TypeAlias = "Callable[[Breach], None]"
"""Takes what breaks a rule."""


class Operation:
    """What some events, that a frame is all at once, do to a record: the rules that they concern, each with its event.

    `number` counts operations. `after` has the states that were seen, each with the one that follows; what is in it breaks no
    rule. `at_first` has the same where it is the first event for some rule. Both are about one conversation only.
    """

    __slots__ = ("after", "at_first", "events", "number", "rising")

    def __init__(self, number: int, events: tuple[tuple[int, str], ...], rising: tuple[int, ...]) -> None:
        self.number = number
        self.events = events
        self.rising = rising
        self.after: dict[int, int] = {}
        self.at_first: dict[int, int] = {}


class Operations:
    """The records of one part of a log. `conversation` is how many conversations have begun in it."""

    def __init__(self, rules: Sequence[SequenceRule], tell: Tell) -> None:
        self.records: Final[dict[KeyOrPart, Record]] = {}
        self.states: Final[list[State]] = [tuple(None for _ in rules)]
        self.conversation = 0
        self._rules: Final = rules
        self._tell = tell
        self._closing: Final = [rule.closing for rule in rules]
        self._numbers: Final[dict[State, int]] = {self.states[0]: 0}
        self._operations: Final[dict[tuple[tuple[int, str], ...], Operation]] = {}

    def begin(self) -> None:
        """Another conversation begins."""
        self.conversation += 1
        for operation in self._operations.values():
            operation.after.clear()
            operation.at_first.clear()

    def seen(self, *, short: bool) -> tuple[dict[KeyOrPart, Seen], list[KeyOrPart]]:
        """What is to be told of the records, which are used up. `short`: but for those about which all began and ended well, of
        which the keys are told."""
        lefts = [left_open(state, self._rules, self._closing) for state in self.states]
        closed = [short and left.well and not left.open for left in lefts]
        about = {each: self._about(*each) for operation in self._operations for each in operation}
        enders = [[about[rule, event] for rule, event, _ in left.open] for left in lefts]
        never = repeat(0)
        told: dict[KeyOrPart, Seen] = {}
        gone: list[KeyOrPart] = []
        for key in list(self.records):
            record = self.records.pop(key)
            line = record.lines.get
            rose: tuple[Scalar, ...] = ()
            if record.rising:
                for rule, each in record.rising.items():
                    rose += (rule, *each.first, each.last, each.line, each.conversation)
            elif closed[record.state]:
                gone.append(key)
                continue
            ends = tuple([max(map(line, numbers, never)) for numbers in enders[record.state]])
            told[key] = (record.state, ends, record.firsts, rose)
        return told, gone

    def events(self) -> list[tuple[tuple[int, str], ...]]:
        """The events of all operations, by number."""
        return [operation.events for operation in self._operations.values()]

    def record(self, key: KeyOrPart) -> Record:
        """The record of a key, perhaps a new one."""
        record = self.records.get(key)
        if record is None:
            record = self.records[key] = Record()
        return record

    def operation(self, events: tuple[tuple[int, str], ...]) -> Operation:
        """What these events do, one object for the same ones."""
        found = self._operations.get(events)
        if found is None:
            rising = tuple(index for index, _ in events if self._rules[index].rising is not None)
            found = self._operations[events] = Operation(len(self._operations), events, rising)
        return found

    def advance(self, record: Record, key: KeyOrPart, operation: Operation, line: int) -> None:
        """Do an operation on the record of a key."""
        following = operation.after.get(record.state)
        if following is None:
            following = operation.at_first.get(record.state)
            if following is None:
                following = self._rule_by_rule(record, key, operation, line)
            else:
                record.firsts += (operation.number, line, self.conversation)
        record.state = following
        record.lines[operation.number] = line

    def rise(self, record: Record, key: KeyOrPart, rule: int, value: Scalar, line: int) -> Values:
        """A value came that has to rise; its operation is done after that. The values of its rule.

        What is no number does not count: the schema has its say about that.
        """
        conversation = self.conversation
        values = record.rising.get(rule)
        if value.__class__ not in NUMBERS:
            return values or record.top
        if values is None:
            values = record.rising[rule] = Values(value, line, conversation)
            return values
        if values.conversation == conversation and falls(values.last, value):
            self._tell(Breach(rule, whole_key(key), line, value, values.last, values.line))
        values.last, values.line, values.conversation = value, line, conversation
        return values

    def _rule_by_rule(self, record: Record, key: KeyOrPart, operation: Operation, line: int) -> int:
        """The state that follows; it is put into a table if nothing is to be said about it."""
        conversation = self.conversation
        state = list(self.states[record.state])
        quiet, first = True, False
        for index, event in operation.events:
            rule = self._rules[index]
            known = state[index]
            if known is None:
                state[index] = (event, event, conversation)
                first = True
                continue
            first_event, previous, its_conversation = known
            state[index] = (first_event, event, conversation)
            same = rule.whole or its_conversation == conversation
            closed = previous in self._closing[index]
            if rule.rising is not None or closed:
                broken = rule.rising is None and NOTHING not in rule.after[event]
            else:
                broken = same and previous not in rule.after[event]
            if broken:
                headless = closed and not rule.whole and not conversation
                last_line = self._last_line(record, index, previous)
                self._tell(Breach(index, whole_key(key), line, event, previous, last_line, headless))
            quiet = quiet and same and not broken
        if first:
            record.firsts += (operation.number, line, conversation)
        following = self._number(tuple(state))
        if quiet:
            (operation.at_first if first else operation.after)[record.state] = following
        return following

    def _number(self, state: State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self.states)
            self.states.append(state)
        return number

    def _last_line(self, record: Record, rule: int, event: str) -> int:
        """Where an event of a rule came last. 0: nowhere yet."""
        return max([record.lines.get(number, 0) for number in self._about(rule, event)], default=0)

    def _about(self, rule: int, event: str) -> list[int]:
        """The numbers of the operations that are an event of a rule."""
        return [operation.number for operation in self._operations.values() if (rule, event) in operation.events]
