"""Names: fixed by the wire name alone, legal, and never silently shared."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen import naming
from dsh_codegen.errors import SchemaError


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("fooBar", "foo_bar"),
        ("userID", "user_id"),
        ("HTTPServer", "http_server"),
        ("Dev_Info", "dev_info"),
        ("x1Y2", "x1_y2"),
        ("URL", "url"),
        ("__typename", "typename"),
        ("aB_cD", "a_b_c_d"),
        ("_meta", "meta"),
        ("foo-bar", "foo_bar"),
        ("a b", "a_b"),
        ("x.y", "x_y"),
        ("$id", "id"),
        ("@type", "type"),
        ("2nd", "n2nd"),
        ("", "empty"),
        ("---", "u2d_u2d_u2d"),
        ("class", "class_"),
        ("None", "none"),
        ("match", "match"),
        ("str", "str_"),
        ("field", "field_"),
        ("extra", "extra_"),
        ("Über", "uber"),
        ("ﬁx", "fix"),
        ("🙂", "u1f642"),
        ("__import__('os')", "import_os"),
        ("a\nb", "a_b"),
    ],
)
def test_member(wire: str, name: str) -> None:
    assert naming.member_name(wire) == name


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("TextBlock", "TextBlock"),
        ("foo-bar", "FooBar"),
        ("fooBar", "FooBar"),
        ("foo_bar", "FooBar"),
        ("Foo_Bar", "Foo_Bar"),
        ("HTTPServer", "HTTPServer"),
        ("_Private", "Private"),
        ("2nd", "N2nd"),
        ("", "Empty"),
        ("Any", "Any_"),
        ("None", "None_"),
        ("T", "T"),
        ("---", "U2dU2dU2d"),
        ("Request", "Request_"),
        ("class", "Class"),
        ("X):\n    pass\nimport os #", "XPassImportOs"),
        ("日本", "U65e5U672c"),
        ("../../etc", "Etc"),
    ],
)
def test_type(definition: str, name: str) -> None:
    assert naming.type_name(definition) == name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("event-turn.schema.json", "event_turn"),
        ("SessionEvent.json", "session_event"),
        ("methods.schema.json", "methods_"),
        ("_codec.schema.json", "codec"),
        ("decode.schema.json", "decode_"),
        ("import.json", "import_"),
        ("CON.json", "con_"),
        ("COM1.json", "com1_"),
        ("2nd.json", "n2nd"),
        ("a\nimport os #.json", "a_import_os"),
        ("..json", "u2e"),
        (".json", "types"),
    ],
)
def test_module(file: str, name: str) -> None:
    assert naming.module_name(file) == name


@pytest.mark.parametrize(
    ("revision", "name"),
    [("0.1.5", "v0_1_5"), ("2026-07-29", "v2026_07_29"), ("---", "v"), ("1.0-RC.1", "v1_0_rc_1"), ("../x", "vx")],
)
def test_revision(revision: str, name: str) -> None:
    assert naming.revision_module(revision) == name


def test_the_exact_spelling_keeps_its_name_whatever_the_order() -> None:
    expected = {"meta": "meta", "_meta": "meta_"}
    assert naming.member_names(["meta", "_meta"], "f#") == expected
    assert naming.member_names(["_meta", "meta"], "f#") == expected


def test_a_reserved_name_gives_way_to_the_spelled_one() -> None:
    assert naming.member_names(["class", "class_"], "f#") == {"class": "class__", "class_": "class_"}


@pytest.mark.parametrize(
    "wires", [["fooBar", "foo-bar", "foo_bar"], ["A", "a", "_a"], ["", "Empty", "empty"], ["fooBar", "foo-bar"]]
)
def test_members_that_no_rule_tells_apart_are_refused(wires: list[str]) -> None:
    with pytest.raises(SchemaError, match="rename one of them") as refusal:
        naming.member_names(wires, "f.json#/$defs/X")
    assert refusal.value.where == "f.json#/$defs/X"


WIRE = st.text(st.sampled_from("aAbB09_-$. é\n'\"") | st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    keyword.kwlist
)


@given(WIRE)
def test_every_name_is_legal(text: str) -> None:
    for name in (naming.member_name(text), naming.type_name(text), naming.module_name(text), naming.revision_module(text)):
        assert name.isascii()
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert not name.startswith("_")
    assert naming.type_name(text)[0].isupper()
    assert naming.member_name(text) not in naming.RESERVED_MEMBERS
    assert naming.type_name(text) not in naming.RESERVED_TYPES
    assert naming.module_name(text) not in naming.RESERVED_MODULES


@given(st.lists(WIRE, unique=True, max_size=6))
def test_members_of_one_object_are_distinct_and_independent_of_order(wires: list[str]) -> None:
    try:
        names = naming.member_names(wires, "f#")
    except SchemaError:
        with pytest.raises(SchemaError):
            naming.member_names(sorted(wires), "f#")
        return
    assert naming.member_names(sorted(wires), "f#") == names
    assert list(names) == wires
    assert len(set(names.values())) == len(wires)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names.values())
