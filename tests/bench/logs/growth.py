"""Rows made longer: answers streamed in many pieces, and long results of tools."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any, Final

TOOLS: Final = 25
"""How many tools a real request has. Our own log was cut to a few."""

PIECE: Final = 29
"""Bytes that a piece of an answer takes: as a piece, twice in the text as a whole, and its time."""


def fill_tools(rows: list[dict[str, Any]]) -> None:
    """Repeat the tools of requests until there are as many as in a real one."""
    for row in rows:
        event = event_of(row)
        if event.get("type") == "request/header":
            header = event["data"]["header"]
            header["tools"] = (header["tools"] * TOOLS)[:TOOLS]


def grow(row: dict[str, Any], size: int, types: set[str]) -> dict[str, Any]:
    """The row with about `size` bytes, if its event is of one of these types: `assistant/message` or `tool/result`."""
    event = event_of(row)
    missing = size - len(json.dumps(row, separators=(",", ":")))
    if event.get("type") not in types or missing <= 0:
        return row
    row = deepcopy(row)
    data = event_of(row)["data"]
    text = next(block for block in data["message"]["content"] if block["type"] == "text")
    if event["type"] == "tool/result":
        text["text"] += "".join(f"{name}\\n" for name in words(missing // 10))
        return row
    pieces = [f"{word} " for word in words(missing // PIECE)]
    record = next(each for each in data["stream"] if each["type"] == "text-chunks")
    whole = next(each for each in data["stream"] if each.get("chunk", {}).get("block", {}).get("type") == "text")
    record["texts"] += pieces
    record["dt"] += [0] * len(pieces)
    text["text"] += "".join(pieces)
    whole["chunk"]["block"]["text"] = text["text"]
    return row


def event_of(row: dict[str, Any]) -> dict[str, Any]:
    """The event in a row, or an empty one."""
    event: dict[str, Any] = (((row["frame"] or {}).get("params")) or {}).get("event", {})
    return event


def words(count: int) -> list[str]:
    """As many words of seven letters."""
    random = Random(count)
    return ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(count)]
