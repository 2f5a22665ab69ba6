"""Pipes for asyncio without `StreamReader`: bytes are pushed to one sink as they arrive.

A reader reads 64 KiB at a time. asyncio's own default for pipes, 256 KiB, makes the C library map and unmap memory for every
read, which costs more than the read itself.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, BinaryIO, Final, Protocol

READ_SIZE: Final = 64 * 1024


class Reader(Protocol):
    """What a transport can read from in pull mode; `asyncio.StreamReader` is one."""

    async def read(self, n: int, /) -> bytes:
        """Up to `n` bytes; none at the end of the input."""
        ...


class Writer(Protocol):
    """What a transport can write to; `asyncio.StreamWriter` is one."""

    def write(self, data: bytes, /) -> None:
        """Take the bytes, now or later."""

    async def drain(self) -> None:
        """Wait until so little is unwritten that more may come."""


class PipeReader(asyncio.Protocol):
    """The reading end of a pipe, as an asyncio protocol. Pushes to the sink that a transport sets; waits until there is one."""

    def __init__(self) -> None:
        self._sink: Callable[[bytes], None] | None = None
        self._end: Callable[[Exception | None], None] | None = None
        self._transport: Any = None
        self._ended = False
        self._error: Exception | None = None
        self._waiting: list[bytes] = []

    def attach(self, sink: Callable[[bytes], None], end: Callable[[Exception | None], None]) -> None:
        """From now on `sink` gets the bytes; `end` is called once, at the end of the input or with its error."""
        self._sink, self._end = sink, end
        waiting, self._waiting = self._waiting, []
        self.resume()  # before the sink is called, which may pause again
        for data in waiting:
            sink(data)
        if self._ended:
            end(self._error)

    def detach(self) -> None:
        """Nobody reads any more; the pipe stays open."""
        self._sink = self._end = None
        self.pause()

    def pause(self) -> None:
        """Stop reading, so that the pipe fills and the peer has to wait."""
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Go on reading."""
        if self._transport is not None and not self._transport.is_closing() and not self._transport.is_reading():
            self._transport.resume_reading()

    def close(self) -> None:
        """Close this end of the pipe; for whoever opened it."""
        if self._transport is not None:
            self._transport.close()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = transport
        if hasattr(self._transport, "max_size"):
            self._transport.max_size = READ_SIZE
        if self._sink is None:
            self.pause()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._sink is None:
            self._waiting.append(data)
        else:
            self._sink(data)

    def eof_received(self) -> None:
        """Called by the event loop."""
        self._finish(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        self._finish(exc)

    def _finish(self, error: Exception | None) -> None:
        if self._ended:
            return
        self._ended, self._error = True, error
        if self._end is not None:
            self._end(error)


class PipeWriter(asyncio.Protocol):
    """The writing end of a pipe, as an asyncio protocol, with the two methods of a `Writer`."""

    def __init__(self) -> None:
        self.transport: Any = None
        self._lost: Exception | None = None
        self._free = asyncio.Event()
        self._free.set()

    def write(self, data: bytes) -> None:
        """Take the bytes. Raises the error of the pipe if that is gone."""
        if self._lost is not None:
            raise self._lost
        self.transport.write(data)

    async def drain(self) -> None:
        """Wait until everything is written. Raises the error of the pipe if that is gone."""
        if self.transport.is_closing():
            await asyncio.sleep(0)  # the event loop is about to say why
        await self._free.wait()
        if self._lost is not None:
            raise self._lost

    def close(self) -> None:
        """Write what is left, then close this end of the pipe; for whoever opened it."""
        if self.transport is not None:
            self.transport.close()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self.transport = transport
        self.transport.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        self._lost = exc or BrokenPipeError("the pipe is closed")
        self._free.set()

    def pause_writing(self) -> None:
        """Called by the event loop."""
        self._free.clear()

    def resume_writing(self) -> None:
        """Called by the event loop."""
        self._free.set()


async def open_reader(pipe: BinaryIO | int) -> PipeReader:
    """A reader of a duplicate of that pipe or socket: closing it leaves the caller's own open."""
    file = os.fdopen(os.dup(pipe if isinstance(pipe, int) else pipe.fileno()), "rb", buffering=0)
    _, reader = await asyncio.get_running_loop().connect_read_pipe(PipeReader, file)
    return reader


async def open_writer(pipe: BinaryIO | int) -> PipeWriter:
    """A writer to a duplicate of that pipe or socket: closing it leaves the caller's own open."""
    file = os.fdopen(os.dup(pipe if isinstance(pipe, int) else pipe.fileno()), "wb", buffering=0)
    _, writer = await asyncio.get_running_loop().connect_write_pipe(PipeWriter, file)
    return writer
