"""Every site of the generated TypeScript of one revision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Final

from tree_sitter import Node

from dsh_codegen.parity.found import Tags
from dsh_codegen.parity.model import Method, Side
from dsh_codegen.parity.ts_nodes import text
from dsh_codegen.parity.ts_syntax import parser
from dsh_codegen.parity.typescript import FRAMES, read_definitions, read_methods
from tests.parity.sites import OTHER, Site, Sites, also_named, spliced

_SWAPPED: Final = {"string": "number", "number": "string", "boolean": "string", "unknown": "string"}
_FUTURE: Final = "OrUnknown"


class TypescriptSites:
    """The changes of one generated file."""

    def __init__(self, file: Path, maps: Sequence[str], side: Side, tags: Tags, skipped: Set[str]) -> None:
        self._source = file.read_bytes()
        self._maps = maps
        self._side = side
        self._sites = Sites(side, tags, skipped)

    def all(self) -> Iterator[Site]:
        """Every site, declaration by declaration; the method maps too."""
        pieces: dict[str, bytes] = {}
        for statement in parser().parse(self._source).root_node.named_children:
            node = statement.child_by_field_name("declaration")
            if node is not None:
                name = text(node.child_by_field_name("name"))
                if name not in FRAMES:
                    base = name.removesuffix(_FUTURE)
                    owner = base if base in pieces else name
                    pieces[owner] = pieces.get(owner, b"") + (statement.text or b"") + b"\n"
        for name, piece in pieces.items():
            if name in self._maps:
                yield from self._methods(name, piece)
            elif name not in self._sites.skipped:
                yield from self._piece(name, piece)

    def _piece(self, name: str, piece: bytes) -> Iterator[Site]:
        found = read_definitions(piece.decode())
        assert found == {name: self._side.definitions[name]}, name  # the piece says all that the file says of it
        yield from self._sites.definition(name)
        edit = _Edit(self._sites, name, piece)
        declarations = [
            statement.child_by_field_name("declaration") for statement in parser().parse(piece).root_node.named_children
        ]
        for node in declarations:
            assert node is not None
            if node.type == "interface_declaration":
                for member in _child(node, "body").named_children:
                    if member.type == "property_signature":
                        yield from self._member(edit, member)
            elif text(node.child_by_field_name("name")) == name:
                yield from self._type(edit, _child(node, "value"), "", alias=True)
                if len(declarations) == 1:
                    more = f"\nexport type {name}{_FUTURE} = {name} | {OTHER};\n"
                    yield edit.site("open", "open", "", (len(piece), len(piece), more))
            else:
                statement = node.parent
                assert statement is not None
                yield edit.site("open", "closed", "", (statement.start_byte, statement.end_byte, ""))
                for part in _alternatives(_child(node, "value")):
                    yield edit.site("open", f"future {text(part)} swapped", "", (part.start_byte, part.end_byte, OTHER))

    def _member(self, edit: _Edit, member: Node) -> Iterator[Site]:
        name = _child(member, "name")
        wire = text(name).strip('"')
        path = f".{wire}"
        yield also_named(edit.site("member", f"rename {wire}", path, _swap(name, OTHER)), path=f".{OTHER}")
        yield edit.site("member", f"remove {wire}", path, (member.start_byte, member.end_byte + 1, ""))
        optional = next((child for child in member.children if child.type == "?"), None)
        span = (name.end_byte, name.end_byte, "?") if optional is None else (optional.start_byte, optional.end_byte, "")
        yield edit.site("required", f"toggle {wire}", path, span)
        yield from self._type(edit, _child(member, "type").named_children[0], path)

    def _type(self, edit: _Edit, node: Node, path: str, *, alias: bool = False) -> Iterator[Site]:
        """The changes of one type and of those inside it."""
        parts = _alternatives(node)
        source = text(node)
        null = [part for part in parts if text(part) == "null"]
        meant = [part for part in parts if part not in null]
        refs = [part for part in meant if part.type == "type_identifier"]
        literals = [part for part in meant if part.type == "literal_type"]
        anything = next((part for part in meant if part.type == "parenthesized_type"), None)
        if null:
            yield edit.site("nullable", "not null", path, _swap(node, " | ".join(map(text, meant))))
        elif source != "unknown":
            yield edit.site("nullable", "null too", path, _swap(node, f"({source} | null)"))
        if len(meant) == 1 and source != "unknown":
            yield from self._containers(edit, meant[0], path)
        elif source != "unknown" and not null:
            yield edit.site("array", "an array of it", path, _swap(node, f"({source.lstrip(' |')})[]"))
            yield edit.site("map", "a map of it", path, _swap(node, f"{{ [key: string]: {source.lstrip(' |')} }}"))
        for part in meant:
            if part.type == "predefined_type":
                yield edit.site("type", f"{text(part)} swapped", path, _swap(part, _SWAPPED[text(part)]))
            elif part.type == "array_type":
                yield from self._type(edit, _bare(part.named_children[0]), f"{path}[]")
            elif part.type == "object_type":
                yield from self._type(edit, _child(part.named_children[0], "type").named_children[0], f"{path}{{}}")
        for part in refs:
            category = "arms" if len(refs) > 1 or (alias and self._side.definitions[edit.name].open) else "type"
            yield edit.site(category, f"{text(part)} swapped", path, _swap(part, OTHER))
            if len(refs) > 1:
                rest = " | ".join(text(each) for each in parts if each is not part)
                yield edit.site("arms", f"without {text(part)}", path, _swap(node, rest))
        if refs and (len(refs) > 1 or len(meant) > 1):
            yield edit.site("arms", "one arm more", path, _swap(node, f"({source} | {OTHER})"))
        for part in literals:
            yield edit.site("literals", f"{text(part)} swapped", path, _swap(part, _other(text(part))))
            if len(literals) > 1:
                rest = " | ".join(text(each) for each in parts if each is not part)
                yield edit.site("literals", f"without {text(part)}", path, _swap(node, rest))
        if literals:
            yield edit.site("literals", "one value more", path, _swap(node, f"({source} | {_other(text(literals[0]))})"))
        if anything is not None:
            rest = " | ".join(text(each) for each in parts if each is not anything)
            yield edit.site("open", "closed", path, _swap(node, rest))
        elif literals and len(literals) == len(meant) and text(literals[0]).startswith('"'):
            yield edit.site("open", "open", path, _swap(node, f"({source} | (string & {{}}))"))

    def _containers(self, edit: _Edit, part: Node, path: str) -> Iterator[Site]:
        source = text(part)
        if part.type == "array_type":
            items = text(part.named_children[0])
            yield edit.site("array", "its items", path, _swap(part, "string" if items == "unknown" else items))
            return
        yield edit.site("array", "an array of it", path, _swap(part, f"({source})[]"))
        if part.type == "object_type":
            values = text(_child(part.named_children[0], "type").named_children[0])
            yield edit.site("map", "its values", path, _swap(part, "string" if values == "unknown" else values))
        else:
            yield edit.site("map", "a map of it", path, _swap(part, f"{{ [key: string]: {source} }}"))

    def _methods(self, table: str, piece: bytes) -> Iterator[Site]:
        other = next(name for name in self._maps if name != table)
        kept = {
            name: method
            for name, method in (self._side.methods or {}).items()
            if (method.result is None) == (table == self._maps[1])
        }
        rest = {name: method for name, method in (self._side.methods or {}).items() if name not in kept}
        assert other

        def site(category: str, method: str, what: str, span: tuple[int, int, str]) -> Site:
            def read() -> dict[str, Method]:
                return {**rest, **read_methods([read_definitions(spliced(piece, span))[table]])}

            return self._sites.method(category, what, method, read)

        body = _child(_child(parser().parse(piece).root_node.named_children[0], "declaration"), "body")
        for row in body.named_children:
            if row.type != "property_signature":
                continue
            key, held = _child(row, "name"), _child(row, "type").named_children[0]
            method = text(key).strip('"')
            yield also_named(site("method", method, "rename", _swap(key, OTHER)))
            yield site("method", method, "remove", (row.start_byte, row.end_byte + 1, ""))
            if held.type != "object_type":
                yield site("params", method, "params of", _swap(held, OTHER))
                yield site("result", method, "a result for", _swap(held, f"{{ params: {text(held)}; result: {OTHER} }}"))
                continue
            for part in held.named_children:
                way, value = text(part.child_by_field_name("name")), _child(part, "type").named_children[0]
                swapped = {'"client"': '"server"', '"server"': '"client"'}.get(text(value), OTHER)
                yield site(way, method, f"{way} of", _swap(value, swapped))


class _Edit:
    """Sites of one definition's text."""

    def __init__(self, sites: Sites, name: str, piece: bytes) -> None:
        self.name = name
        self._sites = sites
        self._piece = piece

    def site(self, category: str, what: str, path: str, span: tuple[int, int, str]) -> Site:
        """The text with bytes replaced."""
        return self._sites.inside(
            category, what, self.name, path, lambda: {self.name: read_definitions(spliced(self._piece, span))[self.name]}
        )


def _alternatives(node: Node) -> list[Node]:
    if node.type != "union_type":
        return [node]
    return [part for child in node.named_children for part in _alternatives(child)]


def _bare(node: Node) -> Node:
    return node.named_children[0] if node.type == "parenthesized_type" else node


def _swap(node: Node, new: str) -> tuple[int, int, str]:
    return node.start_byte, node.end_byte, new


def _child(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None
    return found


def _other(literal: str) -> str:
    return {"true": "false", "false": "true"}.get(literal, f'"{OTHER}"' if literal.startswith('"') else "77")
