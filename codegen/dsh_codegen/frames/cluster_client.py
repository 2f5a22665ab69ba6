"""A connection to a Dask cluster, and a cluster of processes for want of one."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Final

from ..markup.text import harmless
from .cluster_worker import DISTRIBUTION, ClusterError, difference

REACH: Final = 10
"""Seconds that a scheduler has to answer, and to have its first worker."""
_ADDRESS: Final = re.compile(r"((tcp|tls|ws|wss)://)?[^\s/]+:[0-9]+/?")


@contextmanager
def processes(count: int) -> Generator[str]:
    """A cluster of `count` processes that listen on the loopback interface; its address. Nothing is left behind."""
    config: Any = importlib.import_module("dask.config")
    distributed: Any = importlib.import_module("distributed")
    with (
        TemporaryDirectory(prefix="dsh-validate-") as folder,
        config.set({"temporary-directory": folder}),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # some free port; it can't be left out
            memory_limit=None,  # they need little; a limit would have Dask pause them where other programs need much
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster.scheduler_address


@contextmanager
def connection(address: str) -> Generator[Any]:
    """A client of the cluster whose scheduler is at `address`. When it is closed, what is under way is given up.

    Raises `ClusterError` if nobody answers there, or if not all machines have the same version of us and of Python.
    """
    distributed: Any = importlib.import_module("distributed")
    shown = harmless(address)
    if not _ADDRESS.fullmatch(address):
        raise ClusterError(f"{shown} is no address of a scheduler; expected tcp://HOST:PORT")
    try:
        client = distributed.Client(address, timeout=REACH, set_as_default=False, name="dsh-codegen")
    except OSError as error:
        raise ClusterError(f"no scheduler of a Dask cluster answers at {shown}: {harmless(str(error))}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=REACH)
        except TimeoutError as error:
            raise ClusterError(f"the cluster at {shown} has no workers; start some, then try again") from error
        _compare(client.get_versions(packages=[DISTRIBUTION]))
        yield client


def _compare(versions: Mapping[str, Any]) -> None:
    """Compare what must be the same before anything can be sent: Python can't read what another version of it wrote."""
    there = {"the scheduler": versions["scheduler"], **{f"worker {name}": each for name, each in versions["workers"].items()}}
    for who, each in there.items():
        unfit = difference(who, _essential(versions["client"]), _essential(each))
        if unfit is not None:
            raise ClusterError(unfit)


def _essential(versions: Mapping[str, Any]) -> dict[str, str | None]:
    packages = versions["packages"]
    return {"Python": ".".join(packages["python"].split(".")[:2]), DISTRIBUTION: packages[DISTRIBUTION]}


@contextmanager
def quiet() -> Generator[None]:
    """Dask logs each worker that comes and goes; whoever waits for a report has no use for that."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
