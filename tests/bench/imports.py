"""What it takes to begin: imports, and the first decode of an event, each in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

SCHEMA_LIBRARIES: Final = ("attr", "jsonschema", "jsonschema_rs", "datamodel_code_generator", "pydantic", "referencing")

CHILD: Final = """
import asyncio, json, sys, time
module, frame, libraries = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
start = time.perf_counter()
__import__(module)
told = {"import ms": (time.perf_counter() - start) * 1000}
if frame:
    frame = json.loads(frame)
    start = time.perf_counter()
    import dsh_protocol
    dsh_protocol.decode_params(frame["method"], frame["params"])
    told["first decode ms"] = (time.perf_counter() - start) * 1000
    told["schema libraries"] = sum(library in sys.modules for library in libraries)
print(json.dumps(told))
"""

OURS: Final = "dsh_runtime.aio"
MODULES: Final = {
    OURS: OURS,
    "dsh_runtime.aio.client": "dsh_runtime.aio.client",
    "dsh_runtime.blocking": "dsh_runtime.blocking",
    "real SDK": "deepseek_harness",
    "acp": "acp",
    "mcp": "mcp",
    "pygls": "pygls.lsp.client",
    "pylsp-jsonrpc": "pylsp_jsonrpc.endpoint",
}
"""What one imports to use them."""

FRAME: Final = {
    "method": "session.event",
    "params": {"sessionId": "s", "event": {"type": "turn/start", "seq": 1, "time": 1796041688327, "data": {"turn": 1}}},
}


def measure(name: str) -> dict[str, Any]:
    """Milliseconds over `import asyncio`; for ours, those of the first decode, too."""
    command = [
        sys.executable,
        "-c",
        CHILD,
        MODULES[name],
        json.dumps(FRAME) if name == OURS else "",
        ",".join(SCHEMA_LIBRARIES),
    ]
    told: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, check=True, text=True, encoding="utf-8").stdout
    )
    return told
