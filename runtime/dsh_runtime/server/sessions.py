"""The agents that a server made, one for each session id, each made once however many ask at the same time (rules S40-S43)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .host import Agent


class ShuttingDownError(Exception):
    """The server stops; what was asked for needs it to go on (rule S44)."""

    def __init__(self) -> None:
        super().__init__("SDK server is shutting down")


class Sessions:
    """From session ids to agents. `stopping` is set once and refuses whatever comes later."""

    def __init__(self) -> None:
        self.stopping = False
        self._opening: dict[str, asyncio.Future[Agent]] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._opening

    @property
    def agents(self) -> list[Agent]:
        """Every agent that was made."""
        made = [opening for opening in self._opening.values() if opening.done() and not opening.cancelled()]
        return [opening.result() for opening in made if opening.exception() is None]

    async def open(self, session_id: str, make: Callable[[], Awaitable[Agent]]) -> Agent:
        """The agent of a session, made by the first who asks. A failed making is forgotten, so that the next one tries again.
        Those who ask go on in the order in which they asked, so that prompts stay in theirs.

        Raises what `make` raises, and `ShuttingDownError` if the server stops, also while it was made.
        """
        if self.stopping:
            raise ShuttingDownError
        opening = self._opening.get(session_id)
        if opening is None:
            opening = asyncio.ensure_future(make())
            self._opening[session_id] = opening
            opening.add_done_callback(lambda done: self._forget_failure(session_id, done))
        async with self._turns.setdefault(session_id, asyncio.Lock()):  # who asks first goes on first
            agent = await asyncio.shield(opening)  # one caller that gives up does not take it from the others
        if self.stopping:
            raise ShuttingDownError
        return agent

    async def find(self, session_id: str) -> Agent | None:
        """The agent of a session that is open, or about to be; None for any other."""
        opening = self._opening.get(session_id)
        return None if opening is None else await asyncio.shield(opening)

    async def settle(self) -> None:
        """Wait for those that are being made, whatever becomes of them."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)

    def _forget_failure(self, session_id: str, done: asyncio.Future[Agent]) -> None:
        if done.cancelled() or done.exception() is not None:
            self._opening.pop(session_id, None)
