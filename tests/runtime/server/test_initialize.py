"""Requests before `initialize`, `initialize` itself, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from dsh_runtime.embedded import EchoAdapter, EmbeddedHost
from dsh_runtime.server import DEEPSEEK, REVISIONS, Adapters, HarnessSdkServer
from tests.runtime.server.peer import ROUTE, Peer, Pipe, asynchronous, findings

SERVER_INFO = {"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0.0.1"}}
BAD_CAP = "initialize maxTokens must be a positive safe integer"
BAD_EFFORT = "initialize reasoningEffort must be a non-empty string"
NO_CAPS: list[Any] = [None, "5", 0, -1, 1.5, 2**53, True, 1e300, [1], {}]


class LoadingHost(EmbeddedHost):
    """A host whose parts have not settled until `loaded` is set."""

    def __init__(self, revision: str = "0.1.5") -> None:
        super().__init__(revision)
        self.loaded = asyncio.Event()

    async def ready(self) -> None:
        await self.loaded.wait()


@pytest.mark.parametrize("revision", REVISIONS)
def test_s1_the_answer_is_the_same_in_every_revision(revision: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(revision=revision) as peer:
            assert await peer.initialize() == SERVER_INFO
            assert await peer.initialize() == SERVER_INFO  # S34: not refused
            assert not findings(peer.rows, revision)

    scenario()


def test_an_unknown_revision_is_refused() -> None:
    @asynchronous
    async def scenario() -> None:
        with pytest.raises(LookupError, match=r"no revision '9'; there are 2026-07-29, 0\.1\.5, 0\.2\.1"):
            HarnessSdkServer(EmbeddedHost(), Pipe().reader, Pipe(), revision="9")

    scenario()


@asynchronous
async def test_s9_s10_unknown_methods_are_refused() -> None:
    async with Peer() as peer:
        for method in ("no/such", "", "session.event", "session/wait", "INITIALIZE"):
            assert await peer.refusal(method) == f"unknown DeepSeek Harness SDK runtime method: {method}"


@asynchronous
async def test_s8_notifications_do_nothing() -> None:
    async with Peer() as peer:
        for method in ("shutdown", "initialize", "session/prompt"):
            await peer.client.notify(method, ROUTE)
        assert await peer.refusal("session/prompt") == "SDK server is not initialized"
        assert len(peer.told) == 1
        assert not peer.exits


@asynchronous
async def test_s13_s36_s38_initialize_waits_until_the_host_is_ready_and_others_do_not() -> None:
    host = LoadingHost()
    async with Peer(host) as peer:
        pending = asyncio.create_task(peer.initialize())
        assert (await peer.refusal("nothing")).startswith("unknown")
        assert await peer.refusal("session/prompt", {"sessionId": "s", "contentBlocks": []}) == "SDK server is not initialized"
        assert not pending.done()
        host.loaded.set()
        assert await pending == SERVER_INFO
        assert await peer.prompt("now")


@asynchronous
async def test_s36_initialize_and_prompt_in_one_write() -> None:
    async with Peer() as peer:
        frames = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": ROUTE},
            {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s", "contentBlocks": []}},
        ]
        peer.to_server.write("".join(f"{json.dumps(frame)}\n" for frame in frames).encode())
        await peer.until(lambda: len(peer.told) == 2)
        answers = {frame["id"]: frame for frame in peer.told}
        assert answers[1]["result"] == SERVER_INFO
        assert answers[2]["error"]["message"] == "SDK server is not initialized"


@asynchronous
async def test_s14_the_older_revision_does_not_wait() -> None:
    async with Peer(LoadingHost("2026-07-29"), "2026-07-29") as peer:
        assert await peer.initialize() == SERVER_INFO


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        *(({"maxTokens": value}, BAD_CAP) for value in NO_CAPS),  # S12, S17
        *(({"reasoningEffort": value}, BAD_EFFORT) for value in ("", None, 42, ["high"])),  # S12, S16
        ({"cwd": 7}, 'The "paths[0]" argument must be of type string. Received type number (7)'),  # S18
        ({"cwd": None}, 'The "paths[0]" argument must be of type string. Received null'),
        ({"provider": "nobody"}, 'no adapter registered for provider "nobody"'),  # S23
        ({"provider": ""}, 'no adapter registered for provider ""'),
        ({"provider": 5}, 'no adapter registered for provider "5"'),
        ({"provider": None}, 'no adapter registered for provider "null"'),
        ({"model": ""}, 'adapter returned invalid exact model metadata for provider "echo" model ""'),  # S25
        ({"model": 5.0}, 'adapter returned invalid exact model metadata for provider "echo" model "5"'),
        ({"reasoningEffort": "turbo"}, 'provider "echo" model "m" does not support reasoning effort "turbo"'),  # S26
    ],
)
def test_s16_to_s26_refusals(changes: dict[str, Any], text: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer() as peer:
            assert await peer.refusal("initialize", {**ROUTE, **changes}) == text

    scenario()


@pytest.mark.parametrize(
    ("absent", "text"),
    [
        ("cwd", 'The "paths[0]" argument must be of type string. Received undefined'),
        ("provider", 'no adapter registered for provider "undefined"'),
        ("model", 'adapter returned invalid exact model metadata for provider "echo" model "undefined"'),
    ],
)
def test_s18_s23_s25_absent_members(absent: str, text: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer() as peer:
            params = {name: value for name, value in ROUTE.items() if name != absent}
            assert await peer.refusal("initialize", params) == text

    scenario()


@asynchronous
async def test_s15_the_first_failing_check_is_the_reply() -> None:
    broken = {"reasoningEffort": "", "maxTokens": 0, "cwd": 0, "provider": "?", "model": ""}
    texts = [BAD_EFFORT, BAD_CAP, 'The "paths[0]"', 'no adapter registered for provider "?"', "adapter returned invalid"]
    async with Peer() as peer:
        for name, text in zip(list(broken), texts, strict=True):
            assert (await peer.refusal("initialize", broken)).startswith(text)
            broken[name] = {**ROUTE, "reasoningEffort": "high", "maxTokens": 1}[name]


@asynchronous
async def test_s11_s17_what_passes() -> None:
    async with Peer() as peer:
        for changes in ({"maxTokens": 1.0}, {"maxTokens": 2**53 - 1}, {"reasoningEffort": "low"}, {"more": None}):
            assert await peer.initialize(**changes) == SERVER_INFO


@asynchronous
async def test_s19_s20_cwd_is_made_absolute_and_need_not_exist() -> None:
    async with Peer(revision="0.2.1") as peer:
        for given, cwd in (("no/./such/../dir", f"{os.getcwd()}/no/dir"), ("/a//b/..", "/a"), ("", os.getcwd())):  # noqa: PTH109
            await peer.initialize(cwd=given)
            assert await peer.request("session/working-directory/get", {"sessionId": given or "-"}) == {"cwd": cwd}


@asynchronous
async def test_s21_the_owner_of_a_provider_is_used() -> None:
    own = EchoAdapter(DEEPSEEK)
    async with Peer(EmbeddedHost(adapters=Adapters(own)), mount=lambda: pytest.fail("a second adapter")) as peer:
        await peer.initialize(provider=DEEPSEEK)
        await peer.run("hi")
        assert len(own.requests) == 1


@asynchronous
async def test_s22_the_deepseek_adapter_is_mounted_once_and_disposed_of_at_shutdown() -> None:
    class Mounted(EchoAdapter):
        closed = 0

        async def close(self) -> None:
            Mounted.closed += 1

    mounted: list[Mounted] = []

    def mount() -> Mounted:
        mounted.append(Mounted(DEEPSEEK))
        return mounted[-1]

    async with Peer(mount=mount) as peer:
        await peer.refusal("initialize", {**ROUTE, "provider": DEEPSEEK, "model": ""})
        assert len(mounted) == 1  # S28: it stays, though initialize failed
        await asyncio.gather(peer.initialize(provider=DEEPSEEK), peer.initialize(provider=DEEPSEEK))
        await peer.run("hi")
        await peer.request("shutdown")
        assert len(mounted) == Mounted.closed == 1
        assert peer.host.adapters.owner(DEEPSEEK) is None


@pytest.mark.parametrize("provider", ["deepseek", "deepseek-official ", "DeepSeek-Official"])
def test_s22_s23_no_other_provider_is_mounted(provider: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer(mount=lambda: pytest.fail("mounted")) as peer:
            text = f'no adapter registered for provider "{provider}"'
            assert await peer.refusal("initialize", {**ROUTE, "provider": provider}) == text

    scenario()


@asynchronous
async def test_s23_without_any_model_service() -> None:
    host: Any = EmbeddedHost()
    host.adapters = None
    async with Peer(host) as peer:
        assert await peer.refusal("initialize", ROUTE) == 'no adapter registered for provider "echo"'


@asynchronous
async def test_s28_a_failed_initialize_changes_nothing() -> None:
    async with Peer(revision="0.2.1") as peer:
        bad = {**ROUTE, "cwd": "/elsewhere", "model": ""}
        await peer.refusal("initialize", bad)
        assert await peer.refusal("session/wait", {"sessionId": "s"}) == "SDK server is not initialized"  # S37
        await peer.initialize()
        await peer.refusal("initialize", bad)
        assert await peer.request("session/working-directory/get", {"sessionId": "s"}) == {"cwd": "/tmp"}


@asynchronous
async def test_s35_a_second_initialize_is_for_new_sessions() -> None:
    async with Peer(revision="0.2.1") as peer:
        await peer.initialize(model="one", maxTokens=3)
        await peer.run("a", session="old")
        await peer.initialize(model="two", reasoningEffort="low")
        await peer.run("b", session="old")
        await peer.run("c", session="new")
        used = [(each.route.model, each.route.max_tokens) for each in peer.host.adapters.owner("echo").requests]
        assert used == [("one", 3), ("one", 3), ("two", 4096)]


@asynchronous
async def test_s29_the_older_revision_stores_before_it_looks() -> None:
    async with Peer(revision="2026-07-29") as peer:
        await peer.initialize()
        text = 'no adapter registered for provider "nobody"'
        assert await peer.refusal("initialize", {**ROUTE, "provider": "nobody", "model": ""}) == text
        assert await peer.prompt("hi") == {"accepted": True}
        (end,) = peer.events("s", "turn/end")
        assert end["data"]["reason"]["failure"]["message"] == text


@asynchronous
async def test_s39_the_older_revision_has_no_gate() -> None:
    adapter = EchoAdapter(DEEPSEEK)
    async with Peer(EmbeddedHost("2026-07-29", adapters=Adapters(adapter)), "2026-07-29") as peer:
        assert await peer.prompt("hi") == {"accepted": True}
        assert adapter.requests[0].route.model == DEEPSEEK
        assert peer.host.agents["s"].working_directory == os.getcwd()  # noqa: PTH109
