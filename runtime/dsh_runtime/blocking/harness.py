"""`DeepSeekHarness` for threads: a runtime that starts when it is needed, and sessions that run prompts to the end."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, Self

from dsh_protocol import HEAD

from ..activity import RunResult
from ..connection import MAX_LINE, Observer
from ..content import Prompt
from ..dialect import MODEL, PROVIDER, Initialized
from ..launch import ClosingTimes, Launch, add_last_words
from ..routing import HarnessNotification
from .client import HarnessClient

OnNotification = Callable[[HarnessNotification], object]


class DeepSeekHarness:
    """A runtime with its sessions. It is launched and initialized once, by `start` or by the first run; leaving ends it.

        with DeepSeekHarness(Launch(dsh_home=home), cwd=project) as harness:
            result = harness.run("Say hello.")

    The options are those of `HarnessClient` and its `initialize`. A handshake that fails ends the runtime and is forgotten: the
    next run tries again with a new one (rules C49, C50). A runtime that dies later is not replaced: its sessions are gone.
    """

    def __init__(
        self,
        launch: Launch | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
        provider: str = PROVIDER,
        model: str = MODEL,
        reasoning_effort: str | None = None,
        max_tokens: int | None = None,
        initialize_timeout: float | None = None,
        revision: str = HEAD,
        times: ClosingTimes | None = None,
        observer: Observer | None = None,
        max_line: int = MAX_LINE,
    ) -> None:
        self.initialized: Initialized | None = None
        """What `initialize` returned, once it has."""
        self._make_client: Callable[[], HarnessClient] = lambda: HarnessClient(
            launch, revision=revision, times=times, observer=observer, max_line=max_line
        )
        self._initialize: dict[str, Any] = {
            "cwd": cwd,
            "provider": provider,
            "model": model,
            "reasoning_effort": reasoning_effort,
            "max_tokens": max_tokens,
            "timeout": initialize_timeout,
        }
        self._client = self._make_client()
        self._broken: BaseException | None = None
        self._turn = threading.Lock()  # of those that start or close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> HarnessClient:
        """Launch and initialize, unless that was done. Returns the client, for everything that is not here.

        Raises what `HarnessClient.start` and `initialize` raise; a note on the error has the exit status and the last of stderr
        (rule C52). If the runtime of a failed handshake can't be ended either, an exception group has both causes, and there
        is no other try (rule C51).
        """
        with self._turn:
            if self._broken is not None:
                raise self._broken
            if self.initialized is None:
                self._shake_hands()
            return self._client

    def session(self, session_id: str | None = None) -> Session:
        """A session by its id, by default a new one. Nothing is sent before it runs."""
        return Session(self, session_id or new_session_id())

    def run(
        self,
        prompt: Prompt,
        *,
        session_id: str | None = None,
        on_notification: OnNotification | None = None,
        timeout: float | None = None,
    ) -> RunResult:
        """`Session.run` in the session with that id, by default in a new one."""
        return self.session(session_id).run(prompt, on_notification=on_notification, timeout=timeout)

    def close(self) -> None:
        """End the runtime, as `HarnessClient.close`. After that nothing runs here any more."""
        with self._turn:
            self._client.close()

    def _shake_hands(self) -> None:
        client = self._client
        try:
            client.start()
            self.initialized = client.initialize(**self._initialize)
        except BaseException as error:
            self._start_over(client, error)
            raise

    def _start_over(self, client: HarnessClient, error: BaseException) -> None:
        """The handshake failed: reap the runtime, and have a fresh client for the next try."""
        if client.closed:
            return
        try:
            client.close()
        except Exception as failure:  # noqa: BLE001 - reported along with the first one
            self._broken = BaseExceptionGroup("the handshake failed, and so did ending the runtime", [error, failure])
            raise self._broken from None
        add_last_words(error, client.exit_code, client.stderr_tail)
        self._client = self._make_client()


class Session:
    """One session of a harness, by its id. Runs of one session may overlap; the runtime queues their prompts (rule S50)."""

    def __init__(self, harness: DeepSeekHarness, session_id: str) -> None:
        self.id = session_id
        self._harness = harness

    def run(self, prompt: Prompt, *, on_notification: OnNotification | None = None, timeout: float | None = None) -> RunResult:
        """Send a prompt and wait until the session is idle again (rules C1 to C6).

        Revision 2026-07-29 answers a prompt when the work is done, so there the callbacks all come at the end.

        `on_notification` is called with each notification of the interval, in order, before this returns (rule C12); what it
        raises ends the run. `timeout` is in seconds from when the runtime is ready on; by default there is no bound. When it is
        up, only the wait ends (rule C33). Raises what `DeepSeekHarness.start` and
        `HarnessClient.request` raise, `TimeoutError`, and `RemoteProtocolError` for an answer that can't be read.
        """
        client = self._harness.start()
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            with client.subscribe_session_tree(self.id, limit=None) as subscription:
                interval = client.dialect.interval(client.prompt(self.id, prompt, timeout=timeout))
                while not interval.done:
                    left = None if deadline is None else max(deadline - time.monotonic(), 0)
                    notification = subscription.get(timeout=left)
                    if interval.take(notification) and on_notification is not None:
                        on_notification(notification)
        except TimeoutError:
            if deadline is None or time.monotonic() < deadline:
                raise
            raise TimeoutError(f"{self.id} is not idle after {timeout} s") from None
        return interval.result()


def new_session_id() -> str:
    """A fresh id as clients make them (rule C26)."""
    return f"session-{uuid.uuid4().hex}"
