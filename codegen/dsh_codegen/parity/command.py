"""The command `parity`: texts in, agreement or differences out, an exit status that says which.

Nothing heavy is imported until it runs, so that listing the commands stays quick.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ..config import Config, load_config
from ..errors import ConfigError, OutputError, suggestion
from ..manifest import read_manifest

if TYPE_CHECKING:
    from .difference import Agreement, Role
    from .model import Side

FORMATS: Final = ("text", "json", "markdown", "md", "github", "sarif", "junit")
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
    if typescript is None and python is None:
        for option, given in (("--names", names is not None), ("--role", role != "both")):
            if given:
                raise ConfigError(f"{option} is for types of others; name them with --typescript or --python")
    settings = load_config(config)
    bundles = _bundles(settings, revision)
    if typescript is None and python is None:
        agreements = [_generated(settings, name, module) for name, module in bundles.items()]
    else:
        foreign = _foreign(settings, typescript, python, {} if names is None else _read_names(names, _definitions(settings)))
        agreements = [_compared(settings, name, module, foreign, role) for name, module in bundles.items()]
        if not any(agreement.differences or agreement.compared["definitions"] for agreement in agreements):
            raise ConfigError(
                f"{python if typescript is None else typescript}: nothing in it is called as in the schema, so nothing was "
                "compared; --names says which type is which"
            )
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
    from .compare import compare
    from .python import read_package
    from .schema import read_bundle
    from .typescript import read_generated

    folder = config.python_out / config.python_package / module
    maps = (config.request_map, config.notification_map)
    sides = [read_bundle(folder / "schema.json"), read_package(folder)]
    return compare(revision, [*sides, read_generated(config.typescript_out / f"{module}.d.ts", maps)])


def _foreign(config: Config, typescript: Path | None, python: str | None, names: Mapping[str, str | None]) -> list[Side]:
    from .renaming import renamed

    sides: list[Side] = []
    if python is not None:
        from .python_foreign import read_foreign as read_python

        sides.append(read_python(python))
    if typescript is not None:
        from .typescript_foreign import read_foreign as read_typescript

        sides.append(read_typescript(typescript, (config.request_map, config.notification_map)))
    known = {name for side in sides for name in side.definitions}
    for name in names:
        if name not in known:
            raise ConfigError(f"--names: {name!r} is not among the types that were read{_meant(name, known)}")
    return [renamed(side, {name: new for name, new in names.items() if name in side.definitions}) for side in sides]


def _meant(wrong: str, known: Collection[str]) -> str:
    """The name that was probably meant; there may be hundreds to list."""
    near = get_close_matches(wrong, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _compared(config: Config, revision: str, module: str, foreign: Sequence[Side], role: Role) -> Agreement:
    from .compare import compare
    from .schema import read_bundle

    return compare(
        revision, [read_bundle(config.python_out / config.python_package / module / "schema.json"), *foreign], role=role
    )


def _definitions(config: Config) -> set[str]:
    """The names of all definitions of all revisions."""
    from .schema import load_bundle

    root = config.python_out / config.python_package
    return {name for module in _bundles(config, None).values() for name in load_bundle(root / module / "schema.json")["$defs"]}


def _read_names(file: Path, definitions: Collection[str]) -> Mapping[str, str | None]:
    try:
        value: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        value = None
    names: dict[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": 0}
    if not all(name is None or isinstance(name, str) for name in names.values()):
        raise ConfigError(f"{file}: it must be a JSON object from their names to names of the schema, or to null")
    for name, new in names.items():
        if new is not None and new not in definitions:
            raise ConfigError(f"{file}: {name!r}: the schema has no {new!r}{_meant(new, definitions)}")
    return names


def _write(agreements: Sequence[Agreement], format_: str) -> None:
    """The report on standard output. A reader that closed its end has read enough: that is no error."""
    from .render import RENDERERS

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
