from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from dsh_runtime import TransportClosedError
from dsh_runtime.launch import ClosingTimes, Launch, StderrTail, add_last_words, find_runtime, gone, survived


def test_the_command_line_names_the_profile_and_each_patch() -> None:
    # rule C59
    launch = Launch("/opt/dsh", patches=["a.yml", Path("/etc/b.yml")])
    assert launch.argv() == ("/opt/dsh", "--profile", "sdk", "--patch", "a.yml", "--patch", "/etc/b.yml")


def test_a_runtime_may_be_a_whole_command() -> None:
    assert Launch(["node", "runtime.mjs"], profile="sdk-minimal").argv() == ("node", "runtime.mjs", "--profile", "sdk-minimal")


def test_older_runtimes_are_configured_by_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # rule C61
    monkeypatch.delenv("DSH_HOME", raising=False)
    launch = Launch(["dsh-jsonrpc"], profile=None, env={"DSH_CORDIS_CONFIG": "cordis.yml", "DSH_CWD": "/w"})
    assert launch.argv() == ("dsh-jsonrpc",)
    assert launch.environment()["DSH_CORDIS_CONFIG"] == "cordis.yml"


@pytest.mark.parametrize("home", [None, "", "  "])
def test_there_has_to_be_a_home(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # rule C60
    monkeypatch.delenv("DSH_HOME", raising=False)
    with pytest.raises(ValueError, match="needs a home"):
        Launch("/opt/dsh", dsh_home=home).environment()


def test_the_home_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # rule C60
    monkeypatch.setenv("DSH_HOME", "/of/the/process")
    assert Launch("dsh").environment()["DSH_HOME"] == "/of/the/process"
    assert Launch("dsh", env={"DSH_HOME": "/of/env"}).environment()["DSH_HOME"] == "/of/env"
    assert Launch("dsh", dsh_home=Path("/given"), env={"DSH_HOME": "/of/env"}).environment()["DSH_HOME"] == "/given"


def test_credentials_go_by_environment_and_stay_out_of_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    # rule C62
    monkeypatch.setenv("DEEPSEEK_API_KEY", "the process's")
    launch = Launch("dsh", dsh_home="/h", api_key="secret", base_url="http://localhost:1", env={"TOKEN": "hidden"})
    environment = launch.environment()
    assert environment["DEEPSEEK_API_KEY"] == "secret"
    assert environment["DEEPSEEK_BASE_URL"] == "http://localhost:1"
    assert environment["PATH"]
    assert "secret" not in f"{launch} {launch.argv()}"
    assert "hidden" not in str(launch)
    assert Launch("dsh", dsh_home="/h").environment()["DEEPSEEK_API_KEY"] == "the process's"


def test_the_runtime_is_found_by_variable_wheel_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = tmp_path / "dsh"
    executable.write_text("#!/bin/sh\n", encoding="utf-8")
    executable.chmod(0o755)
    monkeypatch.setitem(sys.modules, "deepseek_harness_runtime", None)
    assert find_runtime({"PATH": str(tmp_path)}) == (str(executable),)
    wheel = ModuleType("deepseek_harness_runtime")
    wheel.resolve_bundled_launch_args = lambda: ("/wheel/runtime",)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "deepseek_harness_runtime", wheel)
    assert find_runtime({"PATH": str(tmp_path)}) == ("/wheel/runtime",)
    assert find_runtime({"DSH_RUNTIME": "node 'my runtime.mjs'"}) == ("node", "my runtime.mjs")
    spaced = tmp_path / "with space"
    spaced.touch()
    assert find_runtime({"DSH_RUNTIME": str(spaced)}) == (str(spaced),)
    monkeypatch.setenv("DSH_RUNTIME", "/from/the/environment")
    assert Launch().argv()[0] == "/from/the/environment"
    assert Launch(env={"DSH_RUNTIME": "/from/env"}).argv()[0] == "/from/env"


def test_no_runtime_says_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deepseek_harness_runtime", None)
    with pytest.raises(FileNotFoundError, match=r"DSH_RUNTIME.*deepseek-harness-runtime-bin.*PATH"):
        find_runtime({"PATH": "/nowhere"})


def test_the_steps_of_closing_take_the_documented_times() -> None:
    # rules C38, C41, C42, C43
    times = ClosingTimes()
    assert (times.shutdown, times.end_of_input, times.terminate, times.kill) == (1.0, 1.0, 1.0, 3.0)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_tail_keeps_the_last_lines_however_they_arrive(size: int) -> None:
    # rule C53
    data = "".join(f"line {number}\n" for number in range(1000)).encode() + b"the \xff end"
    tail = StderrTail()
    for start in range(0, len(data), size):
        tail.feed(data[start : start + size])
    assert tail.lines() == (*(f"line {number}" for number in range(601, 1000)), "the \ufffd end")


def test_the_tail_is_bounded_in_bytes_too() -> None:
    tail = StderrTail(lines=2, line_bytes=4)
    for _ in range(1000):
        tail.feed(b"x" * 1000)
    tail.feed(b"\r\nab\r\n" + b"y" * 1000 + b"\n")
    assert tail.lines() == ("ab", "yyyy")
    assert StderrTail().lines() == ()


def test_errors_say_what_is_known_of_the_process() -> None:
    # rules C45, C53
    assert str(gone(["dsh", "a b"], "JSON-RPC input closed", 3, ("no", "way"))) == (
        "JSON-RPC input closed (command: dsh 'a b') (exit code: 3); the last of its stderr:\n  no\n  way"
    )
    assert str(survived(ClosingTimes(kill=0.25), accepted=True)) == (
        "runtime process did not exit within 250ms after SIGKILL was accepted"
    )
    assert str(survived(ClosingTimes(), accepted=False)).endswith("3000ms after SIGKILL was refused")


def test_last_words_are_noted_once() -> None:
    # rule C52
    error = RuntimeError("no")
    add_last_words(error, 1, ("a", "b"))
    assert error.__notes__ == ["the runtime ended with exit code: 1\n  a\n  b"]
    closed = TransportClosedError("gone", exit_code=1)
    add_last_words(closed, 1, ())
    assert not hasattr(closed, "__notes__")
