"""agent-client-protocol 0.12.1, with and without its types."""
# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import acp
from acp.stdio import spawn_stdio_connection

from ..contender import AsyncContender, Ping


class Untyped(AsyncContender):
    """`acp.connection.Connection`"""

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        async with spawn_stdio_connection(self._handle, *command) as (connection, _):
            yield lambda: connection.send_request("ping")

    async def _handle(self, method: str, params: Any, is_notification: bool) -> None:
        self.took()
        if self.pause is not None:
            await asyncio.sleep(self.pause)


class Typed(AsyncContender):
    """`acp.ClientSideConnection`, whose notifications are models"""

    frame = {  # noqa: RUF012
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "session-1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "tok0018 @"}},
            "_meta": {"seq": 27, "time": 1796041688327, "turn": 1, "step": 1},
        },
    }

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        async with acp.spawn_agent_process(self, *command) as (connection, _):
            yield lambda: connection.ext_method("ping", {})

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Called by the connection."""
        self.took()
        if self.pause is not None:
            await asyncio.sleep(self.pause)
