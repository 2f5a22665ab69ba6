"""The embedded host and its echo: every directive, in every revision, told as the protocol says."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import REVISIONS, Adapters, ModelRequest, Piece, Text, ToolCall
from tests.runtime.server.peer import GatedAdapter, Peer, asynchronous, findings

DIRECTIVES: dict[str, tuple[str, str]] = {
    "hello  big\nworld ": ("hello  big\nworld ", "completed"),
    "echo:reason because": ("because", "completed"),
    "echo:tool abc": ("I use a tool.|The tool gave: abc", "completed"),
    "echo:tool-error abc": ("I use a tool.|The tool gave: abc", "completed"),
    "echo:max-tokens cut off": ("cut off", "max-tokens"),
    "echo:fail AUTH no": ("", "error"),
    "echo:break RATE no": ("", "error"),
    "echo:slow 0 echo:tool later": ("I use a tool.|The tool gave: later", "completed"),
    "echo:unknown x": ("x", "completed"),
    "": ("", "completed"),
}


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_directive_in_every_revision(revision: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision=revision) as peer:
            await peer.initialize()
            for number, (text, (said, reason)) in enumerate(DIRECTIVES.items()):
                session = f"s{number}"
                await peer.prompt(text, session=session)
                await peer.until(lambda session=session: peer.events(session, "turn/end"))  # type: ignore[misc]
                assert _said(peer.events(session, "assistant/message")) == said
                assert peer.events(session, "turn/end")[0]["data"]["reason"]["kind"] == reason
            assert not findings(peer.rows, revision)

    scenario()


def _said(messages: list[dict[str, Any]]) -> str:
    blocks = [message["data"]["message"]["content"] for message in messages]
    return "|".join("".join(block["text"] for block in content if block["type"] == "text") for content in blocks)


@asynchronous
async def test_s131_the_stream_is_packed() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("echo:reason a b c")
        (message,) = peer.events(kind="assistant/message")
        kinds = [record.get("chunk", record)["type"] for record in message["data"]["stream"]]
        block = ["block-start", "text-chunks", "block-end"]
        assert kinds == ["block-start", "reasoning-chunks", "block-end", *block, "usage", "finish"]
        for record in message["data"]["stream"]:
            if "texts" in record:
                assert len(record["dt"]) == len(record["texts"]) - 1


@asynchronous
async def test_s128_a_request_that_fails_half_way() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("echo:break RATE half of it")
        (attempt,) = peer.events(kind="assistant/attempt")
        kinds = [record.get("chunk", record)["type"] for record in attempt["data"]["stream"]]
        assert kinds == ["block-start", "text-chunks", "block-end", "finish"]
        assert peer.events(kind="turn/end")[0]["data"]["reason"]["error"] == {"message": "half of it", "code": "RATE"}


@asynchronous
async def test_s127_s130_a_tool_that_fails_does_not_fail_the_turn() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("echo:tool-error no")
        (call,), (result,) = peer.events(kind="tool/call"), peer.events(kind="tool/result")
        (block,) = result["data"]["message"]["content"]
        assert block["isError"] is True
        assert block["toolCallId"] == result["data"]["message"]["source"]["callId"] == call["data"]["callId"]
        assert result["sourceEventSeqs"] == [call["seq"]]  # S108
        assert result["data"]["error"] == {"name": "ToolError", "code": "FAILED"}


@pytest.mark.parametrize("arguments", ["{}", "[", '{"prompt": 1}'])
def test_a_tool_call_that_makes_no_sense(arguments: str) -> None:
    class Confused(GatedAdapter):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
            if len(request.messages) == 1:
                yield ToolCall("c", "subagent", arguments)
            async for piece in super().stream(request):
                yield piece

    @asynchronous
    async def scenario() -> None:
        model = Confused()
        model.gate.set()
        async with Peer(EmbeddedHost(adapters=Adapters(model))) as peer:
            await peer.initialize()
            await peer.run("hi")
            (result,) = peer.events(kind="tool/result")
            assert result["data"]["message"]["content"][0]["isError"] is True

    scenario()


def test_a_model_that_breaks_is_a_failure_of_the_turn() -> None:
    class Broken(GatedAdapter):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
            yield Text(str(1 // len(request.tools)))

    @asynchronous
    async def scenario() -> None:
        async with Peer(EmbeddedHost(adapters=Adapters(Broken()))) as peer:
            await peer.initialize()
            await peer.run("hi")
            error = peer.events(kind="turn/end")[0]["data"]["reason"]["error"]
            assert error == {"message": "integer division or modulo by zero", "code": "UNKNOWN"}

    scenario()


def test_a_turn_that_does_not_end_is_ended() -> None:
    class Tireless(GatedAdapter):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
            yield ToolCall(f"c{len(request.messages)}", "echo", '{"text": "again"}')

    @asynchronous
    async def scenario() -> None:
        async with Peer(EmbeddedHost(adapters=Adapters(Tireless()))) as peer:
            await peer.initialize()
            await peer.run("hi")
            assert peer.events(kind="turn/end")[0]["data"]["reason"]["error"]["code"] == "UNKNOWN"
            assert len(peer.events(kind="step/start")) == 32

    scenario()


@asynchronous
async def test_a_child_that_somebody_disposed_of_has_ended_too() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.prompt("echo:child echo:hang so far")
        await peer.until(lambda: peer.notified("subagent.started"))
        child = peer.notified("subagent.started")[0]["params"]["childSessionId"]
        await peer.until(lambda: peer.events(child, "session/title"))
        while peer.host.agents[child].last_turn.answer.text != "so far":
            await peer.refusal("nothing")
        await peer.host.agents[child].dispose()
        await peer.until(lambda: peer.notified("subagent.finished"))
        finished = peer.notified("subagent.finished")[0]["params"]
        assert (finished["status"], finished["stopReason"]) == ("error", "aborted")
        assert finished["lastAssistantMessage"] == [{"type": "text", "text": "so far"}]
        assert peer.events(child, "turn/end")[0]["data"]["reason"]["kind"] == "aborted"
        assert not findings(peer.notifications(), "0.1.5")
