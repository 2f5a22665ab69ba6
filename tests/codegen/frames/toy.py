"""A small protocol that has every kind of union a bundle can have, and helpers to judge frames by it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from dsh_codegen.frames import examine as examining
from dsh_codegen.frames.findings import Finding
from dsh_codegen.frames.part import Part
from dsh_codegen.frames.pending import Pending
from dsh_codegen.frames.plan import plan
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.run import Run
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def arm(tag: str, value: str, **members: Any) -> dict[str, Any]:
    """An object arm whose members are required, unless their name ends in an underscore."""
    properties = {tag: {"const": value}, **{name.rstrip("_"): schema for name, schema in members.items()}}
    required = [tag, *(name for name in members if not name.endswith("_"))]
    return {"type": "object", "properties": properties, "required": required}


TEXT: Final = {"type": "string"}
NAME: Final = {"type": "string", "minLength": 1}
COUNT: Final = {"type": "integer", "minimum": 1, "maximum": 9}

DEFINITIONS: Final[dict[str, Any]] = {
    "TextBlock": arm("type", "text", text=TEXT),
    "PictureBlock": arm("type", "picture", url=NAME, size_=ref("Size")),
    "UploadBlock": arm("type", "picture", data={"type": "string", "pattern": "^[a-f]+$"}),
    "OtherBlock": {
        "type": "object",
        "properties": {"type": {**NAME, "not": {"enum": ["text", "picture", "gone"]}}},
        "required": ["type"],
    },
    "Block": {"x-tag": "type", "x-open": True, "anyOf": [ref("TextBlock"), ref("PictureBlock"), ref("OtherBlock")]},
    "SentBlock": {
        "x-tag": "type",
        "x-by-member": {"UploadBlock": "data"},
        "anyOf": [
            {"allOf": [ref("Block"), {"not": {"properties": {"type": {"enum": ["picture"]}}, "required": ["type", "data"]}}]},
            ref("UploadBlock"),
        ],
    },
    "Size": {"anyOf": [{"type": "null"}, {"type": "object", "properties": {"wide": COUNT}, "required": ["wide"]}]},
    "Started": arm("kind", "started", at=COUNT),
    "Stopped": arm("kind", "stopped", why_={"enum": ["asked", "failed"]}, echo_={"x-lenient": True}),
    "Change": {"x-tag": "kind", "anyOf": [ref("Started"), ref("Stopped")]},
    "Placement": {"anyOf": [{"const": "append"}, {"type": "object", "properties": {"after": NAME}, "required": ["after"]}]},
    "AskParams": {
        "type": "object",
        "properties": {
            "sessionId": NAME,
            "blocks": {"type": "array", "items": ref("SentBlock")},
            "place": ref("Placement"),
            "labels": {"type": "object", "additionalProperties": ref("Change")},
        },
        "required": ["sessionId", "blocks"],
    },
    "AskResult": {"type": "object", "properties": {"id": NAME}, "required": ["id"]},
    "PingResult": {"type": "object", "properties": {}},
    "ChangeParams": {"type": "object", "properties": {"change": ref("Change")}, "required": ["change"]},
}

BUNDLE: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:toy:1",
    "x-revision": "1",
    "x-methods": [
        {"name": "ask/question", "sender": "client", "params": "AskParams", "result": "AskResult", "description": ""},
        {"name": "ping", "sender": "client", "params": None, "result": "PingResult", "description": ""},
        {"name": "change", "sender": "server", "params": "ChangeParams", "description": ""},
        {"name": "recall", "sender": "server", "params": None, "result": "PingResult", "description": ""},
    ],
    "x-errors": [{"code": -32601, "description": ""}, {"code": -32603, "description": ""}],
    "$defs": DEFINITIONS,
}


def log(*rows: Any) -> bytes:
    """Lines: text and bytes as they are, anything else as JSON."""
    lines = (row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode() for row in rows)
    return b"".join(line + b"\n" for line in lines)


def row(direction: str, frame: Any) -> dict[str, Any]:
    return {"ts": 1, "dir": direction, "frame": frame}


def request(id_: Any, method: str, *params: Any) -> dict[str, Any]:
    frame = {"jsonrpc": "2.0", "id": id_, "method": method}
    return {**frame, "params": params[0]} if params else frame


def result(id_: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": value}


def examine(data: bytes, *, strict: bool = False, protocol: Protocol | None = None) -> tuple[list[Finding], Part]:
    """The findings in one file, and all else that is known of it."""
    setup = Setup(protocol or Protocol("1", BUNDLE), strict=strict, count_undeclared=True, listed=1000)
    part = examining.examine(setup, Piece("log", "log", 0, None, data), Pending())
    found = [finding for group in part.groups for finding in group.findings]
    return sorted(found, key=lambda finding: finding.line), part


def report(setups: Sequence[Setup], *files: Path | str) -> Report:
    """The report on logs."""
    return Run(setups, None, lambda work, findings: None).over(plan(map(str, files)))


def rules(findings: Iterable[Finding]) -> list[tuple[int, str, str]]:
    """What is compared most: line, rule, path."""
    return [(finding.line, finding.rule, finding.path) for finding in findings]
