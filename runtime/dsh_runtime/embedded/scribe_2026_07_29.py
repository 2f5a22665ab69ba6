"""The events of a session, as revision 2026-07-29 writes them.

It has no inbox, no `system/message`, no `request/context`; a turn says what started it, and an answer is told chunk by chunk.
"""

# ruff: noqa: ARG002 - one interface for all revisions: some have no use for some arguments
from __future__ import annotations

from typing import Any, ClassVar

from ..server import Finish, ModelError, ModelInfo, Route, Usage
from .answer import Answer, Block, BlockDelta, BlockEnd, BlockStart, Chunk
from .scribe import SURFACE, Draft, Outcome, Scribe, Target, text_block, with_defaults


class OlderScribe(Scribe):
    """Revision 2026-07-29."""

    revision: ClassVar[str] = "2026-07-29"
    names_default_cap: ClassVar[bool] = False

    def task(self, ident: str, prompt: str, sender: str) -> Any:
        """From the agent `sender`, whom a source can't name."""
        return self.message(ident, [text_block(prompt)], self.types.PluginMessageSource(plugin="subagent"))

    def settled(self, ident: str, summary: str, child: str) -> Any:
        """From a child, whom a source can't name."""
        return self.message(ident, [text_block(summary)], self.types.PluginMessageSource(plugin="subagent"))

    def opening(self) -> list[Draft]:
        """Nothing."""
        return []

    def descriptor(self) -> Draft | None:
        """Nothing."""
        return None

    def inbox(self, target: Target, start: int, *, removed: int = 0, inserted: tuple[Any, ...] = ()) -> Draft | None:
        """Nothing (rule S180)."""
        return None

    def turn_start(self, turn: int, message: Any, *, by_user: bool) -> Draft:
        """A turn opens, started by a message or by an injected one (rule S178)."""
        trigger = self.types.SourcedTurnTrigger(kind="message" if by_user else "injection", source=message.source)
        return Draft(self.types.TurnStartEvent, self.types.TurnStartData(turn=turn, trigger=trigger))

    def system_message(self, turn: int, step: int, ident: str) -> Draft | None:
        """Nothing: the system text would stand in the header."""
        return None

    def request_header(self, route: Route, info: ModelInfo, reason: str) -> Draft:
        """How the model will be asked; no cap unless the client named one (rule S32)."""
        route, _, _ = with_defaults(route, info, cap=False)
        header = self.types.EpochHeader(config=self.config(route))
        return Draft(self.types.RequestHeaderEvent, self.types.RequestHeaderData(header=header, reason=reason))

    def request_context(self, route: Route, info: ModelInfo) -> Draft | None:
        """Nothing."""
        return None

    def chunk(self, turn: int, step: int, chunk: Chunk) -> Draft | None:
        """A piece of an answer, as it comes (rule S111)."""
        data = self.types.AssistantChunkData(turn=turn, step=step, chunk=self._chunk(chunk))
        return Draft(self.types.AssistantChunkEvent, data)

    def assistant_message(
        self, turn: int, step: int, answer: Answer, route: Route, ident: str, chunks: list[int], *, interrupted: bool = False
    ) -> Draft:
        """The whole answer, made of the events `chunks`. It can't say that it was interrupted."""
        message = self.answer_message(answer, route, ident)
        usage = answer.usage and self.usage(answer.usage)
        data = self.types.AssistantMessageData(turn=turn, step=step, message=message, usage=usage)
        return Draft(self.types.AssistantMessageEvent, data, {**SURFACE, "source_event_seqs": chunks}, message)

    def attempt(self, turn: int, step: int, answer: Answer) -> Draft | None:
        """Nothing: its chunks were told."""
        return None

    def catalog(self, child: str) -> Draft | None:
        """Nothing."""
        return None

    def turn_end(self, turn: int, step: int, outcome: Outcome) -> Draft:
        """A turn closes."""
        types = self.types
        match outcome:
            case Outcome("error", ModelError() as failure):
                reason = types.ErrorTurnEndReason(step=step, failure=self.failure(failure))
            case Outcome("aborted"):
                reason = types.PlainTurnEndReason(kind="disposed")
            case _:
                reason = types.PlainTurnEndReason(kind=outcome.kind)
        return Draft(types.TurnEndEvent, types.TurnEndData(turn=turn, reason=reason))

    def usage(self, usage: Usage) -> Any:
        """A token usage; it has no total."""
        return self.types.TokenUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)

    def _chunk(self, chunk: Chunk) -> Any:
        types = self.types
        match chunk:
            case BlockStart(block):
                return types.BlockStartChunk(index=block.index, block_type=block.kind)
            case BlockDelta(Block(kind="text") as block, text):
                return types.TextDeltaChunk(index=block.index, text=text)
            case BlockDelta(Block(kind="reasoning") as block, text):
                return types.ReasoningDeltaChunk(index=block.index, text=text)
            case BlockDelta(block, text):
                return types.ToolCallDeltaChunk(index=block.index, id=block.id, name=block.name, arguments_delta=text)
            case BlockEnd(block):
                return types.BlockEndChunk(index=block.index, block=self.block(block))
            case Usage():
                return types.UsageChunk(usage=self.usage(chunk))
            case Finish(kind):
                return types.FinishChunk(reason=types.PlainFinishReason(kind=kind))
            case ModelError():
                return types.FinishChunk(reason=types.FailedFinishReason(kind="error", failure=self.failure(chunk)))
