"""The dispatching judge has the verdicts of plain `jsonschema`, and better sentences."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from dsh_codegen.frames.compiled import Compiled
from dsh_codegen.frames.judge import MOST_PROBLEMS, Judge, _Refusal
from dsh_codegen.frames.protocol import Protocol
from dsh_codegen.frames.walk import MOST_STEPS
from dsh_codegen.frames.wording import _nearest, json_path, nearest
from tests.codegen.frames.random_schemas import random_bundle, random_value
from tests.codegen.frames.toy import BUNDLE, COUNT, arm, ref

ROOT: Final = Path(__file__).parents[3]
REVISIONS: Final = {"0.1.5": "healthy-0.1.5", "0.2.1": "healthy"}
JUDGE: Final = Judge(BUNDLE)


def bundle(revision: str) -> Any:
    path = ROOT / "generated" / "python" / "dsh_protocol" / f"v{revision.replace('.', '_')}" / "schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def plain(bundle: Any, definition: str) -> Any:
    """The reference: `jsonschema` as it comes."""
    registry: Any = Registry().with_resource(bundle["$id"], DRAFT202012.create_resource(bundle))
    return Draft202012Validator({"$ref": f"{bundle['$id']}#/$defs/{definition}"}, registry=registry)


# Small values over the words of the toy protocol: most hit a union, many by a hair's breadth.
_WORDS: Final = st.sampled_from(
    ["text", "picture", "gone", "other", "started", "stopped", "append", "asked", "abc", "xyz", "", "type", "kind"]
)
_SCALARS: Final = st.one_of(_WORDS, st.none(), st.booleans(), st.sampled_from([0, 1, 1.0, 1.5, 9, 10, -1, 2**70, 1e300]))
_MEMBERS: Final = st.sampled_from(
    ["type", "kind", "text", "url", "data", "size", "wide", "at", "why", "after", "blocks", "sessionId", "place", "labels"]
)
_VALUES: Final = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_MEMBERS, inner, max_size=4), max_leaves=8
)


@pytest.mark.parametrize("definition", ["Block", "SentBlock", "Size", "Change", "Placement", "AskParams"])
@settings(max_examples=300, deadline=None)
@given(value=_VALUES)
def test_every_value_gets_the_verdict_of_jsonschema(definition: str, value: Any) -> None:
    assert JUDGE.is_valid(definition, value) is plain(BUNDLE, definition).is_valid(value)


@settings(max_examples=300, deadline=None)
@given(member=_MEMBERS, tag=_SCALARS, rest=st.dictionaries(_MEMBERS, _VALUES, max_size=4))
def test_tagged_objects_get_the_verdict_of_jsonschema(member: str, tag: Any, rest: dict[str, Any]) -> None:
    for definition, name in (("Block", "type"), ("SentBlock", "type"), ("Change", "kind")):
        value = {**rest, name: tag}
        assert JUDGE.is_valid(definition, value) is plain(BUNDLE, definition).is_valid(value)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    children: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in children:
        yield from places(inner, (*path, step))


def mutate(value: Any, random: Random, tags: list[str]) -> Any:
    """`value` with one thing wrong, somewhere: a member dropped, renamed or added, or another value."""
    value = copy.deepcopy(value)
    path = random.choice([each for each in places(value) if each])
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    step = path[-1]
    match random.randrange(4):
        case 0:
            del parent[step]
        case 1 if isinstance(parent, dict):
            parent[f"{step}x"] = parent.pop(step)
        case 2 if isinstance(parent, dict):
            parent[random.choice(["data", "type", "kind", "extra"])] = random.choice(["image", "text", 1, None])
        case _:
            parent[step] = random.choice([None, True, 0, 1.0, -1, 2**53, 1.5, "", "x", [], {}, [None], *tags])
    return value


@pytest.mark.parametrize("revision", REVISIONS)
def test_mutated_frames_get_the_verdict_of_jsonschema(revision: str) -> None:
    protocol = Protocol(revision, bundle(revision))
    log = ROOT / "tests" / "fixtures" / "logs" / f"{REVISIONS[revision]}.jsonl"
    frames = [json.loads(line).get("frame") or {} for line in log.read_text(encoding="utf-8").splitlines()]
    random = Random(revision)
    tags = ["text", "image", "tool-result", "turn/start", "user", "plugin", "future"]
    verdicts = {True: 0, False: 0}
    for frame in frames:
        method = protocol.methods.get(frame.get("method", ""))
        if method is None or method.params is None:
            continue
        reference = plain(protocol.bundle, method.params)
        for _ in range(20):
            mutant = mutate(frame["params"], random, tags)
            expected = reference.is_valid(mutant)
            assert protocol.judge.is_valid(method.params, mutant) is expected, mutant
            assert (not protocol.judge.problems("params/schema", method.params, mutant, ())) is expected
            verdicts[expected] += 1
    assert min(verdicts.values()) > 100  # the mutants are neither all good nor all bad


def told(judge: Judge, definition: str, value: Any) -> list[tuple[Any, ...]]:
    return [(each.rule, each.message, each.path, each.schema) for each in judge.problems("r", definition, value, ("params",))]


@pytest.mark.parametrize("revision", REVISIONS)
def test_passing_over_what_is_valid_changes_no_problem(revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = Protocol(revision, bundle(revision))
    log = ROOT / "tests" / "fixtures" / "logs" / f"{REVISIONS[revision]}.jsonl"
    frames = [json.loads(line).get("frame") or {} for line in log.read_text(encoding="utf-8").splitlines()]
    random = Random(f"twice {revision}")
    judge = Judge(protocol.bundle)
    tried: list[tuple[str, Any, list[tuple[Any, ...]]]] = []
    for frame in frames:
        method = protocol.methods.get(frame.get("method", ""))
        if method is not None and method.params is not None:
            for _ in range(20):
                mutant = mutate(mutate(frame["params"], random, ["text", "image"]), random, ["user", "future"])
                tried.append((method.params, mutant, told(judge, method.params, mutant)))
    monkeypatch.setattr(Compiled, "fits", lambda *_: False)
    whole = Judge(protocol.bundle)
    for definition, mutant, problems in tried:
        assert told(whole, definition, mutant) == problems, mutant
    assert sum(len(problems) > 1 for _, _, problems in tried) > 50


def test_the_walk_finds_the_errors_that_jsonschema_finds() -> None:
    found: Counter[str] = Counter()
    for seed in range(150):
        random = Random(f"walk {seed}")
        made = random_bundle(random)
        judge = Judge(made)
        for schema in made["$defs"].values():
            validator = judge._root.evolve(schema=schema)
            for _ in range(10):
                value = random_value(random, schema, made["$defs"])
                try:
                    expected = [described(error) for error in validator.iter_errors(value)]
                except RecursionError:
                    continue  # a definition that is its own alternative
                assert Counter(described(error) for error in judge._whole.descend(value, schema)) == Counter(expected)
                found.update(keyword for keyword, *_ in expected)
    assert {"type", "required", "const", "not", "oneOf", "minLength", "uniqueItems"} <= found.keys()


STARTED: Final = {"kind": "started", "at": 1}


def described(error: Any) -> tuple[Any, ...]:
    return error.validator, repr(error.validator_value), repr(error.instance), repr(error.schema), tuple(error.absolute_path)


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, [{}, {"a": 1}, {"b": 1}]),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [[], [1], [1, 2]]),
        ({"$ref": "#/$defs/Started", "unevaluatedProperties": False}, [STARTED, STARTED | {"b": 1}, {}]),
        ({"$dynamicRef": "#/$defs/Started"}, [STARTED, {}, 1]),
        ({"$ref": "#/$defs/Block/anyOf/0"}, [{"type": "text", "text": ""}, {"type": "text"}, 1]),
        ({"contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}, [[1], [1, "", 1], [1, 1, 1, 1]]),
        ({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 1}}, ["", "a", 0, 1]),
        (
            {"propertyNames": {"minLength": 2}, "patternProperties": {"^a": {"type": "null"}}},
            [{"ab": None}, {"a": 1}, {"ab": 1}],
        ),
        ({"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"b": ["c"]}}, [{}, {"a": 1}, {"b": 1, "c": 1}]),
        ({"prefixItems": [True, False], "items": False}, [[], [1], [1, 2], [1, 2, 3]]),
        ({"properties": {"a": False}}, [{}, {"a": 1}]),
        ({"format": "date"}, ["no date"]),
    ],
)
def test_other_keywords_get_the_verdict_of_jsonschema(schema: Any, values: list[Any]) -> None:
    made = {**BUNDLE, "$defs": {**BUNDLE["$defs"], "X": schema, "In": {"properties": {"x": schema}}}}
    judge = Judge(made)
    for value in values:
        expected = plain(made, "X").is_valid(value)
        assert judge.is_valid("X", value) is expected
        assert judge.is_valid("In", {"x": value}) is expected
        assert (not told(judge, "X", value)) is (not told(judge, "In", {"x": value})) is expected


def problem(definition: str, value: Any) -> tuple[str, str | None, str]:
    (only,) = JUDGE.problems("params/schema", definition, value, ("params",))
    return json_path(only.path), only.schema, only.message


@pytest.mark.parametrize(
    ("definition", "value", "path", "schema", "message"),
    [
        (
            "SentBlock",
            {"type": "picture", "data": "xyz"},
            "$.params.data",
            "#/$defs/UploadBlock/properties/data/pattern",
            '`data` is "xyz", expected a string that matches ^[a-f]+$',
        ),
        (
            "SentBlock",
            {"type": "picture"},
            "$.params",
            "#/$defs/PictureBlock/required",
            "`url` is missing in `params`, expected a non-empty string",
        ),
        (
            "SentBlock",
            {"type": "picture", "URL": "x"},
            "$.params",
            "#/$defs/PictureBlock/required",
            "`url` is missing in `params`, expected a non-empty string; is `URL` meant to be `url`?",
        ),
        (
            "Change",
            {"kind": "startd", "at": 1},
            "$.params.kind",
            "#/$defs/Change/anyOf",
            '`kind` is "startd", expected "started" or "stopped"; did you mean "started"?',
        ),
        ("Change", {"kind": 5}, "$.params.kind", "#/$defs/Change/anyOf", '`kind` is 5, expected "started" or "stopped"'),
        (
            "Change",
            {"Kind": "started"},
            "$.params",
            "#/$defs/Change/anyOf",
            '`kind` is missing in `params`, expected "started" or "stopped"; is `Kind` meant to be `kind`?',
        ),
        ("Change", [], "$.params", "#/$defs/Change/anyOf", "`params` is [] (an array), expected an object with `kind`"),
        (
            "Change",
            {"kind": "started", "at": 10},
            "$.params.at",
            "#/$defs/Started/properties/at/maximum",
            "`at` is 10, expected an integer from 1 to 9",
        ),
        (
            "Change",
            {"kind": "stopped", "why": "faild"},
            "$.params.why",
            "#/$defs/Stopped/properties/why/enum",
            '`why` is "faild", expected "asked" or "failed"; did you mean "failed"?',
        ),
        (
            "Block",
            {"type": "gone"},
            "$.params.type",
            "#/$defs/Block/anyOf",
            '`type` is "gone", which this revision no longer has; expected "text" or "picture"',
        ),
        (
            "Block",
            {"type": ""},
            "$.params.type",
            "#/$defs/OtherBlock/properties/type/minLength",
            '`type` is "", expected a non-empty string',
        ),
        ("Size", {"wide": "1"}, "$.params.wide", "#/$defs/Size/anyOf/1/properties/wide/type", None),
        ("Size", 5, "$.params", "#/$defs/Size/anyOf", "`params` is 5, expected null or an object"),
        (
            "Placement",
            "apend",
            "$.params",
            "#/$defs/Placement/anyOf",
            '`params` is "apend", expected "append" or an object',
        ),
        (
            "AskParams",
            {"sessionId": "s", "blocks": [{"type": "text", "text": "a"}, {"type": "text", "text": 1}]},
            "$.params.blocks[1].text",
            "#/$defs/TextBlock/properties/text/type",
            "`text` is 1 (a number), expected a string",
        ),
        (
            "AskParams",
            {"sessionId": "s", "blocks": [None]},
            "$.params.blocks[0]",
            "#/$defs/SentBlock/anyOf",
            "`blocks[0]` is null, expected an object with `type`",
        ),
        (
            "AskParams",
            {"sessionId": "s", "blocks": [], "labels": {"a b'c": {"kind": "started", "at": None}}},
            "$.params.labels['a b\\'c'].at",
            "#/$defs/Started/properties/at/type",
            "`at` is null, expected an integer from 1 to 9",
        ),
    ],
)
def test_an_error_is_told_at_its_leaf_in_one_sentence(
    definition: str, value: Any, path: str, schema: str, message: str | None
) -> None:
    found_path, found_schema, found_message = problem(definition, value)
    assert (found_path, found_schema) == (path, schema)
    assert message is None or found_message == message


@pytest.mark.parametrize(
    ("schema", "value", "says"),
    [
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 2, "a number greater than 0 less than 1"),
        ({"type": "integer", "multipleOf": 5}, 2, "an integer that is a multiple of 5"),
        ({"type": "integer", "minimum": 5}, 2, "an integer of at least 5"),
        ({"type": "integer", "maximum": 5}, 7, "an integer of at most 5"),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "x", "a string of at least 2 characters of at most 3 characters"),
        ({"type": "array", "minItems": 2}, [], "`params` has 0 items, expected an array of at least 2 items"),
        ({"type": "array", "minItems": 2, "maxItems": 3}, [], "an array of 2 to 3 items"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "expected every item once"),
        ({"type": ["integer", "null"]}, "x", "an integer or null"),
        ({"not": {"const": 1}}, 1, "`params` is 1, which is not allowed here"),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, 3, "expected 1 or 2"),
        (
            {"type": "object", "properties": {"name": {}}, "additionalProperties": False},
            {"nam": 1},
            '`params` has `nam`, which it may not have; did you mean "name"?',
        ),
        ({"type": "string", "pattern": "^" + "a" * 80, "description": "Much a: very much."}, "b", 'described as "Much a"'),
    ],
)
def test_what_other_schemas_expect_is_said_too(schema: Any, value: Any, says: str) -> None:
    foreign = {**BUNDLE, "$defs": {"Odd": {"type": "object", "properties": {"odd": schema}}, "Other": schema}}
    for definition, instance, at in (("Other", value, ("params",)), ("Odd", {"odd": value}, ())):
        (only,) = Judge(foreign).problems("r", definition, instance, at)
        assert says.replace("`params`", f"`{only.path[-1]}`") in only.message


def test_a_union_whose_arms_cannot_be_told_apart_is_judged_as_a_whole() -> None:
    loose = {"type": "object", "properties": {"kind": {"$ref": "#/$defs/Loop"}}, "required": ["kind"]}
    definitions = {
        "Loop": {"$ref": "#/$defs/Loop"},
        "Free": {"type": "object", "properties": {"kind": {"type": "integer"}}, "required": ["kind", "n"]},
        "Loose": loose,
        "Numbers": {**arm("kind", "x"), "properties": {"kind": {"enum": [1, 2, True]}}},
        "Nested": {"anyOf": [ref("Numbers"), {"type": "null"}]},
        "Mixed": {"x-tag": "kind", "anyOf": [arm("kind", "a", n=COUNT), ref("Free"), ref("Nested")]},
    }
    mixed = {**BUNDLE, "$defs": definitions}
    judge = Judge(mixed)
    tagged = [{"kind": "a"}, {"kind": "a", "n": 1}, {"kind": 1}, {"kind": 1.0}, {"kind": 3, "n": 0}, {"kind": True}]
    values: list[Any] = [None, {}, [], *tagged]
    for value in values:
        assert judge.is_valid("Mixed", value) is plain(mixed, "Mixed").is_valid(value)
        assert bool(judge.problems("r", "Mixed", value, ())) is not judge.is_valid("Mixed", value)


@pytest.mark.parametrize(
    "careless",
    [
        {"properties": {"kind": {"const": "u"}}, "required": ["kind"]},  # says nothing about values that are no objects
        {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},  # takes the tag of another arm
        {"type": "object", "properties": {"kind": {"const": "u"}}},  # takes objects without a tag
        {"type": "object", "properties": {"kind": {"const": {"not": "scalar"}}}, "required": ["kind"]},
    ],
)
def test_an_arm_that_takes_more_than_its_tag_says_is_not_overlooked(careless: Any) -> None:
    union = {"x-tag": "kind", "anyOf": [arm("kind", "a", n=COUNT), careless]}
    bundle = {**BUNDLE, "$defs": {"Union": union}}
    kinds: list[Any] = ["a", "u", "other", 1, None, [], {"not": "scalar"}]
    values: list[Any] = [None, 1, [], {}, {"n": 1}, *({"kind": kind} for kind in kinds)]
    for value in values:
        assert Judge(bundle).is_valid("Union", value) is plain(bundle, "Union").is_valid(value), value


def test_all_errors_of_a_frame_are_told_up_to_a_limit() -> None:
    assert [each.message.split()[0] for each in JUDGE.problems("r", "AskParams", {}, ())] == ["`sessionId`", "`blocks`"]
    many: Any = {"sessionId": "s", "blocks": [None] * 100}
    assert len(JUDGE.problems("r", "AskParams", many, ())) == MOST_PROBLEMS


def test_long_and_hostile_values_are_shortened_and_escaped() -> None:
    _, _, message = problem("Change", {"kind": "\x1b[31m" + "x" * 10_000_000})
    assert "\\u001b[31mxxx" in message
    assert len(message) < 200
    assert message.isprintable()


def test_a_value_too_deep_to_be_judged_is_a_problem() -> None:
    judge = Judge({**BUNDLE, "$defs": {"Tree": {"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}}}})
    deep: Any = {}
    rules: set[str] = set()
    for _ in range(900):  # every depth, so that every step of the judge is once the one at which the stack is full
        deep = {"tree": deep}
        rules |= {problem.rule for problem in judge.problems("r", "Tree", deep, ())}
    assert rules == {"json/nesting"}


def test_a_type_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="none of JSON's: 'text'"):
        Judge({**BUNDLE, "$defs": {"X": {"type": "text"}}}).is_valid("X", 1)


def test_a_definition_that_is_itself_is_a_problem() -> None:
    judge = Judge({**BUNDLE, "$defs": {"Loop": {"$ref": "#/$defs/Pool"}, "Pool": {"$ref": "#/$defs/Loop"}}})
    assert [problem.rule for problem in judge.problems("r", "Loop", 1, ())] == ["json/nesting"]


def test_what_a_log_is_full_of_is_not_compared_again_unless_it_is_large() -> None:
    words = ["started", "stopped", "asked", "failed"]
    assert (nearest("strted", words), nearest("strted", words)) == ("started", "started")
    kept = _nearest.cache_info()
    assert kept.hits > 0
    assert nearest("strted", [*words, "x" * 10_000]) == "started"
    assert _nearest.cache_info() == kept


def test_how_deep_a_value_is_followed_does_not_depend_on_who_asks() -> None:
    judge = Judge({**BUNDLE, "$defs": {"Tree": {"properties": {"tree": {"$ref": "#/$defs/Tree"}, "leaf": {"type": "null"}}}}})
    deep: Any = {"leaf": 1}
    for _ in range(MOST_STEPS - 1):
        deep = {"tree": deep}

    def rules(value: Any, calls: int) -> list[str]:
        return rules(value, calls - 1) if calls else [each.rule for each in judge.problems("r", "Tree", value, ())]

    assert rules(deep, 0) == rules(deep, 200) == ["r"]
    assert rules({"tree": deep}, 0) == rules({"tree": deep}, 200) == ["json/nesting"]


def test_of_a_large_array_in_a_union_only_the_first_errors_are_kept() -> None:
    errors = (ValidationError("", validator=name, path=path) for name, path in [*[("type", [1])] * 1000, ("enum", [])])
    assert [len(part) if isinstance(part, list) else part for part in _Refusal.of(errors)] == [MOST_PROBLEMS, True]


def test_a_reference_out_of_the_bundle_is_never_followed() -> None:
    elsewhere = {**BUNDLE, "$defs": {"Away": {"$ref": "https://example.invalid/schema"}}}
    with pytest.raises(Exception, match="Unresolvable"):
        Judge(elsewhere).is_valid("Away", 1)
