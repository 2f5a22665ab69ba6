"""The small API of the generated package: what its values look like in Python, and what it does with odd ones."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import os
import pickle
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any, Final

import pytest

import dsh_protocol
from dsh_protocol import UNSET, DecodeError, UnsetType, encode
from dsh_protocol.v0_1_5.content import TextBlock
from tests.generated.revisions import MODULES, REVISIONS, Json, Revision, label


def revisions_with(*definitions: str) -> pytest.MarkDecorator:
    """Parameters for a test that speaks of these definitions, which not every revision has."""
    found = [revision for revision in REVISIONS if revision.defs.keys() >= set(definitions)]
    assert found, definitions
    return pytest.mark.parametrize("revision", found, ids=label)


every_revision: Final = pytest.mark.parametrize("revision", REVISIONS, ids=label)
every_module: Final = pytest.mark.parametrize(("revision", "module"), MODULES, ids=label)

TEXT: Final = {"type": "text", "text": "hello"}
IMAGE: Final = {"attachmentId": "a", "mediaType": "image/png", "bytes": 3, "width": 1, "height": 2}


def classes(revision: Revision, module: str) -> dict[str, type[Any]]:
    """The dataclasses of one generated module."""
    loaded = importlib.import_module(f"{revision.package.__name__}.{module}")
    found = ((name, getattr(loaded, name)) for name in loaded.__all__)
    return {name: cls for name, cls in found if isinstance(cls, type) and dataclasses.is_dataclass(cls)}


# Values


def test_unset() -> None:
    assert not UNSET
    assert repr(UNSET) == "UNSET"
    assert isinstance(UNSET, UnsetType)
    assert copy.deepcopy(UNSET) is UNSET
    assert pickle.loads(pickle.dumps(UNSET)) is UNSET
    assert all(revision.package.UNSET is UNSET for revision in REVISIONS)


@revisions_with("CompactionStartData")
def test_null_is_not_absence(revision: Revision) -> None:
    data = {"compactionId": "c", "turn": None}
    decoded = revision.package.decode("CompactionStartData", data)
    assert decoded.turn is None
    assert encode(decoded) == data
    with pytest.raises(DecodeError, match=r'expected a member "turn"'):
        revision.package.decode("CompactionStartData", {"compactionId": "c"})


@every_revision
def test_optional_members_that_may_be_null(revision: Revision) -> None:
    event = {"type": "x/y", "seq": 0, "time": 0, "data": {}}
    absent = revision.package.decode("SessionEvent", event)
    null = revision.package.decode("SessionEvent", {**event, "surfaceOp": None})
    assert absent.surface_op is UNSET
    assert null.surface_op is None
    assert absent != null
    assert "surfaceOp" not in encode(absent)
    assert encode(null)["surfaceOp"] is None


@revisions_with("ImageAttachmentRef")
def test_absent_members_are_not_written(revision: Revision) -> None:
    image = revision.package.decode("ImageAttachmentRef", IMAGE)
    assert image.name is None
    assert image.original_dimensions is None
    assert list(encode(image)) == list(IMAGE)
    built = revision.package.ImageAttachmentRef(attachment_id="a", media_type="image/png", bytes_=3, width=1, height=2)
    assert built == image
    assert encode(built) == IMAGE


@revisions_with("ImageDimensions")
def test_integers_are_integers(revision: Revision) -> None:
    dimensions = revision.package.decode("ImageDimensions", {"width": 3.0, "height": float(2**53 - 2)})
    assert [type(dimensions.width), type(dimensions.height)] == [int, int]
    assert encode(dimensions) == {"width": 3, "height": 2**53 - 2}
    for refused in (3.5, True, "3", 0, 2**53, float(2**53), 1e308, -1):
        with pytest.raises(DecodeError, match=r"^\$\.width: "):
            revision.package.decode("ImageDimensions", {"width": refused, "height": 1})


@every_revision
@pytest.mark.parametrize("time", [10**30, -(10**30), 2**63, -1, 0])
def test_big_integers_are_kept(revision: Revision, time: int) -> None:
    event = {"type": "x/y", "seq": 0, "time": time, "data": {"n": 10**40}}
    decoded = revision.package.decode("SessionEvent", event)
    assert decoded.time == time
    assert encode(decoded) == event


@every_revision
def test_unknown_members_are_kept_apart(revision: Revision) -> None:
    value = {**TEXT, "x-new": [1, {"deep": None}], "extra": 1, "self": 2, "__class__": 3}
    block = revision.package.decode("TextBlock", value)
    assert block.extra == {"x-new": [1, {"deep": None}], "extra": 1, "self": 2, "__class__": 3}
    assert encode(block) == value
    block.extra["text"] = "not this one"
    block.extra["type"] = "image"
    assert encode(block) == value
    assert revision.package.TextBlock(text="a").extra == {}


@every_revision
def test_defaults_are_not_shared(revision: Revision) -> None:
    one, two = (revision.package.decode("TextBlock", TEXT) for _ in range(2))
    one.extra["x"] = 1
    assert two.extra == {}
    assert one != two


@every_revision
def test_classes_are_tagged(revision: Revision) -> None:
    assert encode(revision.package.TextBlock(text="hello")) == TEXT
    with pytest.raises(TypeError, match="text"):
        revision.package.TextBlock()
    with pytest.raises(AttributeError):
        revision.package.TextBlock(text="hello").typo = 1


def test_equality_and_text() -> None:
    block = TextBlock(text="hello", extra={"x": 1})
    assert block == TextBlock(text="hello", extra={"x": 1})
    assert block != TextBlock(text="hello")
    assert block != encode(block)
    assert repr(block) == "TextBlock(type='text', text='hello', extra={'x': 1})"
    with pytest.raises(TypeError, match="unhashable"):
        hash(block)


@pytest.mark.skipif(len(REVISIONS) < 2, reason="there is one revision only")
def test_revisions_do_not_mix() -> None:
    old, new = REVISIONS[0].package, REVISIONS[-1].package
    assert old.decode("TextBlock", TEXT) != new.decode("TextBlock", TEXT)
    with pytest.raises(LookupError, match="is not a class of revision"):
        old.decode(new.TextBlock, TEXT)


# Encoding and decoding


@every_revision
def test_encode_reaches_into_containers(revision: Revision) -> None:
    block = revision.package.TextBlock(text="hello")
    assert encode([block, {"block": block}, None, True, 1, 1.5, "x"]) == [TEXT, {"block": TEXT}, None, True, 1, 1.5, "x"]


@pytest.mark.parametrize("value", [object(), (1,), {1}, b"x", UNSET, TextBlock])
def test_encode_refuses_other_classes(value: object) -> None:
    for holder in (value, [value], {"a": value}):
        with pytest.raises(TypeError, match="can't encode"):
            encode(holder)


@every_revision
def test_decode_goes_by_class_or_name(revision: Revision) -> None:
    package = revision.package
    assert package.decode(package.TextBlock, TEXT) == package.decode("TextBlock", TEXT) == package.decode("ContentBlock", TEXT)
    for unknown in ("NoSuchThing", "decode", "", "__class__", dict, object):
        with pytest.raises(LookupError):
            package.decode(unknown, TEXT)


@every_revision
def test_methods_go_by_name(revision: Revision) -> None:
    package = revision.package
    assert set(package.METHODS) == set(revision.methods)
    notification = next(name for name, row in revision.methods.items() if "result" not in row)
    for unknown in ("session/prompts", "", "Session/Prompt"):
        assert package.find_method(unknown) is None
        with pytest.raises(LookupError, match="is not a method of revision"):
            package.decode_params(unknown, {})
    for unknown in ("session/prompts", notification):
        with pytest.raises(LookupError, match="is not a request of revision"):
            package.decode_result(unknown, {})


@every_revision
def test_the_method_map_is_that_of_the_schema(revision: Revision) -> None:
    for name, row in revision.methods.items():
        descriptor = revision.package.METHODS[name]
        assert (descriptor.method, descriptor.sender) == (name, row["sender"])
        assert descriptor is revision.package.find_method(name)
        assert descriptor.params is (None if row["params"] is None else getattr(revision.package, row["params"]))
        assert hasattr(descriptor, "result") == ("result" in row)
        if "result" in row:
            assert descriptor.result is getattr(revision.package, row["result"])
    assert {row["code"]: row["description"] for row in revision.bundle["x-errors"]} == revision.package.ERROR_CODES


@every_revision
@pytest.mark.parametrize("ignored", [None, {}, [], 1, {"a": 1}])
def test_methods_without_params_ignore_them(revision: Revision, ignored: Json) -> None:
    assert revision.package.decode_params("shutdown", ignored) is None
    assert revision.package.METHODS["shutdown"].encode_params(None) == {}


# Nesting


def nested(levels: int, innermost: Json) -> Json:
    value = innermost
    for _ in range(levels):
        value = {"type": "tool-result", "toolCallId": "c", "content": [value]}
    return value


@pytest.mark.parametrize("levels", [100, 150, 250, 350, 100_000])
@every_revision
def test_deep_values_do_not_crash(revision: Revision, levels: int) -> None:
    definition = "ContentBlock" if revision.accepts("ContentBlock", nested(1, TEXT)) else "UserContentBlock"
    for innermost in (TEXT, {"type": "text"}):
        try:
            revision.package.decode(definition, nested(levels, innermost))
        except DecodeError as error:
            assert error.path.startswith("$")  # noqa: PT017
        else:
            assert innermost is TEXT or definition == "UserContentBlock"
            assert levels < 100_000 or definition == "UserContentBlock"


@every_revision
def test_deep_values_anywhere_do_not_crash(revision: Revision) -> None:
    deep: Json = 0
    for _ in range(100_000):
        deep = {"type": [deep]}
    for definition, schema in revision.defs.items():
        members = dict.fromkeys(schema.get("properties", ()), deep)
        for value in (deep, [deep], members, {**members, **{wire: inner["const"] for wire, inner in consts(schema)}}):
            try:
                revision.package.decode(definition, value)
            except DecodeError as error:
                assert len(str(error)) < 5000  # noqa: PT017


def consts(schema: Json) -> list[tuple[str, Json]]:
    return [(wire, inner) for wire, inner in schema.get("properties", {}).items() if "const" in inner]


# Modules


def loaded_after(code: str) -> set[str]:
    """Modules of the package that a fresh interpreter has loaded after running `code`."""
    code += "; import sys; print(*(name for name in sys.modules if name.startswith('dsh_protocol')))"
    root = str(Path(dsh_protocol.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": root}, capture_output=True, encoding="utf-8", check=True
    )
    return set(run.stdout.split())


@every_revision
def test_modules_load_on_first_use(revision: Revision) -> None:
    package = revision.package.__name__
    areas = {f"{package}.{module}" for module in revision.modules}
    assert loaded_after(f"import {package}; {package}.METHODS; dir({package})") & areas == set()
    assert f"{package}.content" in loaded_after(f"import {package}; {package}.TextBlock")
    assert loaded_after("import dsh_protocol; dsh_protocol.REVISIONS") == {"dsh_protocol"}


@every_module
def test_exports_exist(revision: Revision, module: str) -> None:
    loaded = importlib.import_module(f"{revision.package.__name__}.{module}")
    assert sorted(loaded.__all__) == sorted(set(loaded.__all__))
    for name in loaded.__all__:
        assert getattr(revision.package, name) is getattr(loaded, name)
    assert sorted(loaded.__all__) == sorted(revision.modules[module])


@every_revision
def test_package_exports_exist(revision: Revision) -> None:
    package = revision.package
    assert set(package.__all__) >= {"METHODS", "UNSET", "DecodeError", "decode", "decode_params", "decode_result", "encode"}
    assert set(package.__all__) >= revision.defs.keys()
    assert dir(package) == sorted(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
    assert revision.name == package.REVISION
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = package.NoSuchThing


def test_the_root_is_the_head() -> None:
    head = dsh_protocol.revision(dsh_protocol.HEAD)
    assert dsh_protocol.HEAD in dsh_protocol.REVISIONS
    assert set(dir(head)) <= set(dir(dsh_protocol))
    assert all(getattr(dsh_protocol, name) is getattr(head, name) for name in head.__all__)
    with pytest.raises(LookupError, match="no revision"):
        dsh_protocol.revision("0.0.0")
    for missing in ("NoSuchThing", "__path__x", "_private"):
        with pytest.raises(AttributeError):
            getattr(dsh_protocol, missing)


# Dataclasses


@every_module
def test_hints_resolve(revision: Revision, module: str) -> None:
    for found in classes(revision, module).values():
        hints = typing.get_type_hints(found)
        assert {field.name for field in dataclasses.fields(found)} <= hints.keys()


@every_module
def test_fields_carry_wire_names(revision: Revision, module: str) -> None:
    records = {name for name in revision.modules[module] if "properties" in revision.defs[name]}
    assert classes(revision, module).keys() >= records
    for name in records:
        schema = revision.defs[name]
        fields = dataclasses.fields(classes(revision, module)[name])
        wires = [field.metadata["wire"] for field in fields if "wire" in field.metadata]
        assert wires == list(schema["properties"])
        rest = [field.name for field in fields if "wire" not in field.metadata]
        assert rest == ([] if schema.get("additionalProperties") is False else ["extra"])
        assert all(field.kw_only for field in fields)
        optional = {field.metadata["wire"] for field in fields if "wire" in field.metadata and field.default in (None, UNSET)}
        assert optional == schema["properties"].keys() - set(schema["required"])


@every_module
def test_classes_say_what_they_are(revision: Revision, module: str) -> None:
    for name, found in classes(revision, module).items():
        doc = found.__doc__ or ""
        assert f"/$defs/{name}" in doc
        assert " ".join(revision.defs[name].get("description", "").split())[:60] in " ".join(doc.split())


@every_revision
def test_values_can_be_copied_and_pickled(revision: Revision) -> None:
    value = {
        "sessionId": "s",
        "contentBlocks": [TEXT, {"type": "x/y", "z": [1]}, {"type": "image", "attachment": IMAGE}],
        "x": {},
    }
    params = revision.package.decode_params("session/prompt", value)
    for copied in (copy.copy(params), copy.deepcopy(params), pickle.loads(pickle.dumps(params)), dataclasses.replace(params)):
        assert type(copied) is type(params)
        assert copied == params
        assert encode(copied) == value
    deep = copy.deepcopy(params)
    deep.content_blocks[0].text = "changed"
    assert deep != params
    error = pickle.loads(pickle.dumps(DecodeError("$", "a", "b")))
    assert str(error) == "$: expected a, got b"
