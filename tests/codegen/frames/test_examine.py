from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from dsh_codegen.frames import examine as examining
from dsh_codegen.frames.explain import Explainer
from dsh_codegen.frames.findings import RULES
from dsh_codegen.frames.pending import Asked, Pending
from dsh_codegen.frames.protocol import Protocol, protocols
from dsh_codegen.frames.setup import Setup
from dsh_codegen.frames.source import Piece
from tests.codegen.frames.toy import BUNDLE, arm, examine, log, ref, request, result, row, rules

ASK = {"sessionId": "s", "blocks": []}
CHANGE = {"jsonrpc": "2.0", "method": "change", "params": {"change": {"kind": "started", "at": 1}}}


def found(*rows: Any, strict: bool = False) -> list[tuple[int, str, str]]:
    return rules(examine(log(*rows), strict=strict)[0])


def test_a_clean_conversation() -> None:
    findings, part = examine(
        log(
            row("c2s", request("a", "ask/question", ASK)),
            row("s2c", CHANGE),
            row("s2c", result("a", {"id": "m"})),
            row("c2s", request(1, "ping", ["whatever"])),
            row("s2c", result(1.0, {})),
            row("s2c", request("a", "recall")),
            row("c2s", result("a", {})),
        )
    )
    summary = part.summary
    assert not findings
    assert (summary.frames, summary.valid, summary.invalid, len(part.pending)) == (7, 7, 0, 0)
    assert {name: (each.count, each.invalid) for name, each in summary.methods.items()} == {
        "ask/question": (2, 0),
        "change": (1, 0),
        "ping": (2, 0),
        "recall": (2, 0),
    }


def test_bare_frames_find_their_direction() -> None:
    findings, _ = examine(log(request("a", "ask/question", {}), CHANGE, result("a", {}), request(7, "who/knows"), result(7, 1)))
    assert [(each.line, each.direction, each.kind, each.method, each.rule) for each in findings] == [
        (1, "c2s", "request", "ask/question", "params/schema"),
        (1, "c2s", "request", "ask/question", "params/schema"),
        (3, "s2c", "response", "ask/question", "result/schema"),
        (4, None, "request", "who/knows", "method/unknown"),
    ]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ([], [("frame/batch", "$")]),
        ([CHANGE], [("frame/batch", "$")]),
        (None, [("frame/shape", "$")]),
        (True, [("frame/shape", "$")]),
        ({}, [("frame/shape", "$")]),
        ({"jsonrpc": "2.0", "method": 7}, [("frame/method", "$.method")]),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, [("frame/method", "$.method")]),
        ({"jsonrpc": "2.0", "id": None, "result": {}}, [("frame/id", "$.id")]),
        ({"id": 1, "method": "ping"}, [("frame/version", "$")]),
        ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, [("frame/version", "$.jsonrpc")]),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, [("frame/id", "$.id")]),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, [("frame/id", "$.id")]),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, [("frame/id", "$.id")]),
        ({"jsonrpc": "2.0", "method": "ping"}, [("method/kind", "$")]),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}, [("frame/shape", "$.result")]),
        (request(1, "pong"), [("method/unknown", "$.method")]),
        (request(1, ""), [("method/unknown", "$.method")]),
        (request(1, "change", {}), [("method/direction", "$.method")]),
        (request(1, "ask/question"), [("params/schema", "$")]),
        (request(1, "ask/question", None), [("params/shape", "$.params")]),
        (request(1, "ask/question", [ASK]), [("params/shape", "$.params")]),
        (request(1, "ask/question", {**ASK, "sessionId": ""}), [("params/schema", "$.params.sessionId")]),
        (result("nobody", 1), [("response/orphan", "$.id")]),
    ],
)
def test_what_is_wrong_with_a_client_frame(frame: Any, expected: list[tuple[str, str]]) -> None:
    assert [(rule, path) for _, rule, path in found(row("c2s", frame))] == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, [("frame/no-result", "$")]),
        ({"result": {}, "error": {"code": -32603, "message": ""}}, [("frame/result-and-error", "$")]),
        ({"result": 5}, [("result/schema", "$.result")]),
        ({"error": None}, [("frame/error-shape", "$.error")]),
        ({"error": {}}, [("frame/error-shape", "$.error")] * 2),
        ({"error": {"code": True, "message": ""}}, [("frame/error-shape", "$.error.code")]),
        ({"error": {"code": 1.5, "message": ""}}, [("frame/error-shape", "$.error.code")]),
        ({"error": {"code": 1e400, "message": ""}}, [("frame/error-shape", "$.error.code")]),
        ({"error": {"code": -32603.0, "message": ""}}, []),
        ({"error": {"code": -32700, "message": ""}}, [("frame/error-code", "$.error.code")]),
        ({"error": {"code": -32601, "message": 5}}, [("frame/error-shape", "$.error.message")]),
        ({"error": {"code": -32601, "message": "m", "data": 1}}, []),
    ],
)
def test_what_is_wrong_with_a_response(members: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    response = row("s2c", {"jsonrpc": "2.0", "id": 1, **members})
    if members.get("error") == {"code": 1e400, "message": ""}:
        response = '{"dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"error":{"code":1e400,"message":""}}}'  # type: ignore[assignment]
    assert [(rule, path) for _, rule, path in found(row("c2s", request(1, "ping")), response)] == expected


def test_ids_keep_their_type_and_their_direction() -> None:
    assert found(
        row("c2s", request(1, "ping")),
        row("s2c", result("1", {})),
        row("c2s", result(1, {})),
        row("s2c", result(1, {})),
        row("s2c", result(1, {})),
    ) == [(2, "response/orphan", "$.id"), (3, "response/orphan", "$.id"), (5, "response/orphan", "$.id")]
    findings, _ = examine(log(row("c2s", request(1, "ping")), row("s2c", result("1", {}))))
    assert "of the other JSON type" in findings[0].message


def test_numeric_ids_are_doubles() -> None:
    assert not found(row("c2s", request(9007199254740993, "ping")), row("s2c", result(9007199254740992, {})))
    assert not found(row("c2s", request(10**400, "ping")), row("s2c", result(10**401, {})))


def test_requests_with_one_id_are_all_answered() -> None:
    two = [row("c2s", request("d", "ping")), row("c2s", request("d", "ask/question", ASK))]
    # The answers may come in either order: each is judged by the request it fits.
    for answers in ([{}, {"id": "m"}], [{"id": "m"}, {}]):
        assert found(*two, *(row("s2c", result("d", each)) for each in answers)) == [(2, "request/duplicate-id", "$.id")]
    assert found(*two, *(row("s2c", result("d", {})) for _ in range(3)))[1:] == [
        (4, "result/schema", "$.result"),
        (5, "response/orphan", "$.id"),
    ]


def test_a_response_is_tried_once_for_each_method_that_waits_for_its_id() -> None:
    pending, tried = Pending(), list[str]()
    for line in range(6):
        pending.ask(("number", 1.0), Asked("c2s", ["ping", "ask"][line % 2], line))

    def misfit(method: str) -> float:
        tried.append(method)
        return 0 if method == "ask" else math.inf

    asked = pending.answer("s2c", ("number", 1.0), misfit)
    assert asked is not None
    assert (asked.line, sorted(tried)) == (1, ["ask", "ping"])


def test_responses_that_fit_no_request_answer_them_in_order() -> None:
    methods: list[dict[str, Any]] = [{"name": "note", "sender": "client", "params": None}]
    methods += [{"name": name, "sender": "client", "params": None, "result": "Tree"} for name in ("grow", "cut")]
    tree = {"type": "object", "properties": {"tree": ref("Tree")}}
    protocol = Protocol("1", {**BUNDLE, "x-methods": methods, "$defs": {"Tree": tree}})
    deep = '{"dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"result":' + '{"tree":' * 400 + "{}" + "}" * 402
    failed = row("s2c", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": ""}})
    asked = [row("c2s", request(1, name)) for name in ("note", "grow", "cut")]
    findings, part = examine(log(*asked, deep, deep, failed), protocol=protocol)
    assert [(each.line, each.method, each.rule) for each in findings] == [
        (1, "note", "method/kind"),
        (2, "grow", "request/duplicate-id"),
        (3, "cut", "request/duplicate-id"),
        (5, "grow", "json/nesting"),
    ]
    assert {name: each.count for name, each in part.summary.methods.items()} == {"note": 2, "grow": 2, "cut": 2}


def test_a_value_that_only_the_search_for_undeclared_members_can_not_follow() -> None:
    inner: Any = {"x-tag": "kind", "anyOf": [ref("Node")]}
    outer: Any = {"x-tag": "kind", "anyOf": [ref("Inner")]}
    definitions = {"Node": arm("kind", "a", next_=ref("Outer")), "Inner": inner, "Outer": outer}
    methods = [{"name": "note", "sender": "client", "params": "Node"}]
    protocol = Protocol("1", {**BUNDLE, "x-methods": methods, "$defs": definitions})
    deep = '{"dir":"c2s","frame":{"jsonrpc":"2.0","method":"note","params":' + '{"kind":"a","next":' * 190
    findings, _ = examine(log(deep + '{"kind":"a"}' + "}" * 192), protocol=protocol, strict=True)
    assert [each.rule for each in findings] == ["json/nesting"]


def test_sentences_are_made_only_for_what_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []

    def sentence(_self: Explainer, error: Any, _path: Any) -> str:
        said.append(error)
        return "wrong"

    monkeypatch.setattr(Explainer, "sentence", sentence)
    data = log(*[row("c2s", request(number, "ask/question", {"sessionId": 1, "blocks": []})) for number in range(30)])
    part = examining.examine(Setup(Protocol("1", BUNDLE), listed=3), Piece("log", "log", 0, None, data), Pending())
    (group,) = part.groups
    assert (group.count, [each.message for each in group.findings], len(said)) == (30, ["wrong"] * 3, 3)


def test_an_id_may_be_used_again_once_it_was_answered() -> None:
    again = [row("c2s", request("d", "ping")), row("s2c", result("d", {}))]
    assert not found(*again, *again)


@pytest.mark.parametrize(
    ("wrong", "right"), [("Ping", "ping"), ("ask/questin", "ask/question"), ("ask_question", "ask/question")]
)
def test_a_near_miss_names_what_was_meant(wrong: str, right: str) -> None:
    findings, _ = examine(log(row("c2s", request(1, wrong))))
    assert findings[0].message.endswith(f'; did you mean "{right}"?')


def test_strict_reports_undeclared_members_with_their_place() -> None:
    frame = {
        **request("a", "ask/question", {**ASK, "blocks": [{"type": "text", "text": "", "txt": 1}, {"type": "new", "x": 1}]}),
        "trace": 1,
    }
    stopped = {"kind": "stopped", "echo": {"anything": 1}, "odd name": 1}
    frames = (
        row("c2s", frame),
        row("s2c", {**CHANGE, "params": {"change": stopped}}),
        row("s2c", {"jsonrpc": "2.0", "id": "a", "error": {"code": -32603, "message": "", "data": 1}}),
    )
    assert not found(*frames)
    assert examine(log(*frames))[1].summary.undeclared == 3
    assert found(*frames, strict=True) == [
        (1, "strict/unknown-member", "$.trace"),
        (1, "strict/unknown-member", "$.params.blocks[0].txt"),
        (2, "strict/unknown-member", "$.params.change['odd name']"),
        (3, "strict/unknown-member", "$.error.data"),
    ]
    findings, _ = examine(log(*frames), strict=True)
    assert findings[1].message == '`txt` is no declared member of `blocks[0]`; did you mean "text"?'
    assert findings[1].schema == "#/$defs/TextBlock/properties"


@pytest.mark.parametrize(("strict", "expected"), [(False, []), (True, [(1, "strict/other-revision", "$.method")])])
def test_a_method_of_another_revision_is_tried_at_no_fault(strict: bool, expected: list[tuple[int, str, str]]) -> None:
    later = {"name": "ask/later", "sender": "client", "params": None, "result": "Ref"}
    newer = {**BUNDLE, "x-methods": [*BUNDLE["x-methods"], later]}
    (old,) = protocols([("old", BUNDLE), ("new", newer)], ["old"])
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "unknown method: ask/later"}}
    findings, part = examine(log(row("c2s", request(1, "ask/later")), row("s2c", refused)), strict=strict, protocol=old)
    assert rules(findings) == expected
    assert part.summary.elsewhere == 1


def test_strict_wants_the_last_line_to_end() -> None:
    data = log(CHANGE)[:-1]
    assert not examine(data)[0]
    assert rules(examine(data, strict=True)[0]) == [(1, "strict/unterminated", "$")]


def test_counts_of_good_bad_and_skipped_lines_add_up() -> None:
    _, part = examine(log("INFO start", "{bad}", {"jsonrpc": "2.0", "method": "nope"}, "", CHANGE, {"dir": "c2s", "eof": True}))
    summary = part.summary
    assert (summary.frames, summary.valid, summary.invalid, summary.skipped, summary.findings) == (4, 1, 3, 0, 3)


def test_summaries_of_parts_merge() -> None:
    from dsh_codegen.frames.summary import MOST_METHODS, Summary

    _, whole = examine(log(CHANGE, {"jsonrpc": "2.0", "method": "nope"}, CHANGE))
    parts = [examine(log(CHANGE))[1], examine(log({"jsonrpc": "2.0", "method": "nope"}, CHANGE))[1]]
    first, second = parts
    first.summary.merge(second.summary)
    assert first.summary == whole.summary
    crowded = Summary()
    for index in range(MOST_METHODS * 2):
        crowded.method(str(index)).count += 1
    assert len(crowded.methods) == MOST_METHODS + 1


def test_every_rule_rests_on_rules_that_the_protocol_states() -> None:
    stated = set(re.findall(r"^- \*\*([TSC]\d+)\*\*", _root("schema/PROTOCOL.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert {cited for rule in RULES.values() for cited in rule.protocol} <= stated


def test_every_finding_names_a_rule_of_the_table() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in _root("codegen/dsh_codegen/frames").glob("*.py"))
    named = set(
        re.findall(r'"((?:file|line|row|json|frame|method|params|result|request|response|strict)/[a-z0-9-]+)"', sources)
    )
    assert named == set(RULES)


def _root(path: str) -> Path:
    return Path(__file__).parents[3] / path
