"""What `--report` adds to a report, as the formats need it: tables, and one JSON value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..observed import Observed, Table
    from ..report import Report

_NUMBER: Final = re.compile("-?|[0-9,.]+( [a-z]{1,2})?")


def tables(report: Report) -> Sequence[Table]:
    """Tables to read; none if nothing was to be observed."""
    if report.observed is None:
        return []
    from ..observed import tables as tables_of

    return list(tables_of(report.observed))


def numbers(table: Table) -> frozenset[int]:
    """The columns that hold numbers and nothing else, by index."""
    columns = enumerate(zip(*table.rows, strict=True))
    return frozenset(index for index, cells in columns if all(map(_NUMBER.fullmatch, cells)))


def as_json(observed: Observed) -> Any:
    """The same for programs."""
    from ..observed import as_json as json_of

    return json_of(observed)
