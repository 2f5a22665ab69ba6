"""Runtimes that die, go silent or talk nonsense: every caller gets an answer or the truth."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import pytest

import dsh_runtime.aio.client
import dsh_runtime.blocking.client
from dsh_runtime import JsonRpcResponseError, TransportClosedError
from dsh_runtime.launch import Launch
from tests.runtime.client.fixtures import ample_but
from tests.runtime.client.flavours import Flavour

Fake = Callable[..., Launch]


def drive(flavour: Flavour, client: Any, requests: int) -> list[Any]:
    """Many requests, all under way at once in asyncio, eight at a time in threads. The result or the error of each."""
    if flavour.name == "aio":
        target = client._target

        async def run() -> list[Any]:
            calls = (target.request("any", {"n": number}) for number in range(requests))
            return await asyncio.gather(*calls, return_exceptions=True)

        return flavour.call(run)  # type: ignore[no-any-return]
    futures = [flavour.background(client.request, "any", {"n": number}) for number in range(requests)]
    return [future.exception() or future.result() for future in futures]


@pytest.mark.parametrize("frame", [1, 2, 3, 10, 100, 333, 500, 777, 998, 999, 1000])
@pytest.mark.parametrize(("fault", "exit_code"), [("die-at", 7), ("kill-at", -signal.SIGKILL)])
def test_a_runtime_that_dies_at_any_frame_leaves_no_caller_without_an_answer(
    flavour: Flavour, fake: Fake, fault: str, exit_code: int, frame: int
) -> None:
    # rule C53
    with flavour.client(fake(f"{fault}={frame}"), times=ample_but()) as client:
        outcomes = drive(flavour, client, 1000)
        answered = [outcome for outcome in outcomes if isinstance(outcome, dict)]
        failed = [outcome for outcome in outcomes if isinstance(outcome, TransportClosedError)]
        assert len(answered) + len(failed) == 1000
        assert len(answered) < frame  # less are possible: a write that fails can come before an answer that was sent
        assert {error.exit_code for error in failed} == {exit_code}
        assert {error.stderr_tail for error in failed} == {("about to die",) if fault == "die-at" else ()}


def test_a_runtime_that_closes_its_output_only_is_gone_too(flavour: Flavour, fake: Fake) -> None:
    # rules C19, C53
    with flavour.client(fake("close-stdout"), times=ample_but(aftermath=0.01)) as client:
        subscription = client.subscribe()
        with pytest.raises(TransportClosedError, match="JSON-RPC input closed") as caught:
            client.request("any")
        assert caught.value.exit_code is None
        with pytest.raises(TransportClosedError, match="JSON-RPC input closed"):
            subscription.get()
        assert client.exit_code is None


def test_subscribers_learn_how_the_runtime_ended_after_what_it_sent(flavour: Flavour, fake: Fake) -> None:
    # rules C19, C53
    with flavour.client(fake("die-at=4"), times=ample_but()) as client:
        subscription = client.subscribe()
        client.prompt("s", "x")
        assert [subscription.get().method for _ in range(2)] == ["session.event", "session.status"]
        with pytest.raises(TransportClosedError, match=r"exit code: 7(.|\n)*about to die"):
            subscription.get()


def test_noise_and_floods_disturb_nothing(flavour: Flavour, fake: Fake) -> None:
    # rules C23, C53
    with flavour.client(fake("noise", "flood"), times=ample_but()) as client:
        client.initialize()
        for number in range(5):
            assert client.request("any", {"n": number}) == {"params": {"n": number}}
        client.request("ready")
    assert client.stderr_tail == tuple(f"line {number}" for number in range(19_600, 20_000))


def test_garbage_is_no_answer(flavour: Flavour, fake: Fake) -> None:
    # rules C23, C56
    with flavour.client(fake("garbage"), times=ample_but(shutdown=0.01)) as client:
        client.request("ready")
        with pytest.raises(TimeoutError):
            client.initialize(timeout=0.05)


def test_a_refusal_leaves_the_runtime_up(flavour: Flavour, fake: Fake) -> None:
    # rule C55
    with flavour.client(fake("refuse"), times=ample_but()) as client:
        with pytest.raises(JsonRpcResponseError, match="no adapter registered"):
            client.initialize()
        assert client.request("any") == {"params": {}}


@pytest.mark.parametrize("module", [dsh_runtime.aio.client, dsh_runtime.blocking.client])
def test_both_flavours_have_the_same_names_in_the_same_order(module: Any) -> None:
    def public(kind: Any) -> list[str]:
        return [name for name in vars(kind) if not name.startswith("_")]

    assert public(module.HarnessClient) == public(dsh_runtime.aio.client.HarnessClient)
