"""The vectors of every revision, made once per process, as the tests of each language see them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.config import load_config
from dsh_codegen.revisions import Revision, Revisions, read_revisions
from dsh_codegen.vectors.build import build
from dsh_codegen.vectors.row import Vector

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = Path(__file__).parent
PACKAGE: Final = ROOT / "generated" / "python" / "dsh_protocol"
NAMES: Final = tuple(json.loads((PACKAGE / "manifest.json").read_text(encoding="utf-8"))["revisions"])

# one process makes a revision's vectors, and all tests of that revision run there
each_revision: Final = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"vectors {name}")) for name in NAMES]
)


@cache
def revisions() -> Revisions:
    return read_revisions(load_config(ROOT / "pyproject.toml"))


def revision(name: str) -> Revision:
    return next(each for each in revisions().all if each.name == name)


@cache
def vectors(name: str) -> tuple[Vector, ...]:
    """The vectors of a revision; `test_files` sees to it that they are proven."""
    return build(revision(name).protocol)


@cache
def bundle(name: str) -> dict[str, Any]:
    """The bundle of a revision as it was generated."""
    content: dict[str, Any] = json.loads((PACKAGE / revision(name).module / "schema.json").read_text(encoding="utf-8"))
    return content


def disagreement(vector: Vector, language: str, said: str) -> str:
    """One line that names the vector, the language and the member."""
    must = f"must be refused ({vector.reason})" if vector.reason else f"must be accepted ({vector.kind})"
    return f"{vector.id}: {language} {said}, but the value {must} at {vector.path}: {json.dumps(vector.value)[:300]}"
