"""`by_duckdb.py THREADS FILE`: count the frames of a log with DuckDB's `read_json`, which parses each row."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def main() -> None:
    threads, file = sys.argv[1:]
    library: Any = import_module("duckdb")
    database = library.connect(config={"threads": int(threads)})
    query = (
        "select count(frame), count(dir) from read_json(?, format = 'newline_delimited', maximum_object_size = 67108864,"
        " columns = {ts: 'DOUBLE', dir: 'VARCHAR', frame: 'JSON'})"
    )
    print(database.execute(query, [file]).fetchone()[0])


if __name__ == "__main__":
    main()
