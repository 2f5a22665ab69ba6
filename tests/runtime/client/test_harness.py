"""`DeepSeekHarness` and `Session.run`, with fake runtimes in processes of their own."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dsh_runtime.aio.harness
import dsh_runtime.blocking.harness
from dsh_protocol import REVISIONS
from dsh_runtime import JsonRpcResponseError, LocalProtocolError, TransportClosedError
from dsh_runtime.launch import ClosingTimes, Launch
from dsh_runtime.routing import HarnessNotification
from tests.runtime.client.flavours import Flavour

Fake = Callable[..., Launch]

TIMES = ClosingTimes(shutdown=20.0, end_of_input=20.0, terminate=20.0, kill=20.0, aftermath=20.0)


def test_a_run_returns_what_happened(flavour: Flavour, fake: Fake) -> None:
    # rules C1, C7, C8, C9, C12, C27
    seen: list[HarnessNotification] = []
    with flavour.harness(fake(), times=TIMES) as harness:
        result = harness.run("hi", session_id="s", on_notification=seen.append)
    assert result.session_id == "s"
    assert result.final_response == 'echo: [{"type": "text", "text": "hi"}]'
    assert result.finish_reason == "completed"
    assert [item.method for item in result.notifications] == [
        "session.event",
        "session.status",
        "session.event",
        "session.event",
        "session.status",
    ]
    assert len(result.events) == 3
    assert seen == list(result.notifications)


def test_runs_share_one_runtime_that_starts_when_it_is_needed(flavour: Flavour, fake: Fake) -> None:
    with flavour.harness(fake(), times=TIMES) as harness:
        runs = [flavour.background(harness.run, f"prompt {number}") for number in range(4)]
        results = [run.result() for run in runs]
        session = harness.session("mine")
        results += [session.run([{"type": "text", "text": text}]) for text in ("a", "b")]
        assert harness.initialized.server_info.version == "0.0.1"
        assert harness.start().exit_code is None
    assert [re.findall('"text": "(.*?)"', result.final_response) for result in results] == [
        *([f"prompt {number}"] for number in range(4)),
        ["a"],
        ["b"],
    ]
    ids = {result.session_id for result in results}
    assert len(ids) == 5
    assert all(re.fullmatch("session-[0-9a-f]{32}", name) for name in ids - {"mine"})  # rule C26


def test_a_harness_that_was_never_used_starts_nothing(flavour: Flavour, tmp_path: Path) -> None:
    with flavour.harness(Launch("/no/such/runtime", dsh_home=tmp_path)):
        pass


def test_in_the_oldest_revision_the_end_tells_the_outcome(flavour: Flavour, fake: Fake) -> None:
    # rules C6, C10
    if "2026-07-29" not in REVISIONS:
        pytest.skip("revision 2026-07-29 is not generated yet")
    with flavour.harness(fake("old"), revision="2026-07-29", times=TIMES) as harness:
        seen: list[Any] = []
        result = harness.run("x", session_id="s", on_notification=seen.append)
        assert (result.status, result.finish_reason, len(seen)) == ("ok", "completed", 2)


def test_what_a_callback_raises_ends_the_run_only(flavour: Flavour, fake: Fake) -> None:
    def fail(item: Any) -> None:
        raise ZeroDivisionError("my mistake")

    with flavour.harness(fake(), times=TIMES) as harness:
        with pytest.raises(ZeroDivisionError, match="my mistake"):
            harness.run("x", on_notification=fail)
        assert harness.run("x").finish_reason == "completed"


def test_a_callback_may_run_out_of_time_itself(flavour: Flavour, fake: Fake) -> None:
    def fail(item: Any) -> None:
        raise TimeoutError("the callback's own")

    with flavour.harness(fake(), times=TIMES) as harness, pytest.raises(TimeoutError, match="the callback's own"):
        harness.run("x", on_notification=fail, timeout=20.0)


def test_a_time_limit_ends_the_wait_only(flavour: Flavour, fake: Fake) -> None:
    # rules C33, C34
    with flavour.harness(fake("slow"), times=TIMES) as harness:
        harness.start()
        with pytest.raises(TimeoutError, match=r"^s is not idle after 0\.2 s$"):
            harness.run("x", session_id="s", timeout=0.2)
        assert harness.start().request("still there") == {"params": {}}


def test_a_prompt_that_is_none_is_refused_here(flavour: Flavour, fake: Fake) -> None:
    with flavour.harness(fake(), times=TIMES) as harness, pytest.raises(LocalProtocolError, match="content blocks"):
        harness.run(5)


def test_a_runtime_that_dies_in_a_run_ends_it_with_the_reason(flavour: Flavour, fake: Fake) -> None:
    # rules C19, C53
    for frame in range(2, 8):
        seen: list[Any] = []
        with flavour.harness(fake(f"die-at={frame}"), times=TIMES) as harness:
            for _ in range(2):
                with pytest.raises(TransportClosedError, match=r"exit code: 7(.|\n)*about to die"):
                    harness.run("x", on_notification=seen.append)
        assert len(seen) == max(0, frame - 3 if frame > 4 else 0)


# handshakes


def test_a_failed_handshake_is_reaped_and_may_be_tried_again(flavour: Flavour, fake: Fake, tmp_path: Path) -> None:
    # rules C49, C50, C52
    with flavour.harness(fake(f"refuse-once={tmp_path / 'refused'}"), times=TIMES) as harness:
        first = harness._client
        with pytest.raises(JsonRpcResponseError, match="no adapter registered") as caught:
            harness.run("x")
        assert caught.value.__notes__ == ["the runtime ended with exit code: 0\n  no such model here"]
        assert first.exit_code == 0
        assert harness.run("x").finish_reason == "completed"


def test_a_runtime_that_does_not_start_may_be_tried_again(flavour: Flavour, tmp_path: Path, fake: Fake) -> None:
    # rule C50
    link = tmp_path / "runtime"
    launch = fake()
    assert isinstance(launch.runtime, list)
    with flavour.harness(replace(launch, runtime=[str(link), *launch.runtime[1:]]), times=TIMES) as harness:
        with pytest.raises(TransportClosedError, match="could not be started"):
            harness.run("x")
        link.symlink_to(sys.executable)
        assert harness.run("x").finish_reason == "completed"


@pytest.mark.parametrize("fault", ["mute", "garbage"])
def test_a_handshake_that_is_not_answered_is_given_up(flavour: Flavour, fake: Fake, fault: str) -> None:
    # rules C36, C37, C49
    with flavour.harness(fake(fault), initialize_timeout=0.05, times=ClosingTimes(shutdown=0.01)) as harness:
        client = harness._client
        with pytest.raises(TimeoutError, match=r"initialize: no response within 0\.05 s") as caught:
            harness.start()
        assert caught.value.__notes__[0].startswith("the runtime ended with exit code: ")
        assert client.exit_code is not None


def test_a_runtime_that_dies_at_once_fails_the_handshake(flavour: Flavour, fake: Fake) -> None:
    # rules C49, C53
    with flavour.harness(fake("die"), times=TIMES) as harness:
        for _ in range(2):
            with pytest.raises(TransportClosedError, match=r"exit code: 3(.|\n)*no such profile"):
                harness.start()


def test_if_the_reaping_fails_too_both_are_told_and_nothing_more_is_started(
    flavour: Flavour, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # rule C51
    async def fails_later() -> None:
        await close(harness._client._target)
        raise TimeoutError("did not exit")

    def fails() -> None:
        close(harness._client)
        raise TimeoutError("did not exit")

    kind: Any = flavour.client_module.HarnessClient
    close = kind.close
    harness = flavour.harness(fake("refuse"), times=TIMES)
    with monkeypatch.context() as patch:
        patch.setattr(kind, "close", lambda _: fails_later() if flavour.name == "aio" else fails())
        for _ in range(2):
            with pytest.raises(BaseExceptionGroup, match="so did ending the runtime") as caught:
                harness.start()
            assert [type(error) for error in caught.value.exceptions] == [JsonRpcResponseError, TimeoutError]
    harness.close()


def test_after_closing_nothing_runs(flavour: Flavour, fake: Fake) -> None:
    # rules C47, C48
    used, unused = flavour.harness(fake(), times=TIMES), flavour.harness(fake(), times=TIMES)
    used.run("x")
    for harness in (used, unused):
        harness.close()
        harness.close()
        with pytest.raises(TransportClosedError, match="client is closed"):
            harness.run("x")


def test_closing_ends_a_run(flavour: Flavour, fake: Fake) -> None:
    with flavour.harness(fake("slow"), times=TIMES) as harness:
        under_way = threading.Event()
        run = flavour.background(harness.run, "x", on_notification=lambda _: under_way.set())
        assert under_way.wait(20)
    with pytest.raises(TransportClosedError, match="client is closed"):
        run.result()


# asyncio alone


def test_a_callback_may_be_a_coroutine(flavour: Flavour, fake: Fake) -> None:
    # rule C12
    if flavour.name == "blocking":
        pytest.skip("there are no coroutines")
    seen = []

    async def slow(item: HarnessNotification) -> None:
        await asyncio.sleep(0)
        seen.append(item)

    with flavour.harness(fake(), times=TIMES) as harness:
        assert list(harness.run("x", on_notification=slow).notifications) == seen


def test_a_cancelled_run_leaves_the_runtime_up_and_a_cancelled_start_leaves_nothing(flavour: Flavour, fake: Fake) -> None:
    if flavour.name == "blocking":
        pytest.skip("there is nothing to cancel")

    async def run() -> None:
        async with dsh_runtime.aio.harness.DeepSeekHarness(fake("slow"), times=TIMES) as harness:
            client = await harness.start()
            under_way = asyncio.Event()
            task = asyncio.create_task(harness.run("x", on_notification=lambda _: under_way.set()))
            await under_way.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await client.request("any") == {"params": {}}
        async with dsh_runtime.aio.harness.DeepSeekHarness(fake("mute"), times=replace(TIMES, shutdown=0.01)) as harness:
            client = harness._client
            starting = asyncio.create_task(harness.start())
            while client._process is None or not client._transport:
                await asyncio.sleep(0)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
            assert client.exit_code in (0, -signal.SIGTERM)

    flavour.call(run)


@pytest.mark.parametrize("name", ["DeepSeekHarness", "Session"])
def test_both_flavours_have_the_same_names_in_the_same_order(name: str) -> None:
    def public(module: Any) -> list[str]:
        return [member for member in vars(getattr(module, name)) if not member.startswith("_")]

    assert public(dsh_runtime.blocking.harness) == public(dsh_runtime.aio.harness)
