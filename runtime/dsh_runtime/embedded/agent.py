"""An agent: an inbox, and turns that work it off, one after the other."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..server import Route, RunEnd, SubagentRun
from ..server.paths import resolve_path
from .journal import Journal
from .scribe import Draft, Outcome, Target
from .turn import Turn

if TYPE_CHECKING:
    from .host import EmbeddedHost

_log: Final = logging.getLogger("dsh_runtime")


@dataclass(frozen=True, slots=True)
class _Queued:
    message: Any
    by_user: bool


@dataclass(slots=True)
class _Start:
    """How a stretch of work begins: `opened` once its first turn was told, and not beyond before `go`."""

    opened: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)


def new_id() -> str:
    """The id of a message or a session."""
    return str(uuid.uuid4())


class EmbeddedAgent:
    """Implements `dsh_runtime.server.Agent`."""

    def __init__(self, host: EmbeddedHost, journal: Journal, cwd: str, route: Route) -> None:
        self.host = host
        self.journal = journal
        self.route = route
        self.told_route: Route | None = None  # what the newest request header says
        self.header_reason = "initial"
        self.failure: Exception | None = None
        self.last_turn: Turn | None = None
        self.disposed = False
        self._origin = self._cwd = cwd
        self._inbox: dict[Target, list[_Queued]] = {"next-step": [], "next-turn": []}
        self._running = False
        self._resting = asyncio.Event()
        self._resting.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._runs: dict[asyncio.Task[None], EmbeddedAgent] = {}

    @property
    def session_id(self) -> str:
        """See `Agent`."""
        return self.journal.session_id

    @property
    def working_directory(self) -> str:
        """See `Agent`. The first one, if the present one has vanished."""
        return self._cwd if Path(self._cwd).is_dir() else self._origin

    async def record(self, draft: Draft | None) -> int:
        """Record an event and tell it. Returns its number, -1 for a draft that is none."""
        event = self.journal.note(draft)
        if event is None:
            return -1
        seq = len(self.journal.events) - 1
        await self.host.tell_event(self.session_id, event)
        return seq

    # messages

    async def enqueue(self, content: list[Any]) -> str:
        """See `Agent`."""
        ident = new_id()
        async with self.receiving(self.journal.scribe.user(ident, content), by_user=True):
            return ident

    @asynccontextmanager
    async def receiving(self, message: Any, *, by_user: bool = False) -> AsyncGenerator[None]:
        """Queue a message. Inside, its receipt was told, and so was the opening of its turn if the agent was idle."""
        start = None
        try:
            await self._queue("next-turn", _Queued(message, by_user))
        finally:
            start = self._wake()
        try:
            if start is not None:
                await start.opened.wait()
            yield
        finally:
            if start is not None:
                start.go.set()

    async def change_directory(self, path: str) -> str:
        """See `Agent`."""
        cwd = resolve_path(self._cwd, path)
        if not Path(cwd).is_dir():
            raise FileNotFoundError(f'working-directory: directory does not exist: "{path}"')
        self._cwd = cwd
        await self.record(self.journal.scribe.directory(cwd))
        message = self.journal.scribe.moved(new_id(), cwd)
        if message is not None:
            await self._queue("next-step", _Queued(message, by_user=False))
        return cwd

    async def take(self, target: Target, count: int) -> list[Any]:
        """Take the oldest messages out of the inbox."""
        taken = self._inbox[target][:count]
        del self._inbox[target][:count]
        if taken:
            await self.record(self.journal.scribe.inbox(target, 0, removed=len(taken)))
        return [queued.message for queued in taken]

    async def take_steering(self) -> list[Any]:
        """Take what waits for the next step."""
        return await self.take("next-step", len(self._inbox["next-step"]))

    async def _queue(self, target: Target, queued: _Queued) -> None:
        if self.disposed:
            raise self._ended()
        queue = self._inbox[target]
        queue.append(queued)
        await self.record(self.journal.scribe.inbox(target, len(queue) - 1, inserted=(queued.message,)))

    # work

    def _wake(self) -> _Start | None:
        """Begin to work if there is something to do and nobody does; then what begins."""
        if self._running or self.disposed or not self._inbox["next-turn"]:
            return None
        self._running = True
        self._resting.clear()
        start = _Start()
        self._spawn(self._work(start))
        return start

    async def _work(self, start: _Start) -> None:
        """From running to idle (rule S113)."""
        try:
            await self.host.tell_status(self.session_id, "running")
            while self._inbox["next-turn"]:
                turn = await self._open_turn()
                start.opened.set()
                await start.go.wait()
                await turn.run()
                self.failure = None
        except Exception as error:  # noqa: BLE001 - kept for whoever waits (rule S84)
            _log.exception("an agent failed")
            self.failure = error
        finally:
            start.opened.set()
        self._running = False
        await self.host.tell_status(self.session_id, "idle")
        if not self._running:
            self._resting.set()

    async def _open_turn(self) -> Turn:
        queued = self._inbox["next-turn"][0]
        number = self.journal.open_turn()
        await self.record(self.journal.scribe.turn_start(number, queued.message, by_user=queued.by_user))
        steering = await self.take_steering()
        turn = self.last_turn = Turn(self, number, [*steering, *await self.take("next-turn", 1)])
        return turn

    async def when_idle(self) -> None:
        """See `Agent`."""
        await self._resting.wait()
        if self.disposed:
            raise self._ended()

    async def when_settled(self) -> None:
        """See `Agent`."""
        while True:
            await self.when_idle()
            if not (runs := [run for run in self._runs if not run.done()]):
                return
            await asyncio.wait(runs)

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # children

    async def start_child(self, prompt: str) -> str:
        """Let a child work on that, in the background. Returns its id."""
        child = await self.host.make_child(self)
        run = SubagentRun("spawn", child.session_id, self.session_id, local=True)
        message = child.journal.scribe.task(new_id(), prompt, self.session_id)
        async with child.receiving(message, by_user=True):
            await self.record(self.journal.scribe.catalog(child.session_id))
        task = self._spawn(self._follow(run, child))
        self._runs[task] = child
        task.add_done_callback(lambda done: self._runs.pop(done, None))
        return child.session_id

    async def _follow(self, run: SubagentRun, child: EmbeddedAgent) -> None:
        """Wait for the end of a run, tell this agent, which wakes it, and then the world (rules S150, S151)."""
        with suppress(RuntimeError):  # disposed of by somebody else: ended as well
            await child.when_settled()
        end = child.run_end()
        summary = f"Subagent {run.child_id} has ended: {end.stop_reason}."
        async with self.receiving(self.journal.scribe.settled(new_id(), summary, run.child_id)):
            await self.host.tell_run(run, end)
        await child.dispose()

    def run_end(self) -> RunEnd:
        """How its work ended."""
        said = [message["content"] for message in self.journal.messages if message["role"] == "assistant"]
        last = next((content for content in reversed(said) if content), None)
        turn = self.last_turn
        return RunEnd("aborted", last) if turn is None else RunEnd(turn.outcome.kind, last, turn.answer.text)

    # the end

    async def drain(self) -> None:
        """See `Agent`."""
        children = list(self._runs.values())
        await self._cancel(list(self._runs))
        await asyncio.gather(*(child.dispose() for child in children))

    async def dispose(self) -> None:
        """See `Agent`."""
        if self.disposed:
            return
        self.disposed = True
        self._resting.set()
        await self.drain()
        await self._cancel(list(self._tasks))
        if self.journal.turn_is_open:  # but no step of it had begun
            await self.host.tell_event(self.session_id, self.journal.close_turn(Outcome("aborted")))
        self.host.forget(self)
        if not self.session_id and self.host.compresses_logs:
            raise ValueError(NO_LOG_NAME)

    async def _cancel(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _ended(self) -> Exception:
        return RuntimeError(f"session agent was disposed outside the server: {self.session_id}")


NO_LOG_NAME: Final = "cannot encode an empty path segment"
"""Why a session with an empty id can't be logged (rule S62)."""
