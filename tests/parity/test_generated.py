"""The emitted texts as they are, through the command line; and one change of every class, through files."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from dsh_codegen.cli import main
from dsh_codegen.parity.command import FORMATS
from dsh_codegen.parity.difference import CATEGORIES

ROOT: Final = Path(__file__).parents[2]
HEAD: Final = "v0_2_1"
REVISION: Final = "0.2.1"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the generated files of one revision, and a configuration beside them."""
    for folder in ("generated/python/dsh_protocol", "generated/typescript"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = re.search(r"\[tool\.dsh-codegen\].*?\n\n", settings, re.DOTALL)
    assert table is not None
    (tmp_path / "pyproject.toml").write_text(table[0], encoding="utf-8")
    return tmp_path


def parity(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["parity", "--config", str(project / "pyproject.toml"), *arguments])


def test_all_revisions_agree() -> None:
    result = CliRunner().invoke(main, ["parity", "--config", str(ROOT / "pyproject.toml")])
    assert result.exit_code == 0, result.output
    assert all("agree" in line for line in result.output.splitlines())


def edited(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text, old
        return text.replace(old, new, 1)

    return change


def bundle(change: Callable[[dict[str, Any]], None]) -> Callable[[str], str]:
    def run(text: str) -> str:
        value = json.loads(text)
        change(value)
        return json.dumps(value, indent=1)

    return run


PYTHON: Final = f"generated/python/dsh_protocol/{HEAD}"
TYPESCRIPT: Final = f"generated/typescript/{HEAD}.d.ts"
NAME: Final = 'name: str = field(metadata={"wire": "name"})\n    """Display name of the file."""'
TEXT: Final = '    text: str = field(metadata={"wire": "text"})\n'  # the first of them
BLOCKS: Final = ("SdkPromptContentBlock[];", "SdkPromptContentBlock;")
CHANGES: Final = {
    "definition": ("FileBlock", "", TYPESCRIPT, edited("interface FileBlock {", "interface FileBlocks {")),
    "member": ("ReasoningBlock", ".text", f"{PYTHON}/content.py", edited(TEXT, "    pass\n")),
    "required": ("FileAttachmentRef", ".name", TYPESCRIPT, edited("  name: string;", "  name?: string;")),
    "nullable": ("FileAttachmentRef", ".name", f"{PYTHON}/content.py", edited(NAME, NAME.replace("str", "str | None", 1))),
    "type": ("FileAttachmentRef", ".name", f"{PYTHON}/content.py", edited(NAME, NAME.replace("str", "int", 1))),
    "literals": ("ImageMediaType", "", TYPESCRIPT, edited('| "image/gif"', '| "image/bmp"')),
    "arms": ("ContentBlock", "", f"{PYTHON}/content.py", edited("    | ReasoningBlock\n", "")),
    "discriminator": ("TextBlock", ".type", TYPESCRIPT, edited('type: "text";', 'type: "txt";')),
    "open": ("TurnEndReason", "", f"{PYTHON}/schema.json", bundle(lambda b: b["$defs"]["TurnEndReason"].pop("x-open"))),
    "array": ("SessionPromptParams", ".contentBlocks", TYPESCRIPT, edited(*BLOCKS)),
    "map": ("UnknownEventData", "", f"{PYTHON}/event.py", edited("Data: TypeAlias = dict[str, Any]", "Data: TypeAlias = str")),
    "method": ("shutdown", "", TYPESCRIPT, edited("  shutdown: {", "  shutDown: {")),
    "sender": ("shutdown", "", f"{PYTHON}/schema.json", bundle(lambda b: b["x-methods"][6].update(sender="server"))),
    "params": ("session/wait", "", f"{PYTHON}/methods.py", edited('"Request[SessionWaitParams', '"Request[X')),
    "result": ("session/wait", "", TYPESCRIPT, edited("result: SessionWaitResult;", "result: ShutdownResult;")),
}  # fmt: skip


@pytest.mark.parametrize("category", CHANGES)
def test_one_change_in_a_file_is_named(project: Path, category: str) -> None:
    definition, path, file, change = CHANGES[category]
    target = project / file
    target.write_text(change(target.read_text(encoding="utf-8")), encoding="utf-8")
    result = parity(project, "--revision", REVISION, "--format", "json")
    assert result.exit_code == 1, result.output
    found = {
        (each["definition"], each["path"], each["class"]) for each in json.loads(result.output)["revisions"][0]["differences"]
    }
    assert (definition, path, category) in found
    assert {each for each in found if each[:2] == (definition, path)} == {(definition, path, category)}


def test_every_class_has_a_change() -> None:
    assert CHANGES.keys() == CATEGORIES.keys() - {"unread"}


@pytest.mark.parametrize("format_", FORMATS)
def test_formats(project: Path, format_: str) -> None:
    target = project / PYTHON / "content.py"
    target.write_text(edited(NAME, NAME.replace("str", "int", 1))(target.read_text(encoding="utf-8")), encoding="utf-8")
    result = parity(project, "--revision", REVISION, "--format", format_)
    assert result.exit_code == 1
    assert "FileAttachmentRef" in result.output
    assert "client->server" in result.output.replace("&gt;", ">")
    if format_ in CHECKS:
        CHECKS[format_](result.output)


def check_sarif(text: str) -> None:
    """What SARIF 2.1.0 requires, and what its readers rely on."""
    value = json.loads(text)
    assert value["version"] == "2.1.0"
    assert value["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert [rule["id"] for rule in rules] == [f"parity/{name}" for name in CATEGORIES]
    assert run["results"]
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["level"] in ("error", "warning", "note")
        assert each["message"]["text"]
        for location in each["locations"]:
            assert location["logicalLocations"][0]["fullyQualifiedName"]
            physical = location["physicalLocation"]
            assert physical["region"]["startLine"] >= 1
            assert re.fullmatch(r"file:///\S+|[^\s:/][^\s:]*", physical["artifactLocation"]["uri"])


def check_junit(text: str) -> None:
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    suites = root.findall("testsuite")
    for suite in suites:
        cases = suite.findall("testcase")
        assert len(cases) == int(suite.get("tests", "")) == len(CATEGORIES)
        assert len(suite.findall("testcase/failure")) == int(suite.get("failures", "")) == 1
        assert all(case.get("name") and case.get("classname") for case in cases)
    assert int(root.get("tests", "")) == sum(len(suite.findall("testcase")) for suite in suites)


def check_github(text: str) -> None:
    (line,) = [line for line in text.splitlines() if line.startswith("::")]
    assert re.fullmatch(r"::error file=[^,]+,line=\d+,title=parity%3A type::.+", line)


def test_the_line_shown_is_that_of_the_side_which_is_alone(project: Path) -> None:
    target = project / TYPESCRIPT
    target.write_text(edited("  name: string;", "  name?: string;")(target.read_text(encoding="utf-8")), encoding="utf-8")
    (line,) = [line for line in parity(project, "--format", "github").output.splitlines() if line.startswith("::")]
    assert f"{HEAD}.d.ts,line=" in line


def check_json(text: str) -> None:
    (revision,) = json.loads(text)["revisions"]
    (found,) = revision["differences"]
    assert found["texts"] == {"schema": "string", "python": "integer", "typescript": "string"}
    assert found["between"] == [["schema", "python"], ["python", "typescript"]]
    assert found["breaks"] == ["client->server", "server->client"]
    assert found["pointer"] == "#/$defs/FileAttachmentRef/properties/name"
    assert found["places"]["python"]["line"] > 1


CHECKS: Final[dict[str, Callable[[str], None]]] = {
    "sarif": check_sarif, "junit": check_junit, "github": check_github, "json": check_json,
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--revision", "0.2.2"), "did you mean '0.2.1'?"),
        (("--names", "x.json"), "--names is for types of others"),
        (("--role", "client"), "--role is for types of others"),
        (("--python", "no_such_module_here"), "there is no module"),
        (("--typescript", "nowhere"), "there is no such file or folder"),
    ],
)
def test_unusable_input(project: Path, arguments: tuple[str, ...], message: str) -> None:
    result = parity(project, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_broken_texts_are_unusable(project: Path) -> None:
    (project / TYPESCRIPT).write_text("export interface {{{", encoding="utf-8")
    assert parity(project).exit_code == 2
    (project / PYTHON / "content.py").write_text("class (", encoding="utf-8")
    assert parity(project).exit_code == 2
    (project / PYTHON / "schema.json").write_text("[]", encoding="utf-8")
    assert parity(project).exit_code == 2
