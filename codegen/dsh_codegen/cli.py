"""The command line. Options and output only: the work is done by the modules of the verbs, imported when a verb runs.

Exit codes, the same for every command: 0 clean, 1 findings or drift, 2 unusable input or usage. Ctrl-C gives 130.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

import click

from . import __version__
from .config import load_config
from .errors import CodegenError, OutputError
from .frames.command import INTERRUPTED, validate
from .markup.text import harmless
from .parity.command import parity
from .vectors.command import vectors

if TYPE_CHECKING:
    from .check import Comparison
    from .generate import Tree

F = TypeVar("F", bound=Callable[..., Any])

_LINES: Final = 60  # shown of one file's diff
_DIFFS: Final = 10  # shown of all
_TAB: Final = "\t"  # does no harm in a diff


class _Group(click.Group):
    """Turns what the user can act on into one sentence and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CodegenError as error:
            _say([f"error: {error}"], sys.stderr)
            ctx.exit(2)
        except KeyboardInterrupt:
            _say(["interrupted"], sys.stderr)
            ctx.exit(INTERRUPTED)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="dsh-codegen")
def main() -> None:
    """Types, codecs and checks for a JSON-RPC protocol, from its JSON Schema.

    Exit codes: 0 clean, 1 findings or drift, 2 unusable input or usage.
    """


def _schema_options(command: F) -> F:
    path = click.Path(path_type=Path)
    for option in (
        click.option("--typescript-out", type=path, metavar="DIR", help="Where the TypeScript types go."),
        click.option("--python-out", type=path, metavar="DIR", help="Where the Python package goes (the folder above it)."),
        click.option("--schema", type=path, metavar="DIR|FILE", help="The schema directory, or one schema file."),
        click.option(
            "--config", type=path, metavar="FILE", help="The pyproject.toml to read [default: nearest with settings]."
        ),
        click.option("--revision", metavar="NAME", help="Only this revision [default: all]."),
    ):
        command = option(command)
    return command


@main.command(short_help="Write the generated files: all or none.")
@_schema_options
def generate(revision: str | None, config: Path | None, **overrides: Path | None) -> None:
    """Write the generated files: all of them or none.

    Files of the output directories that the generator made and no longer asks for are removed; others are left alone and named.
    """
    from .check import refuse_foreign
    from .write import Change, replace_files

    compared = _compared(revision, config, overrides)
    for tree, _ in compared:
        refuse_foreign(tree)
    counts = replace_files([Change(tree.root, tree.files, comparison.obsolete) for tree, comparison in compared])
    lines = [
        f"{_shown(tree.root)}: {f'{count} of {len(tree.files)} files changed' if count else 'up to date'}"
        for (tree, _), count in zip(compared, counts, strict=True)
    ]
    strays = [f"left alone: {_shown(drift.file)}: {drift.cause}" for _, comparison in compared for drift in comparison.strays]
    _say(lines, sys.stdout)
    _say(strays, sys.stderr)


@main.command(short_help="Compare the generated files with the schema.")
@_schema_options
@click.pass_context
def check(ctx: click.Context, /, revision: str | None, config: Path | None, **overrides: Path | None) -> None:
    """Say whether the generated files are what the schema asks for, and why not.

    Exit code 0 if they are, 1 if a file is missing, orphaned or different.
    """
    compared = _compared(revision, config, overrides)
    drifts = [drift for _, comparison in compared for drift in comparison.drifts]
    if not drifts:
        _say([f"clean: {sum(len(tree.files) for tree, _ in compared)} generated files are up to date"], sys.stdout)
        return
    lines = [
        f"{drift.kind + ':':9}{_shown(drift.file)}: {drift.cause}"
        for drift in sorted(drifts, key=lambda drift: drift.kind == "changed")
    ]
    changed = [drift for drift in drifts if drift.found is not None]
    lines += [line for drift in changed[:_DIFFS] for line in ("", *_cut(drift.diff()))]
    if len(changed) > _DIFFS:
        lines += ["", f"... and the diffs of {len(changed) - _DIFFS} more files"]
    lines.append("")
    if any(comparison.fixable for _, comparison in compared):
        lines.append(_remedy({"revision": revision, "config": config, **overrides}))
    if any(comparison.strays for _, comparison in compared):
        lines.append("An orphan that was not generated has to be moved or deleted by hand.")
    _say(lines, sys.stdout)
    ctx.exit(1)


main.add_command(validate)
main.add_command(parity)
main.add_command(vectors)


def _compared(revision: str | None, config: Path | None, overrides: Mapping[str, Path | None]) -> list[tuple[Tree, Comparison]]:
    from .check import compare
    from .generate import render

    return [(tree, compare(tree)) for tree in render(load_config(config, **overrides), revision)]


def _remedy(given: Mapping[str, object]) -> str:
    options = [word for key, value in given.items() if value is not None for word in (f"--{key.replace('_', '-')}", str(value))]
    return f"To make the files follow the schema, run: {shlex.join(['dsh-codegen', 'generate', *options])}"


def _shown(path: Path) -> Path:
    """Relative to the working directory where that is shorter."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _cut(diff: str) -> list[str]:
    lines = diff.splitlines()
    rest = len(lines) - _LINES
    return lines if rest <= 0 else [*lines[:_LINES], f"... and {rest} more lines"]


def _say(lines: Sequence[str], stream: TextIO) -> None:
    """Write lines, harmless as names of files may not be. A reader that closed its end has read enough: that is no error."""
    reconfigure: Any = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")  # a narrow encoding must not lose the message
    try:
        stream.writelines(f"{harmless(line, keep=_TAB)}\n" for line in lines)
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # or the interpreter would complain about what is still buffered when it ends
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError) and stream is not sys.stderr:
            raise OutputError(f"standard output can't be written: {error.strerror or error}") from None
