"""What belongs to one prompt, and what came of it (rules C1 to C14). No I/O.

An `Interval` is fed the notifications of a session tree in order and knows where the prompt's activity begins and ends. There
are two kinds: from the receipt in the agent's inbox to the next idle of the root session, and, in revision 2026-07-29, up to
the `session.finished` of the prompt. It judges by the JSON as it came, so an event that does not decode can't hide the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from .errors import RemoteProtocolError
from .routing import HarnessNotification, UndecodedEvent
from .unchecked import elements, member, members


@dataclass(frozen=True, slots=True)
class PromptReceipt:
    """A prompt was accepted. `message_id` is the id of the queued user message; None in revision 2026-07-29, which has none."""

    session_id: str
    message_id: str | None


@dataclass(frozen=True, slots=True)
class RunResult:
    """What happened from a prompt's receipt until its session was idle; other prompts' turns may be part of it (rule C4).

    `final_response` is the text of the last answer of the session, "" if there was none. `finish_reason` is the kind of the
    last turn's end (`completed`, `max-tokens`, `error`...), None if no turn ended. `events` are the session's own (dataclasses
    of the revision, or `UndecodedEvent`), `notifications` those of the whole tree. `status` is `ok` or `error` in revision
    2026-07-29, and None in later ones, which have no such thing (rule C10).
    """

    session_id: str
    final_response: str
    finish_reason: str | None
    events: tuple[Any, ...] = field(repr=False)
    notifications: tuple[HarnessNotification, ...] = field(repr=False)
    status: str | None = None


class Interval:
    """The activity of one prompt. Feed it with `take` until `done`."""

    by_message: ClassVar[bool] = False
    """Whether the receipt has to name a message."""

    def __init__(self, receipt: PromptReceipt) -> None:
        self.done = False
        self._receipt = receipt
        self._begun = False
        self._taken: list[HarnessNotification] = []

    def take(self, notification: HarnessNotification) -> bool:
        """Whether it belongs to the interval."""
        self._begun = self._begun or self._begins(notification)
        if self._begun:
            self._taken.append(notification)
            self.done = self._ends(notification)
        return self._begun

    def result(self) -> RunResult:
        """The outcome of what was taken so far. Raises `RemoteProtocolError` for an answer or an end that can't be read."""
        events = [(n, event) for n in self._taken if (event := self._root_event(n)) is not None]
        return RunResult(
            session_id=self._receipt.session_id,
            final_response=_final_response([event for _, event in events]),
            finish_reason=self._finish_reason(_last([event for _, event in events], "turn/end")),
            events=tuple(n.params if isinstance(n.params, UndecodedEvent) else n.params.event for n, _ in events),
            notifications=tuple(self._taken),
            status=self._status(),
        )

    def _begins(self, _: HarnessNotification, /) -> bool:
        raise NotImplementedError

    def _ends(self, _: HarnessNotification, /) -> bool:
        raise NotImplementedError

    def _finish_reason(self, _: dict[str, Any] | None, /) -> str | None:
        raise NotImplementedError

    def _status(self) -> str | None:
        return None

    def _about_root(self, notification: HarnessNotification, method: str) -> bool:
        return notification.method == method and notification.raw.get("sessionId") == self._receipt.session_id

    def _root_event(self, notification: HarnessNotification) -> dict[str, Any] | None:
        event = members(notification.raw.get("event"))
        return event if event and self._about_root(notification, "session.event") else None


class ReceiptToIdle(Interval):
    """From the message in the inbox to the next idle status of the root (rules C2, C3)."""

    by_message = True

    def _begins(self, notification: HarnessNotification) -> bool:
        event = self._root_event(notification)
        if event is None or event.get("type") != "agent/inbox/spliced":
            return False
        inserted = elements(member(event, "data", "inserted"))
        return any(members(message).get("id") == self._receipt.message_id for message in inserted)

    def _ends(self, notification: HarnessNotification) -> bool:
        return self._about_root(notification, "session.status") and notification.raw.get("status") == "idle"

    def _finish_reason(self, turn_end: dict[str, Any] | None) -> str | None:
        if turn_end is None:
            return None
        kind = member(turn_end, "data", "reason", "kind")
        if not isinstance(kind, str):
            raise RemoteProtocolError("turn/end event requires a string data.reason.kind")
        return kind


class UntilFinished(Interval):
    """Up to the prompt's `session.finished`, which also tells the outcome (rules C6, C10). There can be no other prompt's."""

    def _begins(self, _: HarnessNotification) -> bool:
        return True

    def _ends(self, notification: HarnessNotification) -> bool:
        return self._about_root(notification, "session.finished")

    def _finish_reason(self, _: dict[str, Any] | None) -> str | None:
        kind = member(self._taken[-1].raw, "reason", "kind")
        return kind if isinstance(kind, str) else None

    def _status(self) -> str | None:
        status = self._taken[-1].raw.get("status")
        if not isinstance(status, str):
            raise RemoteProtocolError("session.finished requires a string status")
        return status


def _last(events: list[dict[str, Any]], kind: str) -> dict[str, Any] | None:
    return next((event for event in reversed(events) if event.get("type") == kind), None)


def _final_response(events: list[dict[str, Any]]) -> str:
    last = _last(events, "assistant/message")
    if last is None:
        return ""
    content = member(last, "data", "message", "content")
    blocks = elements(content)
    if not isinstance(content, list) or not all(isinstance(member(block, "type"), str) for block in blocks):
        raise RemoteProtocolError("assistant/message event requires an array data.message.content of typed blocks")
    return "".join(block["text"] for block in blocks if block["type"] == "text" and isinstance(block.get("text"), str))
