"""`python -I -S meter.py LIMIT OUTPUT COMMAND...`: run a command; prints seconds, cpu, peak, peaks, status and errors as JSON.

It is a process of its own, and a small one: the kernel counts the memory of whoever starts a command as the command's, up to
the moment it is there. So nothing below 15 MB can be seen here.

    seconds  wall time
    cpu      processor seconds, of all processes that the command waited for, too
    peak     resident bytes of the largest one of these processes, at its largest
    peaks    the same of each process that lived long enough to be seen, the command itself first
    status   exit status
    errors   the end of what it wrote to standard error
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

PERIOD: Final = 0.05
"""Seconds between two looks at the processes. A peak is kept by the kernel, so only what ends in between escapes."""

KEPT: Final = 2000


def run(command: list[str], limit: float, output: str) -> dict[str, Any]:
    """Run it, with its standard output in a file; it is killed after `limit` seconds."""
    peaks: dict[int, int] = {}
    ended = threading.Event()
    with Path(output).open("wb") as stdout, tempfile.TemporaryFile() as stderr:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True, env=environment()
        )
        watch = threading.Thread(target=look, args=(process.pid, peaks, ended), daemon=True)
        watch.start()
        alarm = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        alarm.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        alarm.cancel()
        ended.set()
        watch.join()
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - KEPT))
        errors = stderr.read().decode(errors="replace")
    return {
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": max(usage.ru_maxrss * 1024, *peaks.values(), 0),
        "peaks": list(peaks.values()),
        "status": process.returncode,
        "errors": errors,
    }


def environment() -> dict[str, str]:
    """That of the command: Python may keep what it compiles, as it does of packages that are installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def look(pid: int, peaks: dict[int, int], ended: threading.Event) -> None:
    """Keep the peaks of a process and its descendants up to date."""
    while not ended.wait(PERIOD):
        waiting = [pid]
        while waiting:
            each = waiting.pop()
            try:
                waiting += children(each)
                peaks[each] = max(peaks.get(each, 0), peak(each))
            except (OSError, StopIteration):  # it has ended
                continue


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    return [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]


def peak(pid: int) -> int:
    """The most resident memory that a process ever had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[3:], float(sys.argv[1]), sys.argv[2])))
