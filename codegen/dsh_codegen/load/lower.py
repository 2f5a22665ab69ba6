"""Checked schema documents -> IR.

Authored schemas keep a small profile of JSON Schema 2020-12 (CONTRIBUTING.md describes it); foreign ones are brought into it
where that is possible without loss: inline objects get a name from their parent, `allOf` and `$ref` with siblings are merged
into one object, `const`s under `oneOf` become one set. What has no exact counterpart in the IR is refused, with its JSON
Pointer: a type that says less than its schema would let a codec accept what the schema rejects.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from .. import naming
from ..errors import SchemaError
from ..ir import Array, Definition, Json, Literals, Map, Member, Protocol, Record, Ref, Scalar, Type
from .files import Place, Source, check, pointer
from .methods import read_methods
from .objects import Part, is_map, is_object, parts
from .profile import CONSTRAINTS, EXTENSIONS, REFUSED, kinds_of
from .scalars import literals, open_enum, scalar, size
from .unions import draft_union, finish_unions, gives_way

if TYPE_CHECKING:
    from referencing import Registry

_BASE: Final = "https://schema.invalid/"
"""Where the files would be if they were anywhere: defaults are checked with references against it, and nothing is fetched."""


def lower(source: Source, *, revision: str = "", title: str = "") -> Protocol:
    """The protocol that `source` describes; `revision` and `title` stand in where it names none. Raises `SchemaError`."""
    lowering = _Lowering(source)
    lowering.run()
    definitions = finish_unions(lowering.definitions)
    _check_type_names(definitions)
    table = read_methods(source, {definition.name: definition for definition in definitions})
    return Protocol(table.revision or revision, table.title or title, definitions, table.methods, table.errors)


class _Lowering:
    """The state of one run: what is defined so far, and under which name each place is known."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.definitions: dict[str, Definition] = {}
        self._names: dict[tuple[str, tuple[str | int, ...]], str] = {}

    def run(self) -> None:
        places = list(self._named_places())
        names = [name for _, name in places]
        for place, name in places:
            if names.count(name) > 1:
                name = naming.pascal(naming.module_name(place.file)) + naming.pascal(name)
            if name in self._names.values():
                raise place.refuse(f"the name {name!r} is already taken by another definition; rename one")
            self._names[place.file, place.path] = name
        for place, _ in places:
            if place.schema.get("x-abstract") is True:
                continue
            try:
                self._define(self._names[place.file, place.path], place)
            except RecursionError:
                raise place.refuse("it extends others, or nests, too deeply to be read") from None
        self._check_aliases()

    def _check_aliases(self) -> None:
        """A definition that only refers to others must end at one that says something."""
        for definition in self.definitions.values():
            seen = {definition.name}
            node = definition.type
            while isinstance(node, Ref):
                if node.name in seen:
                    raise SchemaError(definition.pointer, f"{definition.name!r} refers to itself and to nothing else")
                seen.add(node.name)
                node = self.definitions[node.name].type

    def _named_places(self) -> Iterator[tuple[Place, str]]:
        for root in self.source.roots():
            if "x-revision" not in root.value and not root.value.keys().isdisjoint(CONSTRAINTS | REFUSED):
                yield root, root.value.get("title") or naming.pascal(naming.module_name(root.file))
            for name in root.value.get("$defs", {}):
                yield root.child("$defs", name), name

    def _define(self, name: str, place: Place, node: Type | None = None) -> None:
        schema = place.schema
        self.definitions[name] = Definition(name, str(place), naming.module_name(place.file), Json())  # keeps its position
        if "x-module" in schema and "x-revision" in self.source.documents[place.file]:
            module = naming.module_name(str(schema["x-module"]))
        else:
            module = naming.module_name(place.file)
        node = node or self._type(place, name, top=True)
        doc, deprecated = _doc(place)
        self.definitions[name] = Definition(name, str(place), module, node, doc, deprecated)

    def _hoist(self, place: Place, name: str, node: Type | None = None) -> Ref:
        """Give an inline object or union a name of its own."""
        if name in self.definitions or name in self._names.values():
            raise place.refuse(f"this inline schema would be named {name!r}, which is taken; move it into $defs under a name")
        self._define(name, place, node)
        return Ref(name)

    # one schema -> one type

    def _type(self, place: Place, owner: str, *, top: bool = False) -> Type:
        schema = place.value
        if schema is True:
            return Json()
        if schema is False:
            raise place.refuse("'false' admits nothing; leave the member out")
        self._check_keywords(place)
        if schema.get("x-lenient") is True:
            if self._constraints(schema, but=set()):
                raise place.child("x-lenient").refuse(
                    "a lenient place takes any JSON; leave the constraints beside 'x-lenient' out"
                )
            return Json(lenient=True)
        if is_object(place, self.source):
            return self._record(place, owner) if top or is_map(schema) else self._hoist(place, owner)
        if "$ref" in schema:
            return self._ref(place)
        if "allOf" in schema:
            if len(schema["allOf"]) == 1 and not self._constraints(schema, but={"allOf"}):
                return self._type(place.child("allOf", 0), owner, top=top)
            raise place.child("allOf").refuse("'allOf' is read for objects only; write the combined schema")
        if "anyOf" in schema or "oneOf" in schema:
            return self._union(place, owner, top=top)
        if "x-known" in schema:
            return open_enum(place, "x-known")
        if "enum" in schema or "const" in schema:
            return literals(place)
        return self._by_type(place, owner)

    def _by_type(self, place: Place, owner: str) -> Type:
        kinds = kinds_of(place)
        if not kinds:
            return Json()
        nodes = tuple(self._of_kind(kind, place, owner) for kind in kinds)
        return nodes[0] if len(nodes) == 1 else draft_union(place, nodes)

    def _of_kind(self, kind: str, place: Place, owner: str) -> Type:
        schema = place.value
        match kind:
            case "object":  # one of several types, or is_object would have seen it
                free = schema.get("additionalProperties", True)
                if "properties" in schema or "required" in schema or free is False:
                    raise place.refuse("an object with members beside other types needs a definition of its own")
                return Map(Json() if free is True else self._type(place.child("additionalProperties"), f"{owner}Value"))
            case "array":
                items = self._type(place.child("items"), f"{owner}Item") if "items" in schema else Json()
                return Array(items, size(place, "minItems") or 0, size(place, "maxItems"), schema.get("uniqueItems", False))
            case _:
                return scalar(kind, place)

    def _check_keywords(self, place: Place) -> None:
        schema = place.value
        for keyword in schema:
            if keyword in REFUSED:
                raise place.child(keyword).refuse(f"'{keyword}' is not supported: no generated type could say the same")
        for keyword in schema.keys() & EXTENSIONS.keys():
            check(schema[keyword], EXTENSIONS[keyword], place.child(keyword))
        if "$id" in schema and place.path:
            raise place.child("$id").refuse("a nested '$id' is not supported; use one file per schema resource")
        if "default" in schema:
            self._check_default(place)

    def _check_default(self, place: Place) -> None:
        from jsonschema import Draft202012Validator
        from referencing.exceptions import Unresolvable

        where = {"$ref": f"{_BASE}{quote(place.file)}#{quote(pointer(place.path))}"}
        validator: Any = Draft202012Validator(where, registry=self._registry)  # its published types leave all arguments open
        try:
            error = next(validator.iter_errors(place.value["default"]), None)
        except (Unresolvable, ValueError) as failure:
            raise place.child("default").refuse(f"the default can't be checked against its own schema: {failure}") from None
        if error is not None:
            raise place.child("default").refuse(f"the default is not valid against its own schema: {error.message}")

    @cached_property
    def _registry(self) -> Registry[Any]:
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        documents = {
            name: {key: value for key, value in file.items() if key != "$id"} for name, file in self.source.documents.items()
        }
        resources = [(_BASE + quote(name), DRAFT202012.create_resource(document)) for name, document in documents.items()]
        return Registry[Any]().with_resources(resources).crawl()

    @staticmethod
    def _constraints(schema: dict[str, Any], *, but: set[str]) -> set[str]:
        return (schema.keys() & CONSTRAINTS) - but

    def _ref(self, place: Place) -> Ref:
        beside = self._constraints(place.value, but={"$ref"})
        if beside:
            raise place.refuse(
                f"{sorted(beside)} beside '$ref' would narrow it; give the narrowed schema a definition of its own"
            )
        target = self.source.follow(place.value["$ref"], place)
        name = self._names.get((target.file, target.path))
        if name is None:
            raise place.refuse(f"{place.value['$ref']!r} points inside a definition; move that schema into $defs")
        if name not in self.definitions and target.schema.get("x-abstract") is True:
            raise place.refuse(f"{name!r} is abstract: it can be extended with allOf, but is no type of its own")
        return Ref(name)

    def _record(self, place: Place, owner: str) -> Type:
        found = parts(place, self.source)
        own = found[-1].place.value
        free = own.get("additionalProperties", True)
        if is_map(own):
            self._check_keywords(place)
            return Map(
                self._type(place.child("additionalProperties"), f"{owner}Value") if "additionalProperties" in own else Json()
            )
        if len(found) == 1 and not own.get("properties") and isinstance(free, dict):
            raise place.child("required").refuse("required keys of a map are not supported; declare them in 'properties'")
        for part in found:
            self._check_keywords(part.place)
            self._check_part(part, alone=len(found) == 1)
        members: dict[str, Member] = {}
        for part in found:
            for wire in part.place.value.get("properties", {}):
                member = self._member(part.place.child("properties", wire), owner, wire, required=False)
                if wire in members and members[wire].type != member.type:
                    raise part.place.child("properties", wire).refuse(f"{wire!r} is declared twice, in different ways")
                members.setdefault(wire, member)
        required = {wire for part in found for wire in part.place.value.get("required", [])}
        for wire in sorted(required - members.keys()):
            if free is False:
                raise (
                    found[-1]
                    .place.child("required")
                    .refuse(f"{wire!r} is required, but 'additionalProperties': false forbids it")
                )
            members[wire] = Member(wire, Json(), required=True)
        result = [Member(m.wire, m.type, m.wire in required, m.doc, m.deprecated) for m in members.values()]
        # tags first: they say what the rest is
        result.sort(
            key=lambda member: not (member.required and isinstance(member.type, Literals) and len(member.type.values) == 1)
        )
        return Record(tuple(result), closed=free is False)

    def _check_part(self, part: Part, *, alone: bool) -> None:
        free = part.place.value.get("additionalProperties", True)
        if free is not True and not alone:
            raise part.place.refuse("'additionalProperties' sees only its own 'properties', not those of 'allOf' or '$ref'")
        if isinstance(free, dict) and free:
            raise part.place.refuse("named members beside typed free ones are not supported; use 'additionalProperties': true")

    def _member(self, place: Place, owner: str, wire: str, *, required: bool) -> Member:
        node = self._type(place, owner + naming.pascal(wire))
        doc, deprecated = _doc(place)
        return Member(wire, node, required, doc, deprecated)

    def _union(self, place: Place, owner: str, *, top: bool) -> Type:
        schema = place.value
        keyword = "anyOf" if "anyOf" in schema else "oneOf"
        beside = self._constraints(schema, but={keyword})
        if beside:
            raise place.refuse(f"{sorted(beside)} beside '{keyword}' are not supported; write them into each arm")
        arms = [place.child(keyword, index) for index in range(len(schema[keyword]))]
        inner = [arm for arm in arms if arm.schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "properties"}]
        name = owner if len(inner) == 1 and not top else None  # free, since such a union gets none
        draft = draft_union(place, tuple(self._arm(arm, owner, name) for arm in arms))
        if all(isinstance(arm, Literals) for arm in draft.declared):
            return self._one_set(draft.declared, place.child(keyword))
        if len(arms) == 1:
            return draft.declared[0]
        objects = sum(1 for arm in draft.declared if isinstance(arm, Ref))
        return draft if top or objects < 2 else self._hoist(place, owner, draft)

    @staticmethod
    def _one_set(sets: tuple[Type, ...], place: Place) -> Literals:
        """Sets of values as one."""
        values: list[Scalar] = []
        for value in (value for found in sets if isinstance(found, Literals) for value in found.values):
            if not any(value is other or (value == other and type(value) is type(other)) for other in values):
                values.append(value)
            elif place.path[-1] == "oneOf":
                raise place.refuse(f"two arms admit {value!r}, so 'oneOf' would refuse it; use 'anyOf'")
        return Literals(tuple(values))

    def _arm(self, place: Place, owner: str, spare: str | None) -> Type:
        """One arm; `spare` is the name for an inline object that has none to go by."""
        schema = place.value
        if gives_way(place):
            return self._ref(place.child("allOf", 0))
        name = owner
        if is_object(place, self.source) and "$ref" not in schema and not is_map(schema):
            label = schema.get("title") or _first_constant(place)
            if label is None and spare is not None:
                return self._type(place, spare)
            if label is None:
                raise place.refuse("an inline object in a union needs a name: give it a 'title' or move it into $defs")
            name = naming.pascal(label) if schema.get("title") and label != owner else owner + naming.pascal(label)
        return self._type(place, name)


def _first_constant(place: Place) -> str | None:
    """What an inline object can be called after: the value of its first constant member."""
    members = [place.child("properties", wire).schema for wire in place.schema.get("properties", {})]
    return next((str(member["const"]) for member in members if "const" in member), None)


def _doc(place: Place) -> tuple[str, bool]:
    description: str = place.schema.get("description", "")
    text = "\n".join(line.rstrip(" \t") for line in description.strip().split("\n"))
    return text, place.schema.get("deprecated") is True


def _check_type_names(definitions: tuple[Definition, ...]) -> None:
    seen: dict[str, Definition] = {}
    for definition in definitions:
        name = naming.type_name(definition.name)
        if name in seen:
            other = seen[name]
            raise SchemaError(
                definition.pointer,
                f"{definition.name!r} and {other.name!r} ({other.pointer}) both become the type {name}; rename one",
            )
        seen[name] = definition
