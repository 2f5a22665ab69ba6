"""The command `vectors`: options and output. Nothing heavy is imported until it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ConfigError, suggestion
from ..markup.text import harmless

if TYPE_CHECKING:
    from ..config import Config
    from ..revisions import Revision, Revisions
    from .row import Vector
    from .score import Score


@click.command("vectors", short_help="Make instances that every codec must judge alike.")
@click.option("--revision", metavar="NAME", help="Only this revision [default: all].")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a file of each revision, and a summary.")
@click.option("--check", is_flag=True, help="Compare what is in DIR instead of writing it.")
@click.option("--score", "scored", is_flag=True, help="Count the changes to the schema that the vectors notice.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The pyproject.toml that names the schema.")
@click.pass_context
def vectors(ctx: click.Context, revision: str | None, out: Path | None, check: bool, scored: bool, config: Path | None) -> None:
    """Make valid and invalid instances of every definition and method, one JSON object a line.

    jsonschema has to confirm each of them. With --check, files that are not there are not compared, but their summary is.

    Exit code 1 if DIR is not up to date, or if the vectors miss a change to the schema that is not proven to change nothing.
    """
    from ..config import load_config
    from ..revisions import read_revisions
    from .files import read_summary

    if check and out is None:
        raise ConfigError("--check compares a directory; name it with --out")
    known = {} if out is None else read_summary(out)
    settings = load_config(config)
    revisions = read_revisions(settings)
    findings: list[str] = []
    made: dict[str, tuple[Vector, ...]] = {}
    for each in _chosen(revisions, revision):
        made[each.name] = _make(each, settings, findings, scored=scored)
    if out is not None:
        findings += _compare(out, made, known) if check else _write(out, made, known, revisions)
    ctx.exit(1 if findings else 0)


def _chosen(revisions: Revisions, name: str | None) -> tuple[Revision, ...]:
    names = [each.name for each in revisions.all]
    if name is not None and name not in names:
        raise ConfigError(f"there is no revision {name!r}{suggestion(name, names)}")
    return tuple(each for each in revisions.all if name in (None, each.name))


def _make(revision: Revision, config: Config, findings: list[str], *, scored: bool) -> tuple[Vector, ...]:
    from .files import proven

    found, schema = proven(revision, config.python_package)
    _say(f"{revision.name}: {len(found)} vectors, {sum(vector.valid for vector in found)} of them valid")
    if scored:
        from .score import score

        result = score(revision.protocol, schema, found)
        findings += _survivors(result)
    return found


def _survivors(score: Score) -> list[str]:
    """Show a score; the survivors that nothing explains."""
    _say(
        f"{score.revision}: {score.killed} of {score.sites} mutants noticed, {len(score.equivalent)} proven to change nothing, "
        f"{len(score.unexplained)} missed: {score.share:.2%}"
    )
    for each in score.equivalent:
        reason = each.equivalent.reason if each.equivalent else ""
        _say(f"  changes nothing: {each.pointer}: {each.operator}: {reason}")
    missed = [f"{each.pointer}: {each.operator}" for each in score.unexplained]
    for line in missed:
        _say(f"  missed: {line}")
    return missed


def _write(out: Path, made: dict[str, tuple[Vector, ...]], known: dict[str, Any], revisions: Revisions) -> list[str]:
    from ..write import Change, replace_files
    from .files import SUMMARY, file_name, summary, summary_text, text

    summaries = {**known, **{name: summary(found) for name, found in made.items()}}
    ordered = {each.name: summaries[each.name] for each in revisions.all if each.name in summaries}
    files = {file_name(name): text(found) for name, found in made.items()}
    (count,) = replace_files([Change(out.resolve(), {**files, SUMMARY: summary_text(ordered)})])
    _say(f"{out}: {f'{count} of {len(files) + 1} files changed' if count else 'up to date'}")
    return []


def _compare(out: Path, made: dict[str, tuple[Vector, ...]], known: dict[str, Any]) -> list[str]:
    from .files import SUMMARY, file_name, summary, text

    stale = [f"{out / SUMMARY}: {name!r} differs" for name, found in made.items() if known.get(name) != summary(found)]
    for name, found in made.items():
        file = out / file_name(name)
        if file.is_file() and file.read_bytes() != text(found).encode():
            stale.append(f"{file}: differs")
    for line in stale:
        _say(line)
    if stale:
        _say(f"To make them follow the schema, run: dsh-codegen vectors --out {out}")
    return stale


def _say(line: str) -> None:
    click.echo(harmless(line))
