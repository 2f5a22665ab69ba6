"""Bytes that come one after another (from a pipe, a packed file, a file that grows) -> pieces of whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Final

from .findings import Problem
from .heads import BrokenError
from .source import Overlong, Piece

DATA: Final = 1 << 22
"""Bytes of a piece that comes with its data. More would cost memory, fewer the time that each piece takes to begin."""
READ: Final = 1 << 16
"""Most bytes of one read; a pipe holds as many."""


def reads(source: BinaryIO, size: int = READ) -> Iterator[bytes]:
    """What a file gives, as soon as it gives something: a pipe is not waited for until it has `size` bytes.

    Raises `BrokenError` where the file can't be read.
    """
    buffered: Any = source
    read: Callable[[int], bytes] = getattr(buffered, "read1", source.read)
    while True:
        try:
            chunk = read(size)
        except OSError as error:
            raise BrokenError("file/unreadable", f"the file can't be read to its end: {error.strerror or error}") from error
        if not chunk:
            return
        yield chunk


class Cutter:
    """Cuts bytes into pieces of whole lines of about `size` bytes; time is linear, memory about twice a piece.

    A line of more than `max_line` bytes is counted, not kept: it becomes a piece without data.
    """

    def __init__(self, file: str, url: str, max_line: int, size: int = DATA) -> None:
        self._file = file
        self._url = url
        self._max_line = max_line
        self._size = size
        self._start = 0  # where the next piece begins
        self._whole: list[bytes] = []  # what ends with a line feed
        self._ready = 0  # bytes of it
        self._tail: list[bytes] = []  # what follows: the beginning of a line
        self.unfinished = 0  # bytes of it, kept or not
        """Bytes since the last line feed."""

    @property
    def read(self) -> int:
        """Bytes that came so far."""
        return self._start + self._ready + self.unfinished

    def add(self, chunk: bytes) -> Iterator[Piece]:
        """Take what comes next; the pieces that are complete with it."""
        if self.unfinished > self._max_line:  # of which nothing is kept
            feed = chunk.find(b"\n")
            if feed < 0:
                self.unfinished += len(chunk)
                return
            self.unfinished += feed
            yield self._overlong(terminated=True)
            chunk = chunk[feed + 1 :]
        feed = chunk.rfind(b"\n") + 1
        if feed:
            self._whole += self._tail
            self._whole.append(chunk[:feed])
            self._ready += self.unfinished + feed
            self._tail.clear()
            self.unfinished = 0
            if self._ready >= self._size:
                yield self._piece(last=False)
        if feed < len(chunk):
            self._tail.append(chunk[feed:])
            self.unfinished += len(chunk) - feed
            if self.unfinished > self._max_line:
                if self._ready:
                    yield self._piece(last=False)
                self._tail.clear()

    def end(self, *, whole_lines: bool = False) -> Iterator[Piece]:
        """The last pieces, one at least. `whole_lines`: without the beginning of a line."""
        if whole_lines:
            self._tail.clear()
        elif self.unfinished > self._max_line:
            yield self._overlong(terminated=False)
        else:
            self._whole += self._tail
            self._ready += self.unfinished
            self._tail.clear()
            self.unfinished = 0
        yield self._piece(last=True)

    def _piece(self, *, last: bool) -> Piece:
        data = b"".join(self._whole)
        self._whole.clear()
        start = self._start
        self._start += len(data)
        self._ready = 0
        return Piece(self._file, self._url, start, self._start, data, last)

    def _overlong(self, *, terminated: bool) -> Piece:
        line = Overlong(self._start, self.unfinished, terminated)
        self._start += self.unfinished + terminated
        self.unfinished = 0
        return Piece(self._file, self._url, line.offset, self._start, None, False, line)


def cut(chunks: Iterable[bytes], cutter: Cutter) -> Iterator[Piece | Problem]:
    """All of `chunks` in pieces. If they break off, the complete lines before that, then what is wrong."""
    try:
        for chunk in chunks:
            yield from cutter.add(chunk)
    except BrokenError as broken:
        reason = str(broken)
        if cutter.read:
            yield from cutter.end(whole_lines=True)
            reason += f"; {_how_far(cutter.read, cutter.unfinished)}"
        yield Problem(broken.rule, reason)
    else:
        yield from cutter.end()


def _how_far(size: int, unfinished: int) -> str:
    read = f"{size:,} bytes of text came before that"
    return f"{read}; the last {unfinished:,} of them are no whole line and were not read" if unfinished else read
