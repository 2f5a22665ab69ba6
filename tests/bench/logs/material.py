"""Real conversations as templates, whose ids and times are filled in anew each time.

A log of a runtime is one stream: it begins with `initialize`, ends with `shutdown`, and has the conversations in between. So a
capture falls into three parts, and only the middle one is repeated. Each repetition has ids of its own; equal ids stay equal.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from .growth import fill_tools, grow

ROOT: Final = Path(__file__).parents[3]
FIXTURE: Final = ROOT / "tests" / "fixtures" / "logs" / "healthy.jsonl"
LEFT_OUT: Final = ("h", "h2", "i", "k2", "l1", "o1", "l7", "l3", "l4")
"""Captures, by the first part of their name, whose clients send bad frames or leave in the middle."""

VARIANTS: Final = 16
"""How often the texts of each conversation are mixed anew, so that a compressor does not find all of them again."""

LONG_ANSWER: Final = 59_000
"""Bytes of the line that holds an answer of 2,000 pieces, as a real runtime wrote it."""

DAY: Final = 86_400_000

Row = dict[str, Any]


class Line(NamedTuple):
    """`template` takes seconds and microseconds of the row, then one number for each slot: the tag, or a time in ms."""

    after: int
    """Microseconds from the beginning of the conversation."""
    template: bytes
    slots: tuple[int | None, ...]
    """What each number is: None for the tag of the conversation, else milliseconds from its beginning."""

    def render(self, tag: int, begin: int) -> bytes:
        """The line of a conversation with this tag (32 bits) that began at a time (epoch, microseconds)."""
        at, start = begin + self.after, begin // 1000
        return self.template % (
            at // 1_000_000,
            at % 1_000_000,
            *[tag if slot is None else start + slot for slot in self.slots],
        )


Conversation = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """What a log is made of: how it begins, variants of all conversations, and how it ends."""

    opening: Conversation
    variants: tuple[tuple[Conversation, ...], ...]
    closing: Conversation
    origin: str


def captures() -> list[Path]:
    """Healthy captures of the newest runtime in the reference directory, if there is one."""
    folder = os.environ.get("DSH_REFERENCE_DIR")
    found = sorted((ROOT / folder / "captures").glob("*.jsonl")) if folder else []
    return [path for path in found if path.stem.split("_")[0] not in LEFT_OUT and not re.search(r"_\d+\.\d+\.\d+", path.stem)]


def gather(paths: Sequence[Path], variants: int = VARIANTS) -> Material:
    """Templates of our own log and of these captures. Without captures, our own has a long answer now and then."""
    own = read(FIXTURE)
    fill_tools(own)
    talks = [split(rows)[1] for rows in (own, *map(read, paths))]
    origin = f"{len(talks)} conversations of real captures"
    if not paths:
        talks = [*talks * 24, [grow(row, LONG_ANSWER, {"assistant/message"}) for row in talks[0]]]
        origin = "one real conversation, and once in 25 times a long answer in it"
    opening, _, closing = split(own)
    random = Random(1)
    mixed = tuple(tuple(templates([vary(row, random) for row in talk]) for talk in talks) for _ in range(variants))
    return Material(templates(opening), mixed, templates(closing), origin)


def read(path: Path) -> list[Row]:
    """The rows of a capture."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """How a log begins, what is said in it, and how it ends."""
    parts: dict[str, list[Row]] = {"initialize": [], "": [], "shutdown": []}
    ids: dict[Any, str] = {}
    for row in rows:
        frame = row["frame"]
        if frame is None:
            parts["shutdown"].append(row)
            continue
        if frame.get("method") in ("initialize", "shutdown"):
            ids[frame["id"]] = frame["method"]
        parts[ids.get(frame.get("id"), "")].append(row)
    return parts["initialize"], parts[""], parts["shutdown"]


def templates(rows: Sequence[Row]) -> Conversation:
    """A conversation with slots where it has ids and times."""
    begin = round(rows[0]["ts"] * 1_000_000)
    ids = sorted({found for row in rows for found in find_ids(row)}, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ids)) or '(?!)'})(?![\w-])|(?<![\w.-])1\d{{12}}(?![\w.])")
    lines = []
    for row in rows:
        slots: list[int | None] = []

        def fill(match: re.Match[str], slots: list[int | None] = slots) -> str:
            found = match[0]
            if not found.isdigit():
                slots.append(None)
                return re.sub("[0-9a-f]{8}$", "", found) + "%08x" if re.search("[0-9a-f]{8}$", found) else found + "-%08x"
            if abs(int(found) - begin // 1000) > DAY:
                return found
            slots.append(int(found) - begin // 1000)
            return "%d"

        rest = {name: value for name, value in row.items() if name != "ts"}
        text = pattern.sub(fill, json.dumps(rest, ensure_ascii=False, separators=(",", ":")).replace("%", "%%"))
        after = round(row["ts"] * 1_000_000) - begin
        lines.append(Line(after, f'{{"ts":%d.%06d,{text[1:]}\n'.encode(), tuple(slots)))
    return tuple(lines)


def find_ids(value: Any) -> Iterator[str]:
    """Whatever names a session, a request, a message, a call, a job ...; not the digest of an image."""
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, str) and (name == "id" or name.endswith("Id")) and ":" not in member:
                yield member
            yield from find_ids(member)
    elif isinstance(value, list):
        for item in value:
            yield from find_ids(item)


def vary(value: Any, random: Random) -> Any:
    """The same with the words of texts, and the pieces of streamed ones, in another order."""
    if isinstance(value, dict):
        return {name: shuffled(name, member, random) for name, member in value.items()}
    return [vary(item, random) for item in value] if isinstance(value, list) else value


def shuffled(name: str, value: Any, random: Random) -> Any:
    """A member's value for `vary`."""
    if name == "text" and isinstance(value, str):
        words = value.split(" ")
        return " ".join(random.sample(words, len(words)))
    if name == "texts" and isinstance(value, list):
        return random.sample(value, len(value))
    return vary(value, random)
