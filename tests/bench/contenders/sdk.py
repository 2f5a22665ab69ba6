"""The real Python SDK, 0.2.1rc2. Its notifications are objects that hold the parsed JSON."""
# pyright: reportMissingImports=false

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from deepseek_harness import HarnessClient, HarnessConfig
from deepseek_harness.errors import TransportClosedError
from pydantic import BaseModel

from ..contender import BlockingContender


class Empty(BaseModel):
    """The result of a ping."""


class Sdk(BlockingContender):
    """`deepseek_harness.HarnessClient`"""

    @contextmanager
    def connected(self, command: list[str]) -> Iterator[Callable[[], object]]:
        client = HarnessClient(HarnessConfig(), _launch_args=tuple(command))
        with client:
            threading.Thread(target=self._read, args=(client,), daemon=True).start()
            yield lambda: client.request("ping", None, response_model=Empty)

    def _read(self, client: Any) -> None:
        try:
            while True:
                client.next_notification()
                self.took()
                if self.pause is not None:
                    time.sleep(self.pause)
        except TransportClosedError:
            return
