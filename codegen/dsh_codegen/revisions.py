"""Every revision that a configuration describes: the schema directory is the head, `revisions/` holds the frozen others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import naming
from .config import Config
from .errors import ConfigError, SchemaError
from .ir import Protocol
from .load import read_protocol

FROZEN: Final = "revisions"


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision: its protocol and the digest of the schema text behind it."""

    protocol: Protocol
    digest: str

    @property
    def name(self) -> str:
        """The name that a user gives to `--revision`."""
        return self.protocol.revision

    @property
    def module(self) -> str:
        """Its subpackage, and the stem of its TypeScript file."""
        return naming.revision_module(self.name)


@dataclass(frozen=True, slots=True)
class Revisions:
    """All revisions, oldest first, and which one is the head."""

    all: tuple[Revision, ...]
    head: str


def read_revisions(config: Config) -> Revisions:
    """Read the head and every frozen bundle. Raises `SchemaError` and `ConfigError`."""
    head = _read(config.schema)
    frozen: list[Revision] = []
    folder = config.schema / FROZEN
    for file in sorted(folder.glob("[!.]*.json")) if folder.is_dir() else ():
        try:
            revision = _read(file)
        except SchemaError as error:
            raise SchemaError(f"{FROZEN}/{error.where.removeprefix(f'{folder}/')}", error.reason) from None
        if revision.name != file.stem:
            raise SchemaError(f"{FROZEN}/{file.name}", f"the bundle is of revision {revision.name!r}; name the file after it")
        frozen.append(revision)
    found = {revision.name: revision for revision in (*frozen, head)}
    if len(found) <= len(frozen):
        raise SchemaError(str(config.schema), f"the head is called {head.name!r}, as a frozen revision already is")
    modules = {revision.module: revision.name for revision in found.values()}
    if len(modules) < len(found):
        raise ConfigError(f"two of the revisions {', '.join(found)} would be the same Python package; rename one")
    return Revisions(tuple(found[name] for name in _ordered(config, list(found))), head.name)


def _read(path: Path) -> Revision:
    read = read_protocol(path)
    return Revision(read.protocol, read.digest)


def _ordered(config: Config, names: list[str]) -> list[str]:
    if not config.revisions:
        return names
    problems = [f"{name!r} is not there" for name in config.revisions if name not in names]
    problems += [f"{name!r} is not listed" for name in names if name not in config.revisions]
    problems += ["one is listed twice"] if len(set(config.revisions)) < len(config.revisions) else []
    if problems:
        there = ", ".join(names)
        raise ConfigError(f"'revisions' must list what {config.schema} has ({there}), oldest first, but {', '.join(problems)}")
    return list(config.revisions)
