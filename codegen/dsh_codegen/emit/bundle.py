"""IR -> one self-contained JSON Schema 2020-12 document: the bundle.

The canonical spelling of a revision: what the codecs are tested against, what validators of any language can use, and what is
frozen under `schema/revisions/`. Reading a bundle back gives the same IR.

Where the IR knows more than JSON Schema can say, `x-` keywords say it beside a schema that is right without them:

    x-tag         the member whose value tells a union's arms apart
    x-open        future tags or values pass through
    x-known       the known values of an open enum
    x-by-member   arms that are chosen by having a member, where another arm has the same tag value
    x-lenient     any JSON, kept raw, because it only echoes what another party sent
    x-module      the schema file that a definition came from
    x-revision, x-methods, x-errors    the method table

The root schema judges a whole frame: a request or notification by its method, a response by its shape (which method it answers,
only the conversation tells).
"""

from __future__ import annotations

import json
from typing import Any, assert_never
from urllib.parse import quote

from ..ir import (
    DIALECT,
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

Schema = dict[str, Any]


def bundle_text(protocol: Protocol, package: str) -> str:
    """The bundle as a file: indented JSON, UTF-8 as it stands, a final newline."""
    return (
        json.dumps(bundle(protocol, package), indent=1, ensure_ascii=False)
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        + "\n"
    )


def bundle(protocol: Protocol, package: str) -> Schema:
    """The bundle of `protocol`; `package` names it in `$id`."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:{package.replace('_', '-')}:{quote(protocol.revision, safe='')}",
        "title": protocol.title,
        "x-revision": protocol.revision,
        "x-methods": [_method_row(method) for method in protocol.methods],
        "x-errors": [{"code": error.code, "description": error.doc} for error in protocol.errors],
        **({"anyOf": _frames(protocol)} if protocol.methods else {}),
        "$defs": {definition.name: _definition(definition) for definition in protocol.definitions},
    }


def schema_of(node: Type) -> Schema:
    """One type as JSON Schema."""
    match node:
        case Json(lenient=lenient):
            return {"x-lenient": True} if lenient else {}
        case Null():
            return {"type": "null"}
        case Boolean():
            return {"type": "boolean"}
        case String():
            return _string(node)
        case Number():
            return _number(node)
        case Literals(values):
            return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
        case OpenEnum(known, min_length):
            bound = {"minLength": min_length} if min_length else {}
            return {"type": "string", **bound, "x-open": True, "x-known": list(known)}
        case Array():
            return _array(node)
        case Map(values):
            free = schema_of(values)
            return {"type": "object", "additionalProperties": free} if free else {"type": "object"}
        case Ref(name):
            return {"$ref": _ref(name)}
        case Union():
            return _union(node)
        case Record():
            return _record(node)
        case _:
            assert_never(node)


def _definition(definition: Definition) -> Schema:
    return {
        **_doc(definition.doc, deprecated=definition.deprecated),
        "x-module": definition.module,
        **schema_of(definition.type),
    }


def _string(node: String) -> Schema:
    schema: Schema = {"type": "string"}
    if node.min_length:
        schema["minLength"] = node.min_length
    if node.max_length is not None:
        schema["maxLength"] = node.max_length
    if node.pattern is not None:
        schema["pattern"] = node.pattern
    if node.excluded:
        schema["not"] = {"enum": list(node.excluded)}
    return schema


def _number(node: Number) -> Schema:
    bounds = {
        "minimum": node.minimum,
        "maximum": node.maximum,
        "exclusiveMinimum": node.exclusive_minimum,
        "exclusiveMaximum": node.exclusive_maximum,
        "multipleOf": node.multiple_of,
    }
    return {
        "type": "integer" if node.integer else "number",
        **{key: value for key, value in bounds.items() if value is not None},
    }


def _array(node: Array) -> Schema:
    schema: Schema = {"type": "array"}
    items = schema_of(node.items)
    if items:
        schema["items"] = items
    if node.min_items:
        schema["minItems"] = node.min_items
    if node.max_items is not None:
        schema["maxItems"] = node.max_items
    if node.unique:
        schema["uniqueItems"] = True
    return schema


def _record(node: Record) -> Schema:
    return {
        "type": "object",
        "properties": {member.wire: _member(member) for member in node.members},
        "required": [member.wire for member in node.members if member.required],
        **({"additionalProperties": False} if node.closed else {}),
    }


def _member(member: Member) -> Schema:
    return {**_doc(member.doc, deprecated=member.deprecated), **schema_of(member.type)}


def _union(node: Union) -> Schema:
    scalars = [arm.type for arm in node.arms if isinstance(arm.type, (Null, Boolean, String, Number))]
    if len(node.declared) == 2 and Null() in scalars and len(scalars) == 2:
        inner = schema_of(next(arm for arm in scalars if arm != Null()))
        return {"type": [inner.pop("type"), "null"], **inner}
    shared = {arm.type.name: arm for arm in node.arms if arm.member is not None and isinstance(arm.type, Ref)}
    schema: Schema = {}
    if node.tag is not None:
        schema["x-tag"] = node.tag
    if node.open_arm is not None:
        schema["x-open"] = True
    if shared:
        schema["x-by-member"] = {name: arm.member for name, arm in shared.items()}
    gives_way = [
        {"not": {"properties": {node.tag: {"enum": list(arm.tags)}}, "required": [node.tag, arm.member]}}
        for arm in shared.values()
    ]
    arms: list[Schema] = []
    for declared in node.declared:
        arm_schema = schema_of(declared)
        chosen = isinstance(declared, Ref) and declared.name in shared
        arms.append({"allOf": [arm_schema, *gives_way]} if shared and not chosen and isinstance(declared, Ref) else arm_schema)
    return {**schema, "anyOf": arms}


def _frames(protocol: Protocol) -> list[Schema]:
    version: Schema = {"const": "2.0"}
    ident: Schema = {"type": ["string", "number"]}
    frames: list[Schema] = []
    for method in protocol.methods:
        params: Schema = {} if method.params is None else {"params": {"$ref": _ref(method.params)}}
        head: Schema = {"jsonrpc": version, "method": {"const": method.name}}
        required = ["jsonrpc", "method", *([] if method.params is None else ["params"])]
        if method.result is not None:
            frames.append({"type": "object", "properties": {**head, "id": ident, **params}, "required": [*required, "id"]})
        else:
            frames.append({"type": "object", "properties": {**head, "id": False, **params}, "required": required})
    results = [{"$ref": _ref(name)} for name in dict.fromkeys(m.result for m in protocol.methods if m.result is not None)]
    head = {"jsonrpc": version, "id": ident, "method": False}
    codes: Schema = {"enum": [error.code for error in protocol.errors]} if protocol.errors else {"type": "integer"}
    error: Schema = {
        "type": "object",
        "properties": {"code": codes, "message": {"type": "string"}},
        "required": ["code", "message"],
    }
    if results:
        found: Schema = {**head, "result": {"anyOf": results}, "error": False}
        frames.append({"type": "object", "properties": found, "required": ["jsonrpc", "id", "result"]})
    frames.append(
        {"type": "object", "properties": {**head, "error": error, "result": False}, "required": ["jsonrpc", "id", "error"]}
    )
    return frames


def _method_row(method: Method) -> Schema:
    result = {} if method.result is None else {"result": method.result}
    return {"name": method.name, "sender": method.sender, "params": method.params, **result, "description": method.doc}


def _doc(text: str, *, deprecated: bool) -> Schema:
    return {**({"description": text} if text else {}), **({"deprecated": True} if deprecated else {})}


def _ref(name: str) -> str:
    return "#/$defs/" + quote(name.replace("~", "~0").replace("/", "~1"))
