"""The requests that revision 0.2.1 adds: wait, resume, and the working directory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import Route
from tests.runtime.server.peer import Peer, asynchronous, findings, gated

NEWER = ("session/wait", "session/resume", "session/working-directory/get", "session/working-directory/set")


@asynchronous
async def test_s3_s37_they_are_refused_before_initialize() -> None:
    async with Peer(revision="0.2.1") as peer:
        for method in NEWER:
            assert await peer.refusal(method, {"sessionId": "s"}) == "SDK server is not initialized"


@pytest.mark.parametrize("revision", ["0.1.5", "2026-07-29"])
def test_s2_other_revisions_do_not_have_them(revision: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision=revision) as peer:
            for method in NEWER:
                assert (await peer.refusal(method)).startswith("unknown DeepSeek")

    scenario()


@pytest.mark.parametrize("session", [..., None, 5, [], ""])
def test_s76_s80_s85_session_ids(session: Any) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision="0.2.1") as peer:
            await peer.initialize()
            params = {} if session is ... else {"sessionId": session}
            resume, get = (
                "session/resume requires a non-empty sessionId string",
                "working-directory requests require a non-empty sessionId",
            )
            wait = "unknown SDK session: " if session == "" else "session/wait requires a sessionId string"
            texts = [await peer.refusal(method, params) for method in NEWER]
            assert texts == [wait, resume, get, get]

    scenario()


@asynchronous
async def test_s82_s83_s150_wait_ends_after_the_descendants_and_everything_they_cause() -> None:
    peer, model = gated("0.2.1")
    async with peer:
        await peer.initialize()
        await peer.prompt("echo:child echo:child deep")
        waiting = asyncio.create_task(peer.request("session/wait", {"sessionId": "s"}))
        model.gate.set()
        assert await waiting == {}
        assert peer.story()[-2:] == ["idle", "response"]
        assert len(peer.notified("subagent.finished")) == 2
        assert all(peer.count("idle", session) == peer.count("running", session) > 0 for session in sessions(peer))
        assert not findings(peer.rows, "0.2.1")


def sessions(peer: Peer) -> set[str]:
    return {frame["params"]["sessionId"] for frame in peer.notified("session.status")}


@asynchronous
async def test_s81_s82_wait_for_the_unknown_and_the_idle() -> None:
    async with Peer(revision="0.2.1") as peer:
        await peer.initialize()
        assert await peer.refusal("session/wait", {"sessionId": "nobody"}) == "unknown SDK session: nobody"
        await peer.run("hi")
        assert await peer.request("session/wait", {"sessionId": "s"}) == {}


@asynchronous
async def test_s84_wait_fails_with_a_failure_that_no_turn_end_followed() -> None:
    async with Peer(revision="0.2.1") as peer:
        await peer.initialize()
        await peer.run("hi")
        peer.host.agents["s"].failure = OSError("the disk is full")
        assert await peer.refusal("session/wait", {"sessionId": "s"}) == "the disk is full"
        await peer.run("again")
        assert await peer.request("session/wait", {"sessionId": "s"}) == {}


@asynchronous
async def test_s84_a_failure_outside_of_any_turn_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    class FullHost(EmbeddedHost):
        async def tell_status(self, session_id: str, status: Any) -> None:
            if status == "running":
                raise OSError("the disk is full")
            await super().tell_status(session_id, status)

    async with Peer(FullHost("0.2.1"), "0.2.1") as peer:
        await peer.initialize()
        assert await peer.prompt("hi")
        assert await peer.refusal("session/wait", {"sessionId": "s"}) == "the disk is full"
        assert "an agent failed" in caplog.text


@asynchronous
async def test_s82_wait_while_the_agent_is_disposed_of() -> None:
    peer, model = gated("0.2.1")
    async with peer:
        await peer.initialize()
        await peer.prompt("hi")
        await model.asked.acquire()
        waiting = asyncio.create_task(peer.refusal("session/wait", {"sessionId": "s"}))
        assert (await peer.refusal("nothing")).startswith("unknown")  # so the other one was read
        await peer.host.agents["s"].dispose()
        assert await waiting == "session agent was disposed outside the server: s"


@asynchronous
async def test_s77_s78_s79_resume() -> None:
    stored: dict[str, Any] = {}
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize()
        await peer.run("first")
        before = peer.events()
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize(model="other")
        assert await peer.refusal("session/resume", {"sessionId": "nobody"}) == 'session "nobody" not found'
        assert await peer.request("session/resume", {"sessionId": "s"}) == {}
        assert peer.story() == ["response", "error", "response"]  # no notification
        text = "SDK session is already open or opening: s"
        assert await peer.refusal("session/resume", {"sessionId": "s"}) == text
        await peer.run("second")
        assert peer.events()[0]["seq"] == before[-1]["seq"] + 1  # S94
        assert peer.events(kind="turn/start")[0]["data"] == {"turn": 2}
        header = peer.events(kind="request/header")[0]["data"]
        assert header["reason"] == "resume"
        assert header["header"]["config"]["model"] == "other"
        assert len(peer.host.adapters.owner("echo").requests[0].messages) == 3
        assert not findings(peer.rows, "0.2.1")


@asynchronous
async def test_s78_resume_while_it_is_being_opened() -> None:
    class SlowHost(EmbeddedHost):
        gate = asyncio.Event()

        async def resume_agent(self, session_id: str, cwd: str, route: Route) -> Any:
            await self.gate.wait()
            return await super().resume_agent(session_id, cwd, route)

    async with Peer(SlowHost("0.2.1"), "0.2.1") as peer:
        await peer.initialize()
        first = asyncio.create_task(peer.refusal("session/resume", {"sessionId": "s"}))
        await asyncio.sleep(0)
        assert (await peer.refusal("session/resume", {"sessionId": "s"})) == "SDK session is already open or opening: s"
        SlowHost.gate.set()
        assert await first == 'session "s" not found'
        assert await peer.refusal("session/resume", {"sessionId": "s"}) == 'session "s" not found'  # forgotten


@asynchronous
async def test_s77_a_turn_that_was_cut_off_is_repaired() -> None:
    stored: dict[str, Any] = {}
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize()
        await peer.run("first")
    journal = stored["s"]
    journal.open_turn()  # and then the process was killed
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize()
        await peer.request("session/resume", {"sessionId": "s"})
        assert journal.events[-1].data.reason.kind == "interrupted"
        await peer.run("second")
        assert peer.events(kind="turn/start")[0]["data"] == {"turn": 3}


def test_s86_to_s90_the_working_directory(tmp_path: Path) -> None:
    @asynchronous
    async def scenario() -> None:
        (tmp_path / "sub").mkdir()
        async with Peer(revision="0.2.1") as peer:
            await peer.initialize(cwd=str(tmp_path))
            get, put = "session/working-directory/get", "session/working-directory/set"
            assert await peer.request(get, {"sessionId": "s"}) == {"cwd": str(tmp_path)}
            assert await peer.refusal(put, {"sessionId": "s"}) == "working-directory set requires a path string"  # S87
            first = len(peer.told)
            assert await peer.request(put, {"sessionId": "s", "path": "sub"}) == {"cwd": str(tmp_path / "sub")}
            assert peer.story()[first:] == ["working-directory/change", "agent/inbox/spliced", "response"]  # S90
            assert peer.events()[-1]["data"]["target"] == "next-step"
            text = 'working-directory: directory does not exist: "no-such"'
            assert await peer.refusal(put, {"sessionId": "s", "path": "no-such"}) == text  # S89
            assert await peer.request(put, {"sessionId": "s", "path": ".."}) == {"cwd": str(tmp_path)}  # S88
            assert await peer.request(put, {"sessionId": "s", "path": str(tmp_path / "sub")}) == {"cwd": str(tmp_path / "sub")}
            await peer.run("hi")
            kinds = [event["data"]["source"]["kind"] for event in peer.events(kind="user/message")]
            assert kinds == ["working-directory"] * 3 + ["user"]
            (tmp_path / "sub").rmdir()
            assert await peer.request(get, {"sessionId": "s"}) == {"cwd": str(tmp_path)}  # S86
            assert not findings(peer.notifications(), "0.2.1")

    scenario()
