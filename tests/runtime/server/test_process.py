"""`dsh-runtime` as a process: its command line, its exit codes, and nothing but frames on its standard output."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import dsh_protocol
import dsh_runtime
from dsh_runtime.__main__ import main
from dsh_runtime.server import REVISIONS
from dsh_runtime.server.process import serve_stdio
from tests.runtime.server.peer import PATIENCE, ROUTE, findings
from tests.runtime.server.test_initialize import LoadingHost

PATHS: Final = os.pathsep.join(str(Path(str(each.__file__)).parents[1]) for each in (dsh_runtime, dsh_protocol))


class Process:
    """A runtime process and what it writes."""

    def __init__(self, *args: str, script: str | None = None, **environment: str) -> None:
        command = [sys.executable, *(["-c", script] if script else ["-m", "dsh_runtime"]), *args]
        self.environment = {**os.environ, "PYTHONPATH": PATHS, "DSH_HOME": "/nowhere", **environment}
        self.environment.pop("PYTHONUNBUFFERED", None)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment
        )
        self.frames: list[dict[str, Any]] = []

    def send(self, method: str, params: Any = None, ident: int = 1) -> None:
        assert self.process.stdin
        frame = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        frame: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.frames.append(frame)
        return frame

    def answer(self, method: str, params: Any = None) -> dict[str, Any]:
        self.send(method, params)
        while "id" not in (frame := self.read()):
            pass
        return frame

    def prompt(self, text: str) -> None:
        blocks = [{"type": "text", "text": text}]
        assert "result" in self.answer("session/prompt", {"sessionId": "s", "contentBlocks": blocks})

    def until(self, text: str) -> None:
        """Read until a frame has this in it."""
        while text not in json.dumps(self.read()):
            pass

    def end(self) -> tuple[int, str, str]:
        """Close the input. The exit code, the rest of the output, and all of standard error."""
        process = self.process
        assert process.stdin
        assert process.stdout
        assert process.stderr
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        output, errors = process.stdout.read(), process.stderr.read()
        return process.wait(PATIENCE), output.decode(), errors.decode()

    def wait(self) -> int:
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        with self.process:  # closes its pipes
            if self.process.poll() is None:
                self.process.kill()


@pytest.fixture
def started() -> Iterator[Any]:
    """Starts runtimes, initialized ones unless told otherwise, and sees to it that none is left."""
    processes: list[Process] = []

    def start(*args: str, initialize: bool = True, **options: str) -> Process:
        process = Process(*args, **options)
        processes.append(process)
        if initialize:
            assert "result" in process.answer("initialize", ROUTE)
        return process

    yield start
    for process in processes:
        process.kill()


def test_s161_shutdown_exits_with_0_by_itself(started: Any) -> None:
    process = started()
    process.prompt("hi")
    assert process.answer("shutdown")["result"] == {}
    assert process.wait() == 0
    assert process.end() == (0, "", "")


def test_s169_the_end_of_the_input_before_initialize(started: Any) -> None:
    assert started(initialize=False).end() == (0, "", "")


def test_s125_s169_the_end_of_the_input_within_a_turn(started: Any) -> None:
    process = started()
    process.prompt("echo:hang on")
    process.until("session/title")
    code, output, errors = process.end()
    assert (code, errors) == (0, "")
    assert "turn/end" not in output
    assert '"idle"' not in output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_s171_signals(started: Any, number: int, code: int) -> None:
    process = started()
    process.prompt("echo:hang on")
    process.until("session/title")
    process.process.send_signal(number)
    assert process.wait() == code
    assert process.end()[1:] == ("", "")


def test_s160_a_failed_shutdown_leaves_it_running_until_the_input_ends(started: Any) -> None:
    process = started("--revision", "0.2.1")
    process.answer("session/prompt", {"sessionId": "", "contentBlocks": []})
    process.until('"idle"')
    assert process.answer("shutdown")["error"]["message"] == "cannot encode an empty path segment"
    assert "unknown" in process.answer("still/there")["error"]["message"]
    code, output, errors = process.end()
    assert (code, output) == (0, "")
    assert "cannot encode an empty path segment" in errors


def test_s173_nothing_but_frames_on_standard_output(started: Any) -> None:
    process = started()
    process.prompt("echo:print dirt")
    process.until('"idle"')
    process.answer("shutdown")
    assert process.wait() == 0
    code, output, errors = process.end()
    assert (code, output) == (0, "")
    assert errors.splitlines() == ["dirt"] * 3


POLLUTER: Final = """
import asyncio, ctypes, os, sys
sys.stdout.write("buffered before\\n")
ctypes.CDLL(None).printf(b"held back by C before\\n")
from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import serve_stdio
early = sys.stdout
class Loud(EmbeddedHost):
    async def ready(self):
        early.write("buffered within\\n")
        print("printed within")
        os.write(1, b"written within\\n")
        ctypes.CDLL(None).printf(b"held back by C within\\n")
        assert sys.stdin.read() == ""
code = asyncio.run(serve_stdio(Loud()))
print("after", code)
"""


def test_s173_what_buffers_hold_back_and_the_streams_come_back_afterwards(started: Any) -> None:
    process = started(script=POLLUTER)
    assert process.answer("shutdown")["result"] == {}
    code, output, errors = process.end()
    assert (code, output) == (0, "after 0\n")
    lines = [
        "buffered before",
        "held back by C before",
        *(f"{kind} within" for kind in ("buffered", "printed", "written", "held back by C")),
    ]
    assert {line for line in errors.splitlines() if line} == set(lines)


FAILING: Final = """
import asyncio, sys
from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import serve_stdio
class Broken(EmbeddedHost):
    async def ready(self):
        raise OSError("the plugin is missing")
sys.exit(asyncio.run(serve_stdio(Broken())))
"""


def test_s172_a_host_that_fails_to_load(started: Any) -> None:
    process = started(initialize=False, script=FAILING)
    assert process.wait() == 1
    assert process.end() == (1, "", "dsh-runtime: the runtime failed to load: the plugin is missing\n")


STUCK: Final = """
import asyncio, sys
import dsh_runtime.server.process as process
from dsh_runtime.embedded import EmbeddedHost
process.PATIENCE = 0.05
class Stuck(EmbeddedHost):
    async def dispose(self):
        await asyncio.Event().wait()
sys.exit(asyncio.run(process.serve_stdio(Stuck())))
"""


def test_s170_the_exit_is_forced_if_the_host_hangs(started: Any) -> None:
    assert started(script=STUCK).end() == (0, "", "")


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_run_of_everything_is_captured_and_valid(started: Any, revision: str, tmp_path: Path) -> None:
    log = tmp_path / "frames.jsonl"
    process = started("--capture", str(log), DSH_REVISION=revision)
    for text in (
        "hello",
        "echo:reason hello",
        "echo:tool x",
        "echo:tool-error x",
        "echo:fail AUTH no",
        "echo:break RATE half of it",
        "echo:max-tokens cut",
        "echo:slow 1 x",
        "echo:child echo:child echo:fail AUTH deep",
    ):
        process.prompt(text)
    while sum(frame.get("method") == "subagent.finished" for frame in process.frames) < 2:
        process.read()
    assert process.answer("shutdown")["result"] == {}
    assert process.wait() == 0
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [row["frame"] for row in rows if row["dir"] == "s2c"] == process.frames
    ids = iter(range(len(rows)))
    current = -1
    for row in rows:  # this client used one id for everything
        if row["dir"] == "c2s":
            row["frame"]["id"] = current = next(ids)
        elif "id" in row["frame"]:
            row["frame"]["id"] = current
    assert not findings(rows, revision)


def test_files_as_standard_streams(tmp_path: Path) -> None:
    (tmp_path / "in").write_text('{"id":1,"method":"no"}\n')
    environment = {**os.environ, "PYTHONPATH": PATHS, "DSH_HOME": "x"}
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        command = [sys.executable, "-m", "dsh_runtime"]
        assert (
            subprocess.run(command, stdin=source, stdout=target, env=environment, timeout=PATIENCE, check=False).returncode == 0
        )


@pytest.mark.parametrize(
    ("args", "environment", "code", "text"),
    [
        (["--profile", "none"], {}, 2, "invalid choice"),
        (["--profile"], {}, 2, "expected one argument"),
        (["--what"], {}, 2, "unrecognized arguments: --what"),
        (["--rev", "0.1.5"], {}, 2, "unrecognized arguments"),
        (["--revision", "9"], {}, 2, "no revision '9'; there are 2026-07-29, 0.1.5, 0.2.1"),
        ([], {"DSH_REVISION": "8"}, 2, "no revision '8'"),
        ([], {"DSH_HOME": ""}, 2, "DSH_HOME has to name a directory"),
        (["--patch", "/no/such/file"], {}, 1, "failed to load: [Errno 2] No such file"),
        ([], {"DSH_MAX_TOKENS_AS_SUCCESS": "yes"}, 1, "DSH_MAX_TOKENS_AS_SUCCESS is true or false"),
    ],
)
def test_s172_c60_what_it_can_not_use(
    args: list[str],
    environment: dict[str, str],
    code: int,
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"DSH_HOME": "/nowhere", **environment}.items():
        monkeypatch.setenv(name, value)
    try:
        status: Any = main(args)
    except SystemExit as error:
        status = error.code
    output, errors = capsys.readouterr()
    assert (status, output) == (code, "")
    assert text in errors
    assert errors.count("\n") == 1


def test_help_tells_the_directives_and_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    output = capsys.readouterr().out
    for name in ("reason", "tool", "tool-error", "child", "max-tokens", "fail", "break", "slow", "hang", "print"):
        assert f"    echo:{name} " in output
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("dsh-runtime ")


@pytest.mark.parametrize(("value", "status"), [(None, "ok"), ("true", "ok"), ("false", "error")])
def test_s154_the_profile_sdk_reads_max_tokens_as_success(started: Any, value: str | None, status: str) -> None:
    process = started("--profile", "sdk", **({"DSH_MAX_TOKENS_AS_SUCCESS": value} if value else {}))
    process.prompt("echo:child echo:max-tokens cut")
    process.until("subagent.finished")
    assert process.frames[-1]["params"]["status"] == status


def test_s154_the_minimal_profile_does_not(started: Any) -> None:
    process = started("--profile", "sdk-minimal")
    process.prompt("echo:child echo:max-tokens cut")
    process.until("subagent.finished")
    assert process.frames[-1]["params"]["status"] == "error"


def test_a_command_line_of_the_real_one(started: Any, tmp_path: Path) -> None:
    patch = tmp_path / "patch.yml"
    patch.write_text("[]\n")
    process = started("--profile", "sdk", "--patch", str(patch), "--patch", str(patch))
    assert process.end()[0] == 0


IMPORTING: Final = """
import sys
before = set(sys.modules)
import dsh_runtime.embedded, dsh_runtime.server
found = {name.partition(".")[0] for name in sys.modules.keys() - before}
print(sorted(found - sys.stdlib_module_names - {"typing_extensions"}))
"""


def test_the_embedded_host_needs_no_schema_library(started: Any) -> None:
    process = started(initialize=False, script=IMPORTING)
    assert process.end()[1] == "['dsh_protocol', 'dsh_runtime', 'msgspec']\n"


def test_standard_streams_are_given_back_in_the_same_process(tmp_path: Path) -> None:
    async def serve() -> int:
        host = LoadingHost()
        host.loaded.set()
        return await serve_stdio(host)

    source, feed = os.pipe()
    os.write(feed, b'{"id":1,"method":"shutdown"}\n')
    kept = [os.dup(0), os.dup(1)]
    with (tmp_path / "out").open("wb") as target:
        os.dup2(source, 0)
        os.dup2(target.fileno(), 1)
        try:
            assert asyncio.run(serve()) == 0
            os.write(1, b"mine again")
        finally:
            os.dup2(kept[0], 0)
            os.dup2(kept[1], 1)
            for descriptor in (source, feed, *kept):
                os.close(descriptor)
    assert (tmp_path / "out").read_bytes() == b'{"jsonrpc":"2.0","id":1,"result":{}}\nmine again'
