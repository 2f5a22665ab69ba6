"""Schema files: what is read, what is refused, and that nothing outside the schema directory is touched."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dsh_codegen.errors import SchemaError
from dsh_codegen.load import read_protocol
from dsh_codegen.load.files import load, pointer
from tests.codegen.packages import DIALECT, read, read_defs, write_schema


def refusal(folder: Path, files: dict[str, Any]) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        read(folder, files)
    return caught.value


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", "a.json", "not JSON: .* \\(line 1, column 1\\)"),
        ("{", "a.json", "not JSON"),
        ('{"a": 1,}', "a.json", "not JSON"),
        ("{'a': 1}", "a.json", "not JSON"),
        ('{"$defs": {}} x', "a.json", "not JSON: Extra data \\(line 1, column 15\\)"),
        ('{\n "a": nope\n}', "a.json", "line 2, column 7"),
        ("a: !!python/object/apply:os.system ['id']\nb: no", "a.json", "not JSON"),
        ('\ufeff{"$defs": {}}', "a.json", "not JSON: .*BOM"),
        ('{"a": 1, "b": 2, "a": 3}', "a.json", "the member 'a' stands twice"),
        ('{"$defs": {"A": {"type": "string", "type": "string"}}}', "a.json", "the member 'type' stands twice"),
        ('{"minimum": NaN}', "a.json", "NaN is not JSON"),
        ('{"minimum": -Infinity}', "a.json", "-Infinity is not JSON"),
        ('{"description": "\\ud800"}', "a.json", "half of a surrogate pair"),
        ('{"\\udfff": 1}', "a.json", "half of a surrogate pair"),
        ('{"minimum": ' + "1" * 5000 + "}", "a.json#", "can't be read: Exceeds the limit"),
        ("[" * 100_000, "a.json#", "nested too deeply"),
        ('{"a":' * 100_000, "a.json#", "nested too deeply"),
        ('{"$defs": {"A": ' + '{"items": ' * 400 + "{}" + "}" * 402, "a.json#", "nested too deeply"),
        ("[]", "a.json#", "holds one JSON object"),
        ("true", "a.json#", "holds one JSON object"),
        ("null", "a.json#", "holds one JSON object"),
        ('{"$schema": "http://json-schema.org/draft-07/schema#"}', "a.json#/$schema", "only draft 2020-12 is read"),
        ('{"$schema": 1}', "a.json#/$schema", "only draft 2020-12 is read"),
        ('{"$defs": []}', "a.json#/$defs", "is not of type 'object'"),
        ('{"type": "text"}', "a.json#/type", "not valid|is not"),
        (
            '{"$defs": {"A/B": {"properties": {"x~": {"minimum": "0);evil("}}}}}',
            "a.json#/$defs/A~1B/properties/x~0/minimum",
            "is not of type 'number'",
        ),
        ('{"$defs": {"A": {"required": ["a", "a"]}}}', "a.json#/$defs/A/required", "non-unique"),
        ('{"$defs": {"A": {"maxLength": "1"}}}', "a.json#/$defs/A/maxLength", "is not of type 'integer'"),
        ('{"$defs": {"A": {"items": [{}]}}}', "a.json#/$defs/A/items", "is not of type"),
    ],
)
def test_unusable_file(text: str, where: str, reason: str, tmp_path: Path) -> None:
    found = refusal(tmp_path, {"a.json": text})
    assert found.where == where
    with pytest.raises(SchemaError, match=reason):
        raise found


def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"title": "\xe9"}')
    with pytest.raises(SchemaError, match=r"^a\.json: not UTF-8 \(byte 11\)"):
        load(tmp_path)
    (tmp_path / "a.json").write_bytes('{"title": "é"}'.encode("utf-16"))
    with pytest.raises(SchemaError, match="not UTF-8"):
        load(tmp_path)


def test_no_schema(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such schema file or directory"):
        load(tmp_path / "nowhere")
    with pytest.raises(SchemaError, match="has no schema files"):
        load(tmp_path)
    (tmp_path / "methods.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SchemaError, match="has no schema files"):
        load(tmp_path)


def test_a_folder_with_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(SchemaError, match=r"a\.json: can't be read"):
        load(tmp_path)


def test_line_ends_do_not_matter(tmp_path: Path) -> None:
    text = json.dumps({"$defs": {"A": {"type": "string", "description": "x"}}}, indent=2)
    unix = write_schema(tmp_path, {"a.json": text})
    windows = write_schema(tmp_path, {"a.json": text.replace("\n", "\r\n")})
    assert load(unix).digest == load(windows).digest


def test_digest_follows_content_and_names(tmp_path: Path) -> None:
    first, second = {"$defs": {"A": {"type": "string"}}}, {"$defs": {"A": {"type": "null"}}}
    digests = [
        load(write_schema(tmp_path, {name: content})).digest for name in ("a.json", "b.json") for content in (first, second)
    ]
    assert len(set(digests)) == 4


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the network was touched")

    for name in ("socket", "create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "ref",
    [
        "http://169.254.169.254/latest",
        "https://[::ffff:127.0.0.1]/x",
        "https://[",
        "//host/x",
        "//[",
        "HTTP://x#/$defs/A",
        "file:///etc/passwd",
        "ftp://host/x.json",
        "urn:uuid:0",
        "data:application/json,{}",
        "ht\ntp://x",
    ],
)
def test_remote_reference(ref: str, tmp_path: Path) -> None:
    found = refusal(tmp_path, {"a.json": {"$defs": {"A": {"type": "object", "properties": {"x": {"$ref": ref}}}}}})
    assert found.where == "a.json#/$defs/A/properties/x"
    assert "remote references are refused" in found.reason or "names no file" in found.reason
    assert repr(ref) in found.reason


@pytest.mark.usefixtures("no_network")
def test_schema_and_id_are_never_fetched(tmp_path: Path) -> None:
    protocol = read_defs(
        tmp_path, {"A": {"type": "string", "default": "x"}}, **{"$id": "http://169.254.169.254/x.json", "$schema": DIALECT}
    )
    assert [definition.name for definition in protocol.definitions] == ["A"]


@pytest.mark.parametrize(
    "ref",
    [
        "../b.json",
        "../../etc/passwd",
        "/etc/passwd",
        "b.json",
        "sub/c.json",
        ".",
        "..",
        "a.json?x",
        "a.json/",
        "./a.json",
        "%2e%2e/b.json",
        "\\\\host\\b.json",
        "a.JSON",
    ],
)
def test_reference_to_no_file_of_the_root(ref: str, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"$defs": {"B": {"type": "string"}}}', encoding="utf-8")
    found = refusal(tmp_path, {"a.json": {"$defs": {"A": {"$ref": ref}}}})
    assert found.where == "a.json#/$defs/A"
    assert "names no file of the schema directory" in found.reason


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("#/$defs/B", "points to nothing"),
        ("#/$defs/A/x", "points to nothing"),
        ("#/$defs/Z/anyOf/7", "points to nothing"),
        ("#/$defs/Z/anyOf/-1", "points to nothing"),
        ("#/$defs/Z/anyOf/01", "points to nothing"),
        ("#/$defs/Z/anyOf/" + "9" * 5000, "points to nothing"),
        ("#/$defs/Z/anyOf/0", "points inside a definition"),
        ("#/$defs/Z/title/0", "points to nothing"),
        ("#/", "points to nothing"),
        ("#", "points inside a definition"),
        ("", "points inside a definition"),
        ("#Z", "uses an anchor"),
        ("#%2F$defs%2FZ~", "points to nothing"),
        ("other.json#/$defs/Y", "points to nothing"),
    ],
)
def test_reference_to_nothing(ref: str, reason: str, tmp_path: Path) -> None:
    files = {
        "a.json": {"$defs": {"A": {"$ref": ref}, "Z": {"title": "z", "anyOf": [{"type": "string"}]}}},
        "other.json": {"$defs": {"X": {}}},
    }
    found = refusal(tmp_path, files)
    assert found.where == "a.json#/$defs/A"
    assert reason in found.reason
    assert "\n" not in str(found)


@pytest.mark.parametrize("name", ["a/b", "a~b", "a%b", "a b", "é", "#", "", "a\nb", "a?b", '"', "~1", "http://x"])
def test_reference_to_a_name_of_any_kind(name: str, tmp_path: Path) -> None:
    from urllib.parse import quote

    for spelled in (
        name.replace("~", "~0").replace("/", "~1").replace("%", "%25"),
        quote(name.replace("~", "~0").replace("/", "~1")),
    ):
        protocol = read_defs(
            tmp_path, {"A": {"type": "array", "items": {"$ref": f"#/$defs/{spelled}"}}, name: {"type": "string"}}
        )
        assert [definition.name for definition in protocol.definitions] == ["A", name]


def test_link_that_leaves_the_root(tmp_path: Path) -> None:
    outside = tmp_path / "secret.json"
    outside.write_text('{"$defs": {"S": {"type": "string"}}}', encoding="utf-8")
    root = tmp_path / "schema"
    root.mkdir()
    (root / "a.json").symlink_to(outside)
    with pytest.raises(SchemaError, match=r"a\.json: the file is a link that leaves the schema directory"):
        load(root)
    (root / "a.json").unlink()
    (root / "real.json").write_text(outside.read_text(encoding="utf-8"), encoding="utf-8")
    (root / "a.json").symlink_to(root / "real.json")
    assert sorted(load(root).documents) == ["a.json", "real.json"]
    (root / "loop.json").symlink_to(root / "loop.json")
    with pytest.raises(SchemaError, match=r"loop\.json: (the file is a link that leads to itself|can't be read)"):
        load(root)


def test_only_the_directory_itself_is_read(tmp_path: Path) -> None:
    root = write_schema(tmp_path, {"a.json": {"$defs": {"A": {}}}, "methods.meta.json": {"type": "object"}, "note.txt": "x"})
    (root / "revisions").mkdir()
    (root / "revisions" / "old.json").write_text("broken", encoding="utf-8")
    assert sorted(load(root).documents) == ["a.json"]


def test_one_file(tmp_path: Path) -> None:
    root = write_schema(
        tmp_path, {"tree.v2.json": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}}
    )
    protocol = read_protocol(root / "tree.v2.json").protocol
    assert (protocol.revision, protocol.title, [d.name for d in protocol.definitions]) == ("tree", "tree.v2", ["TreeV2"])


@pytest.mark.parametrize("name", ["a\nimport os #.json", "a b.json", '"""".json', "{{x}}.json", "é.json", "-.json", "a*.json"])
def test_odd_file_names(name: str, tmp_path: Path) -> None:
    protocol = read(tmp_path, {name: {"$defs": {"A": {"type": "string"}}}})
    assert protocol.definitions[0].module.isidentifier()


def test_pointer() -> None:
    assert pointer(()) == ""
    assert pointer(("$defs", "a/b~c", 0, "")) == "/$defs/a~1b~0c/0/"
