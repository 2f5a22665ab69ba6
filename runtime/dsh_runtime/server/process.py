"""A server as a process: standard streams, signals, the end of the input, and the exit code.

Exit codes:

    shutdown, end of the input, SIGTERM     0     rules S161, S169, S171
    SIGINT                                  130   rule S171
    a host that fails to load               1     rule S172
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, Final

from ..aio import Observer
from ..errors import TransportClosedError
from .adapters import Adapter
from .host import Host
from .revision_0_1_5 import Revision
from .server import HarnessSdkServer
from .stdio import StandardStreams

SIGNALS: Final = {signal.SIGTERM: 0, signal.SIGINT: 128 + signal.SIGINT}
"""The exit code by signal."""

PATIENCE: Final = 5.0
"""Seconds for the host to end, once the process is to exit; then it is not asked any more (rule S170)."""


async def serve_stdio(
    host: Host,
    *,
    revision: str = Revision.name,
    max_tokens_as_success: bool = False,
    mount: Callable[[], Adapter] | None = None,
    observer: Observer | None = None,
) -> int:
    """Serve the host over standard input and output until it is over. Returns the exit code; see `HarnessSdkServer`."""
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    with StandardStreams() as streams, _signals(end):
        reader, writer = await streams.open()
        server = HarnessSdkServer(
            host,
            reader,
            writer,
            exit=end,
            revision=revision,
            max_tokens_as_success=max_tokens_as_success,
            mount=mount,
            observer=observer,
        )
        server.transport.on_close(lambda error: end(_code_of(error)))
        await server.start()
        loading = asyncio.create_task(_load(host, end))
        code = await ended
        with _forced_exit(code):
            loading.cancel()
            await _finish(server, host)
            for stream in (reader, writer):
                _close(stream)
    return code


async def _load(host: Host, end: Callable[[int], None]) -> None:
    try:
        await host.ready()
    except Exception as error:  # noqa: BLE001
        _complain(f"the runtime failed to load: {error}")
        end(1)


async def _finish(server: HarnessSdkServer, host: Host) -> None:
    """End what is left, whatever goes wrong."""
    for part in (server.close, host.dispose):
        try:
            await part()
        except Exception as error:  # noqa: BLE001
            _complain(f"while it ended: {error}")


def _code_of(error: Exception) -> int:
    if isinstance(error, TransportClosedError):
        return 0
    _complain(f"a standard stream failed: {error}")
    return 1


def _close(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()


def _complain(sentence: str) -> None:
    with suppress(OSError, ValueError):
        print(f"dsh-runtime: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def _signals(end: Callable[[int], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    for number, code in SIGNALS.items():
        loop.add_signal_handler(number, end, code)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


@contextmanager
def _forced_exit(code: int) -> Generator[None]:
    """Whatever hangs, the process does not outlive this block by more than `PATIENCE`."""
    timer = threading.Timer(PATIENCE, os._exit, (code,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
