"""mcp 2.3.0: a client session over its stdio transport. Notifications are models."""
# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from ..contender import AsyncContender, Ping


class Mcp(AsyncContender):
    """`mcp.ClientSession`"""

    frame = {  # noqa: RUF012
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {
            "level": "info",
            "logger": "session-1",
            "data": {"type": "assistant/chunk", "seq": 27, "time": 1796041688327, "turn": 1, "step": 1, "text": "tok0018 @"},
        },
    }

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        server = StdioServerParameters(command=command[0], args=command[1:])
        async with (
            stdio_client(server) as (reader, writer),
            ClientSession(reader, writer, logging_callback=self._handle) as session,
        ):
            yield session.send_ping

    async def _handle(self, params: Any) -> None:
        self.took()
        if self.pause is not None:
            await asyncio.sleep(self.pause)
