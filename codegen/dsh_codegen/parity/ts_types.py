"""TypeScript types as syntax trees -> shapes.

A named type that takes no arguments stays a reference. Everything else is worked out as far as it can be from the text:
generics with their arguments, `keyof`, indexed access, mapped and conditional types over literals, intersections, the usual
utility types. What can't be worked out is left as `unread`, with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias

from tree_sitter import Node

from .model import ANY, NOTHING, STRING, Definition, Member, Object, Place, Shape, kind, ref, union, unread
from .ts_algebra import assignable, indexed, intersection, keys_of, map_of, member_of, name_of, objects_of, spelled
from .ts_names import Declared, Names, Scope, is_definition
from .ts_nodes import bare, child, number, parameters, parents, string, text
from .ts_syntax import SourceFile
from .ts_utility import utility
from .ts_values import constant, enumerated, predefined, written

_DEEPEST: Final = 40


class Types:
    """Evaluates types; `names` finds what they refer to."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._expand = names.expand
        self._open: set[tuple[str, tuple[Shape, ...]]] = set()

    def declare(self, declared: Declared, arguments: tuple[Shape, ...] = (), depth: int = 0) -> Definition:
        """The definition of a declaration, with its type parameters bound to `arguments` or their defaults."""
        node = declared.nodes[0]
        scope = self._bind(node, declared.file, arguments, depth)
        place = Place(declared.file.path, node.start_point.row + 1) if declared.file.path else None
        match node.type:
            case "type_alias_declaration":
                shape = self.shape(child(node, "value"), scope)
            case "enum_declaration":
                shape = enumerated(child(node, "body"))
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
        name = text(child(node, "name"))
        parts = child(node, "type_arguments").named_children
        arguments = tuple(self.shape(part, scope) for part in parts if part.type != "comment")
        found = self._names.declared(scope.file, name)
        if found is None:
            made = utility(name, arguments, self._expand)
            return made if made is not None else self._names.missing(scope.file, name)
        key = (found.name, arguments)
        if key in self._open:
            return unread(text(node))  # inside itself, as a tree has it: to go on would take forever
        self._open.add(key)
        try:
            return self.declare(found, arguments, scope.depth + 1).shape
        finally:
            self._open.discard(key)

    # objects

    def _interface(self, parts: list[tuple[Node, Scope]]) -> Shape:
        bases = [self.shape(parent, scope) for node, scope in parts for parent in parents(node)]
        bodies = [self.body(child(node, "body"), scope) for node, scope in parts]
        own = intersection(bodies, self._expand) if len(bodies) > 1 else bodies[0]
        return own if not bases else intersection([*bases, own], self._expand)

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
                mapped = next((each for each in part.named_children if each.type == "mapped_type_clause"), None)
                if mapped is not None:
                    return self._mapped(part, mapped, scope)
                values = self.shape(bare(child(part, "type")), scope)
        if values is not None and not members:
            return map_of(values)
        return Shape(objects=(Object(tuple(members.values()), None if values is None else True, values),))

    def _property(self, node: Node, scope: Scope) -> Member | None:
        name = child(node, "name")
        annotation = node.child_by_field_name("type")
        if name.type == "computed_property_name" or any(part.type == "accessibility_modifier" for part in node.children):
            return None
        wire = string(name) if name.type == "string" else str(number(name)) if name.type == "number" else text(name)
        shape = ANY if annotation is None else self.shape(bare(annotation), scope)
        optional = any(part.type == "?" for part in node.children)
        if optional and replace(shape, absent=False) == NOTHING:
            return None  # `x?: never`: it may not be there
        place = Place(scope.file.path, node.start_point.row + 1) if scope.file.path else None
        return member_of(wire, shape, optional=optional, place=place)

    def _mapped(self, node: Node, clause: Node, scope: Scope) -> Shape:
        name, constraint = text(child(clause, "name")), child(clause, "type")
        keys = spelled(self.shape(constraint, scope), self._expand)
        annotation = child(node, "type")
        if keys.kinds or keys.any:
            return Shape(values=self.shape(bare(annotation), scope.deeper({name: keys})))
        origin: dict[str, Member] = {}
        if constraint.type == "index_type_query":
            target = self.shape(constraint.named_children[0], scope)
            origin = {member.wire: member for each in objects_of(target, self._expand) for member in each.members}
        members: list[Member] = []
        for key in sorted(keys.literals):
            wire = name_of(key)
            shape = self.shape(bare(annotation), scope.deeper({name: Shape(literals=frozenset({key}))}))
            optional = {"omitting_type_annotation": False, "opting_type_annotation": True, "adding_type_annotation": True}.get(
                annotation.type, wire in origin and not origin[wire].required
            )
            members.append(member_of(wire, shape, optional=optional))
        return Shape(objects=(Object(tuple(members)),))

    # operators

    def both(self, node: Node, scope: Scope) -> Shape:
        """An intersection."""
        return intersection([self.shape(part, scope) for part in node.named_children], self._expand)

    def keys(self, node: Node, scope: Scope) -> Shape:
        """`keyof T`."""
        return keys_of(objects_of(self.shape(node.named_children[0], scope), self._expand))

    def indexed(self, node: Node, scope: Scope) -> Shape:
        """`T[K]`."""
        target, key = (self.shape(part, scope) for part in node.named_children[:2])
        return indexed(target, spelled(key, self._expand), self._expand) or unread(text(node))

    def conditional(self, node: Node, scope: Scope) -> Shape:
        """`A extends B ? C : D`; over a bare type parameter each alternative is decided on its own."""
        left, right = child(node, "left"), self.shape(child(node, "right"), scope)
        name = text(left)
        value = self.shape(left, scope)
        if left.type == "type_identifier" and name in scope.bound and len(value.literals) > 1:
            cases = [scope.deeper({name: Shape(literals=frozenset({each}))}) for each in sorted(value.literals)]
        else:
            cases = [scope]
        found: list[Shape] = []
        for each in cases:
            holds = assignable(self.shape(left, each), right, self._expand)
            if holds is None:
                return unread(text(node))
            found.append(self.shape(child(node, "consequence" if holds else "alternative"), each))
        return union(NOTHING, *found)

    def queried(self, node: Node, scope: Scope) -> Shape:
        """`typeof x`, of a constant whose type or literal value is written out."""
        declarator = scope.file.variables.get(text(node.named_children[0]))
        if declarator is None:
            return unread(text(node))
        annotation, value = declarator.child_by_field_name("type"), declarator.child_by_field_name("value")
        if annotation is not None:
            return self.shape(bare(annotation), scope)
        return unread(text(node)) if value is None else constant(value)

    def _bind(self, node: Node, file: SourceFile, arguments: tuple[Shape, ...], depth: int) -> Scope:
        scope = Scope(file, {}, depth)
        for index, parameter in enumerate(parameters(node)):
            default = parameter.child_by_field_name("value")
            if index < len(arguments):
                value = arguments[index]
            elif default is not None:
                value = self.shape(default.named_children[0], scope)
            else:
                value = unread(f"type parameter {text(parameter)}")
            scope = Scope(file, {**scope.bound, text(child(parameter, "name")): value}, depth)
        return scope


_Handler: TypeAlias = Callable[[Types, Node, Scope], Shape]


def _array(types: Types, node: Node, scope: Scope) -> Shape:
    return Shape(items=types.shape(node.named_children[0], scope))


def _tuple(types: Types, node: Node, scope: Scope) -> Shape:
    items: list[Shape] = []
    for part in node.named_children:
        annotation = part.child_by_field_name("type")
        inner = part if annotation is None else bare(annotation)
        rest = part.type == "rest_type" or any(each.type == "rest_pattern" for each in part.named_children)
        shape = types.shape(inner.named_children[0] if inner.type in ("rest_type", "optional_type") else inner, scope)
        items.append(shape.items if rest and shape.items is not None else shape)
    return Shape(items=union(NOTHING, *items))


def _passed(types: Types, node: Node, scope: Scope) -> Shape:
    return types.shape(node.named_children[-1], scope)


_HANDLERS: Final[Mapping[str, _Handler]] = MappingProxyType(
    {
        "predefined_type": lambda _, node, __: predefined(node),
        "literal_type": lambda _, node, __: written(node),
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
