"""`decode` accepts a JSON value iff the schema of its revision does: `jsonschema` on the bundle, unmodified, is the oracle."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generated.checks import assert_agrees, assert_lossless
from tests.generated.mutations import member_mutants, mutants
from tests.generated.revisions import METHODS, MODULES, Json, Revision, canonical, examples, label
from tests.generated.strategies import JSON, instances

RANDOM: Final = st.randoms(use_true_random=True)
MUTANTS: Final = 4
"""Mutants that each valid instance gets."""


@pytest.mark.parametrize(("revision", "module"), MODULES, ids=label)
def test_every_definition(revision: Revision, module: str) -> None:
    names = [name for name in revision.modules[module] for _ in range(1 + len(revision.defs[name].get("anyOf", ())) // 12)]

    # one instance of each: a test for each definition would cost hypothesis much more than the check costs
    @examples(2)
    @given(st.tuples(*(instances(revision, name) for name in names)), RANDOM, JSON)
    def agrees(values: tuple[Json, ...], random: Random, anything: Json) -> None:
        for definition, value in zip(names, values, strict=True):
            assert revision.accepts(definition, value), f"the strategy draws valid instances of {definition}: {value!r}"
            assert_lossless(revision, definition, value)
            for mutant in mutants(revision, definition, value, random, anything, MUTANTS):
                assert_agrees(revision, definition, mutant.value)

    agrees()


@pytest.mark.parametrize(("revision", "module"), MODULES, ids=label)
def test_every_member(revision: Revision, module: str) -> None:
    names = [name for name in revision.modules[module] if "properties" in revision.defs[name]]

    @examples(1)
    @given(st.tuples(*(instances(revision, name) for name in names)), RANDOM)
    def agrees(values: tuple[Json, ...], random: Random) -> None:
        seen = set[str]()
        for definition, value in random.sample(list(zip(names, values, strict=True)), len(names)):
            for mutant in member_mutants(revision, definition, value, seen):
                assert_agrees(revision, definition, mutant.value)

    agrees()


PAYLOADS: Final = [
    (revision, method, kind)
    for revision, method in METHODS
    for kind in ("params", "result")
    if revision.methods[method].get(kind)
]


@pytest.mark.parametrize(("revision", "method", "kind"), PAYLOADS, ids=label)
def test_every_method(revision: Revision, method: str, kind: str) -> None:
    package, definition = revision.package, revision.methods[method][kind]
    descriptor = package.METHODS[method]
    decode = {"params": package.decode_params, "result": package.decode_result}[kind]
    encode = {"params": descriptor.encode_params, "result": getattr(descriptor, "encode_result", None)}[kind]

    @examples(6)
    @given(instances(revision, definition), RANDOM, JSON)
    def goes_by_its_definition(value: Json, random: Random, anything: Json) -> None:
        decoded = decode(method, value)
        assert type(decoded) is getattr(descriptor, kind)
        assert canonical(encode(decoded)) == canonical(value)
        for mutant in mutants(revision, definition, value, random, anything, 4):
            outcome = assert_agrees(revision, definition, mutant.value)
            if isinstance(outcome, package.DecodeError):
                with pytest.raises(package.DecodeError) as caught:
                    decode(method, mutant.value)
                assert caught.value.args == outcome.args
            else:
                assert decode(method, mutant.value) == outcome

    goes_by_its_definition()
