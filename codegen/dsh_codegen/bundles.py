"""Where `validate` finds schemas: the bundles inside the generated package, in the project or installed, read as files."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from .config import DEFAULT_PACKAGE, SEQUENCING, find_config
from .errors import ConfigError
from .manifest import read_manifest


class Package(NamedTuple):
    """The folder of the generated package, and what to do if it isn't in order."""

    root: Path
    remedy: str


def find_package(config: Path | None) -> Package:
    """The project's own generated package (see `find_config`), or an installed one.

    Raises `ConfigError` if there is neither.
    """
    settings = find_config(config)
    if settings is not None:
        given = "" if config is None else f" --config {shlex.quote(str(config))}"
        return Package(settings.python_out / settings.python_package, f"run: dsh-codegen generate{given}")
    spec = find_spec(DEFAULT_PACKAGE)  # finds a top-level package without importing it
    if spec is None or spec.origin is None:
        raise ConfigError(f"no schema to judge by: name a pyproject.toml with --config, or install {DEFAULT_PACKAGE}")
    return Package(Path(spec.origin).parent, f"install {DEFAULT_PACKAGE} again")


def load_bundles(package: Package) -> list[tuple[str, Any]]:
    """Name and parsed bundle of each revision, oldest first. Raises `ConfigError` where there are none."""
    manifest = read_manifest(package.root)
    if manifest is None or not manifest.revisions:
        raise ConfigError(f"there is no generated package in {package.root}; {package.remedy}")
    files = {name: package.root / origin.module / "schema.json" for name, origin in manifest.revisions.items()}
    return [(name, _read(file, package.remedy)) for name, file in files.items()]


def load_sequencing_table(package: Package) -> Any:
    """The parsed table of sequencing rules beside those bundles; None where there is none. Raises `ConfigError`."""
    file = package.root / SEQUENCING
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}; {package.remedy}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{file}: it is no table of sequencing rules any more; {package.remedy}") from None


def _read(file: Path, remedy: str) -> dict[str, Any]:
    import msgspec  # three times as quick as the standard library, and these files are large

    bundle: dict[str, Any] = {}
    try:
        bundle = {**msgspec.json.decode(file.read_bytes())}
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}; {remedy}") from None
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError):
        pass
    if not isinstance(bundle.get("$defs"), dict):
        raise ConfigError(f"{file}: it is no schema bundle any more; {remedy}")
    return bundle
