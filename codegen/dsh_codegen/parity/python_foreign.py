"""Python that others wrote, found without importing it: a file, a folder, or a dotted module path.

Modules that the given ones import are read too, as far as they belong to the same package: a base class or an enum often stands
elsewhere. Only what the given modules define or import counts as theirs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from ..errors import ConfigError
from .classes import Source
from .model import Definition, Side
from .python import Module, read_definitions, read_file

_INIT: Final = "__init__.py"


def read_foreign(where: str, search: list[str] | None = None) -> Side:
    """The side of the classes in `where`. `search` is where packages are looked for, as in sys.path.

    Raises `ConfigError` where there is nothing to read.
    """
    files = find_files(where, search)
    modules: dict[Path, Module] = {}
    for file in files:
        _read(file, _home(file), modules)
    classes = {
        node.name: Source(node, module.lookup, module.file)
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    }
    definitions: dict[str, Definition] = {}
    for module in modules.values():
        for name, definition in read_definitions(module, classes).items():
            # the same name twice: the one that was asked for counts
            definitions.setdefault(name, definition)
    if not definitions:
        raise ConfigError(f"{where}: there are no pydantic models, dataclasses, typed dicts, enums or type aliases in it")
    return Side("python", definitions, None, complete=False)


def find_files(where: str, search: list[str] | None = None) -> list[Path]:
    """The files of a path or a dotted module path. Nothing is imported, parents included."""
    path = Path(where)
    if path.is_dir():
        files = sorted(path.rglob("*.py"))
        if not files:
            raise ConfigError(f"{where}: there is no Python file in it")
        return files
    if path.is_file():
        return [path]
    places = search
    parts = where.split(".")
    if not all(part.isidentifier() for part in parts):
        raise ConfigError(f"{where}: there is no such file, and it is no module path")
    for index in range(len(parts)):
        name = ".".join(parts[: index + 1])
        spec = PathFinder.find_spec(name, places)
        if spec is None:
            raise ConfigError(f"{where}: there is no module {name!r}")
        if index < len(parts) - 1:
            places = list(spec.submodule_search_locations or ())
            continue
        folders = list(spec.submodule_search_locations or ())
        if folders:
            return sorted(file for folder in folders for file in Path(folder).rglob("*.py"))
        if spec.origin is not None and spec.origin.endswith(".py"):
            return [Path(spec.origin)]
    raise ConfigError(f"{where}: it is no Python source")


def _home(file: Path) -> Path:
    """The folder of the outermost package that `file` is part of, or just its folder."""
    folder = home = file.resolve().parent
    while (folder / _INIT).is_file() and folder != folder.parent:
        home, folder = folder, folder.parent
    return home


def _read(file: Path, home: Path, modules: dict[Path, Module]) -> None:
    file = file.resolve()
    if file in modules:
        return
    modules[file] = module = read_file(file)
    for other in _imported(file, module.tree, home):
        _read(other, home, modules)


def _imported(file: Path, tree: ast.Module, home: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = file.parents[node.level - 1] if node.level else home.parent if (home / _INIT).is_file() else home
        folder = base.joinpath(*(node.module or "").split(".")) if node.module else base
        for candidate in (folder.with_suffix(".py"), folder / _INIT, *(folder / f"{alias.name}.py" for alias in node.names)):
            if candidate.is_file() and candidate.resolve().is_relative_to(home):
                yield candidate
