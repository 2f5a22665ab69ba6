"""The command `validate`: files in, a report out, an exit status that says whether there is anything to do.

Nothing heavy is imported until it runs, so that listing the commands stays quick.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

import click
from msgspec import Struct

from ..errors import ConfigError, OutputError
from .formats import FORMATS, LIVE
from .groups import LISTED
from .rows import MAX_LINE
from .wording import did_you_mean, listing, show

if TYPE_CHECKING:
    from .arguments import Opener
    from .engine import Work
    from .envelope import Envelope
    from .findings import Finding
    from .plan import Join, Log
    from .report import Report
    from .run import Workers
    from .setup import Setup

AUTO: Final = "auto"
INTERRUPTED: Final = 130
FEW: Final = 256 * 1024
"""Bytes up to which the quick lane is not worth the 30 ms that it takes to make."""
WORTH_IT: Final = 32 * 1024 * 1024
"""Bytes from which on other processes are worth their start."""


@click.command("validate", short_help="Judge logs of frames by the protocol.")
@click.option(
    "--revision", default=AUTO, show_default=True, metavar="NAME|auto", help="Judge by this one; auto: the log tells."
)
@click.option("--format", "format_", default="text", show_default=True, type=click.Choice(FORMATS), help="Form of the report.")
@click.option("--strict", is_flag=True, help="Report undeclared members too, and make errors of warnings.")
@click.option("--report", "observe", is_flag=True, help="Add what the schema does not say: see below. Slower.")
@click.option(
    "--join",
    default="file",
    show_default=True,
    type=click.Choice(("file", "directory", "all")),
    help="Which files continue each other as one log.",
)
@click.option("--frame-path", metavar="POINTER", help="Where the frame stands in each line, if not as above. Slower.")
@click.option("--dir-path", metavar="POINTER", help="With --frame-path: where the line says who sent it.")
@click.option("--c2s", multiple=True, metavar="WORD", help="With --dir-path: what stands for c2s there, too. Repeatable.")
@click.option("--s2c", multiple=True, metavar="WORD", help="Likewise for s2c.")
@click.option("--follow", is_flag=True, help="Go on with what is appended to the files, until Ctrl-C.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that work side by side.  [default: one a core]")
@click.option("--engine", default="local", show_default=True, type=click.Choice(("local", "dask")), help="Who does the work.")
@click.option("--scheduler", metavar="ADDRESS", help="With --engine dask: the cluster; without it, one is started here.")
@click.option(
    "--max-line", default=MAX_LINE, show_default=True, type=click.IntRange(1), metavar="BYTES", help="Longest line read."
)
@click.option(
    "--max-findings",
    default=LISTED,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Findings listed of each kind; all are counted.",
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The pyproject.toml that names the schema.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.pass_context
def validate(ctx: click.Context, /, **given: Any) -> None:
    """Judge the frames in each FILE by the protocol and say which break it, where and why.

    A FILE is a log, plain or packed with gzip or zstd; a directory of logs; a quoted pattern; a URL (s3://...); or - for the
    standard input. Each of its lines is a frame or a row of a capture, {"ts", "dir", "frame"}.

    Of other lines --frame-path and --dir-path tell where in them the frame and its direction stand, as JSON Pointers. If a log
    that a client wrote says "out" for what it sent: --frame-path /msg --dir-path /way --c2s out --s2c in

    --report adds what is not declared but seen, what is declared but never seen, sizes, rates and latencies of methods, and
    sessions with their turns.

    Exit status: 0 no error, 1 errors, 2 unusable input or usage, 130 interrupted.
    """
    try:
        status = _run(Options(**given))
    except KeyboardInterrupt:  # before there was anything to report
        click.echo("interrupted", err=True)
        status = INTERRUPTED
    ctx.exit(status)


class Options(Struct, frozen=True, kw_only=True):
    """What the command line says."""

    revision: str
    format_: str
    strict: bool
    observe: bool
    join: Join
    frame_path: str | None
    dir_path: str | None
    c2s: tuple[str, ...]
    s2c: tuple[str, ...]
    follow: bool
    jobs: int | None
    engine: str
    scheduler: str | None
    max_line: int
    max_findings: int
    config: Path | None
    files: tuple[str, ...]


def _run(options: Options) -> int:
    """The exit status, after the report is written."""
    from ..bundles import find_package, load_bundles, load_sequencing_table
    from .plan import plan

    _check(options)
    envelope = _envelope(options)
    package = find_package(options.config)
    bundles, table = load_bundles(package), load_sequencing_table(package)
    names = [name for name, _ in bundles]
    opener = _opener(options.files)
    logs = plan(options.files, options.join, opener)
    setups = _setups(bundles, table, _chosen(names, options.revision), options, opener, envelope, quick=_size(logs) > FEW)
    report = _followed(setups, logs, options) if options.follow else _inspected(setups, logs, options)
    if report.partial is not None:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    return 1 if report.summary.errors else 0


def _check(options: Options) -> None:
    """Refuse options that don't go together."""
    if options.scheduler is not None and options.engine != "dask":
        raise click.UsageError("--scheduler goes with --engine dask")
    if options.dir_path is not None and options.frame_path is None:
        raise click.UsageError("--dir-path goes with --frame-path")
    if (options.c2s or options.s2c) and options.dir_path is None:
        raise click.UsageError("--c2s and --s2c go with --dir-path")
    if not options.follow:
        return
    if options.format_ not in LIVE:
        raise click.UsageError(f"--follow tells findings as they come: it goes with --format {listing(LIVE, 'or')}")
    if options.engine != "local":
        raise click.UsageError("--follow goes with the local engine")


def _envelope(options: Options) -> Envelope | None:
    """Where frames stand in the lines; None: where they usually do."""
    if options.frame_path is None:
        return None
    from .envelope import Envelope, pointer, words

    try:
        direction = None if options.dir_path is None else pointer(options.dir_path)
        return Envelope(pointer(options.frame_path), direction, words(options.c2s, options.s2c))
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _chosen(names: Sequence[str], revision: str) -> Sequence[str]:
    if revision == AUTO:
        return names
    if revision not in names:
        hint = did_you_mean(revision, [*names, AUTO])
        raise ConfigError(f"there is no revision {show(revision)}; there are {listing(names)}, and {AUTO}{hint}")
    return [revision]


def _opener(files: Iterable[str]) -> Opener | None:
    from .arguments import is_url

    if not any(map(is_url, files)):
        return None
    from .remote import opener

    return opener()


def _setups(
    bundles: Sequence[tuple[str, Any]],
    table: Any,
    chosen: Sequence[str],
    options: Options,
    opener: Opener | None,
    envelope: Envelope | None,
    *,
    quick: bool,
) -> list[Setup]:
    from .protocol import protocols
    from .sequencing import EMPTY, load_sequencings
    from .setup import Setup

    sequencings = [EMPTY] * len(chosen) if table is None else load_sequencings(table, chosen)
    return [
        Setup(
            protocol,
            sequencing,
            strict=options.strict,
            observe=options.observe,
            quick=quick,
            max_line=options.max_line,
            listed=options.max_findings,
            opener=opener,
            envelope=envelope,
        )
        for protocol, sequencing in zip(protocols(bundles, chosen), sequencings, strict=True)
    ]


def _inspected(setups: Sequence[Setup], logs: Sequence[Log], options: Options) -> Report:
    from .engine import collect_rarely
    from .formats import renderer
    from .run import Run

    collect_rarely()
    with _progress(logs) as advance:
        report = Run(setups, _workers(options, logs), lambda work, _: advance(work)).over(logs)
    with _standard_output() as stream:
        renderer(options.format_)(report, stream)
    return report


def _followed(setups: Sequence[Setup], logs: Sequence[Log], options: Options) -> Report:
    """Findings are written as they come, the rest of the report when somebody has seen enough."""
    from .engine import growing
    from .formats import live
    from .run import Run

    listing_of, rest_of = live(options.format_)
    with _standard_output() as stream:
        write = listing_of(stream)

        def tell(_work: Work, findings: Iterable[Finding]) -> None:
            write(findings)
            stream.flush()

        report = Run(setups, None, tell).following(logs, growing(logs, setups[0]))
        rest_of(report, stream)
    return report


def _workers(options: Options, logs: Sequence[Log]) -> Workers | None:
    """Who is to help; None if it is not worth while."""
    if options.engine == "dask":
        from .cluster import workers

        return workers(options.scheduler, options.jobs, lambda sentence: click.echo(sentence, err=True))
    count = options.jobs or cores()
    if count == 1 or _size(logs) < WORTH_IT:
        return None
    from .workers import Processes

    return Processes(count, _lost)


def _size(logs: Sequence[Log]) -> float:
    """Bytes of the logs on the disk; infinite if that is not known."""
    return sum(math.inf if file.size is None else file.size for log in logs for file in log.files)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _lost() -> None:
    click.echo("a worker process was killed (is there enough memory?); going on with one process", err=True)


@contextmanager
def _progress(logs: Sequence[Log]) -> Generator[Callable[[Work], None]]:
    """A progress bar on the terminal, gone when the work is done; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    files = [file for log in logs for file in log.files]
    known = all(file.kind == "plain" and file.size is not None for file in files)
    total = sum(file.size or 0 for file in files) if known else None
    columns = (TextColumn("validate"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    bar = progress.add_task("validate", total=total)

    def advance(work: Work) -> None:
        progress.start()  # not before something is done: workers can't be forked beside the bar's thread
        progress.advance(bar, work.size)

    try:
        yield advance
    finally:
        progress.stop()


def _nothing(_work: Work) -> None:
    """Nobody looks at it."""


@contextmanager
def _standard_output() -> Generator[TextIO]:
    """Standard output for a report. A reader that closed its end has read enough: that is no error."""
    stream: TextIO = sys.stdout
    reconfigure: Any = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")  # a narrow encoding must not lose the report
    try:
        yield stream
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
