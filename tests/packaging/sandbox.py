"""Virtual environments and commands apart from the one that runs the tests; nothing here needs the network."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).resolve().parents[2]
LOGS: Final = ROOT / "tests" / "fixtures" / "logs"

OFFLINE_PIP: Final = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip reads the value of this one as that of --build-isolation
    "PIP_NO_DEPS": "1",
    "PIP_NO_INDEX": "1",
}
"""Makes any `pip install` take what is on this machine: the project from its directory, its dependencies as they are."""


class Sandbox:
    """A virtual environment. With `borrow` it also sees the libraries of the one running the tests, but not the project."""

    def __init__(self, home: Path, *, borrow: bool) -> None:
        self.home = home
        venv.create(home, with_pip=False, symlinks=True)
        self.python = home / "bin" / "python"
        if borrow:
            libraries = sysconfig.get_path("purelib", vars={"base": str(home)})
            (Path(libraries) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def install(self, target: Path) -> None:
        """Install one wheel, and nothing that it depends on."""
        argv = ["-m", "pip", "--python", str(self.python), "install", "--quiet", str(target)]
        subprocess.run([sys.executable, *argv], env={**self.environment(), **OFFLINE_PIP}, check=True)

    def environment(self) -> dict[str, str]:
        """The variables of a shell in which this environment is active."""
        return {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join([str(self.home / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]),
        }

    def run(self, *argv: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in this environment; the caller judges its exit status."""
        variables = {**self.environment(), **(env or {})}
        return subprocess.run(argv, cwd=cwd, env=variables, capture_output=True, encoding="utf-8", check=False)
