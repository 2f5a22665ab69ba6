"""The bench itself works: each contender does each scenario, with tiny counts. No time is asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench.plan import AIMS, SECTIONS
from tests.bench.table import print_report
from tests.bench.worker import CONTENDERS

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-bench" / "bin" / "python"
OWN = {name for name, place in CONTENDERS.items() if place.startswith(("ours:", "raw:"))}
TINY = {"seq": (3, 0), "pipe": (1, 0), "flood": (50, 263), "slow": (0, 0)}
PAIRS = sorted({(name, section.scenario.kind) for section in SECTIONS for name in section.contenders})
LIMIT = 120.0
"""Seconds for a run. None takes that long unless something is wrong."""


def python(*, peers: bool) -> str:
    """An interpreter that has what is asked for."""
    if not peers:
        return sys.executable
    if not (PEERS.parents[1] / "stamp").exists():
        pytest.skip("there is nobody to compare with: run `make bench`")
    return str(PEERS)


def run(interpreter: str, *command: str) -> Any:
    path = {"PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT / 'generated' / 'python'}"}
    done = subprocess.run(
        [interpreter, *command], cwd=ROOT, env=path, capture_output=True, encoding="utf-8", check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_a_contender(name: str, kind: str) -> None:
    counts = map(str, TINY[kind])
    found = run(python(peers=name not in OWN), "-m", "tests.bench.worker", name, kind, *counts)
    assert found.keys() == {"seconds", "cpu", "memory"}


def test_the_codecs() -> None:
    code = "import json; from tests.bench import codecs; print(json.dumps(codecs.measure(rounds=1, repeat=1)))"
    assert len(run(python(peers=True), "-c", code)) == 1


def test_the_imports() -> None:
    code = "import json; from tests.bench import imports; print(json.dumps(imports.measure(imports.OURS)))"
    assert run(sys.executable, "-c", code)["schema libraries"] == 0


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"seconds": 1.0, "cpu": 1.0, "memory": 1_000_000, "units": 1000}
    data: dict[str, Any] = {section.name: dict.fromkeys(section.contenders, row) for section in SECTIONS}
    data["imports"] = {"dsh_runtime.aio": {"import ms": 50.0, "first decode ms": 500.0, "schema libraries": 0}}
    print_report("a machine", list(SECTIONS), [data, data], [{"orjson.loads alone": 1.0, "parse and typed decode": 2.0}])
    lines = capsys.readouterr().out.splitlines()
    verdicts = [line for line in lines if line.startswith("  aim: ")]
    assert len(verdicts) == len(AIMS)
    assert "  aim: first decode of an event in a fresh process, ms <= 120: 500.00 [500.00..500.00]  MISSED" in lines
    assert "  aim: parse and typed decode / orjson.loads alone >= 0.4: 0.50 [0.50..0.50]  met" in lines
