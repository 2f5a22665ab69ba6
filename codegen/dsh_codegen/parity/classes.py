"""Python classes as syntax trees -> definitions. Four ways to write a JSON object are understood, each by its own conventions:

generated   fields with `metadata={"wire": ...}`. None as a default means absent, UNSET means absent where null is a value
pydantic    `BaseModel`: `Field(alias=...)`, alias generators, `extra`. A field with a default may be absent for a reader
dataclass   as pydantic, with the field's own name on the wire unless its metadata has "wire" or "alias"
typed dict  `total`, `Required`, `NotRequired`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from .hints import Lookup, constant, last_name, parts_of, shape_of
from .model import (
    NOTHING,
    Definition,
    Member,
    Object,
    Place,
    Shape,
    json_text,
    literal,
    union,
    unread,
)

Dialect: TypeAlias = Literal["generated", "pydantic", "dataclass", "typed dict", "enum", "root"]

_ENUMS: Final = frozenset({"Enum", "StrEnum", "IntEnum"})
_FIELD: Final = frozenset({"field", "Field"})


@dataclass(frozen=True, slots=True)
class Source:
    """A class with the file and the module's names around it."""

    node: ast.ClassDef
    lookup: Lookup = str
    file: str = ""


Classes: TypeAlias = Mapping[str, Source]
NO_CLASSES: Final[Classes] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Field:
    """One annotated name of a class body, taken apart."""

    name: str
    hint: ast.expr
    default: ast.expr | None
    factory: bool
    options: Mapping[str, ast.expr]
    metadata: Mapping[str, ast.expr]
    line: int


def read_class(source: Source, classes: Classes = NO_CLASSES) -> Definition | None:
    """The definition of a class, or None if it describes no JSON. `classes` are those that it may inherit from."""
    lineage = _lineage(source, classes)
    dialect = _dialect(lineage)
    place = Place(source.file, source.node.lineno) if source.file else None
    name = source.node.name
    if dialect is None:
        return None
    if dialect == "enum":
        return Definition(name, _enum(source.node), place=place)
    if dialect == "root":
        return Definition(name, _root(lineage), place=place)
    config = _config(lineage)
    members: dict[str, Member] = {}
    open_ = _openness(dialect, config)
    for each in reversed(lineage):
        for field in _fields(each):
            if dialect == "generated" and "extra" in field.metadata:
                open_ = True
            elif (member := _member(field, dialect, each, config)) is not None:
                members[field.name] = member
    return Definition(name, Shape(objects=(Object(tuple(members.values()), open_),)), place=place)


def _lineage(source: Source, classes: Classes) -> list[Source]:
    """The class, then what it inherits from, nearest first."""
    found = [source]
    for each in found:
        for base in each.node.bases:
            inherited = classes.get(last_name(base.value if isinstance(base, ast.Subscript) else base, each.lookup))
            if inherited is not None and all(inherited.node is not other.node for other in found):
                found.append(inherited)
    return found


def _dialect(lineage: list[Source]) -> Dialect | None:
    bases = {
        last_name(base.value if isinstance(base, ast.Subscript) else base, each.lookup)
        for each in lineage
        for base in each.node.bases
    }
    if bases & _ENUMS:
        return "enum"
    if "RootModel" in bases:
        return "root"
    if "TypedDict" in bases:
        return "typed dict"
    if "BaseModel" in bases:
        return "pydantic"
    if not any(_decorated(each) for each in lineage):
        return None
    generated = "Payload" in bases or any({"wire", "extra"} & field.metadata.keys() for field in _fields(lineage[0]))
    return "generated" if generated else "dataclass"


def _decorated(source: Source) -> bool:
    return any(
        last_name(node.func if isinstance(node, ast.Call) else node, source.lookup) == "dataclass"
        for node in source.node.decorator_list
    )


def _enum(node: ast.ClassDef) -> Shape:
    values: list[Shape] = []
    for item in node.body:
        match item:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                try:
                    values.append(literal(constant(value)))
                except ValueError:
                    automatic = isinstance(value, ast.Call) and last_name(value.func) == "auto"
                    values.append(literal(name.lower()) if automatic else unread(ast.unparse(value)))
            case _:
                pass
    return union(NOTHING, *values)


def _root(lineage: list[Source]) -> Shape:
    for each in lineage:
        for field in _fields(each):
            if field.name == "root":
                return shape_of(field.hint, each.lookup)
        for base in each.node.bases:
            if isinstance(base, ast.Subscript):
                return shape_of(base.slice, each.lookup)
    return unread("RootModel")


def _fields(source: Source) -> Iterator[_Field]:
    for item in source.node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            hint = item.annotation
            if last_name(hint.value if isinstance(hint, ast.Subscript) else hint, source.lookup) in ("ClassVar", "InitVar"):
                continue
            yield _field(item.target.id, hint, item.value, source.lookup)


def _field(name: str, hint: ast.expr, value: ast.expr | None, lookup: Lookup) -> _Field:
    options: dict[str, ast.expr] = {}
    default = value
    calls = [part for part in _annotations(hint, lookup) if isinstance(part, ast.Call)]
    if isinstance(value, ast.Call) and last_name(value.func, lookup) in _FIELD:
        calls.append(value)
        default = None
    for call in calls:
        if last_name(call.func, lookup) in _FIELD:
            options |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
            if call.args:
                options["default"] = call.args[0]
    default = options.get("default", default)
    if isinstance(default, ast.Constant) and default.value is Ellipsis:
        default = None
    match options.get("metadata"):
        case ast.Dict(keys=keys, values=values):
            metadata = {str(key.value): item for key, item in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
        case _:
            metadata = {}
    return _Field(name, hint, default, "default_factory" in options, options, metadata, hint.lineno)


def _annotations(hint: ast.expr, lookup: Lookup) -> list[ast.expr]:
    if isinstance(hint, ast.Subscript) and last_name(hint.value, lookup) == "Annotated":
        return parts_of(hint.slice)[1:]
    return []


def _member(field: _Field, dialect: Dialect, source: Source, config: _Config) -> Member | None:
    if dialect == "pydantic" and (field.name.startswith("_") or field.name == "model_config"):
        return None
    shape = shape_of(field.hint, source.lookup)
    has_default = field.default is not None or field.factory
    default = _default(field.default)
    absent, shape = shape.absent, replace(shape, absent=False)
    if dialect == "typed dict":
        outer = last_name(field.hint.value, source.lookup) if isinstance(field.hint, ast.Subscript) else ""
        required = outer != "NotRequired" and (outer == "Required" or config.total)
        sent = required
    elif dialect == "generated":
        none = isinstance(field.default, ast.Constant) and field.default.value is None
        # a default that the hint doesn't allow leaves nothing that could mean "absent"
        required = sent = not has_default or not (absent if not none else shape.null or shape.any)
        if none:
            shape = replace(shape, null=False)
    else:
        required = not has_default
        sent = required or field.factory or default is not None
    place = Place(source.file, field.line) if source.file else None
    return Member(_wire(field, dialect, config), required, sent, shape, default, place=place)


def _default(node: ast.expr | None) -> str | None:
    """The JSON text of a scalar default; None for null, for none, and for what is computed."""
    try:
        value = None if node is None else constant(node)
    except ValueError:
        return None
    return None if value is None else json_text(value)


def _wire(field: _Field, dialect: Dialect, config: _Config) -> str:
    if dialect in ("generated", "dataclass"):
        named = field.metadata.get("wire", field.metadata.get("alias"))
    else:
        names = ("serialization_alias", "alias", "validation_alias")
        named = next((field.options[name] for name in names if name in field.options), None)
    if isinstance(named, ast.Constant) and isinstance(named.value, str):
        return named.value
    return config.alias(field.name) if dialect == "pydantic" else field.name


@dataclass(frozen=True, slots=True)
class _Config:
    alias: Callable[[str], str]
    extra: str
    total: bool


def _config(lineage: list[Source]) -> _Config:
    """What a class and its bases say about all of their fields; the nearest says it last."""
    settings: dict[str, ast.expr] = {}
    for each in reversed(lineage):
        settings |= {keyword.arg: keyword.value for keyword in each.node.keywords if keyword.arg is not None}
        for item in each.node.body:
            match item:
                case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                    settings |= _settings(value)
                case ast.AnnAssign(target=ast.Name(id="model_config"), value=ast.expr() as value):
                    settings |= _settings(value)
                case ast.ClassDef(name="Config", body=body):
                    for line in body:
                        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                            settings[line.targets[0].id] = line.value
                case _:
                    pass
    extra, total = settings.get("extra"), settings.get("total")
    return _Config(
        _generator(settings.get("alias_generator")),
        str(extra.value) if isinstance(extra, ast.Constant) else last_name(extra) if extra is not None else "",
        not (isinstance(total, ast.Constant) and total.value is False),
    )


def _settings(node: ast.expr) -> dict[str, ast.expr]:
    match node:
        case ast.Call(keywords=keywords):
            return {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
        case ast.Dict(keys=keys, values=values):
            return {str(key.value): value for key, value in zip(keys, values, strict=True) if isinstance(key, ast.Constant)}
        case _:
            return {}


def _generator(node: ast.expr | None) -> Callable[[str], str]:
    if isinstance(node, ast.Call):  # AliasGenerator(alias=to_camel)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        node = given.get("serialization_alias", given.get("alias", given.get("validation_alias")))
    name = "" if node is None else last_name(node)
    if name in ("to_camel", "to_lower_camel", "camelize", "to_camel_case"):
        return _camel
    if name in ("to_pascal", "pascalize", "to_pascal_case"):
        return lambda word: "".join(part[:1].upper() + part[1:] for part in word.split("_"))
    return str


def _camel(word: str) -> str:
    return re.sub(r"_+([0-9A-Za-z])", lambda match: match.group(1).upper(), word)


def _openness(dialect: Dialect, config: _Config) -> bool | None:
    if dialect == "generated":
        return False  # until the field for the rest is found
    if dialect == "pydantic":
        return config.extra != "forbid"
    return None
