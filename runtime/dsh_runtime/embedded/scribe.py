"""The events of a session, as revisions 0.1.5 and 0.2.1 write them, from the generated classes of that revision.

A scribe knows how things are written; what happens, and when, is the business of `agent` and `turn`. It hands out `Draft`s,
which are numbered and dated when they are recorded; None where a revision has no event for what happened.
"""

# ruff: noqa: ARG002 - one interface for all revisions: some have no use for some arguments
from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal

from dsh_protocol import encode, revision

from ..server import ModelError, ModelInfo, Route, Usage
from .answer import Answer, Block, Chunk

Target = Literal["next-turn", "next-step"]
TITLE_WORDS: Final = 5


def now() -> int:
    """Unix time in milliseconds (rule S96)."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why a turn ended: `completed`, `max-tokens`, `error` with its failure, or `aborted`, since the agent was disposed of."""

    kind: str
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An event without number and date. `message` is set if the event puts one into the history."""

    event: Any
    data: Any
    members: dict[str, Any] = field(default_factory=dict[str, Any])
    message: Any = None

    def stamp(self, seq: int) -> Any:
        """The event."""
        return self.event(seq=seq, time=now(), data=self.data, **self.members)


class Scribe:
    """Revision 0.1.5."""

    revision: ClassVar[str] = "0.1.5"
    names_default_cap: ClassVar[bool] = True
    """Whether a cap that the adapter chose is sent, too (rules S31, S32)."""

    def __init__(self) -> None:
        self.types: Any = revision(self.revision)  # the generated classes

    # messages of role user, by origin

    def user(self, ident: str, content: list[Any]) -> Any:
        """From the client (rule S49)."""
        return self.message(ident, content, self.types.UserMessageSource())

    def task(self, ident: str, prompt: str, sender: str) -> Any:
        """From the agent `sender` to its child."""
        return self.message(ident, [text_block(prompt)], self.types.AgentMessageSource(sender_session_id=sender))

    def settled(self, ident: str, summary: str, child: str) -> Any:
        """From a child to its parent: its run has ended (rule S150)."""
        source = self.types.SubagentSettledMessageSource(summary=summary, sender_session_id=child)
        return self.message(ident, [text_block(summary)], source)

    def moved(self, ident: str, cwd: str) -> Any | None:
        """The agent works elsewhere now; None if a revision can't say so."""
        return None

    def message(self, ident: str, content: list[Any], source: Any) -> Any:
        """A message of role user; blocks are verbatim."""
        return self.types.UserMessage(id=ident, content=content, source=source)

    # events, in about the order of their appearance

    def opening(self) -> list[Draft]:
        """What a new session of the profile `sdk` records first (rule S119)."""
        types = self.types
        return [
            Draft(types.PermissionPresetEvent, types.PermissionPresetData(preset="workspace-write")),
            Draft(types.SandboxModeEvent, types.SandboxModeData(mode="workspace-write")),
            Draft(types.ApprovalPolicyEvent, types.ApprovalPolicyData(policy="never")),
        ]

    def descriptor(self) -> Draft | None:
        """What a child records first; it is never notified (rule S94)."""
        return Draft(self.types.SubagentDescriptorEvent, self.types.OneShotSubagentDescriptor(version=3, provider="spawn"))

    def inbox(self, target: Target, start: int, *, removed: int = 0, inserted: tuple[Any, ...] = ()) -> Draft | None:
        """Messages came into an inbox, or were taken out."""
        data = self.types.AgentInboxSplicedData(
            target=target, start=start, removed_count=removed or None, inserted=list(inserted)
        )
        return Draft(self.types.AgentInboxSplicedEvent, data)

    def directory(self, cwd: str) -> Draft | None:
        """The agent works elsewhere now."""
        return None

    def turn_start(self, turn: int, message: Any, *, by_user: bool) -> Draft:
        """A turn opens, for that message."""
        return Draft(self.types.TurnStartEvent, self.types.TurnStartData(turn=turn))

    def step_start(self, turn: int, step: int) -> Draft:
        """A step opens."""
        return Draft(self.types.StepStartEvent, self.types.StepStartData(turn=turn, step=step))

    def system_message(self, turn: int, step: int, ident: str) -> Draft | None:
        """The system text, which is empty here."""
        message = self.types.SystemMessage(id=ident, content=[], source=self.system_source())
        data = self.types.SystemMessageData(turn=turn, step=step, message=message)
        return Draft(self.types.SystemMessageEvent, data, SURFACE)

    def system_source(self) -> Any:
        """Whose system text it is."""
        return self.types.PluginMessageSource(plugin="dsh-runtime")

    def user_message(self, message: Any) -> Draft:
        """A message of role user becomes part of the history."""
        return Draft(self.types.UserMessageEvent, message, SURFACE, message)

    def request_header(self, route: Route, info: ModelInfo, reason: str) -> Draft:
        """How the model will be asked. There are no tools to name."""
        types = self.types
        route, effort, cap = with_defaults(route, info, cap=self.names_default_cap)
        defaults = types.AdapterDefaults(reasoning_effort=effort or None, max_tokens=cap or None) if effort or cap else None
        header = types.EpochHeader(config=self.config(route), adapter_defaults=defaults)
        return Draft(types.RequestHeaderEvent, types.RequestHeaderData(header=header, reason=reason))

    def request_context(self, route: Route, info: ModelInfo) -> Draft | None:
        """Which model, and how much it can hold."""
        data = self.types.RequestContextData(provider=route.provider, model=route.model, context_window=info.context_window)
        return Draft(self.types.RequestContextEvent, data)

    def title(self, text: str, seq: int) -> Draft | None:
        """A title for a session: the first words of the message in event `seq`."""
        title = " ".join(text.split()[:TITLE_WORDS])
        if not title:
            return None
        source = self.types.PlainTitleSource(kind="fallback")
        return Draft(self.types.SessionTitleEvent, self.types.SessionTitleData(title=title, message_seqs=[seq], source=source))

    def chunk(self, turn: int, step: int, chunk: Chunk) -> Draft | None:
        """A piece of an answer, as it comes; here it waits for the whole (rule S110)."""
        return None

    def assistant_message(
        self, turn: int, step: int, answer: Answer, route: Route, ident: str, chunks: list[int], *, interrupted: bool = False
    ) -> Draft:
        """The whole answer, its stream packed (rules S107, S110, S131)."""
        types = self.types
        message = self.answer_message(answer, route, ident)
        data = types.AssistantMessageData(
            turn=turn,
            step=step,
            message=message,
            stream=self.stream(answer),
            usage=answer.usage and self.usage(answer.usage),
            interrupted=interrupted or None,
        )
        return Draft(types.AssistantMessageEvent, data, SURFACE, message)

    def attempt(self, turn: int, step: int, answer: Answer) -> Draft | None:
        """A request that gave no message (rule S128)."""
        data = self.types.AssistantAttemptData(turn=turn, step=step, stream=self.stream(answer))
        return Draft(self.types.AssistantAttemptEvent, data)

    def tool_call(self, turn: int, step: int, call: Block) -> Draft:
        """The model wants a tool."""
        data = self.types.ToolCallData(turn=turn, step=step, call_id=call.id, name=call.name, arguments=call.text)
        return Draft(self.types.ToolCallEvent, data)

    def catalog(self, child: str) -> Draft | None:
        """The agent has a child."""
        data = self.types.OneShotSubagentCatalog(version=0, child_id=child, child_created_at=now())
        return Draft(self.types.SubagentCatalogEvent, data)

    def tool_result(self, turn: int, step: int, call: Block, text: str, ident: str, seq: int, *, failed: bool) -> Draft:
        """What the tool gave for the call in event `seq` (rules S108, S127, S133)."""
        message = self.tool_message(call.id, text, ident, failed=failed)
        error = self.types.ToolErrorIdentity(name="ToolError", code="FAILED") if failed else None
        data = self.types.ToolResultData(turn=turn, step=step, message=message, error=error)
        return Draft(self.types.ToolResultEvent, data, {**SURFACE, "source_event_seqs": [seq]}, message)

    def tool_message(self, call_id: str, text: str, ident: str, *, failed: bool) -> Any:
        """The message with a tool's result (rule S130)."""
        types = self.types
        block = types.ToolResultBlock(tool_call_id=call_id, content=[types.TextBlock(text=text)], is_error=failed)
        return types.ToolResultMessage(id=ident, content=[block], source=types.ToolMessageSource(call_id=call_id))

    def step_end(self, turn: int, step: int) -> Draft:
        """A step closes."""
        return Draft(self.types.StepEndEvent, self.types.StepEndData(turn=turn, step=step))

    def turn_end(self, turn: int, step: int, outcome: Outcome) -> Draft:
        """A turn closes (rule S126)."""
        types = self.types
        match outcome:
            case Outcome("error", ModelError() as failure):
                reason = types.ErrorTurnEndReason(error=self.failure(failure))
            case Outcome("aborted"):
                reason = types.AbortedTurnEndReason(reason=types.PlainTurnAbortCause(kind="disposed"))
            case _:
                reason = types.PlainTurnEndReason(kind=outcome.kind)
        return Draft(types.TurnEndEvent, types.TurnEndData(turn=turn, reason=reason))

    # parts

    def config(self, route: Route) -> Any:
        """The part of a header that is the route."""
        return self.types.LlmCallConfig(
            provider=route.provider, model=route.model, reasoning_effort=route.reasoning_effort, max_tokens=route.max_tokens
        )

    def answer_message(self, answer: Answer, route: Route, ident: str) -> Any:
        """The message of an answer."""
        return self.types.AssistantMessage(
            id=ident,
            content=[self.block(block) for block in answer.blocks],
            source=self.types.ModelMessageSource(provider=route.provider, model=route.model),
        )

    def block(self, block: Block) -> Any:
        """A content block."""
        match block.kind:
            case "tool-call":
                return self.types.ToolCallBlock(id=block.id, name=block.name, arguments=block.text)
            case "reasoning":
                return self.types.ReasoningBlock(text=block.text)
            case _:
                return self.types.TextBlock(text=block.text)

    def stream(self, answer: Answer) -> list[Any]:
        """The packed stream of an answer."""
        types = self.types
        records: list[Any] = []
        for block in answer.blocks:
            begin = types.BlockStartChunk(index=block.index, block_type=block.kind)
            records.append(types.ChunkRecord(time=block.started, chunk=begin))
            gaps = [later - earlier for earlier, later in pairwise(block.times)]
            packed = {"time0": block.times[0], "index": block.index, "dt": gaps}
            if block.kind == "tool-call":
                records.append(types.ToolCallChunksRecord(**packed, id=block.id, name=block.name, args=list(block.pieces)))
            else:
                records.append(types.TextChunksRecord(type=f"{block.kind}-chunks", **packed, texts=list(block.pieces)))
            if block.ended:
                end = types.BlockEndChunk(index=block.index, block=self.block(block))
                records.append(types.ChunkRecord(time=block.ended, chunk=end))
        if answer.usage is not None:
            records.append(types.ChunkRecord(time=answer.at, chunk=types.UsageChunk(usage=self.usage(answer.usage))))
        if answer.failure is not None:
            reason = types.FailedFinishReason(kind="error", failure=self.failure(answer.failure))
            records.append(types.ChunkRecord(time=answer.at, chunk=types.FinishChunk(reason=reason)))
        elif answer.finish is not None:
            reason = types.PlainFinishReason(kind=answer.finish)
            records.append(types.ChunkRecord(time=answer.at, chunk=types.FinishChunk(reason=reason)))
        return records

    def usage(self, usage: Usage) -> Any:
        """A token usage."""
        total = usage.input_tokens + usage.output_tokens
        return self.types.TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, total_tokens=total)

    def failure(self, failure: ModelError) -> Any:
        """A failure of the model."""
        return self.types.LlmFailure(message=str(failure), code=failure.code, status=failure.status)


class Scribe021(Scribe):
    """Revision 0.2.1: other sources, tool results of role tool, and working directories."""

    revision: ClassVar[str] = "0.2.1"

    def moved(self, ident: str, cwd: str) -> Any | None:
        """The agent works elsewhere now."""
        text = f"The working directory is now {cwd}."
        return self.message(ident, [text_block(text)], self.types.WorkingDirectoryMessageSource())

    def directory(self, cwd: str) -> Draft | None:
        """The agent works elsewhere now (rule S90)."""
        return Draft(self.types.WorkingDirectoryChangeEvent, self.types.WorkingDirectoryChangeData(cwd=cwd))

    def system_source(self) -> Any:
        """Whose system text it is."""
        return self.types.SystemPromptMessageSource()

    def tool_message(self, call_id: str, text: str, ident: str, *, failed: bool) -> Any:
        """The message with a tool's result (rule S129)."""
        types = self.types
        return types.ToolResultMessage(
            id=ident,
            tool_call_id=call_id,
            content=[types.TextBlock(text=text)],
            source=types.ToolMessageSource(call_id=call_id),
            is_error=failed,
        )


SURFACE: Final[dict[str, Any]] = {"surface_op": "append"}


def text_block(text: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": text}


def first_text(message: Any) -> str:
    """The text of the first text block of a message; empty if there is none."""
    for block in encode(message)["content"]:
        match block:
            case {"type": "text", "text": str(text)}:
                return text
            case _:
                pass
    return ""


def with_defaults(route: Route, info: ModelInfo, *, cap: bool) -> tuple[Route, bool, bool]:
    """The route with nothing left open, and whether the effort and the cap are the adapter's defaults."""
    default_effort = route.reasoning_effort is None and info.default_effort is not None
    default_cap = cap and route.max_tokens is None and info.default_max_tokens is not None
    effort = info.default_effort if default_effort else route.reasoning_effort
    max_tokens = info.default_max_tokens if default_cap else route.max_tokens
    return Route(route.provider, route.model, effort, max_tokens), default_effort, default_cap
