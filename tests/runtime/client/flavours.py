"""Both flavours of the client behind one face, so that each case is written once, in blocking style.

The asyncio flavour lives in an event loop of its own thread; whatever is called through a `Proxy` runs there, and is waited for
no longer than `PATIENCE`. The clients under test are the real ones.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType, TracebackType
from typing import Any, Final, Self

import dsh_runtime.aio.client
import dsh_runtime.aio.harness
import dsh_runtime.aio.subscription
import dsh_runtime.blocking.client
import dsh_runtime.blocking.harness
import dsh_runtime.blocking.subscription
from dsh_runtime.aio.streams import open_reader, open_writer

PATIENCE: Final = 30.0
"""Seconds after which something counts as hanging. No test waits that long unless it fails."""


class Flavour:
    """What a test needs of a flavour. `pool` runs calls in the background."""

    name: str
    harness_module: ModuleType
    client_module: ModuleType

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(max_workers=8)

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call it where it belongs, and wait."""
        raise NotImplementedError

    def wrap(self, value: Any) -> Any:
        """The value as a test may use it."""
        return value

    def streams(self, reading: int, writing: int) -> Any:
        """Two descriptors as the streams that the client takes, and what closes them."""
        raise NotImplementedError

    def background(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        """Call it in another thread."""
        return self.pool.submit(function, *args, **kwargs)

    def client(self, *args: Any, **kwargs: Any) -> Any:
        """A `HarnessClient`."""
        return self.wrap(self.call(self.client_module.HarnessClient, *args, **kwargs))

    def harness(self, *args: Any, **kwargs: Any) -> Any:
        """A `DeepSeekHarness`."""
        return self.wrap(self.call(self.harness_module.DeepSeekHarness, *args, **kwargs))

    def close(self) -> None:
        """Nothing may be left running."""
        self.pool.shutdown()


class Blocking(Flavour):
    """The flavour with threads, as it is."""

    name = "blocking"
    harness_module = dsh_runtime.blocking.harness
    client_module = dsh_runtime.blocking.client

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def streams(self, reading: int, writing: int) -> Any:
        files = os.fdopen(reading, "rb", buffering=0), os.fdopen(writing, "wb", buffering=0)

        def close() -> None:
            for file in files:
                file.close()

        return files, close


class Aio(Flavour):
    """The asyncio flavour, driven from outside its loop."""

    name = "aio"
    harness_module = dsh_runtime.aio.harness
    client_module = dsh_runtime.aio.client

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        async def run() -> tuple[Any, BaseException | None]:
            try:
                result = function(*args, **kwargs)
                return (await result if inspect.isawaitable(result) else result), None
            except BaseException as error:  # noqa: BLE001 - a future between threads would replace some exceptions by others
                return None, error

        result, error = asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE)
        if error is not None:
            raise error
        return result

    def wrap(self, value: Any) -> Any:
        return Proxy(self, value) if type(value).__module__.startswith("dsh_runtime.aio") else value

    def streams(self, reading: int, writing: int) -> Any:
        async def make() -> Any:
            return await open_reader(reading), await open_writer(writing)

        async def unmake() -> None:
            for stream in streams:
                stream.close()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        streams = self.call(make)
        os.close(reading)
        os.close(writing)
        return streams, lambda: self.call(unmake)

    def close(self) -> None:
        super().close()

        async def left() -> set[asyncio.Task[Any]]:
            return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}

        tasks = self.call(left)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        assert not tasks


class Proxy:
    """An object of the asyncio flavour, used in blocking style."""

    def __init__(self, flavour: Aio, target: Any) -> None:
        self._flavour = flavour
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not inspect.ismethod(value):
            return self._flavour.wrap(value)
        return lambda *args, **kwargs: self._flavour.wrap(self._flavour.call(value, *args, **kwargs))

    def __enter__(self) -> Self:
        enter = getattr(self._target, "__aenter__", None) or self._target.__enter__
        self._flavour.call(enter)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        leave = getattr(self._target, "__aexit__", None) or self._target.__exit__
        self._flavour.call(leave, kind, error, trace)

    def __iter__(self) -> Iterator[Any]:
        while True:
            try:
                yield self._flavour.call(self._target.__anext__)
            except StopAsyncIteration:
                return


FLAVOURS: Final[dict[str, type[Flavour]]] = {"aio": Aio, "blocking": Blocking}
