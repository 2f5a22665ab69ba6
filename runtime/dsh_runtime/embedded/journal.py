"""The log of one session, in memory: numbers events, keeps them, and holds the conversation that they make."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from dsh_protocol import encode

from .scribe import Draft, Outcome, Scribe

Tell = Callable[[str, Any], Awaitable[None]]


class Journal:
    """Events of one session, oldest first, as they were told. `turn` is the number of the newest turn."""

    def __init__(self, session_id: str, scribe: Scribe) -> None:
        self.session_id = session_id
        self.scribe = scribe
        self.events: list[Any] = []
        self.messages: list[Any] = []
        self.turn = 0
        self.step = 0
        self.turn_is_open = False

    def note(self, draft: Draft | None) -> Any:
        """Record an event, and tell nobody. None for a draft that is none."""
        if draft is None:
            return None
        event = draft.stamp(len(self.events))
        self.events.append(event)
        if draft.message is not None:
            self.messages.append(encode(draft.message))
        return event

    def open_turn(self) -> int:
        """The number of the next turn."""
        self.turn += 1
        self.step = 0
        self.turn_is_open = True
        return self.turn

    def close_turn(self, outcome: Outcome) -> Any:
        """Record how the open turn ended, and tell nobody."""
        self.turn_is_open = False
        return self.note(self.scribe.turn_end(self.turn, self.step, outcome))

    def repair(self) -> None:
        """Close a turn that the end of an earlier process left open (rule S77)."""
        if self.turn_is_open:
            self.close_turn(Outcome("interrupted"))
