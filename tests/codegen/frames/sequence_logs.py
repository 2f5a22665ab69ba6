"""Healthy logs for tests of the sequencing table, and ways to put one out of order."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from dsh_codegen.frames.examine import examine
from dsh_codegen.frames.pending import Pending
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.sequencing import Sequencing, load_sequencing
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece
from dsh_codegen.frames.stream import Stream
from tests.codegen.frames.sequence_oracle import Told, judge, read

ROOT: Final = Path(__file__).parents[3]
LOGS: Final = ROOT / "tests" / "fixtures" / "logs"
TABLE: Final = json.loads((ROOT / "schema" / "sequencing.json").read_text(encoding="utf-8"))
REVISIONS: Final = ("2026-07-29", "0.1.1", "0.1.5", "0.2.1")

Rows: TypeAlias = list[Any]
Edit: TypeAlias = Callable[[Rows], None]


@cache
def bundle(revision: str) -> Any:
    folder = ROOT / "generated" / "python" / "dsh_protocol" / ("v" + re.sub(r"[.-]", "_", revision))
    return json.loads((folder / "schema.json").read_text(encoding="utf-8"))


@cache
def table(revision: str) -> Sequencing:
    return load_sequencing(TABLE, revision)


def senders(revision: str) -> dict[str, str]:
    return {row["name"]: {"client": "c2s", "server": "s2c"}[row["sender"]] for row in bundle(revision)["x-methods"]}


def told(rows: Sequence[Any], revision: str) -> tuple[list[Told], list[Told]]:
    """What the oracle says of a log. What `validate` follows it by has to say the same, however the log is cut."""
    breaches, notes = judge(read(rows, senders(revision)), table(revision))
    expected = sorted({(each.line, each.rule) for each in (*breaches, *notes)})
    assert followed(rows, revision, pieces=1) == expected
    assert followed(rows, revision, pieces=3) == expected
    return breaches, notes


@cache
def _setup(revision: str) -> Setup:
    return Setup(Protocol(revision, bundle(revision)), table(revision), listed=1000)


def followed(rows: Sequence[Any], revision: str, pieces: int) -> list[tuple[int, str]]:
    """What is said about the order of frames in a log that is cut into so many pieces: line and rule."""
    setup = _setup(revision)
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    size = -(-len(lines) // pieces) or 1
    stream = Stream(setup, examine)
    stream.open("log")
    for first in range(0, len(lines), size):
        piece = Piece("log", "log", 0, None, b"".join(lines[first : first + size]))
        stream.add(piece, examine(setup, piece, None if first else Pending()))
    groups = stream.close().groups
    return sorted({(each.line, each.rule) for group in groups for each in group.findings if each.rule.startswith("sequence/")})


def load(path: Path) -> Rows:
    """The lines of a log, parsed; None for one that is no JSON."""
    return [_parsed(line) for line in path.read_bytes().removesuffix(b"\n").split(b"\n")]


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def healthy(name: str, reference: Path | None = None) -> tuple[Rows, str]:
    """A healthy log by its name, and its revision: made by hand, one of our fixtures, or a reference capture."""
    if name == "by hand":
        return by_hand(), "2026-07-29"
    folder = LOGS if reference is None else reference / "captures"
    return load(folder / f"{name}.jsonl"), revision_of(name)


def revision_of(name: str) -> str:
    """The revision that a release spoke, by the end of the name of its log."""
    return "0.1.5" if "0.1.5" in name else "0.1.1" if "_0.1." in name else "0.2.1"


def by_hand() -> Rows:
    """Two prompts on one session and one on another under 2026-07-29, of which there are no captures."""
    rows: Rows = []
    _request(rows, 1, "initialize", {"cwd": "/workspace", "provider": "deepseek-official", "model": "deepseek-v4-flash"})
    _response(rows, 1, {"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0.0.1"}})
    for id_, session, first in ((2, "s1", 0), (3, "s1", 6), (4, "s2", 0)):
        turn = 1 + first // 6
        _request(rows, id_, "session/prompt", {"sessionId": session, "contentBlocks": []})
        call = {"turn": turn, "step": 1, "callId": f"call-{turn}", "name": "bash", "arguments": "{}"}
        source = {"kind": "tool", "callId": f"call-{turn}"}
        result = {"turn": turn, "step": 1, "message": {"id": "m", "role": "user", "content": [], "source": source}}
        for number, (type_, data) in enumerate(
            [
                ("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": {"kind": "user"}}}),
                ("step/start", {"turn": turn, "step": 1}),
                ("tool/call", call),
                ("tool/result", result),
                ("step/end", {"turn": turn, "step": 1}),
                ("turn/end", {"turn": turn, "reason": {"kind": "completed"}}),
            ],
            first,
        ):
            _notify(rows, "session.event", sessionId=session, event={"type": type_, "seq": number, "time": 1, "data": data})
        _notify(rows, "session.finished", sessionId=session, status="ok", reason={"kind": "completed"})
        _response(rows, id_, {"accepted": True})
    _request(rows, 5, "shutdown", {})
    _response(rows, 5, {})
    return rows


def _request(rows: Rows, id_: int, method: str, params: dict[str, Any]) -> None:
    rows.append({"ts": 1, "dir": "c2s", "frame": {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}})


def _response(rows: Rows, id_: int, result: dict[str, Any]) -> None:
    rows.append({"ts": 1, "dir": "s2c", "frame": {"jsonrpc": "2.0", "id": id_, "result": result}})


def _notify(rows: Rows, method: str, **params: Any) -> None:
    rows.append({"ts": 1, "dir": "s2c", "frame": {"jsonrpc": "2.0", "method": method, "params": params}})


# Edits. Lines count from 1; `to` is the line at which a frame is afterwards.


def drop(line: int) -> Edit:
    return lambda rows: rows.__delitem__(line - 1)


def move(line: int, to: int) -> Edit:
    return lambda rows: rows.insert(to - 1, rows.pop(line - 1))


def repeat(line: int, to: int) -> Edit:
    return lambda rows: rows.insert(to - 1, copy.deepcopy(rows[line - 1]))


def swap(line: int, other: int) -> Edit:
    def edit(rows: Rows) -> None:
        rows[line - 1], rows[other - 1] = rows[other - 1], rows[line - 1]

    return edit


def renumber(rows: Rows) -> None:
    """Make `seq` rise again after an edit, so that only what was edited is wrong."""
    following: dict[Any, int] = {}
    for row in rows:
        frame = row.get("frame")
        if isinstance(frame, dict) and frame.get("method") == "session.event":
            params = frame["params"]
            session, event = params["sessionId"], params["event"]
            event["seq"] = following.get(session, event["seq"])
            following[session] = event["seq"] + 1
