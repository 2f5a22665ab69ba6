"""The runtime as a child process of an asyncio program: start it, keep the end of its stderr, end it and leave no trace."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any, Final, Self, cast

from ..errors import TransportClosedError
from ..launch import ClosingTimes, Launch, StderrTail, gone, not_started, survived
from .streams import READ_SIZE, PipeReader, PipeWriter

_LINGER: Final = 0.2
"""Seconds for the pipes of a process that has ended; a grandchild may keep them open for ever."""


class RuntimeProcess(asyncio.SubprocessProtocol):
    """A runtime that was started. `stdin` and `stdout` carry the frames; stderr is read here.

    Make one with `start`; `stop` has to be called in the end, whatever happened before.
    """

    def __init__(self, argv: tuple[str, ...], times: ClosingTimes) -> None:
        self.argv = argv
        self.stdin = PipeWriter()
        self.stdout = PipeReader()
        self._times = times
        self._tail = StderrTail()
        self._exited = asyncio.Event()
        self._quiet = asyncio.Event()  # stderr has ended
        self._disconnected = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, launch: Launch, times: ClosingTimes) -> Self:
        """Run the command. Raises `TransportClosedError` if the system refuses to, and what `Launch` raises."""
        argv, environment = launch.argv(), launch.environment()
        loop = asyncio.get_running_loop()
        try:
            _, process = await loop.subprocess_exec(lambda: cls(argv, times), *argv, env=environment, cwd=launch.cwd)
        except OSError as error:
            raise not_started(argv, error) from error
        return process

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """The exit status, None while it runs; the negative number of the signal that ended it."""
        return None if self._transport is None else self._transport.get_returncode()

    def stderr_tail(self) -> tuple[str, ...]:
        """The last lines it wrote to stderr so far."""
        return self._tail.lines()

    async def last_words(self) -> None:
        """Give a process whose output has ended a moment to end, and its stderr to be read."""
        if await _within(self._exited, self._times.aftermath):
            await _within(self._quiet, _LINGER)

    def gone(self, reason: object) -> TransportClosedError:
        """The error that says all that is known by now."""
        return gone(self.argv, reason, self.exit_code, self.stderr_tail())

    async def stop(self, *, answered: bool) -> None:
        """Go down the ladder from the end of input (rules C41 to C44), and reap. `answered`: whether `shutdown` was.

        Raises `TimeoutError` if even SIGKILL does not end the process. When it is cancelled it kills and reaps at once.
        """
        try:
            self.stdin.close()
            if answered and await _within(self._exited, self._times.end_of_input):
                return
            self._send(signal.SIGTERM)
            await _within(self._exited, self._times.terminate)
        finally:
            await self._kill()

    async def _kill(self) -> None:
        """End the process now if it still runs, reap it and let go of its pipes. Raises `TimeoutError` if it stays."""
        try:
            accepted = self._send(signal.SIGKILL)
            if not await _within(self._exited, self._times.kill):
                raise survived(self._times, accepted=accepted)
            await _within(self._quiet, _LINGER)
        finally:
            self._release()
            await _within(self._disconnected, _LINGER)

    def _send(self, number: signal.Signals) -> bool:
        # Not by the transport: its check whether the process still runs can reap it, and the exit status would be lost.
        if self._exited.is_set():
            return True
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return True

    def _release(self) -> None:
        assert self._transport is not None
        self.stdin.close()
        stdin = self._transport.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport) and stdin.get_write_buffer_size():
            stdin.abort()  # nobody will read the rest
        for fd in (1, 2):
            pipe = self._transport.get_pipe_transport(fd)
            if pipe is not None:
                pipe.close()
        if self._exited.is_set():
            self._transport.close()

    # asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        stdin, stdout, stderr = (cast("Any", transport.get_pipe_transport(fd)) for fd in range(3))
        self.stdin.connection_made(stdin)
        self.stdout.connection_made(stdout)
        stderr.max_size = READ_SIZE

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by the event loop."""
        if fd == 1:
            self.stdout.data_received(data)
        else:
            self._tail.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by the event loop."""
        match fd:
            case 0:
                self.stdin.connection_lost(exc)
            case 1:
                self.stdout.connection_lost(exc)
            case _:
                self._quiet.set()

    def pause_writing(self) -> None:
        """Called by the event loop, about stdin."""
        self.stdin.pause_writing()

    def resume_writing(self) -> None:
        """Called by the event loop, about stdin."""
        self.stdin.resume_writing()

    def process_exited(self) -> None:
        """Called by the event loop."""
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Called by the event loop: the process has ended and so have its pipes."""
        self._disconnected.set()


async def _within(event: asyncio.Event, timeout: float) -> bool:
    """Wait for the event, `timeout` seconds at most. Whether it is set."""
    try:
        async with asyncio.timeout(timeout):
            await event.wait()
    except TimeoutError:
        return False
    return True
