"""Tell what happened in a frame log, with generated dataclasses: `python decode_log.py LOG`.

Rows are `{"ts", "dir", "frame"}`, as the tests' fixtures have them. Only notifications are decoded here; responses would need
the method of their request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dsh_protocol import v0_2_1 as dsh


def notifications(log: Path) -> Iterator[tuple[str, Any]]:
    """Method and parsed params of each notification."""
    for line in log.read_text(encoding="utf-8").splitlines():
        frame = json.loads(line)["frame"]
        if isinstance(frame, dict) and "method" in frame and "id" not in frame:
            yield frame["method"], frame["params"]


def describe(event: dsh.SessionEvent) -> str | None:
    """One line for the events a reader of a conversation cares about."""
    match event:
        case dsh.AssistantMessageEvent(data=data):
            blocks = [block.text if isinstance(block, dsh.TextBlock) else f"<{block.type}>" for block in data.message.content]
            return f"assistant: {' '.join(blocks)}"
        case dsh.ToolCallEvent(data=data):
            return f"tool {data.name}: {data.arguments}"
        case dsh.TurnEndEvent(data=data):
            return f"turn {data.turn} ended: {data.reason.kind}"
        case dsh.UnknownSessionEvent(type=kind):
            return f"an event of a newer peer: {kind}"
        case _:
            return None


def main(log: Path) -> None:
    """Print the story of one log."""
    for method, params in notifications(log):
        payload = dsh.decode_params(method, params)
        if isinstance(payload, dsh.SessionEventNotification):
            text = describe(payload.event)
            if text is not None:
                print(f"{payload.event.seq:4}  {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
