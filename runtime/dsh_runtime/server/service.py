"""What a server knows: its host, where and with which model sessions work, the sessions, and the adapter it mounted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .adapters import DEEPSEEK, Adapter, Adapters, Route, no_adapter
from .host import Agent, Host
from .sessions import Sessions
from .values import ABSENT, member


@dataclass(frozen=True, slots=True)
class Settings:
    """What `initialize` settled for the sessions to come: an absolute directory, and a route."""

    cwd: str
    route: Route


class TeardownError(Exception):
    """Several things went wrong while the server shut down (rule S159); `causes` are they."""

    def __init__(self, causes: list[BaseException]) -> None:
        super().__init__("SDK server teardown failed")
        self.causes = causes


class Service:
    """The state of one server, apart from its connection. `mount` makes the adapter of rule S22."""

    def __init__(self, host: Host, mount: Callable[[], Adapter] | None) -> None:
        self.host = host
        self.sessions = Sessions()
        self.settings: Settings | None = None
        self._mount = mount
        self._mounted: Adapter | None = None
        self._nameless = 0

    def adapter(self, provider: object) -> Adapter:
        """Who answers for a provider; mounts the one adapter that may be mounted (rules S21-S23). Raises `LookupError`."""
        adapters = self.host.adapters
        owner = adapters and adapters.owner(provider)
        if owner:
            return owner
        if adapters is None or provider != DEEPSEEK or self._mount is None:
            raise no_adapter(provider)
        return self._mount_into(adapters, self._mount)

    def _mount_into(self, adapters: Adapters, mount: Callable[[], Adapter]) -> Adapter:
        adapter = mount()
        adapters.register(adapter)
        self._mounted = adapter
        return adapter

    def session_id(self, params: dict[str, Any]) -> str:
        """The session of a prompt. Raises with the texts of rules S61, S63; the empty id passes (rule S62)."""
        session_id = member(params, "sessionId")
        if isinstance(session_id, str):
            return session_id
        if session_id is ABSENT:
            self._nameless += 1
            raise ValueError(f'agent id "undefined" does not match session id "session-{self._nameless}"')
        raise TypeError("format v4 header id must be a string")

    async def agent(self, session_id: str, settings: Settings) -> Agent:
        """The agent of a session, made if there is none (rule S40)."""
        return await self.sessions.open(session_id, lambda: self.host.create_agent(session_id, settings.cwd, settings.route))

    async def dispose(self, *, drain: bool) -> None:
        """Dispose of the agents and of the mounted adapter, in parallel, and wait for all.

        With `drain`, descendants of the agents first. A failure stops nothing. Raises it in the end, or a `TeardownError`.
        """
        agents = self.sessions.agents
        failures: list[BaseException] = []
        if drain:
            failures += _failures(await asyncio.gather(*(agent.drain() for agent in agents), return_exceptions=True))
        ends = [agent.dispose() for agent in agents if not agent.disposed]
        if self._mounted is not None:
            ends.append(self._unmount(self._mounted))
        failures += _failures(await asyncio.gather(*ends, return_exceptions=True))
        if len(failures) > 1:
            raise TeardownError(failures)
        for failure in failures:
            raise failure

    async def _unmount(self, adapter: Adapter) -> None:
        self._mounted = None
        if self.host.adapters is not None:
            self.host.adapters.remove(adapter)
        await adapter.close()


def _failures(results: list[Any]) -> list[BaseException]:
    return [result for result in results if isinstance(result, BaseException)]
