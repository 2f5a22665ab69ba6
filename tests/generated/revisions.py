"""The generated revisions as the tests see them: the package, its bundle, and the plain `jsonschema` verdict as the oracle.

A revision that is added to the package joins every test by itself.
"""

from __future__ import annotations

import json
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from hypothesis import settings
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

import dsh_protocol

if TYPE_CHECKING:
    from types import ModuleType

Schema = dict[str, Any]
Json = Any


class Revision:
    """One revision: `package` is its module, `defs` the definitions of its bundle."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.package: Final[ModuleType] = dsh_protocol.revision(name)
        self.bundle: Final[Schema] = json.loads((files(self.package) / "schema.json").read_text(encoding="utf-8"))
        self.defs: Final[dict[str, Schema]] = self.bundle["$defs"]
        self.methods: Final[dict[str, Schema]] = {row["name"]: row for row in self.bundle["x-methods"]}
        self._registry: Final = Registry[Any]().with_resource(self.bundle["$id"], DRAFT202012.create_resource(self.bundle))
        self._validators: Final[dict[str, Draft202012Validator]] = {}

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def modules(self) -> dict[str, list[str]]:
        """The definitions of each generated module."""
        found: dict[str, list[str]] = {}
        for name, schema in self.defs.items():
            found.setdefault(schema["x-module"], []).append(name)
        return found

    def accepts(self, definition: str, value: Json) -> bool:
        """The oracle: whether `jsonschema`, unmodified, takes `value` as `definition`."""
        if definition not in self._validators:
            schema = {"$ref": f"{self.bundle['$id']}#/$defs/{definition}"}
            self._validators[definition] = Draft202012Validator(schema, registry=self._registry)
        return self._validators[definition].is_valid(value)

    def resolve(self, schema: Schema) -> Schema:
        """Follow `$ref` to the definition."""
        while "$ref" in schema:
            schema = self.defs[target(schema)]
        return schema

    def arms(self, union: Schema) -> list[tuple[str, Schema]]:
        """The arms of a union that are objects, by definition name; nested unions are taken apart."""
        found: list[tuple[str, Schema]] = []
        for arm in union["anyOf"]:
            reference = arm["allOf"][0] if "allOf" in arm else arm
            schema = self.resolve(reference)
            if "anyOf" in schema:
                found += self.arms(schema)
            elif schema.get("type") == "object" and "$ref" in reference:
                found.append((target(reference), schema))
        return found


def target(schema: Schema) -> str:
    """The name of the definition that a `$ref` leads to."""
    return str(schema["$ref"]).rpartition("/")[2]


REVISIONS: Final = [Revision(name) for name in dsh_protocol.REVISIONS]
DEFINITIONS: Final = [(revision, name) for revision in REVISIONS for name in revision.defs]
MODULES: Final = [(revision, module) for revision in REVISIONS for module in revision.modules]
METHODS: Final = [(revision, method) for revision in REVISIONS for method in revision.methods]


def label(value: object) -> str:
    """The part of a test's id that stands for one parameter."""
    return str(value)


def examples(quick: int) -> settings:
    """Settings for a test that makes `quick` examples under the quick profile, and its share under others."""
    return settings(max_examples=quick * settings().max_examples // 100)


def canonical(value: Json) -> object:
    """A hashable stand-in for a JSON value, equal for equal JSON: 1 is 1.0, true is not 1, the order of members is free."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, list):
        return "array", tuple(canonical(item) for item in value)
    if isinstance(value, dict):
        return "object", frozenset((key, canonical(item)) for key, item in value.items())
    if value is None or type(value) in (int, float, str):
        return value
    raise TypeError(f"{value!r} is not JSON")


@cache
def snake(wire: str) -> str:
    """Roughly the Python name of a member; a peer may use it as the name of another one."""
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in wire)
