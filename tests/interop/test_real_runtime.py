"""Our clients with the real runtime 0.2.1, offline: the model is `mock_model`. Every frame has to pass `dsh-codegen validate`.

The runtime is the one that `DSH_RUNTIME` names, the installed wheel's, or `dsh` on PATH.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_protocol import encode
from dsh_runtime import JsonRpcResponseError, TransportClosedError
from dsh_runtime.capture import CaptureLog
from dsh_runtime.content import image_block
from dsh_runtime.launch import ClosingTimes, Launch, find_runtime
from dsh_runtime.routing import UndecodedEvent
from tests.interop.mock_model import MockModel
from tests.runtime.client.flavours import Flavour

pytestmark = pytest.mark.interop

ROOT: Final = Path(__file__).resolve().parents[2]
TIMES: Final = ClosingTimes(shutdown=20.0, end_of_input=20.0, terminate=20.0, kill=20.0, aftermath=20.0)
LIMIT: Final = 60.0
"""Seconds for a run. None takes that long unless something is wrong."""


@pytest.fixture(scope="module")
def runtime() -> tuple[str, ...]:
    try:
        return find_runtime(os.environ)
    except FileNotFoundError as error:
        pytest.skip(f"{error}: run `make interop`")


@pytest.fixture
def model() -> Iterator[MockModel]:
    with MockModel() as made:
        yield made


@pytest.fixture
def launch(runtime: tuple[str, ...], model: MockModel, tmp_path: Path) -> Launch:
    (tmp_path / "work").mkdir()
    quiet = {"DSH_TELEMETRY_MODE": "DISABLED", "DSH_PERMISSION_MODE": "danger-full-access"}
    return Launch(runtime, dsh_home=tmp_path / "home", api_key="x", base_url=model.url, env=quiet)


@pytest.fixture
def harness(flavour: Flavour, launch: Launch, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes a harness whose frames are captured; in the end it is closed, and all frames are judged."""
    capture = tmp_path / "frames.jsonl"
    made: list[Any] = []
    with CaptureLog(capture, "client") as log:

        def make(**options: Any) -> Any:
            options = {"cwd": tmp_path / "work", "revision": "0.2.1", "times": TIMES, "observer": log, **options}
            made.append(flavour.harness(launch, **options))
            return made[-1]

        yield make
        for each in made:
            each.close()
    if capture.stat().st_size:
        command = [sys.executable, "-m", "dsh_codegen", "validate", "--revision", "0.2.1", str(capture)]
        verdict = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
        assert verdict.returncode == 0, verdict.stdout + verdict.stderr


def kinds(result: Any) -> list[str]:
    """The types of a result's events; all of them have been decoded."""
    assert not [item for item in result.notifications if isinstance(item.params, UndecodedEvent)]
    return [event.type for event in result.events]


def test_a_prompt(harness: Callable[..., Any]) -> None:
    mine = harness()
    seen: list[Any] = []
    result = mine.run("Say hello.", session_id="session-1", on_notification=seen.append, timeout=LIMIT)
    assert result.final_response == "Hello, this is the mock model."
    assert result.finish_reason == "completed"
    assert kinds(result)[0] == "agent/inbox/spliced"
    assert kinds(result)[-1] == "turn/end"
    assert seen == list(result.notifications)
    again = mine.run("And again.", session_id="session-1", timeout=LIMIT)
    assert "system/message" not in kinds(again)
    assert mine.start().exit_code is None


def test_two_sessions_at_once(flavour: Flavour, harness: Callable[..., Any]) -> None:
    mine = harness()
    runs = [flavour.background(mine.run, f"mock:meet {number}", timeout=LIMIT) for number in range(2)]
    results = [run.result() for run in runs]
    assert [result.final_response for result in results] == ["We met."] * 2
    assert len({result.session_id for result in results}) == 2
    for result in results:
        assert {item.raw["sessionId"] for item in result.notifications} == {result.session_id}


def test_a_tool_call(harness: Callable[..., Any], tmp_path: Path) -> None:
    result = harness().run("mock:tool Make a file.", timeout=LIMIT)
    assert result.final_response == "The file is there."
    events = dict(zip(kinds(result), result.events, strict=True))
    assert events["tool/call"].data.name == "bash"
    assert "alpha\\nbeta" in json.dumps(encode(events["tool/result"]))
    assert (tmp_path / "work" / "notes.txt").read_text(encoding="utf-8") == "alpha\nbeta\n"


def test_reasoning(harness: Callable[..., Any]) -> None:
    result = harness(reasoning_effort="max").run("mock:reason What is 17 x 23?", timeout=LIMIT)
    assert result.final_response == "17 x 23 = 391."
    events = dict(zip(kinds(result), result.events, strict=True))
    content = events["assistant/message"].data.message.content
    assert [block.type for block in content] == ["reasoning", "text"]


def test_max_tokens(harness: Callable[..., Any], model: MockModel) -> None:
    result = harness(max_tokens=8).run("mock:length Tell me a story.", timeout=LIMIT)
    assert (result.final_response, result.finish_reason) == ("This answer is cut off because", "max-tokens")
    assert model.requests[0]["max_tokens"] == 8
    kinds(result)


def test_a_model_that_refuses(harness: Callable[..., Any]) -> None:
    result = harness().run("mock:unauthorized Say hello.", timeout=LIMIT)
    assert (result.final_response, result.finish_reason) == ("", "error")
    assert "assistant/attempt" in kinds(result)


def test_a_subagent(harness: Callable[..., Any]) -> None:
    mine = harness()
    with mine.start().subscribe_session_tree("parent") as tree:
        mine.run("mock:subagent Count the files.", session_id="parent", timeout=LIMIT)
        seen: list[Any] = []
        while not seen or seen[-1].method != "subagent.finished":
            seen.append(tree.get(timeout=LIMIT))
    first = next(item for item in seen if item.method == "subagent.started")
    child = first.params.child_session_id
    assert first.params.parent_session_id == "parent"
    last = seen[-1].params
    assert (last.child_session_id, last.parent_session_id, last.status) == (child, "parent", "ok")
    assert [block.text for block in last.last_assistant_message] == ["There is one file."]
    assert {item.raw["sessionId"] for item in seen if "sessionId" in item.raw} == {"parent", child}
    assert not [item for item in seen if isinstance(item.params, UndecodedEvent)]


def png(width: int, height: int) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\x80" * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_an_image(harness: Callable[..., Any]) -> None:
    # rule S65
    mine = harness()
    result = mine.run([{"type": "text", "text": "What is this?"}, image_block(png(32, 16))], timeout=LIMIT)
    blocks = next(event for event in result.events if event.type == "user/message").data.content
    assert [block["type"] if isinstance(block, dict) else block.type for block in blocks] == ["text", "image"]
    assert result.finish_reason == "completed"
    assert kinds(result)[-1] == "turn/end"
    with pytest.raises(JsonRpcResponseError, match="Declared image type does not match its bytes"):
        mine.run([image_block(png(8, 8), "image/jpeg")], timeout=LIMIT)


def test_a_refused_handshake_ends_the_runtime(harness: Callable[..., Any]) -> None:
    # rules C49, C52
    mine = harness(model="no-such-model", reasoning_effort="turbo")
    client = mine._client
    with pytest.raises(JsonRpcResponseError, match="reasoning effort") as caught:
        mine.start()
    assert caught.value.__notes__[0].startswith("the runtime ended with exit code: 0")
    assert client.exit_code == 0


def test_methods_of_this_revision(harness: Callable[..., Any], tmp_path: Path) -> None:
    mine = harness()
    client = mine.start()
    methods = client.dialect.module.METHODS
    get = methods["session/working-directory/get"]
    where = client.request(get, get.params(session_id="s"), timeout=LIMIT)
    assert Path(where.cwd) == tmp_path / "work"
    client.prompt("s", "Say hello.", timeout=LIMIT)
    wait = methods["session/wait"]
    assert client.request(wait, wait.params(session_id="s"), timeout=LIMIT) is not None


def test_a_method_that_there_is_not(harness: Callable[..., Any]) -> None:
    # rules S2, S9
    client = harness(observer=None).start()
    with pytest.raises(JsonRpcResponseError, match="unknown DeepSeek Harness SDK runtime method: session/cancel"):
        client.request("session/cancel", timeout=LIMIT)


def test_shutdown_ends_it_with_zero(harness: Callable[..., Any]) -> None:
    # rules S155, S161, S167
    mine = harness()
    client = mine.start()
    client.prompt("s", "mock:wait Take your time.", timeout=LIMIT)
    mine.close()
    assert (client.exit_code, client.shutdown_error) == (0, None)


def test_a_runtime_that_is_killed(flavour: Flavour, harness: Callable[..., Any], model: MockModel) -> None:
    # rules C19, C53
    mine = harness()
    client = mine.start()
    running = threading.Event()
    run = flavour.background(mine.run, "mock:wait Take your time.", on_notification=lambda _: running.set())
    assert model.asked.wait(LIMIT)
    assert running.wait(LIMIT)
    os.kill(client._process.pid, signal.SIGKILL)
    with pytest.raises(TransportClosedError) as caught:
        run.result()
    assert caught.value.exit_code == -signal.SIGKILL
