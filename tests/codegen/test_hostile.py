"""Schema text is data: whatever it says, it ends up in a string, a docstring or a comment, or it is refused.

Each test puts many strings into every place of one schema that an author can fill. The output must consist of the same kinds of
statements, and call the same functions, as the output for harmless text.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import typing
import warnings
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen import naming
from dsh_codegen.emit.typescript import TypescriptOptions, typescript_files
from dsh_codegen.errors import CodegenError, SchemaError
from tests import tsc as compiler
from tests.codegen.packages import Package, build, forget, read
from tests.tsc import Tsc

TEXTS: Final = [
    *(
        '"""',
        "'''",
        '"',
        '""',
        "'",
        'x"""\nimport os\nos.system(\'id\')\n"""',
        '\\""" + str(open("/etc/passwd")) + """\\',
        '""""',
        '"""""""',
        'a"""b""',
    ),
    *(
        "\\",
        "\\\\",
        "\\\\\\",
        'ends with quote"',
        "ends with backslash\\",
        '\\"',
        '\\"""',
        '"\\',
        "\\N{dash} \\x \\u12 end\\",
        "\\u002a/",
        "\\x22",
        "\\n",
    ),
    *(
        "*/",
        "/*",
        "*/ export const pwn = (() => { throw 1 })(); /*",
        "glob */x and /* y",
        "*\\/",
        "* /",
        "//",
        "-->",
        "</script>",
        "*\n/",
        "@ts-ignore",
        "@ts-nocheck",
    ),
    *(
        "{{ 7 * 7 }}",
        "{{ cycler.__init__.__globals__ }}",
        "{% include '/etc/passwd' %}",
        "{% raw %}",
        "{# x #}",
        "{",
        "}",
        "{x}",
        "{0}",
        "{{",
        "%s",
        "%(x)s",
    ),
    *(
        "${process.exit()}",
        "`${1}`",
        "`",
        "$",
        "#{x}",
        "# type: ignore",
        "# noqa",
        "# fmt: off",
        "#!/bin/sh",
        "# -*- coding: utf-7 -*-",
        "type: int",
    ),
    *(
        "\u2028",
        "\u2029",
        "a\u2028b",
        "\x85",
        "\x00",
        "nul\x00byte",
        "\x1b[2J",
        "\x7f",
        "\ufeff",
        "\ufffe",
        "\u202eevil\u202c",
        "\u2066x\u2069",
        "\u200b",
        "\xad",
    ),
    *(
        "\r",
        "a\rb",
        "a\r\nb",
        "\r\nimport os",
        "\n",
        "a\n\n\nb",
        "\x0c",
        "\x0b",
        "\x1c",
        "tab\there",
        "  indented\n    more",
        "a\n  b",
        "trailing  \n  ",
        " \n ",
    ),
    *(
        "'+__import__('os').system('id')+'",
        '");evil("',
        "a = __import__('os') #",
        "M(object): pass\nclass N",
        "D;import os",
        "../../etc/passwd",
        "X):\n    pass\nimport os #",
    ),
    *(
        "__class__",
        "__proto__",
        "__init__",
        "__import__",
        "constructor",
        "None",
        "True",
        "class",
        "self",
        "lambda: 0",
        "NaN",
        "0",
        "1e999",
        "-1",
        "null",
        "",
    ),
    *(
        "é",
        "Ünïcödé",
        "日本語",
        "🙂",
        "👩‍👩‍👧‍👦",
        "Ω≈ç√",
        "ﬁ",
        "İ",
        "ß",
        "١٢٣",
        "𝒳",
        "a" * 5000,
        "\U0010ffff",
        "\uffff",
        "e\u0301",
        "%00",
        "&amp;",
        "<b>",
        "[link](http://x)",
    ),
]

CHUNK: Final = 60


def schema(texts: list[str], title: str) -> dict[str, Any]:
    """Files with each text as title, description, enum, const, default, member, definition, method and error text."""
    definitions: dict[str, Any] = {}
    methods, errors = [], []
    for number, text in enumerate(texts):
        name = f"D{number} {text}"
        definitions[name] = {
            "title": text,
            "description": text,
            "$comment": text,
            "type": "object",
            "properties": {
                text: {"enum": [text, f"other {text}"], "description": text, "deprecated": True, "examples": [text]},
                f"zz const {text}": {"const": text, "title": text},
                "zz_default": {"type": "string", "default": text, "not": {"enum": [f"not {text}"]}},
                "zz_ref": {"$ref": "#/$defs/" + pointer(name), "description": text},
                "zz_open": {"type": "string", "enum": [f"known {text}"], "x-open": True},
            },
            "required": [text],
            "x-vendor": text,
        }
        definitions[f"E{number} {text}"] = {"enum": [text, number], "description": text, "x-python-type": text}
        methods.append({"name": f"{number}{text}", "sender": "client", "params": name, "result": name, "description": text})
        errors.append({"code": number, "description": text})
    table = {"revision": "1.0", "title": title, "methods": methods, "errors": errors}
    return {"all.schema.json": {"$defs": definitions, "title": title, "description": title}, "methods.json": table}


def pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1").replace("%", "%25")


def chunks(texts: list[str]) -> list[list[str]]:
    return [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]


@pytest.fixture(scope="module")
def naughty(reference_dir: Path) -> list[str]:
    file = reference_dir / "suites" / "naughty-strings" / "blns.json"
    if not file.is_file():
        pytest.skip(f"there are no naughty strings in {file}")
    return list(dict.fromkeys(json.loads(file.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def harmless(folder: Path) -> dict[str, set[str]]:
    """What the modules for harmless text consist of, by path below the package."""
    package = build(folder, read(folder, schema(["benign", "quite harmless"], "Words")))
    found = {path.partition("/")[2]: skeleton(text) for path, text in package.files.items() if path.endswith(".py")}
    forget(package)
    return found


def skeleton(text: str) -> set[str]:
    """The kinds of statements at the top of a module, and the names of all functions it calls anywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = ast.parse(text)
    kinds = {f"statement {type(node).__name__}" for node in tree.body}
    calls = {f"call {ast.unparse(node.func)}" for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return kinds | {"call decode or encode" if call.startswith(("call decode_D", "call encode_D")) else call for call in calls}


def words(text: str) -> str:
    """A description as it is read."""
    return "\n".join(line.rstrip(" \t") for line in text.strip().split("\n"))


def wording(text: str) -> str:
    """A description as documentation shows it."""
    return inspect.cleandoc(words(text))


def check_python(package: Package, texts: list[str], harmless: dict[str, set[str]]) -> None:
    for path, source in package.files.items():
        if path.endswith(".py"):
            assert skeleton(source) <= harmless[path.partition("/")[2]], path
    package.check_hints()
    tree = ast.parse(package.files[f"{package.name}/v1_0/all.py"])
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for number, text in enumerate(texts):
        name = f"D{number} {text}"
        cls = package.type(name)
        origin = f"Schema: all.schema.json#/$defs/{name.replace('~', '~0').replace('/', '~1')}"
        doc = inspect.cleandoc(cls.__doc__)
        assert doc.startswith(words(text)) or "\t" in text, text  # cleandoc expands tabs
        assert doc.split() == f"{text} {origin}".split(), text
        docs = [
            wording(node.value.value)
            for node in classes[cls.__name__].body
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ]
        if wording(text):
            assert wording(text) in docs, text
        value = {
            text: text,
            f"zz const {text}": text,
            "zz_default": text,
            "zz_ref": {text: f"other {text}"},
            "zz_open": text,
            f"new {text}": text,
        }
        assert package.accepts(name, value), text
        assert not package.accepts(name, {**value, text: f"{text}."}), text
        assert not package.accepts(name, {**value, "zz_default": f"not {text}"}), text
        assert package.accepts(f"E{number} {text}", text)
        hints = typing.get_type_hints(cls)
        attribute = next(field.name for field in cls.__dataclass_fields__.values() if field.metadata.get("wire") == text)
        assert typing.get_args(hints[attribute]) == (text, f"other {text}"), text
        assert package.module.METHODS[f"{number}{text}"].params is cls
        assert package.module.ERROR_CODES[number] == text


def test_python_for_our_list(folder: Path, harmless: dict[str, set[str]]) -> None:
    for texts in chunks(TEXTS):
        package = build(folder, read(folder, schema(texts, "Words")))
        check_python(package, texts, harmless)
        forget(package)


def test_python_for_naughty_strings(naughty: list[str], folder: Path, harmless: dict[str, set[str]]) -> None:
    for texts in chunks(naughty):
        files = schema(texts, "Words")
        for definition in files["all.schema.json"]["$defs"].values():  # without what says the same again: to be quick
            for wire in ("zz_ref", "zz_open"):
                definition.get("properties", {}).pop(wire, None)
        package = build(folder, read(folder, files))
        check_python(package, texts, harmless)
        forget(package)


@pytest.mark.parametrize("title", [text for text in TEXTS if len(text) < 100])
def test_title(title: str, folder: Path, harmless: dict[str, set[str]]) -> None:
    table = {"revision": "1.0", "title": title, "methods": []}
    package = build(folder, read(folder, {"all.json": {}, "methods.json": table}))
    for path, source in package.files.items():
        if path.endswith(".py"):
            assert skeleton(source) <= harmless[path.partition("/")[2]], path
    assert json.loads(package.files[f"{package.name}/v1_0/schema.json"])["title"] == package.protocol.title
    assert package.protocol.title == title or not title
    forget(package)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_refused(text: str, folder: Path) -> None:
    files = {"all.json": json.dumps({"$defs": {"A": {"type": "string", "description": text}}})}
    with pytest.raises(SchemaError, match="half of a surrogate pair"):
        read(folder, files)


NOWHERE: Final = ["a\nimport os #.json", "{{ x }}.json", '""".json', "*%2f.json", "\\.json", "\u2028.json"]


@pytest.mark.parametrize("name", NOWHERE)
def test_file_names(name: str, folder: Path, harmless: dict[str, set[str]]) -> None:
    package = build(folder, read(folder, {name: {"$defs": {"A": {"type": "object", "properties": {"a": {"const": "x"}}}}}}))
    for path, source in package.files.items():
        if path.endswith(".py"):
            calls = set().union(*harmless.values()) | {"call decode_A", "call encode_A"}
            assert skeleton(source) <= calls, path
    package.check_hints()
    forget(package)


def test_paths_stay_inside(folder: Path) -> None:
    files = {"CON.json": {"$id": "../../../tmp/evil", "title": "../x", "$defs": {"CON": {}, "a/../../b": {}, "..": {}}}}
    package = build(folder, read(folder, files))
    assert sorted(path.rpartition("/")[2] for path in package.files if "/v" in path) == [
        "__init__.py",
        "con_.py",
        "methods.py",
        "schema.json",
    ]
    assert all(naming.type_name(definition.name).isidentifier() for definition in package.protocol.definitions)


# TypeScript

KINDS = """
const ts = require(process.argv[1]);
const source = ts.createSourceFile("x.d.ts", require("fs").readFileSync(0, "utf8"), ts.ScriptTarget.Latest, true);
const count = {};
for (const statement of source.statements) { const kind = ts.SyntaxKind[statement.kind]; count[kind] = (count[kind] ?? 0) + 1; }
const { parseDiagnostics, commentDirectives, referencedFiles } = source;
console.log(JSON.stringify([count, parseDiagnostics.length, (commentDirectives ?? []).length, referencedFiles.length]));
"""


def statements(source: str) -> list[Any]:
    library = compiler.COMPILER.parent / "typescript.js"
    run = subprocess.run(
        [str(compiler.node()), "-e", KINDS, str(library)],
        input=source,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    found: list[Any] = json.loads(run.stdout)
    return found


def declarations(folder: Path, texts: list[str], title: str = "Words") -> str:
    protocol = read(folder, schema(texts, title))
    return typescript_files([protocol], TypescriptOptions("@test/types", "1", "Requests", "Notifications", "1.0"))["v1_0.d.ts"]


def test_typescript(folder: Path, tsc: Tsc, tmp_path: Path, reference_dir: Path) -> None:
    file = reference_dir / "suites" / "naughty-strings" / "blns.json"
    more = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    texts = list(dict.fromkeys([*TEXTS, *more[::6]]))  # some will do: checking a schema of all of them takes long
    hostile = declarations(folder, texts, "".join(text for text in TEXTS if len(text) < 100))
    harmless, found = statements(declarations(folder, ["benign", "quite harmless"])), statements(hostile)
    for kind in ("InterfaceDeclaration", "TypeAliasDeclaration"):  # one of each for a text
        harmless[0][kind] += len(texts) - 2
    assert found == harmless
    (tmp_path / "hostile.d.ts").write_text(hostile, encoding="utf-8", newline="\n")
    uses = [
        f'export const e{number}: import("./hostile.js").{naming.type_name(f"E{number} {text}")} = {json.dumps(text)};'
        for number, text in enumerate(texts)
    ]
    (tmp_path / "use.ts").write_text("\n".join(uses) + "\n", encoding="utf-8", newline="\n")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    assert tsc.check(tmp_path) == []


def test_hostile_values_of_our_own_keywords_are_refused(folder: Path) -> None:
    for keyword in ("x-tag", "x-module"):
        for text in ('"""', "*/", "{{ x }}", "a\nb"):
            definitions = {"A": {keyword: text, "anyOf": [{"type": "string"}, {"type": "null"}]}}
            try:
                package = build(folder, read(folder, {"b.json": {"x-revision": "1.0", "$defs": definitions}}))
            except CodegenError:
                continue
            package.check_hints()
            forget(package)
