"""Every format of a report: what it says, that others can read it, and that nothing of a log gets through as more than text."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError
from markdown_it import MarkdownIt
from msgspec.structs import asdict

from dsh_codegen.frames.findings import RULES, Finding, Rule
from dsh_codegen.frames.formats import FORMATS, LIVE, live, renderer
from dsh_codegen.frames.formats.observation import numbers
from dsh_codegen.frames.groups import OTHER, Group, key_of
from dsh_codegen.frames.observed import Observed, Table
from dsh_codegen.frames.observing.traffic import Latency, Traffic
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.summary import Summary
from dsh_codegen.markup.text import harmless
from tests import public_schemas

RULE: Final = "params/schema"
CHECKED: Final = [rule for rule in RULES if not rule.startswith("strict/")]
"""The rules that are checked without --strict."""


def finding(line: int = 1, **fields: Any) -> Finding:
    values: dict[str, Any] = {"file": "log", "direction": "c2s", "kind": "request", "method": "m", "rule": RULE, "path": "$"}
    values |= {"schema": None, "message": "it is wrong"}
    return Finding(line=line, **{**values, **fields})


def report(*findings: Finding, unlisted: int = 0, **fields: Any) -> Report:
    """A report on these findings; every group has `unlisted` more than it lists."""
    groups: dict[object, Group] = {}
    for each in findings:
        key = key_of(each)
        group = groups.setdefault(key, Group(*key, count=unlisted))
        group.count += 1
        group.findings.append(each)
    summary = Summary(files=3, frames=1204, valid=1204 - len(findings), invalid=len(findings))
    summary.errors, summary.warnings, summary.notes = (
        sum(group.count for group in groups.values() if group.severity == severity) for severity in ("error", "warning", "note")
    )
    summary.method("zeta").count = 2
    summary.method("alpha\x1b").bytes = 9
    files = {file: index for index, file in enumerate(dict.fromkeys(each.file for each in findings))}
    values: dict[str, Any] = {"revision": "1", "summary": summary, "groups": list(groups.values()), "files": files}
    return Report(**{**values, "candidates": ("1",), **fields})


def counted(rule: str = RULE, severity: Any = "error", count: int = 1234567, path: str = "$.a[*]") -> Group:
    """A group that lists nothing."""
    return Group(rule, severity, None, path, None, count)


def written(of: Report, format_: str) -> str:
    stream = io.StringIO()
    renderer(format_)(of, stream)
    return stream.getvalue()


SOME: Final = (
    finding(1),
    finding(20, direction=None, kind=None, method=None, rule="json/torn", severity="warning"),
    finding(3, file="other"),
    finding(9, file="other", kind="response", rule="request/unanswered", severity="note"),
)


def test_text_is_by_file_and_sums_up() -> None:
    assert written(report(*SOME), "text").splitlines() == [
        "log",
        "      1  error    c2s  request m                     $",
        "         it is wrong  [params/schema]",
        "     20  warning  ---  line                          $",
        "         it is wrong  [json/torn]",
        "",
        "other",
        "      3  error    c2s  request m                     $",
        "         it is wrong  [params/schema]",
        "      9  note     c2s  response m                    $",
        "         it is wrong  [request/unanswered]",
        "",
        "3 files, 1,204 frames: 1,200 valid, 4 invalid, 0 skipped; 2 errors, 1 warning, 1 note (revision 1)",
    ]


def test_a_clean_report_is_one_line_of_text() -> None:
    assert written(report(), "text") == "3 files, 1,204 frames: 1,204 valid, 0 invalid, 0 skipped (revision 1)\n"
    assert written(report(summary=Summary(files=1, frames=1)), "text").startswith("1 file, 1 frame: ")


def test_a_finding_about_a_whole_file_has_no_line() -> None:
    about = report(finding(0, rule="file/encoding"))
    assert written(about, "text").splitlines()[1].startswith("   file  error    c2s")
    assert [set(properties) for _, properties, _ in public_schemas.github(written(about, "github"))] == [{"file", "title"}]
    (result,) = public_schemas.sarif(written(about, "sarif"))["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert ">log: error: request m: $: it is wrong<" in written(about, "junit")


def test_what_is_not_listed_is_told_once_after_the_last_of_its_kind() -> None:
    findings = [finding(line, path=f"$.a[{line}]") for line in (1, 5)]
    shown = written(report(findings[0], finding(3, path="$.b"), findings[1], unlisted=1234567), "text")
    assert [line.strip() for line in shown.splitlines() if "more like this" in line] == [
        "and 1,234,567 more like this (params/schema, $.b)",
        "and 1,234,567 more like this (params/schema, $.a[*])",
    ]
    assert shown.index("more like this (params/schema, $.a") > shown.index("$.a[5]")


def test_groups_that_list_nothing_are_told_at_the_end() -> None:
    groups = [counted(), counted(OTHER, "warning", 2, "")]
    assert written(report(groups=groups), "text").splitlines()[:3] == [
        "         error    1,234,567 like this (params/schema, $.a[*]), none listed",
        "         warning  2 of further kinds (warning), none listed",
        "",
    ]
    commands = list(public_schemas.github(written(report(groups=groups), "github")))
    assert commands == [
        ("error", {"title": RULE}, "1,234,567 like this (params/schema, $.a[*]), none listed"),
        ("warning", {"title": OTHER}, "2 of further kinds (warning), none listed"),
    ]
    run = public_schemas.sarif(written(report(groups=groups), "sarif"))
    notifications = run["invocations"][0]["toolExecutionNotifications"]
    assert run["results"] == []
    assert [each["level"] for each in notifications] == ["error", "warning"]
    assert [each.get("associatedRule") for each in notifications] == [{"id": RULE}, None]
    root = public_schemas.junit(written(report(groups=groups), "junit"))
    assert [case.get("name") for case in root.iter("testcase") if case.find("failure") is not None] == [RULE]
    assert root.find(f".//testcase[@name='{OTHER}']/system-out") is not None
    assert "| error | 1,234,567 | `params/schema` `$.a[*]` |  |\n" in written(report(groups=groups), "markdown")


def test_what_is_partial_or_ambiguous_is_told_before_the_last_line() -> None:
    partial = "the input was read up to log 7"
    doubtful = report(partial=partial, candidates=("0", "1"))
    assert written(doubtful, "text").splitlines() == [
        "partial: the input was read up to log 7",
        "ambiguous revision: these frames fit 0 and 1 equally well",
        "3 files, 1,204 frames: 1,204 valid, 0 invalid, 0 skipped (revision ambiguous, judged by 1)",
    ]
    told = json.loads(written(doubtful, "json"))
    assert (told["revision"], told["candidates"], told["partial"]) == ("ambiguous", ["0", "1"], partial)
    assert json.loads(written(doubtful, "jsonl").splitlines()[-1])["summary"]["candidates"] == ["0", "1"]
    assert "> **Partial:** `the input was read up to log 7`" in written(doubtful, "markdown")
    assert "fit the revisions 0 and 1 equally well" in written(doubtful, "markdown")
    assert ("warning", {"title": "partial"}, partial) in public_schemas.github(written(doubtful, "github"))
    run = public_schemas.sarif(written(doubtful, "sarif"))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert public_schemas.sarif(written(report(), "sarif"))["invocations"] == [{"executionSuccessful": True}]
    assert public_schemas.junit(written(doubtful, "junit")).get("errors") == "1"


FIELDS: Final = ["file", "line", "direction", "kind", "method", "rule", "path", "schema", "message", "severity"]
COUNTS: Final = {"files": 3, "frames": 1204, "valid": 1200, "invalid": 4, "skipped": 0, "errors": 5, "warnings": 4, "notes": 4}


def test_json_has_the_agreed_shape() -> None:
    value = json.loads(written(report(*SOME, unlisted=3), "json"))
    assert list(value) == ["summary", "revision", "partial", "findings", "groups", "methods"]
    assert value["summary"] == COUNTS
    assert [list(each) for each in value["findings"]] == [FIELDS] * 4
    assert [each["line"] for each in value["findings"]] == [1, 20, 3, 9]
    first = {"rule": RULE, "severity": "error", "method": "m", "path": "$", "schema": None, "count": 5, "listed": 2}
    assert value["groups"][0] == first
    assert list(value["methods"]) == ["alpha\x1b", "zeta"]
    assert value["methods"]["zeta"] == {"count": 2, "invalid": 0, "bytes": 0}
    assert (json.loads(written(report(), "json"))["findings"], json.loads(written(report(), "json"))["groups"]) == ([], [])


def test_json_lines_say_the_same_line_by_line() -> None:
    lines = [json.loads(line) for line in written(report(*SOME, unlisted=3), "jsonl").splitlines()]
    assert [list(line) for line in lines] == [["finding"]] * 4 + [["group"]] * 3 + [["methods"], ["summary"]]
    value = json.loads(written(report(*SOME, unlisted=3), "json"))
    assert [line["finding"] for line in lines[:4]] == value["findings"]
    assert [line["group"] for line in lines[4:7]] == value["groups"]
    assert lines[7]["methods"] == value["methods"]
    assert lines[8]["summary"] == {**COUNTS, "revision": "1", "partial": None}


@pytest.mark.parametrize("format_", LIVE)
def test_findings_can_be_told_as_they_come(format_: str) -> None:
    told = report(*SOME)
    stream = io.StringIO()
    listing, ending = live(format_)
    write = listing(stream)
    for each in told.findings():
        write([each])
    ending(told, stream)
    assert stream.getvalue() == written(told, format_)
    quiet = io.StringIO()
    ending(report(), quiet)
    assert quiet.getvalue() == written(report(), format_)


def test_junit_has_a_case_a_rule_and_only_errors_fail() -> None:
    extra = {"sequence/turns": Rule("Turns do not overlap.", ("S121",), "warning")}
    late = finding(4, rule="sequence/turns", severity="warning", message="late")
    root = public_schemas.junit(written(report(*SOME, late, unlisted=7, sequencing=extra), "junit"))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert cases.keys() == {"input/whole", *CHECKED, *extra}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == [RULE]
    failure = root.find(f".//testcase[@name='{RULE}']/failure")
    assert failure is not None
    assert failure.get("message") == RULES[RULE].sentence
    assert (failure.text or "").splitlines() == [
        "log:1: error: request m: $: it is wrong",
        "other:3: error: request m: $: it is wrong",
        "and 7 more like this (params/schema, $)",
    ]
    told = {name: case.findtext("system-out") for name, case in cases.items() if case.find("system-out") is not None}
    assert told.keys() == {"input/whole", "json/torn", "request/unanswered", "sequence/turns"}
    assert cases["sequence/turns"].get("classname") == "validate.sequence"
    properties = {each.get("name"): each.get("value") for each in root.iter("property")}
    assert (properties["revision"], properties["frames"]) == ("1", "1204")


def test_rules_that_only_strict_asks_for_are_listed_only_with_it() -> None:
    for strict, listed in ((False, CHECKED), (True, list(RULES))):
        of = report(*SOME, strict=strict)
        cases = [case.get("name") for case in public_schemas.junit(written(of, "junit")).iter("testcase")]
        assert cases == ["input/whole", *listed]
        assert [rule["id"] for rule in public_schemas.sarif(written(of, "sarif"))["tool"]["driver"]["rules"]] == listed


def test_junit_is_ascii() -> None:
    text = written(report(finding(message="é😀&<>\"'")), "junit")
    assert text.isascii()
    assert "é😀&<>\"'" in (public_schemas.junit(text).findtext(f".//testcase[@name='{RULE}']/failure") or "")


def test_sarif_names_rules_places_and_numbers() -> None:
    rich = finding(7, method="session/x", path="$.a[1]", schema="#/$defs/A", message="no")
    again = finding(8, method="session/x", path="$.a[2]", schema="#/$defs/A", message="no")
    of = report(*SOME, rich, again, unlisted=5, sequencing={"sequence/x": Rule("In order.")})
    run = public_schemas.sarif(written(of, "sarif"))
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert list(rules) == [*CHECKED, "sequence/x"]
    assert rules["json/torn"]["defaultConfiguration"]["level"] == "warning"
    assert rules["json/torn"]["properties"]["protocol"] == ["T1", "T13"]
    assert rules["json/torn"]["help"]["text"].endswith("It rests on the rules T1, T13 of PROTOCOL.md.")
    assert rules["sequence/x"]["help"]["text"] == "In order."
    (result,) = [each for each in run["results"] if each["message"]["text"].startswith("no (and 5 more")]
    assert result["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "log"}, "region": {"startLine": 7}},
            "logicalLocations": [{"fullyQualifiedName": "$.a[1]", "kind": "member"}],
        }
    ]
    assert result["properties"] == {
        "direction": "c2s",
        "kind": "request",
        "method": "session/x",
        "path": "$.a[1]",
        "schema": "#/$defs/A",
    }
    assert sum(each.get("occurrenceCount", 1) for each in run["results"]) == sum(group.count for group in of.groups)
    assert run["properties"]["summary"]["errors"] == of.summary.errors


def prints(of: Report) -> list[str]:
    return [each["partialFingerprints"]["frame/v1"] for each in public_schemas.sarif(written(of, "sarif"))["results"]]


def test_fingerprints_are_distinct_and_do_not_depend_on_lines_or_neighbours() -> None:
    before = prints(report(finding(1), finding(2), finding(3, message="other"), finding(1, file="second")))
    assert len(set(before)) == 4
    assert prints(report(finding(6), finding(7), finding(8, message="other"))) == before[:3]
    assert prints(report(finding(9, message="other"))) == before[2:3]


def test_github_puts_errors_first_and_the_kinds_of_them_before_their_repetitions() -> None:
    notes = [finding(line, path="$.n", severity="note") for line in (1, 2)]
    alike = [finding(line, path="$.a") for line in (3, 4, 5)]
    text = written(
        report(*notes, *alike, finding(6, path="$.b"), finding(7, path="$.w", severity="warning"), unlisted=2), "github"
    )
    commands = list(public_schemas.github(text))
    assert [(level, properties["line"]) for level, properties, _ in commands] == [
        ("error", "3"),
        ("error", "6"),
        ("error", "4"),
        ("error", "5"),
        ("warning", "7"),
        ("notice", "1"),
        ("notice", "2"),
    ]
    assert commands[0][1:] == (
        {"file": "log", "line": "3", "title": RULE},
        "it is wrong (request m, $.a); and 2 more like this (params/schema, $.a)",
    )
    assert commands[2][2] == "it is wrong (request m, $.a)"
    assert text.splitlines()[-1].endswith("0 skipped; 8 errors, 3 warnings, 4 notes (revision 1)")


def test_the_standard_input_is_no_file_of_the_repository() -> None:
    ((_, properties, _),) = public_schemas.github(written(report(finding(file="<stdin>")), "github"))
    assert properties == {"title": RULE}


def rendered_cells(text: str) -> list[list[str]]:
    """The text of the cells of the last table, row by row, as a reader of Markdown sees it."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level > 3:
            assert all(child.type in ("text", "code_inline", "html_inline", "text_special") for child in token.children or [])
            shown = [child.content for child in token.children or [] if child.type != "html_inline"]
            tags = {child.content for child in token.children or [] if child.type == "html_inline"}
            assert tags <= {"<code>", "</code>", "<br>"}
            rows[-1].append("".join(shown))
    return rows


def test_markdown_has_a_row_a_group() -> None:
    text = written(report(*SOME, finding(9, path="$.a", message="a `b` | c"), unlisted=1), "markdown")
    assert text.startswith("## Frame logs: 5 errors, 2 warnings, 2 notes\n\nJudged by revision 1.\n\n| files | frames |")
    rows = rendered_cells(text)
    assert rows[0] == ["severity", "count", "finding", "first"]
    assert rows[1] == ["error", "3", "it is wrongparams/schema m $", "log:1"]
    assert rows[-1] == ["error", "2", "a `b` | cparams/schema m $.a", "log:9"]
    assert text == written(report(*SOME, finding(9, path="$.a", message="a `b` | c"), unlisted=1), "md")
    assert "nothing found" in written(report(), "markdown")
    assert "### Findings" not in written(report(), "markdown")


HOSTILE: Final = [
    "\x1b]0;x\x07", "\x9b2J", "\u202e", "\ud800", "\udcff", "\x00", "\ufffe", "\n", "\r\n", "\u2028", "😀", "é",
    "`", "``", "|", "\\", "\\|", "<img src=x onerror=y>", "</code>", "<!--", "]]>", "&amp;", "&#96;", '"', "'",
    "::error file=x::y", " ::error::", "##[error]", "##vso[task.complete]", "%0A", "%", ",", ":", "@someone", "#1",
    "https://example.org", "www.example.org", "[a](b)", "**", "_", "~~", "\\ud800", "../", "//", "s3://bucket/k y%zz",
]  # fmt: skip
HOSTILE_TEXT: Final = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=()), max_size=8)), max_size=4
).map("".join)
FINDINGS: Final = st.lists(
    st.builds(
        Finding,
        file=HOSTILE_TEXT,
        line=st.integers(0, 9),
        direction=st.sampled_from(["c2s", "s2c", None]),
        kind=st.sampled_from(["request", "response", "notification", None]),
        method=st.none() | HOSTILE_TEXT,
        rule=st.sampled_from([RULE, "json/torn", "unheard/of"]),
        path=HOSTILE_TEXT,
        schema=st.none() | HOSTILE_TEXT,
        message=HOSTILE_TEXT.map(lambda text: f"{text}."),
        severity=st.sampled_from(["error", "warning", "note"]),
    ),
    max_size=5,
)


@given(FINDINGS, st.none() | HOSTILE_TEXT)
def test_every_format_is_harmless_and_can_be_read(findings: list[Finding], partial: str | None) -> None:
    of = report(*findings, unlisted=2, partial=partial)
    for format_ in FORMATS:
        text = written(of, format_)
        assert text == written(of, format_)
        assert all(char.isprintable() or char == "\n" for char in text), format_
        assert not re.search(r"##\w*\[", text), format_
        assert format_ == "github" or not re.search(r"^\s*::", text, re.MULTILINE), format_
        assert text.endswith("\n")
        if format_ in READERS:
            READERS[format_](text, of)


def read_json(text: str, of: Report) -> None:
    assert text.isascii()
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # no half of a surrogate pair in it
    assert [each["message"] for each in value["findings"]] == [whole(each.message) for each in of.findings()]
    assert [each["file"] for each in value["findings"]] == [whole(each.file) for each in of.findings()]


def read_json_lines(text: str, of: Report) -> None:
    found = [json.loads(line)["finding"] for line in text.splitlines() if line.startswith('{"finding"')]
    assert found == [{key: whole(value) for key, value in asdict(each).items()} for each in of.findings()]


def whole(value: Any) -> Any:
    r"""What a reader of JSON gets: pairs of surrogates are characters, and half of one is the text `\\ud800`."""
    if not isinstance(value, str):
        return value
    joined = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return "".join(f"\\u{ord(char):04x}" if 0xD800 <= ord(char) < 0xE000 else char for char in joined)


def read_sarif(text: str, of: Report) -> None:
    run = public_schemas.sarif(text)
    assert [each["level"] for each in run["results"]] == [each.severity for each in of.findings()]
    assert len({json.dumps(each["partialFingerprints"]) for each in run["results"]}) == len(run["results"])
    assert sum(each.get("occurrenceCount", 1) for each in run["results"]) == sum(group.count for group in of.groups)


def read_junit(text: str, of: Report) -> None:
    assert text.isascii()
    root = public_schemas.junit(text)
    assert len(list(root.iter("failure"))) == len({group.rule for group in of.groups if group.severity == "error"})


def read_github(text: str, of: Report) -> None:
    commands = list(public_schemas.github(text))
    levels = sorted({"note": "notice"}.get(each.severity, each.severity) for each in of.findings())
    assert sorted(level for level, properties, _ in commands if properties["title"] != "partial") == levels
    assert len(text.splitlines()) == len(commands) + 1
    assert not text.splitlines()[-1].startswith("::")


def read_markdown(text: str, of: Report) -> None:
    if of.groups:
        first = of.groups[0].findings[0]
        rows = rendered_cells(text)
        assert len(rows) == 1 + len(of.groups)
        assert all(len(row) == 4 for row in rows)
        assert rows[1][2].startswith(harmless(first.message))
        assert rows[1][3] == harmless(f"{first.file}:{first.line}" if first.line else first.file)


READERS: Final[dict[str, Callable[[str, Report], None]]] = {
    "json": read_json, "jsonl": read_json_lines, "sarif": read_sarif, "junit": read_junit, "github": read_github,
    "markdown": read_markdown,
}  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[True, False], ids=["colours", "plain"])
def colours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    if not request.param:
        monkeypatch.setenv("NO_COLOR", "1")
    return bool(request.param)


def on_a_terminal(of: Report) -> str:
    terminal = Terminal()
    renderer("text")(of, terminal)
    return terminal.getvalue()


def without_styles(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def test_a_terminal_gets_colours_unless_told_not_to(colours: bool) -> None:
    shown = on_a_terminal(report(*SOME, unlisted=2))
    assert ("\x1b[1;31merror" in shown) is colours
    assert ("\x1b[33mwarning" in shown) is colours
    assert without_styles(shown).split() == written(report(*SOME, unlisted=2), "text").split()
    assert "\x1b" not in without_styles(shown)


def test_a_terminal_gets_long_messages_word_by_word_and_long_paths_in_one_piece(colours: bool) -> None:
    path = "$.params." + "long." * 12 + "path"
    long = report(finding(1, path=path, message="[bold]not markup[/bold] :smile: " + "words of a long message " * 6))
    lines = without_styles(on_a_terminal(long)).splitlines()
    assert lines[1].rstrip() == "      1  error    c2s  request m"
    assert lines[2] == f"         {path}"
    messages = lines[3 : lines.index("")]
    assert len(messages) == 3
    assert all(line.startswith("         ") and len(line) <= 80 for line in messages)
    assert " ".join(" ".join(messages).split()) == f"{long.groups[0].findings[0].message.strip()} [{RULE}]"
    assert all(len(line) <= 80 for line in lines[lines.index("") :])


def observed() -> Report:
    """A report with something in two tables: numbers, a hostile name, a cell that is empty."""
    seen = Observed()
    for method, size in (("m|", 100), ("\x1b[2J", 20000)):
        traffic = Traffic()
        traffic.add(size, timed=False)
        seen.traffic[method, "request"] = traffic
        seen.latencies[method] = Latency()
        seen.latencies[method].add(1500)
    return report(finding(), observed=seen)


def test_what_was_observed_follows_the_findings() -> None:
    of = observed()
    value = json.loads(written(of, "json"))
    assert len(value["observed"]["traffic"]) == 2
    lines = [json.loads(line) for line in written(of, "jsonl").splitlines()]
    assert [list(line) for line in lines[-2:]] == [["observed"], ["summary"]]
    assert lines[-2]["observed"] == value["observed"]


def test_tables_are_aligned_and_numbers_stand_to_the_right() -> None:
    text = written(observed(), "text")
    blocks = text.split("\n\n")
    (traffic,) = [block.splitlines() for block in blocks if block.startswith("Traffic\n")]
    end = traffic[1].index("bytes") + len("bytes")
    assert [line[:end].split()[-1] for line in traffic[2:]] == ["20,000", "100"]
    assert all(line[end - 1].isdigit() for line in traffic[2:])
    assert traffic[2].startswith("  \\u001b[2J  request")
    assert text.splitlines()[-1].startswith("3 files, ")


def test_markdown_shows_the_same_tables() -> None:
    rows = rendered_cells(written(observed(), "markdown").partition("### Traffic")[2].partition("\n### ")[0])
    assert rows[0][:4] == ["method", "kind", "frames", "bytes"]
    assert [row[:4] for row in rows[1:]] == [["\\u001b[2J", "request", "1", "20,000"], ["m|", "request", "1", "100"]]


def test_only_a_column_of_numbers_is_taken_for_one() -> None:
    rows = (("1,204", "1 | *x*", "", "1.5 ms"), ("", "2", "-", "20 s"))
    assert numbers(Table("t", ("a", "b", "c", "d"), rows)) == {0, 2, 3}


def test_a_terminal_shows_the_same_tables(colours: bool) -> None:
    shown = without_styles(on_a_terminal(observed()))
    assert "Traffic" in shown
    assert all(line.isprintable() and len(line) <= 80 for line in shown.splitlines())
    assert "".join(shown.split()).count("20,000") >= 1


@pytest.mark.parametrize(
    ("old", "new"),
    [('"level": "error"', '"level": "fatal"'), ('"startLine": 1', '"startLine": 0'), ('"text": "it is wrong"', '"txt": ""')],
)
def test_the_schema_of_sarif_refuses_what_is_wrong(old: str, new: str) -> None:
    text = written(report(finding()), "sarif")
    assert old in text
    with pytest.raises(ValidationError):
        public_schemas.sarif(text.replace(old, new))


def test_the_schema_of_junit_refuses_what_is_wrong() -> None:
    text = written(report(finding()), "junit")
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        public_schemas.junit(text.replace("<failure", "<failed").replace("</failure", "</failed"))


def test_naming_the_formats_imports_none_of_them() -> None:
    program = (
        "import sys, dsh_codegen.frames.formats as formats\n"
        "slow = [name for name in sys.modules if name.split('.')[0] in ('rich', 'json', 'xml', 'msgspec', 'jsonschema')\n"
        "        or name.startswith(('dsh_codegen.frames.formats.', 'dsh_codegen.markup'))]\n"
        "assert formats.FORMATS and not slow, slow\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}  # which imports much
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=environment)
