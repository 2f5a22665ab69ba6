"""Follows the frames of one part of a log by the rules of a `Sequencing`.

A frame is one or several events; for each of these there are moves, which are made once for all frames that are the same
events: an operation on the record of a key (`operations`), or a note for a late rule (`track`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from .look import Look, Parsed, each_key, the_key
from .operations import Operation, Operations, Tell
from .paths import EACH, Scalar, values
from .sequencing import Event, SequenceRule, Sequencing
from .track import Track, is_late
from .wording import Json

Move: TypeAlias = "Callable[[Any, int], None]"
"""Takes a frame and its line."""


class Follower:
    """Follows the frames of one part, in order. `tell` gets what breaks a rule within the part."""

    def __init__(self, sequencing: Sequencing, tell: Tell) -> None:
        self.rules: Final = sequencing.rules
        self._begins: Final = sequencing.begins
        self._telling: Final = {end.seen for rule in self.rules for ends in rule.ends.values() for end in ends}
        self.operations: Final = Operations(self.rules, tell)
        self._moves: Final[dict[tuple[str, str, tuple[int, ...]], list[Move]]] = {}
        self._matchers: Final[dict[tuple[str, str], _Matcher]] = {}
        self._events: Final[dict[tuple[str, str], list[Event]]] = {}
        self._track: Final = Track([{} for _ in self.rules])
        self._epoch = 0
        self._is_late: Final = [is_late(rule, sequencing.events) for rule in self.rules]
        self._concerned_by: Final[dict[str, list[tuple[int, int, str]]]] = {}
        for index, rule in enumerate(self.rules):
            for position, name in enumerate(rule.events):
                self._concerned_by.setdefault(name, []).append((index, position, name))
        self._repeatable: Final[dict[tuple[tuple[tuple[int, str], ...], ...], list[Move]]] = {}
        self.repeating: Sequence[Move] = ()
        self.repeated_at = 0
        for event in sequencing.events.values():
            for method in event.methods:
                self._events.setdefault((event.kind, method), []).append(event)

    def frame(self, kind: str, method: str, members: Json, line: int) -> None:
        """Follow one frame. `method` of a response is that of its request."""
        events = self._events.get((kind, method))
        if events is None:
            return
        matcher = self._matchers.get((kind, method))
        if matcher is None:
            matcher = self._matchers[kind, method] = _Matcher(events)
        indexes = matcher.indexes(members)
        which = (kind, method, indexes)
        moves = self._moves.get(which)
        if moves is None:
            moves = self._moves[which] = self.moves([events[index] for index in indexes], Parsed())
        self.settle()
        for move in moves:
            move(members, line)

    def repeat(self, moves: Sequence[Move], line: int) -> None:
        """Make moves that don't look at the frame.

        If the next ones are the same, all that they change is where they were made last. So whoever makes many may set
        `repeated_at` instead, as long as `repeating` is their moves.
        """
        if self.repeating is moves:
            self.repeated_at = line
        elif moves:
            self.settle()
            for move in moves:
                move(None, line)
            self.repeating = moves

    def settle(self) -> None:
        """Make up for moves that were only noted: something else comes, or the end."""
        moves, self.repeating = self.repeating, ()
        if self.repeated_at:
            for move in moves:
                move(None, self.repeated_at)
        self.repeated_at = 0

    def unknown(self) -> None:
        """A response came that finds no request in this part."""
        self.settle()
        self._epoch += 1

    def events(self, kind: str, method: str) -> Sequence[Event]:
        """The events that frames of this kind and method may be."""
        return self._events.get((kind, method), ())

    def track(self, *, short: bool) -> Track:
        """What is to be remembered of the part. `short`: leave out what will hardly be needed, and name its keys.

        Nothing can be followed after that. All moves are dropped: they refer to the follower, so it would live on for a while.
        """
        self.settle()
        self._moves.clear()
        self._repeatable.clear()
        track = self._track
        track.states = self.operations.states
        track.operations = self.operations.events()
        track.seen, track.closed = self.operations.seen(short=short)
        if short:
            track.shorten(self.rules)
        track.conversation = self.operations.conversation
        return track

    def moves(self, events: Iterable[Event], look: Look) -> list[Move]:
        """What to do with a frame that is all of these events."""
        _, repeating, others = self.parted(events, "", look)
        return [*others, *repeating]

    def parted(self, events: Iterable[Event], path: str, look: Look) -> tuple[Operation | None, Sequence[Move], list[Move]]:
        """The same in three parts: the operation on the key at `path`; moves for `repeat`, of the same ones the same; all
        else."""
        names = {event.name for event in events}
        mine: Operation | None = None
        repeating: list[tuple[tuple[int, str], ...]] = []
        others: list[Move] = [self._begin] if self._begins in names else []
        others += (self._seen(name) for name in sorted(names & self._telling))
        for index, rule, event in self._concerned(names):
            if self._is_late[index]:
                if self._repeats((index, event)):
                    repeating.append(((index, event),))
                else:
                    others.append(self._late(index, rule, event, look))
        for paths, operation in self._on_records(names):
            if paths == (path,):
                mine = operation
            elif not paths and all(map(self._repeats, operation.events)):
                repeating.append(operation.events)
            else:
                others.append(self._keyed(paths, operation, look))
        return mine, self._repeating(tuple(repeating), look), others

    def _repeats(self, each: tuple[int, str]) -> bool:
        """Whether an event has no key and may follow itself."""
        rule, event = self.rules[each[0]], each[1]
        return not rule.events[event] and event in rule.after[event] and rule.rising is None

    def _repeating(self, all_events: tuple[tuple[tuple[int, str], ...], ...], look: Look) -> Sequence[Move]:
        found = self._repeatable.get(all_events)
        if found is None:
            found = self._repeatable[all_events] = []
            for events in all_events:
                index, event = events[0]
                if self._is_late[index]:
                    found.append(self._late(index, self.rules[index], event, look))
                else:
                    found.append(self._keyed((), self.operations.operation(events), look))
        return found

    def rising(self, event: Event) -> Iterator[tuple[int, tuple[str, str]]]:
        """The rules by which a value of that event has to rise: each with the paths of the key, if it is one, and of the value.

        Nothing if there are several for one key.
        """
        for paths, operation in self._on_records([event.name]):
            if len(paths) == 1 and EACH not in paths[0] and len(operation.rising) == 1:
                (rule,) = operation.rising
                yield rule, (paths[0], str(self.rules[rule].rising))

    def _on_records(self, names: Iterable[str]) -> list[tuple[tuple[str, ...], Operation]]:
        """What these events do to records, by the paths of their keys."""
        found: dict[tuple[str, ...], list[tuple[int, str]]] = {}
        for index, rule, event in self._concerned(names):
            if not self._is_late[index]:
                found.setdefault(rule.events[event], []).append((index, event))
        return [(paths, self.operations.operation(tuple(each))) for paths, each in found.items()]

    def _concerned(self, names: Iterable[str]) -> Iterable[tuple[int, SequenceRule, str]]:
        """The rules that events concern, in order, each with one of them."""
        found = sorted(each for name in names for each in self._concerned_by.get(name, ()))
        return ((index, self.rules[index], name) for index, _, name in found)

    def _begin(self, _frame: Any, _line: int) -> None:
        self.operations.begin()
        self._track.names.clear()

    def _seen(self, name: str) -> Move:
        names = self._track.names
        return lambda _frame, _line: names.add(name)

    def _keyed(self, paths: tuple[str, ...], operation: Operation, look: Look) -> Move:
        rising = [(index, look.values(str(self.rules[index].rising))) for index in operation.rising]
        operations, records = self.operations, self.operations.records
        after, number = operation.after, operation.number
        find_key = the_key(paths, look)
        if find_key is not None and not rising:

            def move_one(frame: Any, line: int) -> None:
                key = find_key(frame)
                if key is None:
                    return
                record = records.get(key)
                if record is None:
                    record = operations.record(key)
                following = after.get(record.state)
                if following is None:
                    operations.advance(record, key, operation, line)
                else:
                    record.state = following
                    record.lines[number] = line

            return move_one
        find_keys = each_key(paths, look)

        def move(frame: Any, line: int) -> None:
            for key in find_keys(frame):
                record = operations.record(key)
                for index, find_values in rising:
                    for value in find_values(frame):
                        operations.rise(record, key, index, value, line)
                operations.advance(record, key, operation, line)

        return move

    def _late(self, index: int, rule: SequenceRule, event: str, look: Look) -> Move:
        operations, late = self.operations, self._track.late[index]
        repeats = event in rule.after[event]
        find_keys = each_key(rule.events[event], look)

        def move(frame: Any, line: int) -> None:
            for key in find_keys(frame):
                run = (line, line, event, self._epoch, operations.conversation)
                runs = late.get(key)
                if runs is None:
                    late[key] = [run]
                elif repeats and runs[-1][2:] == run[2:]:
                    runs[-1] = (runs[-1][0], *run[1:])
                else:
                    runs.append(run)

        return move


class _Matcher:
    """Finds out which of some events a frame is. Most events ask for one value, so they are looked up by it."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._by_value: dict[str, dict[Scalar, list[int]]] = {}
        self._others: list[tuple[int, str | None, list[tuple[Callable[[Json], list[Scalar]], Scalar]]]] = []
        for index, event in enumerate(events):
            if len(event.where) == 1 and event.has is None:
                ((path, value),) = event.where
                self._by_value.setdefault(path, {}).setdefault(value, []).append(index)
            else:
                self._others.append((index, event.has, [(values(path), value) for path, value in event.where]))
        self._finders = [(values(path), by_value) for path, by_value in self._by_value.items()]

    def indexes(self, members: Json) -> tuple[int, ...]:
        """The indexes of the events that a frame with these members is, in order."""
        found = [
            index
            for index, has, where in self._others
            if (has is None or (isinstance(members, dict) and has in members))
            and all(value in find(members) for find, value in where)
        ]
        for find, by_value in self._finders:
            for value in find(members):
                found += by_value.get(value, ())
        return tuple(sorted(set(found)))
