"""Writes the logs that are judged: the same every time, made once, and kept under the directory for temporary files."""

from __future__ import annotations

import gzip
import hashlib
import heapq
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, count
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, BinaryIO, Final, cast

from .damage import damage
from .growth import grow
from .material import FIXTURE, Conversation, Material, captures, gather, read, split, templates

AT_A_TIME: Final = 8
"""Conversations that go on at the same time."""

BAD: Final = 0.01
"""Share of lines with a defect, in the log that has some."""

LONG_LINE: Final = 1 << 20
PAUSE: Final = 300_000
"""Microseconds from one conversation to the next."""

EPOCH: Final = 1_796_000_000_000_000
"""When the logs begin, in microseconds."""

BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Log:
    """A file, and what is in it: bytes before they were packed, lines, frames, and lines with a defect."""

    path: Path
    size: int
    lines: int
    frames: int
    bad: int = 0

    @property
    def packed(self) -> int:
        """Bytes of the file itself."""
        return self.path.stat().st_size


def logs(size: int, folder: Path | None = None) -> tuple[dict[str, Log], str]:
    """All logs by name, and what they are made of. The plain one has at least `size` bytes. What is there is not made anew."""
    folder = folder or Path(tempfile.gettempdir()) / f"dsh-bench-{os.getuid()}" / f"{size}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths = captures()
    key = _key(paths)
    table = folder / "logs.json"
    if table.exists():
        kept = json.loads(table.read_text(encoding="utf-8"))
        if kept["key"] == key:
            return {name: Log(**{**row, "path": folder / row["path"]}) for name, row in kept["logs"].items()}, kept["origin"]
        table.unlink()
    material = gather(paths)
    made = make(material, size, folder)
    rows = {name: {**asdict(log), "path": log.path.name} for name, log in made.items()}
    text = json.dumps({"key": key, "origin": material.origin, "logs": rows}, indent=1)
    table.write_text(text, encoding="utf-8")  # last: without it everything is made again
    return made, material.origin


def _key(paths: list[Path]) -> str:
    """Changes with anything that the logs depend on."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), FIXTURE, *paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make(material: Material, size: int, folder: Path) -> dict[str, Log]:
    """Write all logs into a folder."""
    cycle = sum(len(line.render(0, EPOCH)) for talk in material.variants[0] for line in talk)
    talks = ceil(size * len(material.variants[0]) / cycle)
    plain = write(folder / "plain.jsonl", material, talks)
    long = lengthened(LONG_LINE)
    one = folder / "one-line.jsonl"
    one.write_bytes(templates(read(FIXTURE)[12:13])[0].render(1, EPOCH))  # an event that needs no other line to be right
    return {
        "plain": plain,
        "bad": write(folder / "bad.jsonl", material, talks, BAD),
        "tenth": write(folder / "tenth.jsonl", material, ceil(talks / 10)),
        "sample": write(folder / "sample.jsonl", material, len(material.variants[0])),
        "long lines": write(folder / "long-lines.jsonl", long, max(1, size // 10 // (3 * LONG_LINE))),
        "one line": Log(one, one.stat().st_size, 1, 1),
        "gzip": pack(plain, folder / "plain.jsonl.gz", _open_gzip),
        "zstd": pack(plain, folder / "plain.jsonl.zst", _open_zstd),
    }


def lengthened(size: int) -> Material:
    """Our own log, with the answers and the result of the tool grown to lines of `size` bytes at most."""
    opening, talk, closing = split(read(FIXTURE))
    grown = [grow(row, int(size * 0.98), {"assistant/message", "tool/result"}) for row in talk]
    return Material(templates(opening), ((templates(grown),),), templates(closing), "")


def write(path: Path, material: Material, talks: int, bad: float = 0.0) -> Log:
    """A log of so many conversations; `bad` is the share of lines that get a defect."""
    random = Random(7)
    size = lines = frames = broken = due = 0
    with _whole(path) as file:
        for line in stream(material, talks):
            frames += not line.startswith(b'"frame":null', line.index(b'"frame":'))
            due += bad > 0 and random.random() < bad
            if due and (damaged := damage(line, random)) is not None:
                line, broken, due = damaged, broken + 1, due - 1
            lines += 1
            size += file.write(line)
    return Log(path, size, lines, frames, broken)


def stream(material: Material, talks: int) -> Iterator[bytes]:
    """The lines of a log of so many conversations, in the order of their times."""
    numbers = count(1)
    random = Random(3)

    def deal() -> Iterator[Conversation]:
        dealt = 0
        for variant in chain.from_iterable(material.variants for _ in count()):
            for talk in random.sample(variant, len(variant)):
                if dealt == talks:
                    return
                dealt += 1
                yield talk

    deck = deal()

    def player(begin: int) -> Iterator[tuple[int, int, bytes]]:
        for talk in deck:
            number = next(numbers)
            yield from ((begin + line.after, number, line.render(tag(number), begin)) for line in talk)
            begin += talk[-1].after + PAUSE

    yield from (line.render(tag(0), EPOCH) for line in material.opening)
    last = begin = EPOCH + material.opening[-1].after
    for at, _, text in heapq.merge(*(player(begin + PAUSE * (place + 1)) for place in range(AT_A_TIME)), key=_when):
        yield text
        last = at
    yield from (line.render(tag(0), last) for line in material.closing)


def _when(entry: tuple[int, int, bytes]) -> int:
    return entry[0]


def tag(number: int) -> int:
    """A number of 32 bits for each number, in no obvious order."""
    return number * 2_654_435_761 & 0xFFFF_FFFF


def pack(log: Log, path: Path, opener: Callable[[Path], BinaryIO]) -> Log:
    """The same log, compressed."""
    with log.path.open("rb") as plain, _whole(path, opener) as packed:
        shutil.copyfileobj(plain, packed, BLOCK)
    return Log(path, log.size, log.lines, log.frames, log.bad)


def _open_gzip(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "wb", 6))


def _open_zstd(path: Path) -> BinaryIO:
    zstd: Any = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    return cast("BinaryIO", zstd.open(path, "wb", level=3))


@contextmanager
def _whole(path: Path, opener: Callable[[Path], BinaryIO] | None = None) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete."""
    unfinished = path.with_name(f"unfinished-{path.name}")
    with opener(unfinished) if opener else unfinished.open("wb", BLOCK) as file:
        yield file
    unfinished.rename(path)
