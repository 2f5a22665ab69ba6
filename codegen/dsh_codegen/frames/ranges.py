"""A file in a store, read by ranges, each a request of its own.

Nothing is kept of what was read, and nothing is asked for that nobody said they wanted. A store answers after a while, but then
quickly, so what is wanted for certain is asked for early, in a few requests at a time.
"""

from __future__ import annotations

import asyncio
import errno
import io
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final

from ..markup.text import harmless
from .heads import InputError

FETCH: Final = 1 << 22
"""Bytes of a request where it is known that they will be read."""
AHEAD: Final = 4
"""Requests under way at a time: those of a piece. So much may be in memory, and a little more.

Where the first byte takes 30 ms and a connection gives 90 MB/s, they read 142 MB/s; 4 of 1 MiB 80, one of 4 MiB at a time 48.
"""
ALONE: Final = 1 << 17
"""Bytes of the first request where that is not known. The next ones double, up to `FETCH`."""


class Stored:
    """A file that fsspec's `filesystem` calls `path`."""

    def __init__(self, filesystem: Any, path: str, url: str) -> None:
        self.url: Final = url
        self.at_a_time: Final = AHEAD if filesystem.async_impl else 1
        """How many requests can be under way."""
        self._filesystem = filesystem
        self._path = path

    def range(self, start: int, end: int) -> Future[bytes]:
        """Ask for the bytes in [`start`, `end`)."""
        return self._ask("cat_file", start=start, end=end)

    def info(self) -> Future[dict[str, Any]]:
        """Ask for its size, among other things."""
        return self._ask("info")

    def _ask(self, what: str, **how: int) -> Future[Any]:
        if self._filesystem.async_impl:
            asked: Any = getattr(self._filesystem, f"_{what}")(self._path, **how)
            return asyncio.run_coroutine_threadsafe(asked, self._filesystem.loop)
        answer: Future[Any] = Future()
        try:
            answer.set_result(getattr(self._filesystem, what)(self._path, **how))
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is looked at
            answer.set_exception(error)
        return answer


class Ranges(io.RawIOBase):
    """Reads a file of `size` bytes (None: not known yet). What lies before `stop` will be wanted for certain.

    Reading raises `OSError` with a reason, `strerror`, that needs no more explanation.
    """

    def __init__(self, file: Stored, size: int | None, stop: int) -> None:
        self._file = file
        self._known = size
        self._info = file.info() if size is None else None  # answered by the time it is needed
        self._stop = stop
        self._at = 0
        self._held = memoryview(b"")  # what lies there
        self._ahead: deque[tuple[int, Future[bytes]]] = deque()  # what follows that: sizes, and bytes to come
        self._asked = 0  # where the next request begins
        self._step = ALONE

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """From any place."""
        return True

    def tell(self) -> int:
        """Where reading goes on."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go on elsewhere. Only from the beginning of the file."""
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only from the beginning of the file")
        self._forget()
        self._at = self._asked = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; none only where the file ends. Without a size: as many as are there."""
        if not self._held:
            self._held = memoryview(self._next())
        data = bytes(self._held if size < 0 else self._held[:size])
        self._held = self._held[len(data) :]
        self._at += len(data)
        return data

    def close(self) -> None:
        """Give up what is under way."""
        self._forget()
        if self._info is not None:
            self._info.cancel()
        super().close()

    def _forget(self) -> None:
        for _, answer in self._ahead:
            answer.cancel()
        self._ahead.clear()
        self._held = memoryview(b"")

    def _next(self) -> bytes:
        with as_os_error(self._file.url):
            self._ask_early()
            if not self._ahead:
                size = self._size()
                if self._asked >= size:
                    return b""
                self._ask(min(self._asked + self._step, size))
                self._step = min(2 * self._step, FETCH)
            wanted, answer = self._ahead.popleft()
            data = answer.result()
        if len(data) < wanted:
            raise OSError(errno.EIO, "it became shorter while it was read", self._file.url)
        if len(data) > wanted:
            raise OSError(errno.EIO, "its server can't give a part of a file; download it first", self._file.url)
        self._ask_early()
        return data

    def _ask_early(self) -> None:
        while self._asked < self._stop and len(self._ahead) < self._file.at_a_time:
            end = self._asked + FETCH
            self._ask(self._stop if self._stop - end < FETCH // 4 else end)  # a short rest comes along

    def _ask(self, end: int) -> None:
        self._ahead.append((end - self._asked, self._file.range(self._asked, end)))
        self._asked = end

    def _size(self) -> int:
        if self._info is not None:
            self._known = self._info.result().get("size")
        return self._known or 0


@contextmanager
def as_os_error(url: str) -> Generator[None]:
    """Turn whatever the package of a store raises into an `OSError` with a reason."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", url) from error
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
        raise OSError(getattr(error, "errno", None) or errno.EIO, harmless(" ".join(reason.split())), url) from error
