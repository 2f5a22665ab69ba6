"""What a refusal says: one line, with the path of the place that is wrong."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsh_protocol
from dsh_protocol import DecodeError
from tests.generated.checks import assert_readable, steps_of
from tests.generated.mutations import DROP, Mutant, mutants, tags
from tests.generated.revisions import MODULES, REVISIONS, Json, Revision, examples, label
from tests.generated.strategies import JSON, instances

RANDOM: Final = st.randoms(use_true_random=True)
MUTANTS: Final = 12


def assert_points_to(revision: Revision, mutant: Mutant, error: DecodeError) -> None:
    """The path of `error` leads to the change, or to the object that a change of its tag made another one."""
    found = steps_of(error.path)
    *above, key = mutant.path or (None,)
    holder, place = tuple(above), mutant.path
    is_item = mutant.operator == "item" or (mutant.replacement is DROP and isinstance(key, int))
    if key in tags(revision):
        assert found[: len(holder)] == holder
    elif mutant.replacement is DROP:
        assert found == holder
    elif is_item and found == holder:  # it's the array that is too long, or repeats itself
        assert "item" in error.expected
    elif isinstance(mutant.replacement, dict | list):
        assert found[: len(place)] == place
    else:
        assert found == place


@pytest.mark.parametrize(("revision", "module"), MODULES, ids=label)
def test_paths_lead_to_the_change(revision: Revision, module: str) -> None:
    drawn = st.sampled_from(revision.modules[module]).flatmap(lambda name: st.tuples(st.just(name), instances(revision, name)))

    @examples(8)
    @given(drawn, RANDOM, JSON)
    def lead_there(named: tuple[str, Json], random: Random, anything: Json) -> None:
        definition, value = named
        for mutant in mutants(revision, definition, value, random, anything, MUTANTS):
            try:
                revision.package.decode(definition, mutant.value)
            except DecodeError as error:
                assert_readable(error, mutant.value)
                assert_points_to(revision, mutant, error)

    lead_there()


PROMPT: Final = {"sessionId": "s", "contentBlocks": [{"type": "text", "text": "hello"}]}


@pytest.mark.parametrize("revision", REVISIONS, ids=label)
@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"sessionId": None}, "$.sessionId", ["string", "null"]),
        ({"contentBlocks": {}}, "$.contentBlocks", ["array", "object"]),
        ({"contentBlocks": ["text"]}, "$.contentBlocks[0]", ["object", '"text"']),
        ({"contentBlocks": [{}]}, "$.contentBlocks[0]", ['"type"']),
        ({"contentBlocks": [{"type": 1}]}, "$.contentBlocks[0].type", ["1"]),
        ({"contentBlocks": [{"type": ""}]}, "$.contentBlocks[0].type", ["non-empty", '""']),
        ({"contentBlocks": [{"type": "text", "text": True}]}, "$.contentBlocks[0].text", ["string", "true"]),
        ({"contentBlocks": [{"type": "text"}]}, "$.contentBlocks[0]", ['"text"']),
    ],
)
def test_a_bad_prompt(revision: Revision, change: Json, path: str, words: list[str]) -> None:
    assert_refused(revision, {**PROMPT, **change}, path, words)


@pytest.mark.parametrize("revision", [revision for revision in REVISIONS if "SdkEncodedImageBlock" in revision.defs], ids=label)
@pytest.mark.parametrize(
    ("image", "path", "words"),
    [
        ({}, "$.contentBlocks[0]", ['"attachment"']),
        ({"data": "AB==", "mimeType": "image/png"}, "$.contentBlocks[0].data", ["AB=="]),
        ({"data": "AA==", "mimeType": "image/bmp"}, "$.contentBlocks[0].mimeType", ["png", "bmp"]),
        ({"data": "AA=="}, "$.contentBlocks[0]", ['"mimeType"']),
    ],
)
def test_a_bad_image(revision: Revision, image: Json, path: str, words: list[str]) -> None:
    assert_refused(revision, {"sessionId": "s", "contentBlocks": [{"type": "image", **image}]}, path, words)


def assert_refused(revision: Revision, prompt: Json, path: str, words: list[str]) -> None:
    with pytest.raises(DecodeError) as caught:
        revision.package.decode_params("session/prompt", prompt)
    assert caught.value.path == path
    for word in words:
        assert word in str(caught.value)


def test_the_error_is_a_value() -> None:
    error = DecodeError("$.a", "an integer", '"x"')
    assert isinstance(error, ValueError)
    assert (error.path, error.expected, error.got) == ("$.a", "an integer", '"x"')
    assert str(error) == '$.a: expected an integer, got "x"'
    assert error.args == ("$.a", "an integer", '"x"')


def test_long_values_are_cut() -> None:
    with pytest.raises(DecodeError) as caught:
        dsh_protocol.decode("ImageMediaType", "x" * 10_000_000)
    assert len(str(caught.value)) < 300


def test_there_is_no_trace_of_the_first_attempt() -> None:
    with pytest.raises(DecodeError) as caught:
        dsh_protocol.decode("TextBlock", {})
    assert caught.value.__suppress_context__
