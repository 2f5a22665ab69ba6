"""Random bundles and values that nearly fit them: all that a bundle may say, and some of what it must not."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

_NAMES: Final = ["a", "b", "type", "kind", "class", "_x", "x_61", "a b", "é", "", "0", "self", "mro", "a.b", '"q', "\n"]
_TAGS: Final[Sequence[Any]] = ["x", "y", "z", "", "é", 1, 2, '"']
_SCALARS: Final[Sequence[Any]] = [
    *(None, True, False, 0, 1, 2, 3, -1, 1.0, 1.5, 0.5, "", "x", "y", "z", "xx", "é", "1", 2**53, 2**63, "2026")
]
_TEXTS: Final = ["", "x", "y", "z", "xx", "é", "xy", "e\u0301", "😀", "1"]
_NUMBERS: Final = [0, 1, 2, 3, -1, 1.0, 1.5, 0.5, 2**53, 2**53 + 1, 2**63, float(2**53), -(2**70), 1e300, 10**40]
_BOUNDS: Final = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
_ODD: Final[Sequence[Any]] = [
    *({}, True, False, {"x-lenient": True}, {"x-open": True, "type": "string"}, {"description": "d"}, {"x-what": 1}),
    *({"multipleOf": 2}, {"type": "integer", "multipleOf": 2}, {"not": {"enum": ["x"]}}, {"minLength": 1}),
    *({"type": "string", "not": {"enum": ["x"]}}, {"x-lenient": True, "type": "object"}, {"if": {}, "then": False}),
    *({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "object", "patternProperties": {"a": {}}}),
    *({"type": "array", "prefixItems": [{"type": "string"}]}, {"allOf": [{"type": "string"}]}, {"dependentRequired": {}}),
    *({"const": [1]}, {"const": {"a": 1}}, {"enum": [[], 1]}, {"type": "string", "enum": ["x", 1, None]}),
]
_PATTERNS: Final = ["^x", "x$(?!\\n)", "^[a-z]+$(?!\\n)", "\\d", "^(?:x|y){1,2}", "é", "^$(?!\\n)", "x$"]


def random_bundle(random: Random) -> dict[str, Any]:
    """A bundle without methods."""
    names = [f"D{index}" for index in range(random.randrange(2, 9))]
    definitions: dict[str, Any] = {}
    for name in names:
        if random.random() < 0.25:
            _tagged(random, name, names, definitions)
        else:
            definitions[name] = _schema(random, 3, names)
    order = list(definitions)
    random.shuffle(order)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:random",
        "x-methods": [],
        "$defs": {name: definitions[name] for name in order},
    }


def _tagged(random: Random, name: str, names: list[str], definitions: dict[str, Any]) -> None:
    """A union with a tag, more or less as a generator would write it, and its arms."""
    tag = random.choice(["type", "kind", "a"])
    free = random.sample(_TAGS, len(_TAGS))
    arms: list[Any] = []
    by_member: dict[str, str] = {}
    for index in range(random.randrange(1, 4)):
        values: list[Any] = [free.pop() for _ in range(random.choice([1, 1, 2]))]
        if random.random() < 0.2:
            values = [random.choice(_TAGS)]
        arm_name = f"{name}A{index}"
        own = random.choice([{"const": values[0]}, {"enum": values}])
        if random.random() < 0.15:
            own = {"type": "string", "not": {"enum": random.sample(["x", "y", "z", "w"], 2)}}
        definitions[arm_name] = record = _record(random, 2, names, {tag: own})
        arm: Any = {"$ref": f"#/$defs/{arm_name}"}
        choice = random.random()
        if choice < 0.2:
            rule = {"properties": {tag: {"enum": [random.choice([*_TAGS, *values])]}}, "required": [tag, random.choice(_NAMES)]}
            arm = {"allOf": [arm, {"not": rule}]}
            if random.random() < 0.3:
                arm["allOf"].append({"not": {"properties": {tag: {"enum": [1]}}, "required": [tag]}})
        elif choice < 0.35:
            member = by_member[arm_name] = random.choice(_NAMES)
            if random.random() < 0.7:
                record["properties"].setdefault(member, {"type": "string"})
                record["required"].append(member)
        elif choice < 0.45:
            arm = {"$ref": f"#/$defs/{random.choice(names)}"}
        elif choice < 0.5:
            inline = _schema(random, 1, names)
            arm = inline if isinstance(inline, dict) else {}
        arms.append(arm)
    definitions[name] = {"x-tag": tag, "anyOf": arms}
    if by_member:
        definitions[name]["x-by-member"] = by_member


def _schema(random: Random, depth: int, names: list[str]) -> Any:
    choice = random.random()
    if depth <= 0 or choice < 0.3:
        return _scalar(random) if random.random() < 0.7 else {"$ref": f"#/$defs/{random.choice(names)}"}
    if choice < 0.45:
        schema: dict[str, Any] = {"type": random.choice(["array", ["array", "null"]])}
        if random.random() < 0.9:
            schema["items"] = _schema(random, depth - 1, names)
        schema |= _some(random, {"minItems": [0, 1], "maxItems": [1, 2], "uniqueItems": [True, True, False]}, 0.3)
        return schema | _some(random, {"contains": [{}]}, 0.05)
    if choice < 0.75:
        return _record(random, depth, names, {})
    if choice < 0.8:
        return {"type": "object", "additionalProperties": _schema(random, depth - 1, names)}
    if choice < 0.9:
        return {"anyOf": [_schema(random, depth - 1, names) for _ in range(random.choice([1, 2, 2, 3]))]}
    return {"$ref": f"#/$defs/{random.choice(names)}"}


def _record(random: Random, depth: int, names: list[str], tag: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _schema(random, depth - 1, names) for name in random.sample(_NAMES, random.randrange(4))} | tag
    required = [name for name in properties if name in tag or random.random() < 0.5]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if random.random() < 0.05:
        required.append("undeclared")
    schema |= _some(random, {"additionalProperties": [False, True, {}, {"type": "string"}]}, 0.2)
    return schema | _some(random, {"minProperties": [1], "propertyNames": [{}]}, 0.03)


def _scalar(random: Random) -> Any:
    match random.randrange(10):
        case 0 | 1:
            return {"type": "string"} | _some(random, {"minLength": [0, 1, 2], "maxLength": [1, 2]}, 0.4)
        case 2:
            return {"type": "string", "pattern": random.choice(_PATTERNS)}
        case 3 | 4:
            kind = random.choice(["integer", "number", ["integer", "null"], ["number", "string"]])
            bounds = random.sample(_BOUNDS, random.choice([0, 1, 1, 2, 2, 3]))
            return {"type": kind} | {name: random.choice([0, 1, 2, 0.5, -1, 1.5, 2**53, 2**63, 1e300]) for name in bounds}
        case 5:
            return {"const": random.choice(_SCALARS)}
        case 6:
            return {"enum": random.sample(_SCALARS, random.randrange(1, 5))}
        case 7:
            return {"type": random.choice(["null", "boolean", ["boolean", "null"], ["string", "null", "integer"]])}
        case 8:
            return random.choice(_ODD)
        case _:
            return {"type": random.choice(["integer", "string", "boolean"])}


def _some(random: Random, keywords: dict[str, list[Any]], chance: float) -> dict[str, Any]:
    return {keyword: random.choice(values) for keyword, values in keywords.items() if random.random() < chance}


def random_value(random: Random, schema: Any, definitions: dict[str, Any], depth: int = 6) -> Any:
    """A value that may well be one of `schema`."""
    if depth <= 0 or random.random() < 0.08:
        return random.choice([*_SCALARS, [], {}, [1], {"a": 1}, {"type": "x"}, {"kind": 1, "a": "x"}])
    match schema:
        case {"$ref": ref}:
            return random_value(random, definitions[ref.removeprefix("#/$defs/")], definitions, depth - 1)
        case {"const": value}:
            return value
        case {"enum": [_, *_] as values}:
            return random.choice(values)
        case {"anyOf": arms}:
            return random_value(random, random.choice(arms), definitions, depth - 1)
        case {"allOf": [first, *_]}:
            return random_value(random, first, definitions, depth - 1)
        case {"type": kind}:
            return _of_type(random, random.choice(kind) if isinstance(kind, list) else kind, schema, definitions, depth)
        case _:
            return random.choice([*_SCALARS, [], {"a": 1}])


def _of_type(random: Random, kind: str, schema: Any, definitions: dict[str, Any], depth: int) -> Any:
    match kind:
        case "string":
            return random.choice(_TEXTS)
        case "integer" | "number":
            return random.choice(_NUMBERS)
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
        case "array":
            items = schema.get("items")
            return [random_value(random, items, definitions, depth - 1) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        case _:
            required = schema.get("required", ())
            members = [
                (name, random_value(random, inner, definitions, depth - 1))
                for name, inner in schema.get("properties", {}).items()
                if random.random() < (0.97 if name in required else 0.6)
            ]
            if "properties" not in schema or random.random() < 0.1:
                rest = random_value(random, schema.get("additionalProperties"), definitions, depth - 1)
                members.append((random.choice(_NAMES), rest))
            if random.random() < 0.3:
                random.shuffle(members)
            return dict(members)
