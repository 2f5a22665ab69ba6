"""Pieces of files, and the lines in them.

A file is cut anywhere: a piece owns the lines whose first byte lies in it, so it skips the end of a line that began before it
and reads on to the end of its last line. Every line is in exactly one piece, wherever the cuts are. Only byte 0x0A ends a line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

BLOCK: Final = 1 << 17
"""Bytes that are read and split at once. From 64 to 256 KiB is quickest: a block and its lines stay in the cache."""


class Batch(NamedTuple):
    """Lines that follow each other, at most a block of them.

    `offset`: byte of the (unpacked) file at which the first one begins. `lines` come with their line feed; `size` is how many
    bytes they are.
    """

    offset: int
    lines: list[bytes]
    size: int

    @property
    def terminated(self) -> bool:
        """False: no line feed ends the last one, which is only so at the end of a file."""
        return self.lines[-1].endswith(b"\n")


class Overlong(NamedTuple):
    """A line of more than `max_line` bytes, of which at most that and a block was in memory.

    `offset`: byte of the (unpacked) file at which it begins. `size`: bytes without the line feed. `terminated`: it has one.
    """

    offset: int
    size: int
    terminated: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """The lines of one file whose first byte lies in [`start`, `end`); `end` None: to the end of the file.

    `file` is its name as shown, `url` what opens it. What can't be cut (packed files, pipes, files that grow) comes with its
    bytes: `data` is whole lines, the first one beginning at byte `start` of the unpacked file; `overlong` instead of data is a
    line that was too long to be kept. `last`: the file ends with this piece, which may be empty.
    """

    file: str
    url: str
    start: int
    end: int | None
    data: bytes | None = None
    last: bool = True
    overlong: Overlong | None = None


def open_local(url: str) -> BinaryIO:
    """A file of this machine, by its path; unbuffered, since it is read by the block."""
    return Path(url).open("rb", buffering=0)


def batches(
    piece: Piece, max_line: int, open_url: Callable[[str], BinaryIO] = open_local, *, block: int = BLOCK
) -> Iterator[Batch | Overlong]:
    """The lines of a piece in order, in linear time. Memory: a block and twice the longest line, of at most `max_line` bytes.

    A file that became shorter in the meantime ends earlier. Raises `OSError` as opening and reading do.
    """
    if piece.overlong is not None:
        yield piece.overlong
    elif piece.data is not None:
        yield from _lines(_blocks(BytesIO(piece.data), 0, sys.maxsize, block), piece.start, sys.maxsize, max_line)
    else:
        stop = sys.maxsize if piece.end is None else piece.end
        with open_url(piece.url) as source:
            yield from _lines(_blocks(source, piece.start, stop, block), 0, stop, max_line)


def _blocks(source: BinaryIO, start: int, stop: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Blocks and where they begin: from the first line that begins at or after `start` to the end. None spans `stop`."""
    position = start
    if start:
        # If the byte before the start is a line feed, a line begins right at the start.
        position -= 1
        source.seek(position)
        rest: bytes | None = None
        while rest is None:
            block = source.read(min(size, stop - position))
            if not block:
                return
            position += len(block)
            if b"\n" in block:
                rest = block[block.find(b"\n") + 1 :]
        yield position - len(rest), rest
    while block := source.read(min(size, stop - position) if position < stop else size):
        yield position, block
        position += len(block)


def _lines(blocks: Iterable[tuple[int, bytes]], base: int, stop: int, max_line: int) -> Iterator[Batch | Overlong]:
    """The lines that begin before `stop`. `base` is added to all offsets."""
    begun = 0  # where the line begins that has no end yet
    size = 0  # its bytes so far
    held: list[bytes] = []  # what is kept of it: joined once, when it ends
    for position, block in blocks:
        beyond = position >= stop
        if beyond and not size:
            return
        reader = BytesIO(block)  # finds line feeds twice as fast as `split` does
        lines = [reader.readline()] if beyond else reader.readlines()
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if lines:
            first, end = position, position + (len(lines[0]) if beyond else len(block) - len(rest))
            if size:
                first = begun
                size += len(lines[0]) - 1
                held.append(lines[0])
                if size > max_line:
                    yield Overlong(base + begun, size, True)
                    first += size + 1
                    del lines[0]
                else:
                    lines[0] = b"".join(held)
                held.clear()
            if len(block) > max_line:
                yield from _sorted_out(base + first, lines, max_line)
            elif lines:
                yield Batch(base + first, lines, end - first)
            if beyond:
                return
            size = 0
        if not size:
            begun = position + len(block) - len(rest)
        size += len(rest)
        if size > max_line:
            held.clear()  # it is only counted from here on
        elif rest:
            held.append(rest)
    if size > max_line:
        yield Overlong(base + begun, size, False)
    elif size:
        yield Batch(base + begun, [b"".join(held)], size)


def _sorted_out(offset: int, lines: Iterable[bytes], max_line: int) -> Iterator[Batch | Overlong]:
    """Whole lines, some of which may be too long."""
    kept: list[bytes] = []
    first = offset
    for line in lines:
        if len(line) - 1 > max_line:
            if kept:
                yield Batch(first, kept, offset - first)
            yield Overlong(offset, len(line) - 1, True)
            kept = []
        else:
            if not kept:
                first = offset
            kept.append(line)
        offset += len(line)
    if kept:
        yield Batch(first, kept, offset - first)
