"""A runtime in miniature, with one fault. Run as a script: `fake_runtime.py FAULT...`; standard library only.

It answers `initialize`, `session/prompt` (with the frames of a short turn), `shutdown` and anything else. Faults are words, and
`name=value` where they need one:

    die           writes to stderr and exits with code 3 before it reads anything
    die-at=K      exits with code 7 instead of writing frame K, counted from 1
    kill-at=K     the same by SIGKILL
    mute          answers nothing but `ready`, but ends at the end of input
    deaf          does not end at the end of input
    blind         never reads its input
    lazy          answers one request and then never reads its input
    stubborn      ignores SIGTERM
    flood         writes 20,000 lines to stderr before each answer
    garbage       answers with what is no frame
    noise         writes what is no frame before each answer
    close-stdout  closes its stdout instead of answering, and stays
    refuse        answers `initialize` with an error, after a line on stderr
    refuse-once=F the same, unless the file F exists, which it then does
    orphan        leaves a child behind that keeps all pipes open
    old           speaks revision 2026-07-29
    slow          never becomes idle
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

WORDS = [word.partition("=") for word in sys.argv[1 : sys.argv.index("--profile")]]
FAULTS = {name: value for name, _, value in WORDS}
FAULTS_AT = {name: int(FAULTS[name]) for name in ("die-at", "kill-at") if name in FAULTS}
written = 0


def send(frame: dict[str, object]) -> None:
    global written
    written += 1
    if written == FAULTS_AT.get("die-at"):
        os.write(2, b"about to die\n")
        os._exit(7)
    if written == FAULTS_AT.get("kill-at"):
        os.kill(os.getpid(), signal.SIGKILL)
    os.write(1, json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")


def event(session: str, kind: str, data: dict[str, object]) -> None:
    body = {"type": kind, "seq": written, "time": 1, "data": data}
    send({"method": "session.event", "params": {"sessionId": session, "event": body}})


def prompt(ident: object, params: dict[str, object]) -> None:
    session = str(params["sessionId"])
    if "old" in FAULTS:
        event(session, "turn/end", {"turn": 1, "reason": {"kind": "completed"}})
        reason = {"kind": "completed"}
        send({"method": "session.finished", "params": {"sessionId": session, "status": "ok", "reason": reason}})
        send({"id": ident, "result": {"accepted": True}})
        return
    message = {"id": "m-1", "role": "user", "content": params["contentBlocks"], "source": {"kind": "user"}}
    event(session, "agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
    send({"method": "session.status", "params": {"sessionId": session, "status": "running"}})
    send({"id": ident, "result": {"messageId": "m-1"}})
    content = [{"type": "text", "text": "echo: "}, {"type": "text", "text": json.dumps(params["contentBlocks"])}]
    event(session, "assistant/message", {"turn": 1, "step": 1, "message": {"content": content}})
    event(session, "turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    if "slow" not in FAULTS:
        send({"method": "session.status", "params": {"sessionId": session, "status": "idle"}})


def refuse() -> bool:
    once = FAULTS.get("refuse-once")
    if once is not None and not Path(once).exists():
        Path(once).touch()
        return True
    return "refuse" in FAULTS


def answer(frame: dict[str, object]) -> None:
    ident, method, params = frame["id"], frame["method"], frame.get("params", {})
    if "flood" in FAULTS:
        sys.stderr.write("".join(f"line {number}\n" for number in range(20_000)))
    if method == "ready":
        send({"id": ident, "result": {}})
        return
    if "garbage" in FAULTS:
        os.write(1, b'\xff\xfe\x00 this is no frame\n[1, 2]\n{"id": {}}\n"text"\n')
        return
    if "noise" in FAULTS:
        os.write(1, b'Debugger listening on port 9229\n\n[]\n{"not": "a frame"}\n')
    if "close-stdout" in FAULTS:
        os.close(1)
    elif "mute" in FAULTS:
        pass
    elif method == "initialize" and refuse():
        os.write(2, b"no such model here\n")
        send({"id": ident, "error": {"code": -32603, "message": "no adapter registered"}})
    elif method == "initialize":
        send({"id": ident, "result": {"serverInfo": {"name": "deepseek-harness-sdk-runtime", "version": "0.0.1"}}})
    elif method == "session/prompt":
        prompt(ident, dict(params))  # type: ignore[call-overload]
    else:
        send({"id": ident, "result": {"params": params}})
    if method == "shutdown" and "deaf" not in FAULTS and "mute" not in FAULTS:
        sys.exit(0)


def main() -> None:
    if "orphan" in FAULTS:
        child = subprocess.Popen([sys.executable, "-ISc", "import time; time.sleep(60)"])
        os.write(2, f"orphan {child.pid}\n".encode())
    if "stubborn" in FAULTS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "die" in FAULTS:
        os.write(2, b"cannot load: no such profile\n")
        sys.exit(3)
    while "blind" in FAULTS:
        time.sleep(60)
    for line in sys.stdin.buffer:
        answer(json.loads(line))
        while "lazy" in FAULTS:
            time.sleep(60)
    while "deaf" in FAULTS:
        time.sleep(60)


main()
