"""Blocking streams that can be interrupted, so that no thread stays in a read or a write when the transport closes.

Files of the operating system, and sockets, are used by their descriptor, after waiting in `poll` for them or for the
interruption. After that wait a pipe takes `PIPE_BUF` bytes without blocking, and no more for certain, so that is the size of a
write. Any other stream is used through its methods; a call of those can't be interrupted.
"""

from __future__ import annotations

import io
import os
import select
import time
from typing import Any, Final, Protocol, TypeAlias

READ_SIZE: Final = 64 * 1024
"""Bytes per read: more would cross the C library's threshold for mapping memory, every time."""

_WRITE_SIZE: Final = select.PIPE_BUF


class Readable(Protocol):
    """What a transport can read from: a binary file, or anything with its `read`."""

    def read(self, n: int, /) -> bytes | None:
        """Up to `n` bytes, after waiting for some; none at the end of the input. `read1` is preferred where there is one."""
        ...


class Writable(Protocol):
    """What a transport can write to: a binary file, or anything with its `write` and `flush`."""

    def write(self, data: bytes, /) -> object:
        """Take the bytes. A number that is returned says how many."""

    def flush(self) -> object:
        """Hand over what was taken."""


class HasDescriptor(Protocol):
    """Something with a descriptor and no methods for reading and writing, such as a socket."""

    def fileno(self) -> int:
        """The descriptor."""
        ...


Input: TypeAlias = Readable | HasDescriptor
Output: TypeAlias = Writable | HasDescriptor


class Interrupted(Exception):  # noqa: N818 - an event, no error
    """The interruption came first."""


class Interruption:
    """Ends waits: for good, once it is set."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()

    def fileno(self) -> int:
        """Readable once it is set."""
        return self._reader

    def set(self) -> None:
        """End the waits."""
        writer, self._writer = self._writer, -1
        if writer >= 0:
            os.close(writer)  # the reading end is at its end from now on

    def close(self) -> None:
        """Let the descriptors go, when nobody waits any more."""
        self.set()
        reader, self._reader = self._reader, -1
        if reader >= 0:
            os.close(reader)

    def __del__(self) -> None:
        self.close()


class Source:
    """The input."""

    def __init__(self, stream: Input, interruption: Interruption) -> None:
        self._file = _system_file(stream)
        self._read: Any = getattr(stream, "read1", None) or getattr(stream, "read", None)
        self._poll = _poll(self._file, select.POLLIN, interruption)

    def read(self) -> bytes:
        """What there is, after waiting for it; nothing at the end of the input. Raises `Interrupted` and the stream's error."""
        while self._file is not None:
            descriptor = self._file.fileno()
            if [number for number, _ in self._poll.poll()] != [descriptor]:
                raise Interrupted
            try:
                return os.read(descriptor, READ_SIZE)
            except BlockingIOError:  # somebody made the descriptor non-blocking and was faster
                pass
        return self._read(READ_SIZE) or b""


class Sink:
    """The output."""

    def __init__(self, stream: Output, interruption: Interruption) -> None:
        self._stream: Any = stream
        self._file = _system_file(stream)
        self._poll = _poll(self._file, select.POLLOUT, interruption)

    def write(self, data: bytes | memoryview, deadline: float | None) -> int:
        """Write some of the data and return how many bytes; none if there is no room until `deadline` (in `time.monotonic()`).

        Raises `Interrupted` and the stream's error.
        """
        while self._file is not None:
            descriptor = self._file.fileno()  # raises if it was closed; its number may be another file's by then
            ready = self._poll.poll(None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000)
            if not ready:
                return 0
            if [number for number, _ in ready] != [descriptor]:
                raise Interrupted
            try:
                return os.write(descriptor, data if len(data) <= _WRITE_SIZE else data[:_WRITE_SIZE])
            except BlockingIOError:
                pass
        written = self._stream.write(bytes(data))  # no copy of bytes
        self._stream.flush()
        return written if isinstance(written, int) else len(data)

    def flush(self) -> None:
        """Have a buffer of the stream written, too."""
        if self._file is None:
            self._stream.flush()


def _system_file(stream: Any) -> Any:
    """What has the descriptor behind this stream, if using that amounts to using the stream's methods."""
    raw = getattr(stream, "raw", stream)
    if isinstance(raw, io.FileIO):
        return raw
    return None if hasattr(stream, "read") or hasattr(stream, "write") else stream


def _poll(file: Any, events: int, interruption: Interruption) -> Any:
    if file is None:
        return None
    poll = select.poll()
    poll.register(file, events)
    poll.register(interruption, select.POLLIN)
    return poll
