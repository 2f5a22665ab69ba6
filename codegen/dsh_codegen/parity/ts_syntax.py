"""TypeScript text -> declarations, imports and exports of one file, by tree-sitter. Types stay syntax here (see `ts_types`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from ..errors import ConfigError
from .ts_nodes import string, text

_DECLARATIONS: Final = frozenset(
    {"interface_declaration", "type_alias_declaration", "enum_declaration", "class_declaration", "abstract_class_declaration"}
)
_WRAPPERS: Final = frozenset({"export_statement", "ambient_declaration"})


@dataclass(frozen=True, slots=True)
class Import:
    """A name from elsewhere: `name` in `module`; `*` is the module itself."""

    module: str
    name: str


@dataclass(slots=True)
class SourceFile:
    """What one file declares, imports and exports. Built by `parse`, read-only afterwards."""

    path: str
    declarations: dict[str, list[Node]] = field(default_factory=dict[str, list[Node]])
    variables: dict[str, Node] = field(default_factory=dict[str, Node])
    imports: dict[str, Import] = field(default_factory=dict[str, Import])
    exports: dict[str, str | Import] = field(default_factory=dict[str, "str | Import"])
    stars: list[str] = field(default_factory=list[str])
    sources: list[str] = field(default_factory=list[str])
    augmentations: list[tuple[str, str, Node]] = field(default_factory=list[tuple[str, str, Node]])

    @property
    def offered(self) -> list[str]:
        """The names that others can use: what is exported, or in a file without exports everything."""
        return list(self.exports) if self.exports or self.stars else list(self.declarations)


@cache
def parser() -> Parser:
    """The one parser of TypeScript."""
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def parse(source: str, path: str = "") -> SourceFile:
    """A file from its text. Raises `ConfigError` where it isn't TypeScript."""
    root = parser().parse(source.encode("utf-8", "surrogatepass")).root_node
    found = SourceFile(path)
    for node in root.named_children:
        _statement(node, found)
    if root.has_error and not (found.declarations or found.exports or found.stars):
        raise ConfigError(f"{path}: it is no TypeScript that can be read")
    return found


def errors(source: str) -> bool:
    """Whether the text has syntax that the parser had to skip."""
    return parser().parse(source.encode("utf-8", "surrogatepass")).root_node.has_error


def _statement(node: Node, found: SourceFile, *, exported: bool = False) -> None:
    source = node.child_by_field_name("source")
    if node.type == "import_statement" and source is not None:
        _import(node, string(source), found)
    elif node.type == "export_statement":
        _export(node, None if source is None else string(source), found)
    elif node.type in _WRAPPERS:
        _ambient(node, found, exported=exported)
    elif node.type in _DECLARATIONS:
        name = text(node.child_by_field_name("name"))
        found.declarations.setdefault(name, []).append(node)
        if exported:
            found.exports[name] = name
    elif node.type == "lexical_declaration":
        for declarator in node.named_children:
            if declarator.type == "variable_declarator":
                found.variables[text(declarator.child_by_field_name("name"))] = declarator


def _import(node: Node, module: str, found: SourceFile) -> None:
    found.sources.append(module)
    for part in _below(node):
        if part.type == "import_specifier":
            name = text(part.child_by_field_name("name"))
            alias = part.child_by_field_name("alias")
            found.imports[name if alias is None else text(alias)] = Import(module, name)
        elif part.type == "namespace_import":
            found.imports[text(part.named_children[0])] = Import(module, "*")
        elif part.type == "identifier" and part.parent is not None and part.parent.type == "import_clause":
            found.imports[text(part)] = Import(module, "default")


def _export(node: Node, module: str | None, found: SourceFile) -> None:
    if module is not None:
        found.sources.append(module)
    specifiers = [part for part in _below(node) if part.type == "export_specifier"]
    for part in specifiers:
        name = text(part.child_by_field_name("name"))
        alias = part.child_by_field_name("alias")
        found.exports[name if alias is None else text(alias)] = name if module is None else Import(module, name)
    if module is not None and not specifiers:
        space = next((part for part in node.named_children if part.type == "namespace_export"), None)
        if space is None:
            found.stars.append(module)
        else:
            found.exports[text(space.named_children[0])] = Import(module, "*")
    declaration = node.child_by_field_name("declaration")
    if declaration is not None:
        _statement(declaration, found, exported=True)
        if any(child.type == "default" for child in node.children) and declaration.type in _DECLARATIONS:
            found.exports["default"] = text(declaration.child_by_field_name("name"))


def _ambient(node: Node, found: SourceFile, *, exported: bool) -> None:
    for child in node.named_children:
        if child.type == "module":
            name, body = child.child_by_field_name("name"), child.child_by_field_name("body")
            if name is None or body is None or name.type != "string":
                continue
            for statement in body.named_children:
                inner = statement.child_by_field_name("declaration") if statement.type == "export_statement" else statement
                if inner is not None and inner.type in _DECLARATIONS:
                    found.augmentations.append((string(name), text(inner.child_by_field_name("name")), inner))
        else:
            _statement(child, found, exported=exported)


def _below(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in ("import_clause", "named_imports", "export_clause"):
            yield from _below(child)
        yield child
