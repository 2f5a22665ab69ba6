"""The command `validate`: files in, a report out, an exit status that says whether there is anything to do.

Nothing heavy is imported until it runs, so that listing the commands stays quick.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

from ..errors import ConfigError, OutputError
from .rows import MAX_LINE, InputError, Source
from .wording import did_you_mean, escape, listing, show

if TYPE_CHECKING:
    from .report import Report
    from .revision import Log

AUTO: Final = "auto"
STDIN: Final = "-"
FORMATS: Final = ("text", "json")
INTERRUPTED: Final = 130
_STEP: Final = 1 << 18  # bytes between two updates of the progress bar


@click.command("validate", short_help="Judge logs of frames by the protocol.")
@click.option(
    "--revision", default=AUTO, show_default=True, metavar="NAME|auto", help="Judge by this one; auto: the log tells."
)
@click.option("--format", "format_", default="text", show_default=True, type=click.Choice(FORMATS), help="Form of the report.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The pyproject.toml that names the schema.")
@click.option("--strict", is_flag=True, help="Report members that the schema does not declare, too.")
@click.option(
    "--max-line", default=MAX_LINE, show_default=True, type=click.IntRange(1), metavar="BYTES", help="Longest line read."
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.pass_context
def validate(
    ctx: click.Context, revision: str, format_: str, config: Path | None, strict: bool, max_line: int, files: tuple[str, ...]
) -> None:
    """Judge the frames in each FILE by the protocol and say which break it, where and why.

    A line of a FILE is a frame or a row of a capture, {"ts", "dir", "frame"}; - is the standard input.

    Exit status: 0 clean, 1 findings, 2 unusable input or usage.
    """
    from ..bundles import load_bundles

    del config  # `load_bundles` finds it in the context
    try:
        for file in files:
            _check_readable(file)
        status = _run(load_bundles(ctx), revision, format_, files, strict=strict, max_line=max_line)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        status = INTERRUPTED
    ctx.exit(status)


def _run(
    bundles: Sequence[tuple[str, Any]], revision: str, format_: str, files: Sequence[str], *, strict: bool, max_line: int
) -> int:
    """The exit status, after the report is written."""
    from .protocol import protocols
    from .revision import inspected

    judged_by = protocols(bundles, _chosen([name for name, _ in bundles], revision))
    with ExitStack() as stack:
        with _progress(files) as advance:
            logs = [_log(file, advance) for file in files]
            report = stack.enter_context(inspected(logs, judged_by, strict=strict, max_line=max_line))
        _write(report, format_)
        return 1 if report.summary.findings else 0


def _chosen(names: Sequence[str], revision: str) -> Sequence[str]:
    if revision == AUTO:
        return names
    if revision not in names:
        hint = did_you_mean(revision, [*names, AUTO])
        raise ConfigError(f"there is no revision {show(revision)}; there are {listing(names)}, and {AUTO}{hint}")
    return [revision]


def _check_readable(file: str) -> None:
    """Refuse what can be seen to be unusable before any work is done. A pipe is opened once only, later."""
    if file == STDIN:
        return
    try:
        mode = Path(file).stat().st_mode
        if stat.S_ISREG(mode):
            Path(file).open("rb").close()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{escape(file)}: {reason}") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{escape(file)}: it is a directory; name the logs in it")


def _log(file: str, advance: Callable[[int], None] | None) -> Log:
    from .revision import Log

    @contextmanager
    def opened() -> Generator[Source]:
        with nullcontext(_stdin()) if file == STDIN else Path(file).open("rb") as source:
            yield source if advance is None else _Watched(source, advance)

    return Log("<stdin>" if file == STDIN else file, opened)


def _stdin() -> Source:
    buffer: Any = sys.stdin.buffer  # declared without `peek`, and without one where a test put something else in its place
    return buffer if hasattr(buffer, "peek") else io.BufferedReader(buffer)


class _Watched:
    """A source that tells how far it was read."""

    def __init__(self, source: Source, advance: Callable[[int], None]) -> None:
        self._source = source
        self._advance = advance
        self._untold = 0

    def peek(self, size: int, /) -> bytes:
        return self._source.peek(size)

    def readline(self, size: int, /) -> bytes:
        line = self._source.readline(size)
        self._untold += len(line)
        if self._untold >= _STEP or not line:
            self._advance(self._untold)
            self._untold = 0
        return line


@contextmanager
def _progress(files: Sequence[str]) -> Generator[Callable[[int], None] | None]:
    """A progress bar on the terminal, gone when the work is done; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    sizes = [Path(file).stat() for file in files if file != STDIN]
    known = len(sizes) == len(files) and all(stat.S_ISREG(size.st_mode) for size in sizes)
    total = sum(size.st_size for size in sizes) if known else None
    columns = (TextColumn("validate"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("validate", total=total)
        yield lambda size: progress.advance(task, size)


def _write(report: Report, format_: str) -> None:
    """The report on standard output. A reader that closed its end has read enough: that is no error."""
    from .render import RENDERERS

    stream: TextIO = sys.stdout
    reconfigure: Any = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")  # a narrow encoding must not lose the report
    try:
        RENDERERS[format_](report, stream)
        stream.flush()
    except BrokenPipeError:
        _silence(stream.fileno())
    except OSError as error:
        _silence(stream.fileno())
        raise OutputError(f"the report can't be written: {error.strerror or error}") from error


def _silence(descriptor: int) -> None:
    """Let what is still buffered go nowhere, or the interpreter would complain about it when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
