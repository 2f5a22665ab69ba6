"""Types that others wrote, compared with the schema: our samples always, published packages where they are installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from dsh_codegen.cli import main
from dsh_codegen.errors import ConfigError
from dsh_codegen.parity.python_foreign import find_files
from tests.parity.peers import python_peer, typescript_peer

ROOT: Final = Path(__file__).parents[2]
SAMPLES: Final = Path(__file__).parent / "samples"
REVISION: Final = "0.2.1"
NAMES: Final = {
    "InitializeResponse": "InitializeResult",
    "_SessionPromptResponse": "SessionPromptResult",
    "_WorkingDirectoryResponse": "SessionWorkingDirectoryGetResult",
    "_EmptyResponse": "ShutdownResult",
}


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """The samples, under the names that they would have elsewhere."""
    for file in SAMPLES.glob("*.*"):
        shutil.copy(file, tmp_path / file.name.removesuffix(".sample"))
    shutil.copytree(SAMPLES / "packages", tmp_path / "node_modules")
    return tmp_path


def compared(*arguments: str, status: int = 1, revision: str = REVISION) -> dict[str, Any]:
    """The one revision of a JSON report."""
    command = ["parity", "--config", str(ROOT / "pyproject.toml"), "--revision", revision, "--format", "json", *arguments]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == status, result.output
    (found,) = json.loads(result.output)["revisions"]
    assert isinstance(found, dict)
    return found


def said(report: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Severity by place and class."""
    found = report["differences"]
    return {(f"{each['definition']}{each['path']}", each["class"]): each["severity"] for each in found}


def test_typescript_sample(samples: Path) -> None:
    report = compared("--typescript", str(samples / "types.d.ts"))
    found = said(report)
    missing = ("file", "image", "tool-addition", "tool-call", "tool-removal")
    absent = ("initialize", "session/resume", "session/working-directory/get", "session/working-directory/set", "session.event")
    assert found == {
        ("ContentBlock", "open"): "error",
        **{(f'ContentBlock<"{name}">', "arms"): "error" for name in missing},
        ('ContentBlock<"video">', "arms"): "warning",  # it passes as an unknown block
        ("ReasoningBlock.text", "required"): "error",  # a generic type with a default, found through an interface of arms
        ('SessionPromptParams.contentBlocks[]<"image">', "arms"): "error",
        ("SessionPromptResult.messageId", "nullable"): "error",
        ("SessionStatusNotification.status", "literals"): "error",
        ("SubagentStopReason", "literals"): "warning",  # open on both sides: the same strings, fewer of them known
        ("ToolSchema.deferLoading", "member"): "warning",
        **{(name, "method"): "error" for name in (*absent, "subagent.started", "subagent.finished")},
    }
    assert report["compared"]["methods"] == 4
    assert report["unmatched"] == ["Addressed", "BlockMap", "Reasoning", "SessionId", "Wide"]


def test_python_sample(samples: Path) -> None:
    (samples / "names.json").write_text('{"Text": "TextBlock", "MediaType": "ImageMediaType", "Block": "ContentBlock"}')
    report = compared("--python", str(samples / "models.py"), "--names", str(samples / "names.json"))
    missing = ("file", "image", "reasoning", "tool-addition", "tool-removal")
    assert said(report) == {
        ("ContentBlock", "open"): "error",
        **{(f'ContentBlock<"{name}">', "arms"): "error" for name in missing},
        ("ImageAttachmentRef.name", "nullable"): "error",
        ("ImageAttachmentRef.originalDimensions", "nullable"): "error",
        ("ImageDimensions.height", "type"): "error",
        ("ImageMediaType", "literals"): "error",
        ('SessionPromptParams.contentBlocks[]<"image">', "arms"): "error",
        ("SessionStatusNotification.since", "member"): "warning",
        ("TextBlock", "open"): "error",  # extra="forbid"
        ("TokenUsage.cacheReadTokens", "nullable"): "error",
        **{(f"TokenUsage.{name}", "member"): "warning" for name in ("cacheWriteTokens", "reasoningTokens", "totalTokens")},
        ("ToolCallBlock.arguments", "map"): "error",
    }
    assert report["unmatched"] == ["Camel"]


def test_a_side_that_only_sends_may_be_stricter(samples: Path) -> None:
    """A client sends prompts: fewer kinds of block are no harm there. It reads blocks as well, so ContentBlock stays broken."""
    found = said(compared("--typescript", str(samples / "types.d.ts"), "--role", "client"))
    assert found['SessionPromptParams.contentBlocks[]<"image">', "arms"] == "note"
    assert found["SessionPromptResult.messageId", "nullable"] == "note"  # it reads more than a server sends
    assert found["session/resume", "method"] == "note"
    assert found["ContentBlock", "open"] == "error"
    found = said(compared("--typescript", str(samples / "types.d.ts"), "--role", "server"))
    assert found['SessionPromptParams.contentBlocks[]<"image">', "arms"] == "error"
    assert found["SessionPromptResult.messageId", "nullable"] == "error"


def test_names(samples: Path) -> None:
    names = samples / "names.json"
    names.write_text('{"ImageAttachmentRef": null, "ToolCallBlock": null}')
    found = said(compared("--python", str(samples / "models.py"), "--names", str(names)))
    assert not any(place.startswith("ImageAttachmentRef") for place, _ in found)
    assert found["ToolCallBlock.arguments", "map"] == "error"  # not by its name, but as an arm of a prompt's blocks
    for text, message in (
        ('{"Txet": "TextBlock"}', "did you mean 'Text'?"),
        ('{"Text": "TextBlok"}', "the schema has no 'TextBlok'; did you mean 'TextBlock'?"),
        ("[]", "it must be a JSON object"),
    ):
        names.write_text(text)
        command = ["parity", "--config", str(ROOT / "pyproject.toml"), "--python", str(samples / "models.py")]
        result = CliRunner().invoke(main, [*command, "--names", str(names)])
        assert result.exit_code == 2
        assert message in result.output


def test_keys_behind_an_alias_and_types_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "types.d.ts").write_text(
        'type Keys = "type" | "text";\n'
        'type Wide = { type: "text"; text: string; more: null };\n'
        "export type TextBlock = Pick<Wide, Keys>;\n"
        'export type ReasoningBlock = Omit<Wide, Keys> & { type: "reasoning"; text: string };\n'
        "type A = B;\ntype B = A;\n"
        "export type Circle = { [K in A]: string };\n"
        "type Tree<T> = { left: Tree<T>; right: Tree<T>; leaf: Tree<Tree<T>> };\n"
        "export type Trees = Tree<string>;\n"
    )
    found = said(compared("--typescript", str(tmp_path / "types.d.ts")))
    assert found == {("ReasoningBlock.more", "member"): "error"}


def test_nothing_in_common_is_no_agreement(tmp_path: Path) -> None:
    (tmp_path / "types.d.ts").write_text("export interface Elsewhere { here: string }\n")
    command = ["parity", "--config", str(ROOT / "pyproject.toml"), "--typescript", str(tmp_path / "types.d.ts")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "nothing was compared" in result.output


def test_a_module_is_found_without_being_imported(tmp_path: Path) -> None:
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "models.py").write_text("raise SystemExit('imported')")
    assert find_files("theirs.models", [str(tmp_path)]) == [package / "models.py"]
    assert find_files("theirs", [str(tmp_path)]) == [package / "__init__.py", package / "models.py"]
    with pytest.raises(ConfigError, match=r"there is no module 'theirs\.nothing'"):
        find_files("theirs.nothing", [str(tmp_path)])


def test_the_npm_package() -> None:
    """tests/parity/REPORT.md says what each of these is."""
    peer = typescript_peer()
    report = compared("--typescript", str(peer))
    found = said(report)
    assert found["InitializeParams.reasoningEffort", "member"] == "warning"
    assert found["ServerInfo.name", "literals"] == "error"
    assert found['SessionPromptParams.contentBlocks[]<"image">', "arms"] == "error"
    methods = {"session/resume", "session/wait", "session/working-directory/get", "session/working-directory/set"}
    assert {place for place, category in found if category == "method"} == methods
    if not (peer.parent / "dsh-llm").is_dir():
        unread = {place for place, category in found if category == "unread"}
        assert unread == {"ContentBlock", "SessionEvent", "SubagentStopReason"}
        return
    assert found['ContentBlock<"tool-result">', "arms"] == "error"
    assert found["ToolResultMessage.role", "literals"] == "error"
    assert found["ReplaceSurfaceOp.endSeq", "member"] == "error"
    assert report["compared"] == {"definitions": 35, "members": 87, "methods": 7}


def test_the_models_of_the_python_sdk(tmp_path: Path) -> None:
    peer = python_peer()
    names = tmp_path / "names.json"
    names.write_text(json.dumps(NAMES))
    report = compared("--python", str(peer), "--names", str(names))
    members = ("InitializeResult.serverInfo", "ServerInfo.name", "ServerInfo.version")
    expected = {(member, category) for member in members for category in ("nullable", "required")}
    expected.add(("ServerInfo.name", "literals"))
    assert said(report) == dict.fromkeys(expected, "error")
    as_client = compared("--python", str(peer), "--names", str(names), "--role", "client", status=0)
    assert said(as_client) == dict.fromkeys(expected, "note")


BASE: Final = """
interface Base { cwd: string; provider: string; model: string }
interface Options { reasoningEffort: string; maxTokens: number }
"""


@pytest.mark.parametrize(
    "spelling",
    [
        "Base & Partial<Options>",
        "Omit<Base & Partial<Options> & { other: 1 }, 'other'>",
        "Pick<Base & { other: 1 }, 'cwd' | 'provider' | 'model'> & Partial<Options>",
        "Required<Partial<Base>> & Partial<Options>",
        "Readonly<Base> & Partial<Record<'reasoningEffort', string>> & { maxTokens?: number }",
        "{ [K in keyof Base]: Base[K] } & { [K in keyof Options]?: Options[K] }",
        "{ cwd: Base['cwd']; provider: NonNullable<string | null>; model: Exclude<string | 1, 1> } & Partial<Options>",
        "Base & { reasoningEffort?: Extract<string | boolean, string>; maxTokens?: number }",
        "Base & { reasoningEffort?: string } & { maxTokens?: number }",
    ],
)
def test_one_type_in_many_spellings(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "types.d.ts").write_text(f"{BASE}export type InitializeParams = {spelling};\n")
    assert said(compared("--typescript", str(tmp_path / "types.d.ts"), status=0)) == {}
    (tmp_path / "types.d.ts").write_text(f"{BASE}export type InitializeParams = ({spelling}) & {{ cwd: number }};\n")
    assert compared("--typescript", str(tmp_path / "types.d.ts"))["differences"]


@pytest.mark.parametrize(
    "spelling",
    [
        'type SessionStatus = "idle" | "running";',
        'enum SessionStatus { Idle = "idle", Running = "running" }',
        'declare const STATUSES: readonly ["idle", "running"]; export type SessionStatus = (typeof STATUSES)[number];',
        "type Table = { idle: 1; running: 2 }; export type SessionStatus = keyof Table;",
        'type SessionStatus = Exclude<"idle" | "running" | "gone", "gone">;',
        'type Status<T> = T | "running"; export type SessionStatus = Status<"idle">;',
    ],
)
def test_one_set_of_values_in_many_spellings(tmp_path: Path, spelling: str) -> None:
    text = spelling if "export" in spelling else f"export {spelling}"
    (tmp_path / "types.d.ts").write_text(f"{text}\n")
    assert said(compared("--typescript", str(tmp_path / "types.d.ts"), status=0)) == {}
    (tmp_path / "types.d.ts").write_text(text.replace("running", "walking"))
    found = said(compared("--typescript", str(tmp_path / "types.d.ts")))
    assert found == {("SessionStatus", "literals"): "error"}
