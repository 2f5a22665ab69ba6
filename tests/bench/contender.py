"""What a contender is, and how it is measured: one scenario per process, in which it starts the peer and talks to it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, TypeAlias

PEER: Final = Path(__file__).with_name("peer.py")

DELTA: Final = {
    "jsonrpc": "2.0",
    "method": "session.event",
    "params": {
        "sessionId": "session-1",
        "event": {
            "type": "assistant/chunk",
            "seq": 27,
            "time": 1796041688327,
            "data": {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": "tok0018 @"}},
        },
    },
}
"""A piece of an answer, as the runtimes of revision 0.1.1 stream them: one frame per token."""

REVISION: Final = "0.1.1"
"""The revision whose frame that is."""

WARM_UP: Final = 200
"""Requests before the first one that counts."""

BATCH: Final = 1000
"""Requests under way at the same time, when pipelined."""

PULSE: Final = 0.001
"""Seconds that a slow handler takes."""

ENDLESS: Final = 10_000_000
"""Notifications that nobody will see the end of."""

THREADS: Final = 64
"""Threads that call at the same time, for contenders whose calls block."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is done. By `kind`, `count` is the number of

    seq     requests, one after the other
    pipe    batches of requests that are under way at the same time
    flood   notifications, with `size` bytes of text each
    slow    seconds, with a handler that is slower than the notifications come
    """

    kind: str
    count: int
    size: int = 0

    @property
    def floods(self) -> bool:
        """Whether the peer sends notifications, which it does at the second request."""
        return self.kind in ("flood", "slow")


@dataclass(frozen=True, slots=True)
class Measured:
    """`seconds` of wall time, `cpu` seconds of this process, and the bytes by which its `memory` grew at the peak."""

    seconds: float
    cpu: float
    memory: int


class Contender(ABC):
    """One way to talk to the peer. Its module is named for whose way it is."""

    framing: ClassVar[str] = "lines"
    frame: ClassVar[dict[str, Any]] = DELTA

    def peer(self, scenario: Scenario) -> list[str]:
        """The command line of the peer."""
        command = [sys.executable, "-S", "-E", str(PEER), self.framing]
        if scenario.floods:
            command += json.dumps(self.frame, separators=(",", ":")), str(self.expected(scenario)), str(scenario.size)
        return command

    def expected(self, scenario: Scenario) -> int:
        """How many notifications will come."""
        return ENDLESS if scenario.kind == "slow" else scenario.count

    @abstractmethod
    def measure(self, scenario: Scenario) -> Measured:
        """Do it once."""


Ping: TypeAlias = Callable[[], Coroutine[Any, Any, object]]
"""Sends one request and waits for the answer."""


class AsyncContender(Contender):
    """One that lives in an event loop. Its notification handler calls `took`, and awaits `pause` if that is not None."""

    def __init__(self) -> None:
        self.pause: float | None = None
        self._missing = 1  # the one to warm up
        self._all_here: asyncio.Event

    @abstractmethod
    def connected(self, command: list[str]) -> AbstractAsyncContextManager[Ping]:
        """Start the peer; gives what sends one request and waits for the answer."""

    def took(self) -> None:
        """A notification was handled."""
        self._missing -= 1
        if self._missing == 0:
            self._all_here.set()

    async def many(self, ping: Ping) -> None:
        """A batch of requests, all under way at the same time."""
        await asyncio.gather(*(ping() for _ in range(BATCH)))

    def measure(self, scenario: Scenario) -> Measured:
        return asyncio.run(self._measure(scenario))

    async def _measure(self, scenario: Scenario) -> Measured:
        self._all_here = asyncio.Event()
        async with self.connected(self.peer(scenario)) as ping:
            if scenario.floods:
                await ping()
                await self._all_here.wait()
                self._all_here.clear()
                self._missing = self.expected(scenario)
            else:
                for _ in range(WARM_UP):
                    await ping()
            with Meter() as meter:
                await self._do(scenario, ping)
            if scenario.kind == "slow":
                leave(meter.measured)
        return meter.measured

    async def _do(self, scenario: Scenario, ping: Ping) -> None:
        match scenario.kind:
            case "seq":
                for _ in range(scenario.count):
                    await ping()
            case "pipe":
                for _ in range(scenario.count):
                    await self.many(ping)
            case "slow":
                self.pause = PULSE
                self._asking = asyncio.create_task(ping())
                await asyncio.sleep(scenario.count)
            case _:
                asking = asyncio.create_task(ping())
                await self._all_here.wait()
                await asking


class BlockingContender(Contender):
    """One that lives in threads. Its notification handler calls `took`, and sleeps for `pause` if that is not None."""

    def __init__(self) -> None:
        self.pause: float | None = None
        self._missing = 1  # the one to warm up
        self._all_here = threading.Event()

    @abstractmethod
    def connected(self, command: list[str]) -> AbstractContextManager[Callable[[], object]]:
        """Start the peer; gives what sends one request and waits for the answer."""

    def took(self) -> None:
        """A notification was handled."""
        self._missing -= 1
        if self._missing == 0:
            self._all_here.set()

    def many(self, ping: Callable[[], object]) -> None:
        """A batch of requests, as many as possible under way at the same time."""
        with ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(ping) for _ in range(BATCH)]:
                done.result()

    def measure(self, scenario: Scenario) -> Measured:
        with self.connected(self.peer(scenario)) as ping:
            if scenario.floods:
                ping()
                self._all_here.wait()
                self._all_here.clear()
                self._missing = self.expected(scenario)
            else:
                for _ in range(WARM_UP):
                    ping()
            with Meter() as meter:
                self._do(scenario, ping)
            if scenario.kind == "slow":
                leave(meter.measured)
        return meter.measured

    def _do(self, scenario: Scenario, ping: Callable[[], object]) -> None:
        match scenario.kind:
            case "seq":
                for _ in range(scenario.count):
                    ping()
            case "pipe":
                for _ in range(scenario.count):
                    self.many(ping)
            case "slow":
                self.pause = PULSE
                threading.Thread(target=ping, daemon=True).start()
                time.sleep(scenario.count)
            case _:
                asking = threading.Thread(target=ping)
                asking.start()
                self._all_here.wait()
                asking.join()


class Meter:
    """A context: wall time, and the growth of resident memory at its peak."""

    measured: Measured

    def __enter__(self) -> Meter:
        self._before = memory("VmRSS")
        self._start, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        seconds, cpu = time.perf_counter() - self._start, time.process_time() - self._cpu
        self.measured = Measured(seconds, cpu, max(0, memory("VmHWM") - self._before))


def memory(name: str) -> int:
    """A figure of this process in bytes. `getrusage` would tell the peak of the parent, too, before the exec."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) * 1024


def report(measured: Measured) -> None:
    """Hand the result to the process that asked for it."""
    print(json.dumps(asdict(measured)), flush=True)


def leave(measured: Measured) -> NoReturn:
    """Report, and end at once: there are notifications left that would take minutes."""
    report(measured)
    os._exit(0)
