"""What a subscriber holds: an async iterator over its notifications."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Self

from ..errors import TransportClosedError
from ..routing import SUBSCRIPTION_LIMIT, Filter, HarnessNotification, Mailbox, UnsubscribedError


class Subscription(Mailbox):
    """The notifications that a filter accepts, in wire order. `async for` reads them; so does `get`, one at a time.

    Nobody waits for a subscriber: one that lets its queue fill up gets what was queued, and then `SubscriptionOverflowError`.
    When the runtime is gone, what is queued can still be read, and then comes `TransportClosedError`. What the filter raises
    comes out here too, after what was queued, and concerns no other subscription (rules C17, C19).
    Use it as a context manager, or `close` it.
    """

    def __init__(
        self,
        accepts: Filter | None = None,
        *,
        limit: int | None = SUBSCRIPTION_LIMIT,
        lossy: bool = False,
        on_close: Callable[[Subscription], None] | None = None,
        explain: Callable[[Exception], Awaitable[Exception]] | None = None,
    ) -> None:
        super().__init__(accepts, limit=limit, lossy=lossy)
        self._on_close = on_close
        self._explain = explain  # adds to `TransportClosedError` what is known of the process
        self._ready = asyncio.Event()

    async def get(self, *, timeout: float | None = None) -> HarnessNotification:
        """The next one. `timeout` is in seconds. Raises `TimeoutError`, and the error of the end once nothing is left."""
        item = await self._take()
        if item is None:
            async with bounded(timeout, f"no notification within {timeout} s"):
                while (item := await self._take()) is None:
                    self._ready.clear()
                    await self._ready.wait()
        return item

    def close(self) -> None:
        """Stop listening. What is queued is dropped; iteration ends."""
        self.end(UnsubscribedError("this subscription was closed"), drop=True)
        if self._on_close is not None:
            self._on_close(self)

    def put(self, item: HarnessNotification) -> bool:
        """Called by the client."""
        taken = super().put(item)
        self._ready.set()
        return taken

    def end(self, error: Exception, *, drop: bool = False) -> None:
        """Called by the client."""
        super().end(error, drop=drop)
        self._ready.set()

    async def _take(self) -> HarnessNotification | None:
        try:
            return self.take()
        except TransportClosedError as error:
            raise error if self._explain is None else await self._explain(error) from None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> HarnessNotification:
        try:
            return await self.get()
        except UnsubscribedError:
            raise StopAsyncIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@asynccontextmanager
async def bounded(timeout: float | None, text: str) -> AsyncGenerator[None, None]:
    """Raise `TimeoutError` with that text when the block takes longer than `timeout` seconds; None does not bound it."""
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise TimeoutError(text) from None
        raise
