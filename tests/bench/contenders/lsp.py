"""Two for the language server protocol, whose messages have a Content-Length: pygls 2.1.1 and python-lsp-jsonrpc 1.1.2."""
# pyright: reportMissingImports=false

from __future__ import annotations

import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import wait
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from pygls.lsp.client import LanguageClient
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

from ..contender import BATCH, AsyncContender, BlockingContender, Ping


class Pygls(AsyncContender):
    """`pygls.lsp.client.LanguageClient`, whose notifications are dataclasses"""

    framing = "headers"
    frame = {  # noqa: RUF012
        "jsonrpc": "2.0",
        "method": "window/logMessage",
        "params": {"type": 3, "message": f"{'session-1 assistant/chunk 27 1796041688327 1 1 text-delta ' * 2}tok0018 @"},
    }

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        client = LanguageClient("bench", "1")
        client.feature("window/logMessage")(lambda params: self.took())
        await client.start_io(*command)

        async def ping() -> None:
            await client.protocol.send_request_async("ping")

        yield ping
        client.protocol.writer.close()  # the peer ends then
        await client.stop()


class Pylsp(BlockingContender):
    """`pylsp_jsonrpc.endpoint.Endpoint`"""

    framing = "headers"

    @contextmanager
    def connected(self, command: list[str]) -> Iterator[Callable[[], object]]:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as peer:
            self._endpoint = Endpoint({"session.event": self._handle}, JsonRpcStreamWriter(peer.stdin).write)
            reader = JsonRpcStreamReader(peer.stdout)
            reading = threading.Thread(target=reader.listen, args=(self._endpoint.consume,))
            reading.start()
            yield lambda: self._endpoint.request("ping").result()
            assert peer.stdin is not None
            peer.stdin.close()
            reading.join()
            self._endpoint.shutdown()

    def _handle(self, params: Any) -> None:
        self.took()

    def many(self, ping: Callable[[], object]) -> None:
        wait([self._endpoint.request("ping") for _ in range(BATCH)])
