"""The standard streams of a runtime: frames alone go through standard output, whatever else the process does (rule S173).

Descriptor 1 is kept under another number, for frames; then 1 itself leads to standard error, so that a `print`, a write from C
or from a child process lands there. Descriptor 0 is kept likewise and then is empty: nobody else reads the client's frames.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from ..aio import PipeReader, open_reader, open_writer
from ..aio.streams import Reader, Writer


class StandardStreams:
    """A context in which the standard streams of the process belong to a server. Puts everything back at the end."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, int, bool]] = []  # descriptor, its duplicate, whether it blocked
        self._stdout: TextIO | None = None
        self._writer: Writer | None = None

    def __enter__(self) -> StandardStreams:
        self._take(0, _empty_input())
        self._take(1, _standard_error())
        _flush(sys.stdout)  # what was printed before goes to standard error too
        _flush_libc()
        self._stdout, sys.stdout = sys.stdout, sys.stderr
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._stdout is not None:
            _flush(self._stdout)
            sys.stdout = self._stdout
        _flush_libc()
        for descriptor, duplicate, blocking in self._kept:
            with suppress(OSError):
                os.set_blocking(duplicate, blocking)  # the caller's shell has the same stream
            os.dup2(duplicate, descriptor)
            os.close(duplicate)
        self._kept.clear()

    async def open(self) -> tuple[Reader | PipeReader, Writer]:
        """The client's two streams."""
        source, target = self._kept[0][1], self._kept[1][1]
        reader = _File(source) if _is_file(source) else await open_reader(source)
        self._writer = _File(target) if _is_file(target) else await open_writer(target)
        return reader, self._writer

    def _take(self, descriptor: int, substitute: int) -> None:
        duplicate = os.dup(descriptor)
        self._kept.append((descriptor, duplicate, os.get_blocking(duplicate)))
        os.dup2(substitute, descriptor)
        os.close(substitute)


class _File:
    """A regular file as a reader or a writer: event loops wait for pipes only, and a file never keeps anybody waiting."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self, n: int, /) -> bytes:
        return os.read(self._descriptor, n)

    def write(self, data: bytes, /) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    async def drain(self) -> None:
        pass


def _is_file(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _empty_input() -> int:
    return os.open(os.devnull, os.O_RDONLY)


def _standard_error() -> int:
    try:
        return os.dup(2)
    except OSError:  # closed
        return os.open(os.devnull, os.O_WRONLY)


def _flush(stream: TextIO | None) -> None:
    with suppress(OSError, ValueError):
        if stream is not None:
            stream.flush()


def _flush_libc() -> None:
    """What C code printed and the C library holds back must not come out where frames do."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).fflush(None)
