"""The floor: bytes through two pipes, without JSON, without anything. Nobody can be faster."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..contender import BATCH, BlockingContender, Scenario

REQUEST = b'{"jsonrpc":"2.0","id":"req_00000000000040008000000000000000","method":"ping"}\n'


class Raw(BlockingContender):
    """Counts line feeds."""

    @contextmanager
    def connected(self, command: list[str]) -> Iterator[Callable[[], object]]:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            self._in, self._out = peer.stdout.fileno(), peer.stdin.fileno()
            self._all_here.set()
            warm_up = len(command) > len(self.peer(Scenario("seq", 1)))  # then a notification comes before the first answer
            yield lambda: self._ask(1, 1 + warm_up)
            peer.stdin.close()

    def many(self, ping: Callable[[], object]) -> None:
        self._ask(BATCH, BATCH)

    def _do(self, scenario: Scenario, ping: Callable[[], object]) -> None:
        if scenario.floods:
            self._ask(1, 1 + self.expected(scenario))
        else:
            super()._do(scenario, ping)

    def _ask(self, requests: int, lines: int) -> None:
        os.write(self._out, REQUEST * requests)
        while lines > 0:
            lines -= os.read(self._in, 64 * 1024).count(b"\n")
