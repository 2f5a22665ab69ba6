"""What must hold of one value: the verdict is the schema's, what is typed has its class, and nothing is lost on the way."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any, Final

from tests.generated.mutations import Path
from tests.generated.revisions import Json, Revision, Schema, canonical, target

_STEP: Final = re.compile(r"""\.(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)|\[(?P<index>\d+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]""")


def assert_lossless(revision: Revision, definition: str, value: Json) -> Any:
    """`value` decodes to what its schema says and encodes to equal JSON, and is left alone. Returns what it decodes to."""
    before = canonical(value)
    decoded = revision.package.decode(definition, value)
    assert_typed(revision, {"$ref": f"#/$defs/{definition}"}, value, decoded)
    assert canonical(revision.package.encode(decoded)) == before
    assert canonical(value) == before, "decode or encode changed its argument"
    return decoded


def assert_agrees(revision: Revision, definition: str, value: Json) -> Any:
    """`decode` takes `value` iff the schema does, and loses nothing of it. Returns what it decodes to, or the `DecodeError`."""
    valid = revision.accepts(definition, value)
    try:
        decoded = revision.package.decode(definition, value)
    except revision.package.DecodeError as error:
        refusal = error
    else:
        assert valid, f"the schema refuses what decode accepts as {definition}: {value!r}"
        assert canonical(revision.package.encode(decoded)) == canonical(value)
        return decoded
    assert not valid, f"the schema accepts what decode refuses as {definition} ({refusal}): {value!r}"
    assert_readable(refusal, value)
    return refusal


def assert_typed(revision: Revision, schema: Schema, value: Json, decoded: Any) -> None:
    """`decoded` is the class that `schema` has for `value`, down to the last member, and holds the same values."""
    name = ""
    while "anyOf" in schema or "$ref" in schema or "allOf" in schema:
        if "anyOf" in schema:
            schema = _arm(revision, schema, value)
        elif "allOf" in schema:
            schema = schema["allOf"][0]
        else:
            name = target(schema)
            schema = revision.defs[name]
    if isinstance(value, dict) and "properties" in schema:
        assert type(decoded) is getattr(revision.package, name)
        _assert_record(revision, schema, value, decoded)
    elif isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        assert decoded.keys() == value.keys()
        for key, item in value.items():
            assert_typed(revision, schema["additionalProperties"], item, decoded[key])
    elif isinstance(value, list) and "items" in schema:
        assert type(decoded) is list
        for item, decoded_item in zip(value, decoded, strict=True):
            assert_typed(revision, schema["items"], item, decoded_item)
    else:
        assert canonical(decoded) == canonical(value)
        assert schema.get("type") != "integer" or type(decoded) is int


def _assert_record(revision: Revision, schema: Schema, value: Schema, decoded: Any) -> None:
    fields = {field.metadata["wire"]: field.name for field in dataclasses.fields(decoded) if "wire" in field.metadata}
    assert fields.keys() == schema["properties"].keys()
    for wire, inner in schema["properties"].items():
        here = getattr(decoded, fields[wire])
        if wire in value:
            assert here is not revision.package.UNSET
            assert_typed(revision, inner, value[wire], here)
        else:
            assert here is (revision.package.UNSET if _takes_null(revision, inner) else None)
    unknown = {key: item for key, item in value.items() if key not in fields}
    if schema.get("additionalProperties") is not False:
        assert canonical(decoded.extra) == canonical(unknown)


def _arm(revision: Revision, union: Schema, value: Json) -> Schema:
    """The arm that takes `value`: by the tag where that tells, else the first whose schema does."""
    tag = union.get("x-tag")
    if not isinstance(value, dict) or tag is None:
        return next(arm for arm in union["anyOf"] if _takes(revision, arm, value))
    arms = revision.arms(union)
    chosen_by = {wire: name for name, wire in union.get("x-by-member", {}).items() if wire in value}
    owners = [name for name, schema in arms if value[tag] in _constants(schema["properties"][tag])]
    owners = [name for name in owners if name in chosen_by.values()] or [
        name for name in owners if name not in union.get("x-by-member", {})
    ]
    (name,) = owners or [name for name, schema in arms if not _constants(schema["properties"][tag])]
    return {"$ref": f"#/$defs/{name}"}


def _takes(revision: Revision, arm: Schema, value: Json) -> bool:
    schema = revision.resolve(arm)
    if "const" in schema or "enum" in schema:
        return value in _constants(schema)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds.get(schema["type"], int | float))


def _constants(schema: Schema) -> list[Json]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _takes_null(revision: Revision, schema: Schema) -> bool:
    schema = revision.resolve(schema)
    if "allOf" in schema:
        return _takes_null(revision, schema["allOf"][0])
    if "anyOf" in schema:
        return any(_takes_null(revision, arm) for arm in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return None in _constants(schema)
    return "type" not in schema or "null" in schema["type"]


def assert_readable(error: Any, value: Json) -> None:
    """A `DecodeError` is one line of text, and its path leads to a place in `value`."""
    assert len(str(error).splitlines()) == 1
    assert str(error).isprintable()
    assert error.expected
    assert error.got
    here: Any = value
    for step in steps_of(error.path):
        assert not isinstance(here, str)
        here = here[step]


def steps_of(path: str) -> Path:
    """The keys and indices of a path such as `$.events[3]["odd name"]`."""
    assert path.startswith("$")
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        step = _STEP.match(path, at)
        assert step is not None, f"unreadable from {path[at:]!r}: {path}"
        at = step.end()
        if step["name"] is not None:
            steps.append(step["name"])
        elif step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(json.loads(step["quoted"]))
    return tuple(steps)
