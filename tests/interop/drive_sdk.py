"""Drives a runtime with the real Python SDK: `drive_sdk.py RUNTIME SCENARIO`. Runs in the SDK's own environment.

Prints what happened as one JSON object; `drive.mjs` does the same with the npm client, in the same words.
"""
# pyright: reportMissingImports=false

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from deepseek_harness import DeepSeekHarness
from deepseek_harness.errors import JsonRpcError
from pydantic import BaseModel

PNG = "iVBORw0KGgo="
"""The signature of a PNG file, and no more."""


class Anything(BaseModel):
    """A result of which nothing is expected."""


def told(result: Any) -> dict[str, Any]:
    """What a run came to."""
    return {
        "session": result.session_id,
        "final": result.final_response,
        "finish": result.finish_reason,
        "events": [event["type"] for event in result.events],
        "methods": [notification.method for notification in result.notifications],
    }


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def refused(call: Callable[[], object]) -> list[Any]:
    """Code and message of the error that comes."""
    try:
        return ["no error", call()]
    except JsonRpcError as error:
        return [error.code, error.message]


def initialize(client: Any, **changes: Any) -> Any:
    params = {"cwd": os.getcwd(), "provider": "echo", "model": "m", **changes}  # noqa: PTH109
    return client.request("initialize", params, response_model=Anything)


def prompts(harness: DeepSeekHarness) -> Any:
    return [told(harness.run("Say hello.", session_id="s1")), told(harness.run("Again, 你好 🎉.", session_id="s1"))]


def overlap(harness: DeepSeekHarness) -> Any:
    harness.start()
    begun = threading.Event()
    with ThreadPoolExecutor() as pool:
        one = pool.submit(harness.run, "echo:slow 300 one", session_id="s1", on_notification=lambda _: begun.set())
        begun.wait()
        others = [pool.submit(harness.run, words, session_id=session) for words, session in (("two", "s1"), ("three", "s2"))]
        return [told(run.result()) for run in (one, *others)]


def subagent(harness: DeepSeekHarness) -> Any:
    harness.start()
    with harness.client.subscribe_session_notifications("s1") as subscription:
        result = told(harness.run("echo:child echo:slow 20 Count the files.", session_id="s1"))
        seen: list[Any] = []
        while not seen or seen[-1].method != "subagent.finished":
            seen.append(subscription.next())
    edges = [notification.payload for notification in seen if notification.method.startswith("subagent.")]
    return {"run": result, "started": edges[0], "finished": edges[-1]}


def errors(harness: DeepSeekHarness) -> Any:
    client = harness.client
    client.start()
    return {
        "early": refused(lambda: client.session_prompt("s1", text("Too early."))),
        "provider": refused(lambda: initialize(client, provider="nobody")),
        "effort": refused(lambda: initialize(client, reasoningEffort="turbo")),
        "initialized": bool(initialize(client)),
        "image": refused(lambda: client.session_prompt("s1", [{"type": "image", "data": PNG, "mimeType": "image/jpeg"}])),
        "failed": told(harness.run("echo:fail AUTH You may not.", session_id="s2")),
        "capped": told(harness.run("echo:max-tokens So far.", session_id="s3")),
    }


def invalid(harness: DeepSeekHarness) -> Any:
    harness.start()
    client = harness.client
    return {
        "method": refused(lambda: client.request("session/cancel", {"sessionId": "s1"}, response_model=Anything)),
        "tokens": refused(lambda: initialize(client, maxTokens=0)),
    }


def methods(harness: DeepSeekHarness) -> Any:
    session = harness.start_session("s1")
    here = session.get_working_directory()
    session.set_working_directory(os.path.dirname(here))  # noqa: PTH120
    harness.client.session_prompt("s1", text("echo:slow 50 Hello."))
    waited = harness.client.request("session/wait", {"sessionId": "s1"}, response_model=Anything).model_dump()
    return {
        "cwd": [here, session.get_working_directory()],
        "waited": waited,
        "resume": refused(lambda: harness.client.resume_session("nobody")),
    }


def hang(harness: DeepSeekHarness) -> Any:
    harness.start()
    return bool(harness.client.session_prompt("s1", text("echo:hang Wait.")))


def main() -> None:
    runtime, scenario = sys.argv[1:]
    harness = DeepSeekHarness(dsh_bin=runtime, dsh_home=os.environ["DSH_HOME"])
    try:
        found = globals()[scenario](harness)
    finally:
        harness.close()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
