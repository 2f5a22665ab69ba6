"""The TypeScript emitter: what its declarations accept and refuse, and that schema text stays text.

All consumers below are compiled in one run against one generated package; `@ts-expect-error` marks the lines that must fail.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_codegen.emit.typescript import TypescriptOptions, typescript_files
from dsh_codegen.errors import ConfigError, SchemaError
from dsh_codegen.ir import (
    Arm,
    Array,
    Boolean,
    Definition,
    ErrorCode,
    Json,
    Literals,
    Map,
    Member,
    Method,
    Null,
    Number,
    OpenEnum,
    Protocol,
    Record,
    Ref,
    String,
    Type,
    Union,
)
from tests.tsc import Diagnostic, Tsc

OPTIONS = TypescriptOptions("@test/types", "1.2.3", "Requests", "Notifications", "1.0")
HOSTILE = (
    '*/ export type Evil = 1; /* glob */x \\*/ """ \' ` ${1} {{ 7 * 7 }} {% raw %} {# #} \\u002a/ \n'
    "@ts-expect-error\r\n@ts-ignore \u2028 */ \u2029 \x00 \x1b[2J \u202e \ud800 \ufeff *\n/ \n"
    '// @ts-nocheck\n/// <reference types="evil" />'
)


def define(name: str, node: Type, doc: str = "", *, deprecated: bool = False) -> Definition:
    return Definition(name, f"all.schema.json#/$defs/{name}", "all", node, doc, deprecated)


def record(*members: Member, closed: bool = False) -> Record:
    return Record(members, closed)


def required(wire: str, node: Type, doc: str = "") -> Member:
    return Member(wire, node, required=True, doc=doc)


def optional(wire: str, node: Type, doc: str = "") -> Member:
    return Member(wire, node, required=False, doc=doc)


def tag(*values: str) -> Member:
    return required("type", Literals(values))


def by_type(*arms: Type) -> Union:
    """A union whose arms differ in JSON type."""
    return Union(arms, tuple(Arm(arm) for arm in arms))


def nullable(node: Type) -> Union:
    return by_type(node, Null())


def open_union(known: dict[str, tuple[str, ...]], unknown: str, declared: tuple[str, ...] = ()) -> Union:
    """An open union of records; `declared` are names that the schema wrote instead of the flat arms."""
    arms = (*(Arm(Ref(name), tags) for name, tags in known.items()), Arm(Ref(unknown), open=True))
    return Union(tuple(Ref(name) for name in declared) or tuple(arm.type for arm in arms), arms, "type")


INTEGER = Number(integer=True)
UNKNOWN = record(required("type", String(min_length=1)))
STOPS = Literals(("it's", 'a"b', "c\\d", "x\ny", "`${1}`", "*/", "\u2028", "\ud800", "\x00"))
HOSTILE_KEYS = ("foo-bar", "2nd", "", "__proto__", 'a"b', "\\", "*/", "a\nb", "\u2028", "é", "new", "readonly", "get", "class")

DEFINITIONS = (
    define("Hostile", record(required("e", STOPS, HOSTILE), optional("n", Literals((None,)))), HOSTILE, deprecated=True),
    define("Keys", record(*(required(wire, String(), wire) for wire in HOSTILE_KEYS))),
    define("Directive", record(required("a", String(), "@ts-expect-error"), Member("b", String(), True, "", deprecated=True))),
    define("Inherited", record(required("a", String()), optional("constructor", INTEGER))),
    define("Mixed", record(required("e", Literals(("a", 1, False, None, -2.5))))),
    define("Open", record(optional("foo", Boolean()))),
    define("Closed", record(optional("foo", Boolean()), closed=True)),
    define("Nothing", record()),
    define("Absent", record(optional("a", String()), optional("b", nullable(String())), required("c", nullable(INTEGER)))),
    define("Big", record(required("id", Number(integer=True, maximum=2**63 - 1)), optional("s", Number(integer=False)))),
    define("Tree", record(required("kids", Array(Ref("Tree"))), optional("v", Ref("Value")))),
    define("Value", by_type(Null(), Array(Ref("Value")), Map(Ref("Value")))),
    define("Lists", record(required("a", Array(nullable(String()))), required("b", Array(Array(Literals(("x", "y"))))))),
    define("Level", OpenEnum(("low", "high"), min_length=1)),
    define("Raw", Json(lenient=True)),
    define("Dict", Map(Number(integer=True, minimum=0))),
    # two unions, the outer one open in its own right, and one that is open only because an arm of it is
    define("Text", record(tag("text"), required("text", String()))),
    define("Picture", record(tag("picture", "image"), required("width", INTEGER), required("alt", nullable(Ref("Text"))))),
    define("UnknownBlock", UNKNOWN),
    define("Block", open_union({"Text": ("text",), "Picture": ("picture", "image")}, "UnknownBlock")),
    define("Video", record(tag("video"), required("data", String()))),
    define("UnknownMedia", record(required("type", String(min_length=1)), required("url", String()))),
    define("Media", open_union({"Video": ("video",), "Text": ("text",)}, "UnknownMedia", ("Block", "Video", "UnknownMedia"))),
    define("Outer", nullable(Ref("Media"))),
    define("Alias", Ref("Block")),
    define("Shape", Union((Ref("Text"), Ref("Video")), (Arm(Ref("Text"), ("text",)), Arm(Ref("Video"), ("video",))), "type")),
    define("Words", by_type(String(), Ref("Text"))),
    # names of global types, which the output must not rely on
    define("Array", record(required("items", Array(Ref("Record"))))),
    define("Record", record(required("blocks", Array(Ref("Block"))))),
    define("foo-bar", record(required("x", INTEGER))),
    define("fooBaz", record(required("y", Ref("foo-bar"), "first"), optional("z", Ref("foo-bar"), "second"))),
)  # fmt: skip
METHODS = (
    Method("start", "client", "Absent", "Nothing", HOSTILE),
    Method("items/list", "client", "Text", "Lists"),
    Method("stop", "client", None, "Nothing"),
    Method("ask", "server", "Text", "Words"),
    Method("block.added", "server", "Record", None),
    Method("bye", "server", None, None),
)
PROTOCOL = Protocol("1.0", "Test {{ 1 }}", DEFINITIONS, METHODS, (ErrorCode(-32601, HOSTILE),))
OLDER = Protocol("2026-07-29", "Older", (define("Text", record(tag("text"), required("words", String()))),))

CONSUMERS = {
    "hostile": r"""
        import type { Directive, Hostile, Inherited, Keys, Mixed } from "@test/types";
        const ok: Hostile[] = [{ e: "it's" }, { e: "x\ny", n: null }, { e: "`${1}`" }, { e: "*/" }, { e: "\u2028" }];
        const surrogate: Hostile = { e: "\ud800" };
        // @ts-expect-error a value that is not listed
        const no: Hostile = { e: "its" };
        const keys: Keys = { "foo-bar": "", "2nd": "", "": "", "__proto__": "", "a\"b": "", "\\": "", "*/": "", "a\nb": "",
          "\u2028": "", "é": "", new: "", readonly: "", get: "", class: "" };
        // @ts-expect-error the type of a quoted member
        const bad: Keys = { ...keys, "a\"b": 1 };
        const proto: string = keys["__proto__"];
        const directive: Directive = { a: "", b: "" };
        // @ts-expect-error a directive in a description hides nothing
        const hidden: Directive = { a: 1, b: "" };
        const inherited: Inherited[] = [{ a: "", constructor: 1 }, { a: "" } as unknown as Inherited];
        // @ts-expect-error the price of an interface with a member called constructor
        const without: Inherited = { a: "" };
        const mixed: Mixed[] = [{ e: "a" }, { e: 1 }, { e: false }, { e: null }, { e: -2.5 }];
        // @ts-expect-error true is not listed
        const yes: Mixed = { e: true };
        // @ts-expect-error one null-only enum takes only null
        const zero: Hostile = { e: "*/", n: 0 };
    """,
    "members": r"""
        import type { Absent, Big, Closed, Dict, FooBar, FooBaz, Level, Lists, Nothing, Open, Raw, Tree,
          Value } from "@test/types";
        const open: Open[] = [{}, { foo: true }];
        // @ts-expect-error a typo in an open record
        const typo: Open = { boo: true };
        // @ts-expect-error a typo in a closed record
        const other: Closed = { boo: true };
        const nothing: Nothing = {};
        // @ts-expect-error a record without members is still an object
        const five: Nothing = 5;
        // @ts-expect-error a record without members has none
        const some: Nothing = { a: 1 };
        const absent: Absent[] = [{ c: null }, { a: "", b: null, c: 1 }];
        // @ts-expect-error absent is not null
        const isNull: Absent = { a: null, c: 1 };
        // @ts-expect-error nullable is not optional
        const missing: Absent = { a: "" };
        const big: Big = { id: 1, s: 0.5 };
        // @ts-expect-error JSON has no bigint
        const bigint: Big = { id: 1n };
        const tree: Tree = { kids: [{ kids: [], v: { a: [null] } }], v: null };
        // @ts-expect-error wrong below the recursion
        const leaf: Tree = { kids: [{ kids: [], v: { a: [1] } }] };
        const value: Value = [[{ a: { b: null } }]];
        const lists: Lists = { a: ["", null], b: [["x"], ["y", "x"]] };
        // @ts-expect-error an item of a nested array
        const list: Lists = { a: [], b: [["z"]] };
        const levels: Level[] = ["low", "later"];
        // @ts-expect-error an open set is a set of strings
        const level: Level = 1;
        const raw: Raw[] = [null, 1, "", { anything: [true] }];
        const dict: Dict = { a: 1 };
        const indexed: number | undefined = dict["b"];
        // @ts-expect-error a key of a map may be missing
        const present: number = dict["b"];
        const foo: FooBar = { x: 1 };
        const baz: FooBaz = { y: foo, z: foo };
    """,
    "unions": r"""
        import type { Alias, AliasOrUnknown, Block, BlockOrUnknown, Media, MediaOrUnknown, Outer, OuterOrUnknown,
          Record as Blocks, Shape, Text, UnknownBlock, Words } from "@test/types";
        function narrow(block: Block): string {
          switch (block.type) {
            case "text": return block.text;
            case "picture": case "image": return `${block.width}${block.alt?.text}`;
            default: { const never: never = block; return never; }
          }
        }
        const closed = (shape: Shape): string => (shape.type === "text" ? shape.text : shape.data);
        // @ts-expect-error a known tag with a wrong body
        const wrong: Block = { type: "text", txt: "" };
        // @ts-expect-error an unknown tag is no Block
        const future: Block = { type: "hologram" };
        // @ts-expect-error a body of another arm
        const mixed: Block = { type: "picture", text: "" };
        const unknown: UnknownBlock = { type: "hologram" };
        const blocks: BlockOrUnknown[] = [{ type: "text", text: "" }, unknown, { type: "hologram" }];
        // @ts-expect-error a tag is a string
        const number: BlockOrUnknown = { type: 1 };
        // @ts-expect-error one has to look before using what may be unknown
        const text: string = blocks[0]!.text;
        const payload: Blocks = { blocks: [{ type: "image", width: 1, alt: null }] };
        // @ts-expect-error payloads hold known arms
        const refused: Blocks = { blocks };
        // @ts-expect-error payloads hold known arms, written out as well
        const literal: Blocks = { blocks: [{ type: "hologram" }] };
        const known = (from: BlockOrUnknown): from is Block => ["text", "picture", "image"].includes(from.type);
        const passed: Blocks = { blocks: blocks.filter(known) };
        const media: Media[] = [{ type: "video", data: "" }, { type: "text", text: "" }];
        // @ts-expect-error neither does the outer union take a future arm of the inner one
        const inner: Media = { type: "hologram" };
        const outer: OuterOrUnknown[] = [null, { type: "hologram" }, { type: "x", url: "" }, { type: "video", data: "" }];
        const all: MediaOrUnknown = blocks[0]!;
        const nullable: Outer = null;
        const alias: Alias = { type: "text", text: "" };
        const aliases: AliasOrUnknown[] = blocks;
        const words: Words[] = ["", { type: "text", text: "" }];
        // @ts-expect-error neither a string nor a record
        const count: Words = 1;
    """,
    "methods": r"""
        import type { Absent, ErrorFrame, Lists, Nothing, NotificationFrame, Notifications, RequestFrame, Requests,
          ResponseFrame } from "@test/types";
        declare function request<M extends keyof Requests>(
          method: M, params: Requests[M]["params"],
        ): Promise<Requests[M]["result"]>;
        declare function on<M extends keyof Notifications>(method: M, handler: (params: Notifications[M]) => void): void;
        const nothing: Promise<Nothing> = request("start", { c: 1 });
        const lists: Promise<Lists> = request("items/list", { type: "text", text: "" });
        const stopped: Promise<{ [key: string]: never }> = request("stop", undefined);
        // @ts-expect-error wrong params
        void request("start", { a: "" });
        // @ts-expect-error params of another method
        void request("items/list", { c: 1 });
        // @ts-expect-error not a method
        void request("items/lost", { c: 1 });
        // @ts-expect-error the result of another method
        const result: Promise<Absent> = request("items/list", { type: "text", text: "" });
        on("block.added", ({ blocks }) => blocks.length);
        on("bye", (params: undefined) => params);
        // @ts-expect-error the payload of another notification
        on("block.added", (params: undefined) => params);
        type FromServer = { [M in keyof Requests]: Requests[M]["sender"] extends "server" ? M : never }[keyof Requests];
        const asked: FromServer = "ask";
        // @ts-expect-error sent by the client
        const not: FromServer = "start";
        const frame = { jsonrpc: "2.0", id: 1 } as const;
        const frames: RequestFrame[] = [
          { ...frame, method: "start", params: { c: 1 } },
          { ...frame, method: "stop" },
          { ...frame, method: "stop", params: {} },
        ];
        // @ts-expect-error params are required
        const bare: RequestFrame = { ...frame, method: "start" };
        // @ts-expect-error and belong to the method
        const other: RequestFrame = { ...frame, method: "start", params: { type: "text", text: "" } };
        // @ts-expect-error a request has an id
        const anonymous: RequestFrame<"stop"> = { jsonrpc: "2.0", method: "stop" };
        for (const { method, params } of frames) if (method === "start") params.c;
        const response: ResponseFrame<"items/list"> = { ...frame, result: { a: [], b: [] } };
        // @ts-expect-error the result of that method
        const wrong: ResponseFrame<"items/list"> = { ...frame, result: {} };
        const notification: NotificationFrame = { jsonrpc: "2.0", method: "block.added", params: { blocks: [] } };
        const bye: NotificationFrame<"bye"> = { jsonrpc: "2.0", method: "bye" };
        // @ts-expect-error the payload of that notification
        const empty: NotificationFrame<"block.added"> = { jsonrpc: "2.0", method: "block.added", params: {} };
        const errors: ErrorFrame[] = [
          { ...frame, error: { code: -32601, message: "" } },
          { jsonrpc: "2.0", id: 1, error: { code: 1, message: "", data: [1] } },
        ];
        // @ts-expect-error both halves of an answer
        const both: ErrorFrame = { ...frame, result: {}, error: { code: 1, message: "" } };
    """,
    "globals": r"""
        import type { Array as Arrays, Record as Blocks } from "@test/types";
        const arrays: Arrays = { items: [{ blocks: [] }] };
        const blocks: Blocks = arrays.items[0]!;
    """,
    "revisions": r"""
        import type { Text } from "@test/types";
        import type { Text as Same } from "@test/types/v1_0";
        import type { Text as Older } from "@test/types/v2026_07_29";
        const same: Same = { type: "text", text: "" } satisfies Text;
        const older: Older = { type: "text", words: "" };
        // @ts-expect-error each revision has its own types
        const mixed: Older = same;
    """,
    # proves that the compiler looks: its one error must be reported
    "canary": r"""
        import type { Text } from "@test/types";
        const text: Text = { type: "text", text: 1 };
    """,
}  # fmt: skip


def write_package(files: dict[str, str], root: Path) -> None:
    """The generated package as npm would install it below `root`, which becomes a package of ES modules."""
    package = root / "node_modules" / "@test" / "types"
    package.mkdir(parents=True)
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8", newline="\n")
    (root / "package.json").write_text('{"type": "module"}', encoding="utf-8")


@pytest.fixture(scope="module")
def diagnostics(tsc: Tsc, tmp_path_factory: pytest.TempPathFactory) -> list[Diagnostic]:
    """All that one run over all consumers says."""
    root = tmp_path_factory.mktemp("consumers")
    write_package(typescript_files([PROTOCOL, OLDER], OPTIONS), root)
    for name, text in CONSUMERS.items():
        (root / f"{name}.ts").write_text(text, encoding="utf-8", newline="\n")
    return tsc.check(root)


@pytest.mark.parametrize("consumer", sorted(CONSUMERS.keys() - {"canary"}))
def test_consumer_compiles_but_for_the_marked_lines(consumer: str, diagnostics: list[Diagnostic]) -> None:
    assert [found for found in diagnostics if found.file == f"{consumer}.ts"] == []


def test_declarations_themselves_compile(diagnostics: list[Diagnostic]) -> None:
    assert [found for found in diagnostics if found.file.removesuffix(".ts") not in CONSUMERS] == []


def test_the_compiler_reports_an_unmarked_error(diagnostics: list[Diagnostic]) -> None:
    assert [(found.line, "not assignable" in found.text) for found in diagnostics if found.file == "canary.ts"] == [(3, True)]


def test_declarations_compile_without_the_optional_flags_too(tsc: Tsc, tmp_path: Path) -> None:
    write_package(typescript_files([PROTOCOL, OLDER], OPTIONS), tmp_path)
    (tmp_path / "all.ts").write_text(
        'export * from "@test/types";\nexport * as older from "@test/types/v2026_07_29";\n', "utf-8"
    )
    assert tsc.check(tmp_path, exactOptionalPropertyTypes=False, noUncheckedIndexedAccess=False, strict=False) == []


# The text


def declaration(node: Type, doc: str = "", name: str = "T", *others: Definition) -> str:
    """What is emitted for one definition, without the file's head."""
    protocol = Protocol("1.0", "Test", (define(name, node, doc), *others))
    return typescript_files([protocol], OPTIONS)["v1_0.d.ts"].partition("export {};\n\n")[2]


def test_interface() -> None:
    node = record(
        tag("text"),
        required("text", String(min_length=1), "What was said."),
        optional("size-in-bytes", Number(integer=True, minimum=0, maximum=2**53 - 1)),
    )
    assert declaration(node, "Plain text.\n\nAs typed.", "TextBlock") == (
        "/**\n"
        " * Plain text.\n"
        " *\n"
        " * As typed.\n"
        " * schema: all.schema.json#/$defs/TextBlock\n"
        " */\n"
        "export interface TextBlock {\n"
        '  type: "text";\n'
        "  /**\n"
        "   * What was said.\n"
        "   * Non-empty.\n"
        "   */\n"
        "  text: string;\n"
        "  /** Integer, 0 to 9007199254740991. */\n"
        '  "size-in-bytes"?: number;\n'
        "}\n"
    )


def test_long_unions_get_a_line_an_arm() -> None:
    values = tuple(f"value-number-{number}" for number in range(7))
    text = declaration(record(required("a", Literals(values))), name="Long")
    assert '  a:\n    | "value-number-0"\n' in text
    assert '    | "value-number-6";\n}\n' in text
    assert declaration(Literals(values)).startswith("/** schema: all.schema.json#/$defs/T */\nexport type T =\n  | ")


def test_open_union_says_when_to_use_which() -> None:
    text = typescript_files([PROTOCOL], OPTIONS)["v1_0.d.ts"]
    assert "export type Block = Text | Picture;\n" in text
    assert "export type BlockOrUnknown = Block | UnknownBlock;\n" in text
    assert "export type Media = Block | Video;\n" in text
    assert "export type MediaOrUnknown = Media | UnknownMedia | BlockOrUnknown;\n" in text
    assert "export type OuterOrUnknown = Outer | MediaOrUnknown;\n" in text
    assert "export type AliasOrUnknown = Alias | BlockOrUnknown;\n" in text
    assert "ShapeOrUnknown" not in text
    assert "`BlockOrUnknown` is the type of all it may send." in text
    assert "a known arm with a wrong body passes as an unknown one" in text


def test_package_json() -> None:
    files = typescript_files([PROTOCOL, OLDER], OPTIONS)
    assert sorted(files) == ["index.d.ts", "package.json", "v1_0.d.ts", "v2026_07_29.d.ts"]
    assert files["index.d.ts"].endswith('\n\nexport * from "./v1_0.js";\n')
    assert json.loads(files["package.json"]) == {
        "name": "@test/types",
        "version": "1.2.3",
        "description": "Test {{ 1 }}: TypeScript types, generated.",
        "type": "module",
        "types": "./index.d.ts",
        "exports": {
            ".": {"types": "./index.d.ts"},
            "./v1_0": {"types": "./v1_0.d.ts"},
            "./v2026_07_29": {"types": "./v2026_07_29.d.ts"},
            "./package.json": "./package.json",
        },
        "files": ["*.d.ts"],
    }


def test_text_is_tidy_and_repeatable() -> None:
    files = typescript_files([PROTOCOL, OLDER], OPTIONS)
    assert files == typescript_files([PROTOCOL, OLDER], OPTIONS)
    for text in files.values():
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "\r" not in text
        assert "\n\n\n" not in text
        assert [line for line in text.split("\n") if line != line.rstrip()] == []
        text.encode()


def test_protocol_without_methods_has_neither_maps_nor_frames() -> None:
    assert not re.search("Requests|Notifications|Frame", typescript_files([OLDER], _head("2026-07-29"))["v2026_07_29.d.ts"])


@pytest.mark.parametrize(
    ("method", "frames"),
    [
        (Method("a", "client", "T", "T"), ["RequestFrame", "ResponseFrame", "ErrorFrame"]),
        (Method("a", "client", "T", None), ["NotificationFrame", "ErrorFrame"]),
    ],
)
def test_frames_only_for_methods_there_are(method: Method, frames: list[str]) -> None:
    protocol = Protocol("1.0", "Test", (define("T", record()),), (method,))
    text = typescript_files([protocol], OPTIONS)["v1_0.d.ts"]
    assert re.findall(r"export (?:type|interface) (\w+Frame)", text) == frames
    assert "export interface Requests {" in text
    assert "export interface Notifications {" in text


# Refusals


@pytest.mark.parametrize(
    "names",
    [("foo-bar", "FooBar"), ("Requests",), ("Notifications",), ("RequestFrame",), ("ErrorFrame",), ("Block", "BlockOrUnknown")],
)
def test_names_that_meet_are_refused(names: tuple[str, ...]) -> None:
    block = open_union({"Text": ("text",)}, "Unknown")
    arms = (define("Text", record(tag("text"))), define("Unknown", UNKNOWN))
    definitions = [define(name, block if name == "Block" else record()) for name in names]
    with pytest.raises(SchemaError, match="is already taken by") as refusal:
        typescript_files([Protocol("1.0", "Test", (*arms, *definitions))], OPTIONS)
    assert refusal.value.where.startswith("all.schema.json#/$defs/")


def test_method_listed_twice_is_refused() -> None:
    methods = (Method("a", "client", "T", "T"), Method("a", "server", "T", "T"))
    with pytest.raises(SchemaError, match="'a' is listed twice"):
        typescript_files([Protocol("1.0", "Test", (define("T", record()),), methods)], OPTIONS)


def test_options_that_cannot_work_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'9\.9' is not among"):
        typescript_files([PROTOCOL], _head("9.9"))
    with pytest.raises(ConfigError, match="'a-b' can't be the name"):
        typescript_files([PROTOCOL], TypescriptOptions("p", "1", "a-b", "B", "1.0"))
    with pytest.raises(ConfigError, match="both called 'Same'"):
        typescript_files([PROTOCOL], TypescriptOptions("p", "1", "Same", "Same", "1.0"))
    with pytest.raises(ConfigError, match="share one TypeScript module"):
        typescript_files([PROTOCOL, Protocol("1-0", "Twin", ())], OPTIONS)


def _head(revision: str) -> TypescriptOptions:
    return TypescriptOptions("@test/types", "1.2.3", "Requests", "Notifications", revision)


# Schema text is data


def skeleton(text: str) -> str:
    """The tokens of a declaration file: comments dropped, strings emptied."""
    token = re.compile(r'/\*.*?\*/|//[^\n\r\u2028\u2029]*|"(?:[^"\\\n\r]|\\.)*"', re.DOTALL)
    bare = " ".join(token.sub(lambda match: '""' if match[0].startswith('"') else " ", text).split())
    return re.sub(r"([:=]) \| ", r"\1 ", bare)  # a long union starts on a line of its own


def everywhere(text: str) -> Protocol:
    """A protocol with `text` in every place that a schema author may fill."""
    members = (
        required(f"k-{text}", Literals((f"v-{text}",)), text),
        optional("s", String(pattern=text, excluded=(text,)), text),
    )
    definition = Definition("T", f"all.schema.json#/$defs/{text}", text, record(*members), text)
    definitions = (definition, define("E", OpenEnum((text,)), text))
    return Protocol("1.0", text, definitions, (Method(f"m-{text}", "client", "T", "T", text),), (ErrorCode(1, text),))


@given(st.text(st.sampled_from("*/\\\"'`@{}%#$\n\r\u2028\u2029\x00\x85\u202e \tax")) | st.text() | st.just(HOSTILE))
def test_schema_text_stays_in_comments_and_strings(text: str) -> None:
    emitted = typescript_files([everywhere(text)], OPTIONS)["v1_0.d.ts"]
    benign = typescript_files([everywhere("benign")], OPTIONS)["v1_0.d.ts"]
    assert skeleton(emitted) == skeleton(benign)
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]", emitted) is None
    assert re.search(r"/\*\*\s*@ts-", emitted) is None


def test_text_is_still_readable() -> None:
    text = declaration(record(required("p", String(), "glob */x and /* y, @see below, a\u2028b")))
    assert "glob *\\/x and /* y, @see below, a\n   * b" in text
