"""Python text -> the model of parity: modules become definitions, `METHODS` becomes the method map. Nothing is imported.

Of a generated union the codec is read too, as far as it says how the arms are told apart: which member it looks at, which arm
each value leads to, and what becomes of any other value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ..errors import ConfigError
from .classes import NO_CLASSES, Classes, Source, read_class
from .hints import Lookup, constant, last_name, shape_of
from .model import NULL, Definition, Method, Place, Shape, Side, json_text, ref, union, unread

_NOT_DEFINITIONS: Final = frozenset({"methods.py", "__init__.py"})
_DISPATCH: Final = ("t", "x")


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed file. `names` are its imported names, by what they are called in it."""

    file: str
    tree: ast.Module
    names: Mapping[str, str]

    def lookup(self, name: str) -> str:
        """What a name of this module is called where it was defined."""
        return self.names.get(name, name)


def parse_module(text: str, file: str = "") -> Module:
    """A module from its text. Raises `ConfigError` where it isn't Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ConfigError(f"{file}:{error.lineno}: it is no Python that can be read: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: it is no Python that can be read: {error}") from None
    names = {
        alias.asname: alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    return Module(file, tree, names)


def read_file(path: Path) -> Module:
    """A module from its file. Raises `ConfigError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: can't be read: it is not UTF-8") from None
    return parse_module(text, str(path))


def read_package(folder: Path) -> Side:
    """The side of one revision's generated subpackage. Raises `ConfigError` where it isn't there."""
    files = sorted(folder.glob("*.py"))
    if not files:
        raise ConfigError(f"{folder}: there is no generated Python; run: dsh-codegen generate")
    definitions: dict[str, Definition] = {}
    for file in files:
        if file.name not in _NOT_DEFINITIONS:
            definitions |= read_definitions(read_file(file))
    methods = read_methods(read_file(folder / "methods.py")) if (folder / "methods.py").is_file() else {}
    return Side("python", definitions, methods)


def read_definitions(module: Module, classes: Classes = NO_CLASSES) -> dict[str, Definition]:
    """Every class and type alias of a module that describes JSON, by the name it has there."""
    found: dict[str, Definition] = {}
    codecs = _Codecs(module.tree.body)
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            definition = read_class(Source(node, module.lookup, module.file), classes)
            if definition is not None:
                found[node.name] = definition
        elif (alias := _alias(node, module.lookup)) is not None and not alias[0].startswith("_"):
            name, shape = alias
            place = Place(module.file, node.lineno) if module.file else None
            found[name] = codecs.definition(name, shape, place)
    return found


def _alias(node: ast.stmt, lookup: Lookup) -> tuple[str, Shape] | None:
    match node:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=hint, value=ast.expr() as value):
            return (name, shape_of(value, lookup)) if last_name(hint, lookup) == "TypeAlias" else None
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_, base])):
            return (name, shape_of(base, lookup)) if last_name(func, lookup) == "NewType" else None
        case ast.Assign(targets=[ast.Name(id=name)], value=(ast.Subscript() | ast.BinOp()) as value) if name[:1].isupper():
            return name, shape_of(value, lookup)
        case _ if type(node).__name__ == "TypeAlias":  # `type X = ...`, of Python 3.12
            target, meant = getattr(node, "name", None), getattr(node, "value", None)
            return (
                (target.id, shape_of(meant, lookup)) if isinstance(target, ast.Name) and isinstance(meant, ast.expr) else None
            )
        case _:
            return None


class _Codecs:
    """The decoders of a generated module, by name."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        self._tables: dict[str, ast.Dict] = {
            node.target.id: node.value
            for node in body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Dict)
        }

    def definition(self, name: str, shape: Shape, place: Place | None) -> Definition:
        """A type alias, with what its decoder says if it has one."""
        function = self._functions.get(f"decode_{name}")
        if function is None:
            return Definition(name, shape, place=place)
        tag = next(_tags(function), None)
        if tag is None:
            return Definition(name, shape, open=False, by_member=frozenset(), place=place)
        rest, table = _dispatch(function)
        arms: set[tuple[str, str]] = set() if rest is None else {("*", rest)}
        by_member: set[tuple[str, str]] = set()
        entries = self._tables.get(table, ast.Dict([], []))
        for key, value in zip(entries.keys, entries.values, strict=True):
            decoder = last_name(value)
            chosen, others = self._chooser(decoder)
            by_member |= chosen
            if key is not None:
                arms |= {(_key(key), other.removeprefix("decode_")) for other in others or [decoder]}
        return Definition(name, shape, tag, rest is not None, frozenset(arms), frozenset(by_member), place=place)

    def _chooser(self, name: str) -> tuple[set[tuple[str, str]], list[str]]:
        """Of a function that chooses by a member: definition and member, and the names of all decoders it may call."""
        function = self._functions.get(name)
        match function and function.body:
            case [
                ast.Return(
                    value=ast.IfExp(
                        test=ast.Compare(left=ast.Constant(value=str(member))),
                        body=ast.Call(func=first),
                        orelse=ast.Call(func=second),
                    )
                )
            ]:
                return {(last_name(first).removeprefix("decode_"), member)}, [last_name(first), last_name(second)]
            case _:
                return set(), []


def _tags(function: ast.FunctionDef) -> Iterator[str]:
    for node in function.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id="o"), slice=ast.Constant(value=str(tag)))
            ) if name in _DISPATCH:
                yield tag
            case _:
                pass


def _dispatch(function: ast.FunctionDef) -> tuple[str | None, str]:
    """The definition that takes the values of the future (None: they are refused), and the name of the table."""
    match function.body[-1]:
        case ast.Return(
            value=ast.Call(func=ast.Call(func=ast.Attribute(value=ast.Name(id=table), attr="get"), args=[_, ast.Name(id=rest)]))
        ):
            return rest.removeprefix("decode_"), table
        case ast.Return(value=ast.Call(func=ast.Subscript(value=ast.Name(id=table)))):
            return None, table
        case _:
            return None, ""


def _key(node: ast.expr) -> str:
    value = constant(node)
    return "null" if value is None else json_text(value)


# The method map


_WAYS: Final[Mapping[str, str]] = MappingProxyType({"decode_params": "params", "decode_result": "result"})


def read_methods(module: Module) -> dict[str, Method]:
    """The method map of a generated `methods.py`.

    It says the same three times: in `METHODS`, in the types of `Methods`, and in the overloads. Where they differ, the shape
    is the union of what they say, which agrees with nothing else.
    """
    table: Mapping[str, ast.Call] = {}
    typed: Mapping[str, ast.expr] = {}
    overloads: dict[tuple[str, str], Shape] = {}
    for node in module.tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id="METHODS"), value=ast.Dict() as value):
                table = {name: call for name, call in _entries(value) if isinstance(call, ast.Call)}
            case ast.Assign(targets=[ast.Name(id="Methods")], value=ast.Call(args=[_, ast.Dict() as value])):
                typed = dict(_entries(value))
            case ast.FunctionDef(name=name, args=ast.arguments(args=[first, *_]), returns=ast.expr() as returns) if (
                name in _WAYS and first.annotation is not None
            ):
                if isinstance(first.annotation, ast.Subscript) and isinstance(first.annotation.slice, ast.Constant):
                    overloads[str(first.annotation.slice.value), _WAYS[name]] = shape_of(returns, module.lookup)
            case _:
                pass
    names = dict.fromkeys([*table, *typed, *(name for name, _ in overloads)])
    return {name: _method(name, table.get(name), typed.get(name), overloads, module) for name in names}


def _entries(node: ast.Dict) -> list[tuple[str, ast.expr]]:
    return [
        (key.value, value)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]


def _method(
    name: str,
    call: ast.Call | None,
    typed: ast.expr | None,
    overloads: Mapping[tuple[str, str], Shape],
    module: Module,
) -> Method:
    if call is None or len(call.args) < 3:
        return Method(f"{name} (not in METHODS)", None, None, None)
    spelled, sender, *payloads = call.args
    kinds = {"params": payloads[0], **({"result": payloads[1]} if len(payloads) > 1 else {})}
    hinted = {} if typed is None else _hinted(typed, module)
    missing = ["Methods"] if typed is None else []
    missing += [f"the overloads of decode_{way}" for way in kinds if (name, way) not in overloads]
    shapes: dict[str, Shape | None] = {"params": None, "result": None}
    for way in shapes:
        stated = [*([_payload(kinds[way])] if way in kinds else []), *([hinted[way]] if way in hinted else [])]
        stated += [overloads[name, way]] if (name, way) in overloads else []
        if way not in kinds and stated:
            stated.append(unread("the result of a notification"))
        shapes[way] = None if all(shape == NULL for shape in stated) else union(*stated)
    if last_name(call.func, module.lookup) != ("Request" if "result" in kinds else "Notification"):
        shapes["result"] = unread(f"{last_name(call.func)} with {len(call.args)} arguments")
    place = Place(module.file, call.lineno) if module.file else None
    called = str(constant(spelled)) + (f" (not in {' and '.join(missing)})" if missing else "")
    return Method(called, str(constant(sender)), shapes["params"], shapes["result"], place)


def _payload(node: ast.expr) -> Shape:
    """`TypeRef(package, module, class, definition)`; the class counts, and it must be called after its definition."""
    match node:
        case ast.Constant(value=None):
            return NULL
        case ast.Call(args=[_, _, ast.Constant(value=str(name)), ast.Constant(value=str(definition))]):
            same = "".join(filter(str.isalnum, definition)).lower() == "".join(filter(str.isalnum, name)).lower()
            return ref(name) if same else union(ref(name), ref(definition))
        case _:
            return unread(ast.unparse(node))


def _hinted(node: ast.expr | None, module: Module) -> dict[str, Shape]:
    """`Request[Params, Result]` or `Notification[Params]`, as a string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if not isinstance(node, ast.Subscript):
        return {}
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    ways = ("params", "result") if last_name(node.value, module.lookup) == "Request" else ("params",)
    return {way: shape_of(part, module.lookup) for way, part in zip(ways, parts, strict=False)}
