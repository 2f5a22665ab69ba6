"""What a real client has to see of `dsh-runtime`, whichever client it is. Each takes the driver and an empty folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.interop.driven import ERROR, Driver


def complete(run: dict[str, Any]) -> None:
    """From the receipt to idle, with the answer in between."""
    assert run["finish"] == "completed"
    assert run["events"][0] == "agent/inbox/spliced"
    assert run["events"][-1] == "turn/end"
    assert run["methods"][-1] == "session.status"


def prompts(driver: Driver, folder: Path) -> None:
    first, second = driver.drive("prompts", folder)
    complete(first)
    complete(second)
    assert [first["final"], second["final"]] == ["Say hello.", "Again, 你好 🎉."]
    assert "system/message" in first["events"]
    assert "system/message" not in second["events"]


def overlapping_prompts(driver: Driver, folder: Path) -> None:
    one, two, three = driver.drive("overlap", folder)
    # the first two share the time until their session is idle, so what was said last is the answer to both
    assert [run["final"] for run in (one, two, three)] == ["two", "two", "three"]
    assert [run["events"].count("turn/end") for run in (one, two, three)] == [2, 2, 1]
    assert [run["session"] for run in (one, two, three)] == ["s1", "s1", "s2"]
    for run in (one, two, three):
        complete(run)


def a_subagent(driver: Driver, folder: Path) -> None:
    found = driver.drive("subagent", folder)
    started, finished = found["started"], found["finished"]
    assert started["parentSessionId"] == finished["parentSessionId"] == "s1"
    assert started["childSessionId"] == finished["childSessionId"] != "s1"
    assert (finished["status"], finished["stopReason"]) == ("ok", "completed")
    assert finished["lastAssistantMessage"] == [{"type": "text", "text": "Count the files."}]
    assert "tool/result" in found["run"]["events"]


def errors(driver: Driver, folder: Path) -> None:
    found = driver.drive("errors", folder, invalid=("session/prompt",))  # it comes before `initialize`
    assert found["early"] == [ERROR, "SDK server is not initialized"]
    assert found["provider"] == [ERROR, 'no adapter registered for provider "nobody"']
    assert found["effort"] == [ERROR, 'provider "echo" model "m" does not support reasoning effort "turbo"']
    assert found["initialized"] is True
    assert found["image"] == [ERROR, "Unsupported or malformed image data."]
    assert (found["failed"]["final"], found["failed"]["finish"]) == ("", "error")
    assert (found["capped"]["final"], found["capped"]["finish"]) == ("So far.", "max-tokens")


def invalid_requests(driver: Driver, folder: Path) -> None:
    assert driver.drive("invalid", folder, invalid=("session/cancel", "initialize")) == {
        "method": [ERROR, "unknown DeepSeek Harness SDK runtime method: session/cancel"],
        "tokens": [ERROR, "initialize maxTokens must be a positive safe integer"],
    }


def methods_of_0_2_1(driver: Driver, folder: Path) -> None:
    found = driver.drive("methods", folder)
    assert found["cwd"] == [str(folder / "work"), str(folder)]
    assert found["waited"] == {}
    assert found["resume"] == [ERROR, 'session "nobody" not found']


def shutdown_at_work(driver: Driver, folder: Path) -> None:
    assert driver.drive("hang", folder) is True


SCENARIOS = (prompts, overlapping_prompts, a_subagent, errors, invalid_requests, shutdown_at_work)
