"""The generated Python codecs on every vector: the verdict, the way back, and where a refusal points."""

from __future__ import annotations

from typing import Any

import dsh_protocol
from dsh_codegen.vectors.row import Vector, place
from tests.generated.checks import steps_of
from tests.generated.revisions import canonical
from tests.vectors.corpus import disagreement, each_revision, vectors

OF_THE_OBJECT = {"missing", "unknown member"}
"""Reasons that a refusal tells of the object, not of the member."""


def decode(package: Any, vector: Vector) -> Any:
    """What a vector's payload decodes to; of a whole frame, the payload of its method."""
    if vector.definition:
        return package.decode(vector.definition, vector.value)
    return {"params": package.decode_params, "result": package.decode_result}[vector.side](vector.method, vector.value)


def fault(package: Any, vector: Vector) -> str | None:
    """What the codecs do wrong with a vector."""
    before = canonical(vector.value)
    try:
        decoded = decode(package, vector)
    except package.DecodeError as error:
        if vector.valid:
            return disagreement(vector, "Python", f"refuses it ({error})")
        steps = steps_of(vector.path)
        if steps_of(error.path) != (steps[:-1] if vector.reason in OF_THE_OBJECT else steps):
            return disagreement(vector, "Python", f"refuses {error.path} ({error})")
        return None
    if not vector.valid:
        return disagreement(vector, "Python", "accepts it")
    if canonical(package.encode(decoded)) != before:
        return disagreement(vector, "Python", f"gives back {package.encode(decoded)!r}")
    return None


@each_revision
def test_codecs_agree(name: str) -> None:
    package = dsh_protocol.revision(name)
    faults = [fault(package, vector) for vector in vectors(name) if vector.side != "frame"]
    assert len(faults) > 1000
    assert not [line for line in faults if line]


def payload_fault(package: Any, vector: Vector) -> str | None:
    """What the method map does wrong with the payload of a call, as far as a frame's fault lies there."""
    method, params = vector.value["method"], vector.value.get("params")
    in_params = vector.path.startswith("$.params")
    try:
        decoded = package.decode_params(method, params)
        encoded = package.find_method(method).encode_params(decoded)
    except LookupError:
        return None if vector.reason == "unknown method" else disagreement(vector, "Python", "knows no such method")
    except package.DecodeError as error:
        return None if in_params and not vector.valid else disagreement(vector, "Python", f"refuses it ({error})")
    if vector.reason == "unknown method" or (in_params and not vector.valid):
        return disagreement(vector, "Python", "accepts it")
    if decoded is not None and canonical(encoded) != canonical(params):
        return disagreement(vector, "Python", f"gives back {encoded!r}")
    return None


@each_revision
def test_the_method_map_agrees(name: str) -> None:
    """Frames are the transport's business; what the method map has to do with them are method names and params."""
    package = dsh_protocol.revision(name)
    frames = [vector for vector in vectors(name) if vector.side == "frame" and vector.method != "*"]
    calls = [vector for vector in frames if isinstance((place(vector.value, ("method",)) or (None,))[0], str)]
    faults = [payload_fault(package, vector) for vector in calls]
    assert len(faults) > 50
    assert not [line for line in faults if line]
