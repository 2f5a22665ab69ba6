"""What is different in revision 2026-07-29: one prompt at a time per session, answered when its work is done.

There is no readiness to wait for, no gate before `initialize`, no status, no encoded image, and no receipt; in their place
`session.finished` tells how a prompt ended.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar

from dsh_protocol import InitializeResult, encode
from dsh_protocol.v2026_07_29 import SessionPromptResult

from .adapters import DEEPSEEK, Route, plain_text
from .forwarding import Forwarder, Send, run_status
from .host import SessionStatus
from .revision_0_1_5 import Params, Revision, absolute_cwd, checked_max_tokens, server_info
from .service import Settings
from .sessions import ShuttingDownError
from .values import member


class OlderForwarder(Forwarder):
    """Tells no status, and how each prompt ended (rules S177-S180)."""

    def __init__(self, send: Send, *, max_tokens_as_success: bool) -> None:
        super().__init__(send, max_tokens_as_success=max_tokens_as_success)
        self._by_message: dict[str, bool] = {}  # whether a message started the open turn
        self._reasons: dict[str, Any] = {}

    def begin(self, session_id: str) -> None:
        """A prompt begins: no turn of it has ended."""
        self._reasons.pop(session_id, None)

    async def status(self, session_id: str, status: SessionStatus) -> None:
        """Nothing is told."""

    async def event(self, session_id: str, event: Any) -> None:
        """Tell of the event, and remember how the last turn ended that a message started (rule S178)."""
        value = encode(event)
        match value:
            case {"type": "turn/start", "data": {"trigger": {"kind": kind}}}:
                self._by_message[session_id] = kind == "message"
            case {"type": "turn/end", "data": {"reason": reason}} if self._by_message.get(session_id):
                self._reasons[session_id] = reason
            case _:
                pass
        await super().event(session_id, value)

    async def finish(self, session_id: str) -> None:
        """Tell how the prompt ended (rules S152, S177-S179)."""
        reason = self._reasons.pop(session_id, None)
        status = run_status(reason and reason["kind"], max_tokens_as_success=self.max_tokens_as_success)
        params = {"sessionId": session_id, "status": status}
        await self.notify("session.finished", params if reason is None else {**params, "reason": reason})


class Revision20260729(Revision):
    """Revision 2026-07-29."""

    name: ClassVar[str] = "2026-07-29"
    forwarder: OlderForwarder

    def make_forwarder(self, send: Send, *, max_tokens_as_success: bool) -> OlderForwarder:
        """One that tells how prompts end."""
        self._prompting: set[str] = set()
        return OlderForwarder(send, max_tokens_as_success=max_tokens_as_success)

    async def initialize(self, params: Params) -> InitializeResult:
        """Store, then look whether anybody answers for the provider; the model is not resolved (rules S14, S29)."""
        route = Route(
            plain_text(member(params, "provider")),
            plain_text(member(params, "model")),
            max_tokens=checked_max_tokens(params),
        )
        self.service.settings = Settings(absolute_cwd(params), route)
        self.service.adapter(member(params, "provider"))
        return server_info()

    def settings(self) -> Settings:
        """What was stored last; before any `initialize`, the directory of the process and one name for all (rule S39)."""
        return self.service.settings or Settings(str(Path.cwd()), Route(DEEPSEEK, DEEPSEEK))

    async def prompt(self, params: Params) -> Any:
        """Run one message to the end: events, `session.finished`, then the answer (rules S175-S177)."""
        session_id = self.service.session_id(params)
        if session_id in self._prompting:
            raise RuntimeError(f"session already has an active prompt: {session_id}")
        self._prompting.add(session_id)
        try:
            agent, blocks = await self.accept(params)
            self.forwarder.begin(session_id)
            await agent.enqueue(blocks)
            try:
                await agent.when_idle()
            finally:
                if self.service.sessions.stopping:
                    raise ShuttingDownError
            await self.forwarder.finish(session_id)
        finally:
            self._prompting.discard(session_id)
        return SessionPromptResult()

    async def leave(self, close: Callable[[], Awaitable[None]]) -> None:
        """The end of the server alone (rule S163)."""
        await close()
