"""The classes of the generated package, rendered by datamodel-code-generator through our template.

The library supplies what it is good at: which classes there are, and every type hint. Names, wire names, defaults and docs come
from the IR. This module is the whole interface to it, in both directions:

- in: the IR lowered to the plainest JSON Schema that has the same hints. Constraints, descriptions and `discriminator` would
  make the library wrap types or rename classes, so it never sees them; members already carry their Python names.
- out: one source text per definition, cut from the library's module by syntax tree, not by text.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_never

from .. import naming
from ..errors import CodegenError
from ..ir import (
    Array,
    Boolean,
    Definition,
    Json,
    Literals,
    Map,
    Member,
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
from .literals import py_docstring, py_literal

TEMPLATES = Path(__file__).parent / "templates"


def render_types(protocol: Protocol) -> dict[str, str]:
    """Source text by definition name: a dataclass for a record, a type alias for anything else."""
    if not protocol.definitions:
        return {}
    data = {naming.type_name(d.name): _template_data(d, protocol) for d in protocol.definitions if isinstance(d.type, Record)}
    module = _generate(json.dumps(_lowered(protocol)), data)
    texts = _split(module, data)
    names = {naming.type_name(definition.name): definition.name for definition in protocol.definitions}
    if texts.keys() != names.keys():
        raise CodegenError(f"datamodel-code-generator renamed or dropped types: {sorted(texts.keys() ^ names.keys())}")
    return {names[name]: text for name, text in texts.items()}


def nullable(node: Type, protocol: Protocol) -> bool:
    """Whether null is among the values of `node`."""
    match protocol.resolve(node):
        case Null() | Json():
            return True
        case Literals(values):
            return None in values
        case Union(arms=arms):
            return any(nullable(arm.type, protocol) for arm in arms)
        case _:
            return False


def _generate(schema: str, data: Mapping[str, Any]) -> str:
    from datamodel_code_generator import generate
    from datamodel_code_generator.enums import DataModelType, InputFileType
    from datamodel_code_generator.format import PythonVersion
    from datamodel_code_generator.parser import LiteralType

    module = generate(
        schema,
        input_file_type=InputFileType.JsonSchema,
        input_filename="bundle.json",
        output_model_type=DataModelType.DataclassesDataclass,
        target_python_version=PythonVersion.PY_311,
        use_union_operator=True,
        use_standard_collections=True,
        enum_field_as_literal=LiteralType.All,
        use_type_alias=True,
        disable_timestamp=True,
        strict_nullable=True,
        allow_remote_refs=False,
        formatters=[],  # the built-in one reads settings from any pyproject.toml above the working directory
        skip_root_model=True,
        keep_model_order=True,
        custom_template_dir=TEMPLATES / "datamodel",
        custom_class_name_generator=lambda name: name,
        extra_template_data=defaultdict(dict, data),
    )
    if not isinstance(module, str):
        raise CodegenError("datamodel-code-generator returned no module")
    return module


def _split(module: str, data: Mapping[str, Any]) -> dict[str, str]:
    lines = module.splitlines(keepends=True)
    texts: dict[str, str] = {}
    for node in ast.parse(module).body:
        match node:
            case ast.ClassDef(name=name, body=body):
                found = [
                    item.target.id for item in body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                ]
                extra = [] if data[name]["closed"] else ["extra"]
                if found != [*(member["name"] for member in data[name]["members"]), *extra]:
                    raise CodegenError(f"datamodel-code-generator wrote other members for the class {name}: {found}")
                start = node.decorator_list[0].lineno
            case ast.AnnAssign(target=ast.Name(id=name)):
                start = node.lineno
            case _:
                continue
        texts[name] = "".join(lines[start - 1 : node.end_lineno])
    return texts


def _template_data(definition: Definition, protocol: Protocol) -> dict[str, Any]:
    assert isinstance(definition.type, Record)
    names = naming.member_names([member.wire for member in definition.type.members], definition.pointer)
    members = [
        {
            "name": names[member.wire],
            "wire": py_literal(member.wire),
            "default": _default(member, protocol),
            "doc": py_docstring(member.doc, "    ") if member.doc else "",
        }
        for member in definition.type.members
    ]
    return {"doc": py_docstring(class_doc(definition), "    "), "members": members, "closed": definition.type.closed}


def class_doc(definition: Definition) -> str:
    """The docstring of a generated type: its description and where it was read from."""
    note = "Deprecated.\n\n" if definition.deprecated else ""
    doc = f"{definition.doc}\n\n" if definition.doc else ""
    return f"{doc}{note}Schema: {definition.pointer}"


def _default(member: Member, protocol: Protocol) -> str:
    """A literal, `required`, or `UNSET` where None would mean null."""
    if member.required:
        if isinstance(member.type, Literals) and len(member.type.values) == 1 and member.type.values[0] is not None:
            return py_literal(member.type.values[0])
        return "required"
    return "UNSET" if nullable(member.type, protocol) else "None"


def _lowered(protocol: Protocol) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    for definition in protocol.definitions:
        name = naming.type_name(definition.name)
        if isinstance(definition.type, Record):
            definitions[name] = _record(definition.type, definition.pointer, protocol)
        else:
            definitions[name] = _hint(definition.type)
    title = "Root"  # the library makes a class of it, which is left out in the end
    while title in definitions:
        title += "Root"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "$defs": definitions}


def _record(node: Record, where: str, protocol: Protocol) -> dict[str, Any]:
    names = naming.member_names([member.wire for member in node.members], where)
    properties = {names[member.wire]: _hint(member.type) for member in node.members}
    required = [names[member.wire] for member in node.members if member.required or nullable(member.type, protocol)]
    return {"type": "object", "properties": properties, "required": required}


def _hint(node: Type) -> dict[str, Any]:
    """The plainest schema for which the library writes the hint we want."""
    match node:
        case Json():
            return {}
        case Null():
            return {"type": "null"}
        case Boolean():
            return {"type": "boolean"}
        case String():
            return {"type": "string"}
        case Number(integer=integer):
            return {"type": "integer" if integer else "number"}
        case Literals(values):
            return {"enum": list(values)}
        case OpenEnum(known):
            return {"anyOf": [{"enum": list(known)}, {"type": "string"}]}
        case Array(items):
            return {"type": "array", "items": _hint(items)}
        case Map(values):
            return {"type": "object", "additionalProperties": _hint(values)}
        case Ref(name):
            return {"$ref": f"#/$defs/{naming.type_name(name)}"}
        case Union(declared):
            return {"anyOf": [_hint(arm) for arm in declared]}
        case Record():
            raise AssertionError("a record is always a definition of its own")
        case _:
            assert_never(node)
