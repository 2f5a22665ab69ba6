"""TypeScript that others wrote: what a file, a package or a folder exports, with all it refers to, across files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import ConfigError
from .model import NOTHING, Definition, Shape, Side, ref
from .ts_disk import Disk, entries
from .ts_names import Declared, is_definition
from .ts_syntax import SourceFile
from .ts_types import Types
from .typescript import folded, read_methods


class Program:
    """Foreign files with all that they import, evaluated from what they export. Filled by `read_foreign`."""

    def __init__(self, disk: Disk) -> None:
        self.definitions: dict[str, Definition] = {}
        self.absent: dict[str, str] = {}
        self._disk = disk
        self._types = Types(self)
        self._ids: dict[tuple[str, str], str] = {}
        self._declared: dict[str, Declared] = {}
        self._open: set[str] = set()
        self._added: dict[tuple[str, str], list[Declared]] = {}

    def load(self, file: SourceFile, seen: set[str] | None = None) -> None:
        """Read what `file` imports, and what that imports: an import may add members to an interface of another module."""
        seen = set() if seen is None else seen
        if file.path in seen:
            return
        seen.add(file.path)
        for module in file.sources:
            found = self._disk.follow(file, module)
            if found is not None:
                self.load(found, seen)
        for module, name, node in file.augmentations:
            target = self._disk.follow(file, module)
            where = None if target is None else self._export(target, name, set())
            if where is not None:
                owner = (where.file.path, _local(where))
                self._added.setdefault(owner, []).append(Declared(name, (node,), file))

    def declared(self, file: SourceFile, name: str) -> Declared | None:
        """The declaration behind a name, through imports and re-exports."""
        head, _, rest = name.partition(".")
        if rest:
            target = self._namespace(file, head)
            return None if target is None else self._export(target, rest, set())
        if name in file.declarations:
            return self._named(file, name)
        imported = file.imports.get(name)
        if imported is None or imported.name == "*":
            return None
        target = self._disk.follow(file, imported.module)
        return None if target is None else self._export(target, imported.name, set())

    def missing(self, file: SourceFile, name: str) -> Shape:
        """A name whose declaration is not on disk: a reference that leads nowhere."""
        imported = file.imports.get(name.partition(".")[0])
        plain = name.rpartition(".")[2] if imported is None else imported.name if imported.name != "*" else name
        self.absent.setdefault(plain, "no declaration" if imported is None else imported.module)
        return ref(plain)

    def definition(self, declared: Declared) -> Definition:
        """The definition of a declaration, worked out once."""
        if declared.name not in self.definitions and declared.name not in self._open:
            self._open.add(declared.name)
            self.definitions[declared.name] = self._types.declare(self._augmented(declared))
            self._open.discard(declared.name)
        return self.definitions.get(declared.name, Definition(declared.name, NOTHING))

    def expand(self, name: str) -> Shape | None:
        """The shape behind a reference; None while it is still being worked out, and where there is none."""
        if name in self.definitions:
            return self.definitions[name].shape
        return None

    def exported(self, file: SourceFile, name: str) -> Declared | None:
        """The declaration that a file offers under a name."""
        return self._export(file, name, set()) or self.declared(file, name)

    def offered(self, file: SourceFile, seen: set[str]) -> list[str]:
        """All names that a file offers, `export *` included."""
        if file.path in seen:
            return []
        seen.add(file.path)
        names = list(file.offered)
        for module in file.stars:
            target = self._disk.follow(file, module)
            if target is not None:
                names += self.offered(target, seen)
        return list(dict.fromkeys(names))

    def _augmented(self, declared: Declared) -> Declared:
        added = self._added.get((declared.file.path, _local(declared)), [])
        return replace(declared, added=tuple((node, each.file) for each in added for node in each.nodes))

    def _namespace(self, file: SourceFile, name: str) -> SourceFile | None:
        if name.startswith("import("):
            return self._disk.follow(file, name[len("import(") : -1].strip("\"'"))
        imported = file.imports.get(name)
        return None if imported is None or imported.name != "*" else self._disk.follow(file, imported.module)

    def _export(self, file: SourceFile, name: str, seen: set[tuple[str, str]]) -> Declared | None:
        if (file.path, name) in seen:
            return None
        seen.add((file.path, name))
        target = file.exports.get(name)
        if isinstance(target, str):
            return self.declared(file, target)
        if target is not None:
            other = self._disk.follow(file, target.module)
            return None if other is None else self._export(other, target.name, seen)
        if name in file.declarations and not file.exports:
            return self._named(file, name)
        for module in file.stars:
            other = self._disk.follow(file, module)
            found = None if other is None else self._export(other, name, seen)
            if found is not None:
                return found
        return None

    def _named(self, file: SourceFile, name: str) -> Declared:
        key = (file.path, name)
        if key not in self._ids:
            taken = name in self._ids.values()
            self._ids[key] = f"{name} ({file.path})" if taken else name
        return Declared(self._ids[key], tuple(file.declarations[name]), file)


def _local(declared: Declared) -> str:
    return declared.name.partition(" ")[0]


def read_foreign(where: Path, maps: Sequence[str]) -> Side:
    """The side of TypeScript that others wrote: what `where` (a file, a package, a folder) exports and what that refers to.

    Interfaces called as `maps`, or ending in RequestMap or NotificationMap, are the method maps. Raises `ConfigError`.
    """
    disk = Disk()
    program = Program(disk)
    files = [disk.read(path) for path in entries(where)]
    for file in files:
        program.load(file)
    for file in files:
        for name in program.offered(file, set()):
            found = program.exported(file, name)
            if found is not None and is_definition(found) and "class" not in found.nodes[0].type:
                program.definition(found)
    if not program.definitions:
        raise ConfigError(f"{where}: it exports no types")
    known = folded(program.definitions)
    tables = [name for name in known if name in maps or name.endswith(("RequestMap", "NotificationMap"))]
    methods = read_methods([known.pop(name) for name in tables]) if tables else None
    return Side("typescript", known, methods, integers=False, complete=False)
