"""The vectors themselves: proven by `jsonschema`, the same as last time, of every kind, and hard to slip a mistake past."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from dsh_codegen.errors import CodegenError
from dsh_codegen.vectors.files import SUMMARY, proven, summary
from dsh_codegen.vectors.prove import Judge, prove
from dsh_codegen.vectors.row import KINDS
from dsh_codegen.vectors.score import score
from tests.vectors.corpus import FOLDER, NAMES, bundle, each_revision, revision, revisions, vectors

UPDATE = "PYTHONPATH=codegen python -m dsh_codegen vectors --out tests/vectors"


@each_revision
def test_jsonschema_confirms_every_vector(name: str) -> None:
    found, schema = proven(revision(name), "dsh_protocol")
    assert found == vectors(name)
    assert schema == bundle(name), "the vectors were judged by another schema than the generated one"


@each_revision
def test_they_are_what_the_summary_says(name: str) -> None:
    said = json.loads((FOLDER / SUMMARY).read_text(encoding="utf-8"))
    assert list(said) == list(NAMES)
    assert said[name] == summary(vectors(name)), f"the vectors changed; if that is meant, run: {UPDATE}"


@each_revision
def test_every_definition_and_method_has_some(name: str) -> None:
    protocol = revision(name).protocol
    found = vectors(name)
    assert {vector.kind for vector in found} >= set(KINDS) - {"null"}
    for definition in protocol.definitions:
        kinds = {vector.kind for vector in found if vector.definition == definition.name}
        assert "minimal" in kinds
    for method in protocol.methods:
        sides = {vector.side for vector in found if vector.method == method.name and vector.valid}
        assert sides == {"frame", *(["params"] if method.params else []), *(["result"] if method.result else [])}


@each_revision
def test_a_wrong_vector_is_named(name: str) -> None:
    protocol, judge = revision(name).protocol, Judge(bundle(name))
    good = next(vector for vector in vectors(name) if vector.valid and vector.definition)
    bad = next(vector for vector in vectors(name) if not vector.valid and vector.definition)
    prove(protocol, judge, [good, bad])
    with pytest.raises(CodegenError, match=r"made invalid .* its schema accepts") as caught:
        prove(protocol, judge, [good, replace(good, id="odd", reason="missing")])
    assert "odd" in str(caught.value)
    with pytest.raises(CodegenError, match="made valid, but its schema refuses"):
        prove(protocol, judge, [replace(bad, reason="")])


@each_revision
def test_they_notice_changes_to_the_schema(name: str) -> None:
    if name != revisions().head and "DSH_SCORE_ALL" not in os.environ:
        pytest.skip("only the head is scored here; `make vectors-score` scores all")
    result = score(revision(name).protocol, bundle(name), vectors(name))
    assert result.sites > 1000
    assert result.share >= 0.95
    assert not result.unexplained
    assert len(result.equivalent) < result.sites / 100
