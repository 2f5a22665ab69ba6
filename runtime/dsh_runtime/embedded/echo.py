"""`EchoAdapter`: an offline model that answers with the user's text, or does what a directive at the start of the text says.

    <text>                      answers <text>
    echo:reason <text>          thinks, then answers
    echo:tool <text>            calls a tool that gives <text> back
    echo:tool-error <text>      calls a tool that fails with <text>
    echo:child <text>           starts a child in the background, with <text> as its prompt; the end of the child, which may be
                                after the parent went idle, wakes the parent
    echo:max-tokens <text>      answers <text> and says that the output limit was hit
    echo:fail <code> <text>     fails with that code and <text>
    echo:break <code> <text>    answers <text>, then fails with that code
    echo:slow <ms> <text>       waits that long, then does what <text> says
    echo:hang <text>            answers <text> and never ends
    echo:print <text>           writes <text> to standard output in every way a process can, then answers it

<text> may begin with a directive where it is a prompt of its own (child, slow). A token is a word; an output cap counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any, Final

from ..server import Finish, ModelError, ModelInfo, ModelRequest, Piece, Reasoning, Text, ToolCall, Usage

PREFIX: Final = "echo:"
_TOOLS: Final = {"tool": ("echo", "text"), "tool-error": ("fail", "text"), "child": ("subagent", "prompt")}


class EchoAdapter:
    """Implements `dsh_runtime.server.Adapter`. Every non-empty model id is a model."""

    def __init__(self, provider: str = "echo") -> None:
        self.provider = provider
        self.requests: list[ModelRequest] = []

    async def describe(self, model: str) -> ModelInfo | None:
        """The same for every model."""
        del model
        return ModelInfo(("low", "high", "max"), default_effort="high", default_max_tokens=4096, context_window=128_000)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """See the module."""
        self.requests.append(request)
        message = request.messages[-1]
        result = _tool_result(message)
        async with aclosing(self._say(result) if result is not None else self._obey(_text(message))) as pieces:
            async for piece in self._capped(request, pieces):
                yield piece

    async def close(self) -> None:
        """There is nothing to give up."""

    async def _capped(self, request: ModelRequest, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
        """The answer up to the output cap, with its usage."""
        cap = request.route.max_tokens
        read = sum(len(_words(json.dumps(message.get("content")))) for message in request.messages)
        said = 0
        async for piece in pieces:
            if isinstance(piece, (Text, Reasoning)):
                if cap is not None and said >= cap:
                    piece = Finish("max-tokens")
                else:
                    said += 1
            if isinstance(piece, Finish):
                yield Usage(read, said)
                yield piece
                return
            yield piece

    async def _obey(self, text: str) -> AsyncGenerator[Piece, None]:
        name, rest = _directive(text)
        match name:
            case "reason":
                for word in _words(f"The user wants to read {rest!r}."):
                    yield Reasoning(word)
            case "tool" | "tool-error" | "child":
                tool, argument = _TOOLS[name]
                yield Text("I use a tool.")
                yield ToolCall(f"call_{uuid.uuid4().hex}", tool, json.dumps({argument: rest}, ensure_ascii=False))
                yield Finish("tool-calls")
                return
            case "fail":
                raise _failure(rest)
            case "slow":
                milliseconds, _, then = rest.partition(" ")
                await asyncio.sleep(int(milliseconds) / 1000)
                async for piece in self._obey(then):
                    yield piece
                return
            case "print":
                _write_to_standard_output(rest)
            case _:
                pass
        failure = _failure(rest) if name == "break" else None
        async for piece in self._say(str(failure) if failure else rest):
            if isinstance(piece, Finish):
                if failure:
                    raise failure
                if name == "hang":
                    await asyncio.get_running_loop().create_future()
                yield Finish("max-tokens") if name == "max-tokens" else piece
            else:
                yield piece

    async def _say(self, text: str) -> AsyncGenerator[Piece, None]:
        for word in _words(text):
            yield Text(word)
        yield Finish("stop")


def _directive(text: str) -> tuple[str, str]:
    """The name of a directive and what follows it; without one, no name and the whole text."""
    if not text.startswith(PREFIX):
        return "", text
    name, _, rest = text.removeprefix(PREFIX).partition(" ")
    return name, rest


def _failure(rest: str) -> ModelError:
    code, _, message = rest.partition(" ")
    return ModelError(message or "the echo failed as it was told", code or "UNKNOWN")


def _words(text: str) -> list[str]:
    """The pieces of an answer; joined they are the text again."""
    return re.findall(r"\s*\S+\s*|\s+", text)


def _text(message: dict[str, Any]) -> str:
    """What a message says. Raises `ModelError` for a block that can't be said (rule S55)."""
    return "".join(_spoken(message["content"]))


def _spoken(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        match block:
            case {"type": "text" | "reasoning", "text": str(text)}:
                yield text
            case {"type": "image", "attachment": {"width": width, "height": height}}:
                yield f"[an image of {width} by {height} pixels]"
            case {"type": "file", "attachment": {"name": name}}:
                yield f"[the file {name}]"
            case {"type": kind}:
                raise ModelError(f"the echo can't say such a block of type {kind}", "UNSUPPORTED_CONTENT")
            case _:
                raise ModelError("the echo can't say a block without a type", "UNSUPPORTED_CONTENT")


def _tool_result(message: dict[str, Any]) -> str | None:
    """What a tool gave, if the message is that; revisions differ in where it stands."""
    match message:
        case {"role": "tool", "content": content} | {"content": [{"type": "tool-result", "content": content}]}:
            return "The tool gave: " + "".join(_spoken(content))
        case _:
            return None


def _write_to_standard_output(text: str) -> None:
    """By Python, by a system call, and by a child process."""
    print(text, flush=True)  # noqa: T201
    os.write(1, f"{text}\n".encode())
    subprocess.run([sys.executable, "-c", f"print({text!r})"], check=True)
