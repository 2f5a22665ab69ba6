"""The JSON-Schema-Test-Suite, draft 2020-12, required tests, and what the generator makes of each group."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dsh_codegen.errors import SchemaError
from dsh_codegen.load import read_protocol
from dsh_codegen.load.profile import CONSTRAINTS, REFUSED
from tests.conformance.table import limit, outside

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent
SUPPORTED: Final = FOLDER / "supported.json"
REFUSALS: Final = FOLDER / "refused.json"
WRAPPED: Final = "Root"
"""The definition that a schema without constraints becomes: the root of a file that says nothing is no type."""


@dataclass(frozen=True, slots=True)
class Group:
    """One schema of the suite and its tests; `stem` is the name of its own schema file here."""

    file: str
    description: str
    stem: str
    schema: Any
    tests: tuple[dict[str, Any], ...]

    @property
    def is_wrapped(self) -> bool:
        """Whether the schema is put under a name, because it constrains nothing."""
        return isinstance(self.schema, dict) and self.schema.keys().isdisjoint(CONSTRAINTS | REFUSED)

    @property
    def document(self) -> Any:
        """The schema file."""
        return {"$defs": {WRAPPED: self.schema}} if self.is_wrapped else self.schema

    @property
    def pointer(self) -> str:
        """Where its definition is read from."""
        return f"{self.stem}.schema.json#" + (f"/$defs/{WRAPPED}" if self.is_wrapped else "")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the generator makes of a group: nothing to say if it is supported, else the refusal and what it is about."""

    group: Group
    refusal: dict[str, str] | None


def suite_dir() -> Path:
    """Where the suite is, if it is there."""
    reference = (ROOT / os.environ.get("DSH_REFERENCE_DIR", "../shared")).resolve()
    return reference / "suites" / "json-schema-test-suite" / "tests" / "draft2020-12"


def groups() -> list[Group]:
    """Every required group, in the order of the suite."""
    found: list[Group] = []
    for file in sorted(suite_dir().glob("*.json")):
        for number, group in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            stem = f"{re.sub('[^a-z0-9]+', '-', file.stem.lower())}-{number:02}"
            found.append(Group(file.stem, group["description"], stem, group["schema"], tuple(group["tests"])))
    return found


def judge(group: Group, folder: Path) -> Verdict:
    """Read a group's schema as the generator does, in a folder of its own."""
    file = folder / f"{group.stem}.schema.json"
    file.write_text(json.dumps(group.document), encoding="utf-8", newline="\n")
    try:
        read_protocol(file)
    except SchemaError as error:
        pointer = "#" + error.where.partition("#")[2]
        return Verdict(group, {"pointer": pointer, **_about(group, pointer, error.reason)})
    return Verdict(group, None)


def _about(group: Group, pointer: str, reason: str) -> dict[str, str]:
    keyword = pointer.rpartition("/")[2]
    if keyword in outside(group.schema):
        return {"keyword": keyword}
    row = limit(reason)
    assert row is not None, f"{group.file}: {group.description}: no row of the table is about this refusal: {reason}"
    return {"limit": row.name}


def tables(verdicts: list[Verdict]) -> tuple[str, str]:
    """The texts of the lists of supported and of refused groups."""
    supported: dict[str, Any] = {}
    refused: dict[str, Any] = {}
    causes: dict[str, int] = {}
    for verdict in verdicts:
        group = verdict.group
        if verdict.refusal is None:
            supported.setdefault(group.file, {})[group.description] = len(group.tests)
        else:
            refused.setdefault(group.file, {})[group.description] = verdict.refusal
            cause = verdict.refusal.get("keyword") or verdict.refusal["limit"]
            causes[cause] = causes.get(cause, 0) + 1
    tests = [count for file in supported.values() for count in file.values()]
    within = sum(1 for verdict in verdicts if not outside(verdict.group.schema))
    counts = {
        "groups": len(tests),
        "tests": sum(tests),
        "of groups": len(verdicts),
        "with keywords of the profile only": within,
    }
    most_first = dict(sorted(causes.items(), key=lambda item: (-item[1], item[0])))
    return (
        _text({**counts, "of tests": sum(len(verdict.group.tests) for verdict in verdicts), "supported": supported}),
        _text({"groups": sum(causes.values()), "causes": most_first, "refused": refused}),
    )


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
