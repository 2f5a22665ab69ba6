"""Prompts: sessions that are made once, receipts, queues, and what reaches the model."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import Route
from dsh_runtime.server.sessions import Sessions
from tests.runtime.server.peer import Peer, asynchronous, findings, gated


class MakingHost(EmbeddedHost):
    """A host that makes an agent when it is let, and fails to as often as `failures` says."""

    def __init__(self, revision: str = "0.1.5", failures: int = 0) -> None:
        super().__init__(revision)
        self.failures = failures
        self.made = 0
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()

    async def create_agent(self, session_id: str, cwd: str, route: Route) -> Any:
        self.made += 1
        self.asked.set()
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise OSError("no room")
        return await super().create_agent(session_id, cwd, route)


@asynchronous
async def test_s40_s47_s49_a_prompt_makes_a_session_and_is_receipted() -> None:
    async with Peer() as peer:
        await peer.initialize()
        result = await peer.run("hello")
        (event,) = peer.events("s", "user/message")
        assert result == {"messageId": event["data"]["id"]}
        assert uuid.UUID(result["messageId"]).version == 4
        assert event["data"]["source"] == {"kind": "user"}
        agent = peer.host.agents["s"]
        await peer.run("again")
        assert peer.host.agents["s"] is agent


@asynchronous
async def test_s115_s116_s117_s118_the_order_of_frames() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("hello")
        first = len(peer.told)
        await peer.run("again")
        opening = ["permission/preset", "sandbox/mode", "approval/policy"]
        begin = ["agent/inbox/spliced", "running", "turn/start", "agent/inbox/spliced -", "response", "step/start"]
        news = ["system/message", "user/message", "request/header", "request/context", "session/title"]
        end = ["assistant/message", "step/end", "turn/end", "idle"]
        assert peer.story()[:first] == ["response", *opening, *begin, *news, *end]
        assert peer.story()[first:] == [*begin, "user/message", *end]
        assert not findings(peer.rows, "0.1.5")


@asynchronous
async def test_s119_the_minimal_profile_opens_without_policies() -> None:
    async with Peer(EmbeddedHost(profile="sdk-minimal")) as peer:
        await peer.initialize()
        await peer.run("hello")
        assert peer.story()[1] == "agent/inbox/spliced"


@asynchronous
async def test_s41_any_text_is_a_session_id() -> None:
    async with Peer() as peer:
        await peer.initialize()
        for session in ("../../x", "a b", "\u4f60", "s\u0000", "x" * 5000):
            await peer.run("hi", session=session)
            assert peer.events(session, "turn/end")


@asynchronous
async def test_s42_concurrent_first_prompts_share_one_creation() -> None:
    host = MakingHost()
    async with Peer(host) as peer:
        await peer.initialize()
        prompts = [asyncio.create_task(peer.prompt(str(number))) for number in range(3)]
        await host.asked.wait()
        host.gate.set()
        assert len({result["messageId"] for result in await asyncio.gather(*prompts)}) == 3
        assert host.made == 1
        await peer.until(lambda: peer.count("idle", "s"))


@asynchronous
async def test_s43_a_failed_creation_is_forgotten() -> None:
    host = MakingHost(failures=1)
    async with Peer(host) as peer:
        await peer.initialize()
        prompts = [peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}) for _ in range(2)]
        both = asyncio.gather(*prompts)
        await host.asked.wait()
        host.gate.set()
        assert await both == ["no room", "no room"]
        assert await peer.run("hi")
        assert host.made == 2


@asynchronous
async def test_s45_s46_an_agent_that_somebody_else_disposed_of() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("hi")
        await peer.host.agents["s"].dispose()
        text = "session agent was disposed outside the server: s"
        assert await peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}) == text


@asynchronous
async def test_s46_an_agent_disposed_of_while_images_are_admitted() -> None:
    async with Peer() as peer:
        await peer.initialize()
        await peer.run("hi")

        class Slow:
            async def admit(self, uploads: Any) -> list[Any]:
                await peer.host.agents["s"].dispose()
                return [{} for _ in uploads]

        peer.host.attachments = Slow()
        block = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
        text = "session agent was disposed outside the server: s"
        assert await peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": [block]}) == text


@asynchronous
async def test_s50_s51_s113_prompts_on_a_busy_session_are_queued_and_others_go_on() -> None:
    peer, model = gated()
    async with peer:
        await peer.initialize()
        await peer.prompt("one")
        await model.asked.acquire()
        results = await asyncio.gather(*(peer.prompt(text) for text in ("two", "three")))  # answered while one still runs
        await peer.prompt("other", session="t")
        await model.asked.acquire()  # t asks, though s is busy
        model.gate.set()
        await peer.until(lambda: peer.count("idle", "s") and peer.count("idle", "t"))
        said = [event["data"]["content"][0]["text"] for event in peer.events("s", "user/message")]
        assert said == ["one", "two", "three"]
        assert [event["data"]["turn"] for event in peer.events("s", "turn/start")] == [1, 2, 3]  # S121
        assert (peer.count("running", "s"), peer.count("idle", "s")) == (1, 1)  # S124
        queued = {
            event["data"]["inserted"][0]["id"] for event in peer.events("s", "agent/inbox/spliced") if event["data"]["inserted"]
        }
        assert {result["messageId"] for result in results} < queued
        assert not findings(peer.rows, "0.1.5")


BLOCKS: list[Any] = [
    {"type": "text", "text": "a", "extra": [1, {"deep": None}]},
    {"type": "text", "text": ""},
    {
        "type": "image",
        "attachment": {"attachmentId": "nobody:checks", "mediaType": "image/png", "width": 1, "height": 1, "bytes": 0},
    },
    {"type": "file", "attachment": {"attachmentId": "f", "name": "n.txt", "bytes": 1}},
]


@pytest.mark.parametrize("revision", ["2026-07-29", "0.1.5", "0.2.1"])
def test_s54_s67_blocks_reach_the_model_verbatim_as_one_message_and_nothing_is_added(revision: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision=revision) as peer:
            await peer.initialize()
            await peer.request("session/prompt", {"sessionId": "s", "contentBlocks": BLOCKS})
            await peer.until(lambda: peer.events("s", "turn/end"))
            (request,) = peer.host.adapters.owner("echo").requests
            (message,) = request.messages
            assert message["content"] == BLOCKS
            assert message["role"] == "user"
            assert request.tools == []

    scenario()


@pytest.mark.parametrize("block", ["text", {"type": "bogus", "x": 1}, {"text": "no type"}, {"type": "text"}, 5, []])
def test_s54_s55_any_block_is_stored_and_one_that_makes_no_sense_ends_the_turn(block: Any) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision="0.2.1") as peer:
            await peer.initialize()
            assert await peer.request("session/prompt", {"sessionId": "s", "contentBlocks": [block]})
            await peer.until(lambda: peer.count("idle", "s"))
            assert peer.events("s", "user/message")[0]["data"]["content"] == [block]
            assert peer.events("s", "turn/end")[0]["data"]["reason"]["error"]["code"] == "UNSUPPORTED_CONTENT"

    scenario()


@asynchronous
async def test_s56_no_blocks_and_empty_text_run_a_turn() -> None:
    async with Peer(revision="0.2.1") as peer:
        await peer.initialize()
        for session, blocks in (("a", []), ("b", [{"type": "text", "text": ""}])):
            await peer.request("session/prompt", {"sessionId": session, "contentBlocks": blocks})
            await peer.until(lambda session=session: peer.count("idle", session))  # type: ignore[misc]
            assert peer.events(session, "turn/end")[0]["data"]["reason"] == {"kind": "completed"}


@asynchronous
async def test_s57_to_s63_params_that_make_no_sense() -> None:
    async with Peer(revision="0.2.1") as peer:
        await peer.initialize()
        texts: list[tuple[dict[str, Any], str]] = [
            ({"sessionId": "s"}, "Cannot read properties of undefined (reading 'filter')"),
            ({"sessionId": "s", "contentBlocks": None}, "Cannot read properties of null (reading 'filter')"),
            ({"sessionId": "s", "contentBlocks": "text"}, "blocks.filter is not a function"),
            ({"sessionId": "s", "contentBlocks": {}}, "blocks.filter is not a function"),
            ({"sessionId": "s", "contentBlocks": [None]}, "Cannot read properties of null (reading 'type')"),
            ({}, 'agent id "undefined" does not match session id "session-1"'),
            ({"contentBlocks": []}, 'agent id "undefined" does not match session id "session-2"'),
            ({"sessionId": 5, "contentBlocks": []}, "format v4 header id must be a string"),
        ]
        for params, text in texts:
            assert await peer.refusal("session/prompt", params) == text
        assert not peer.events("s", "agent/inbox/spliced")


def test_s62_the_empty_session_id_runs_into_a_wall() -> None:
    @asynchronous
    async def scenario() -> None:
        text = "cannot encode an empty path segment"
        async with Peer(revision="0.2.1") as peer:
            await peer.initialize()
            assert await peer.run("hi", session="")
            assert peer.events("", "turn/end")[0]["data"]["reason"]["error"]["message"] == text
            assert await peer.refusal("shutdown") == text
            assert not peer.exits  # S160

    with pytest.raises(ValueError, match="cannot encode"):  # closing the server says so once more
        scenario()


@asynchronous
async def test_s53_an_id_that_was_left_on_disk() -> None:
    stored: dict[str, Any] = {}
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize()
        await peer.run("hi")
    async with Peer(EmbeddedHost("0.2.1", stored=stored), "0.2.1") as peer:
        await peer.initialize()
        text = 'session "s" already exists'
        assert await peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}) == text


@asynchronous
async def test_s30_s31_the_cap_binds_the_agent_and_its_children() -> None:
    async with Peer() as peer:
        await peer.initialize(maxTokens=2)
        await peer.prompt("echo:child one two three four")
        await peer.until(lambda: peer.notified("subagent.finished"))
        finished = peer.notified("subagent.finished")[0]["params"]
        assert finished["stopReason"] == "max-tokens"
        assert finished["lastAssistantMessage"] == [{"type": "text", "text": "one two "}]
        requests = peer.host.adapters.owner("echo").requests
        assert {request.route.max_tokens for request in requests} == {2}
        header = peer.events(finished["childSessionId"], "request/header")[0]["data"]["header"]
        assert header["config"]["maxTokens"] == 2
        assert header["adapterDefaults"] == {"reasoningEffort": True}


@asynchronous
async def test_s32_the_older_revision_sends_no_cap_of_its_own() -> None:
    async with Peer(revision="2026-07-29") as peer:
        await peer.initialize()
        await peer.prompt("hi")
        (request,) = peer.host.adapters.owner("echo").requests
        assert request.route.max_tokens is None


@pytest.mark.parametrize("turns", range(8))
def test_s42_prompts_keep_their_order_whenever_the_second_one_comes(turns: int) -> None:
    # it must not overtake the first one, which has not gone on yet when the session is there
    @asynchronous
    async def scenario() -> None:
        sessions, gate, order = Sessions(), asyncio.Event(), list[str]()

        async def ask(name: str) -> None:
            await sessions.open("s", gate.wait)  # type: ignore[arg-type]  # anything will do for an agent
            order.append(name)

        first = asyncio.create_task(ask("first"))
        await asyncio.sleep(0)
        gate.set()
        for _ in range(turns):  # of the event loop
            await asyncio.sleep(0)
        await asyncio.gather(first, asyncio.create_task(ask("second")))
        assert order == ["first", "second"]

    scenario()
