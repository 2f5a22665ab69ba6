"""`EmbeddedHost`: agents and sessions in memory, enough of a runtime to exercise a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from ..server import Adapters, Listener, MemoryAttachmentStore, Route, RunEnd, SessionStatus, SubagentRun
from .agent import EmbeddedAgent, new_id
from .echo import EchoAdapter
from .journal import Journal
from .scribe import Scribe, Scribe021
from .scribe_2026_07_29 import OlderScribe

SCRIBES: Final[dict[str, type[Scribe]]] = {each.revision: each for each in (OlderScribe, Scribe, Scribe021)}


class EmbeddedHost:
    """Implements `dsh_runtime.server.Host`, in the events of one revision. Offline: its one adapter is `EchoAdapter`.

    `profile` is `sdk` or `sdk-minimal`: the former opens sessions with three events (rule S119). `stored` are the sessions that
    earlier hosts left, by id; what this one leaves is added. Raises `LookupError` for a revision that it can't write.
    """

    def __init__(
        self,
        revision: str = Scribe.revision,
        *,
        profile: str = "sdk",
        adapters: Adapters | None = None,
        stored: dict[str, Journal] | None = None,
    ) -> None:
        if revision not in SCRIBES:
            raise LookupError(f"no revision {revision!r}; there are {', '.join(SCRIBES)}")
        self.adapters = Adapters(EchoAdapter()) if adapters is None else adapters
        self.attachments = MemoryAttachmentStore()
        self.agents: dict[str, EmbeddedAgent] = {}
        self.stored = {} if stored is None else stored
        self.compresses_logs = self.opens_with_policies = profile == "sdk"
        self._scribe = SCRIBES[revision]()
        self._listeners: list[Listener] = []

    # dsh_runtime.server.Host

    async def ready(self) -> None:
        """There is nothing to wait for."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """See `Host`."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    async def create_agent(self, session_id: str, cwd: str, route: Route) -> EmbeddedAgent:
        """See `Host`."""
        if session_id in self.agents or session_id in self.stored:
            raise RuntimeError(f'session "{session_id}" already exists')
        agent = self._make(session_id, cwd, route)
        await self.tell_created(session_id, None)
        if self.opens_with_policies:
            for draft in self._scribe.opening():
                await agent.record(draft)
        return agent

    async def resume_agent(self, session_id: str, cwd: str, route: Route) -> EmbeddedAgent:
        """See `Host`."""
        journal = self.stored.pop(session_id, None)
        if journal is None:
            raise LookupError(f'session "{session_id}" not found')
        journal.repair()
        agent = self.agents[session_id] = EmbeddedAgent(self, journal, cwd, route)
        agent.header_reason = "resume"
        return agent

    async def dispose(self) -> None:
        """The end of all agents that are left."""
        ends = await asyncio.gather(*(agent.dispose() for agent in list(self.agents.values())), return_exceptions=True)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    # for agents

    async def make_child(self, parent: EmbeddedAgent) -> EmbeddedAgent:
        """A child's agent: it works where and as its parent does, its output cap included (rule S30)."""
        child = self._make(new_id(), parent.working_directory, parent.route)
        child.journal.note(self._scribe.descriptor())
        await self.tell_created(child.session_id, parent.session_id)
        return child

    def forget(self, agent: EmbeddedAgent) -> None:
        """An agent has ended; its session stays."""
        self.agents.pop(agent.session_id, None)
        self.stored[agent.session_id] = agent.journal

    def new_id(self) -> str:
        """The id of a message."""
        return new_id()

    async def tell_created(self, session_id: str, parent_id: str | None) -> None:
        """Tell all listeners of a session."""
        for listener in tuple(self._listeners):
            await listener.session_created(session_id, parent_id)

    async def tell_event(self, session_id: str, event: Any) -> None:
        """Tell all listeners of an event."""
        for listener in tuple(self._listeners):
            await listener.event(session_id, event)

    async def tell_status(self, session_id: str, status: SessionStatus) -> None:
        """Tell all listeners of the state of an agent."""
        for listener in tuple(self._listeners):
            await listener.status(session_id, status)

    async def tell_run(self, run: SubagentRun, end: RunEnd) -> None:
        """Tell all listeners of the end of a run."""
        for listener in tuple(self._listeners):
            await listener.run_finished(run, end)

    def _make(self, session_id: str, cwd: str, route: Route) -> EmbeddedAgent:
        agent = self.agents[session_id] = EmbeddedAgent(self, Journal(session_id, self._scribe), cwd, route)
        return agent
