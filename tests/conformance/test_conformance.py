"""The generator against the JSON-Schema-Test-Suite: what it takes, it gets wholly right; what it can't, it refuses by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen import naming
from dsh_codegen.emit.typescript import TypescriptOptions, typescript_files
from dsh_codegen.load.profile import CONSTRAINTS, REFUSED
from tests import tsc as compiler
from tests.codegen.packages import Package, build, forget, read
from tests.conformance.suite import REFUSALS, SUPPORTED, Group, Verdict, groups, judge, suite_dir, tables
from tests.conformance.table import LIMITS, limit, outside
from tests.tsc import Tsc

pytestmark = pytest.mark.xdist_group("conformance")

REGENERATE: Final = "python -m tests.conformance"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    if not suite_dir().is_dir():
        pytest.skip(f"there is no JSON-Schema-Test-Suite in {suite_dir()}; DSH_REFERENCE_DIR names the folder above `suites`")
    folder = tmp_path_factory.mktemp("groups")
    return [judge(group, folder) for group in groups()]


@pytest.fixture(scope="module")
def supported(verdicts: list[Verdict]) -> list[Group]:
    return [verdict.group for verdict in verdicts if verdict.refusal is None]


@pytest.fixture(scope="module")
def package(supported: list[Group], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """One package of all supported groups, a module each."""
    folder = tmp_path_factory.mktemp("package")
    made = build(folder, read(folder, {f"{group.stem}.schema.json": group.document for group in supported}))
    yield made
    forget(made)


def test_the_suite_is_whole(verdicts: list[Verdict]) -> None:
    assert (len(verdicts), sum(len(verdict.group.tests) for verdict in verdicts)) == (383, 1299)
    assert len({(verdict.group.file, verdict.group.description) for verdict in verdicts}) == 383


def test_both_lists_are_up_to_date(verdicts: list[Verdict]) -> None:
    supported, refused = tables(verdicts)
    assert SUPPORTED.read_text(encoding="utf-8") == supported, f"other groups are supported; if that is meant: {REGENERATE}"
    assert REFUSALS.read_text(encoding="utf-8") == refused, f"other groups are refused; if that is meant: {REGENERATE}"


def test_the_keywords_decide(verdicts: list[Verdict]) -> None:
    """A keyword outside the profile is never taken; within it, only the table's limits are refused."""
    for verdict in verdicts:
        beyond = outside(verdict.group.schema)
        if verdict.refusal is None:
            assert not beyond, f"{verdict.group} has {beyond}, which no type can say, and is not refused"
        elif not beyond:
            assert "limit" in verdict.refusal, verdict


def test_a_refusal_points_to_a_place(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        if verdict.refusal is not None:
            here: Any = verdict.group.document
            for step in verdict.refusal["pointer"].removeprefix("#").split("/")[1:]:
                here = here[int(step) if isinstance(here, list) else step.replace("~1", "/").replace("~0", "~")]


def test_every_row_of_the_table_is_used(verdicts: list[Verdict]) -> None:
    used = {verdict.refusal["limit"] for verdict in verdicts if verdict.refusal and "limit" in verdict.refusal}
    assert used == {row.name for row in LIMITS}
    assert not CONSTRAINTS & REFUSED
    assert limit("something else") is None


def test_supported_groups_are_wholly_right(supported: list[Group], package: Package) -> None:
    names = {definition.pointer: definition.name for definition in package.protocol.definitions}
    wrong = [
        f"{group.file}: {group.description}: {test['description']}: {test['data']!r}"
        for group in supported
        for test in group.tests
        if package.accepts(names[group.pointer], test["data"]) != test["valid"]  # `accepts` compares what comes back, too
    ]
    assert not wrong


def test_their_typescript_compiles(supported: list[Group], package: Package, tmp_path: Path) -> None:
    reason = compiler.missing()
    if reason is not None:
        pytest.skip(reason)
    options = TypescriptOptions("suite", "0.0.0", "RequestMap", "NotificationMap", package.protocol.revision)
    for path, text in typescript_files([package.protocol], options).items():
        (tmp_path / path).write_text(text, encoding="utf-8", newline="\n")
    shutil.copyfile(tmp_path / "index.d.ts", tmp_path / "main.d.ts")
    names = {definition.pointer: definition.name for definition in package.protocol.definitions}
    module = naming.revision_module(package.protocol.revision)
    uses = [f"export type _{at} = T.{naming.type_name(names[group.pointer])};" for at, group in enumerate(supported)]
    (tmp_path / "uses.ts").write_text("\n".join([f'import type * as T from "./{module}.js";', *uses, ""]), encoding="utf-8")
    assert Tsc(str(compiler.node())).check(tmp_path) == []


def test_the_lists_agree_with_each_other() -> None:
    supported, refused = (json.loads(file.read_text(encoding="utf-8")) for file in (SUPPORTED, REFUSALS))
    assert supported["groups"] + refused["groups"] == supported["of groups"] == 383
    assert sum(refused["causes"].values()) == refused["groups"]
    for file in supported["supported"].keys() & refused["refused"].keys():
        assert not supported["supported"][file].keys() & refused["refused"][file].keys()
