"""`dsh-runtime`: a runtime without a model service, for tests and demonstrations.

It speaks the SDK protocol on standard input and output, over the host of `dsh_runtime.embedded`, and takes the command line of
the runtime that it stands in for. Exit codes: see `server.process`; 2 for a command line or an environment it can't use.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

PROFILES = {"sdk": True, "sdk-minimal": False}
"""Profile names, and whether they read DSH_MAX_TOKENS_AS_SUCCESS (rule S154)."""


def _exit_quietly(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    signal.signal(signal.SIGTERM, _exit_quietly)  # until the event loop takes over
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _run(argv: list[str]) -> int:
    import argparse
    from pathlib import Path

    from .embedded import echo
    from .server import REVISIONS

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            self.exit(2, f"{self.prog}: {message}\n")

    parser = Parser(
        prog="dsh-runtime",
        description=_DESCRIPTION,
        epilog=echo.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--profile", default="sdk", choices=PROFILES, metavar="NAME", help="sdk (default) or sdk-minimal")
    parser.add_argument("--patch", action="append", default=[], metavar="FILE", help="a file that must exist; has no effect")
    parser.add_argument(
        "--revision",
        default=os.environ.get("DSH_REVISION") or "0.1.5",
        metavar="NAME",
        help=f"one of {', '.join(REVISIONS)}; without it $DSH_REVISION, then 0.1.5",
    )
    parser.add_argument(
        "--capture",
        default=os.environ.get("DSH_CAPTURE"),
        metavar="FILE",
        help="append every frame to FILE, for dsh-codegen validate; without it $DSH_CAPTURE",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    options = parser.parse_args(argv)
    if options.version:
        print(f"dsh-runtime {_version()}")  # noqa: T201
        return 0
    if options.revision not in REVISIONS:
        parser.error(f"no revision {options.revision!r}; there are {', '.join(REVISIONS)}")
    if not os.environ.get("DSH_HOME"):
        parser.error("DSH_HOME has to name a directory")
    try:
        max_tokens_as_success = _max_tokens_as_success(options.profile)
        for patch in options.patch:
            Path(patch).read_bytes()
        if options.capture:
            Path(options.capture).open("ab").close()
    except (OSError, ValueError) as error:
        print(f"dsh-runtime: the runtime failed to load: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return _serve(options.profile, options.revision, options.capture, max_tokens_as_success=max_tokens_as_success)


def _serve(profile: str, revision: str, capture: str | None, *, max_tokens_as_success: bool) -> int:
    import asyncio

    from .capture import CaptureLog
    from .embedded import EchoAdapter, EmbeddedHost
    from .server import DEEPSEEK, serve_stdio

    host = EmbeddedHost(revision, profile=profile)
    log = CaptureLog(capture, "server") if capture else None
    try:
        return asyncio.run(
            serve_stdio(
                host,
                revision=revision,
                max_tokens_as_success=max_tokens_as_success,
                mount=lambda: EchoAdapter(DEEPSEEK),
                observer=log,
            )
        )
    finally:
        if log is not None:
            log.close()


def _max_tokens_as_success(profile: str) -> bool:
    """Rule S154. Raises `ValueError`."""
    if not PROFILES[profile]:
        return False
    text = os.environ.get("DSH_MAX_TOKENS_AS_SUCCESS") or "true"
    if text not in ("true", "false"):
        raise ValueError(f"DSH_MAX_TOKENS_AS_SUCCESS is true or false, not {text!r}")
    return text == "true"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dsh-protocol")
    except PackageNotFoundError:  # run from a source tree
        return "0 (not installed)"


_DESCRIPTION = """\
A runtime that speaks the DeepSeek Harness SDK protocol on standard input and output, with an offline model that echoes.
DSH_HOME has to be set, as for any runtime; nothing is written there. The providers are echo and deepseek-official, and both
echo. It exits after the shutdown request, at the end of its input, and on SIGTERM (code 0) or SIGINT (code 130).
"""

if __name__ == "__main__":
    sys.exit(main())
