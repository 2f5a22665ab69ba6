"""Revision 2026-07-29: one prompt at a time, answered at its end."""

from __future__ import annotations

import asyncio

from dsh_runtime.embedded import EmbeddedHost
from tests.runtime.server.peer import Peer, asynchronous, findings, gated

OLDER = "2026-07-29"


@asynchronous
async def test_s111_s175_s177_s180_the_order_of_frames() -> None:
    async with Peer(revision=OLDER) as peer:
        await peer.initialize()
        assert await peer.prompt("one two") == {"accepted": True}
        assert peer.story() == [
            "response",
            *("turn/start", "step/start", "user/message", "request/header", "session/title"),
            *["assistant/chunk"] * 6,
            *("assistant/message", "step/end", "turn/end", "session.finished", "response"),
        ]
        (message,) = peer.events(kind="assistant/message")
        chunks = peer.events(kind="assistant/chunk")
        assert message["sourceEventSeqs"] == [chunk["seq"] for chunk in chunks]
        finished = peer.notified("session.finished")[0]["params"]
        assert finished == {"sessionId": "s", "status": "ok", "reason": {"kind": "completed"}}
        assert not findings(peer.rows, OLDER)


@asynchronous
async def test_s176_overlap_is_refused_and_other_sessions_go_on() -> None:
    peer, model = gated(OLDER)
    async with peer:
        await peer.initialize()
        first = asyncio.create_task(peer.prompt("one"))
        await model.asked.acquire()
        text = "session already has an active prompt: s"
        assert await peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}) == text
        other = asyncio.create_task(peer.prompt("two", session="t"))
        await model.asked.acquire()
        model.gate.set()
        assert await first == await other == {"accepted": True}
        assert await peer.prompt("again") == {"accepted": True}


@asynchronous
async def test_s176_a_session_is_free_after_a_failure() -> None:
    async with Peer(revision=OLDER) as peer:
        await peer.initialize()
        for _ in range(2):
            text = "Cannot read properties of undefined (reading 'filter')"
            assert await peer.refusal("session/prompt", {"sessionId": "s"}) == text
        assert await peer.prompt("echo:fail AUTH no") == {"accepted": True}
        finished = peer.notified("session.finished")[0]["params"]
        assert finished["status"] == "error"
        assert finished["reason"] == {"kind": "error", "step": 1, "failure": {"message": "no", "code": "AUTH"}}
        assert not findings(peer.notifications(), OLDER)


@asynchronous
async def test_s178_an_injected_turn_does_not_replace_the_outcome() -> None:
    peer, model = gated(OLDER)
    async with peer:
        await peer.initialize()
        prompting = asyncio.create_task(peer.prompt("echo:max-tokens cut"))
        await model.asked.acquire()
        agent = peer.host.agents["s"]
        message = agent.journal.scribe.settled("m", "a child has ended", "c")
        async with agent.receiving(message):
            model.gate.set()
        await prompting
        assert [event["data"]["reason"]["kind"] for event in peer.events(kind="turn/end")] == ["max-tokens", "completed"]
        kinds = [event["data"]["trigger"]["kind"] for event in peer.events(kind="turn/start")]
        assert kinds == ["message", "injection"]
        finished = peer.notified("session.finished")[0]["params"]
        assert finished == {"sessionId": "s", "status": "error", "reason": {"kind": "max-tokens"}}
        assert not findings(peer.rows, OLDER)


@asynchronous
async def test_s153_max_tokens_as_success() -> None:
    async with Peer(revision=OLDER, max_tokens_as_success=True) as peer:
        await peer.initialize()
        await peer.prompt("echo:max-tokens cut")
        assert peer.notified("session.finished")[0]["params"]["status"] == "ok"


@asynchronous
async def test_s179_no_turn_of_a_message_has_ended() -> None:
    class Forgetful(EmbeddedHost):
        async def tell_event(self, session_id: str, event: object) -> None:
            if getattr(event, "type", "") != "turn/end":
                await super().tell_event(session_id, event)

    async with Peer(Forgetful(OLDER), OLDER) as peer:
        await peer.initialize()
        assert await peer.prompt("hi") == {"accepted": True}
        assert peer.notified("session.finished")[0]["params"] == {"sessionId": "s", "status": "error"}


@asynchronous
async def test_s158_a_prompt_that_runs_at_shutdown_is_refused_and_not_finished() -> None:
    peer, model = gated(OLDER)
    async with peer:
        await peer.initialize()
        prompting = asyncio.create_task(peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}))
        await model.asked.acquire()
        assert await peer.request("shutdown") == {}
        assert await prompting == "SDK server is shutting down"
        assert not peer.notified("session.finished")
        assert peer.host.stored["s"].events[-1].data.reason.kind == "disposed"


@asynchronous
async def test_s5_s6_a_child_wakes_its_parent_without_a_status() -> None:
    async with Peer(revision=OLDER) as peer:
        await peer.initialize()
        await peer.prompt("echo:child hi")
        await peer.until(lambda: len(peer.events(kind="turn/end")) == 2)
        assert not peer.notified("session.status")
        assert len(peer.notified("subagent.started")) == len(peer.notified("subagent.finished")) == 1
        assert not findings(peer.rows, OLDER)
