"""What a worker of a Dask cluster does. It knows a run by its name; the setup of each run was sent once, ahead of the work."""

from __future__ import annotations

import hashlib
import pickle
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, cast

from distributed import WorkerPlugin, get_worker

from ..errors import CodegenError
from ..markup.text import harmless
from .engine import Task, Work, done
from .heads import InputError
from .plan import InputFile
from .setup import Setup

DISTRIBUTION: Final = "dsh-protocol"
"""What all machines must have installed, in the same version."""
_JUDGES: Final = (DISTRIBUTION, "msgspec", "jsonschema-rs", "jsonschema")  # what a verdict and its wording depend on


class ClusterError(CodegenError):
    """A cluster can't be used as it is."""


@dataclass
class Begin(WorkerPlugin):
    """Tells every worker, those too that join later, of a run. `setup` is a pickled `Setup`, `sender` the `installed` there.

    `deaf`: this worker belongs to whoever waits at the terminal, so Ctrl-C reaches it too; it is for the other to decide.
    """

    run: str
    setup_: bytes = field(repr=False)
    sender: Mapping[str, str | None]
    deaf: bool

    def setup(self, worker: Any) -> None:
        """Raises `ClusterError` if the worker would judge in another way than the sender."""
        if self.deaf and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        unfit = difference(f"worker {worker.address}", self.sender, installed())
        _runs[self.run] = ClusterError(unfit) if unfit else self.setup_
        if unfit:
            raise ClusterError(unfit)

    def teardown(self, worker: Any) -> None:  # noqa: ARG002 - the caller's business
        """Forget the run."""
        _runs.pop(self.run, None)


_runs: Final[dict[str, bytes | ClusterError]] = {}


class _Thread(threading.local):
    """What a thread judges with: nothing of it was made for two threads."""

    run = ""
    setup: Setup


_thread: Final = _Thread()


def work_on(run: str, work: Work) -> Any:
    """Do some work of a run. Raises `InputError` for a file that this worker can't read."""
    if _thread.run != run:
        setup = _runs[run]
        if isinstance(setup, ClusterError):
            raise setup
        _thread.setup, _thread.run = cast(Setup, pickle.loads(setup)), run
    try:
        return done(_thread.setup, work)
    except OSError as error:
        name = harmless(str(error.filename or files(work)[0].name))
        raise InputError(f"{name}: worker {get_worker().address} can't read it: {error.strerror or error}{SHARE}") from error


SHARE: Final = "; name files by a URL, or where all workers have them"


def files(work: Work) -> tuple[InputFile, ...]:
    """The files that some work is about."""
    return (work.file,) if isinstance(work, Task) else tuple(file for log in work.logs for file in log.files)


def missing(path: str, size: int) -> str | None:
    """Why a worker can't read a file of `size` bytes; None if it can."""
    try:
        found = Path(path).stat().st_size
        Path(path).open("rb").close()
    except OSError as error:
        return error.strerror or str(error)
    return f"there it has only {found:,} bytes, here {size:,}" if found < size else None


@cache
def installed() -> Mapping[str, str | None]:
    """What the outcome of some work depends on."""
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*.py")):
        code.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return {
        "Python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        **{name: _version(name) for name in _JUDGES},
        f"the code of {DISTRIBUTION}": code.hexdigest(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def difference(who: str, here: Mapping[str, str | None], there: Mapping[str, str | None]) -> str | None:
    """A sentence on the first thing that is not the same; None if there is no such thing."""
    for name, wanted in here.items():
        found = there.get(name)
        if found != wanted:
            has = (
                f"does not have {name}" if found is None else f"has {name} {found[:12]}, not {(wanted or 'none')[:12]} as here"
            )
            return f"{who} {has}; the report would depend on who did the work: install the same everywhere"
    return None
