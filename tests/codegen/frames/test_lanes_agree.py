"""What a quick lane accepts, the reference accepts with nothing to report; and the lanes accept nearly all that there is."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec
import pytest
from jsonschema import Draft202012Validator, SchemaError

from dsh_codegen.frames.compiled import Compiled
from dsh_codegen.frames.structs import MISSES, Structs, careful
from tests.codegen.frames.lanes import LOGS, Reference, bundle, dump, effort, mutant, words_of
from tests.codegen.frames.random_schemas import random_bundle, random_value
from tests.vectors.corpus import NAMES, each_revision, vectors

HEALTHY: Final = {"0.2.1": "*.jsonl", "0.1.5": "*_0.1.5*.jsonl", "0.1.1": "*_0.1.[02]*.jsonl"}
"""Captures of real runtimes, by the revision that they speak."""


@dataclass(frozen=True)
class Lanes:
    """Both quick lanes of a bundle, and what they are held to. `accepted` counts."""

    structs: Structs
    compiled: Compiled
    reference: Reference
    accepted: Counter[str]

    def faults(self, line: bytes) -> list[str]:
        """What is wrong with how the lanes take a line."""
        return [*self._calls(line), *self._responses(line), *self._values(line)]

    def _calls(self, line: bytes) -> Iterator[str]:
        for name, decode, takes in (
            ("rows", careful(self.structs.rows), self.reference.takes_row),
            ("frames", careful(self.structs.frames), self.reference.takes_line),
        ):
            try:
                decoded = decode(line)
            except MISSES:
                continue
            self.accepted[name] += 1
            frame = decoded.frame if name == "rows" else decoded
            if takes(line) != self.structs.calls[type(frame)].method:
                yield f"{name} accepts {line!r}"

    def _responses(self, line: bytes) -> Iterator[str]:
        for name, decode, takes in (
            ("response_rows", self.structs.response_rows, self.reference.takes_row),
            ("responses", self.structs.responses, self.reference.takes_line),
        ):
            try:
                decoded = decode(line)
            except MISSES:
                continue
            response = decoded.frame if name == "response_rows" else decoded
            failed = response.result is msgspec.UNSET
            if failed or self.structs.accepts(None, response.result):
                self.accepted[name] += 1
                if takes(line) != "":
                    yield f"{name} accepts {line!r}"
            for row in () if failed else self.reference.methods.values():
                if row.get("result") and self.structs.accepts(row["result"], response.result):
                    self.accepted["results"] += 1
                    if not self.reference.is_clean(row["result"], json.loads(bytes(response.result))):
                        yield f"{row['result']} accepts {bytes(response.result)!r}"

    def _values(self, line: bytes) -> Iterator[str]:
        try:
            value = self.reference.read(line)
        except (ValueError, RecursionError):
            return
        frame = value.get("frame", value) if isinstance(value, dict) else None
        if not isinstance(frame, dict) or not isinstance(frame.get("method"), str):
            return
        row = self.reference.methods.get(frame["method"])
        if row is not None and row.get("params") and self.compiled.is_valid(row["params"], frame.get("params")):
            self.accepted["compiled"] += 1
            if not self.reference.is_valid(row["params"], frame.get("params")):
                yield f"compiled accepts {line!r}"


@cache
def lanes(revision: str) -> Lanes:
    made = bundle(revision)
    return Lanes(Structs(made), Compiled(made), Reference(made), Counter())


def captures(folder: Path, pattern: str) -> list[Path]:
    newest = pattern == "*.jsonl"
    return [path for path in sorted((folder / "captures").glob(pattern)) if not newest or "_0.1." not in path.name]


def lines_of(paths: Sequence[Path]) -> Iterator[bytes]:
    for path in paths:
        yield from path.read_bytes().split(b"\n")


def bare(line: bytes) -> bytes:
    """The frame of a capture row, as its own line."""
    frame = json.loads(line).get("frame")
    return b"" if frame is None else json.dumps(frame).encode()


# --- what there is


@pytest.mark.parametrize("name", NAMES)
def test_logs_of_all_releases_under_every_revision(name: str, reference_dir: Path) -> None:
    tried = lanes(name)
    faults = [
        fault
        for line in lines_of(captures(reference_dir, "*_0.1.*") + captures(reference_dir, "*.jsonl"))
        if line
        for each in (line, bare(line))
        for fault in tried.faults(each)
    ]
    assert not faults
    assert tried.accepted["rows"] > 500


@pytest.mark.parametrize("name", NAMES)
def test_our_own_logs_under_every_revision(name: str) -> None:
    tried = lanes(name)
    lines = [line for line in lines_of(sorted(LOGS.glob("*.jsonl"))) if line]
    assert not [fault for line in lines for fault in tried.faults(line)]
    assert lines


@pytest.mark.parametrize("revision", HEALTHY)
def test_nearly_every_frame_of_a_server_takes_the_quickest_lane(revision: str, reference_dir: Path) -> None:
    tried = lanes(revision)
    seen: Counter[str] = Counter()
    missed: list[bytes] = []
    for path in captures(reference_dir, HEALTHY[revision]):
        asked: dict[Any, str] = {}
        for line in path.read_bytes().splitlines():
            row = json.loads(line)
            frame = row.get("frame")
            if isinstance(frame, dict) and isinstance(frame.get("method"), str) and isinstance(frame.get("id"), str | int):
                asked[frame["id"]] = frame["method"]
            if row["dir"] == "s2c" and frame is not None:
                quick = accepts(tried, line, asked.get(frame.get("id")))
                seen["quick" if quick else "slow"] += 1
                missed += [] if quick else [line]
    assert seen["quick"] > 100
    assert seen["quick"] / seen.total() >= 0.99, missed[:3]


def accepts(tried: Lanes, line: bytes, asked: str | None) -> bool:
    """Whether the quickest lane takes a row, all in all; `asked` is the method that a response answers."""
    try:
        tried.structs.rows(line)
    except MISSES:
        pass
    else:
        return True
    try:
        response = tried.structs.response_rows(line).frame
    except MISSES:
        return False
    if response.result is msgspec.UNSET:
        return True
    return asked is not None and tried.structs.accepts(tried.reference.methods[asked]["result"], response.result)


@each_revision
def test_vectors(name: str) -> None:
    tried = lanes(name)
    accepted: Counter[str] = Counter()
    valid: Counter[str] = Counter()
    for vector in vectors(name):
        if vector.side == "frame":
            assert not tried.faults(dump(vector.value)), vector.id
            continue
        row = tried.reference.methods.get(vector.method, {})
        definition = vector.definition or row[vector.side]
        valid[vector.kind] += vector.valid
        if tried.compiled.is_valid(definition, vector.value):
            accepted["compiled"] += 1
            assert vector.valid, vector.id
        if tried.structs.accepts(definition, dump(vector.value)):
            accepted[vector.kind] += 1
            assert vector.valid, vector.id
            assert tried.reference.is_clean(definition, vector.value), vector.id
    assert accepted["compiled"] == valid.total()
    # what is missing are open arms, and 1.0 for an integer
    assert all(accepted[kind] >= 0.9 * valid[kind] for kind in ("minimal", "full", "arm", "enum", "null"))
    assert accepted["boundary"] > 0.7 * valid["boundary"]
    assert accepted["future"] < 0.1 * valid["future"]


# --- what might be


@pytest.mark.parametrize("name", NAMES)
def test_mutants_of_frames(name: str, reference_dir: Path) -> None:
    random = Random(f"mutants {name}")
    tried = lanes(name)
    words = words_of(bundle(name))
    kinds: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for line in lines_of(captures(reference_dir, "*_0.1.*") + captures(reference_dir, "*.jsonl")):
        if 0 < len(line) < 4000 and isinstance(frame := json.loads(line).get("frame"), dict):
            event = frame["params"].get("event", {}) if isinstance(frame.get("params"), dict) else {}
            kinds[frame.get("method") if isinstance(frame.get("method"), str) else None, event.get("type")].append(
                json.loads(line)
            )
    before = tried.accepted.copy()
    faults: list[str] = []
    for _ in range(effort(5_000)):
        row = random.choice(random.choice(list(kinds.values())))
        faults += tried.faults(mutant(row if random.random() < 0.75 else row["frame"], random, words))
    assert not faults
    new = tried.accepted - before
    assert new["compiled"] > new["rows"] > effort(5_000) // 20
    assert min(new["frames"], new["response_rows"], new["responses"], new["results"]) > 0


def test_random_schemas() -> None:
    accepted: Counter[str] = Counter()
    for seed in range(effort(200)):
        random = Random(f"schemas {seed}")
        made = random_bundle(random)
        try:
            Draft202012Validator.check_schema(made)
        except SchemaError:
            continue
        structs, compiled, reference = Structs(made), Compiled(made), Reference(made, plainly=1)
        for name, schema in made["$defs"].items():
            for _ in range(10):
                value = random_value(random, schema, made["$defs"])
                text = dump(value)
                accepted["tried"] += 1
                if compiled.is_valid(name, value):
                    accepted["compiled"] += 1
                    assert reference.is_valid(name, value), (seed, name, value)
                if structs.accepts(name, text):
                    accepted["structs"] += 1
                    assert reference.is_clean(name, value), (seed, name, value)
    assert accepted["tried"] > accepted["compiled"] > accepted["structs"] > accepted["tried"] // 5


def test_numbers_are_read_alike() -> None:
    random = Random("numbers")
    decode = msgspec.json.Decoder().decode
    for _ in range(effort(20_000)):
        digits = "".join(random.choice("0123456789") for _ in range(random.randrange(1, 25))).lstrip("0") or "0"
        text = random.choice(["", "-"]) + digits
        text += random.choice(["", "", "." + random.choice(["0", "5", "25", digits[::-1]])])
        text += random.choice(["", "", f"e{random.randrange(-330, 300)}", f"E+{random.randrange(20)}"])
        expected = json.loads(text)
        if expected in (float("inf"), float("-inf")):
            continue
        found = decode(text.encode())
        assert (type(found), repr(found)) == (type(expected), repr(expected)), text
