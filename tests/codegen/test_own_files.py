"""The product's own schema and generated files."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from dsh_codegen import __version__
from dsh_codegen.check import compare
from dsh_codegen.config import Config, load_config
from dsh_codegen.emit.bundle import bundle_text
from dsh_codegen.generate import PINNED, render
from dsh_codegen.ir import Protocol, Record, Ref, Type, Union
from dsh_codegen.load import read_protocol
from dsh_codegen.revisions import Revisions, read_revisions
from tests.codegen.projects import ROOT

PYPROJECT: Final = ROOT / "pyproject.toml"
GARBAGE: Final[list[Any]] = [None, 1, "x", [], {}, {"jsonrpc": "2.0", "method": "no/such"}, {"jsonrpc": "2.0", "id": 1}]
FROZEN: Final = sorted((ROOT / "schema" / "revisions").glob("*.json"))


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(PYPROJECT)


@pytest.fixture(scope="module")
def revisions(config: Config) -> Revisions:
    return read_revisions(config)


@pytest.fixture(scope="module")
def head(revisions: Revisions) -> Protocol:
    return next(revision.protocol for revision in revisions.all if revision.name == revisions.head)


def authored() -> dict[str, dict[str, Any]]:
    """The definitions of the head as they are written, by file."""
    files = (ROOT / "schema").glob("*.schema.json")
    return {file.name: json.loads(file.read_text(encoding="utf-8"))["$defs"] for file in files}


def test_the_generated_files_are_what_the_schema_asks_for(config: Config) -> None:
    drifts = [f"{drift.kind} {drift.file}: {drift.cause}" for tree in render(config) for drift in compare(tree).drifts]
    assert not drifts, "run: dsh-codegen generate"


def test_the_pins_are_those_of_the_project() -> None:
    extra = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["codegen"]
    exact = dict(requirement.split("==") for requirement in extra if "==" in requirement)
    assert exact == PINNED


def test_the_npm_package_has_the_version_of_the_distribution(config: Config) -> None:
    assert config.typescript_version == __version__


def test_the_settings_list_every_revision(config: Config, revisions: Revisions) -> None:
    assert [revision.name for revision in revisions.all] == list(config.revisions)
    assert {revision.name for revision in revisions.all} == {revisions.head, *(file.stem for file in FROZEN)}


def test_every_definition_is_named_by_its_author(head: Protocol) -> None:
    """None was made up for an object that stands inside another."""
    written = {name for definitions in authored().values() for name in definitions}
    used = {definition.name for definition in head.definitions}
    assert used <= written
    abstract = {name for defs in authored().values() for name, schema in defs.items() if schema.get("x-abstract")}
    assert written - used == abstract


def test_every_definition_is_described(revisions: Revisions) -> None:
    silent = [
        (each.name, definition.name) for each in revisions.all for definition in each.protocol.definitions if not definition.doc
    ]
    assert not silent


def test_every_member_of_a_payload_is_described(head: Protocol) -> None:
    payloads = {name for method in head.methods for name in (method.params, method.result) if name is not None}
    silent = []
    for name in sorted(payloads):
        record = head.by_name[name].type
        assert isinstance(record, Record)
        silent += [
            f"{name}.{member.wire}"
            for member in record.members
            if not member.doc and not documented(member.wire, member.type, head)
        ]
    assert not silent


def documented(wire: str, node: Type, protocol: Protocol) -> bool:
    """A type with a description of its own explains its member; `childSessionId` explains itself."""
    return wire.lower().endswith("sessionid") or (isinstance(node, Ref) and bool(protocol.by_name[node.name].doc))


def test_every_method_and_error_is_described(revisions: Revisions) -> None:
    for revision in revisions.all:
        assert all(method.doc for method in revision.protocol.methods)
        assert all(error.doc for error in revision.protocol.errors)


def test_the_method_table_obeys_its_schema(head: Protocol) -> None:
    meta = json.loads((ROOT / "schema" / "methods.meta.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(meta)
    table = json.loads((ROOT / "schema" / "methods.json").read_text(encoding="utf-8"))
    assert not list(Draft202012Validator(meta).iter_errors(table))
    changes: list[dict[str, Any]] = [{"methods": []}, {"revision": "no spaces"}, {"extra": 1}, {"errors": [{"code": "x"}]}]
    for change in changes:
        assert list(Draft202012Validator(meta).iter_errors({**table, **change})), f"the table's schema accepts {change}"


def test_every_definition_is_used(head: Protocol) -> None:
    """From the methods everything can be reached, but for the shapes of frames."""
    todo = [name for method in head.methods for name in (method.params, method.result) if name is not None]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += references(head.by_name[name].type)
    unused = {definition.name for definition in head.definitions if definition.module != "envelope"} - seen
    assert not unused


def references(node: Type) -> list[str]:
    match node:
        case Ref(name):
            return [name]
        case Record(members):
            return [name for member in members for name in references(member.type)]
        case Union(declared, arms):
            return [name for arm in (*declared, *(arm.type for arm in arms)) for name in references(arm)]
        case _:
            inner = getattr(node, "items", None) or getattr(node, "values", None)
            return references(inner) if inner is not None and not isinstance(inner, tuple) else []


@pytest.mark.parametrize("file", FROZEN, ids=lambda file: file.stem)
def test_a_frozen_bundle_regenerates_itself(file: Path, config: Config) -> None:
    text = file.read_text(encoding="utf-8")
    assert bundle_text(read_protocol(file).protocol, config.python_package) == text


def test_the_bundle_of_the_head_can_be_frozen(head: Protocol, config: Config, tmp_path: Path) -> None:
    text = bundle_text(head, config.python_package)
    file = tmp_path / f"{head.revision}.json"
    file.write_text(text, encoding="utf-8")
    assert bundle_text(read_protocol(file).protocol, config.python_package) == text


def test_bundles_are_valid_schemas_that_refuse_garbage(revisions: Revisions, config: Config) -> None:
    for revision in revisions.all:
        bundle = json.loads(bundle_text(revision.protocol, config.python_package))
        if revision.name == revisions.head:
            Draft202012Validator.check_schema(bundle)
        validator = Draft202012Validator(bundle)
        for garbage in GARBAGE:
            assert not validator.is_valid(garbage), garbage


def test_generated_code_imports_the_standard_library_only(config: Config) -> None:
    modules = set()
    for file in (config.python_out / config.python_package).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules.add(str(node.module).partition(".")[0])
    assert modules <= sys.stdlib_module_names
    assert modules
