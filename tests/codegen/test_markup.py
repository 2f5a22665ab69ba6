"""What the formats of reports are made of: escaping that every reader undoes, names of files, outer shapes."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dsh_codegen.markup import github, junit, markdown, sarif
from dsh_codegen.markup.files import relative, uri
from dsh_codegen.markup.text import ascii_json, counted, harmless
from tests import public_schemas

ANYTHING = st.text(st.characters(exclude_categories=()), max_size=20)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x9b", "\\u009b"),
        ("\u202e\u2028", "\\u202e\\u2028"),
        ("\ud800\udcff", "\\ud800\\udcff"),
        ("\U000e0001", "\\U000e0001"),  # a tag, which nobody sees
        ("a\nb\t", "a\\u000ab\\u0009"),
    ],
)
def test_what_a_terminal_might_obey_is_written_as_an_escape(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_some_characters_can_be_kept() -> None:
    assert harmless("a\nb\r", keep="\n") == "a\nb\\u000d"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "\\u003a:error::x"),
        ("  ::error::x", "  \\u003a:error::x"),  # GitHub overlooks blanks
        ("\t::stop-commands::x", "\\u0009::stop-commands::x"),
        ("a ::error::x", "a ::error::x"),
        ("std::x", "std::x"),
        ("##[error]x", "\\u0023#[error]x"),
        ("a ##vso[task.complete]", "a \\u0023#vso[task.complete]"),
        ("###teamcity[x]##[y]", "#\\u0023#teamcity[x]\\u0023#[y]"),
        ("## [x]", "## [x]"),
    ],
)
def test_what_a_build_might_obey_is_written_as_an_escape(text: str, shown: str) -> None:
    assert harmless(text) == shown
    assert harmless(shown) == shown


def test_every_line_that_is_kept_is_harmless() -> None:
    assert harmless("a\n::error::b", keep="\n") == "a\n\\u003a:error::b"


def test_json_commands_no_build_and_means_the_same() -> None:
    value = {"##[error]": ["a ##vso[b] \\##[c]", "::d"]}
    assert "##" not in ascii_json(value)
    assert json.loads(ascii_json(value, indent=1)) == value


@given(ANYTHING)
def test_json_is_ascii_and_holds_no_half_characters(text: str) -> None:
    written = ascii_json({text: [text]}, indent=1)
    assert written.isascii()
    ((key, (value,)),) = json.loads(written).items()
    assert key == value
    assert value.encode("utf-8").decode("utf-8") == value
    assert value == text or re.search("[\ud800-\udfff]", text)


def test_half_a_character_is_written_out_and_a_text_that_looks_so_is_left() -> None:
    assert json.loads(ascii_json("\ud83d\ude00 \ud83d \\ud83d \\\ude00")) == "😀 \\ud83d \\ud83d \\\\ude00"


def test_numbers_have_their_noun() -> None:
    assert [counted(number, "frame") for number in (0, 1, 1204)] == ["0 frames", "1 frame", "1,204 frames"]


def test_files_below_the_working_directory_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert relative(str(tmp_path / "a" / "b.jsonl")) == "a/b.jsonl"
    assert [relative(name) for name in ("a/b", "/etc/x", "<stdin>", "s3://b/k")] == ["a/b", "/etc/x", "<stdin>", "s3://b/k"]
    assert uri(str(tmp_path / "a b.jsonl")) == "a%20b.jsonl"
    assert uri("../x") == tmp_path.parent.joinpath("x").as_uri()
    assert uri("..") == tmp_path.parent.as_uri()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logs/a.jsonl", "logs/a.jsonl"),
        ("./logs//a:b.jsonl", "logs/a%3Ab.jsonl"),  # a colon in the first part would make it a scheme
        ("100%#?.jsonl", "100%25%23%3F.jsonl"),
        ("a\udcff\n", "a%FF%0A"),  # the bytes that it is named by
        ("a\ud800", "a%ED%A0%80"),
        ("é", "%C3%A9"),
        ("<stdin>", "%3Cstdin%3E"),
        ("/var/log/a b", "file:///var/log/a%20b"),
        ("s3://bucket/a b/%41%zz#1", "s3://bucket/a%20b/%41%25zz%231"),
        ("https://host/log?x=1", "https://host/log?x=1"),
    ],
)
def test_names_of_files_as_uris(name: str, expected: str) -> None:
    assert uri(name) == expected


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/."), min_size=1))
def test_a_name_can_be_read_back_from_its_uri(name: str) -> None:
    assert unquote_to_bytes(uri(name)) == name.encode("utf-8")


def test_sarif_can_be_written_result_by_result() -> None:
    results: list[dict[str, Any]] = [
        {
            "ruleId": "a/b",
            "ruleIndex": 0,
            "message": {"text": f"[] {number}"},
            "locations": [sarif.location(file, line, "$.x")],
        }
        for number, (file, line) in enumerate([("f", 1), ("f", None), (None, None), ("f", 0)])
    ]
    run = sarif.run({"name": "[]", "rules": [{"id": "a/b", "shortDescription": {"text": '"results": []'}}]})
    run["properties"] = {"text": '[] "results": []', "list": []}
    stream = io.StringIO()
    sarif.write(stream, run, results)
    assert json.loads(stream.getvalue()) == sarif.document({**run, "results": results})
    assert public_schemas.sarif(stream.getvalue())["results"] == results
    places = [result["locations"][0].get("physicalLocation", {}) for result in results]
    assert [place.get("region") for place in places] == [{"startLine": 1}, None, None, {"startLine": 1}]


@given(ANYTHING)
def test_xml_holds_any_text(text: str) -> None:
    cases = [junit.Case("a.b", f"{verdict} {text}", verdict, text, [text, text]) for verdict in ("passed", "failure", "error")]
    stream = io.StringIO()
    junit.write(stream, text, [junit.Suite(text, cases, {text: text}), junit.Suite("empty", [])])
    assert stream.getvalue().isascii()
    root: ET.Element = public_schemas.junit(stream.getvalue())
    shown = harmless(text)
    assert root.get("name") == shown
    assert [each.attrib for each in root.iter("property")] == [{"name": shown, "value": shown}]
    bodies = [case.findtext(tag) for case, tag in zip(root.iter("testcase"), ("system-out", "failure", "error"), strict=True)]
    assert bodies == ["\n".join([harmless(text, keep="\n")] * 2)] * 3
    assert [each.get("message") for tag in ("failure", "error") for each in root.iter(tag)] == [shown] * 2


@given(ANYTHING, ANYTHING)
def test_a_workflow_command_is_one_line_that_says_what_it_was_given(title: str, message: str) -> None:
    command = github.annotation("note", title, message, f"x{title}", 7)
    ((level, properties, told),) = public_schemas.github(command)
    assert level == "notice"
    assert properties == {"file": shown(f"x{title}"), "line": "7", "title": shown(title)}
    assert told == shown(message)


def shown(text: str) -> str:
    """Line feeds and carriage returns are what a command can carry."""
    return harmless(text, keep="\r\n")


def test_a_workflow_command_escapes_what_ends_it() -> None:
    assert github.annotation("error", "a,b:c", "50%\nnext: a, b") == "::error title=a%2Cb%3Ac::50%25%0Anext: a, b"
    assert github.annotation("warning", "t", "m", "f") == "::warning file=f,title=t::m"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", ""),
        ("a | b", "`a \\| b`"),
        ("<b>&amp;", "`<b>&amp;`"),
        ("a `b` <c>|", "<code>a &#96;b&#96; &#60;c&#62;&#124;</code>"),
        (" a", "<code> a</code>"),
        ("\\|", "<code>&#92;&#124;</code>"),
        ("`https://a.b www.c d@e", "<code>&#96;https&#58;//a.b www&#46;c d&#64;e</code>"),
        ("a\nb", "`a\\u000ab`"),
    ],
)
def test_code_in_markdown(text: str, written: str) -> None:
    assert markdown.code(text) == written


@given(st.lists(ANYTHING, min_size=2, max_size=2))
def test_cells_of_a_table_are_what_they_were(texts: list[str]) -> None:
    lines = markdown.table(["a", "b"], [[markdown.code(text) for text in texts]], frozenset({1}))
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse("".join(lines))
    cells = [token.children or [] for token in tokens if token.type == "inline"][2:]
    shown = ["".join(part.content for part in cell if part.type != "html_inline") for cell in cells]
    assert shown == [harmless(text) for text in texts]


def test_plain_text_in_markdown() -> None:
    assert markdown.plain("a | <b> & c") == "a \\| &lt;b> &amp; c"
