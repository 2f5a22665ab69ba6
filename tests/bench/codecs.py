"""Small events from bytes to dataclasses, in one process: CPU time against `orjson.loads` alone, shuffled rounds."""
# pyright: reportMissingImports=false

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import orjson

import dsh_protocol

LOG: Final = Path(__file__).parents[1] / "fixtures" / "logs" / "healthy-0.1.5.jsonl"
SMALL: Final = 1000
"""Bytes."""

REPEAT: Final = 1000
ROUNDS: Final = 9


def small_events() -> list[bytes]:
    """The notifications of a real log that are small."""
    frames = [json.loads(line)["frame"] for line in LOG.read_text(encoding="utf-8").splitlines()]
    lines = [orjson.dumps(frame) for frame in frames if frame and frame.get("method") == "session.event"]
    return [line for line in lines if len(line) < SMALL]


def decode_typed(lines: list[bytes]) -> None:
    """As the runtime does it."""
    parse, decode = msgspec.json.Decoder().decode, dsh_protocol.METHODS["session.event"].decode_params
    for line in lines:
        decode(parse(line)["params"])


def decode_msgspec(lines: list[bytes]) -> None:
    parse = msgspec.json.Decoder().decode
    for line in lines:
        parse(line)


def decode_orjson(lines: list[bytes]) -> None:
    parse = orjson.loads
    for line in lines:
        parse(line)


def decode_json(lines: list[bytes]) -> None:
    parse = json.loads
    for line in lines:
        parse(line)


WAYS: Final[dict[str, Callable[[list[bytes]], None]]] = {
    "orjson.loads alone": decode_orjson,
    "msgspec alone": decode_msgspec,
    "json.loads alone": decode_json,
    "parse and typed decode": decode_typed,
}


def measure(rounds: int = ROUNDS, repeat: int = REPEAT) -> list[dict[str, float]]:
    """Microseconds of CPU time per frame, for each way and round."""
    lines = small_events()
    decode_typed(lines)
    many = lines * repeat
    found = []
    for _ in range(rounds):
        row: dict[str, float] = {}
        for name in random.sample(list(WAYS), len(WAYS)):
            start = time.process_time()
            WAYS[name](many)
            row[name] = (time.process_time() - start) / len(many) * 1e6
        found.append(row)
    return found
