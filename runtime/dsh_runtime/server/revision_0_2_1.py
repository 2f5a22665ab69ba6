"""What revision 0.2.1 adds: requests to wait for a session, to resume one, and to ask for and change where it works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dsh_protocol.v0_2_1 import (
    SessionResumeResult,
    SessionWaitResult,
    SessionWorkingDirectoryGetResult,
    SessionWorkingDirectorySetResult,
)

from .host import Agent
from .revision_0_1_5 import Handler, Params, Revision
from .sessions import ShuttingDownError
from .values import member


class Revision021(Revision):
    """Revision 0.2.1."""

    name: ClassVar[str] = "0.2.1"
    drains_descendants: ClassVar[bool] = True

    def requests(self) -> Mapping[str, Handler]:
        """Rules S2, S3."""
        return {
            **super().requests(),
            "session/wait": self.wait,
            "session/resume": self.resume,
            "session/working-directory/get": self.get_working_directory,
            "session/working-directory/set": self.set_working_directory,
        }

    async def wait(self, params: Params) -> SessionWaitResult:
        """Answer once the session has nothing left to do (rules S80-S84)."""
        self.settings()
        session_id = member(params, "sessionId")
        if not isinstance(session_id, str):
            raise TypeError("session/wait requires a sessionId string")
        agent = await self.service.sessions.find(session_id)
        if agent is None:
            raise LookupError(f"unknown SDK session: {session_id}")
        await agent.when_settled()
        if agent.failure is not None:
            raise agent.failure
        return SessionWaitResult()

    async def resume(self, params: Params) -> SessionResumeResult:
        """Reopen a session that an earlier process left (rules S76-S79)."""
        settings = self.settings()
        session_id = _non_empty(params, "session/resume requires a non-empty sessionId string")
        sessions = self.service.sessions
        if sessions.stopping:
            raise ShuttingDownError
        if session_id in sessions:
            raise RuntimeError(f"SDK session is already open or opening: {session_id}")
        host = self.service.host
        await sessions.open(session_id, lambda: host.resume_agent(session_id, settings.cwd, settings.route))
        return SessionResumeResult()

    async def get_working_directory(self, params: Params) -> SessionWorkingDirectoryGetResult:
        """Where a session works; one that nobody knows is made (rules S85, S86)."""
        agent = await self._agent(params)
        return SessionWorkingDirectoryGetResult(cwd=agent.working_directory)

    async def set_working_directory(self, params: Params) -> SessionWorkingDirectorySetResult:
        """Change where a session works (rules S85, S87-S90)."""
        agent = await self._agent(params)
        path: Any = member(params, "path")
        if not isinstance(path, str):
            raise TypeError("working-directory set requires a path string")
        return SessionWorkingDirectorySetResult(cwd=await agent.change_directory(path))

    async def _agent(self, params: Params) -> Agent:
        settings = self.settings()
        session_id = _non_empty(params, "working-directory requests require a non-empty sessionId")
        return await self.service.agent(session_id, settings)


def _non_empty(params: Params, refusal: str) -> str:
    session_id = member(params, "sessionId")
    if not isinstance(session_id, str) or not session_id:
        raise TypeError(refusal)
    return session_id
