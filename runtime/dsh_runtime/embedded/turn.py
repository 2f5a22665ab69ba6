"""A turn: steps of one model request each, with the tools it asks for in between."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from ..server import ModelError, ModelRequest
from ..server.adapters import no_adapter
from .answer import Answer, Block, Chunk
from .scribe import Draft, Outcome, first_text, now, with_defaults

if TYPE_CHECKING:
    from .agent import EmbeddedAgent

MAX_STEPS: Final = 32


class Turn:
    """One turn of an agent, begun with some messages. `outcome` and `answer` tell how far it has come."""

    def __init__(self, agent: EmbeddedAgent, number: int, messages: list[Any]) -> None:
        self.agent = agent
        self.number = number
        self.outcome = Outcome("aborted")
        self.answer = Answer()
        self._messages = messages
        self._scribe = agent.journal.scribe
        self._chunks: list[int] = []
        self._title: tuple[str, int] | None = None
        self._open_step: int | None = None

    async def run(self) -> None:
        """From the first step to the end of the turn, whatever happens. If it is cancelled, the end is recorded too."""
        try:
            if self.agent.session_id or not self.agent.host.compresses_logs:
                self.outcome = await self._steps()
            else:
                from .agent import NO_LOG_NAME

                self.outcome = Outcome("error", ModelError(NO_LOG_NAME, "UNKNOWN"))
        except asyncio.CancelledError:
            await self._abort()
            raise
        await self._end()

    async def _steps(self) -> Outcome:
        for step in range(1, MAX_STEPS + 1):
            self.agent.journal.step = step
            self._open_step = step
            await self._record(self._scribe.step_start(self.number, step))
            outcome = await self._step(step)
            self._open_step = None
            await self._record(self._scribe.step_end(self.number, step))
            if outcome is not None:
                return outcome
            self._messages = await self.agent.take_steering()
        return Outcome("error", ModelError(f"the turn has not ended after {MAX_STEPS} steps", "UNKNOWN"))

    async def _step(self, step: int) -> Outcome | None:
        """None if another step has to follow."""
        await self._write_messages(step)
        self.answer = Answer()
        self._chunks = []
        try:
            request = await self._prepare()
            await self._ask(request, step)
        except ModelError as failure:
            await self._write_chunks(step, self.answer.fail(failure, now()))
            await self._record(self._scribe.attempt(self.number, step, self.answer))
            return Outcome("error", failure)
        await self._write_answer(step)
        for call in self.answer.tool_calls:
            await self._use_tool(step, call)
        if self.answer.finish == "max-tokens":
            return Outcome("max-tokens")
        return None if self.answer.tool_calls else Outcome("completed")

    async def _write_messages(self, step: int) -> None:
        journal = self.agent.journal
        first = not journal.messages and step == 1
        if first:
            await self._record(self._scribe.system_message(self.number, step, self.agent.host.new_id()))
        titled = None
        for message in self._messages:
            seq = await self._record(self._scribe.user_message(message))
            titled = titled or (first_text(message), seq)
        self._title = titled if first else None

    async def _prepare(self) -> ModelRequest:
        """Find out who is asked and how; tell it if it is new. Raises `ModelError` if nobody answers."""
        agent, route = self.agent, self.agent.route
        adapter = agent.host.adapters.owner(route.provider)
        info = await adapter.describe(route.model) if adapter else None
        if adapter is None or info is None:
            raise ModelError(str(no_adapter(route.provider)), "UNKNOWN")
        if agent.told_route != route:
            agent.told_route = route
            await self._record(self._scribe.request_header(route, info, agent.header_reason))
            await self._record(self._scribe.request_context(route, info))
        if self._title is not None:
            await self._record(self._scribe.title(*self._title))
        return ModelRequest(with_defaults(route, info, cap=self._scribe.names_default_cap)[0], list(agent.journal.messages))

    async def _ask(self, request: ModelRequest, step: int) -> None:
        adapter = self.agent.host.adapters.owner(request.route.provider)
        assert adapter is not None
        try:
            async with aclosing(adapter.stream(request)) as pieces:
                async for piece in pieces:
                    await self._write_chunks(step, self.answer.add(piece, now()))
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(str(error) or type(error).__name__, "UNKNOWN") from error

    async def _write_chunks(self, step: int, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            draft = self._scribe.chunk(self.number, step, chunk)
            if draft is not None:
                self._chunks.append(await self._record(draft))

    async def _write_answer(self, step: int, *, interrupted: bool = False) -> None:
        draft = self._scribe.assistant_message(
            self.number, step, self.answer, self.agent.route, self.agent.host.new_id(), self._chunks, interrupted=interrupted
        )
        await self._record(draft)

    async def _use_tool(self, step: int, call: Block) -> None:
        seq = await self._record(self._scribe.tool_call(self.number, step, call))
        try:
            text, failed = await self._run_tool(call.name, json.loads(call.text)), False
        except Exception as error:  # noqa: BLE001 - a failing tool does not fail the turn (rule S127)
            text, failed = str(error), True
        ident = self.agent.host.new_id()
        await self._record(self._scribe.tool_result(self.number, step, call, text, ident, seq, failed=failed))

    async def _run_tool(self, name: str, arguments: Any) -> str:
        match name, arguments:
            case "subagent", {"prompt": str(prompt)}:
                return f"started subagent {await self.agent.start_child(prompt)}"
            case "echo", {"text": str(text)}:
                return text
            case "fail", {"text": str(text)}:
                raise RuntimeError(text)
            case _:
                raise LookupError(f"no tool {name} with these arguments")

    async def _abort(self) -> None:
        """Rules S122, S167."""
        if self.answer.blocks and self.answer.finish is None:
            await self._write_answer(self.agent.journal.step, interrupted=True)
        if self._open_step is not None:
            await self._record(self._scribe.step_end(self.number, self._open_step))
        self.outcome = Outcome("aborted")
        await self._end()

    async def _end(self) -> None:
        await self.agent.host.tell_event(self.agent.session_id, self.agent.journal.close_turn(self.outcome))

    async def _record(self, draft: Draft | None) -> int:
        return await self.agent.record(draft)
