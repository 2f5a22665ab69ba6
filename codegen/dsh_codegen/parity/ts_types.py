"""TypeScript types as syntax trees -> shapes.

A named type that takes no arguments stays a reference. Everything else is worked out as far as it can be from the text:
generics with their arguments, `keyof`, indexed access, mapped and conditional types over literals, intersections, the usual
utility types. What can't be worked out is left as `unread`, with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from tree_sitter import Node

from dsh_codegen.parity.model import (
    ABSENT,
    ANY,
    BOOLEAN,
    NOTHING,
    NULL,
    NUMBER,
    STRING,
    Definition,
    Member,
    Object,
    Place,
    Shape,
    json_text,
    kind,
    literal,
    ref,
    union,
    unread,
)
from dsh_codegen.parity.ts_algebra import assignable, intersection, keys_of, name_of, pick
from dsh_codegen.parity.ts_syntax import SourceFile, number, string, text

_PREDEFINED: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "string": kind(STRING),
        "number": kind(NUMBER),
        "boolean": kind(BOOLEAN),
        "unknown": ANY,
        "any": ANY,
        "object": Shape(values=ANY),
        "undefined": ABSENT,
        "void": ABSENT,
        "null": NULL,
        "never": NOTHING,
    }
)
_DEEPEST: Final = 40


class Names(Protocol):
    """What the evaluation asks about names of a file."""

    def declared(self, file: SourceFile, name: str) -> Declared | None:
        """The declaration that a name leads to, in whichever file; None if it can't be found."""
        ...

    def missing(self, file: SourceFile, name: str) -> Shape:
        """The shape of a name without a declaration."""
        ...

    def definition(self, declared: Declared) -> Definition:
        """The definition of a declaration without type parameters."""
        ...

    def expand(self, name: str) -> Shape | None:
        """The shape behind a reference."""
        ...


@dataclass(frozen=True, slots=True)
class Declared:
    """A declaration in its file. `name` is what references to it are called.

    `added` are declarations of the same interface in other files, which may add members to it.
    """

    name: str
    nodes: tuple[Node, ...]
    file: SourceFile
    added: tuple[tuple[Node, SourceFile], ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a type stands: its file, and what its type parameters are bound to."""

    file: SourceFile
    bound: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    depth: int = 0

    def deeper(self, bound: Mapping[str, Shape]) -> Scope:
        """The same place with more names bound."""
        return Scope(self.file, {**self.bound, **bound}, self.depth + 1)


class Types:
    """Evaluates types; `names` finds what they refer to."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def declare(self, declared: Declared, arguments: tuple[Shape, ...] = (), depth: int = 0) -> Definition:
        """The definition of a declaration, with its type parameters bound to `arguments` or their defaults."""
        node = declared.nodes[0]
        scope = self._bind(node, declared.file, arguments, depth)
        place = Place(declared.file.path, node.start_point.row + 1) if declared.file.path else None
        match node.type:
            case "type_alias_declaration":
                shape = self.shape(_child(node, "value"), scope)
            case "enum_declaration":
                shape = self._enum(_child(node, "body"))
            case _:
                parts = [(each, scope) for each in declared.nodes]
                shape = self._interface([*parts, *((each, Scope(file, {}, depth)) for each, file in declared.added)])
        return Definition(declared.name, shape, place=place)

    def shape(self, node: Node, scope: Scope) -> Shape:
        """The JSON values of a type."""
        if scope.depth > _DEEPEST:
            return unread(text(node))
        handler = _HANDLERS.get(node.type)
        return unread(text(node)) if handler is None else handler(self, node, scope)

    # names

    def named(self, node: Node, scope: Scope) -> Shape:
        """A type by its name: a parameter, a declaration, or something that is not there."""
        name = text(node)
        if name in scope.bound:
            return scope.bound[name]
        found = self._names.declared(scope.file, name)
        if found is None:
            return self._names.missing(scope.file, name)
        if not is_definition(found):
            return self.declare(found, (), scope.depth + 1).shape
        self._names.definition(found)
        return ref(found.name)

    def generic(self, node: Node, scope: Scope) -> Shape:
        """A type with arguments: a utility type, or a declaration with parameters."""
        head = _child(node, "name")
        name = text(head)
        arguments = [child for child in _child(node, "type_arguments").named_children if child.type != "comment"]
        found = self._names.declared(scope.file, name)
        if found is not None:
            return self.declare(found, tuple(self.shape(each, scope) for each in arguments), scope.depth + 1).shape
        shapes = [self.shape(each, scope) for each in arguments]
        utility = self._utility(name, shapes)
        return utility if utility is not None else self._names.missing(scope.file, name)

    def _utility(self, name: str, given: list[Shape]) -> Shape | None:
        match name, given:
            case (("Array" | "ReadonlyArray" | "Set" | "ReadonlySet"), [item]):
                return Shape(items=item)
            case "Record", [keys, value]:
                return self._record(keys, value)
            case (("Readonly" | "NoInfer" | "Awaited"), [inner]):
                return inner
            case "NonNullable", [inner]:
                return replace(inner, null=False, absent=False)
            case (("Partial" | "Required"), [inner]):
                required = name == "Required"
                return self._objects(inner, lambda member: replace(member, required=required, sent=required))
            case (("Pick" | "Omit"), [inner, keys]):
                wanted = {name_of(key) for key in keys.literals}
                return self._objects(inner, lambda member: member if (member.wire in wanted) == (name == "Pick") else None)
            case (("Exclude" | "Extract"), [inner, other]):
                return pick(inner, other, self._names.expand, keep=name == "Extract")
            case _:
                return None

    def _record(self, keys: Shape, value: Shape) -> Shape:
        keys = self._scalars(keys)
        if keys.kinds or keys.any:
            return _map(value)
        members = tuple(_member(name_of(key), value, optional=False) for key in sorted(keys.literals))
        return Shape(objects=(Object(members),))

    def _objects(self, shape: Shape, change: Callable[[Member], Member | None]) -> Shape:
        """Every object of a shape with its members changed, or dropped."""
        changed: list[Shape] = []
        for node in self.objects(shape):
            members = tuple(new for member in node.members if (new := change(member)) is not None)
            changed.append(Shape(objects=(Object(members, node.open, node.values),)))
        return union(NOTHING, *changed) if changed else unread("a utility type over something that is no object")

    def objects(self, shape: Shape, seen: frozenset[str] = frozenset()) -> list[Object]:
        """The objects of a shape, those behind its references included."""
        found = list(shape.objects)
        if shape.values is not None:
            found.append(Object((), True, shape.values))
        for name in sorted(shape.refs - seen):
            inner = self._names.expand(name)
            if inner is not None:
                found += self.objects(inner, seen | shape.refs)
        return found

    def _scalars(self, shape: Shape) -> Shape:
        """A shape with the references expanded that stand for keys."""
        for name in sorted(shape.refs):
            inner = self._names.expand(name)
            if inner is not None:
                shape = union(replace(shape, refs=shape.refs - {name}), self._scalars(inner))
        return shape

    # objects

    def _interface(self, parts: list[tuple[Node, Scope]]) -> Shape:
        bases: list[Shape] = []
        bodies: list[Shape] = []
        for node, scope in parts:
            for part in node.named_children:
                if part.type in ("extends_type_clause", "class_heritage"):
                    parents = part.named_children if part.type == "extends_type_clause" else _heirs(part)
                    bases += [self.shape(parent, scope) for parent in parents]
            bodies.append(self.body(_child(node, "body"), scope))
        own = intersection(bodies, self.objects) if len(bodies) > 1 else bodies[0]
        return own if not bases else intersection([*bases, own], self.objects)

    def body(self, node: Node, scope: Scope) -> Shape:
        """An object type between braces."""
        members: dict[str, Member] = {}
        values: Shape | None = None
        for part in node.named_children:
            if part.type in ("property_signature", "public_field_definition"):
                member = self._property(part, scope)
                if member is not None:
                    members[member.wire] = member
            elif part.type == "index_signature":
                mapped = next((child for child in part.named_children if child.type == "mapped_type_clause"), None)
                if mapped is not None:
                    return self._mapped(part, mapped, scope)
                values = self.shape(_annotated(part), scope)
        if values is not None and not members:
            return _map(values)
        return Shape(objects=(Object(tuple(members.values()), None if values is None else True, values),))

    def _property(self, node: Node, scope: Scope) -> Member | None:
        name = _child(node, "name")
        annotation = node.child_by_field_name("type")
        if name.type == "computed_property_name" or any(child.type == "accessibility_modifier" for child in node.children):
            return None
        wire = string(name) if name.type == "string" else str(number(name)) if name.type == "number" else text(name)
        shape = ANY if annotation is None else self.shape(_inner(annotation), scope)
        optional = any(child.type == "?" for child in node.children)
        if optional and replace(shape, absent=False) == NOTHING:
            return None  # `x?: never`: it may not be there
        place = Place(scope.file.path, node.start_point.row + 1) if scope.file.path else None
        return _member(wire, shape, optional=optional, place=place)

    def _mapped(self, node: Node, clause: Node, scope: Scope) -> Shape:
        name, constraint = text(_child(clause, "name")), _child(clause, "type")
        keys = self._scalars(self.shape(constraint, scope))
        annotation = _child(node, "type")
        if keys.kinds or keys.any:
            return Shape(values=self.shape(_inner(annotation), scope.deeper({name: keys})))
        origin: dict[str, Member] = {}
        if constraint.type == "index_type_query":
            target = self.shape(constraint.named_children[0], scope)
            origin = {member.wire: member for each in self.objects(target) for member in each.members}
        members: list[Member] = []
        for key in sorted(keys.literals):
            wire = name_of(key)
            shape = self.shape(_inner(annotation), scope.deeper({name: Shape(literals=frozenset({key}))}))
            optional = {"omitting_type_annotation": False, "opting_type_annotation": True, "adding_type_annotation": True}.get(
                annotation.type, wire in origin and not origin[wire].required
            )
            members.append(_member(wire, shape, optional=optional))
        return Shape(objects=(Object(tuple(members)),))

    def _enum(self, node: Node) -> Shape:
        values: list[Shape] = []
        following = 0
        for part in node.named_children:
            value = part.child_by_field_name("value") if part.type == "enum_assignment" else None
            if part.type == "comment":
                continue
            if value is None:
                values.append(literal(following))
                following += 1
            elif value.type == "string":
                values.append(literal(string(value)))
            elif value.type == "number":
                following = int(number(value))
                values.append(literal(following))
                following += 1
            else:
                values.append(unread(text(part)))
        return union(NOTHING, *values)

    # operators

    def literal(self, node: Node, _: Scope) -> Shape:
        """A literal type."""
        inner = node.named_children[0] if node.named_children else node
        match inner.type:
            case "string":
                return literal(string(inner))
            case "number":
                return literal(number(inner))
            case "unary_expression":
                return literal(-number(inner.named_children[0]))
            case "true" | "false":
                return literal(inner.type == "true")
            case _:
                return _PREDEFINED.get(text(inner), unread(text(inner)))

    def both(self, node: Node, scope: Scope) -> Shape:
        """An intersection."""
        return intersection([self.shape(part, scope) for part in node.named_children], self.objects)

    def keys(self, node: Node, scope: Scope) -> Shape:
        """`keyof T`."""
        return keys_of(self.objects(self.shape(node.named_children[0], scope)))

    def indexed(self, node: Node, scope: Scope) -> Shape:
        """`T[K]`."""
        target, key = (self.shape(part, scope) for part in node.named_children[:2])
        key = self._scalars(key)
        found: list[Shape] = []
        if target.items is not None and key.kinds:
            found.append(target.items)
        for each in self.objects(target):
            chosen = [member for member in each.members if json_text(member.wire) in key.literals]
            found += [member.shape if member.required else union(member.shape, ABSENT) for member in chosen]
            if each.values is not None:
                found.append(each.values)
        return union(NOTHING, *found) if found else unread(text(node))

    def conditional(self, node: Node, scope: Scope) -> Shape:
        """`A extends B ? C : D`; over a bare type parameter each alternative is decided on its own."""
        left, right = _child(node, "left"), self.shape(_child(node, "right"), scope)
        name = text(left)
        value = self.shape(left, scope)
        if left.type == "type_identifier" and name in scope.bound and len(value.literals) > 1:
            cases = [scope.deeper({name: Shape(literals=frozenset({each}))}) for each in sorted(value.literals)]
        else:
            cases = [scope]
        found: list[Shape] = []
        for each in cases:
            holds = assignable(self.shape(left, each), right, self._names.expand)
            if holds is None:
                return unread(text(node))
            found.append(self.shape(_child(node, "consequence" if holds else "alternative"), each))
        return union(NOTHING, *found)

    def queried(self, node: Node, scope: Scope) -> Shape:
        """`typeof x`, of a constant whose type or literal value is written out."""
        declarator = scope.file.variables.get(text(node.named_children[0]))
        if declarator is None:
            return unread(text(node))
        annotation, value = declarator.child_by_field_name("type"), declarator.child_by_field_name("value")
        if annotation is not None:
            return self.shape(_inner(annotation), scope)
        return unread(text(node)) if value is None else _constant(value)

    def _bind(self, node: Node, file: SourceFile, arguments: tuple[Shape, ...], depth: int) -> Scope:
        scope = Scope(file, {}, depth)
        for index, parameter in enumerate(_parameters(node)):
            default = parameter.child_by_field_name("value")
            if index < len(arguments):
                value = arguments[index]
            elif default is not None:
                value = self.shape(default.named_children[0], scope)
            else:
                value = unread(f"type parameter {text(parameter)}")
            scope = Scope(file, {**scope.bound, text(_child(parameter, "name")): value}, depth)
        return scope


_Handler: TypeAlias = Callable[[Types, Node, Scope], Shape]


def _array(types: Types, node: Node, scope: Scope) -> Shape:
    return Shape(items=types.shape(node.named_children[0], scope))


def _tuple(types: Types, node: Node, scope: Scope) -> Shape:
    items: list[Shape] = []
    for part in node.named_children:
        annotation = part.child_by_field_name("type")
        inner = part if annotation is None else _inner(annotation)
        rest = part.type == "rest_type" or any(child.type == "rest_pattern" for child in part.named_children)
        shape = types.shape(inner.named_children[0] if inner.type in ("rest_type", "optional_type") else inner, scope)
        items.append(shape.items if rest and shape.items is not None else shape)
    return Shape(items=union(NOTHING, *items))


def _passed(types: Types, node: Node, scope: Scope) -> Shape:
    return types.shape(node.named_children[-1], scope)


_HANDLERS: Final[Mapping[str, _Handler]] = MappingProxyType(
    {
        "predefined_type": lambda _, node, __: _PREDEFINED.get(text(node), unread(text(node))),
        "literal_type": Types.literal,
        "union_type": lambda types, node, scope: union(
            NOTHING, *(types.shape(part, scope) for part in node.named_children if part.type != "comment")
        ),
        "intersection_type": Types.both,
        "parenthesized_type": _passed,
        "readonly_type": _passed,
        "array_type": _array,
        "tuple_type": _tuple,
        "object_type": Types.body,
        "type_identifier": Types.named,
        "identifier": Types.named,
        "nested_type_identifier": Types.named,
        "member_expression": Types.named,
        "generic_type": Types.generic,
        "lookup_type": Types.indexed,
        "index_type_query": Types.keys,
        "conditional_type": Types.conditional,
        "type_query": Types.queried,
        "template_literal_type": lambda _, __, ___: kind(STRING),
    }
)


def _member(wire: str, shape: Shape, *, optional: bool, place: Place | None = None) -> Member:
    required = not (optional or shape.absent)
    return Member(wire, required, required, replace(shape, absent=False), place=place)


def _constant(node: Node) -> Shape:
    """A value written `as const`."""
    match node.type:
        case "as_expression" | "satisfies_expression" | "parenthesized_expression":
            return _constant(node.named_children[0])
        case "array":
            return Shape(items=union(NOTHING, *(_constant(part) for part in node.named_children)))
        case "string":
            return literal(string(node))
        case "number":
            return literal(number(node))
        case _:
            return unread(text(node))


def is_definition(declared: Declared) -> bool:
    """Whether a declaration means something on its own: without type parameters, or with a default for each."""
    return all(parameter.child_by_field_name("value") is not None for parameter in _parameters(declared.nodes[0]))


def _map(values: Shape) -> Shape:
    """A map; one that no value fits is an object without members."""
    return Shape(objects=(Object(()),)) if values == NOTHING else Shape(values=values)


def _heirs(node: Node) -> list[Node]:
    return [part for clause in node.named_children if clause.type == "extends_clause" for part in clause.named_children]


def _parameters(node: Node) -> list[Node]:
    found = node.child_by_field_name("type_parameters")
    return [] if found is None else [child for child in found.named_children if child.type == "type_parameter"]


def _annotated(node: Node) -> Node:
    return _inner(_child(node, "type"))


def _inner(node: Node) -> Node:
    return node.named_children[0] if node.type.endswith("type_annotation") else node


def _child(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    assert found is not None, f"{node.type} without {name}"
    return found
