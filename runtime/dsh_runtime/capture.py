"""Captures of conversations: the rows that `dsh-codegen validate` reads.

A frame, with the time in seconds since 1970, and a line that is no frame:

    {"ts": 1796041477.974320, "dir": "c2s", "frame": {...}}
    {"ts": 1796041478.006011, "dir": "s2c", "frame": null, "raw": "Segmentation fault"}
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from .connection import write_line
from .errors import LocalProtocolError

_log: Final = logging.getLogger("dsh_runtime")


class CaptureLog:
    """An observer that writes one row per line of the conversation, at once and to the end of the file.

    `target` is a path, appended to, or a binary file, which stays the caller's. `side` is which end the observed transport is.
    Usable from several threads. A row that can't be written is reported to the `dsh_runtime` logger, once; the conversation
    goes on. Call `close` at the end, or use it in a `with` statement.
    """

    def __init__(self, target: str | Path | BinaryIO, side: Literal["client", "server"]) -> None:
        self._own = isinstance(target, str | Path)
        self._file: BinaryIO = Path(target).open("ab") if isinstance(target, str | Path) else target  # noqa: SIM115 - `close` does
        self._directions = ("s2c", "c2s") if side == "client" else ("c2s", "s2c")
        self._lock = threading.Lock()
        self._failed = False

    def __call__(self, direction: Literal["in", "out"], line: bytes, frame: Any, _reason: str | None = None) -> None:
        """Write the row of one line; the transport calls this."""
        row = {"ts": round(time.time(), 6), "dir": self._directions[direction == "out"], "frame": frame}
        try:
            text = write_line(row if frame is not None else _raw(row, line))
        except LocalProtocolError:  # JSON that can be read but not written again, such as 1e999
            text = write_line(_raw(row, line))
        try:
            with self._lock:
                self._file.write(text)
                self._file.flush()
        except (OSError, ValueError):
            if not self._failed:
                self._failed = True
                _log.exception("the capture can't be written")

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._own:
            with self._lock:
                self._file.close()

    def __enter__(self) -> CaptureLog:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _raw(row: dict[str, Any], line: bytes) -> dict[str, Any]:
    return {**row, "frame": None, "raw": line.decode("utf-8", "replace")}
