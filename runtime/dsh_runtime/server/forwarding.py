"""From what happens in the host to notifications: unfiltered, in order, and none once it was ended (rules S92, S158)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from dsh_protocol import encode

from ..errors import LocalProtocolError, TransportClosedError
from .host import RunEnd, SessionStatus, SubagentRun

Send = Callable[[str, dict[str, Any]], Awaitable[None]]

_log: Final = logging.getLogger("dsh_runtime")


def run_status(reason: str | None, *, max_tokens_as_success: bool) -> str:
    """`ok` or `error` for the reason why a run or a turn ended, None if there is none (rules S152, S153)."""
    return "ok" if reason == "completed" or (reason == "max-tokens" and max_tokens_as_success) else "error"


class Forwarder:
    """A `Listener` that notifies the client. `send` writes one notification and waits while the client reads too slowly."""

    def __init__(self, send: Send, *, max_tokens_as_success: bool) -> None:
        self._send = send
        self._ended = False
        self._turn = asyncio.Lock()  # fair: what waits while the client is slow is sent in the order in which it came
        self.max_tokens_as_success = max_tokens_as_success

    def end(self) -> None:
        """Forward nothing more."""
        self._ended = True

    async def session_created(self, session_id: str, parent_id: str | None) -> None:
        """Tell of a child (rule S143)."""
        if parent_id is not None:
            await self.notify("subagent.started", {"parentSessionId": parent_id, "childSessionId": session_id})

    async def event(self, session_id: str, event: Any) -> None:
        """Tell of an event, whatever it is."""
        await self.notify("session.event", {"sessionId": session_id, "event": encode(event)})

    async def status(self, session_id: str, status: SessionStatus) -> None:
        """Tell of the state of an agent, with no outcome (rule S113)."""
        await self.notify("session.status", {"sessionId": session_id, "status": status})

    async def run_finished(self, run: SubagentRun, end: RunEnd) -> None:
        """Tell of the end of a run, if it was accepted as a local one; nothing else counts (rules S144-S149)."""
        if not run.local:
            return
        params: dict[str, Any] = {
            "provider": run.provider,
            "agentId": run.child_id,
            "parentSessionId": run.parent_id,
            "childSessionId": run.child_id,
            "status": run_status(end.stop_reason, max_tokens_as_success=self.max_tokens_as_success),
            "stopReason": end.stop_reason,
        }
        if message := end.last_message or (end.text and [{"type": "text", "text": end.text}]):
            params["lastAssistantMessage"] = encode(message)
        await self.notify("subagent.finished", params)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send, unless it is over. What can't be sent is logged: nothing that fails here may hurt an agent."""
        try:
            async with self._turn:
                if not self._ended:
                    await self._send(method, params)
        except TransportClosedError:
            self._ended = True
        except LocalProtocolError:
            _log.exception("a %s could not be sent", method)
