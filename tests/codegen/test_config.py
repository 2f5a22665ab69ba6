from __future__ import annotations

import tomllib
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest

from dsh_codegen.config import Config, find_config, load_config
from dsh_codegen.errors import ConfigError, suggestion


def settings(folder: Path, text: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(file: Path | None, **overrides: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(file, **overrides)
    return str(caught.value)


def test_an_empty_table_means_the_defaults(tmp_path: Path) -> None:
    config = load_config(settings(tmp_path, "[tool.dsh-codegen]\n"))
    assert config == Config(tmp_path / "schema", tmp_path / "generated/python", tmp_path / "generated/typescript")


def test_every_setting(tmp_path: Path) -> None:
    file = settings(
        tmp_path,
        """
        [tool.dsh-codegen]
        schema = "a/../protocol"
        python-out = "py"
        python-package = "my_protocol"
        typescript-out = "/elsewhere/ts"
        typescript-package = "@my-org/my.protocol"
        request-map = "Requests"
        notification-map = "Notifications"
        revisions = ["1", "2"]
        """,
    )
    assert load_config(file) == Config(
        schema=tmp_path / "protocol",
        python_out=tmp_path / "py",
        typescript_out=Path("/elsewhere/ts"),
        revisions=("1", "2"),
        python_package="my_protocol",
        typescript_package="@my-org/my.protocol",
        request_map="Requests",
        notification_map="Notifications",
    )


def test_settings_are_relative_to_their_file_and_options_to_the_working_directory(tmp_path: Path) -> None:
    settings(tmp_path, "[tool.dsh-codegen]\nschema = 'here'\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with chdir(below):
        config = load_config(None, python_out=Path("out"), typescript_out=Path("../ts"))
    paths = (config.schema, config.python_out, config.typescript_out)
    assert paths == (tmp_path / "here", below / "out", tmp_path / "a" / "ts")


def test_the_nearest_file_with_the_table_counts(tmp_path: Path) -> None:
    outer = settings(tmp_path, "[tool.dsh-codegen]\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    settings(inner, "[tool.other]\n")
    with chdir(inner):
        assert find_config(None) == find_config(outer)
        table = settings(inner, "[tool.dsh-codegen]\n")
        found = find_config(None)
    assert found == find_config(table)
    assert found is not None
    assert found.schema == inner / "schema"


def test_a_file_with_settings_is_read_once(tmp_path: Path) -> None:
    settings(tmp_path, "[tool.dsh-codegen]\n")
    with chdir(tmp_path), patch("tomllib.loads", wraps=tomllib.loads) as parse:
        load_config(None)
    parse.assert_called_once()


def test_a_named_file_may_have_any_name(tmp_path: Path) -> None:
    file = tmp_path / "protocol.toml"
    file.write_text("[tool.dsh-codegen]\nschema = 's'\n", encoding="utf-8")
    assert load_config(file).schema == tmp_path / "s"


def test_without_settings_the_working_directory_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    with chdir(tmp_path):
        assert load_config(None).schema == tmp_path / "schema"


def test_in_the_wrong_folder(tmp_path: Path) -> None:
    with chdir(tmp_path):
        said = refusal(None)
        assert said.startswith(f"{tmp_path}: no pyproject.toml here or above has [tool.dsh-codegen]")
        assert said.endswith("go to your project, or use --config or --schema")
        assert load_config(None, schema=Path("elsewhere")).schema == tmp_path / "elsewhere"


def test_in_a_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    with chdir(gone):
        gone.rmdir()
        assert refusal(None) == "the working directory does not exist any more; go to one that does"
        # contextlib.chdir goes back to where it came from


def test_another_schema_has_revisions_of_its_own(tmp_path: Path) -> None:
    file = settings(tmp_path, "[tool.dsh-codegen]\nrevisions = ['1']\n")
    with chdir(tmp_path):
        assert load_config(file, schema=Path("schema")).revisions == ("1",)
        assert load_config(file, schema=Path("other")).revisions == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.dsh-codegen]\npython_out = 'x'", "[tool.dsh-codegen] has no setting 'python_out'; there are schema,"),
        ("[tool.dsh-codegen]\npython_out = 'x'", "did you mean 'python-out'?"),
        ("[tool.dsh-codegen]\nzzz = 'x'", "has no setting 'zzz'; there are schema, python-out, typescript-out, revisions,"),
        ("[tool.dsh-codegen]\nschema = 3", "'schema' must be a non-empty string, not 3"),
        ("[tool.dsh-codegen]\nschema = ''", "'schema' must be a non-empty string, not ''"),
        ('[tool.dsh-codegen]\nschema = "a\\u0000b"', "'schema' must be a non-empty string, not 'a\\x00b'"),
        ("[tool.dsh-codegen]\nrevisions = '0.1'", "'revisions' must be a list of revision names, oldest first, not '0.1'"),
        ("[tool.dsh-codegen]\nrevisions = [0.1]", "'revisions' must be a list of revision names, oldest first, not [0.1]"),
        ("[tool.dsh-codegen]\npython-package = 'my-protocol'", "'python-package' must be the name of a Python package, not"),
        ("[tool.dsh-codegen]\npython-package = 'class'", "'python-package' must be the name of a Python package, not 'class'"),
        ("[tool.dsh-codegen]\npython-package = '../x'", "'python-package' must be the name of a Python package, not '../x'"),
        ("[tool.dsh-codegen]\nrequest-map = 'class'", "'request-map' must be a type name such as RequestMap, not 'class'"),
        ("[tool.dsh-codegen]\nnotification-map = 'A B'", "'notification-map' must be a type name such as"),
        ("[tool.dsh-codegen]\ntypescript-package = 'My Types'", "'typescript-package' must be the name of an npm package, not"),
        ("tool = 3", "'tool' must be a table, not 3"),
        ("[tool]\ndsh-codegen = 'schema'", "[tool.dsh-codegen] must be a table, not 'schema'"),
        ("[tool.dsh-codegen\n", "not TOML: Expected ']'"),
        ("[tool.dsh]\n", "it has no table [tool.dsh-codegen]; add one, which may be empty"),
    ],
)
def test_settings_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = settings(tmp_path, text)
    sentence = refusal(file)
    assert sentence.startswith(f"{file}: ")
    assert said in sentence


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_bytes(b"[tool.dsh-codegen]\nschema = '\xff'\n")
    assert refusal(file).startswith(f"{file}: not TOML: 'utf-8' codec can't decode")


@pytest.mark.parametrize("make", [lambda _: None, Path.mkdir], ids=["absent", "directory"])
def test_a_named_file_that_is_not_there(tmp_path: Path, make: object) -> None:
    file = tmp_path / "nothing.toml"
    assert callable(make)
    make(file)
    assert refusal(file) == f"{file}: there is no such file; --config takes a pyproject.toml"


def test_a_suggestion_lists_what_there_is() -> None:
    assert suggestion("0.1.6", ["0.1.5", "0.2.1"]) == "; there are 0.1.5, 0.2.1: did you mean '0.1.5'?"
    assert suggestion("x", ["0.1.5"]) == "; there are 0.1.5"
