"""What a server needs from the program it serves: the interfaces that a host implements.

    Host                the program: makes agents, reports what they do, owns adapters and attachments
    ├── Agent           one session's worker: takes messages, runs turns, is disposed of once
    ├── Adapters        which model adapter owns which provider (see `adapters`)
    ├── AttachmentStore where the images of prompts go (see `attachments`)
    └── Listener        what a host calls when something happens; the server is one

A host knows nothing of JSON-RPC. It awaits every call of a listener before it goes on: that keeps the order of events on the
wire, and lets a slow client slow down the agents instead of filling the memory.

What a host raises becomes the text of an error response, so it is a sentence for the client's user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from .adapters import Adapters, Route
from .attachments import AttachmentStore

SessionStatus = Literal["running", "idle"]


class Agent(Protocol):
    """The worker behind one session."""

    @property
    def session_id(self) -> str:
        """The session that it works for."""
        ...

    @property
    def disposed(self) -> bool:
        """Whether it has ended, whoever ended it (rule S45)."""
        ...

    @property
    def failure(self) -> Exception | None:
        """What went wrong outside of any turn, if no turn has ended since (rule S84)."""
        ...

    @property
    def working_directory(self) -> str:
        """Where it works now, as an absolute path (rule S86)."""
        ...

    async def enqueue(self, content: list[Any]) -> str:
        """Queue one user message with source `{"kind": "user"}` and these blocks, verbatim (rules S49, S54).

        Returns the message's id, version 4 UUID text, once it is durable and its receipt was reported; does not wait for the
        turn (rules S47, S115).
        """
        ...

    async def when_idle(self) -> None:
        """Return once nothing is queued or running and that was reported. Raises if the agent is disposed of meanwhile."""
        ...

    async def when_settled(self) -> None:
        """Like `when_idle`, but for its descendants too: it is idle and no child is left that could wake it (rule S82)."""
        ...

    async def change_directory(self, path: str) -> str:
        """Work there from now on: an absolute path, or one relative to where it works now. Returns the absolute path.

        Raises with the text of rule S89 for a directory that does not exist.
        """
        ...

    async def drain(self) -> None:
        """Stop its descendants and wait for them (rule S157)."""
        ...

    async def dispose(self) -> None:
        """Abort what it does and end (rule S167). Raises what went wrong; is called once."""
        ...


@dataclass(frozen=True, slots=True)
class SubagentRun:
    """A run of a subagent as it was accepted. Nothing that happens later changes it (rule S146).

    `provider` is the kind of subagent (`spawn`, `fork`, ...), `child_id` the child's own id, and `parent_id` the session from
    which the run was asked for (rule S147). `local`: the child is a session of this very runtime. Nothing else tells: not the
    ids, not the provider, not the lineage (rule S145).
    """

    provider: str
    child_id: str
    parent_id: str
    local: bool


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended. `last_message` is the content of the child's last assistant message that has any, `text` what it had
    said until then (rule S149)."""

    stop_reason: str
    last_message: list[Any] | None = None
    text: str = ""


class Listener(Protocol):
    """What a host calls, and waits for, when something happens in any session, whoever made it (rule S92)."""

    async def session_created(self, session_id: str, parent_id: str | None) -> None:
        """A session exists. Called before anything else about it (rule S143)."""

    async def event(self, session_id: str, event: Any) -> None:
        """An event was recorded: a generated dataclass of the revision that is spoken, or its JSON object."""

    async def status(self, session_id: str, status: SessionStatus) -> None:
        """An agent began to work or ran out of work (rule S113)."""

    async def run_finished(self, run: SubagentRun, end: RunEnd) -> None:
        """A run has ended; called once for each, remote ones too (rule S144)."""


class Host(Protocol):
    """The program that a server serves."""

    @property
    def adapters(self) -> Adapters | None:
        """The model adapters; None in a host without any model service."""
        ...

    @property
    def attachments(self) -> AttachmentStore | None:
        """Where images of prompts go; None if they can't be taken (rule S68)."""
        ...

    async def ready(self) -> None:
        """Return once every part has settled (rule S13). Raises if one failed to load."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell that listener what happens from now on, until the returned function is called."""
        ...

    async def create_agent(self, session_id: str, cwd: str, route: Route) -> Agent:
        """A new session. Raises for an id that is taken (rule S53)."""
        ...

    async def resume_agent(self, session_id: str, cwd: str, route: Route) -> Agent:
        """Reopen a session that an earlier process left, and tell nobody (rule S77). Raises for an unknown id (rule S79)."""
        ...

    async def dispose(self) -> None:
        """End everything that is left. May be called again, and does nothing then."""
