"""Who gets which notification: the session tree, the queues of subscriptions, the notifications that nobody took. No I/O.

The rules kept here: C15, C16 (which sessions are in a tree), C17 (a filter that fails ends its own subscription only), C18 (the
common queue), C19 (what is left after the end). A queue never makes anybody wait: a full one ends, or loses its oldest.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .errors import LocalProtocolError, SubscriptionOverflowError

SUBSCRIPTION_LIMIT: Final = 10_000
"""Notifications that may wait in one subscription."""

UNCLAIMED_LIMIT: Final = 1_000
"""Notifications that may wait in the common queue."""


@dataclass(frozen=True, slots=True)
class UndecodedEvent:
    """The payload of a notification that is not as the revision's schema says: `raw` as it came, and why."""

    raw: dict[str, Any]
    error: Exception = field(compare=False)


@dataclass(slots=True)  # freezing it would double the time that it takes to make one
class HarnessNotification:
    """A notification of the runtime. `params` is the revision's dataclass, or an `UndecodedEvent`; `raw` is its JSON."""

    method: str
    params: Any
    raw: dict[str, Any] = field(repr=False, compare=False)


Filter: TypeAlias = Callable[[HarnessNotification], bool]
Decode: TypeAlias = Callable[[str, dict[str, Any]], Any]


class SessionTree:
    """Which session is a descendant of which. It only grows: a late or reused child keeps its ancestors (rule C15)."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def learn(self, notification: HarnessNotification) -> None:
        """Take in a `subagent.started`; anything else says nothing."""
        if notification.method != "subagent.started":
            return
        parent, child = notification.raw.get("parentSessionId"), notification.raw.get("childSessionId")
        if isinstance(parent, str) and isinstance(child, str) and parent and child and parent != child:
            self._parents[child] = parent

    def holds(self, root: str, notification: HarnessNotification) -> bool:
        """Whether it belongs to the tree of `root` (rule C16)."""
        raw = notification.raw
        if notification.method in ("subagent.started", "subagent.finished"):
            return self._descends(raw.get("parentSessionId"), root) or raw.get("childSessionId") == root
        return self._descends(raw.get("sessionId"), root)

    def _descends(self, session: Any, root: str) -> bool:
        seen: set[str] = set()
        while session != root:
            if not isinstance(session, str) or session in seen:
                return False
            seen.add(session)
            session = self._parents.get(session)
        return True


class Mailbox:
    """The queue of one subscription. `limit` None does not bound it; a `lossy` one drops its oldest to make room, and counts.

    Not safe between threads, and waits for nothing: subclasses add both.
    """

    def __init__(self, accepts: Filter | None = None, *, limit: int | None = SUBSCRIPTION_LIMIT, lossy: bool = False) -> None:
        self.dropped = 0
        self._accepts = accepts
        self._limit = limit
        self._lossy = lossy
        self._items: deque[HarnessNotification] = deque()
        self._end: Exception | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will be queued; what is queued can still be taken."""
        return self._end is not None

    def offer(self, item: HarnessNotification) -> bool:
        """Queue it if it is wanted. Whether it was taken."""
        if self._end is not None:
            return False
        try:
            if self._accepts is not None and not self._accepts(item):
                return False
        except Exception as error:  # noqa: BLE001 - somebody else's filter: whatever it raises is for its subscriber (rule C17)
            self.end(error)
            return False
        return self.put(item)

    def put(self, item: HarnessNotification) -> bool:
        """Queue it. Whether there was room."""
        if self._end is not None:
            return False
        if self._limit is not None and len(self._items) >= self._limit:
            if not self._lossy:
                self.end(SubscriptionOverflowError(f"{self._limit} notifications waited to be read; the rest was not kept"))
                return False
            self._items.popleft()
            self.dropped += 1
        self._items.append(item)
        return True

    def end(self, error: Exception, *, drop: bool = False) -> None:
        """Nothing more is queued; `error` is raised once the queue is empty, which `drop` makes it. The first end counts."""
        if drop:
            self._items.clear()
        if self._end is None:
            self._end = error

    def take(self) -> HarnessNotification | None:
        """The oldest one; None while there is none. Raises the error of the end."""
        if self._items:
            return self._items.popleft()
        if self._end is not None:
            raise self._end.with_traceback(None)
        return None


class UnsubscribedError(LocalProtocolError):
    """The subscriber itself ended the subscription."""


class Router:
    """Decodes each notification once and puts it where it belongs. `route` is for one thread, the rest for any."""

    def __init__(self, decode: Decode, unclaimed: Mailbox) -> None:
        self.tree = SessionTree()
        self._decode = decode
        self._unclaimed = unclaimed
        self._mailboxes: tuple[Mailbox, ...] = ()  # replaced, never changed: `route` may be at it in another thread
        self._end: Exception | None = None
        self._lock = threading.Lock()

    def add(self, mailbox: Mailbox) -> None:
        """From now on it gets what its filter accepts. Raises the error of the end if that has come (rule C19)."""
        with self._lock:
            if self._end is not None:
                raise self._end.with_traceback(None)
            self._mailboxes = (*self._mailboxes, mailbox)

    def remove(self, mailbox: Mailbox) -> None:
        """It gets nothing any more."""
        with self._lock:
            self._mailboxes = tuple(other for other in self._mailboxes if other is not mailbox)

    def route(self, method: str, params: dict[str, Any]) -> None:
        """Handle one notification."""
        try:
            payload = self._decode(method, params)
        except (ValueError, LookupError) as error:
            payload = UndecodedEvent(params, error)
        item = HarnessNotification(method, payload, params)
        self.tree.learn(item)
        taken = False
        for mailbox in self._mailboxes:
            taken = mailbox.offer(item) or taken
        if not taken:
            self._unclaimed.put(item)

    def end(self, error: Exception, *, drop: bool = False) -> None:
        """Nothing more will come. The first end counts, but `drop` empties the queues in any case."""
        with self._lock:
            self._end = self._end or error
            mailboxes = (*self._mailboxes, self._unclaimed)
        for mailbox in mailboxes:
            mailbox.end(error, drop=drop)
