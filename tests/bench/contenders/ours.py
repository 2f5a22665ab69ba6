"""The transports and the clients of this project. Notifications are decoded into dataclasses."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import dsh_protocol
import dsh_runtime.aio.client
import dsh_runtime.blocking.client
from dsh_runtime import aio, blocking
from dsh_runtime.launch import ClosingTimes, Launch

from ..contender import BATCH, REVISION, AsyncContender, BlockingContender, Ping

METHODS: Final = dsh_protocol.revision(REVISION).METHODS
AT_ONCE: Final = ClosingTimes(end_of_input=0.5)


def decode(method: str, params: dict[str, Any]) -> Any:
    return METHODS[method].decode_params(params)


class Aio(AsyncContender):
    """`dsh_runtime.aio.JsonRpcLineTransport`"""

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            reader, writer = await aio.open_reader(peer.stdout.fileno()), await aio.open_writer(peer.stdin.fileno())
            self._transport = aio.JsonRpcLineTransport(reader, writer)
            self._transport.on_notification(self._handle)
            await self._transport.start()
            yield lambda: self._transport.request("ping")
            await self._transport.close()
            reader.close()
            writer.close()
            peer.stdin.close()
            await asyncio.sleep(0)

    def _handle(self, method: str, params: dict[str, Any]) -> Any:
        decode(method, params)
        self.took()
        return None if self.pause is None else asyncio.sleep(self.pause)

    async def many(self, ping: Ping) -> None:
        await asyncio.gather(*(self._transport.submit("ping") for _ in range(BATCH)))


class Blocking(BlockingContender):
    """`dsh_runtime.blocking.JsonRpcLineTransport`"""

    @contextmanager
    def connected(self, command: list[str]) -> Iterator[Callable[[], object]]:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            self._transport = blocking.JsonRpcLineTransport(peer.stdout, peer.stdin)
            self._transport.on_notification(self._handle)
            self._transport.start()
            yield lambda: self._transport.request("ping")
            self._transport.close()
            peer.stdin.close()

    def _handle(self, method: str, params: dict[str, Any]) -> None:
        decode(method, params)
        self.took()
        if self.pause is not None:
            time.sleep(self.pause)

    def many(self, ping: Callable[[], object]) -> None:
        for call in [self._transport.submit("ping") for _ in range(BATCH)]:
            call.result()


class AioClient(AsyncContender):
    """`dsh_runtime.aio.client.HarnessClient` with a subscription"""

    @asynccontextmanager
    async def connected(self, command: list[str]) -> AsyncIterator[Ping]:
        client = dsh_runtime.aio.client.HarnessClient(Launch(command, profile=None), revision=REVISION, times=AT_ONCE)
        async with client:
            subscription = client.subscribe(limit=None)
            reading = asyncio.create_task(self._read(subscription))
            yield lambda: client.request("ping")
            subscription.close()
            await reading

    async def _read(self, subscription: Any) -> None:
        async for _ in subscription:
            self.took()


class BlockingClient(BlockingContender):
    """`dsh_runtime.blocking.client.HarnessClient` with a subscription"""

    @contextmanager
    def connected(self, command: list[str]) -> Iterator[Callable[[], object]]:
        client = dsh_runtime.blocking.client.HarnessClient(Launch(command, profile=None), revision=REVISION, times=AT_ONCE)
        with client:
            subscription = client.subscribe(limit=None)
            reading = threading.Thread(target=self._read, args=(subscription,))
            reading.start()
            yield lambda: client.request("ping")
            subscription.close()
            reading.join()

    def _read(self, subscription: Any) -> None:
        for _ in subscription:
            self.took()
