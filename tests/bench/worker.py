"""One measurement in a process of its own: `python -m tests.bench.worker CONTENDER KIND COUNT SIZE [CPU]`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

from .contender import Contender, Scenario, report

CONTENDERS: Final = {
    "dsh aio": "ours:Aio",
    "dsh blocking": "ours:Blocking",
    "dsh aio client": "ours:AioClient",
    "dsh blocking client": "ours:BlockingClient",
    "real SDK": "sdk:Sdk",
    "acp": "agent_client_protocol:Untyped",
    "acp typed": "agent_client_protocol:Typed",
    "mcp": "model_context_protocol:Mcp",
    "pygls": "lsp:Pygls",
    "pylsp-jsonrpc": "lsp:Pylsp",
    "raw pipe": "raw:Raw",
}
"""Module and class by name."""


def main() -> None:
    name, kind, count, size, *cpu = sys.argv[1:]
    if cpu:
        os.sched_setaffinity(0, {int(cpu[0])})  # the peer's, too
    module, cls = CONTENDERS[name].split(":")
    contender: Contender = getattr(import_module(f"{__package__}.contenders.{module}"), cls)()
    report(contender.measure(Scenario(kind, int(count), int(size))))


if __name__ == "__main__":
    main()
