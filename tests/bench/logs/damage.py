"""Lines broken as they break in life: members that are missing, misspelt or of another type, and lines that are no JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

Row = dict[str, Any]


def damage(line: bytes, random: Random) -> bytes | None:
    """The line with one defect, still ended by a line feed; None if it is no event of a session."""
    row = json.loads(line)
    if (row["frame"] or {}).get("method") != "session.event":
        return None
    number = random.randrange(len(IN_ROWS) + len(IN_LINES))
    if number >= len(IN_ROWS):
        return IN_LINES[number - len(IN_ROWS)](line)
    IN_ROWS[number](row)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def seq_is_text(row: Row) -> None:
    event = row["frame"]["params"]["event"]
    event["seq"] = str(event["seq"])


def time_is_missing(row: Row) -> None:
    del row["frame"]["params"]["event"]["time"]


def data_is_a_list(row: Row) -> None:
    event = row["frame"]["params"]["event"]
    event["data"] = [event["data"]]


def session_is_misspelt(row: Row) -> None:
    params = row["frame"]["params"]
    params["sessionID"] = params.pop("sessionId")


def method_is_misspelt(row: Row) -> None:
    row["frame"]["method"] = "session.events"


def deep_inside(row: Row) -> None:
    """In an answer, deep inside its stream; in other events, at their turn."""
    data = row["frame"]["params"]["event"]["data"]
    streamed = [record for record in data.get("stream", ()) if record.get("dt")]
    if streamed:
        streamed[-1]["dt"][-1] = "0"
    elif "turn" in data:
        data["turn"] = str(data["turn"])
    else:
        seq_is_text(row)


def torn(line: bytes) -> bytes:
    return line[: len(line) // 2] + b"\n"


def not_a_number(line: bytes) -> bytes:
    return line.replace(b'"seq":', b'"seq":NaN,"was":', 1)


IN_ROWS: Final[tuple[Callable[[Row], None], ...]] = (
    seq_is_text,
    time_is_missing,
    data_is_a_list,
    session_is_misspelt,
    method_is_misspelt,
    deep_inside,
)
IN_LINES: Final[tuple[Callable[[bytes], bytes], ...]] = (torn, not_a_number)
