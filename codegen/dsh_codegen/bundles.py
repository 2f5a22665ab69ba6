"""Where `validate` finds schemas: the bundles inside the generated package, in the project or installed, read as files."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import DEFAULT_PACKAGE, SEQUENCING, find_config, load_config, working_directory
from .errors import ConfigError
from .manifest import read_manifest

if TYPE_CHECKING:
    import click


def load_bundles(ctx: click.Context) -> list[tuple[str, Any]]:
    """Name and parsed bundle of each revision, oldest first. Raises `ConfigError` where there are none.

    The project's own generated package comes first (`--config`, or the nearest pyproject.toml with the table), then an
    installed one.
    """
    root, remedy = _package(ctx.params.get("config"))
    manifest = read_manifest(root)
    if manifest is None or not manifest.revisions:
        raise ConfigError(f"there is no generated package in {root}; {remedy}")
    return [(name, _read(root / origin.module / "schema.json", remedy)) for name, origin in manifest.revisions.items()]


def load_sequencing_table(ctx: click.Context) -> Any:
    """The parsed table of sequencing rules beside those bundles; None where there is none. Raises `ConfigError`."""
    root, remedy = _package(ctx.params.get("config"))
    file = root / SEQUENCING
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}; {remedy}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{file}: it is no table of sequencing rules any more; {remedy}") from None


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


def _package(config: Path | None) -> tuple[Path, str]:
    """The folder of the generated package, and what to do if it isn't in order."""
    if config is not None or find_config(working_directory()) is not None:
        settings = load_config(config)
        given = "" if config is None else f" --config {shlex.quote(str(config))}"
        return settings.python_out / settings.python_package, f"run: dsh-codegen generate{given}"
    spec = find_spec(DEFAULT_PACKAGE)  # finds a top-level package without importing it
    if spec is None or spec.origin is None:
        raise ConfigError(f"no schema to judge by: name a pyproject.toml with --config, or install {DEFAULT_PACKAGE}")
    return Path(spec.origin).parent, f"install {DEFAULT_PACKAGE} again"
