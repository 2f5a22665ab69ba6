"""Payloads from logs: params by method, and results by the request that they answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.generated.revisions import Revision


@dataclass(frozen=True, slots=True)
class Payload:
    """Params or result of one frame: what it has to be, and where it was seen."""

    origin: str
    method: str
    kind: str
    definition: str | None
    value: Any
    from_server: bool


def payloads(revision: Revision, log: Path) -> Iterator[Payload]:
    """Every payload in `log` whose method `revision` knows. An id stands for its latest request."""
    asked: dict[tuple[str, str], str] = {}
    for number, line in enumerate(log.read_text(encoding="utf-8").split("\n"), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        frame, origin = row.get("frame"), f"{log.name}:{number}"
        if not isinstance(frame, dict):
            continue
        method, answers, key = frame.get("method"), "s2c" if row["dir"] == "c2s" else "c2s", json.dumps(frame.get("id"))
        from_server = row["dir"] == "s2c"
        if isinstance(method, str) and method in revision.methods:
            asked[answers, key] = method
            definition = revision.methods[method]["params"]
            yield Payload(origin, method, "params", definition, frame.get("params"), from_server)
        elif "result" in frame and (row["dir"], key) in asked:
            method = asked[row["dir"], key]
            yield Payload(origin, method, "result", revision.methods[method]["result"], frame["result"], from_server)
