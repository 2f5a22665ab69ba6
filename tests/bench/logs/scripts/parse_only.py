"""`parse_only.py msgspec|orjson|json FILE`: parse each line, untyped, and do nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def parser(name: str) -> Callable[[bytes], object]:
    """The fastest way to parse with a library."""
    if name == "msgspec":
        import msgspec

        return msgspec.json.Decoder().decode
    if name == "orjson":
        loads: Callable[[bytes], object] = import_module("orjson").loads
        return loads
    import json

    return json.loads


def main() -> None:
    parse = parser(sys.argv[1])
    with Path(sys.argv[2]).open("rb") as file:
        for line in file:
            parse(line)


if __name__ == "__main__":
    main()
