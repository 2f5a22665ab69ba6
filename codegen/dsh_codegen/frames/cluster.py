"""Workers of a Dask cluster: machines that reach the files, or, for want of a cluster, processes of this machine.

A worker that dies loses nothing: the scheduler gives its work to another one.
"""

from __future__ import annotations

import importlib
import pickle
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from ..markup.text import harmless
from .arguments import is_url
from .command import cores
from .engine import Result, Submit, Task, Work, done
from .heads import InputError
from .plan import InputFile
from .setup import Setup
from .source import Piece

RETRIES: Final = 2
"""How often something that failed is tried again, on whatever worker."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster whose scheduler is at an address, or one of `jobs` processes that is started here (None: one a core).

    With an address, `jobs` is how many things are under way at a time; None: as many as the cluster has threads. `tell` gets
    sentences that somebody should see.
    """

    scheduler: str | None
    jobs: int | None
    tell: Callable[[str], None]
    ships: bool = False
    """Whether files may be sent to workers: they read them by themselves."""

    def __call__(self, setup: Setup) -> AbstractContextManager[tuple[Submit, int]]:
        """Connect, and send `setup` to the workers. Raises `CodegenError` if the cluster can't be used."""
        return _connected(self, setup)


def workers(scheduler: str | None, jobs: int | None, tell: Callable[[str], None]) -> Cluster:
    """See `Cluster`. Raises `InputError` if the extra is missing."""
    try:
        importlib.import_module("distributed")
    except ImportError as error:
        raise InputError("--engine dask needs the extra: pip install 'dsh-protocol[dask]'") from error
    return Cluster(scheduler, jobs, tell)


@contextmanager
def _connected(cluster: Cluster, setup: Setup) -> Generator[tuple[Submit, int]]:
    from .cluster_client import connection, processes, quiet
    from .cluster_worker import Begin, installed

    with ExitStack() as stack:
        stack.enter_context(quiet())
        address = cluster.scheduler
        if address is None:
            address = stack.enter_context(processes(cluster.jobs or cores()))
        client = stack.enter_context(connection(address))
        threads = sum(client.nthreads().values())
        run = f"dsh-validate-{uuid.uuid4()}"
        stack.callback(_forget, client, run)
        client.register_plugin(Begin(run, pickle.dumps(setup), installed(), cluster.scheduler is None), name=run)
        yield _Desk(cluster, setup, client, run).submit, cluster.jobs or threads


def _forget(client: Any, run: str) -> None:
    """Tell the workers that the run is over, if they are still there."""
    if client.status == "running":
        with suppress(OSError, ValueError):
            client.unregister_worker_plugin(run)


class _Desk:
    """Where work is handed in."""

    def __init__(self, cluster: Cluster, setup: Setup, client: Any, run: str) -> None:
        self.tell = cluster.tell
        self.setup = setup
        self._client = client
        self._run = run
        self._looked = cluster.scheduler is None  # whether the workers see the files that are seen here

    def submit(self, work: Work) -> Result:
        """Have some work done by a worker. What comes with its data is not worth the way: it is done here, at its turn."""
        from .cluster_worker import files, work_on

        if isinstance(work, Task) and isinstance(work.piece, Piece) and work.piece.data is not None:
            return _Ticket(self, work, None)
        first = files(work)[0]
        if not self._looked and not is_url(first.url):
            self._look(first)
        return _Ticket(self, work, self._client.submit(work_on, self._run, work, pure=False, retries=RETRIES))

    def _look(self, file: InputFile) -> None:
        """See whether the workers have the first file that is no URL."""
        from .cluster_worker import SHARE, missing

        self._looked = True
        for worker, reason in self._client.run(missing, file.url, file.size or 0).items():
            if reason is not None:
                raise InputError(f"{harmless(file.name)}: worker {worker} can't read it: {reason}{SHARE}")


@dataclass(frozen=True, slots=True)
class _Ticket:
    """Work that is under way, or, without a future, still to be done."""

    desk: _Desk
    work: Work
    future: Any

    def result(self) -> Any:
        """Raises `ClusterError` if the scheduler is lost."""
        from .cluster_worker import ClusterError

        killed: Any = importlib.import_module("distributed").KilledWorker
        if self.future is not None:
            try:
                return self.future.result()
            except killed:
                self.desk.tell(
                    "several workers died over the same piece, one after another (is there enough memory?); done here"
                )
            except CancelledError as error:
                raise ClusterError(
                    "the connection to the cluster was lost; this says nothing of the logs: try again"
                ) from error
        return done(self.desk.setup, self.work)
