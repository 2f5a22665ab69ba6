"""The runtime as a child process of a program with threads: start it, keep the end of its stderr, end it and leave no trace."""

from __future__ import annotations

import signal
import subprocess
import threading
from contextlib import suppress
from typing import Final, Self

from ..errors import TransportClosedError
from ..launch import ClosingTimes, Launch, StderrTail, gone, not_started, survived
from .streams import Interrupted, Interruption, Source

_LINGER: Final = 0.2
"""Seconds for the pipes of a process that has ended; a grandchild may keep them open for ever."""


class RuntimeProcess:
    """A runtime that was started. `stdin` and `stdout` carry the frames; stderr is read here.

    Make one with `start`; `stop` has to be called in the end, whatever happened before, when nobody uses the streams any more.
    """

    def __init__(self, argv: tuple[str, ...], times: ClosingTimes, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.argv = argv
        self.stdin = process.stdin
        self.stdout = process.stdout
        self._times = times
        self._tail = StderrTail()
        self._process = process
        self._stderr = process.stderr
        self._interruption = Interruption()
        self._drain = threading.Thread(target=self._read_stderr, name="dsh-runtime-stderr", daemon=True)
        self._drain.start()

    @classmethod
    def start(cls, launch: Launch, times: ClosingTimes) -> Self:
        """Run the command. Raises `TransportClosedError` if the system refuses to, and what `Launch` raises."""
        argv, environment = launch.argv(), launch.environment()
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, cwd=launch.cwd)
        except OSError as error:
            raise not_started(argv, error) from error
        return cls(argv, times, process)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit status, None while it runs; the negative number of the signal that ended it."""
        return self._process.poll()

    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines it wrote to stderr so far."""
        return self._tail.lines()

    def last_words(self) -> None:
        """Give a process whose output has ended a moment to end, and its stderr to be read."""
        if self._exited_within(self._times.aftermath):
            self._drain.join(_LINGER)

    def gone(self, reason: object) -> TransportClosedError:
        """The error that says all that is known by now."""
        return gone(self.argv, reason, self.exit_code, self.stderr_tail())

    def stop(self, *, answered: bool) -> None:
        """Go down the ladder from the end of input (rules C41 to C44), and reap. `answered`: whether `shutdown` was.

        Raises `TimeoutError` if even SIGKILL does not end the process. When it is interrupted it kills and reaps at once.
        """
        try:
            self.stdin.close()
            if answered and self._exited_within(self._times.end_of_input):
                return
            self._send(signal.SIGTERM)
            self._exited_within(self._times.terminate)
        finally:
            self._kill()

    def _kill(self) -> None:
        """End the process now if it still runs, reap it and let go of its pipes. Raises `TimeoutError` if it stays."""
        try:
            accepted = self._send(signal.SIGKILL)
            if not self._exited_within(self._times.kill):
                raise survived(self._times, accepted=accepted)
            self._drain.join(_LINGER)
        finally:
            self._release()

    def _send(self, number: signal.Signals) -> bool:
        try:
            self._process.send_signal(number)
        except PermissionError:
            return False
        return True

    def _exited_within(self, timeout: float) -> bool:
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _release(self) -> None:
        self._interruption.set()
        self._drain.join()
        for file in (self.stdin, self.stdout, self._stderr, self._interruption):
            file.close()

    def _read_stderr(self) -> None:
        source = Source(self._stderr, self._interruption)
        with suppress(Interrupted):
            while data := source.read():
                self._tail.feed(data)
