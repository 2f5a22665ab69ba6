"""Schemas in, importable packages out: what the tests of the generator's output share."""

from __future__ import annotations

import ast
import itertools
import json
import sys
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote

from jsonschema import Draft202012Validator

from dsh_codegen import naming
from dsh_codegen.emit.bundle import bundle
from dsh_codegen.emit.python import PythonOptions, python_files
from dsh_codegen.ir import Protocol, Record
from dsh_codegen.load import read_protocol

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_numbers = itertools.count()


def write_schema(folder: Path, files: Mapping[str, Any]) -> Path:
    """`files` (JSON values, or texts as they are) in a new directory below `folder`."""
    root = folder / f"schema{next(_numbers)}"
    root.mkdir(parents=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (root / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    return root


def read(folder: Path, files: Mapping[str, Any]) -> Protocol:
    """The IR of a schema directory that holds `files`."""
    return read_protocol(write_schema(folder, files)).protocol


def read_defs(folder: Path, definitions: Mapping[str, Any], **keywords: Any) -> Protocol:
    """The IR of one schema file with these `$defs`."""
    return read(folder, {"all.schema.json": {"$defs": definitions, **keywords}})


@dataclass(frozen=True, slots=True)
class Package:
    """A generated package of one revision, imported."""

    protocol: Protocol
    name: str
    files: Mapping[str, str]
    module: ModuleType

    def decode(self, definition: str, value: Any) -> Any:
        """An instance from JSON; the value is copied first, since decoders take it over."""
        return self.module.decode(definition, json.loads(json.dumps(value)))

    def encode(self, value: Any) -> Any:
        return self.module.encode(value)

    def type(self, definition: str) -> Any:
        return getattr(self.module, naming.type_name(definition))

    def accepts(self, definition: str, value: Any) -> bool:
        """The verdict of the decoder; what it accepts must come back as it was."""
        error: type[ValueError] = self.module.DecodeError
        try:
            found = self.decode(definition, value)
        except error:
            return False
        assert same(self.encode(found), value), f"{value!r} comes back as {self.encode(found)!r}"
        return True

    def modules(self) -> Iterable[ModuleType]:
        """Every generated module of the revision, loaded."""
        base = self.module.__name__
        for path in sorted(self.files):
            _, folder, *rest = path.split("/")
            if rest and folder == base.rpartition(".")[2] and path.endswith(".py"):
                stem = rest[-1].removesuffix(".py")
                yield import_module(base if stem == "__init__" else f"{base}.{stem}")

    def check_hints(self) -> None:
        """Every class and alias loads, and all hints of classes, aliases and codecs resolve."""
        list(self.modules())
        for definition in self.protocol.definitions:
            found = self.type(definition.name)
            name = naming.type_name(definition.name)
            home = import_module(f"{self.module.__name__}.{self.module._MODULES[name]}")
            assert getattr(home, name) is found
            returned = typing.get_type_hints(getattr(home, f"decode_{name}"))["return"]
            if isinstance(definition.type, Record):
                assert returned is found
                typing.get_type_hints(found)

    def wire_names(self, definition: str) -> list[str]:
        return [
            field.metadata["wire"] for field in self.type(definition).__dataclass_fields__.values() if "wire" in field.metadata
        ]


def same(value: Any, other: Any) -> bool:
    """Equal as JSON: numbers by value, but true is not 1, and members in any order."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def build(folder: Path, protocol: Protocol) -> Package:
    """The package of `protocol`, written below `folder` and imported under a name of its own."""
    name = f"generated_{next(_numbers)}"
    files = python_files([protocol], PythonOptions(name, protocol.revision))
    for path, text in files.items():
        file = folder / path
        assert file.resolve().is_relative_to(folder.resolve())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    invalidate_caches()
    return Package(protocol, name, files, import_module(f"{name}.{naming.revision_module(protocol.revision)}"))


def build_defs(folder: Path, definitions: Mapping[str, Any], **keywords: Any) -> Package:
    """The package of one schema file with these `$defs`."""
    return build(folder, read_defs(folder, definitions, **keywords))


def forget(package: Package) -> None:
    """Unload the modules of a package."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        del sys.modules[name]


class Oracle:
    """The verdict of `jsonschema` by definition: of the authored schema, or of the bundle."""

    def __init__(self, document: Any) -> None:
        self.document = document

    def accepts(self, definition: str | None, value: Any) -> bool:
        schema = self.document
        if definition is not None:
            reference = "#/$defs/" + quote(definition.replace("~", "~0").replace("/", "~1"))
            schema = {"$schema": DIALECT, "$ref": reference, "$defs": self.document.get("$defs", {})}
        return Draft202012Validator(schema).is_valid(value)


def bundle_oracle(protocol: Protocol) -> Oracle:
    return Oracle(bundle(protocol, "test"))


def parsed(text: str) -> ast.Module:
    return ast.parse(text)
