"""Files that grow: their lines as they are written, until the caller has enough."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from ..markup.text import harmless
from .flow import DATA, Cutter
from .heads import InputError
from .plan import InputFile
from .source import Piece, open_local


def pause() -> None:
    """The time between two looks at the files."""
    time.sleep(0.2)


def follow(files: Sequence[InputFile], max_line: int, wait: Callable[[], None] = pause) -> Iterator[Piece]:
    """Pieces of several files as their lines come, from the beginning of each on; without end, so the caller closes it.

    A file that was replaced (a log was rotated) is read to its end, then the new one; one that became shorter is read from its
    beginning. Either way the old one ends with a piece that says so, and the next piece of that name starts at 0. `wait` is
    called when all that is there was read. What is written between two looks in place of something shorter can't be noticed.

    Raises `InputError` for what is no plain file of this machine.
    """
    for file in files:
        if file.kind != "plain" or not file.url.startswith("/"):
            raise InputError(f"{harmless(file.name)}: only plain files of this machine can be followed")
    growing: list[_Growing] = []
    try:
        for file in files:
            growing.append(_Growing(file, max_line))  # noqa: PERF401 - those opened are closed if the next can't be
        while True:
            idle = True
            for each in growing:
                for piece in each.grown():
                    idle = False
                    yield piece
            if idle:
                wait()
    finally:
        for each in growing:
            each.close()


class _Growing:
    """One file that grows."""

    def __init__(self, file: InputFile, max_line: int) -> None:
        self._file = file
        self._max_line = max_line
        try:
            self._begin(open_local(file.url))
        except OSError as error:
            raise InputError(f"{harmless(file.name)}: {error.strerror or error}") from error

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _begin(self, source: BinaryIO) -> None:
        self._source = source
        self._cutter = Cutter(self._file.name, self._file.url, self._max_line, 1)

    def grown(self) -> Iterator[Piece]:
        """What was written since the last look, at most about one piece."""
        replacement = self._replacement()  # looked for before the last read, so that nothing is missed
        chunk = self._source.read(DATA)
        if chunk:
            yield from self._cutter.add(chunk)
        elif os.fstat(self._source.fileno()).st_size < self._cutter.read:
            yield from self._cutter.end()
            self._source.seek(0)
            self._begin(self._source)
        elif replacement:
            try:
                source = open_local(self._file.url)
            except OSError:
                return  # it is gone again; perhaps the next look finds another one
            yield from self._cutter.end()
            self._source.close()
            self._begin(source)

    def _replacement(self) -> bool:
        """Whether the name means another file now. No file: the next one is still to come."""
        try:
            now = Path(self._file.url).stat()
        except OSError:
            return False
        return not os.path.samestat(now, os.fstat(self._source.fileno()))
