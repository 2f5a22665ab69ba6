"""What a subscriber holds: an iterator over its notifications."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self

from ..errors import TransportClosedError
from ..routing import SUBSCRIPTION_LIMIT, Filter, HarnessNotification, Mailbox, UnsubscribedError


class Subscription(Mailbox):
    """The notifications that a filter accepts, in wire order. `for` reads them; so does `get`, one at a time.

    Nobody waits for a subscriber: one that lets its queue fill up gets what was queued, and then `SubscriptionOverflowError`.
    When the runtime is gone, what is queued can still be read, and then comes `TransportClosedError`. What the filter raises
    comes out here too, after what was queued, and concerns no other subscription (rules C17, C19).
    Use it as a context manager, or `close` it. Safe between threads.
    """

    def __init__(
        self,
        accepts: Filter | None = None,
        *,
        limit: int | None = SUBSCRIPTION_LIMIT,
        lossy: bool = False,
        on_close: Callable[[Subscription], None] | None = None,
        explain: Callable[[Exception], Exception] | None = None,
    ) -> None:
        super().__init__(accepts, limit=limit, lossy=lossy)
        self._on_close = on_close
        self._explain = explain  # adds to `TransportClosedError` what is known of the process
        self._changed = threading.Condition()

    def get(self, *, timeout: float | None = None) -> HarnessNotification:
        """The next one. `timeout` is in seconds. Raises `TimeoutError`, and the error of the end once nothing is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self.ended, timeout)
        try:
            item = self.take()
        except TransportClosedError as error:
            raise error if self._explain is None else self._explain(error) from None
        if item is None:
            raise TimeoutError(f"no notification within {timeout} s")
        return item

    def close(self) -> None:
        """Stop listening. What is queued is dropped; iteration ends."""
        self.end(UnsubscribedError("this subscription was closed"), drop=True)
        if self._on_close is not None:
            self._on_close(self)

    def take(self) -> HarnessNotification | None:
        """The oldest one; None while there is none. Raises the error of the end."""
        with self._changed:
            return super().take()

    def put(self, item: HarnessNotification) -> bool:
        """Called by the client."""
        with self._changed:
            taken = super().put(item)
            self._changed.notify_all()
        return taken

    def end(self, error: Exception, *, drop: bool = False) -> None:
        """Called by the client."""
        with self._changed:
            super().end(error, drop=drop)
            self._changed.notify_all()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> HarnessNotification:
        try:
            return self.get()
        except UnsubscribedError:
            raise StopIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
