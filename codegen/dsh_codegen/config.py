"""What the user configured: `[tool.dsh-codegen]` of a pyproject.toml, with command-line options on top."""

from __future__ import annotations

import keyword
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, cast

from .errors import ConfigError, suggestion

TABLE: Final = "dsh-codegen"
DEFAULT_PACKAGE: Final = "dsh_protocol"
SEQUENCING: Final = "sequencing.json"
"""The file of the schema directory that says in which order frames come; the generated package has a copy of that name."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a run. Paths are absolute; a setting's key in the file is its name here with dashes.

    `revisions` orders all revisions, oldest first; empty means frozen ones by name, then the head.
    """

    schema: Path
    python_out: Path
    typescript_out: Path
    revisions: tuple[str, ...] = ()
    python_package: str = DEFAULT_PACKAGE
    typescript_package: str = "protocol"
    typescript_version: str = "0.0.0"
    request_map: str = "RequestMap"
    notification_map: str = "NotificationMap"


_PATHS: Final = {"schema": "schema", "python-out": "generated/python", "typescript-out": "generated/typescript"}
_TYPE: Final = (re.compile(r"[A-Z][A-Za-z0-9_]*"), "a type name such as RequestMap")  # a capital: no reserved word has one
_NAMES: Final = {
    "python-package": (re.compile(r"[A-Za-z_][A-Za-z0-9_]*"), "the name of a Python package"),
    "typescript-package": (re.compile(r"(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*"), "the name of an npm package"),
    "typescript-version": (re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?"), "a version such as 1.2.3"),
    "request-map": _TYPE,
    "notification-map": _TYPE,
}


def find_config(file: Path | None) -> Config | None:
    """The settings in `file`, or in the nearest pyproject.toml at or above the working directory that has the table.

    None if there is none. Raises `ConfigError`.
    """
    if file is None:
        here = working_directory()
        for folder in (here, *here.parents):
            nearest = folder / "pyproject.toml"
            if nearest.is_file() and (table := _table(nearest)) is not None:
                return _parse(table, nearest.resolve().parent, nearest)
        return None
    if not file.is_file():
        raise ConfigError(f"{file}: there is no such file; --config takes a pyproject.toml")
    table = _table(file)
    if table is None:
        raise ConfigError(f"{file}: it has no table [tool.{TABLE}]; add one, which may be empty")
    return _parse(table, file.resolve().parent, file)


def load_config(file: Path | None, **overrides: Path | None) -> Config:
    """Settings from `file` (or the nearest one above the working directory, or none) with `overrides` that are not None.

    Overrides are relative to the working directory, settings to their file. The order of `revisions` belongs to the configured
    schema and is dropped with it. Raises `ConfigError`.
    """
    here = working_directory()
    given: dict[str, Any] = {key: (here / path).resolve() for key, path in overrides.items() if path is not None}
    config = find_config(file)
    if config is None:
        if "schema" not in given and not (here / _PATHS["schema"]).exists():
            raise ConfigError(
                f"{here}: no pyproject.toml here or above has [tool.{TABLE}], and there is no directory 'schema'; "
                "go to your project, or use --config or --schema"
            )
        config = _parse({}, here, None)
    if given.get("schema", config.schema) != config.schema:
        config = replace(config, revisions=())
    return replace(config, **given)


def working_directory() -> Path:
    """Where relative paths start. Raises `ConfigError` if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        raise ConfigError("the working directory does not exist any more; go to one that does") from None


def _table(file: Path) -> Mapping[str, Any] | None:
    """The settings in `file`, if it has any."""
    try:
        value: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    for key in ("tool", TABLE):
        if not isinstance(value, dict):
            raise ConfigError(f"{file}: 'tool' must be a table, not {value!r}")
        value = cast("dict[str, Any]", value).get(key, {} if key == "tool" else None)
        if value is None:
            return None
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: [tool.{TABLE}] must be a table, not {value!r}")
    return cast("dict[str, Any]", value)


def _parse(table: Mapping[str, Any], root: Path, file: Path | None) -> Config:
    known = [field.name.replace("_", "-") for field in fields(Config)]
    for key in table:
        if key not in known:
            raise ConfigError(f"{file}: [tool.{TABLE}] has no setting {key!r}{suggestion(key, known)}")
    settings: dict[str, Any] = {key: (root / _text(table, key, file, default)).resolve() for key, default in _PATHS.items()}
    for key in table:
        if key == "revisions":
            if not isinstance(table[key], list) or not all(isinstance(name, str) for name in table[key]):
                raise ConfigError(f"{file}: 'revisions' must be a list of revision names, oldest first, not {table[key]!r}")
            settings[key] = tuple(table[key])
        elif key not in _PATHS:
            settings[key] = _text(table, key, file, "")
            form, what = _NAMES[key]
            if not form.fullmatch(settings[key]) or keyword.iskeyword(settings[key]):
                raise ConfigError(f"{file}: {key!r} must be {what}, not {settings[key]!r}")
    return Config(**{key.replace("-", "_"): value for key, value in settings.items()})


def _text(table: Mapping[str, Any], key: str, file: Path | None, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or not value or "\0" in value:
        raise ConfigError(f"{file}: {key!r} must be a non-empty string, not {value!r}")
    return value
