"""What the client is told without asking: everything, in order, and the ends of local runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import RunEnd, SubagentRun
from dsh_runtime.server.forwarding import run_status
from tests.runtime.server.peer import Peer, asynchronous, findings

CHILD = SubagentRun("spawn", "c", "p", local=True)


class OpenHost(EmbeddedHost):
    """A host whose listeners a test may call."""


async def told(peer: Peer, run: SubagentRun, end: RunEnd) -> list[dict[str, Any]]:
    before = len(peer.notified("subagent.finished"))
    await peer.host.tell_run(run, end)
    return [frame["params"] for frame in peer.notified("subagent.finished")[before:]]


@pytest.mark.parametrize(
    ("reason", "plain", "lenient"),
    [
        ("completed", "ok", "ok"),
        ("max-tokens", "error", "ok"),
        ("aborted", "error", "error"),
        ("refusal", "error", "error"),
        ("whatever", "error", "error"),
        (None, "error", "error"),
    ],
)
def test_s152_s153_run_status(reason: str | None, plain: str, lenient: str) -> None:
    assert run_status(reason, max_tokens_as_success=False) == plain
    assert run_status(reason, max_tokens_as_success=True) == lenient


@asynchronous
async def test_s144_s148_a_local_run_is_told_with_all_its_members() -> None:
    async with Peer() as peer:
        content = [{"type": "text", "text": "done"}]
        assert await told(peer, CHILD, RunEnd("completed", content)) == [
            {
                "provider": "spawn",
                "agentId": "c",
                "parentSessionId": "p",
                "childSessionId": "c",
                "status": "ok",
                "stopReason": "completed",
                "lastAssistantMessage": content,
            }
        ]
        assert not findings(peer.rows, "0.1.5")


@asynchronous
async def test_s149_the_last_message_is_text_or_absent() -> None:
    async with Peer() as peer:
        (end,) = await told(peer, CHILD, RunEnd("aborted", None, "so far"))
        assert end["lastAssistantMessage"] == [{"type": "text", "text": "so far"}]
        (end,) = await told(peer, CHILD, RunEnd("aborted", [], "so far"))
        assert end["lastAssistantMessage"] == [{"type": "text", "text": "so far"}]
        (end,) = await told(peer, CHILD, RunEnd("error", []))
        assert "lastAssistantMessage" not in end


@asynchronous
async def test_s145_nothing_but_the_mark_makes_a_run_local() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.prompt("echo:child hi")
        await peer.until(lambda: peer.notified("subagent.finished"))
        child = peer.notified("subagent.finished")[0]["params"]["childSessionId"]
        assert await told(peer, SubagentRun("spawn", child, "s", local=False), RunEnd("completed")) == []
        assert await told(peer, SubagentRun("spawn", "s", "s", local=False), RunEnd("completed")) == []  # a live agent's id


@asynchronous
async def test_s146_a_missed_start_does_not_matter_and_each_run_is_judged_by_its_own_mark() -> None:
    async with Peer() as peer:
        for local in (True, False, True, True):
            run = SubagentRun("fork", "continued", "p", local=local)
            assert len(await told(peer, run, RunEnd("completed"))) == local  # S144: once per run
        assert not peer.notified("subagent.started")


@asynchronous
async def test_s147_equal_ids_under_two_parents_in_any_order() -> None:
    async with Peer() as peer:
        first, second = (SubagentRun("spawn", "same", parent, local=True) for parent in ("p", "q"))
        ends = [*await told(peer, second, RunEnd("error")), *await told(peer, first, RunEnd("completed"))]
        assert [(end["parentSessionId"], end["status"]) for end in ends] == [("q", "error"), ("p", "ok")]


@asynchronous
async def test_s92_sessions_that_others_made_are_told_too() -> None:
    async with Peer() as peer:
        await peer.host.tell_event("foreign", {"type": "plugin/made", "seq": 7, "time": 1, "data": {"x": [None]}, "odd": 1})
        await peer.host.tell_status("foreign", "running")
        await peer.host.tell_created("root", None)
        assert peer.told[0]["params"]["event"]["odd"] == 1
        assert peer.story() == ["plugin/made", "running"]


@asynchronous
async def test_s143_s150_s151_the_story_of_a_child() -> None:
    async with Peer(max_tokens_as_success=True) as peer:
        await peer.initialize()
        await peer.prompt("echo:child echo:max-tokens cut off")
        await peer.until(lambda: peer.count("idle", "s") == 2)
        started = peer.notified("subagent.started")[0]["params"]
        child = started["childSessionId"]
        about = [
            frame
            for frame in peer.told
            if child in (frame.get("params", {}).get(name) for name in ("sessionId", "childSessionId"))
        ]
        assert about[0]["method"] == "subagent.started"
        assert peer.events(child)[0]["seq"] == 1  # S94: the descriptor was not told
        finished = peer.notified("subagent.finished")[0]
        assert finished["params"]["status"] == "ok"
        assert finished["params"]["stopReason"] == "max-tokens"
        at = peer.told.index(finished)
        assert peer.story()[at - 5 : at + 2] == [
            "idle",
            "agent/inbox/spliced",
            "running",
            "turn/start",
            "agent/inbox/spliced -",
            "subagent.finished",
            "step/start",
        ]
        sources = [event["data"]["source"]["kind"] for event in peer.events(kind="user/message")]
        assert sources == ["user", "subagent-settled"]
        assert not findings(peer.rows, "0.1.5")


@asynchronous
async def test_what_is_no_json_is_dropped_and_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async with Peer() as peer:
        await peer.host.tell_event("s", {"type": "x", "seq": 0, "time": 0, "data": {"number": float("nan"), 5: {1: 2}}})
        await peer.initialize()
        await peer.run("hi")
        assert peer.count("idle", "s") == 1


@asynchronous
async def test_s93_a_slow_client_slows_the_agents_down_and_sees_all_in_order() -> None:
    text = "x" * 300_000  # more than a transport holds
    async with Peer() as peer:
        await peer.initialize()
        peer.to_client.free.clear()
        idle = peer.count("idle", "s")
        prompts = [asyncio.create_task(peer.prompt(text)) for _ in range(5)]
        await peer.until(lambda: peer.events(kind="agent/inbox/spliced"))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not peer.events(kind="assistant/message")  # nobody went on
        peer.to_client.free.set()
        await asyncio.gather(*prompts)
        await peer.until(lambda: peer.count("idle", "s") > idle)
        numbers = [event["seq"] for event in peer.events()]
        assert numbers == list(range(len(numbers)))
