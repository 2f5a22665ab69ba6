"""What a model has said in one step, collected piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ..server import Finish, ModelError, Piece, Reasoning, Text, ToolCall, Usage


@dataclass(slots=True)
class Block:
    """Consecutive pieces of one kind (`text`, `reasoning`), or a tool call with its arguments. Times are Unix milliseconds."""

    kind: str
    index: int
    started: int
    ended: int = 0
    id: str = ""
    name: str = ""
    times: list[int] = field(default_factory=list[int])
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        """All of it; of a tool call, the arguments as JSON text."""
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class BlockStart:
    """A block begins."""

    block: Block


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """A block goes on."""

    block: Block
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """A block is complete."""

    block: Block


Chunk: TypeAlias = BlockStart | BlockDelta | BlockEnd | Usage | Finish | ModelError


class Answer:
    """The answer so far. `finish` is its reason to stop, `failure` what kept it from one, `at` when the newest piece came."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.usage: Usage | None = None
        self.finish: str | None = None
        self.failure: ModelError | None = None
        self.at = 0

    @property
    def tool_calls(self) -> list[Block]:
        """The tool calls in it."""
        return [block for block in self.blocks if block.kind == "tool-call"]

    @property
    def text(self) -> str:
        """What the model said aloud."""
        return "".join(block.text for block in self.blocks if block.kind == "text")

    def add(self, piece: Piece, now: int) -> list[Chunk]:
        """Take a piece. Returns the chunks that it stands for."""
        self.at = now
        match piece:
            case Text(text):
                return [*self._open("text"), self._extend(text)]
            case Reasoning(text):
                return [*self._open("reasoning"), self._extend(text)]
            case ToolCall(ident, name, arguments):
                return [*self._open("tool-call", ident, name), self._extend(arguments)]
            case Usage():
                self.usage = piece
            case Finish(kind):
                self.finish = kind
        return [*self._close(), piece]

    def fail(self, failure: ModelError, now: int) -> list[Chunk]:
        """There will be no more. Returns chunks like `add`."""
        self.at = now
        self.failure = failure
        return [*self._close(), failure]

    def _open(self, kind: str, ident: str = "", name: str = "") -> list[Chunk]:
        if kind != "tool-call" and self.blocks and self.blocks[-1].kind == kind and not self.blocks[-1].ended:
            return []
        closed = self._close()
        self.blocks.append(Block(kind, len(self.blocks), self.at, id=ident, name=name))
        return [*closed, BlockStart(self.blocks[-1])]

    def _extend(self, text: str) -> Chunk:
        self.blocks[-1].times.append(self.at)
        self.blocks[-1].pieces.append(text)
        return BlockDelta(self.blocks[-1], text)

    def _close(self) -> list[Chunk]:
        if not self.blocks or self.blocks[-1].ended:
            return []
        self.blocks[-1].ended = self.at
        return [BlockEnd(self.blocks[-1])]
