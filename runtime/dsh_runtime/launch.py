"""How a runtime is launched and ended, as data: command line, environment, times, the tail of its stderr. No I/O but look-ups.

`aio/process.py` and `blocking/process.py` do what this module describes.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final

from .errors import TransportClosedError

RUNTIME_VARIABLE: Final = "DSH_RUNTIME"
"""Environment variable that names the runtime's executable, or a whole command as a shell would read it."""

EXECUTABLE: Final = "dsh"
"""What is looked for on PATH in the end."""

STDERR_LINES: Final = 400
"""Lines of stderr that are kept (rule C53)."""

STDERR_LINE_BYTES: Final = 4096
"""Bytes of one such line that are kept."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that starts a runtime, and its surroundings.

    `runtime` is an executable or the beginning of a command line; by default it is looked for (see `find_runtime`). `profile`
    None leaves out `--profile`, for the runtimes before 0.1.5, which the environment alone configures (rule C61). `env` is
    added to this process's own environment. `cwd` is where the process itself runs; sessions work where `initialize` says.
    Credentials go by environment (rule C62), and never into a command line or a `repr`.
    """

    runtime: str | os.PathLike[str] | Sequence[str] | None = None
    dsh_home: str | os.PathLike[str] | None = None
    profile: str | None = "sdk"
    patches: Sequence[str | os.PathLike[str]] = ()
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | os.PathLike[str] | None = None

    def argv(self) -> tuple[str, ...]:
        """The command line (rule C59). Raises `FileNotFoundError` when no runtime is found."""
        profile = () if self.profile is None else ("--profile", self.profile)
        patches = (part for patch in self.patches for part in ("--patch", os.fspath(patch)))
        return (*self._command(), *profile, *patches)

    def environment(self) -> dict[str, str]:
        """The whole environment of the process. Raises `ValueError` where a profile is used without DSH_HOME (rule C60)."""
        named = {"DSH_HOME": self.dsh_home, "DEEPSEEK_API_KEY": self.api_key, "DEEPSEEK_BASE_URL": self.base_url}
        given = {name: os.fspath(value) for name, value in named.items() if value is not None}
        environment = {**os.environ, **self.env, **given}
        if self.profile is not None and not environment.get("DSH_HOME", "").strip():
            raise ValueError("the runtime needs a home: pass dsh_home, or set DSH_HOME; the user's own home is never assumed")
        return environment

    def _command(self) -> tuple[str, ...]:
        if self.runtime is None:
            return find_runtime({**os.environ, **self.env})
        if isinstance(self.runtime, str | os.PathLike):
            return (os.fspath(self.runtime),)
        return tuple(self.runtime)


def find_runtime(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The beginning of the command line: from DSH_RUNTIME, the installed runtime wheel, or `dsh` on PATH, in this order.

    Raises `FileNotFoundError` where none of them is there.
    """
    named = environment.get(RUNTIME_VARIABLE, "").strip()
    if named:
        return (named,) if Path(named).exists() else tuple(shlex.split(named))
    try:
        wheel = import_module("deepseek_harness_runtime")
    except ImportError:
        wheel = None
    if wheel is not None:
        return tuple(str(part) for part in wheel.resolve_bundled_launch_args())
    import shutil  # brings every compression library along: only for those who search

    found = shutil.which(EXECUTABLE, path=environment.get("PATH"))
    if found is None:
        raise FileNotFoundError(
            f"no runtime found: {RUNTIME_VARIABLE} is not set, the package deepseek-harness-runtime-bin is not installed, "
            f"and there is no {EXECUTABLE!r} on PATH"
        )
    return (found,)


@dataclass(frozen=True, slots=True)
class ClosingTimes:
    """How long each step of closing may take, in seconds, before the next one is taken (rule C44)."""

    shutdown: float = 1.0
    """For the answer to `shutdown` (rule C38)."""
    end_of_input: float = 1.0
    """After the end of input; skipped if `shutdown` was not answered (rule C41)."""
    terminate: float = 1.0
    """After SIGTERM (rule C42)."""
    kill: float = 3.0
    """After SIGKILL, before closing fails (rule C43)."""
    aftermath: float = 1.0
    """For the exit status and the last of stderr once the output has ended, so that errors can tell them."""


class StderrTail:
    """The last lines that a process wrote to its stderr; memory is bounded whatever it writes. Safe between threads."""

    def __init__(self, *, lines: int = STDERR_LINES, line_bytes: int = STDERR_LINE_BYTES) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._line_bytes = line_bytes
        self._unfinished = b""
        self._lock = threading.Lock()

    def feed(self, data: bytes) -> None:
        """The next bytes, cut anywhere."""
        *whole, rest = data.split(b"\n")
        with self._lock:
            for line in whole:
                self._lines.append((self._unfinished + line)[: self._line_bytes])
                self._unfinished = b""
            self._unfinished = (self._unfinished + rest[: self._line_bytes])[: self._line_bytes]

    def lines(self) -> tuple[str, ...]:
        """The lines as text, the unfinished one included; each is cut to its first bytes if it was longer."""
        with self._lock:
            kept = [*self._lines, self._unfinished] if self._unfinished else list(self._lines)
        return tuple(line.decode("utf-8", "replace").rstrip("\r") for line in kept[-(self._lines.maxlen or 0) :])


def not_started(argv: Sequence[str], error: OSError) -> TransportClosedError:
    """The error for a command that the system refuses to run."""
    return TransportClosedError(f"the runtime could not be started: {error} (command: {shlex.join(argv)})")


def gone(argv: Sequence[str], reason: object, exit_code: int | None, stderr_tail: tuple[str, ...]) -> TransportClosedError:
    """The error for a runtime that ended, closed its output or can't be written to (rule C53); `exit_code` None if it runs."""
    return TransportClosedError(f"{reason} (command: {shlex.join(argv)})", exit_code=exit_code, stderr_tail=stderr_tail)


def survived(times: ClosingTimes, *, accepted: bool) -> TimeoutError:
    """The error for a process that SIGKILL does not end (rule C45)."""
    verb = "accepted" if accepted else "refused"
    return TimeoutError(f"runtime process did not exit within {times.kill * 1000:.0f}ms after SIGKILL was {verb}")


def add_last_words(error: BaseException, exit_code: int | None, stderr_tail: tuple[str, ...]) -> None:
    """Note on an error how the process ended and what it last said, unless the error tells that itself (rule C52)."""
    if not isinstance(error, TransportClosedError):
        error.add_note("\n  ".join((f"the runtime ended with exit code: {exit_code}", *stderr_tail)))
