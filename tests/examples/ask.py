"""Ask a runtime something: `python ask.py [TEXT]`. Works offline: the runtime is our own `dsh-runtime` with its echo model.

With the real runtime, leave `runtime` out of `Launch` (it is found where it is installed) and name a provider and model.
"""

from __future__ import annotations

import sys
import tempfile

from dsh_protocol.v0_2_1 import SessionEventNotification, ToolCallEvent
from dsh_runtime import HarnessNotification, Launch
from dsh_runtime.blocking import DeepSeekHarness


def show(notification: HarnessNotification) -> None:
    """Tell of tool calls while they happen."""
    match notification.params:
        case SessionEventNotification(event=ToolCallEvent(data=call)):
            print(f"  (it calls {call.name})")
        case _:
            pass


def main(text: str) -> None:
    """One prompt, from launch to exit."""
    with tempfile.TemporaryDirectory() as home:
        launch = Launch([sys.executable, "-m", "dsh_runtime", "--revision", "0.2.1"], dsh_home=home)
        with DeepSeekHarness(launch, cwd=home, provider="echo", model="echo", revision="0.2.1") as harness:
            result = harness.run(text, on_notification=show)
            print(f"{result.final_response!r} ({result.finish_reason}, {len(result.events)} events)")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "echo:tool Hello.")
