"""The CI recipes do what they say: their own steps are run on a copy of this repository, clean and then edited by hand.

Steps run as written. Only pip is kept from the network, and steps that name an action of someone else are looked at, not run.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml

from tests.packaging.sandbox import OFFLINE_PIP, ROOT, Sandbox

pytestmark = pytest.mark.xdist_group("recipes")  # one worker, since the recipes share a machine

# for each check a hand-made edit that it must find: the file, and what becomes what there
EDITS: Final = {
    "dsh-codegen check": ("generated/python/dsh_protocol/__init__.py", "from __future__", "# edited by hand\nfrom __future__"),
    "dsh-codegen parity": ("generated/typescript/v0_2_1.d.ts", "  messageId: string;", "  messageId?: string;"),
}
LEFT_OUT: Final = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "node_modules", "dist")
SHELL: Final = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")


class Step(NamedTuple):
    """One command of a recipe: a script for bash, where it runs, and its variables."""

    script: str
    cwd: Path
    env: dict[str, str]


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def github(workspace: Path) -> list[Step]:
    """The steps of the composite action, with its default inputs, checked out beside the workspace."""
    action = read("action.yml")
    known = {f"inputs.{name}": spec["default"] for name, spec in action["inputs"].items()} | {"github.action_path": str(ROOT)}

    def fill(text: str) -> str:
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: known[found[1]], text)

    steps = []
    for step in action["runs"]["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression inside a script is an injection: pass it as a variable"
        env = {name: fill(value) for name, value in step.get("env", {}).items()}
        steps.append(Step(step["run"], workspace / fill(step.get("working-directory", ".")), env))
    return steps


def gitlab(workspace: Path) -> list[Step]:
    """The lines of the job, with this repository in place of the package index."""
    job = read(".gitlab/dsh-codegen.yml")["dsh-codegen"]
    assert job["variables"]["DSH_PROTOCOL"] == "dsh-protocol[codegen]"
    env = {**job["variables"], "DSH_PROTOCOL": f"{ROOT}[codegen]"}
    return [Step(line, workspace, env) for line in [*job["before_script"], *job["script"]]]


def pre_commit(workspace: Path) -> list[Step]:
    """The installation that pre-commit makes in its clone of the hook repository, then every hook."""
    hooks = read(".pre-commit-hooks.yaml")
    steps = []
    for hook in hooks:
        assert (hook["language"], hook["pass_filenames"]) == ("python", False)
        install = shlex.join(["python", "-m", "pip", "install", ".", *hook["additional_dependencies"]])
        steps += [Step(install, ROOT, {}), Step(hook["entry"], workspace, {})]
    return steps


Recipe = Callable[[Path], list[Step]]
RECIPES: Final[list[Recipe]] = [github, gitlab, pre_commit]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.mktemp("machine"), borrow=True)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT, tmp_path / "work space", ignore=LEFT_OUT)


@pytest.mark.parametrize("recipe", RECIPES)
def test_passes_on_a_clean_tree_and_fails_on_an_edited_one(recipe: Recipe, machine: Sandbox, workspace: Path) -> None:
    steps = recipe(workspace)
    for script, cwd, env in steps:
        done = machine.run(*SHELL, script, cwd=cwd, env={**OFFLINE_PIP, **env})
        assert done.returncode == 0, done.stdout + done.stderr

    for step in steps:
        if not step.script.startswith("dsh-codegen "):
            continue
        name, old, new = EDITS[" ".join(step.script.split()[:2])]
        file = workspace / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8", newline="\n")
        done = machine.run(*SHELL, step.script, cwd=step.cwd, env=step.env)
        assert done.returncode == 1, done.stdout + done.stderr
        assert (name if "check" in step.script else "SessionPromptResult") in done.stdout + done.stderr
        file.write_text(text, encoding="utf-8", newline="\n")


def test_all_recipes_run_the_same_checks(tmp_path: Path) -> None:
    def checks(recipe: Recipe) -> set[str]:
        scripts = [step.script for step in recipe(tmp_path)]
        return {" ".join(script.split()[:2]) for script in scripts if script.startswith("dsh-codegen ")}

    first, *others = [checks(recipe) for recipe in RECIPES]
    assert first
    assert others == [first, first]


def test_pre_commit_hook_runs_for_every_file_that_matters() -> None:
    tracked = [path.relative_to(ROOT).as_posix() for part in ("schema", "generated") for path in (ROOT / part).rglob("*")]
    for hook in read(".pre-commit-hooks.yaml"):
        missed = [path for path in tracked if (ROOT / path).is_file() and not re.search(hook["files"], path)]
        assert [path for path in missed if not path.endswith((".md", ".pyc"))] == []
        assert re.search(hook["files"], "pyproject.toml")
