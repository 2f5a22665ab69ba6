"""Lines on their way out: whoever has one writes, takes along what others left, and waits for a peer that doesn't read."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from .streams import Interrupted, Sink

T = TypeVar("T")

OUTPUT_LIMIT: Final = 256 * 1024
"""Unwritten bytes from which on `later` waits like `write_out`."""


class LineWriter(Generic[T]):
    """Writes lines to a sink. `T` is what a line stands for: `line_failed` gets it if the line could not be written.

    `failed` gets the error when the stream is lost.
    """

    def __init__(self, sink: Sink, line_failed: Callable[[T, Exception], None], failed: Callable[[Exception], None]) -> None:
        self.failure: Exception | None = None  # why nothing is written any more
        self._sink = sink
        self._line_failed = line_failed
        self._failed = failed
        self._lines: deque[tuple[bytes, T]] = deque()
        self._size = 0  # bytes in _lines, about
        self._writing = threading.Lock()  # guards what follows
        self._rest: bytes | memoryview = b""  # of the batch being written
        self._batch: list[T] = []
        self._thread: threading.Thread | None = None
        self._wanted = threading.Event()  # lines wait for the thread

    def put(self, line: bytes, stands_for: T) -> None:
        """Add a line, to be written by the next `write_out` or `later`. The order of these calls is that on the wire."""
        self._lines.append((line, stands_for))
        self._size += len(line)

    def write_out(self, deadline: float | None = None) -> bool:
        """Write all lines. False if that was not possible until `deadline`; the rest is written later.

        Errors of the stream go to `line_failed` and `failed`.
        """
        while self._lines or self._rest:
            limit = -1 if deadline is None else min(max(0.0, deadline - time.monotonic()), threading.TIMEOUT_MAX)
            if not self._writing.acquire(timeout=limit):
                return False
            error: BaseException | None = None
            unwritten: list[T] = []
            try:
                if not self._write_batch(deadline):
                    return False
            except BaseException as failure:  # noqa: BLE001 - reported below, when nothing is locked
                error = failure
                unwritten, self._batch, self._rest = self._batch, [], b""
            finally:
                self._writing.release()
            if error is not None:
                self._report(error, unwritten)
        return True

    def later(self) -> None:
        """Have the lines written by a thread, so that the caller needn't wait, unless there are too many."""
        if self._size > OUTPUT_LIMIT:
            self.write_out()
        elif not self._wanted.is_set():
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_for_others, name="dsh-writer", daemon=True)
                self._thread.start()
            self._wanted.set()

    def flush(self) -> None:
        """Write all lines and what the stream itself holds back. Raises the stream's error."""
        self.write_out()
        with self._writing:
            if self.failure is not None:
                raise self.failure
            self._sink.flush()

    def stop(self, error: Exception) -> threading.Thread | None:
        """Write nothing any more, for this reason. Returns the thread that ends now."""
        if self.failure is None:
            self.failure = error
        self._wanted.set()
        return self._thread

    def _write_for_others(self) -> None:
        while self.failure is None:
            self._wanted.wait()
            self._wanted.clear()
            self.write_out()

    def _write_batch(self, deadline: float | None) -> bool:
        if not self._rest:
            self._size = 0
            data: list[bytes] = []
            while self._lines:
                line, stands_for = self._lines.popleft()
                data.append(line)
                self._batch.append(stands_for)
            if not data:
                return True
            self._rest = b"".join(data)  # no copy if there is one
        while self._rest:
            if self.failure is not None:
                raise Interrupted
            written = self._sink.write(self._rest, deadline)
            if written == 0:
                return False
            self._rest = b"" if written == len(self._rest) else memoryview(self._rest)[written:]
        self._batch = []
        return True

    def _report(self, error: BaseException, unwritten: list[T]) -> None:
        """Nothing is locked here: what is told may call back."""
        if isinstance(error, Interrupted):
            told = self.failure or InterruptedError("interrupted")
        elif isinstance(error, Exception):
            told = error
        else:  # such as a KeyboardInterrupt: nobody knows how much of a line was written
            told = InterruptedError(f"{type(error).__name__} during a write")
        if isinstance(told, OSError) and self.failure is None:
            self.failure = told
            self._failed(told)
        for stands_for in unwritten:
            self._line_failed(stands_for, told)
        if not isinstance(error, Exception):
            raise error
