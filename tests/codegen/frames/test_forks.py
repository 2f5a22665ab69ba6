"""Of a tagged union only the arms that a value can be of are compiled, and that changes no verdict."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dsh_codegen.frames.compiled import Compiled
from dsh_codegen.frames.forks import find_fork
from dsh_codegen.frames.tags import Definitions
from tests.codegen.frames.lanes import Reference, bundle, bundle_of
from tests.codegen.frames.toy import TEXT, arm, ref

ODD: Final = arm("type", "odd", n={"type": "integer", "multipleOf": 3})  # which can't be compiled
PLAIN: Final = arm("type", "plain", text=TEXT)
UNION: Final = {"x-tag": "type", "anyOf": [ref("Plain"), ref("Odd")]}
DEFINITIONS: Final[dict[str, Any]] = {"Plain": PLAIN, "Odd": ODD, "Union": UNION}
FINE: Final[Any] = {"type": "plain", "text": ""}


def judges(schema: Any) -> tuple[Compiled, Reference]:
    made = bundle_of({**DEFINITIONS, "X": schema})
    return Compiled(made), Reference(made, plainly=1)


@pytest.mark.parametrize(
    ("schema", "outside"),
    [
        (UNION, False),
        (ref("Union"), False),
        ({"type": "object", "properties": {"in": ref("Union")}, "required": ["in"]}, True),
        ({"type": "object", "properties": {"in": UNION, "other": TEXT}}, True),
    ],
)
def test_an_arm_is_judged_without_the_others(schema: Any, outside: bool) -> None:
    judge, reference = judges(schema)
    inner: list[Any] = [FINE, {"type": "plain"}, {"type": "new"}, {"type": None}, {}, [], "plain", None]
    for value in [{"in": each} for each in inner] if outside else inner:
        assert judge.decides("X", value), value
        assert judge.is_valid("X", value) is reference.is_valid("X", value), value
    odd: Any = {"type": "odd", "n": 3}
    odd = {"in": odd} if outside else odd
    assert not judge.decides("X", odd)
    assert not judge.is_valid("X", odd)
    assert reference.is_valid("X", odd)


@pytest.mark.parametrize("value", [{}, {"in": 1, "other": ""}, {"other": 1}, [], None, {"in": FINE, "other": ""}])
def test_where_the_union_is_not(value: Any) -> None:
    judge, reference = judges({"type": "object", "properties": {"in": ref("Union"), "other": TEXT}})
    assert judge.is_valid("X", value) is reference.is_valid("X", value)


def test_what_is_said_beside_a_reference_counts() -> None:
    beside = {**ref("Union"), "required": ["more"]}
    for schema, value in ((beside, FINE), ({"type": "object", "properties": {"in": beside}}, {"in": FINE})):
        judge, reference = judges(schema)
        assert not judge.is_valid("X", value)
        assert not reference.is_valid("X", value)


def test_what_is_said_beside_a_union_counts() -> None:
    judge, _ = judges({**UNION, "required": ["more"]})
    assert (judge.is_valid("X", FINE), judge.is_valid("X", {**FINE, "more": 1})) == (False, True)


def test_inside_itself_a_union_is_whole() -> None:
    tree = {"x-tag": "type", "anyOf": [ref("Plain"), arm("type", "branch", left=ref("X"), right=ref("X"))]}
    judge, _ = judges(tree)
    assert judge.is_valid("X", {"type": "branch", "left": FINE, "right": {"type": "branch", "left": FINE, "right": FINE}})
    assert not judge.is_valid("X", {"type": "branch", "left": FINE, "right": {"type": "branch", "left": FINE, "right": 1}})


def test_it_is_the_largest_union_that_counts() -> None:
    small = {"x-tag": "type", "anyOf": [ref("Plain")]}
    schema = {"type": "object", "properties": {"a": small, "b": UNION, "c": small, "d": True, "e": TEXT}}
    definitions = Definitions(bundle_of({**DEFINITIONS, "X": schema, "Y": {"properties": {"a": TEXT}}, "Z": True}))
    fork = find_fork(definitions, "X")
    assert fork is not None
    assert fork.member == "b"
    assert [find_fork(definitions, name) for name in ("Y", "Z", "Missing")] == [None, None, None]


@pytest.mark.parametrize("schema", [{"x-tag": "type"}, {"properties": []}, ref("X")])
def test_what_no_bundle_says_divides_nothing(schema: Any) -> None:
    assert find_fork(Definitions(bundle_of({"X": schema})), "X") is None


@pytest.mark.parametrize("revision", ["2026-07-29", "0.1.1", "0.1.5", "0.2.1"])
def test_every_event_of_every_revision_is_compiled(revision: str) -> None:
    made = bundle(revision)
    fork = find_fork(Definitions(made), "SessionEventNotification")
    assert fork is not None
    judge = Compiled(made)
    for tag in [*fork.table.known, "another"]:
        assert judge.decides("SessionEventNotification", {"sessionId": "s", "event": {"type": tag}}), tag
