"""Every site of a bundle."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, Final

from dsh_codegen.parity.found import Tags
from dsh_codegen.parity.model import Definition, Method, Side
from dsh_codegen.parity.schema import read_definition, read_schema
from tests.parity.sites import OTHER, Site, Sites, also_named

_SWAPPED: Final = {"string": "integer", "integer": "string", "number": "string", "boolean": "string"}


class SchemaSites:
    """The changes of one bundle."""

    def __init__(self, bundle: dict[str, Any], side: Side, tags: Tags, skipped: Set[str]) -> None:
        self._bundle = bundle
        self._sites = Sites(side, tags, skipped)

    def all(self) -> Iterator[Site]:
        """Every site, definition by definition, then the method map."""
        for name, schema in self._bundle["$defs"].items():
            if name in self._sites.skipped:
                continue
            yield from self._definition(name, schema)
            yield from self._shape(name, "", schema, ())
            for wire, member in schema.get("properties", {}).items():
                yield from self._member(name, wire)
                yield from self._shape(name, f".{wire}", member, ("properties", wire))
        yield from self._methods()

    def _site(self, category: str, what: str, name: str, path: str, change: Callable[[dict[str, Any]], None]) -> Site:
        def read() -> dict[str, Definition]:
            schema = copy.deepcopy(self._bundle["$defs"][name])
            change(schema)
            return {name: read_definition(name, schema)}

        return self._sites.inside(category, what, name, path, read)

    def _definition(self, name: str, schema: dict[str, Any]) -> Iterator[Site]:
        yield from self._sites.definition(name)
        if "properties" in schema:
            closed = schema.get("additionalProperties") is False
            yield self._site(
                "open", "open" if closed else "close", name, "", lambda s: s.update(additionalProperties=bool(closed))
            )
        if "x-tag" in schema:
            yield self._site("discriminator", "another tag", name, "", lambda s: s.update({"x-tag": OTHER}))
            yield self._site("open", "open or close", name, "", lambda s: s.update({"x-open": not s.get("x-open")}))
            for arm in schema.get("x-by-member", {}):
                yield self._site(
                    "discriminator",
                    f"{arm} by another member",
                    name,
                    "",
                    _by_another(arm),
                )
            yield self._site(
                "discriminator", "one more by a member", name, "", lambda s: s.setdefault("x-by-member", {}).update(M="m")
            )

    def _member(self, name: str, wire: str) -> Iterator[Site]:
        def rename(schema: dict[str, Any]) -> None:
            schema["properties"][OTHER] = schema["properties"].pop(wire)
            schema["required"] = [OTHER if each == wire else each for each in schema["required"]]

        def remove(schema: dict[str, Any]) -> None:
            del schema["properties"][wire]
            schema["required"] = [each for each in schema["required"] if each != wire]

        def toggle(schema: dict[str, Any]) -> None:
            schema["required"] = sorted({*schema["required"]} ^ {wire})

        yield also_named(self._site("member", f"rename {wire}", name, f".{wire}", rename), path=f".{OTHER}")
        yield self._site("member", f"remove {wire}", name, f".{wire}", remove)
        yield self._site("required", f"toggle {wire}", name, f".{wire}", toggle)

    def _shape(self, name: str, path: str, node: dict[str, Any], keys: tuple[str | int, ...]) -> Iterator[Site]:
        """The changes of one type and of those inside it; `keys` lead to it."""

        def at(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
            def run(schema: dict[str, Any]) -> None:
                target: Any = schema
                for key in keys:
                    target = target[key]
                change(target)

            return run

        def become(new: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], None]:
            def change(target: dict[str, Any]) -> None:
                made = new(copy.deepcopy(target))
                target.clear()
                target.update(made)

            return at(change)

        def site(category: str, what: str, new: Callable[[dict[str, Any]], dict[str, Any]]) -> Site:
            return self._site(category, what, name, path, become(new))

        if "properties" in node:
            return
        anything = set(node) <= {"description", "x-module", "x-lenient", "deprecated"}
        if _nullable(node):
            yield site("nullable", "not null", _not_null)
        elif not anything:
            yield site("nullable", "null too", lambda s: {"anyOf": [s, {"type": "null"}], **_union_keys(s)})
        if not anything and not _nullable(node):
            if node.get("type") == "array":
                yield site("array", "its items", lambda s: s.get("items", {"type": "string"}))
            else:
                yield site("array", "an array of it", lambda s: {"type": "array", "items": s, **_union_keys(s)})
            if node.get("type") == "object":
                yield site("map", "its values", lambda s: s.get("additionalProperties") or {"type": "string"})
            elif node.get("type") != "array":
                yield site("map", "a map of it", lambda s: {"type": "object", "additionalProperties": s, **_union_keys(s)})
        elif anything:
            yield site("type", "a string", lambda s: {"type": "string"})
        if "$ref" in node:
            yield site("type", "another reference", lambda s: {**s, "$ref": f"#/$defs/{OTHER}"})
        if "const" in node or "enum" in node:
            values = node.get("enum", [node.get("const")])
            yield site("literals", "one value more", lambda s: {"enum": [*values, _new_value(values[0])]})
            for value in values if len(values) > 1 else []:
                yield site(
                    "literals", f"without {value}", _replacing("enum", [each for each in values if each != value], alone=True)
                )
            if isinstance(values[0], str):
                yield site("open", "open", lambda s: {"type": "string", "x-open": True, "x-known": values})
        if "x-known" in node:
            known = node["x-known"]
            yield site("open", "closed", lambda s: {"enum": known})
            for value in known:
                yield site("literals", f"without {value}", _replacing("x-known", [each for each in known if each != value]))
        elif isinstance(node.get("type"), str) and node["type"] in _SWAPPED:
            yield site("type", "another type", lambda s: {"type": _SWAPPED[s["type"]]})
        if len(node.get("anyOf", ())) > 1:
            refs = [arm for arm in node["anyOf"] if "$ref" in arm or "allOf" in arm]
            for index, arm in enumerate(node["anyOf"]):
                if arm in refs:
                    category = "arms" if len(refs) > 1 else "type"
                    yield site(
                        category,
                        f"without arm {index}",
                        _replacing("anyOf", node["anyOf"][:index] + node["anyOf"][index + 1 :]),
                    )
            if refs:
                category = "arms"
                yield site(category, "one arm more", lambda s: {**s, "anyOf": [*s["anyOf"], {"$ref": f"#/$defs/{OTHER}"}]})
        if node.get("type") == "array" and "items" in node:
            yield from self._shape(name, f"{path}[]", node["items"], (*keys, "items"))
        if isinstance(node.get("additionalProperties"), dict):
            yield from self._shape(name, f"{path}{{}}", node["additionalProperties"], (*keys, "additionalProperties"))

    def _methods(self) -> Iterator[Site]:
        rows = self._bundle["x-methods"]
        for index, row in enumerate(rows):
            for key, category in (("name", "method"), ("sender", "sender"), ("params", "params"), ("result", "result")):

                def changed(index: int = index, key: str = key) -> Mapping[str, Method] | None:
                    new = copy.deepcopy(rows)
                    swapped = {"client": "server", "server": "client"}
                    new[index][key] = swapped[new[index][key]] if key == "sender" else OTHER
                    return _read_methods(new)

                site = self._sites.method(category, f"{key} of", row["name"], changed)
                yield also_named(site) if key == "name" else site

            def removed(index: int = index) -> Mapping[str, Method] | None:
                return _read_methods(rows[:index] + rows[index + 1 :])

            yield self._sites.method("method", "remove", row["name"], removed)


def _read_methods(rows: list[dict[str, Any]]) -> Mapping[str, Method] | None:
    return read_schema({"$defs": {}, "x-methods": rows}).methods


def _by_another(arm: str) -> Callable[[dict[str, Any]], None]:
    return lambda schema: schema["x-by-member"].update({arm: OTHER})


def _replacing(key: str, value: Any, *, alone: bool = False) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda schema: {key: value} if alone else {**schema, key: value}


def _new_value(value: object) -> object:
    return not value if isinstance(value, bool) else 77 if isinstance(value, int) else OTHER


def _nullable(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("type"), list) or {"type": "null"} in schema.get("anyOf", ())


def _not_null(schema: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema.get("type"), list):
        return {**schema, "type": schema["type"][0]}
    return {**schema, "anyOf": [arm for arm in schema["anyOf"] if arm != {"type": "null"}]}


def _union_keys(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in ("x-tag", "x-open", "x-by-member") if key in schema}
