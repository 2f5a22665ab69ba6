"""The ends of a server: shutdown, its failures, its races, and unloading."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dsh_runtime import TransportClosedError
from dsh_runtime.embedded import EchoAdapter, EmbeddedHost
from dsh_runtime.server import DEEPSEEK, REVISIONS, Route, TeardownError
from tests.runtime.server.peer import ROUTE, Peer, asynchronous, gated
from tests.runtime.server.test_prompt import MakingHost


class StubbornHost(EmbeddedHost):
    """A host whose agents can't be disposed of, one reason for each session."""

    def __init__(self, **reasons: str) -> None:
        super().__init__()
        self.reasons = reasons

    async def create_agent(self, session_id: str, cwd: str, route: Route) -> Any:
        agent = await super().create_agent(session_id, cwd, route)
        dispose = agent.dispose

        async def failing() -> None:
            await dispose()
            if session_id in self.reasons:
                raise OSError(self.reasons[session_id])

        vars(agent)["dispose"] = failing
        return agent


class TracingHost(EmbeddedHost):
    """A host that notes what is asked of it."""

    def __init__(self, revision: str = "0.1.5") -> None:
        super().__init__(revision)
        self.trace: list[str] = []

    async def dispose(self) -> None:
        self.trace.append("dispose")
        await super().dispose()


@pytest.mark.parametrize("params", [None, {}, {"any": 1}])
def test_s38_s155_s161_shutdown_before_initialize_with_any_params(params: Any) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer() as peer:
            assert await peer.request("shutdown", params) == {}
            await peer.until(lambda: peer.exits)
            assert peer.exits == [0]

    scenario()


@pytest.mark.parametrize("revision", REVISIONS)
def test_s161_s162_s163_the_answer_is_flushed_then_all_is_disposed_of_then_it_exits(revision: str) -> None:
    @asynchronous
    async def scenario() -> None:
        host = TracingHost(revision)
        async with Peer(host, revision) as peer:

            async def drained() -> None:
                host.trace.append("flush" if peer.told and peer.told[-1].get("result") == {} else "drain")

            await peer.initialize()
            peer.to_client.drained = drained
            assert await peer.request("shutdown") == {}
            await peer.until(lambda: peer.exits)
            rooted = [] if revision == "2026-07-29" else ["dispose"]
            assert host.trace[host.trace.index("flush") :][: len(rooted) + 1] == ["flush", *rooted]
            assert peer.server.transport.closed == (revision == "2026-07-29")

    scenario()


@asynchronous
async def test_s164_two_shutdowns_in_one_write_and_one_exit() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("hi")
        assert await asyncio.gather(*(peer.request("shutdown") for _ in range(3))) == [{}, {}, {}]
        await peer.until(lambda: peer.exits)
        assert await peer.request("shutdown") == {}
        for _ in range(5):
            await asyncio.sleep(0)
        assert peer.exits == [0]


@asynchronous
async def test_s161_it_exits_even_if_the_flush_fails() -> None:
    async with Peer() as peer:

        async def broken() -> None:
            raise BrokenPipeError("gone")

        pending = asyncio.create_task(peer.request("shutdown"))
        peer.to_client.drained = broken
        await peer.until(lambda: peer.exits)
        assert await pending == {}
        assert peer.exits == [0]


@asynchronous
async def test_s162_it_exits_even_if_the_host_fails(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(EmbeddedHost):
        async def dispose(self) -> None:
            if not peer.exits:
                raise OSError("no")

    async with Peer(Failing()) as peer:
        await peer.request("shutdown")
        await peer.until(lambda: peer.exits)
        assert "the end of the host failed" in caplog.text


@asynchronous
async def test_s125_s158_s167_a_turn_in_flight_is_aborted_and_nobody_is_told() -> None:
    peer, model = gated()
    async with peer:
        await peer.initialize()
        await peer.prompt("hi")
        await model.asked.acquire()
        before = len(peer.told)
        assert await peer.request("shutdown") == {}
        await peer.until(lambda: peer.exits)
        assert peer.story()[before:] == ["response"]
        end = peer.host.stored["s"].events[-1]
        assert (end.type, end.data.reason.kind, end.data.reason.reason.kind) == ("turn/end", "aborted", "disposed")


@asynchronous
async def test_s167_what_had_been_streamed_is_kept() -> None:
    async with Peer() as peer:
        await peer.initialize()
        agent = None
        await peer.prompt("echo:hang half of it")
        await peer.until(lambda: peer.events(kind="session/title"))
        agent = peer.host.agents["s"]
        while agent.last_turn.answer.text != "half of it":
            await asyncio.sleep(0)
        await peer.request("shutdown")
        message, step, end = peer.host.stored["s"].events[-3:]
        assert message.data.interrupted is True
        assert step.type == "step/end"
        assert message.data.message.content[0].text == "half of it"
        assert end.data.reason.kind == "aborted"
        assert not peer.events(kind="assistant/message")


@asynchronous
async def test_s44_s156_s165_it_waits_for_a_session_in_the_making_and_refuses_prompts_meanwhile() -> None:
    host = MakingHost()
    async with Peer(host) as peer:
        await peer.initialize()
        making = asyncio.create_task(peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}))
        await host.asked.wait()
        ending = asyncio.create_task(peer.request("shutdown"))
        await asyncio.sleep(0)  # it is sent
        text = "SDK server is shutting down"
        assert await peer.refusal("session/prompt", {"sessionId": "t", "contentBlocks": []}) == text
        assert not ending.done()
        host.gate.set()
        assert await making == text
        assert await ending == {}
        assert not host.agents


@asynchronous
async def test_s156_a_failing_session_in_the_making_does_not_matter() -> None:
    host = MakingHost(failures=1)
    async with Peer(host) as peer:
        await peer.initialize()
        making = asyncio.create_task(peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}))
        await host.asked.wait()
        ending = asyncio.create_task(peer.request("shutdown"))
        await asyncio.sleep(0)
        host.gate.set()
        assert (await making, await ending) == ("no room", {})


@asynchronous
async def test_s91_the_newer_requests_while_it_stops() -> None:
    host = MakingHost("0.2.1")
    async with Peer(host, "0.2.1") as peer:
        await peer.initialize()
        making = asyncio.create_task(peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}))
        await host.asked.wait()
        ending = asyncio.create_task(peer.request("shutdown"))
        await asyncio.sleep(0)  # it is sent
        for method in ("session/resume", "session/working-directory/get", "session/working-directory/set"):
            assert await peer.refusal(method, {"sessionId": "t"}) == "SDK server is shutting down"
        host.gate.set()
        assert await making == "SDK server is shutting down"
        assert await ending == {}


def test_s159_s160_one_failure_is_the_reply_and_stops_neither_the_rest_nor_the_process() -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(StubbornHost(a="a does not want to")) as peer:
            await peer.initialize()
            for session in "abc":
                await peer.run("hi", session=session)
            assert await peer.refusal("shutdown") == "a does not want to"
            assert await peer.refusal("shutdown") == "a does not want to"
            assert not peer.host.agents
            assert not peer.exits

    with pytest.raises(OSError, match="a does not want to"):
        scenario()


def test_s159_several_failures_are_one() -> None:
    class Broken(EchoAdapter):
        async def close(self) -> None:
            raise OSError("the adapter neither")

    @asynchronous
    async def scenario() -> None:
        async with Peer(StubbornHost(a="no"), mount=lambda: Broken(DEEPSEEK)) as peer:
            await peer.initialize(provider=DEEPSEEK)
            await peer.run("hi", session="a")
            assert await peer.refusal("shutdown") == "SDK server teardown failed"

    with pytest.raises(TeardownError) as caught:
        scenario()
    assert [str(cause) for cause in caught.value.causes] == ["no", "the adapter neither"]


@asynchronous
async def test_s157_descendants_are_drained_first() -> None:
    peer, model = gated("0.2.1")
    async with peer:
        await peer.initialize()
        await peer.prompt("echo:child echo:hang deep")
        await model.asked.acquire()
        model.gate.set()
        await peer.until(lambda: peer.notified("subagent.started"))
        child = peer.notified("subagent.started")[0]["params"]["childSessionId"]
        await peer.until(lambda: peer.events(child, "session/title"))
        order: list[str] = []

        class Stored(dict[str, Any]):
            def __setitem__(self, session_id: str, journal: Any) -> None:
                order.append(session_id)
                super().__setitem__(session_id, journal)

        peer.host.stored = Stored()
        await peer.request("shutdown")
        assert order == [child, "s"]
        assert not peer.notified("subagent.finished")


@asynchronous
async def test_s168_unloading_serves_no_more_and_does_not_exit() -> None:
    host = TracingHost()
    async with Peer(host) as peer:
        await peer.initialize()
        await peer.run("hi")
        await peer.server.close()
        await peer.server.close()
        assert peer.server.transport.closed
        with pytest.raises(TimeoutError):
            await peer.client.request("initialize", ROUTE, timeout=0.01)
        await host.tell_status("s", "running")  # the host lives on, unheard
        assert peer.count("running", "s") == 1
        assert host.trace == []
        assert not peer.exits
        assert not peer.to_client.reader.at_eof()  # the streams are the owner's


@asynchronous
async def test_s125_the_end_of_the_input_within_a_turn() -> None:
    peer, model = gated()
    async with peer:
        await peer.initialize()
        await peer.prompt("hi")
        await model.asked.acquire()
        ended = asyncio.get_running_loop().create_future()
        peer.server.transport.on_close(ended.set_result)
        before = len(peer.told)
        peer.to_server.reader.feed_eof()
        assert isinstance(await ended, TransportClosedError)
        model.gate.set()
        agent = peer.host.agents["s"]
        await agent.when_idle()  # its work goes on, unheard
        assert len(peer.told) == before
