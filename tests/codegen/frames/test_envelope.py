"""Frames in envelopes of another form are judged as those in captures are, and found at their place in the line."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import asdict

from dsh_codegen import bundles
from dsh_codegen.cli import main
from dsh_codegen.frames import command, engine, plan
from dsh_codegen.frames.engine import Todo, Work
from dsh_codegen.frames.envelope import Envelope, pointer, words
from dsh_codegen.frames.findings import Finding, Problem
from dsh_codegen.frames.formats import FORMATS
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.report import Report
from dsh_codegen.frames.rows import Row, read_line
from dsh_codegen.frames.run import Run
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.workers import Processes
from tests.codegen.frames.test_stream import LOG, OBSERVING, SETUP
from tests.codegen.frames.toy import BUNDLE, log, request, result, row

LIKE_A_CAPTURE: Final = Envelope(("frame",), ("dir",), words((), ()))
DEEPER: Final = Envelope(("a/b", 0, "msg"), ("way",), words(["out"], ["in"]))

Validate = Callable[..., Result]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ()),
        ("/", ("",)),
        ("/a/b", ("a", "b")),
        ("/a~1b/~0~01", ("a/b", "~~1")),
        ("/0/10/01", (0, 10, "01")),
        (f"/{'9' * 5000}", ("9" * 5000,)),
        ("/é 'x", ("é 'x",)),
    ],
)
def test_pointers_are_read_by_their_rfc(text: str, path: tuple[str | int, ...]) -> None:
    assert pointer(text) == path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a", '"a" is no JSON Pointer: it has to begin with "/"'),
        ("$.a", '"$.a" is no JSON Pointer: it has to begin with "/"'),
        ("/a~", '"/a~" is no JSON Pointer: in it "~" is written "~0"'),
        ("/~2\x1b", '"/~2\\u001b" is no JSON Pointer: in it "~" is written "~0"'),
    ],
)
def test_what_is_no_pointer_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        pointer(text)


def test_a_word_stands_for_one_direction() -> None:
    assert words(["out", "c2s"], ["in", "s2c"]) == {"c2s": "c2s", "s2c": "s2c", "out": "c2s", "in": "s2c"}
    for c2s, s2c, both in ((["x"], ["x"], "x"), (["s2c"], [], "s2c"), ([], ["c2s"], "c2s")):
        with pytest.raises(ValueError, match=f'"{both}" can\'t stand for both directions'):
            words(c2s, s2c)


def read(line: Any, envelope: Envelope = DEEPER) -> Row | None:
    return read_line(json.dumps(line).encode(), 1, 0, terminated=True, envelope=envelope)


def wrapped(way: Any, *frame: Any, **beside: Any) -> dict[str, Any]:
    """A line of the form that `DEEPER` tells of."""
    return {"ts": 5, "way": way, "a/b": [{**({"msg": frame[0]} if frame else {}), **beside}]}


@pytest.mark.parametrize(("way", "direction"), [("out", "c2s"), ("in", "s2c"), ("c2s", "c2s"), ("s2c", "s2c")])
def test_a_frame_and_its_direction_are_found_at_their_places(way: str, direction: str) -> None:
    found = read(wrapped(way, {"id": 1}))
    assert found is not None
    assert (found.state, found.value, found.direction, found.time) == ("frame", {"id": 1}, direction, 5)
    assert found.problems == ()


def test_the_place_may_be_the_line_itself_and_the_direction_untold() -> None:
    whole = Envelope((), ("dir",), words((), ()))
    found = read({"id": 1, "dir": "s2c", "eof": True}, whole)
    assert found is not None
    assert (found.value, found.direction) == ({"id": 1, "dir": "s2c", "eof": True}, "s2c")
    found = read([1], replace(whole, direction=None))
    assert found is not None
    assert (found.value, found.direction, found.time, found.problems) == ([1], None, None, ())


def test_words_may_be_what_is_no_text() -> None:
    numbers = replace(DEEPER, words=words(["true", "1"], ["false"]))
    for way, direction in ((True, "c2s"), (False, "s2c"), (1, "c2s"), ("true", "c2s")):
        found = read(wrapped(way, {}), numbers)
        assert found is not None
        assert found.direction == direction


@pytest.mark.parametrize("way", ["IN", None, [], {}, 1])
def test_another_word_is_a_finding_that_says_what_to_do(way: Any) -> None:
    found = read(wrapped(way, {"id": 1}))
    assert found is not None
    message = (
        f'the line has {json.dumps(way)} at $.way, expected "c2s", "s2c", "out" or "in"; '
        "--c2s and --s2c say what else stands for them"
    )
    assert found.problems == (Problem("row/shape", message),)
    assert (found.state, found.value, found.direction) == ("frame", {"id": 1}, None)


def test_a_direction_that_is_not_there_is_a_finding() -> None:
    found = read({"a/b": [{"msg": {}}]})
    assert found is not None
    expected = 'the line has no direction at $.way, expected "c2s", "s2c", "out" or "in"'
    assert [problem.message for problem in found.problems] == [expected]


@pytest.mark.parametrize(
    "line",
    [{}, [], 5, None, {"a/b": {}}, {"a/b": []}, {"a/b": [5]}, {"a/b": [{}]}, {"a/b": [[{"msg": 1}]]}, {"a/b": {"msg": {}}}],
)
def test_a_line_without_a_frame_is_a_finding(line: Any) -> None:
    found = read(line)
    assert found is not None
    assert found.problems == (Problem("row/shape", "the line has no frame at $['a/b'][0].msg"),)
    assert (found.state, found.direction) == ("unreadable", None)


def test_an_index_may_be_the_name_of_a_member() -> None:
    found = read({"a/b": {"0": {"msg": {"id": 1}}}, "way": "in"})
    assert found is not None
    assert found.value == {"id": 1}


def test_markers_mean_what_they_mean_in_a_capture() -> None:
    assert read(wrapped("in", None, eof=True)) is None
    assert read(wrapped("in", exit=0)) is None
    assert read(wrapped("in", None, raw=" ")) is None
    null, again, torn, bad = (
        read(wrapped("in", *frame, **beside))
        for frame, beside in (
            ([None], {}),
            ([None], {"raw": '{"id": 2}'}),
            ([{"id": 1}], {"partial": True}),
            ([], {"raw": "{bad"}),
        )
    )
    assert null is not None
    assert (null.state, null.value) == ("frame", None)
    assert again is not None
    assert (again.state, again.value, again.direction) == ("frame", {"id": 2}, "s2c")
    assert torn is not None
    assert [problem.rule for problem in torn.problems] == ["json/torn"]
    assert bad is not None
    assert [problem.rule for problem in bad.problems] == ["json/syntax"]


def nothing(_work: Work, _findings: Any) -> None:
    pass


def over(setup: Setup, *files: Path, workers: Processes | None = None) -> Report:
    return Run([setup], workers, nothing).over(plan.plan(list(map(str, files))))


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of several pieces."""
    for module in (plan, engine):
        monkeypatch.setattr(module, "PIECE", 30_000)
    path = tmp_path / "large.jsonl"
    path.write_bytes(LOG)
    return path


def at_their_places(report: Report) -> dict[str, Any]:
    """What a report of captures says, with the paths that an envelope gives it."""
    value = as_value(report)
    for each in (*value["findings"], *value["groups"]):
        each["path"] = LIKE_A_CAPTURE.path(each["rule"], each["path"])
    return value


def as_value(report: Report) -> dict[str, Any]:
    return {
        "summary": asdict(report.summary),
        "findings": [asdict(finding) for finding in report.findings()],
        "groups": [{**asdict(group), "findings": []} for group in report.groups],
        "observed": report.observed,
    }


@pytest.mark.parametrize("setup", [SETUP, replace(SETUP, strict=True), OBSERVING], ids=["plain", "strict", "report"])
def test_captures_in_their_own_envelope_are_judged_as_they_are(large: Path, setup: Setup) -> None:
    expected = over(setup, large)
    enveloped = over(replace(setup, envelope=LIKE_A_CAPTURE), large)
    assert as_value(enveloped) == at_their_places(expected)
    paths = {finding.rule: finding.path for finding in enveloped.findings()}
    assert paths["params/schema"].startswith("$.frame.params")
    assert paths["request/unanswered"] == "$.frame"
    assert paths["sequence/seq"].startswith("$.frame.params.event")
    assert paths["json/noise"] == "$"


def test_several_processes_give_the_report_of_one(large: Path) -> None:
    setup = replace(SETUP, envelope=LIKE_A_CAPTURE)
    assert pickle.loads(pickle.dumps(setup)).envelope == LIKE_A_CAPTURE
    assert as_value(over(setup, large, workers=Processes(2, pytest.fail))) == as_value(over(setup, large))


def test_findings_of_a_log_that_grows_are_at_their_places(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log({"msg": {"jsonrpc": "2.0", "method": "gone"}}, {}))
    setup = Setup(Protocol("1", BUNDLE), envelope=Envelope(("msg",), None, words((), ())))
    logs = plan.plan([str(path)])
    told: list[Finding] = []
    Run([setup], None, lambda _, findings: told.extend(findings)).following(logs, iter(Todo(logs, setup)))  # type: ignore[arg-type]
    assert [(each.line, each.path) for each in told] == [(1, "$.msg.method"), (2, "$")]


def test_an_index_on_the_way_is_any_index_in_a_group(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log({"a": [0, {"jsonrpc": "2.0", "method": "gone"}]}))
    report = over(Setup(Protocol("1", BUNDLE), envelope=Envelope(("a", 1), None, words((), ()))), path)
    assert [group.path for group in report.groups] == ["$.a[*].method"]
    assert [finding.path for finding in report.findings()] == ["$.a[1].method"]


def test_groups_of_further_kinds_keep_to_themselves(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log(*({"m": {"jsonrpc": "2.0", "method": f"gone{number}"}} for number in range(1001))))
    report = over(Setup(Protocol("1", BUNDLE), envelope=Envelope(("m",), None, words((), ()))), path)
    assert {group.path for group in report.groups} == {"$.m.method", ""}


@pytest.fixture
def validate(monkeypatch: pytest.MonkeyPatch) -> Validate:
    monkeypatch.setattr(bundles, "load_bundles", lambda _: [("1", BUNDLE)])
    monkeypatch.setattr(bundles, "load_sequencing_table", lambda _: None)
    return lambda *arguments, **options: CliRunner().invoke(main, ["validate", *map(str, arguments)], **options)


OPTIONS: Final = ("--frame-path", "/frame", "--dir-path", "/dir", "--c2s", "out", "--s2c", "in", "--s2c", "recv")


def test_the_command_takes_words_of_a_recorder_and_standard_input(validate: Validate) -> None:
    lines = log(row("out", request(1, "ping")), row("recv", result(1, {})), row("in", request(2, "ping")), row("in", None))
    found = json.loads(validate(*OPTIONS, "--format", "json", "-", input=lines).stdout)
    assert [(each["line"], each["direction"], each["rule"], each["path"]) for each in found["findings"]] == [
        (3, "s2c", "method/direction", "$.frame.method"),
        (3, "s2c", "request/unanswered", "$.frame"),
        (4, "s2c", "frame/shape", "$.frame"),
    ]


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_tells_the_place_in_the_line(validate: Validate, format_: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log({"dir": "in", "frame": {"jsonrpc": "2.0", "method": "gone"}}))
    assert "$.frame.method" in validate(*OPTIONS, "--format", format_, path).stdout


def test_a_log_of_another_form_tells_its_revision_and_its_times(validate: Validate, tmp_path: Path) -> None:
    rows = [row("out", request(1, "ping")), {**row("in", result(1, {})), "ts": 3}]
    path = tmp_path / "log"
    path.write_bytes(log(*rows))
    told = json.loads(validate(*OPTIONS, "--report", "--format", "json", path).stdout)
    assert told["observed"]["latency"][0]["answers"] == 1
    path.write_bytes(log(*({**each, "ts": "2026-01-01T00:00:00Z"} for each in rows)))
    told = json.loads(validate(*OPTIONS, "--report", "--format", "json", path).stdout)
    assert told["summary"]["valid"] == 2
    assert told["observed"]["latency"] == []


def test_what_a_quick_lane_would_take_for_a_capture_is_none(validate: Validate, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(log(row("c2s", request(1, "ping")), "\n" * command.FEW))
    assert "0 invalid" in validate(path).stdout
    assert "the line has no frame at $.msg" in validate("--frame-path", "/msg", path).stdout


def test_an_end_without_a_line_feed_is_the_matter_of_its_line(validate: Validate, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(json.dumps({"msg": request(1, "ping")}).encode())
    found = json.loads(validate("--strict", "--frame-path", "/msg", "--format", "json", path).stdout)["findings"]
    assert [(each["rule"], each["path"]) for each in found] == [("strict/unterminated", "$"), ("request/unanswered", "$.msg")]


def test_the_case_of_an_envelope_with_time_and_direction(validate: Validate, reference_dir: Path, tmp_path: Path) -> None:
    cases = map(json.loads, (reference_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines())
    (lines,) = [case["input"]["log"] for case in cases if case["id"] == "D17"]
    found = json.loads(validate(*OPTIONS, "--format", "json", "-", input="".join(lines)).stdout)["findings"]
    assert [(each["direction"], each["path"]) for each in found] == [("s2c", "$.frame.method")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--frame-path", "frame"], '"frame" is no JSON Pointer: it has to begin with "/"'),
        (["--frame-path", "/a", "--dir-path", "/~"], '"/~" is no JSON Pointer'),
        (["--dir-path", "/a"], "--dir-path goes with --frame-path"),
        (["--frame-path", "/a", "--c2s", "x"], "--c2s and --s2c go with --dir-path"),
        (["--frame-path", "/a", "--dir-path", "/b", "--c2s", "x", "--s2c", "x"], '"x" can\'t stand for both directions'),
    ],
)
def test_wrong_usage_is_2_and_one_sentence(validate: Validate, arguments: list[str], says: str) -> None:
    found = validate(*arguments, "log")
    assert (found.exit_code, found.stdout) == (2, "")
    (sentence,) = [line for line in found.stderr.splitlines() if line.startswith("Error: ")]
    assert says in sentence
