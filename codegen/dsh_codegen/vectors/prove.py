"""The verdict of `jsonschema` on a bundle, which every vector has to agree with before it is written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, unquote

from ..emit.bundle import Schema
from ..errors import CodegenError
from ..ir import Protocol
from .row import Value, Vector, canonical

ROOT: Final = ""
"""Stands for the root of a bundle, which judges whole frames, where a definition's name may stand."""


class Judge:
    """`jsonschema` on one bundle, unmodified; `changed` puts another schema in one place of it."""

    def __init__(self, bundle: Schema) -> None:
        self.bundle: Final = bundle
        self._validators: Final[dict[str, Any]] = {}

    @cached_property
    def _shared(self) -> Schema:
        return {key: self.bundle[key] for key in ("$schema", "$id", "$defs") if key in self.bundle}

    def accepts(self, name: str, value: Value) -> bool:
        """Whether the definition (or `ROOT`) takes a value."""
        if name not in self._validators:
            self._validators[name] = self.changed(name, None)
        verdict: bool = self._validators[name].is_valid(value)
        return verdict

    def changed(self, name: str, schema: Schema | bool | None) -> Any:
        """A validator for the definition, or `ROOT`, that has `schema` in its place, also where others refer to it."""
        from jsonschema import Draft202012Validator

        definitions: Schema = self.bundle.get("$defs", {})
        if name == ROOT:
            whole = self.bundle if schema is None else schema
            frames = whole["anyOf"] if isinstance(whole, dict) and "anyOf" in whole else None
            return Draft202012Validator({**self._shared, **({} if frames is None else {"anyOf": frames})})
        reference = "#/$defs/" + quote(name.replace("~", "~0").replace("/", "~1"))
        put = definitions if schema is None else {**definitions, name: schema}
        return Draft202012Validator({**self._shared, "$defs": put, "$ref": reference})

    def definition(self, reference: str) -> Any:
        """The schema that a reference of the bundle leads to."""
        name = unquote(reference.rpartition("/")[2]).replace("~1", "/").replace("~0", "~")
        return self.bundle["$defs"][name]

    def part(self, schema: Schema | bool) -> Any:
        """A validator for a part of the bundle's schemas."""
        from jsonschema import Draft202012Validator

        return Draft202012Validator({**self._shared, "allOf": [schema]})


def target(protocol: Protocol, vector: Vector) -> str:
    """The definition that judges a vector, or `ROOT`."""
    if vector.definition:
        return vector.definition
    if vector.side == "frame":
        return ROOT
    method = next(method for method in protocol.methods if method.name == vector.method)
    return (method.params if vector.side == "params" else method.result) or ROOT


def prove(protocol: Protocol, judge: Judge, vectors: Iterable[Vector]) -> None:
    """Raise `CodegenError` for the first vector that the schema judges otherwise."""
    known: dict[tuple[str, str], bool] = {}
    for vector in vectors:
        name = target(protocol, vector)
        key = name, canonical(vector.value)
        if key not in known:
            known[key] = judge.accepts(name, vector.value)
        if known[key] != vector.valid:
            said = "accepts" if known[key] else "refuses"
            why = f"made invalid ({vector.reason} at {vector.path})" if vector.reason else "made valid"
            raise CodegenError(f"the vector {vector.id} was {why}, but its schema {said} {canonical(vector.value)}")
