"""Logs in, an outcome out: pieces are examined side by side, and put together in order.

Two functions do the work wherever it is done: `examine` turns a piece into a part and needs nothing else, a `Stream` joins
parts in order. An engine only decides where that happens. The outcome is the same for every engine and every number of workers.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias

from ..markup.text import harmless
from .examine import examine
from .findings import Finding, Problem
from .follow import follow
from .groups import Groups
from .heads import InputError
from .part import Part
from .pending import Pending
from .plan import PIECE, InputFile, Log, pieces
from .setup import Setup
from .source import Piece
from .stream import Outcome, Stream

AHEAD: Final = 2
"""Things that are under way or done but not joined, for each worker: what bounds the memory."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do: begin with a file (`piece` None), examine a piece of it, or tell what is wrong with it.

    `log` counts logs from 0. `first`: no piece of the log lies before this one.
    """

    log: int
    file: InputFile
    piece: Piece | Problem | None
    first: bool = False

    @property
    def size(self) -> int:
        """Bytes of the piece, unpacked where it is packed."""
        match self.piece:
            case Piece(data=None, start=start, end=end):
                return 0 if end is None else end - start
            case Piece(data=bytes() as data):
                return len(data)
            case _:
                return 0


@dataclass(frozen=True, slots=True)
class Whole:
    """Logs that one worker does from beginning to end: small ones, or those that can't be cut."""

    logs: tuple[Log, ...]

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(size_of(log) or 0 for log in self.logs)


Work: TypeAlias = "Task | Whole"


def size_of(log: Log) -> int | None:
    """Bytes of a log on the disk; None if that is not known, or if it can be read only once."""
    sizes = [None if file.kind == "stream" else file.size for file in log.files]
    return None if None in sizes else sum(size or 0 for size in sizes)


class Todo(Iterator[Work]):
    """What is to be done for `logs`, in order. It ends with small pieces, so that all workers are done at about the same time.

    `together`: from the next log on, logs are left to one worker each, or several to one, where that costs no time: if they are
    no larger than a piece. `ships` False: data can't be sent to workers, so a packed log is left to one worker, whatever its
    size.
    """

    def __init__(self, logs: Sequence[Log], setup: Setup) -> None:
        self.together = False
        self.ships = True
        self._setup = setup
        self._last = logs[-1].files[-1] if logs else None
        self._work = self._all(logs)

    def __next__(self) -> Work:
        return next(self._work)

    def _all(self, logs: Sequence[Log]) -> Iterator[Work]:
        small: list[Log] = []
        filled = 0
        for number, log in enumerate(logs):
            size = size_of(log) if self.together else None
            if size is not None and size <= PIECE:
                if small and filled + size > PIECE:
                    yield Whole(tuple(small))
                    small, filled = [], 0
                small.append(log)
                filled += size
                continue
            if small:
                yield Whole(tuple(small))
                small, filled = [], 0
            if size is not None and not self.ships and any(file.kind != "plain" for file in log.files):
                yield Whole((log,))
            else:
                yield from self._pieces(number, log)
        if small:
            yield Whole(tuple(small))

    def _pieces(self, number: int, log: Log) -> Iterator[Task]:
        first = True
        for file in log.files:
            yield Task(number, file, None)
            for piece in pieces(file, self._setup.max_line, self._setup.opener, finer=file is self._last):
                yield Task(number, file, piece, first)
                first = False


def growing(logs: Iterable[Log], setup: Setup) -> Iterator[Task]:
    """What is to be done for files that grow, without end. A file that was replaced is begun again, as the next of its log."""
    files = {file.url: Task(number, file, None) for number, log in enumerate(logs) for file in log.files}
    begun: set[str] = set()
    for piece in follow([task.file for task in files.values()], setup.max_line):
        task = files[piece.url]
        if piece.url not in begun:
            begun.add(piece.url)
            yield task
        yield replace(task, piece=piece)
        if piece.last:
            begun.remove(piece.url)


class Joiner:
    """Puts the parts of all logs together, in order.

    `one_log_at_a_time`: the tasks of a log follow each other, so that a log is closed when the next one begins.
    """

    def __init__(self, setup: Setup, *, one_log_at_a_time: bool = True) -> None:
        self._setup = setup
        self._one = one_log_at_a_time
        self._outcome = Outcome(groups=Groups(setup.listed))
        self._streams: dict[int, Stream] = {}

    def join(self, work: Work, result: Part | Outcome | None) -> list[Finding]:
        """Take the result of what is next; of a piece, None: examine it here, knowing what lies before it.

        Returns the findings that are new, as far as they are listed; of whole logs none are returned.
        """
        if isinstance(work, Whole):
            self._close(ended=True)
            assert isinstance(result, Outcome)
            self._outcome.merge(result)
            return []
        stream = self._streams.get(work.log)
        if stream is None:
            if self._one:
                self._close(ended=True)
            stream = self._streams[work.log] = Stream(self._setup, examine)
        match work.piece:
            case None:
                stream.open(work.file.name)
                return []
            case Piece() as piece:
                part = result if isinstance(result, Part) else examine(self._setup, piece, stream.pending())
                return stream.add(piece, part)
            case problem:
                return stream.problem(problem)

    def finish(self, *, ended: bool) -> Outcome:
        """The outcome of all logs. `ended` False: the last ones may go on, so nothing is said of what is open."""
        self._close(ended=ended)
        return self._outcome

    def _close(self, *, ended: bool) -> None:
        for stream in self._streams.values():
            self._outcome.merge(stream.close(ended=ended))
        self._streams.clear()


class Result(Protocol):
    """What will be there when some work is done: `concurrent.futures.Future` is one."""

    def result(self) -> Any:
        """Wait for it."""
        ...


Submit: TypeAlias = Callable[[Work], Result]
"""Has some work done (see `done`) somewhere else."""


def done(setup: Setup, work: Work) -> Part | Outcome:
    """Do some work, that of a worker: examine a piece without knowing what lies before it, or judge whole logs."""
    if isinstance(work, Task):
        assert isinstance(work.piece, Piece)
        return examine(setup, work.piece, Pending() if work.first else None)
    joiner = Joiner(setup)
    for task in Todo(work.logs, setup):
        joiner.join(task, None)
    return joiner.finish(ended=True)


def one_by_one(todo: Iterable[Work]) -> Iterator[tuple[Work, None]]:
    """Leave all work to the joiner, who does it in this process."""
    for work in todo:
        yield work, None


def side_by_side(todo: Iterable[Work], submit: Submit, workers: int) -> Iterator[tuple[Work, Any]]:
    """Have work done by `submit`, a few things ahead of the one that is joined next."""
    under_way: deque[tuple[Work, Result | None]] = deque()
    for work in todo:
        to_do = isinstance(work, Whole) or isinstance(work.piece, Piece)
        under_way.append((work, submit(work) if to_do else None))
        while len(under_way) >= workers * AHEAD:
            yield _joined(*under_way.popleft())
    while under_way:
        yield _joined(*under_way.popleft())


def _joined(work: Work, result: Result | None) -> tuple[Work, Any]:
    with reading(work):
        return work, None if result is None else result.result()


@contextmanager
def reading(work: Work) -> Generator[None]:
    """Raises `InputError` for a file that can't be read any more."""
    try:
        yield
    except OSError as error:
        name = work.file.name if isinstance(work, Task) else str(error.filename or work.logs[0].name)
        raise InputError(f"{harmless(name)}: it can't be read any more: {error.strerror or error}") from error


def collect_rarely() -> None:
    """Let the collector of cyclic garbage look seldom: frames make much that is short-lived and nothing cyclic."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
