"""SARIF 2.1.0: one run of one tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from .files import uri
from .text import ascii_json

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def document(run: Mapping[str, Any]) -> dict[str, Any]:
    """A log with that run."""
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def run(driver: Mapping[str, Any]) -> dict[str, Any]:
    """A run of that tool, without its results."""
    return {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}


def location(file: str | None, line: int | None, logical: str) -> dict[str, Any]:
    """A place: a line of a file (None: no file, or the whole of it), and what is meant there by its name."""
    place: dict[str, Any] = {}
    if file is not None:
        region = {} if line is None else {"region": {"startLine": max(line, 1)}}
        place["physicalLocation"] = {"artifactLocation": {"uri": uri(file)}, **region}
    return {**place, "logicalLocations": [{"fullyQualifiedName": logical, "kind": "member"}]}


def write(stream: TextIO, run: Mapping[str, Any], results: Iterable[Mapping[str, Any]]) -> None:
    """A log with that run, a result a line: the results need not be in memory together."""
    head, _, tail = ascii_json(document({**run, "results": []})).rpartition("[]")
    stream.write(f"{head}[")
    separator = "\n"
    for result in results:
        stream.write(separator + ascii_json(result))
        separator = ",\n"
    stream.write(f"]{tail}\n")
