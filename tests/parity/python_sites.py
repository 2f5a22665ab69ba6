"""Every site of the generated Python of one revision."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final

from dsh_codegen.parity.found import Tags
from dsh_codegen.parity.model import Side
from dsh_codegen.parity.python import parse_module, read_definitions
from tests.parity.python_methods import method_sites
from tests.parity.python_text import Piece
from tests.parity.sites import OTHER, Site, Sites, also_named

_SWAPPED: Final = {"str": "int", "int": "str", "float": "str", "bool": "str", "Any": "str"}


class PythonSites:
    """The changes of one generated subpackage."""

    def __init__(self, folder: Path, side: Side, tags: Tags, skipped: Set[str]) -> None:
        self._folder = folder
        self._side = side
        self._sites = Sites(side, tags, skipped)

    def all(self) -> Iterator[Site]:
        """Every site, module by module, then the method map."""
        for file in sorted(self._folder.glob("*.py")):
            if file.name not in ("__init__.py", "methods.py"):
                yield from self._module(file.read_text(encoding="utf-8"))
        yield from method_sites((self._folder / "methods.py").read_text(encoding="utf-8"), self._sites)

    def _module(self, text: str) -> Iterator[Site]:
        lines = text.encode().splitlines(keepends=True)
        parts: dict[str, list[ast.stmt]] = {}
        body = ast.parse(text).body
        for node in body:
            match node:
                case ast.ClassDef(name=name):
                    parts[name] = [node]
                case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                    parts[name] = [node]
                case _:
                    pass
        for node in body:
            name = _owner(node)
            if name in parts and isinstance(parts[name][0], ast.AnnAssign):
                parts[name].append(node)
        for name, nodes in parts.items():
            if name in self._sites.skipped:
                continue
            piece = b"".join(_text(node, lines) for node in nodes)
            yield from self._piece(name, piece)

    def _piece(self, name: str, piece: bytes) -> Iterator[Site]:
        assert self._read(name, piece.decode()) == self._side.definitions, name  # the piece says all that the module says of it
        node, *codecs = ast.parse(piece).body
        edit = _Edit(self._sites, name, Piece(piece))
        yield from self._sites.definition(name)
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign):
                    yield from self._field(edit, item)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from self._hint(edit, node.value, "", alias=True)
            yield from self._codecs(edit, codecs)

    def _read(self, name: str, text: str) -> dict[str, object]:
        found = read_definitions(parse_module(text))
        return {**self._side.definitions, **{each: definition for each, definition in found.items() if each == name}}

    def _field(self, edit: _Edit, item: ast.AnnAssign) -> Iterator[Site]:
        assert isinstance(item.value, ast.Call)
        options = {keyword.arg: keyword for keyword in item.value.keywords}
        metadata = options["metadata"].value
        assert isinstance(metadata, ast.Dict)
        key, value = metadata.keys[0], metadata.values[0]
        assert isinstance(key, ast.Constant)
        assert isinstance(value, ast.Constant)
        if key.value == "extra":
            yield edit.site("open", "no extra", "", (item, "pass"))
            return
        wire = str(value.value)
        path = f".{wire}"
        yield also_named(edit.site("member", f"rename {wire}", path, (value, repr(OTHER))), path=f".{OTHER}")
        yield edit.site("member", f"remove {wire}", path, (item, "pass"))
        default = options.get("default")
        hint = item.annotation
        hinted = ast.unparse(hint)
        if default is None:
            yield edit.site(
                "required", f"{wire} optional", path, (hint, f"{hinted} | UnsetType"), (metadata, _default(metadata, "UNSET"))
            )
            if hinted.endswith(" | None"):
                yield edit.site("nullable", f"{wire} not null", path, (hint, hinted.removesuffix(" | None")))
            elif hinted != "Any":
                yield edit.site("nullable", f"{wire} null", path, (hint, f"{hinted} | None"))
        elif isinstance(default.value, ast.Constant) and default.value.value is None:
            plain = hinted.removesuffix(" | None")
            yield edit.site(
                "required", f"{wire} required", path, (hint, plain), (item.value, f"field(metadata={ast.unparse(metadata)})")
            )
            unset = f"{hinted} | UnsetType"
            yield edit.site("nullable", f"{wire} null", path, (hint, unset), (default.value, "UNSET"))
        elif isinstance(default.value, ast.Name):
            plain = hinted.removesuffix(" | UnsetType")
            yield edit.site(
                "required", f"{wire} required", path, (hint, plain), (item.value, f"field(metadata={ast.unparse(metadata)})")
            )
            if " | None" in hinted:
                yield edit.site("nullable", f"{wire} not null", path, (hint, hinted.replace(" | None", "", 1)))
        else:
            yield edit.site("literals", f"default of {wire}", path, (default.value, _other(default.value)))
            yield edit.site("required", f"{wire} optional", path, (hint, f"{hinted} | UnsetType"), (default.value, "UNSET"))
            yield edit.site("nullable", f"{wire} null", path, (hint, f"{hinted} | None"))
        yield from self._hint(edit, hint, path)

    def _hint(self, edit: _Edit, hint: ast.expr, path: str, *, alias: bool = False) -> Iterator[Site]:
        """The changes of one hint and of those inside it."""
        parts = _alternatives(hint)
        meant = [part for part in parts if ast.unparse(part) not in ("None", "UnsetType")]
        refs = [part for part in meant if isinstance(part, ast.Name) and part.id not in _SWAPPED]
        literals = [part for part in meant if isinstance(part, ast.Subscript) and ast.unparse(part.value) == "Literal"]
        if alias or path.endswith(("[]", "{}")):
            text = ast.unparse(hint)
            if "None" in [ast.unparse(part) for part in parts]:
                yield edit.site("nullable", "not null", path, (hint, " | ".join(ast.unparse(part) for part in meant)))
            elif text != "Any":
                yield edit.site("nullable", "null too", path, (hint, f"{text} | None"))
        if len(meant) == 1:
            part = meant[0]
            text = ast.unparse(part)
            outer = ast.unparse(part.value) if isinstance(part, ast.Subscript) else ""
            if text != "Any":
                if outer == "list":
                    assert isinstance(part, ast.Subscript)
                    items = ast.unparse(part.slice)
                    yield edit.site("array", "its items", path, (part, "str" if items == "Any" else items))
                else:
                    yield edit.site("array", "a list of it", path, (part, f"list[{text}]"))
                if outer == "dict":
                    assert isinstance(part, ast.Subscript)
                    assert isinstance(part.slice, ast.Tuple)
                    held = ast.unparse(part.slice.elts[1])
                    yield edit.site("map", "its values", path, (part, "str" if held == "Any" else held))
                elif outer != "list":
                    yield edit.site("map", "a dict of it", path, (part, f"dict[str, {text}]"))
        for part in meant:
            if isinstance(part, ast.Name) and part.id in _SWAPPED and not literals:
                yield edit.site("type", f"{part.id} swapped", path, (part, _SWAPPED[part.id]))
                if part.id == "int":
                    yield edit.site("type", "int to float", path, (part, "float"))
            elif isinstance(part, ast.Name) and part.id in _SWAPPED:
                yield edit.site("open", "closed", path, *_without(hint, parts, part))
            elif isinstance(part, ast.Subscript) and ast.unparse(part.value) == "list":
                yield from self._hint(edit, part.slice, f"{path}[]")
            elif isinstance(part, ast.Subscript) and ast.unparse(part.value) == "dict":
                assert isinstance(part.slice, ast.Tuple)
                yield from self._hint(edit, part.slice.elts[1], f"{path}{{}}")
        for part in refs:
            category = "arms" if len(refs) > 1 else "type"
            yield edit.site(category, f"{part.id} swapped", path, (part, OTHER))
            if len(refs) > 1:
                yield edit.site("arms", f"without {part.id}", path, *_without(hint, parts, part))
        if len(refs) > 1 or (refs and alias and len(meant) > 1):
            yield edit.site("arms", "one arm more", path, (hint, f"{ast.unparse(hint)} | {OTHER}"))
        for part in literals:
            values = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            for value in values:
                yield edit.site("literals", "another value", path, (value, _other(value)))
                if len(values) > 1:
                    left = ", ".join(ast.unparse(each) for each in values if each is not value)
                    yield edit.site("literals", "one value less", path, (part.slice, left))
            yield edit.site(
                "literals", "one value more", path, (part.slice, f"{ast.unparse(part.slice).strip('()')}, {_other(values[0])}")
            )
            if len(meant) == 1 and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str):
                yield edit.site("open", "open", path, (part, f"{ast.unparse(part)} | str"))

    def _codecs(self, edit: _Edit, codecs: list[ast.stmt]) -> Iterator[Site]:
        for node in (inner for each in codecs for inner in ast.walk(each)):
            match node:
                case ast.Assign(
                    targets=[ast.Name(id="t" | "x")], value=ast.Subscript(value=ast.Name(id="o"), slice=ast.Constant() as tag)
                ):
                    yield edit.site("discriminator", "another tag", "", (tag, repr(OTHER)))
                case ast.AnnAssign(target=ast.Name(id=table), value=ast.Dict(keys=keys, values=values)) if table.startswith(
                    "_ARMS_"
                ):
                    for key, value in zip(keys, values, strict=True):
                        assert key is not None
                        yield edit.site("discriminator", f"key {ast.unparse(key)}", "", (key, _other(key)))
                        yield edit.site("discriminator", f"arm of {ast.unparse(key)}", "", (value, f"decode_{OTHER}"))
                case ast.Return(value=ast.Call(func=ast.Call(func=ast.Attribute(attr="get"), args=[_, rest]) as get)):
                    yield edit.site("discriminator", "the arm of the future", "", (rest, f"decode_{OTHER}"))
                    assert isinstance(get.func, ast.Attribute)
                    yield edit.site("open", "closed", "", (get, f"{ast.unparse(get.func.value)}[t]"))
                case ast.Return(value=ast.Call(func=ast.Subscript(value=ast.Name(id=table)) as lookup)) if table.startswith(
                    "_ARMS_"
                ):
                    yield edit.site("open", "open", "", (lookup, f"{table}.get(t, decode_{OTHER})"))
                case ast.Return(
                    value=ast.IfExp(test=ast.Compare(left=member), body=ast.Call(func=first), orelse=ast.Call(func=second))
                ):
                    yield edit.site("discriminator", "by another member", "", (member, repr(OTHER)))
                    yield edit.site("discriminator", "another arm by a member", "", (first, f"decode_{OTHER}"))
                    yield edit.site("discriminator", "another arm without it", "", (second, f"decode_{OTHER}"))
                case _:
                    pass


class _Edit:
    """Sites of one definition's text."""

    def __init__(self, sites: Sites, name: str, piece: Piece) -> None:
        self.name = name
        self._sites = sites
        self._piece = piece

    def site(self, category: str, what: str, path: str, *edits: tuple[ast.AST, str]) -> Site:
        """The text with nodes replaced."""
        return self._sites.inside(
            category, what, self.name, path, lambda: read_definitions(parse_module(self._piece.changed(*edits)))
        )


def _owner(node: ast.stmt) -> str:
    """The definition whose decoder, table or chooser a statement is."""
    match node:
        case ast.FunctionDef(name=name) if name.startswith("decode_"):
            return name.removeprefix("decode_")
        case ast.FunctionDef(name=name) if name.startswith("_choose_"):
            return name.removeprefix("_choose_").rpartition("_")[0]
        case ast.AnnAssign(target=ast.Name(id=name)) if name.startswith("_ARMS_"):
            return name.removeprefix("_ARMS_")
        case _:
            return ""


def _text(node: ast.stmt, lines: list[bytes]) -> bytes:
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(each.lineno for each in decorators)])
    return b"".join(lines[start - 1 : node.end_lineno]) + b"\n"


def _alternatives(hint: ast.expr) -> list[ast.expr]:
    if isinstance(hint, ast.BinOp):
        return [*_alternatives(hint.left), *_alternatives(hint.right)]
    return [hint]


def _without(hint: ast.expr, parts: list[ast.expr], part: ast.expr) -> list[tuple[ast.AST, str]]:
    return [(hint, " | ".join(ast.unparse(each) for each in parts if each is not part))]


def _other(node: ast.expr) -> str:
    assert isinstance(node, ast.Constant)
    value = node.value
    return repr(not value if isinstance(value, bool) else 77 if isinstance(value, int) else OTHER)


def _default(metadata: ast.Dict, default: str) -> str:
    return f"{ast.unparse(metadata)}, default={default}"
