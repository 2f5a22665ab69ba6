"""Schema files on disk -> checked JSON documents, and the references between them.

Nothing is fetched: a reference that leaves the schema root is refused. Every file is checked against the 2020-12 meta-schema
before anything reads it, so later stages may rely on keyword shapes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ..config import SEQUENCING
from ..errors import SchemaError
from ..ir import DIALECT

METHODS_FILE: Final = "methods.json"
_META_SCHEMAS: Final = ".meta.json"
_TOO_DEEP: Final = "nested too deeply to be read; give the inner schemas names of their own"
_INDEX: Final = re.compile(r"(0|[1-9][0-9]{0,8})\Z")
_REMOTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a schema file: the file's name, the path to the value, and the value itself."""

    file: str
    path: tuple[str | int, ...]
    value: Any = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.file}#{pointer(self.path)}"

    @property
    def schema(self) -> dict[str, Any]:
        """The value as a schema with keywords; a boolean schema has none."""
        is_object = isinstance(self.value, dict)
        return self.value if is_object else {}

    def child(self, *keys: str | int) -> Place:
        """The place below, one step a key."""
        value = self.value
        for key in keys:
            value = value[key]
        return Place(self.file, self.path + keys, value)

    def refuse(self, reason: str) -> SchemaError:
        """A refusal that names this place."""
        return SchemaError(str(self), reason)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the schema of one revision lies: a directory of schema files, or one file (a bundle or a single schema)."""

    documents: Mapping[str, Any]
    methods: Place | None
    digest: str

    def roots(self) -> Iterator[Place]:
        """Every schema file, by name."""
        for name in sorted(self.documents):
            yield Place(name, (), self.documents[name])

    def follow(self, ref: str, at: Place) -> Place:
        """The place that `ref`, found at `at`, points to. Raises `SchemaError` for anything outside this source."""
        path, _, fragment = ref.partition("#")
        if _REMOTE.match(path):
            raise at.refuse(f"remote references are refused ({ref!r}); copy the schema into the schema directory")
        name = unquote(path) or at.file
        if name not in self.documents:
            known = ", ".join(sorted(self.documents))
            raise at.refuse(f"{ref!r} names no file of the schema directory (which has {known})")
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            raise at.refuse(f"{ref!r} uses an anchor; use a JSON Pointer such as '#/$defs/Name'")
        place = Place(name, (), self.documents[name])
        for step in fragment.split("/")[1:]:
            key: str | int = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place.value, list) and _INDEX.match(str(key)):
                key = int(key)
            try:
                place = place.child(key)
            except (KeyError, IndexError, TypeError):
                raise at.refuse(f"{ref!r} points to nothing: {str(place)!r} has no {key!r}") from None
        return place


def load(path: Path) -> Source:
    """Read and check the schema at `path`, a directory or one file. Raises `SchemaError`."""
    if path.is_dir():
        root = path
        files = sorted(file for file in path.glob("*.json") if not file.name.endswith((_META_SCHEMAS, SEQUENCING)))
    elif path.is_file():
        root, files = path.parent, [path]
    else:
        raise SchemaError(str(path), "there is no such schema file or directory; see --schema")
    if not any(file.name != METHODS_FILE for file in files):
        raise SchemaError(str(path), "the directory has no schema files (*.schema.json)")
    digest = hashlib.sha256()
    documents: dict[str, Any] = {}
    for file in files:
        text = _text(file, root)
        documents[file.name] = _parse(text, file.name)
        try:
            digest.update(json.dumps([file.name, documents[file.name]], ensure_ascii=False).encode())
        except UnicodeEncodeError:
            raise SchemaError(file.name, "it has half of a surrogate pair in a string, which is no Unicode text") from None
    methods = Place(METHODS_FILE, (), documents.pop(METHODS_FILE)) if METHODS_FILE in documents else None
    if methods is not None:
        meta = root / f"methods{_META_SCHEMAS}"
        if meta.is_file():
            _validate(methods.value, _parse(_text(meta, root), meta.name), METHODS_FILE)
    for name, document in documents.items():
        _check(document, name)
    return Source(documents, methods, digest.hexdigest())


def pointer(path: tuple[str | int, ...]) -> str:
    """RFC 6901: `("$defs", "a/b")` -> `/$defs/a~1b`."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def _text(file: Path, root: Path) -> str:
    try:
        inside = file.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        raise SchemaError(file.name, "the file is a link that leads to itself") from None
    if not inside:
        raise SchemaError(file.name, "the file is a link that leaves the schema directory")
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SchemaError(file.name, f"not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    except OSError as error:
        raise SchemaError(file.name, f"can't be read: {error.strerror}") from None


def _parse(text: str, name: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise SchemaError(name, f"the member {twice!r} stands twice in one object; a JSON reader would drop one of them")
        return result

    def refuse(constant: str) -> None:
        raise SchemaError(name, f"{constant} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise SchemaError(name, f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise SchemaError(f"{name}#", _TOO_DEEP) from None
    except ValueError as error:  # an integer of too many digits
        raise SchemaError(f"{name}#", f"can't be read: {error}") from None


def _check(document: Any, name: str) -> None:
    if not isinstance(document, dict):
        raise SchemaError(f"{name}#", "a schema file holds one JSON object")
    dialect = Place(name, (), document).schema.get("$schema", DIALECT)
    if dialect != DIALECT:
        raise SchemaError(f"{name}#/$schema", f"only draft 2020-12 is read ({DIALECT}), not {dialect!r}")
    from jsonschema import Draft202012Validator

    _validate(document, Draft202012Validator.META_SCHEMA, name)


def check(instance: Any, schema: Any, place: Place) -> None:
    """Refuse an instance, found at `place`, that its JSON Schema refuses."""
    _validate(instance, schema, place.file, place.path)


def _validate(instance: Any, schema: Any, name: str, base: tuple[str | int, ...] = ()) -> None:
    from jsonschema import Draft202012Validator, exceptions

    validator: Any = Draft202012Validator(schema)  # its published types leave all arguments open
    best_match: Any = getattr(exceptions, "best_match")  # noqa: B009
    try:
        error = best_match(validator.iter_errors(instance))
    except RecursionError:
        raise SchemaError(f"{name}#", _TOO_DEEP) from None
    if error is not None:
        raise SchemaError(f"{name}#{pointer((*base, *error.absolute_path))}", error.message)
