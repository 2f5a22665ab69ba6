"""Stands between a client and a runtime, and writes down every line of both directions. Needs the standard library only.

    tee.py CAPTURE COMMAND...

Starts COMMAND, passes everything on unchanged, and appends the rows that `dsh-codegen validate` reads to CAPTURE. The last row
has the exit status, which is also the one of this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from io import FileIO
from typing import IO, Any


def main() -> int:
    capture, *command = sys.argv[1:]
    with open(capture, "ab", buffering=0) as log:  # noqa: PTH123 - each row is one write
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as runtime:
            assert runtime.stdin is not None
            assert runtime.stdout is not None
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda number, _: runtime.send_signal(number))
            up = threading.Thread(target=pump, args=(0, runtime.stdin, "c2s", log), daemon=True)
            up.start()
            pump(runtime.stdout.fileno(), FileIO(1, "w"), "s2c", log)
            status = runtime.wait()
        write_row(log, dir="s2c", frame=None, exit=status)
    os._exit(status if status >= 0 else 128 - status)  # the other thread may still read


def pump(source: int, target: IO[bytes], direction: str, log: IO[bytes]) -> None:
    """Copy until the end of the input; then the target is closed. A line is written down before it is passed on."""
    rest = b""
    while data := os.read(source, 65536):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            write_line(log, direction, line)
        try:
            while data:
                data = data[target.write(data) :]
        except BrokenPipeError:
            break
    if rest:
        write_line(log, direction, rest)
    target.close()


def write_line(log: IO[bytes], direction: str, line: bytes) -> None:
    """One line as a row."""
    text = line.decode("utf-8", "replace")
    try:
        write_row(log, dir=direction, frame=json.loads(text))
    except ValueError:
        write_row(log, dir=direction, frame=None, raw=text)


def write_row(log: IO[bytes], **row: Any) -> None:
    """One row; several threads write."""
    log.write((json.dumps({"ts": round(time.time(), 6), **row}, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
