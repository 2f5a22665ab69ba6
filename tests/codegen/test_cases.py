"""Known traps of other generators: each case is generated right, or refused at a place that is there.

The cases are reference material beside the product. The outcome of each is written down here, so
that it can't change unnoticed.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.emit.typescript import TypescriptOptions, typescript_files
from dsh_codegen.errors import SchemaError
from dsh_codegen.ir import Protocol
from tests.codegen.packages import build, forget, read
from tests.tsc import Diagnostic, Tsc

GENERATED: Final = """
    A01 A02 A03 A06 A07 A09 A10 A12 A13 A16 A17 A18 A23 A24 A26 A32 A35 A36 A40 A41 A43 A44 A46 A48
    A50 A51 A52 A54 A56 A58 A59 A60 A67 B01 B03 B04 B06 B07 B08 B09 B10 B13 B14 B17 B18 B19 B21 E01
    E02 E04 E07 E10 E13
""".split()
REFUSED: Final = {
    "A05": "all become 'foo_bar'",
    "A15": "declared twice",
    "A19": "can't be a literal",
    "A22": "can't be a literal",
    "A27": "'patternProperties'",
    "A29": "'unevaluatedProperties'",
    "A30": "'prefixItems'",
    "A34": "'maxLength'",
    "A37": "uses an anchor",
    "A42": "tell the arms C, B apart",
    "A45": "fractional 'multipleOf'",
    "A55": "default is not valid",
    "A66": "tell the arms UU, UB apart",  # the tag is not required
    "A68": "'\\p'",
    "B12": "both become the type FooBar",
    "B16": "'prefixItems'",
    "E03": "default is not valid",
    "E05": "is not of type 'number'",
    "E11": "'properties' speaks of object only",
}
# what a case is about when it isn't a schema: the file name, method names, YAML, or the work of other parts
ELSEWHERE: Final = {"E08", "E09", "E15", "E16", "E18", "E20", "A61", "A62", "A63", "A64"}


@pytest.fixture(scope="module")
def cases(reference_dir: Path) -> dict[str, dict[str, Any]]:
    file = reference_dir / "cases" / "cases.jsonl"
    if not file.is_file():
        pytest.skip(f"there are no reference cases in {file}")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows if row["area"] in {"a", "b", "e"}}


def files_of(case: dict[str, Any]) -> dict[str, Any]:
    given = case["input"]
    files: dict[str, Any] = given.get("files") or {"msg.schema.json": given.get("schema") or given["schema_v1"]}
    return files


def there(where: str, files: dict[str, Any]) -> bool:
    """Whether `file#/pointer` leads to something."""
    name, _, pointer = where.partition("#")
    value = files[name]
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return True


def test_every_case_is_listed(cases: dict[str, dict[str, Any]]) -> None:
    assert cases.keys() - {*GENERATED, *REFUSED, *ELSEWHERE} == set()


@pytest.mark.parametrize("name", GENERATED)
def test_generated(name: str, cases: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    case = cases[name]
    package = build(tmp_path, read(tmp_path, files_of(case)))
    package.check_hints()
    root = str(case.get("root"))
    assert [value for value in case.get("valid", ()) if not package.accepts(root, value)] == []
    assert [value for value in case.get("invalid", ()) if package.accepts(root, value)] == []
    if "wire_keys" in case:
        assert package.wire_names(root) == case["wire_keys"]
    forget(package)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, cases: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    files = files_of(cases[name])
    with pytest.raises(SchemaError) as refusal:
        build(tmp_path, read(tmp_path, files))
    assert REFUSED[name] in refusal.value.reason
    assert there(refusal.value.where, files)


def test_names_stay_when_an_arm_is_added(cases: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    before = cases["A66"]["input"]["schema_v1"]
    after = json.loads(json.dumps(before))
    after["$defs"]["U"]["oneOf"].insert(0, {"type": "object", "properties": {"t": {"const": "new"}}, "required": ["t"]})
    for schema in (before, after):
        for arm in schema["$defs"]["U"]["oneOf"]:
            arm["required"] = ["t"]
    found = [{definition.name for definition in read(tmp_path, {"a.json": schema}).definitions} for schema in (before, after)]
    assert found[1] - found[0] == {"UNew"}
    assert found[0] < found[1]


# TypeScript: one compiler run for all


def consumers(cases: dict[str, dict[str, Any]]) -> dict[str, tuple[str, bool]]:
    """Module name -> (a line that uses the types, whether it must compile)."""
    found: dict[str, tuple[str, bool]] = {}
    for name in GENERATED:
        for key, good in (("ts_ok", True), ("ts_error", False)):
            for number, line in enumerate(cases[name].get(key, ())):
                found[f"{name}_{key}_{number}"] = (line, good)
    return found


@pytest.fixture(scope="module")
def diagnostics(cases: dict[str, dict[str, Any]], tsc: Tsc, tmp_path_factory: pytest.TempPathFactory) -> list[Diagnostic]:
    root = tmp_path_factory.mktemp("cases")
    for name in GENERATED:
        protocol = read(root / "schemas", files_of(cases[name]))
        package = root / name
        package.mkdir()
        for path, text in declarations(protocol).items():
            (package / path).write_text(text, encoding="utf-8", newline="\n")
    for module, (line, _) in consumers(cases).items():
        case = module.partition("_")[0]
        names = [definition.name for definition in read(root / "schemas", files_of(cases[case])).definitions]
        wanted = [name for name in names if name in line]
        text = f'import type {{ {", ".join(wanted)} }} from "./{case}/index.js";\n{line};\nexport {{}};\n'
        (root / f"{module}.ts").write_text(text, encoding="utf-8", newline="\n")
    (root / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return tsc.check(root)


@cache
def options(revision: str) -> TypescriptOptions:
    return TypescriptOptions("@test/types", "1", "Requests", "Notifications", revision)


def declarations(protocol: Protocol) -> dict[str, str]:
    return dict(typescript_files([protocol], options(protocol.revision)))


def test_typescript_takes_and_refuses_what_the_cases_say(
    cases: dict[str, dict[str, Any]], diagnostics: list[Diagnostic]
) -> None:
    failing = {found.file.removesuffix(".ts") for found in diagnostics}
    expected = {module for module, (_, good) in consumers(cases).items() if not good}
    assert {found.file: found.text for found in diagnostics if found.file.removesuffix(".ts") not in expected} == {}
    assert expected - failing == set()
