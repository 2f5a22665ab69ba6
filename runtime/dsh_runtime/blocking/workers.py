"""Threads for the peer's requests: as many as are needed, up to a limit, and gone when there is nothing to do."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

WORKER_LIMIT: Final = 64
"""Handlers at work at the same time, those aside that wait for a response themselves."""

_IDLE_SECONDS: Final = 5.0


class Workers:
    """Runs jobs. `less` is called after a job has begun, when fewer wait.

    A job that waits for something another job may have to do first says so with `waiting`, and doesn't count then: so jobs that
    wait for each other, however deep, never use up the threads.
    """

    def __init__(self, less: Callable[[], None], limit: int = WORKER_LIMIT) -> None:
        self._less = less
        self._limit = limit
        self._state = threading.Condition(threading.Lock())
        self._jobs: deque[Callable[[], None]] = deque()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._waiting = 0
        self._ending = False

    @property
    def backlog(self) -> int:
        """How many jobs wait for a thread."""
        return len(self._jobs)

    def submit(self, job: Callable[[], None]) -> None:
        """Run this job soon. It must not raise."""
        with self._state:
            self._jobs.append(job)
            self._find_thread()

    def waiting(self, change: int) -> None:
        """One more job waits for another (1), or does no longer (-1)."""
        with self._state:
            self._waiting += change
            if self._jobs:
                self._find_thread()

    def end(self) -> None:
        """Let the threads go when all jobs are done."""
        with self._state:
            self._ending = True
            self._state.notify_all()

    def cancel(self) -> set[threading.Thread]:
        """Drop the jobs that have not begun. Returns the threads still at work."""
        with self._state:
            self._jobs.clear()
        self.end()
        return set(self._threads)

    def _find_thread(self) -> None:
        if self._idle >= len(self._jobs):
            self._state.notify()
        elif len(self._threads) - self._waiting < self._limit:
            thread = threading.Thread(target=self._work, name="dsh-handler", daemon=True)
            self._threads.add(thread)
            thread.start()

    def _work(self) -> None:
        try:
            while (job := self._next()) is not None:
                self._less()
                job()
                del job  # what it holds is not needed while waiting for the next
        finally:
            with self._state:
                self._threads.discard(threading.current_thread())

    def _next(self) -> Callable[[], None] | None:
        with self._state:
            while not self._jobs:
                if self._ending:
                    return None
                self._idle += 1
                woken = self._state.wait(_IDLE_SECONDS)
                self._idle -= 1
                if not woken and not self._jobs:
                    return None
            return self._jobs.popleft()
