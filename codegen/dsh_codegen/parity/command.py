"""The command `parity`: texts in, agreement or differences out, an exit status that says which.

Nothing heavy is imported until it runs, so that listing the commands stays quick.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from dsh_codegen.config import Config, load_config
from dsh_codegen.errors import ConfigError, OutputError, suggestion
from dsh_codegen.manifest import read_manifest

if TYPE_CHECKING:
    from dsh_codegen.parity.difference import Agreement, Role
    from dsh_codegen.parity.model import Side

FORMATS: Final = ("text", "json", "md", "github", "sarif", "junit")
ROLES: Final = ("both", "client", "server")


@click.command("parity", short_help="Prove that schema, Python and TypeScript agree.")
@click.option("--revision", metavar="NAME", help="Only this revision [default: all].")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The pyproject.toml to read.")
@click.option("--format", "format_", default="text", show_default=True, type=click.Choice(FORMATS), help="Form of the report.")
@click.option("--typescript", type=click.Path(path_type=Path), metavar="FILE|DIR", help="Other TypeScript to compare.")
@click.option("--python", metavar="FILE|DIR|MODULE", help="Other Python to compare; it is read, never imported.")
@click.option("--names", type=click.Path(path_type=Path), metavar="FILE", help="JSON: their names -> names of the schema.")
@click.option("--role", default="both", show_default=True, type=click.Choice(ROLES), help="What the other types are used for.")
@click.pass_context
def parity(
    ctx: click.Context,
    revision: str | None,
    config: Path | None,
    format_: str,
    typescript: Path | None,
    python: str | None,
    names: Path | None,
    role: Role,
) -> None:
    """Compare the generated Python and TypeScript with the schema and with each other, read as text.

    With --typescript or --python the types found there are compared with the schema instead. Types of the same name are
    matched; --names maps the others, and to null those that are called so by chance. A type that only its side sends may be
    stricter than the schema, one that it only reads more tolerant: such differences are notes.

    Exit status: 0 they agree, 1 they differ, 2 unusable input or usage.
    """
    if names is not None and typescript is None and python is None:
        raise ConfigError("--names is for types of others; name them with --typescript or --python")
    settings = load_config(config)
    bundles = _bundles(settings, revision)
    if typescript is None and python is None:
        agreements = [_generated(settings, name, module) for name, module in bundles.items()]
    else:
        foreign = _foreign(settings, typescript, python, {} if names is None else _read_names(names))
        agreements = [_compared(settings, name, module, foreign, role) for name, module in bundles.items()]
    _write(agreements, format_)
    ctx.exit(0 if all(agreement.agrees for agreement in agreements) else 1)


def _bundles(config: Config, revision: str | None) -> Mapping[str, str]:
    """Module by revision, of the generated package."""
    root = config.python_out / config.python_package
    manifest = read_manifest(root)
    if manifest is None or not manifest.revisions:
        raise ConfigError(f"there is no generated package in {root}; run: dsh-codegen generate")
    modules = {name: origin.module for name, origin in manifest.revisions.items()}
    if revision is None:
        return modules
    if revision not in modules:
        raise ConfigError(f"there is no revision {revision!r}{suggestion(revision, list(modules))}")
    return {revision: modules[revision]}


def _generated(config: Config, revision: str, module: str) -> Agreement:
    from dsh_codegen.parity.compare import compare
    from dsh_codegen.parity.python import read_package
    from dsh_codegen.parity.schema import read_bundle
    from dsh_codegen.parity.typescript import read_generated

    folder = config.python_out / config.python_package / module
    maps = (config.request_map, config.notification_map)
    sides = [read_bundle(folder / "schema.json"), read_package(folder)]
    return compare(revision, [*sides, read_generated(config.typescript_out / f"{module}.d.ts", maps)])


def _foreign(config: Config, typescript: Path | None, python: str | None, names: Mapping[str, str | None]) -> list[Side]:
    from dsh_codegen.parity.compare import renamed

    sides: list[Side] = []
    if python is not None:
        from dsh_codegen.parity.python_foreign import read_foreign as read_python

        sides.append(read_python(python))
    if typescript is not None:
        from dsh_codegen.parity.typescript_foreign import read_foreign as read_typescript

        sides.append(read_typescript(typescript, (config.request_map, config.notification_map)))
    known = {name for side in sides for name in side.definitions}
    for name in names:
        if name not in known:
            raise ConfigError(f"--names: {name!r} is not among the types that were read{suggestion(name, sorted(known))}")
    return [renamed(side, {name: new for name, new in names.items() if name in side.definitions}) for side in sides]


def _compared(config: Config, revision: str, module: str, foreign: Sequence[Side], role: Role) -> Agreement:
    from dsh_codegen.parity.compare import compare
    from dsh_codegen.parity.schema import read_bundle

    return compare(
        revision, [read_bundle(config.python_out / config.python_package / module / "schema.json"), *foreign], role=role
    )


def _read_names(file: Path) -> Mapping[str, str | None]:
    try:
        value: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        value = None
    names: dict[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": 0}
    if not all(name is None or isinstance(name, str) for name in names.values()):
        raise ConfigError(f"{file}: it must be a JSON object from their names to names of the schema, or to null")
    return names


def _write(agreements: Sequence[Agreement], format_: str) -> None:
    """The report on standard output. A reader that closed its end has read enough: that is no error."""
    from dsh_codegen.parity.render import RENDERERS

    stream: Any = sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # a narrow encoding must not lose the report
    try:
        RENDERERS[format_](agreements, stream)
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # or the interpreter would complain about what is still buffered
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            raise OutputError(f"the report can't be written: {error.strerror or error}") from None
