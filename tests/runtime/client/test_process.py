"""Real child processes with real faults: nothing hangs, every caller hears the truth, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dsh_runtime.aio.client
import dsh_runtime.blocking.client
from dsh_runtime import TransportClosedError
from dsh_runtime.launch import Launch
from tests.runtime.client.fixtures import ample_but, descriptors
from tests.runtime.client.flavours import PATIENCE, Flavour

Fake = Callable[..., Launch]

# starting


def test_a_command_that_cant_be_run_is_named(flavour: Flavour, tmp_path: Path) -> None:
    # rule C53
    for runtime in (str(tmp_path), "/no/such runtime"):
        client = flavour.client(Launch(runtime, dsh_home=tmp_path))
        with pytest.raises(TransportClosedError, match=r"could not be started: .*--profile sdk") as caught:
            client.start()
        assert isinstance(caught.value.__cause__, OSError)
        client.close()


def test_a_directory_that_is_not_there_is_named(flavour: Flavour, tmp_path: Path) -> None:
    client = flavour.client(Launch("/bin/true", dsh_home=tmp_path, cwd=tmp_path / "gone"))
    with pytest.raises(TransportClosedError, match="gone"), client:
        pass


def test_without_a_home_nothing_is_started(flavour: Flavour, monkeypatch: pytest.MonkeyPatch) -> None:
    # rule C60
    monkeypatch.delenv("DSH_HOME", raising=False)
    with pytest.raises(ValueError, match="home"), flavour.client(Launch("/bin/true")):
        pass


def test_a_runtime_that_dies_at_once_is_reported_with_its_last_words(flavour: Flavour, fake: Fake) -> None:
    # rule C53
    with flavour.client(fake("die"), times=ample_but()) as client:
        for attempt in (client.initialize, client.initialize, lambda: client.prompt("s", "x")):
            with pytest.raises(TransportClosedError) as caught:
                attempt()
            assert caught.value.exit_code == 3
            assert caught.value.stderr_tail == ("cannot load: no such profile",)
            assert re.search(r"fake_runtime.py.? die --profile sdk\) \(exit code: 3\); .*\n  cannot load", str(caught.value))
        assert client.exit_code == 3


def test_a_process_has_the_environment_it_was_given(flavour: Flavour, fake: Fake, tmp_path: Path) -> None:
    # rules C59, C60, C62
    with flavour.client(fake(), times=ample_but()) as client:
        client.request("ready")
        environment = Path(f"/proc/{client._process.pid}/environ").read_bytes().split(b"\0")
        assert f"DSH_HOME={tmp_path}".encode() in environment


# closing


@pytest.mark.parametrize(
    ("faults", "times", "exit_codes", "answered"),
    [
        ((), {}, [0], True),
        (("flood",), {}, [0], True),
        (("noise",), {}, [0], True),
        (("deaf",), {"end_of_input": 0.01}, [-signal.SIGTERM], True),
        (("deaf", "stubborn"), {"end_of_input": 0.01, "terminate": 0.01}, [-signal.SIGKILL], True),
        (("mute", "deaf"), {"shutdown": 0.01, "end_of_input": 3 * PATIENCE}, [-signal.SIGTERM], False),
        (("mute", "deaf", "stubborn"), {"shutdown": 0.01, "terminate": 0.01}, [-signal.SIGKILL], False),
        (("mute",), {"shutdown": 0.01}, [0, -signal.SIGTERM], False),
        (("garbage",), {"shutdown": 0.01}, [0, -signal.SIGTERM], False),
    ],
)
def test_closing_goes_down_the_ladder_as_far_as_it_has_to(
    flavour: Flavour, fake: Fake, faults: tuple[str, ...], times: dict[str, float], exit_codes: list[int], answered: bool
) -> None:
    # rules C41, C42, C43, C44, C46, C47
    client = flavour.client(fake(*faults), times=ample_but(**times))
    client.start()
    client.request("ready")
    begun = time.monotonic()
    client.close()
    client.close()
    assert time.monotonic() - begun < PATIENCE
    assert client.exit_code in exit_codes
    assert (client.shutdown_error is None) is answered


@pytest.mark.parametrize("faults", [("blind", "stubborn"), ("blind",)])
def test_a_runtime_that_never_reads_holds_nobody(flavour: Flavour, fake: Fake, faults: tuple[str, ...]) -> None:
    client = flavour.client(fake(*faults), times=ample_but(shutdown=0.05, terminate=0.05))
    client.start()
    writing = flavour.background(client.request, "any", {"much": "x" * 5_000_000})
    client.close()
    with pytest.raises(TransportClosedError):
        writing.result()
    assert client.exit_code in (-signal.SIGKILL, -signal.SIGTERM)


def test_a_runtime_that_was_never_used_is_closed_too(flavour: Flavour, fake: Fake) -> None:
    with flavour.client(fake(), times=ample_but(shutdown=0.0)):
        pass


@pytest.mark.parametrize("busy", [False, True])
def test_a_child_that_keeps_the_pipes_open_holds_nobody(flavour: Flavour, fake: Fake, busy: bool) -> None:
    client = flavour.client(fake("orphan", *(["lazy"] if busy else [])), times=ample_but(shutdown=0.05 if busy else 20.0))
    before, begun = descriptors(), time.monotonic()
    client.start()
    client.request("ready")
    pending = flavour.background(client.request, "any", {"much": "x" * 5_000_000}) if busy else None
    try:
        client.close()
        assert client.exit_code == (-signal.SIGTERM if busy else 0)
        assert time.monotonic() - begun < PATIENCE
        assert descriptors() <= before
    finally:
        os.kill(int(client.stderr_tail[0].split()[1]), signal.SIGKILL)
    if pending is not None:
        with pytest.raises(TransportClosedError):
            pending.result()


@pytest.mark.parametrize(("error", "verb"), [(PermissionError, "refused"), (None, "accepted")])
def test_a_process_that_survives_sigkill_is_an_error(
    flavour: Flavour, fake: Fake, monkeypatch: pytest.MonkeyPatch, error: type[Exception] | None, verb: str
) -> None:
    # rule C45
    client = flavour.client(fake("deaf", "stubborn"), times=ample_but(end_of_input=0.01, terminate=0.01, kill=0.01))
    client.start()
    client.request("ready")
    pid = client._process.pid

    def kill(*_: Any) -> None:
        if error is not None:
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", kill)
        with pytest.raises(TimeoutError, match=f"^runtime process did not exit within 10ms after SIGKILL was {verb}$"):
            client.close()
    os.kill(pid, signal.SIGKILL)
    finish(flavour, client)


def finish(flavour: Flavour, client: Any) -> None:
    """Reap a process that closing could not end."""
    if flavour.name == "blocking":
        client._process._process.wait()
    else:
        process = client._target._process
        flavour.call(process._exited.wait)
        flavour.call(process._transport.close)
        flavour.call(asyncio.sleep, 0)


def test_a_close_that_is_cancelled_leaves_nothing(flavour: Flavour, fake: Fake) -> None:
    if flavour.name == "blocking":
        pytest.skip("there is nothing to cancel")

    async def run(times: int, hang: str) -> int | None:
        client = dsh_runtime.aio.client.HarnessClient(fake(hang, "deaf", "stubborn"), times=ample_but(kill=20.0))
        await client.start()
        await client.request("ready")
        closing = asyncio.create_task(client.close())
        for _ in range(times):
            await asyncio.sleep(0.01)
            closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        return client.exit_code

    assert flavour.call(run, 2, "mute") == -signal.SIGKILL  # while it waits for `shutdown`, then after SIGTERM
    assert flavour.call(run, 1, "slow") == -signal.SIGKILL  # while it waits after the end of input


def test_a_close_that_is_interrupted_leaves_nothing(flavour: Flavour, fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    if flavour.name == "aio":
        pytest.skip("an interruption of asyncio is a cancellation")
    client = flavour.client(fake("deaf", "stubborn"), times=ample_but())
    client.start()
    client.request("ready")
    wait = subprocess.Popen.wait

    def interrupted(process: Any, timeout: float | None = None) -> int:
        monkeypatch.setattr(subprocess.Popen, "wait", wait)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        client.close()
    assert client.exit_code == -signal.SIGKILL
