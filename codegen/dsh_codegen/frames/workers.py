"""Processes of this machine that do the work.

Where that is safe they are forked, so that they begin at once, with all that is imported and made. Else each is a new
interpreter, which takes a while to get there: 0.3 s where two start.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any, Final, Literal

from .engine import Result, Submit, Work, collect_rarely, done
from .examine import examine
from .setup import Setup
from .source import Piece

THREADS: Final = Path("/proc/self/task")
"""Where Linux lists the threads of a process."""


@dataclass(frozen=True, slots=True)
class Processes:
    """`count` processes; see `processes`."""

    count: int
    lost: Callable[[], None]
    ships: bool = True

    def __call__(self, setup: Setup) -> AbstractContextManager[tuple[Submit, int]]:
        """Start them."""
        return processes(setup, self.count, self.lost)


@contextmanager
def processes(setup: Setup, count: int, lost: Callable[[], None]) -> Generator[tuple[Submit, int]]:
    """`count` processes, each of which does one thing at a time.

    A process may be killed (by the system if memory runs out, say). Then `lost` is called, once, and this process does what is
    left. On the way out the processes stop when they are done with what they are at, or at once if Ctrl-C reaches them.
    """
    method: Literal["fork", "spawn"] = "spawn"
    if can_fork():
        method = "fork"
        examine(setup, Piece("", "", 0, 0, b""))  # makes what every piece needs: now all forks have it
    pool = ProcessPoolExecutor(count, get_context(method), initializer=_begin, initargs=(setup,))
    told = False

    def tell() -> None:
        nonlocal told
        if not told:
            told = True
            lost()

    def submit(work: Work) -> Result:
        try:
            return _Ticket(pool.submit(_do, work), setup, work, tell)
        except (BrokenProcessPool, OSError, ValueError):  # the others: it breaks while a process is started, or none can be
            return _Ticket(None, setup, work, tell)

    try:
        yield submit, count
    finally:
        pool.shutdown(cancel_futures=True)


def can_fork() -> bool:
    """Whether this process can be forked safely: it has no thread but this one, not even one that Python knows nothing of.

    Of other threads a fork has nothing but the locks that they hold. The pool forks all its processes before it starts threads.
    Only Linux tells how many there are; macOS has system libraries that start some.
    """
    try:
        return len(list(THREADS.iterdir())) == 1
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class _Ticket:
    """Work that a process does; if the process is lost, it is done here."""

    future: Future[Any] | None
    setup: Setup
    work: Work
    tell: Callable[[], None]

    def result(self) -> Any:
        if self.future is not None:
            try:
                return self.future.result()
            except BrokenProcessPool:
                pass
        self.tell()
        return done(self.setup, self.work)


class _Worker:
    """The state of a process that does the work."""

    setup: Setup
    busy = False


def _begin(setup: Setup) -> None:
    _Worker.setup = setup
    collect_rarely()
    signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C: give up what it is at. A process that is idle is told by its parent to end."""
    if _Worker.busy:
        raise KeyboardInterrupt


def _do(work: Work) -> Any:
    _Worker.busy = True
    try:
        return done(_Worker.setup, work)
    finally:
        _Worker.busy = False
