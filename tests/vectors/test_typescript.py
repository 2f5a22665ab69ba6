"""TypeScript on every vector: Ajv judges each by the bundle under Node, the compiler those whose fault types can show.

A vector becomes one line, `void (value satisfies Type);`, with `@ts-expect-error` above it if it must be refused.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dsh_codegen import naming
from dsh_codegen.ir import OpenEnum, Protocol, Record, Union
from dsh_codegen.vectors.files import text
from dsh_codegen.vectors.row import Vector
from tests import tsc as compiler
from tests.generated.checks import steps_of
from tests.tsc import Tsc
from tests.vectors.corpus import NAMES, PACKAGE, ROOT, disagreement, each_revision, revision, vectors

TYPES = ROOT / "generated" / "typescript"
SCRIPT = ROOT / "tests" / "typescript" / "judge.mjs"

VISIBLE = {"missing", "wrong type", "null", "wrong constant", "wrong tag", "retired tag"}
"""Reasons that a type can show; the others are ranges, patterns and what else has no type of its own."""


@pytest.fixture(scope="module")
def tsc() -> Tsc:
    reason = compiler.missing()
    if reason is not None:
        pytest.skip(reason)
    return Tsc(str(compiler.node()))


@each_revision
def test_ajv_agrees(name: str, tmp_path: Path) -> None:
    node = compiler.node()
    if node is None or not (SCRIPT.parent / "node_modules" / "ajv").is_dir():
        pytest.skip("Node.js or its package ajv is not installed: run `make test`, which installs them")
    rows = tmp_path / "vectors.jsonl"
    rows.write_text(text(vectors(name)), encoding="utf-8", newline="\n")
    schema = PACKAGE / revision(name).module / "schema.json"
    run = subprocess.run(
        [node, str(SCRIPT), str(schema), str(rows)], capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    verdicts: dict[str, bool] = json.loads(run.stdout)
    assert verdicts.keys() == {vector.id for vector in vectors(name)}
    faults = [
        disagreement(vector, "TypeScript (Ajv)", "accepts it" if verdicts[vector.id] else "refuses it")
        for vector in vectors(name)
        if verdicts[vector.id] != vector.valid
    ]
    assert not faults


@pytest.mark.xdist_group("vectors in TypeScript")
def test_types_agree(tsc: Tsc, tmp_path: Path) -> None:
    shutil.copytree(TYPES, tmp_path / "types")
    assert not disagreements(tsc, tmp_path, {name: vectors(name) for name in NAMES})


@pytest.mark.xdist_group("vectors in TypeScript")
def test_types_that_differ_are_named(tsc: Tsc, tmp_path: Path) -> None:
    name = NAMES[-1]
    changes = {
        "TextBlock": ("  text: string;", "  text?: string;"),
        "ReasoningBlock": ("  text: string;", "  text: string | null;"),
        "ImageBlock": ('  type: "image";', "  type: string;"),
        "FileBlock": ('  type: "file";', '  type: "file";\n  more: string;'),
    }
    shutil.copytree(TYPES, tmp_path / "types")
    file = tmp_path / "types" / f"{revision(name).module}.d.ts"
    whole = file.read_text(encoding="utf-8")
    for definition, change in changes.items():
        before, head, rest = whole.partition(f"interface {definition} {{")
        body, end, after = rest.partition("\n}")
        assert change[0] in body
        whole = f"{before}{head}{body.replace(*change)}{end}{after}"
    file.write_text(whole, encoding="utf-8", newline="\n")
    found = tuple(vector for vector in vectors(name) if vector.definition in changes)
    named = {line.partition(": ")[0] for line in disagreements(tsc, tmp_path, {name: found})}
    assert named == {
        "TextBlock:missing:$.text",
        "ReasoningBlock:null:$.text=null",
        'ImageBlock:wrong-constant:$.type="IMAGE"',
        'ImageBlock:wrong-constant:$.type="x-unlisted"',
        "FileBlock:full:$",
        "FileBlock:minimal:$",
    }, named


def disagreements(tsc: Tsc, folder: Path, found: dict[str, tuple[Vector, ...]]) -> list[str]:
    """What the types in `folder/types` say otherwise than the vectors of each revision."""
    lines: dict[str, dict[int, Vector]] = {}
    for name, some in found.items():
        module = revision(name).module
        text_ = [f'import type * as T from "./types/{module}.js";']
        about = lines[f"{module}.ts"] = {}
        for vector, type_ in visible(revision(name).protocol, some):
            expected = ["// @ts-expect-error"] if vector.reason else []
            for line in (*expected, f"void ({json.dumps(vector.value)} satisfies {type_});"):
                text_.append(line)
                about[len(text_)] = vector
        assert len({vector.id for vector in about.values()}) > len(some) / 2, "types are to show more than half of the verdicts"
        (folder / f"{module}.ts").write_text("\n".join([*text_, ""]), encoding="utf-8", newline="\n")
    faults: list[str] = []
    for diagnostic in tsc.check(folder):
        here = lines.get(diagnostic.file, {}).get(diagnostic.line)
        assert here is not None, diagnostic
        said = "accepts it" if here.reason else f"refuses it: {diagnostic.text}"
        faults.append(disagreement(here, "TypeScript (types)", said))
    return faults


def visible(protocol: Protocol, found: Iterable[Vector]) -> Iterator[tuple[Vector, str]]:
    """The vectors whose verdict types can show, each with the type that it is to satisfy."""
    for vector in found:
        if vector.reason and (vector.reason not in VISIBLE or _is_hidden(protocol, vector)):
            continue
        if vector.kind == "future" and vector.path != "$" and not _is_open_text(protocol, vector):
            continue  # a member that is not declared is an error in a literal, and in nothing else
        type_ = _type(protocol, vector)
        if type_ is not None:
            yield vector, f"T.{type_}"


def _type(protocol: Protocol, vector: Vector) -> str | None:
    """The TypeScript type of a vector's value; None for a frame whose method is not told."""
    if vector.definition:
        target = protocol.by_name[vector.definition].type
        is_open = isinstance(target, Union) and target.open_arm is not None and vector.kind == "future"
        return f"{naming.type_name(vector.definition)}{'OrUnknown' if is_open else ''}"
    if vector.method == "*":
        return None
    method = next(method for method in protocol.methods if method.name == vector.method)
    name = json.dumps(method.name)
    if vector.side != "frame":
        return (
            f"HarnessSdkNotificationMap[{name}]" if method.result is None else f'HarnessSdkRequestMap[{name}]["{vector.side}"]'
        )
    if "result" in vector.value:
        return f"ResponseFrame<{name}>"
    return f"{'NotificationFrame' if method.result is None else 'RequestFrame'}<{name}>"


def _is_hidden(protocol: Protocol, vector: Vector) -> bool:
    """Whether types say less here than the schema: which strings are left to other arms, and which arm a member chooses."""
    target = protocol.by_name[vector.definition].type if vector.definition else None
    if isinstance(target, Union):
        return isinstance(vector.value, dict) and any(arm.member in vector.value for arm in target.arms if arm.member)
    return vector.reason == "wrong tag"


def _is_open_text(protocol: Protocol, vector: Vector) -> bool:
    """Whether a vector of the future is about a member whose values may grow."""
    steps = steps_of(vector.path)
    target = protocol.by_name[vector.definition].type if vector.definition else None
    member = target.member(str(steps[0])) if isinstance(target, Record) and len(steps) == 1 else None
    return member is not None and isinstance(protocol.resolve(member.type), OpenEnum)
