"""Follows the sessions of a log, frame by frame, as the table of the order of frames tells them.

Which frames belong to a session, and which begin or end a span (a turn, say), is data: `sessions`, `spans` of a `Sequencing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from ..paths import Key, keys
from ..sequencing import Event, Sequencing
from .sample import shortened
from .sessions import Ends, Last, Session, Sessions
from .walks import text_of

Find: TypeAlias = Callable[[Any], list[Key]]
"""Finds keys in a frame."""


class _Mark(NamedTuple):
    """An event that begins or ends a span: the name of the span, its key, the outcome."""

    name: str
    find: Find
    began: bool
    outcome: Find | None


class _Action(NamedTuple):
    """What an event means: whose session it is, which spans it begins or ends, and whether it begins a conversation."""

    session: Find | None
    marks: list[_Mark]
    begins: bool


class _Group(NamedTuple):
    """Events that are told apart by the values at the same paths."""

    has: str | None
    find: Find
    actions: dict[Key, list[_Action]]


class Watcher:
    """Follows the sessions of one part of a log; `sessions` is what comes of it."""

    def __init__(self, sequencing: Sequencing) -> None:
        self.sessions = Sessions(from_start=False)
        self._groups: dict[tuple[str, str], dict[tuple[str | None, tuple[str, ...]], _Group]] = {}
        for event in sequencing.events.values():
            action = _action(event, sequencing)
            if action.session is None and not action.marks and not action.begins:
                continue
            paths = tuple(path for path, _ in event.where)
            for method in event.methods:
                groups = self._groups.setdefault((event.kind, method), {})
                group = groups.setdefault((event.has, paths), _Group(event.has, keys(paths), {}))
                group.actions.setdefault(tuple(value for _, value in event.where), []).append(action)

    def frame(self, kind: str, method: str, members: dict[str, Any], line: int) -> None:
        """Follow one frame. `method` of a response is that of its request."""
        actions = [
            action
            for group in self._groups.get((kind, method), {}).values()
            if group.has is None or group.has in members
            for values in group.find(members)
            for action in group.actions.get(values, ())
        ]
        if not actions:
            return
        ids = {_text(key): None for action in actions if action.session is not None for key in action.session(members)}
        tables = [self.sessions.spans, *(self._session(name, line).spans for name in ids)]
        self.sessions.begun += any(action.begins for action in actions)
        for action in actions:
            for mark in action.marks:
                self._mark(mark, members, tables, line)

    def _session(self, name: str, line: int) -> Session:
        """The session of that id, with one frame more."""
        table = self.sessions.table
        found = table.get((name,))
        if found is None:
            self.sessions.distinct.add(name)
            found = Session(0, line)
            table.put((name,), found)
        found.count += 1
        return found

    def _mark(self, mark: _Mark, members: dict[str, Any], tables: Iterable[dict[str, Ends]], line: int) -> None:
        outcomes = mark.outcome(members) if mark.outcome is not None else []
        outcome = shortened(text_of(outcomes[0][0])) if outcomes else ""
        for key in mark.find(members):
            self.sessions.last[self.sessions.begun, mark.name, _text(key)] = Last(mark.began, line)
            for table in tables:
                ends = table.setdefault(mark.name, Ends())
                if mark.began:
                    ends.started += 1
                else:
                    ends.end(outcome, line)


def _text(key: Key) -> str:
    return shortened("\n".join(text_of(part) for part in key), unique=True)


def _action(event: Event, sequencing: Sequencing) -> _Action:
    session = sequencing.sessions.get(event.name)
    marks = [
        _Mark(span.name, keys(span.per), began, None if began else keys((span.outcome,)))
        for span in sequencing.spans
        for name, began in ((span.start, True), (span.end, False))
        if name == event.name
    ]
    return _Action(None if session is None else keys((session,)), marks, event.name == sequencing.begins)
