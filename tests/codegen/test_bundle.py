"""The bundle says what the authored schema says: same IR when read back, same verdicts, and a root that rejects garbage."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from dsh_codegen.emit.bundle import bundle, bundle_text
from dsh_codegen.ir import Protocol
from dsh_codegen.load import read_protocol
from tests.codegen.packages import build, bundle_oracle, read, write_schema

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fixtures" / "logs"
SOURCES = {"head": ROOT / "schema", **{file.stem: file for file in sorted((ROOT / "schema" / "revisions").glob("*.json"))}}
LOG_OF = {"head": "healthy-0.1.5.jsonl", "0.2.1": "healthy.jsonl"}


@pytest.fixture(scope="module")
def protocols() -> dict[str, Protocol]:
    return {name: read_protocol(path).protocol for name, path in SOURCES.items()}


def plain(protocol: Protocol) -> tuple[Any, ...]:
    definitions = [(found.name, found.module, found.type, found.doc, found.deprecated) for found in protocol.definitions]
    return protocol.revision, protocol.title, definitions, protocol.methods, protocol.errors


def frames(log: str) -> list[Any]:
    rows = [json.loads(line) for line in (LOGS / log).read_text(encoding="utf-8").splitlines()]
    return [
        row.get("frame", row)
        for row in rows
        if isinstance(row.get("frame", row), dict) and ("frame" in row or "jsonrpc" in row)
    ]


@pytest.mark.parametrize("revision", SOURCES)
def test_reading_it_back_gives_the_same_protocol(revision: str, protocols: dict[str, Protocol], tmp_path: Path) -> None:
    protocol = protocols[revision]
    text = bundle_text(protocol, "dsh_protocol")
    again = read(tmp_path, {"any-name.json": text})
    assert plain(again) == plain(protocol)
    assert bundle_text(again, "dsh_protocol") == text


def test_a_frozen_bundle_is_canonical(protocols: dict[str, Protocol]) -> None:
    for name, path in SOURCES.items():
        if name != "head":
            assert (
                json.loads(path.read_text(encoding="utf-8"))["$defs"].keys()
                == bundle(protocols[name], "dsh_protocol")["$defs"].keys()
            )


@pytest.mark.parametrize("revision", SOURCES)
def test_it_is_a_valid_schema_of_its_own(revision: str, protocols: dict[str, Protocol]) -> None:
    document = bundle(protocols[revision], "dsh_protocol")
    Draft202012Validator.check_schema(document)
    assert {ref.partition("/$defs/")[0] for ref in references(document)} == {"#"}
    assert {ref.removeprefix("#/$defs/") for ref in references(document)} <= document["$defs"].keys()
    assert all("x-module" in schema and "allOf" not in schema for schema in document["$defs"].values())


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


@pytest.mark.parametrize("revision", LOG_OF)
def test_root_accepts_every_real_frame(revision: str, protocols: dict[str, Protocol]) -> None:
    judge = Draft202012Validator(bundle(protocols[revision], "dsh_protocol"))
    found = frames(LOG_OF[revision])
    assert len(found) > 20
    assert [frame for frame in found if not judge.is_valid(frame)] == []


GARBAGE: list[Any] = [
    *({}, "x", 1, None, True, [], [{}], {"jsonrpc": "2.0"}, {"method": "initialize"}, {"a": 1}),
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {}},
    {"jsonrpc": "2.0", "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": []},
    {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {}},
    {"jsonrpc": "1.0", "id": 1, "method": "shutdown"},
    {"id": 1, "method": "shutdown"},
    {"jsonrpc": "2.0", "id": {}, "method": "shutdown"},
    {"jsonrpc": "2.0", "id": None, "method": "shutdown"},
    {"jsonrpc": "2.0", "id": True, "method": "shutdown"},
    {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": -32601, "message": ""}},
    {"jsonrpc": "2.0", "id": 1, "result": 5},
    {"jsonrpc": "2.0", "id": 1, "result": None},
    {"jsonrpc": "2.0", "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": ""}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}},
    {"jsonrpc": "2.0", "id": 1, "error": "x"},
    {"jsonrpc": "2.0", "id": 1, "method": "session.status", "params": {}},
    {"jsonrpc": "2.0", "method": "session.event", "params": {"sessionId": 1}},
    {"jsonrpc": "2.0", "method": 1},
]


@pytest.mark.parametrize("revision", SOURCES)
def test_root_refuses_what_is_no_frame(revision: str, protocols: dict[str, Protocol]) -> None:
    judge = Draft202012Validator(bundle(protocols[revision], "dsh_protocol"))
    assert [frame for frame in GARBAGE if judge.is_valid(frame)] == []


def test_a_method_without_params_ignores_them(protocols: dict[str, Protocol]) -> None:
    for protocol in protocols.values():
        judge = Draft202012Validator(bundle(protocol, "dsh_protocol"))
        for params in ({}, {"a": 1}):
            assert judge.is_valid({"jsonrpc": "2.0", "id": 1, "method": "shutdown", "params": params})
        assert judge.is_valid({"jsonrpc": "2.0", "id": "1", "method": "shutdown"})


def mutated(value: Any, dice: random.Random) -> Any:
    """`value` with one thing changed somewhere below it."""
    value = copy.deepcopy(value)
    at = value
    while isinstance(at, (dict, list)) and at:
        key = dice.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], (dict, list)) or not at[key] or dice.random() < 0.3:
            if dice.random() < 0.3:
                del at[key]
            else:
                at[key] = dice.choice([None, 1, -1, 1.5, "", "x", [], {}, True, 2**60])
            break
        at = at[key]
    return value


def damaged(protocol: Protocol, log: str, count: int) -> list[tuple[str, Any]]:
    """Payloads of real frames with one thing changed, and the definitions they belong to."""
    params = {method.name: method.params for method in protocol.methods}
    payloads = [(name, frame["params"]) for frame in frames(log) if (name := params.get(frame.get("method"))) is not None]
    dice = random.Random(3)
    return [(name, mutated(payload, dice)) for name, payload in dice.choices(payloads, k=count)]


@pytest.mark.parametrize("revision", LOG_OF)
def test_codecs_and_bundle_agree_on_damaged_payloads(revision: str, protocols: dict[str, Protocol], tmp_path: Path) -> None:
    protocol = protocols[revision]
    package, judge = build(tmp_path, protocol), bundle_oracle(protocol)
    verdicts = []
    for name, payload in damaged(protocol, LOG_OF[revision], 60):
        verdicts.append(judge.accepts(name, payload))
        assert package.accepts(name, payload) == verdicts[-1], (name, payload)
    assert 10 < verdicts.count(False) < 60


def test_bundle_never_accepts_what_the_authored_schema_refuses(protocols: dict[str, Protocol]) -> None:
    """The other way round an open union of the authored schema is wider: it does not exclude known tags from its open arm."""
    files = {file.name: json.loads(file.read_text(encoding="utf-8")) for file in SOURCES["head"].glob("*.schema.json")}
    registry: Registry[Any] = Registry().with_resources(
        [(f"https://schema.invalid/{name}", DRAFT202012.create_resource(file)) for name, file in files.items()]
    )
    judge = bundle_oracle(protocols["head"])
    verdicts = []
    for name, payload in damaged(protocols["head"], LOG_OF["head"], 60):
        pointer = protocols["head"].by_name[name].pointer
        authored = Draft202012Validator({"$ref": f"https://schema.invalid/{pointer}"}, registry=registry).is_valid(payload)
        verdicts.append((judge.accepts(name, payload), authored))
    assert (True, False) not in verdicts
    assert {(True, True), (False, False)} <= set(verdicts)


def test_text_is_stable_and_plain(tmp_path: Path) -> None:
    files = {"a.json": {"$defs": {"A": {"type": "string", "description": "é \u2028 \u2029 \x00 \x7f"}}}}
    texts = {bundle_text(read_protocol(write_schema(tmp_path, files) / "a.json").protocol, "my_pkg") for _ in range(2)}
    (text,) = texts
    assert text.endswith("}\n")
    assert "é" in text
    assert "\u2028" not in text
    assert "\u2029" not in text
    document = json.loads(text)
    assert document["$id"] == "urn:my-pkg:a"
    assert document["$defs"]["A"]["description"] == files["a.json"]["$defs"]["A"]["description"].strip()
