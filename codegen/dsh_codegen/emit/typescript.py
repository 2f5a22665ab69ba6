"""TypeScript declarations: one `.d.ts` per revision, an `index.d.ts` for the head, and the `package.json` around them.

What is emitted, for `TextBlock` (a record), `ContentBlock` (an open union) and a method:

    export interface TextBlock {
      type: "text";
      text: string;
    }
    export type ContentBlock = TextBlock | ImageBlock;
    export type ContentBlockOrUnknown = ContentBlock | UnknownContentBlock;
    export interface RequestMap {
      initialize: { params: InitializeParams; result: InitializeResult; sender: "client" };
    }

Members never use `...OrUnknown`: beside an arm whose tag is any string, TypeScript neither narrows nor checks the known arms.
Interfaces have no index signature, so that a misspelt member is an error; unknown members at run time do no harm.
The output names no global type (`Array`, `Record`): a definition may be called that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import ConfigError, SchemaError
from ..ir import (
    Array,
    Boolean,
    Definition,
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
from ..naming import revision_module, type_name
from .environment import environment
from .jsdoc import comment_lines, constraints, literal

FRAME_TYPES: Final = ("RequestFrame", "ResponseFrame", "NotificationFrame", "ErrorFrame")

_WIDTH: Final = 120
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_QUOTED_ANYWAY: Final = frozenset({"constructor", "__proto__"})
# what every object literal already has, with another type than a schema would give it
_INHERITED: Final = frozenset({
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class TypescriptOptions:
    """What the npm package is called and contains. `head` is the revision that the package root exports."""

    package: str
    version: str
    request_map: str
    notification_map: str
    head: str


@dataclass(frozen=True, slots=True)
class _Property:
    key: str
    arms: tuple[str, ...]
    optional: bool
    comment: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Interface:
    name: str
    comment: tuple[str, ...]
    properties: tuple[_Property, ...]
    kind: str = "interface"


@dataclass(frozen=True, slots=True)
class _Alias:
    """`arms` are the alternatives; more than one means a line each."""

    name: str
    comment: tuple[str, ...]
    arms: tuple[str, ...]
    kind: str = "alias"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One row of a method map; without params the method takes none."""

    key: str
    params: str | None
    result: str | None
    sender: str
    comment: tuple[str, ...]


def typescript_files(protocols: Sequence[Protocol], options: TypescriptOptions) -> dict[str, str]:
    """Relative path -> text. Raises `SchemaError` where two names meet, `ConfigError` for options that can't be used."""
    for name in (options.request_map, options.notification_map):
        if not _PLAIN_KEY.match(name):
            raise ConfigError(f"{name!r} can't be the name of a TypeScript type")
    modules: dict[str, Protocol] = {}
    for protocol in protocols:
        rival = modules.setdefault(revision_module(protocol.revision), protocol)
        if rival is not protocol:
            raise ConfigError(f"the revisions {rival.revision!r} and {protocol.revision!r} share one TypeScript module")
    head = next((protocol for protocol in protocols if protocol.revision == options.head), None)
    if head is None:
        raise ConfigError(f"the head revision {options.head!r} is not among the revisions to generate")
    files = {f"{module}.d.ts": _module(protocol, options) for module, protocol in modules.items()}
    files["index.d.ts"] = _render("index.d.ts.jinja", module=revision_module(head.revision))
    files["package.json"] = _package(tuple(modules), head, options)
    return files


def _module(protocol: Protocol, options: TypescriptOptions) -> str:
    _check_names(protocol, options)
    requests = tuple(_entry(method) for method in protocol.methods if method.result is not None)
    notifications = tuple(_entry(method) for method in protocol.methods if method.result is None)
    errors = [f"{error.code}: {error.doc}" for error in protocol.errors]
    return _render(
        "revision.d.ts.jinja",
        declarations=[declaration for definition in protocol.definitions for declaration in _declare(definition, protocol)],
        has_methods=bool(protocol.methods),
        request_map=options.request_map,
        requests=requests,
        notification_map=options.notification_map,
        notifications=notifications,
        error_codes=_comment(*errors, indent=4),
    )


def _check_names(protocol: Protocol, options: TypescriptOptions) -> None:
    """Refuse what would silently merge two declarations, or two rows of a map, into one."""
    owners = dict.fromkeys((options.request_map, options.notification_map, *FRAME_TYPES), "the method maps and frames")
    if options.request_map == options.notification_map:
        raise ConfigError(f"the request map and the notification map are both called {options.request_map!r}")
    for definition in protocol.definitions:
        name = type_name(definition.name)
        for taken in (name, f"{name}OrUnknown") if _is_open(definition.type, protocol) else (name,):
            if taken in owners:
                reason = f"the TypeScript name {taken!r} is already taken by {owners[taken]}; rename one of them"
                raise SchemaError(definition.pointer, reason)
            owners[taken] = definition.pointer
    seen: set[tuple[str, bool]] = set()
    for method in protocol.methods:
        key = (method.name, method.result is None)
        if key in seen:
            raise SchemaError("methods", f"the method {method.name!r} is listed twice")
        seen.add(key)


def _package(modules: Sequence[str], head: Protocol, options: TypescriptOptions) -> str:
    entries = {".": "./index.d.ts", **{f"./{module}": f"./{module}.d.ts" for module in modules}}
    content = {
        "name": options.package,
        "version": options.version,
        "description": f"{head.title}: TypeScript types, generated.",
        "type": "module",
        "types": "./index.d.ts",
        "exports": {name: {"types": target} for name, target in entries.items()} | {"./package.json": "./package.json"},
        "files": ["*.d.ts"],
    }
    return json.dumps(content, indent=2, ensure_ascii=True) + "\n"


def _render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)


# Definitions


def _declare(definition: Definition, protocol: Protocol) -> Iterator[_Interface | _Alias]:
    name = type_name(definition.name)
    source = f"schema: {definition.pointer}"
    deprecated = ("@deprecated",) if definition.deprecated else ()
    match definition.type:
        case Record() as record:
            comment = (*_comment(definition.doc, source), *deprecated)
            yield _Interface(name, comment, tuple(_property(member) for member in record.members))
        case node if _is_open(node, protocol):
            advice = (
                "The arms of this revision, told apart by their tag: for values you write, and for a `switch` over values you "
                f"read. A peer may be newer, so give that `switch` a default; `{name}OrUnknown` is the type of all it may send."
            )
            yield _Alias(name, (*_comment(definition.doc, advice, source), *deprecated), _alternatives(node))
            advice = (
                f"`{name}`, or an arm of a later revision: for values to keep or to pass on as they came. It does not narrow "
                f"on its tag, and a known arm with a wrong body passes as an unknown one: to look inside, use `{name}`."
            )
            arms = tuple(dict.fromkeys((name, *_unknown_arms(node, protocol))))
            yield _Alias(f"{name}OrUnknown", (*_comment(advice, source), *deprecated), arms)
        case node:
            comment = (*_comment(definition.doc, constraints(node), source), *deprecated)
            yield _Alias(name, comment, _alternatives(node))


def _property(member: Member) -> _Property:
    inherited = (
        "Every JavaScript object inherits a member of this name, so an object literal without it needs a cast."
        if member.wire in _INHERITED and not member.required
        else ""
    )
    comment = _comment(member.doc, constraints(member.type), inherited, indent=2)
    return _Property(
        key=_key(member.wire),
        arms=_alternatives(member.type),
        optional=not member.required,
        comment=(*comment, "@deprecated") if member.deprecated else comment,
    )


def _entry(method: Method) -> _Entry:
    return _Entry(
        key=_key(method.name),
        params=None if method.params is None else type_name(method.params),
        result=None if method.result is None else type_name(method.result),
        sender=method.sender,
        comment=_comment(method.doc, f"Sent by the {method.sender}.", indent=2),
    )


def _key(wire: str) -> str:
    return wire if _PLAIN_KEY.match(wire) and wire not in _QUOTED_ANYWAY else literal(wire)


def _comment(*paragraphs: str, indent: int = 0) -> tuple[str, ...]:
    return comment_lines(*paragraphs, width=_WIDTH - indent - len(" * "))


# Types


def _alternatives(node: Type) -> tuple[str, ...]:
    """The TypeScript types whose union is `node`, without the arms for the future."""
    match node:
        case Json():
            return ("unknown",)
        case Null():
            return ("null",)
        case Boolean():
            return ("boolean",)
        case String():
            return ("string",)
        case Number():
            return ("number",)
        case Literals(values=values):
            return tuple(dict.fromkeys(literal(value) for value in values)) or ("never",)
        case OpenEnum(known=known):
            return (*(literal(value) for value in known), "(string & {})")
        case Array(items=items):
            item = _expression(items)
            return (f"({item})[]" if len(_alternatives(items)) > 1 else f"{item}[]",)
        case Map(values=values):
            return (f"{{ [key: string]: {_expression(values)} }}",)
        case Ref(name=name):
            return (type_name(name),)
        case Union(declared=declared):
            unknown = [arm.type for arm in node.arms if arm.open]
            arms = [arm for arm in declared if arm not in unknown] or declared
            return tuple(dict.fromkeys(text for arm in arms for text in _alternatives(arm)))
        case Record():
            raise AssertionError("a record is always a definition")


def _expression(node: Type) -> str:
    return " | ".join(_alternatives(node))


def _is_open(node: Type, protocol: Protocol) -> bool:
    """Whether `node`, followed through references, is a union with an arm for the future."""
    return bool(_unknown_arms(node, protocol))


def _unknown_arms(node: Type, protocol: Protocol) -> tuple[str, ...]:
    """The names that `XOrUnknown` adds to X: X's own open arm, and `YOrUnknown` for an arm Y that is open itself."""
    match node:
        case Ref(name=name):
            return (f"{type_name(name)}OrUnknown",) if _is_open(protocol.by_name[name].type, protocol) else ()
        case Union(declared=declared, arms=arms):
            own = [arm.type for arm in arms if arm.open and arm.type in declared]
            names = [_expression(arm) for arm in own]
            for arm in declared:
                if arm not in own:
                    names += _unknown_arms(arm, protocol)
            return tuple(names)
        case _:
            return ()
