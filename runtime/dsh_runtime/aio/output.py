"""Lines on their way out: those sent in one turn of the event loop leave in one write, and senders wait for the peer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from .streams import Writer

OUTPUT_LIMIT: Final = 256 * 1024
"""Unwritten bytes from which on senders have to wait."""


class LineWriter:
    """Writes lines to a stream, which stays the caller's.

    `failed` gets the error when the stream is lost; `changed` is called when `full` may have become false.
    """

    def __init__(self, output: Writer, failed: Callable[[Exception], None], changed: Callable[[], None]) -> None:
        self.failure: Exception | None = None  # why the stream takes nothing any more
        self._output = output
        self._failed = failed
        self._changed = changed
        self._transport: Any = getattr(output, "transport", None)
        self._measurable = hasattr(self._transport, "get_write_buffer_size")
        self._lines: list[bytes] = []
        self._size = 0  # bytes in _lines
        self._on_error: list[Callable[[Exception], None]] = []
        self._scheduled = False
        self._given = 0  # bytes given to the stream since it last held none, as far as known
        self._draining: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._flushing = 0
        self._limits = (0, 0)  # high and low, to be restored after a flush

    def put(self, line: bytes, on_error: Callable[[Exception], None] | None = None) -> None:
        """Add a line, to be written by `write_out`. `on_error` is called if its write raises and no stream is lost."""
        self._lines.append(line)
        self._size += len(line)
        if on_error is not None:
            self._on_error.append(on_error)

    def send(self, line: bytes, on_error: Callable[[Exception], None] | None = None) -> None:
        """Write this line in this turn of the event loop, with the others."""
        self.put(line, on_error)
        if self._size >= OUTPUT_LIMIT:
            self.write_out()
        elif not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._write_scheduled)

    @property
    def full(self) -> bool:
        """Whether the stream holds so much that senders should wait."""
        return self._draining is not None and self._given >= OUTPUT_LIMIT

    async def room(self) -> None:
        """Wait while the stream is full."""
        while self.full:
            await self._room.wait()

    async def flush(self) -> None:
        """Wait until the stream has handed over everything. Raises its error."""
        self.write_out()
        if self.failure is not None:
            raise self.failure
        transport = self._transport
        adjustable = hasattr(transport, "get_write_buffer_limits")
        if adjustable and self._flushing == 0:
            low, high = transport.get_write_buffer_limits()
            self._limits = high, low
            transport.set_write_buffer_limits(high=0)  # so that `drain` waits for the last byte
        self._flushing += 1
        try:
            await self._output.drain()
        finally:
            self._flushing -= 1
            if adjustable and self._flushing == 0:
                transport.set_write_buffer_limits(*self._limits)

    def write_out(self) -> None:
        """Give all lines to the stream, now."""
        if not self._lines:
            return
        data = b"".join(self._lines)  # no copy if there is one
        on_error = self._on_error
        self._lines, self._on_error, self._size = [], [], 0
        if self.failure is not None:
            return
        try:
            self._output.write(data)
        except OSError as error:
            self._lose(error)
            return
        except Exception as error:  # noqa: BLE001 - a stream of the caller's may raise anything
            for callback in on_error:
                callback(error)
            return
        self._given += len(data)
        if self._draining is None:
            if self._measurable and not self._transport.is_closing():
                self._given = self._transport.get_write_buffer_size()
                if self._given < OUTPUT_LIMIT:
                    return
            self._room.clear()
            self._draining = asyncio.get_running_loop().create_task(self._drain())

    def _write_scheduled(self) -> None:
        self._scheduled = False
        self.write_out()

    def stop(self) -> asyncio.Task[None] | None:
        """Wait for room no longer. Returns the task that has to end."""
        if self._draining is not None:
            self._draining.cancel()
        return self._draining

    async def _drain(self) -> None:
        try:
            await self._output.drain()
        except Exception as error:  # noqa: BLE001 - a stream of the caller's may raise anything
            self._lose(error)
        finally:
            self._draining = None
            self._given = 0
            self._room.set()
            self._changed()

    def _lose(self, error: Exception) -> None:
        if self.failure is None:
            self.failure = error
            self._failed(error)
