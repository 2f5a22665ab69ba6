"""Where a TypeScript import leads on disk: relative files, packages in node_modules folders above. Nothing is downloaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from ..errors import ConfigError
from .ts_syntax import SourceFile, parse

_ENDINGS: Final = (".d.ts", ".ts", ".d.mts", ".mts", ".d.cts", ".cts", ".tsx")
_WRITTEN: Final = (".d.ts", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs")
_MODULES: Final = "node_modules"


class Disk:
    """The files that were read, by path."""

    def __init__(self) -> None:
        self._files: dict[Path, SourceFile] = {}

    def read(self, path: Path) -> SourceFile:
        """One file, parsed once. Raises `ConfigError`."""
        if path not in self._files:
            try:
                source = path.read_text(encoding="utf-8")
            except OSError as error:
                raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
            except UnicodeDecodeError:
                raise ConfigError(f"{path}: can't be read: it is not UTF-8") from None
            self._files[path] = parse(source, str(path))
        return self._files[path]

    def follow(self, file: SourceFile, module: str) -> SourceFile | None:
        """The file that `module` is when `file` imports it, or None."""
        found = _resolve(Path(file.path), module)
        return None if found is None else self.read(found)


def entries(where: Path) -> list[Path]:
    """The files that `where` stands for: itself, a package's declared types, or every file below a folder."""
    if where.is_file():
        return [where]
    if not where.is_dir():
        raise ConfigError(f"{where}: there is no such file or folder")
    found = _entry(where, ".")
    if found is not None:
        return [found]
    files = sorted(file for file in where.rglob("*.ts") if _MODULES not in file.relative_to(where).parts)
    if not files:
        raise ConfigError(f"{where}: there is no TypeScript in it")
    return files


def _resolve(file: Path, module: str) -> Path | None:
    if module.startswith("."):
        return _file(file.parent / module)
    name, subpath = _split(module)
    for folder in (file.parent, *file.parent.parents):
        for package in (folder / _MODULES / name, folder / _MODULES / "@types" / name.removeprefix("@").replace("/", "__")):
            if package.is_dir():
                found = _entry(package, subpath)
                return _file(package / subpath) if found is None else found
    return None


def _split(module: str) -> tuple[str, str]:
    parts = module.split("/")
    size = 2 if module.startswith("@") else 1
    rest = "/".join(parts[size:])
    return "/".join(parts[:size]), f"./{rest}" if rest else "."


def _entry(package: Path, subpath: str) -> Path | None:
    """The types that a package.json declares for a subpath."""
    try:
        manifest = _object(json.loads((package / "package.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    exports = _object(manifest.get("exports"))
    if not any(key.startswith(".") for key in exports):
        exports = {".": manifest.get("exports")}
    candidates = list(_targets(exports.get(subpath)))
    if subpath == ".":
        candidates += [manifest[key] for key in ("types", "typings", "main") if isinstance(manifest.get(key), str)]
        candidates.append("index")
    return next((found for target in candidates if (found := _file(package / target)) is not None), None)


def _targets(node: Any) -> Iterator[str]:
    """Every file that a value of `exports` names, types first."""
    if isinstance(node, str):
        yield node
    for _, value in sorted(_object(node).items(), key=lambda item: item[0] != "types"):
        yield from _targets(value)


def _object(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _file(path: Path) -> Path | None:
    stem = str(path)
    for ending in _WRITTEN:
        if stem.endswith(ending):
            stem = stem.removesuffix(ending)
            break
    if path.is_file() and path.suffix in (".ts", ".mts", ".cts", ".tsx"):
        return path.resolve()
    candidates = [Path(stem + ending) for ending in _ENDINGS] + [path / f"index{ending}" for ending in _ENDINGS]
    return next((candidate.resolve() for candidate in candidates if candidate.is_file()), None)
