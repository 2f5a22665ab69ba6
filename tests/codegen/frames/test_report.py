"""Choosing a revision, spooling findings, rendering reports."""

from __future__ import annotations

import io
import json
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from dsh_codegen.frames.findings import Finding
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.render import write_json, write_text
from dsh_codegen.frames.report import Report, Spool
from dsh_codegen.frames.revision import Log, choose, inspected
from dsh_codegen.frames.rows import InputError, Source
from dsh_codegen.frames.summary import Summary
from tests.codegen.frames.toy import BUNDLE, NAME, arm, log, ref, request, row, source

ASK = {"sessionId": "s", "blocks": []}


def logs(*files: bytes) -> list[Log]:
    def opened(data: bytes) -> Any:
        return lambda: nullcontext(source(data))

    return [Log(f"log{index}", opened(data)) for index, data in enumerate(files)]


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
def test_the_log_tells_its_revision_or_that_it_does_not(frame: Any, revision: str, ambiguous: bool) -> None:
    with inspected(logs(log(row("c2s", frame))), [Protocol("1", BUNDLE), newer()]) as report:
        assert (report.revision, report.ambiguous) == (revision, ambiguous)
        assert report.candidates == (("1", "2") if ambiguous else (revision,))


def test_of_equals_the_newest_is_judged_by() -> None:
    assert choose([(3, 0), (2, 5), (2, 4), (2, 4)]) == (3, [2, 3])
    assert choose([(0, 0)]) == (0, [0])


def test_all_files_are_one_report() -> None:
    with inspected(logs(log({}), log(row("c2s", request(1, "ping"))), b""), [Protocol("1", BUNDLE)]) as report:
        assert [(each.file, each.line) for each in report.findings] == [("log0", 1)]
        assert (report.summary.files, report.summary.frames) == (3, 2)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), InputError("it is a binary file")])
def test_a_file_that_cannot_be_read_is_named(error: Exception) -> None:
    def broken() -> AbstractContextManager[Source]:
        raise error

    with pytest.raises(InputError, match=r"^bad: "), inspected([Log("bad", broken)], [Protocol("1", BUNDLE)]):
        pass


def finding(line: int = 1, **fields: Any) -> Finding:
    values: dict[str, Any] = {"file": "log", "direction": "c2s", "kind": "request", "method": "m", "rule": "r/s"}
    values |= {"path": "$", "schema": None, "message": "it is wrong"}
    return Finding(line=line, **{**values, **fields})


def test_a_spool_gives_back_what_was_put_in_also_from_disk() -> None:
    many = [finding(line, message="x" * 1000, method="\ud800\x1b") for line in range(3000)]
    with Spool() as spool:
        spool.extend(many[:1000])
        spool.extend(many[1000:])
        assert list(spool) == list(spool) == many


HOSTILE = finding(7, file="a\x1b[2Jb", method="\x1b]0;x\x07\u202e\ud800", message="m")


def report(*findings: Finding, candidates: tuple[str, ...] = ("1",)) -> Report:
    summary = Summary(files=3, frames=1204, valid=1199, invalid=len(findings), findings=len(findings))
    summary.method("zeta").count = 2
    summary.method("alpha\x1b").bytes = 9
    return Report("1", summary, findings, candidates)


def text(of: Report) -> str:
    stream = io.StringIO()
    write_text(of, stream)
    return stream.getvalue()


def test_text_is_grouped_by_file_and_sums_up() -> None:
    lines = text(report(finding(1), finding(20, direction=None, kind=None, method=None), finding(3, file="other"))).splitlines()
    assert lines == [
        "log",
        "      1  c2s  request m                     $",
        "              it is wrong  [r/s]",
        "     20  ---  line                          $",
        "              it is wrong  [r/s]",
        "",
        "other",
        "      3  c2s  request m                     $",
        "              it is wrong  [r/s]",
        "",
        "3 files, 1,204 frames: 1,199 valid, 3 invalid, 0 skipped (revision 1)",
    ]


def test_one_file_and_one_frame_are_singular() -> None:
    assert text(Report("1", Summary(files=1, frames=1), ())).startswith("1 file, 1 frame: ")


def test_an_ambiguous_revision_is_said_in_both_formats() -> None:
    ambiguous = report(candidates=("0", "1"))
    assert "these frames fit 0 and 1 equally well" in text(ambiguous)
    assert "(revision ambiguous, judged by 1)" in text(ambiguous)
    stream = io.StringIO()
    write_json(ambiguous, stream)
    assert {key: json.loads(stream.getvalue())[key] for key in ("revision", "candidates")} == {
        "revision": "ambiguous",
        "candidates": ["0", "1"],
    }


def test_nothing_in_a_log_reaches_the_terminal_unescaped() -> None:
    shown = text(report(HOSTILE))
    assert "a\\u001b[2Jb" in shown
    assert all(line.isprintable() for line in shown.splitlines())
    stream = io.StringIO()
    write_json(report(HOSTILE), stream)
    assert stream.getvalue().isascii()
    assert all(line.isprintable() for line in stream.getvalue().splitlines())


def test_json_has_the_agreed_shape() -> None:
    stream = io.StringIO()
    write_json(report(HOSTILE, finding(8)), stream)
    value = json.loads(stream.getvalue())
    assert list(value) == ["summary", "revision", "findings", "methods"]
    assert value["summary"] == {"files": 3, "frames": 1204, "valid": 1199, "invalid": 2, "skipped": 0}
    assert list(value["findings"][1]) == ["file", "line", "direction", "kind", "method", "rule", "path", "schema", "message"]
    assert list(value["methods"]) == ["alpha\x1b", "zeta"]
    assert value["methods"]["zeta"] == {"count": 2, "invalid": 0, "bytes": 0}
    empty = io.StringIO()
    write_json(report(), empty)
    assert json.loads(empty.getvalue())["findings"] == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("colour", [True, False])
def test_a_terminal_gets_the_same_text_with_colours_unless_told_not_to(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    long = report(finding(1, message="[bold]not markup[/bold] :smile: " + "long " * 40))
    write_text(long, terminal)
    shown = terminal.getvalue()
    assert ("\x1b[36m" in shown) is colour
    plain = "".join(part.partition("m")[2] if index else part for index, part in enumerate(shown.split("\x1b[")))
    assert plain == text(long)
