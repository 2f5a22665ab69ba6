"""Every valid value decodes to the classes of its schema and encodes to equal JSON: what was seen, and what may come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generated.checks import assert_agrees, assert_lossless
from tests.generated.logs import Payload, payloads
from tests.generated.mutations import places, replaced, tags
from tests.generated.revisions import DEFINITIONS, MODULES, REVISIONS, Json, Revision, canonical, examples, label
from tests.generated.strategies import JSON, instances

LOGS: Final = Path(__file__).parents[1] / "fixtures" / "logs"
UNNAMED: Final = "0.2.1"
"""The revision of a log whose name tells none."""


def revision_of(log: Path) -> str:
    """The revision in a name such as `healthy-0.1.5.jsonl` or `v_mixed_0.1.5rc1.jsonl`."""
    named = re.search(r"[-_](\d+\.\d+\.\d+|\d{4}-\d\d-\d\d)(?:rc\d+)?$", log.stem)
    return named[1] if named else UNNAMED


def decoded_by_method(revision: Revision, payload: Payload) -> Any:
    """What the codec of the payload's method makes of it, which is lossless."""
    package = revision.package
    decode = package.decode_params if payload.kind == "params" else package.decode_result
    if payload.definition is None:
        assert decode(payload.method, payload.value) is None
        return None
    decoded = assert_lossless(revision, payload.definition, payload.value)
    assert decode(payload.method, payload.value) == decoded
    assert type(decoded) is getattr(package.METHODS[payload.method], payload.kind)
    return decoded


def seen(revision: Revision, folder: Path) -> Iterator[Payload]:
    for log in sorted(folder.glob("*.jsonl")):
        if revision_of(log) == revision.name:
            yield from payloads(revision, log)


@pytest.mark.parametrize("revision", REVISIONS, ids=label)
def test_shipped_logs(revision: Revision) -> None:
    found = list(seen(revision, LOGS))
    if not found:
        pytest.skip(f"no log of {revision} is shipped")
    refused = 0
    for payload in found:
        if payload.definition is None or revision.accepts(payload.definition, payload.value):
            decoded_by_method(revision, payload)
            if payload.definition is not None:
                assert_lossless(revision, payload.definition, with_new_members(payload.value))
        else:
            refused += 1
            assert isinstance(assert_agrees(revision, payload.definition, payload.value), revision.package.DecodeError)
            assert payload.origin.startswith("broken.jsonl:")
    assert len(found) > 20
    assert (refused > 4) == (revision.name == revision_of(LOGS / "broken.jsonl"))


@pytest.mark.parametrize("revision", REVISIONS, ids=label)
def test_reference_captures(revision: Revision, reference_dir: Path) -> None:
    """A server keeps to the schema; clients break it at times, and then the schema decides."""
    found = list(seen(revision, reference_dir / "captures"))
    if not found:
        pytest.skip(f"there are no captures of {revision}")
    for payload in found:
        if not payload.from_server and payload.definition is not None:
            outcome = assert_agrees(revision, payload.definition, payload.value)
            if isinstance(outcome, revision.package.DecodeError):
                continue
        decoded_by_method(revision, payload)
    assert len(found) > 100


# Peers of the future


def with_new_members(value: Json) -> Json:
    """`value` with a member that no schema declares in each of its objects."""
    for path, here in [place for place in places(value) if isinstance(place[1], dict)][::-1]:
        value = replaced(value, (*path, "x-future"), {"since": [1, None, {}], "size": len(here)})
    return value


@pytest.mark.parametrize(("revision", "module"), MODULES, ids=label)
def test_unknown_members(revision: Revision, module: str) -> None:
    drawn = st.sampled_from(revision.modules[module]).flatmap(lambda name: st.tuples(st.just(name), instances(revision, name)))

    @examples(8)
    @given(drawn)
    def survive(named: tuple[str, Json]) -> None:
        definition, value = named
        assert_lossless(revision, definition, with_new_members(value))

    survive()


def open_unions(revision: Revision) -> dict[str, tuple[str, str]]:
    """The tag and the open arm of each open union."""
    found: dict[str, tuple[str, str]] = {}
    for name, schema in revision.defs.items():
        if schema.get("x-open") is True and "anyOf" in schema:
            tag = schema["x-tag"]
            (arm,) = (arm for arm, inner in revision.arms(schema) if inner["properties"][tag].get("type") == "string")
            found[name] = tag, arm
    return found


def future_values(revision: Revision, union: str) -> st.SearchStrategy[Json]:
    """Instances of an open union whose tag nobody knows yet."""
    tag, arm = open_unions(revision)[union]
    new_tags = st.sampled_from(["x/future", "TEXT", "text ", "0", "__class__", "\u2028", "get"])
    payload = st.dictionaries(st.sampled_from(["payload", "text", "extra", "x"]), JSON, max_size=2)
    return st.builds(lambda value, unknown, name: {**unknown, **value, tag: name}, instances(revision, arm), payload, new_tags)


OPEN_UNIONS: Final = [(revision, union) for revision in REVISIONS for union in open_unions(revision)]


@pytest.mark.parametrize(("revision", "union"), OPEN_UNIONS, ids=label)
def test_unknown_tags(revision: Revision, union: str) -> None:
    tag, arm = open_unions(revision)[union]

    @examples(12)
    @given(future_values(revision, union))
    def survive(value: Json) -> None:
        decoded = assert_lossless(revision, union, value)
        assert type(decoded) is getattr(revision.package, arm)
        assert decoded == revision.package.decode(arm, value)

    survive()
    excluded = revision.defs[arm]["properties"][tag]["not"]["enum"]
    owned = [name for _, inner in revision.arms(revision.defs[union]) for name in constants(inner["properties"][tag])]
    assert set(owned) <= set(excluded)


@pytest.mark.parametrize(("revision", "union"), OPEN_UNIONS, ids=label)
def test_unknown_tags_wherever_the_union_stands(revision: Revision, union: str) -> None:
    union_of = {"$ref": f"#/$defs/{union}"}
    members = [(name, *member) for name, schema in revision.defs.items() for member in schema.get("properties", {}).items()]
    holders = [(name, wire, False) for name, wire, inner in members if inner.items() >= union_of.items()]
    holders += [(name, wire, True) for name, wire, inner in members if inner.get("items") == union_of]
    assert holders
    future = future_values(revision, union)

    def holding(name: str, wire: str, is_list: bool) -> st.SearchStrategy[Json]:
        return st.builds(lambda value, item: {**value, wire: [item] if is_list else item}, instances(revision, name), future)

    @examples(2)
    @given(st.tuples(*(holding(*holder) for holder in holders)))
    def survive(values: tuple[Json, ...]) -> None:
        for (name, _, _), value in zip(holders, values, strict=True):
            assert_lossless(revision, name, value)

    survive()


OPEN_ENUMS: Final = [(revision, name) for revision, name in DEFINITIONS if "x-known" in revision.defs[name]]


@pytest.mark.parametrize(("revision", "definition"), OPEN_ENUMS, ids=label)
def test_unknown_values_of_open_enums(revision: Revision, definition: str) -> None:
    for value in (*revision.defs[definition]["x-known"], "of the future", "\ud800"):
        assert assert_lossless(revision, definition, value) == value


# Arms


def constants(schema: Json) -> list[Json]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


TAGGED: Final = [(revision, name) for revision, name in DEFINITIONS if "x-tag" in revision.defs[name]]


@pytest.mark.parametrize(("revision", "union"), TAGGED, ids=label)
def test_every_arm_has_its_class(revision: Revision, union: str) -> None:
    schema = revision.defs[union]
    arms = [name for name, _ in revision.arms(schema)]
    chosen_by = schema.get("x-by-member", {})

    @examples(2)
    @given(st.tuples(*(instances(revision, name) for name in arms)))
    def decode_as_it(values: tuple[Json, ...]) -> None:
        for name, value in zip(arms, values, strict=True):
            if name not in chosen_by and any(member in value for member in chosen_by.values()):
                continue  # it may well be the other arm
            assert type(assert_lossless(revision, union, value)) is getattr(revision.package, name)

    decode_as_it()


def test_equality_tells_json_types_apart() -> None:
    assert canonical([1, {"a": 2.0}]) == canonical([1.0, {"a": 2}])
    different: list[Json] = [None, False, True, 0, 1, 1.5, "", "1", "true", [], [1], [True], [[1]], {}, {"a": 1}, {"a": True}]
    assert len({canonical(value) for value in different}) == len(different)
    with pytest.raises(TypeError, match="not JSON"):
        canonical((1,))


def test_tags_are_known() -> None:
    assert all({"type", "kind"} <= tags(revision) for revision in REVISIONS)
