"""How the server speaks revision 0.1.5, the head. The other revisions override what differs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from dsh_protocol import InitializeResult, ServerInfo, SessionPromptResult

from .adapters import resolve
from .attachments import admit_images
from .forwarding import Forwarder, Send
from .host import Agent
from .paths import resolve_path
from .service import Service, Settings
from .values import ABSENT, member, received, safe_integer

Params = dict[str, Any]
Handler = Callable[[Params], Awaitable[Any]]

VERSION: Final = "0.0.1"
"""What `serverInfo` says in every revision (rule S1)."""


class Revision:
    """The requests of one server in this revision, and what it tells without being asked."""

    name: ClassVar[str] = "0.1.5"
    drains_descendants: ClassVar[bool] = False
    """Rule S157."""

    def __init__(self, service: Service, send: Send, *, max_tokens_as_success: bool) -> None:
        self.service = service
        self.forwarder = self.make_forwarder(send, max_tokens_as_success=max_tokens_as_success)

    def make_forwarder(self, send: Send, *, max_tokens_as_success: bool) -> Forwarder:
        """What forwards to the client."""
        return Forwarder(send, max_tokens_as_success=max_tokens_as_success)

    def requests(self) -> Mapping[str, Handler]:
        """The handlers of all requests but `shutdown`, by method (rule S2)."""
        return {"initialize": self.initialize, "session/prompt": self.prompt}

    async def initialize(self, params: Params) -> InitializeResult:
        """Settle where and how sessions work; all of it, or nothing if anything is wrong (rules S13-S28)."""
        service = self.service
        await service.host.ready()
        await asyncio.sleep(0)  # what came in the same write finds this one pending (rule S36)
        effort = checked_effort(params)
        max_tokens = checked_max_tokens(params)
        cwd = absolute_cwd(params)
        adapter = service.adapter(member(params, "provider"))
        route = await resolve(adapter, member(params, "model"), effort, max_tokens)
        service.settings = Settings(cwd, route)
        return server_info()

    def settings(self) -> Settings:
        """What `initialize` settled. Raises before one has succeeded (rule S36)."""
        if self.service.settings is None:
            raise RuntimeError("SDK server is not initialized")
        return self.service.settings

    async def prompt(self, params: Params) -> Any:
        """Queue a message, on a new session if need be; do not wait for its turn (rule S47)."""
        agent, blocks = await self.accept(params)
        blocks = await admit_images(blocks, self.service.host.attachments)
        check_live(agent)
        return SessionPromptResult(message_id=await agent.enqueue(blocks))

    async def accept(self, params: Params) -> tuple[Agent, list[Any]]:
        """The agent and the blocks of a prompt."""
        settings = self.settings()
        agent = await self.service.agent(self.service.session_id(params), settings)
        check_live(agent)
        return agent, checked_blocks(params)

    async def leave(self, close: Callable[[], Awaitable[None]]) -> None:  # noqa: ARG002 - another revision uses it
        """The last thing before the exit: the end of the whole host (rule S162). `close` would end the server alone."""
        await self.service.host.dispose()


def server_info() -> InitializeResult:
    """The answer to every `initialize` (rule S1)."""
    return InitializeResult(server_info=ServerInfo(version=VERSION))


def checked_effort(params: Params) -> str | None:
    """Raises with the text of rule S16."""
    effort = member(params, "reasoningEffort")
    if effort is ABSENT:
        return None
    if not isinstance(effort, str) or not effort:
        raise ValueError("initialize reasoningEffort must be a non-empty string")
    return effort


def checked_max_tokens(params: Params) -> int | None:
    """Raises with the text of rule S17."""
    given = member(params, "maxTokens")
    if given is ABSENT:
        return None
    max_tokens = safe_integer(given)
    if max_tokens is None:
        raise ValueError("initialize maxTokens must be a positive safe integer")
    return max_tokens


def absolute_cwd(params: Params) -> str:
    """The directory, against the server's own if it is relative (rule S19). It need not exist. Raises as rule S18 says."""
    cwd = member(params, "cwd")
    if not isinstance(cwd, str):
        raise TypeError(f'The "paths[0]" argument must be of type string. Received {received(cwd)}')
    return resolve_path(str(Path.cwd()), cwd)


def checked_blocks(params: Params) -> list[Any]:
    """The blocks, unchecked but for being a list (rules S54-S59)."""
    blocks: Any = member(params, "contentBlocks")
    match blocks:
        case [*given]:
            return given
        case None:
            raise TypeError("Cannot read properties of null (reading 'filter')")
        case _:
            pass
    if blocks is ABSENT:
        raise TypeError("Cannot read properties of undefined (reading 'filter')")
    raise TypeError("blocks.filter is not a function")


def check_live(agent: Agent) -> None:
    """Raises with the text of rule S45."""
    if agent.disposed:
        raise RuntimeError(f"session agent was disposed outside the server: {agent.session_id}")
