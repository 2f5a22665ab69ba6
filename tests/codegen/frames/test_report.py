"""Choosing a revision, and groups of findings. How reports are rendered: test_formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.frames.findings import Finding
from dsh_codegen.frames.groups import MOST_GROUPS, OTHER, Groups
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.sequencing import load_sequencing
from dsh_codegen.frames.setup import Setup
from tests.codegen.frames.sequence_logs import bundle
from tests.codegen.frames.test_stream import TABLE
from tests.codegen.frames.toy import BUNDLE, NAME, arm, log, ref, report, request, row

ASK = {"sessionId": "s", "blocks": []}


def newer() -> Protocol:
    """A later revision of the toy protocol: a new method, a new member, a new block."""
    definitions = {
        **BUNDLE["$defs"],
        "NewBlock": arm("type", "new", x=NAME),
        "OtherBlock": {
            "type": "object",
            "properties": {"type": {**NAME, "not": {"enum": ["text", "picture", "new"]}}},
            "required": ["type"],
        },
        "Block": {
            "x-tag": "type",
            "x-open": True,
            "anyOf": [ref("TextBlock"), ref("PictureBlock"), ref("NewBlock"), ref("OtherBlock")],
        },
    }
    methods = [*BUNDLE["x-methods"], {"name": "wait", "sender": "client", "params": None, "result": "PingResult"}]
    return Protocol("2", {**BUNDLE, "$id": "urn:toy:2", "$defs": definitions, "x-methods": methods})


@pytest.mark.parametrize(
    ("frame", "revision", "ambiguous"),
    [
        (request(1, "ping"), "2", True),
        (request(1, "wait"), "2", False),  # fewest findings
        (request(1, "ask/question", {**ASK, "blocks": [{"type": "gone"}]}), "2", False),
        (request(1, "ask/question", {**ASK, "blocks": [{"type": "new", "x": "y"}]}), "2", False),  # fewest undeclared
        (request(1, "ask/question", {**ASK, "blocks": [{"type": "new"}]}), "1", False),
    ],
)
def test_the_log_tells_its_revision_or_that_it_does_not(frame: Any, revision: str, ambiguous: bool, tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(log(row("c2s", frame)))
    found = report([Setup(Protocol("1", BUNDLE)), Setup(newer())], file)
    assert (found.revision, found.ambiguous) == (revision, ambiguous)
    assert found.candidates == (("1", "2") if ambiguous else (revision,))


def test_all_files_are_one_report(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("b", "a", "empty")]
    for file, data in zip(files, (log({}), log({}, row("s2c", request(1, "recall"))), b""), strict=True):
        file.write_bytes(data)
    found = report([Setup(Protocol("1", BUNDLE))], *files)
    assert [(Path(each.file).name, each.line, each.rule) for each in found.findings()] == [
        ("b", 1, "frame/shape"),
        ("a", 1, "frame/shape"),
        ("a", 2, "request/unanswered"),
    ]
    assert (found.summary.files, found.summary.frames, found.summary.errors, found.summary.notes) == (3, 3, 2, 1)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("revision", ["0.1.1", "0.2.1"])
def test_a_report_names_the_rules_that_were_checked(revision: str, strict: bool, tmp_path: Path) -> None:
    sequencing = load_sequencing(TABLE, revision)
    (tmp_path / "log.jsonl").touch()
    found = report([Setup(Protocol(revision, bundle(revision)), sequencing, strict=strict)], tmp_path)
    assert ("sequence/jobs" in found.rules) is (revision == "0.2.1")
    assert ("strict/unknown-member" in found.rules) is strict


def finding(line: int = 1, **fields: Any) -> Finding:
    values: dict[str, Any] = {"file": "log", "direction": "c2s", "kind": "request", "method": "m", "rule": "r/s"}
    values |= {"path": "$", "schema": None, "message": "it is wrong"}
    return Finding(line=line, **{**values, **fields})


def test_findings_that_differ_in_an_index_only_are_alike() -> None:
    groups = Groups(listed=2)
    for line in range(1, 6):
        groups.add(finding(line, path=f"$.params.blocks[{line}].text"))
    groups.add(finding(6, path="$.params.blocks"))
    assert [(each.path, each.count, [one.line for one in each.findings], each.unlisted) for each in groups] == [
        ("$.params.blocks[*].text", 5, [1, 2], 3),
        ("$.params.blocks", 1, [6], 0),
    ]


def test_groups_are_limited_and_what_is_beyond_is_counted() -> None:
    groups = Groups()
    for line in range(MOST_GROUPS + 10):
        groups.add(finding(line + 1, rule=f"r/{line}", severity="error" if line % 2 else "note"))
    *_, notes, errors = groups
    assert len(groups) == MOST_GROUPS + 2
    assert [(each.rule, each.severity, each.count, each.findings) for each in (notes, errors)] == [
        (OTHER, "note", 5, []),
        (OTHER, "error", 5, []),
    ]


def test_late_findings_are_woven_in_by_line() -> None:
    groups, late = Groups(listed=3), Groups(listed=3)
    for line in (2, 4, 6, 8):
        groups.add(finding(line))
    late.add(finding(3))
    late.add(finding(5, rule="r/late"))
    groups.weave(late)
    assert [(each.count, [one.line for one in each.findings]) for each in groups] == [(5, [2, 3, 4]), (1, [5])]


def test_groups_of_later_files_come_after() -> None:
    first, second = Groups(), Groups()
    first.add(finding(9, rule="r/b"))
    first.files = {"log": 0}
    second.add(finding(1, file="more", rule="r/a"))
    second.add(finding(2, file="more", rule="r/b"))
    second.files = {"more": 0}
    first.merge(second, 1)
    assert [(each.rule, each.count) for each in first.ordered()] == [("r/b", 2), ("r/a", 1)]
    assert first.files == {"log": 0, "more": 1}
