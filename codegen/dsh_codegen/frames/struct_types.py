"""Shapes as msgspec types. The structs made here forbid undeclared members, and they check what no type can say."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, defstruct

from .struct_parts import Array, Map, Record, Records, Scalar, Shape, Tag
from .struct_scalars import array_of, literal, map_of, one_of
from .struct_shapes import Shapes

_UNNAMEABLE: Final = re.compile(r'[\x00-\x1f"\\]')  # msgspec wants member names that JSON writes as they are
_MANGLED: Final = "x_"


@dataclass(frozen=True, slots=True)
class Typed:
    """A place as msgspec sees it. `differ`: no two items of an array may be equal, which `type` does not say.

    `structs` are the classes of its objects, and `others` says whether it takes anything else. `items` is what its arrays hold,
    `values` what the members of its objects are where these are dictionaries.
    """

    type: Any
    differ: bool = False
    structs: tuple[type[Struct], ...] = ()
    others: bool = True
    items: Typed | None = None
    values: Typed | None = None

    @property
    def free(self) -> bool:
        """Whether it takes any JSON."""
        return self.type is Any or self.type is Raw


ANY: Final = Typed(Raw)
"""Any JSON: it is checked to be that, and left as it stands in the line. Most of what is in such places is large."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct: the attribute that holds it (`UNSET` where it is absent), and what it takes."""

    attribute: str
    typed: Typed
    required: bool = True


Members: TypeAlias = Mapping[str, Member]
"""The members of a struct by their names on the wire."""


class StructTypes:
    """The msgspec types of one bundle, each made once and on demand. `members` and `tags` tell of all structs made so far."""

    def __init__(self, shapes: Shapes) -> None:
        self.members: Final[dict[type, Members]] = {}
        self.tags: Final[dict[type, tuple[str, Tag]]] = {}
        self._shapes = shapes
        # by the id of a shape or a schema, which is kept so that its id stays its own
        self._typed: dict[int, tuple[Shape, Typed | None]] = {}
        self._structs: dict[tuple[int, int, tuple[str, Tag] | None, bool], tuple[Record, type[Struct] | None]] = {}

    def typed(self, shape: Shape | None) -> Typed | None:
        """The type that takes what `shape` takes; None if nothing is left."""
        if shape is None or shape.free:
            return None if shape is None else ANY
        found = self._typed.get(id(shape))
        if found is None:
            found = self._typed[id(shape)] = shape, self._make(shape)
        return found[1]

    def _make(self, shape: Shape) -> Typed | None:
        types: list[Any] = []
        differ = False
        structs: tuple[type[Struct], ...] = ()
        items: Typed | None = None
        values: Typed | None = None
        for part in shape.parts.values():
            match part:
                case Scalar():
                    types.append(part.type)
                case Array():
                    items = Typed(Any) if part.unique and part.items.free else self.typed(part.items)
                    if items is not None and not items.differ and not (part.unique and items.structs):
                        types.append(array_of(items.type, part.limits))
                        differ = part.unique
                case Map():
                    values = self.typed(part.values)
                    if values is not None and not values.differ:
                        types.append(map_of(values.type))
                case _:
                    structs = self._objects(part)
                    types += structs
        return Typed(one_of(types), differ, structs, len(types) > len(structs), items, values) if types else None

    def _objects(self, part: Record | Records) -> tuple[type[Struct], ...]:
        if isinstance(part, Record):
            plain = self._struct(part, None, tagged=False)
            return () if plain is None else (plain,)
        if _UNNAMEABLE.search(part.tag):
            return ()
        made = {tag: self._struct(record, (part.tag, tag), tagged=True) for tag, record in part.by_tag.items()}
        left = [tag for tag, struct in made.items() if struct is not None]
        if len(left) == 1:  # msgspec does not insist on the tag of a struct that stands alone
            made = {tag: self._struct(part.by_tag[tag], (part.tag, tag), tagged=False) for tag in left}
        return tuple(struct for struct in made.values() if struct is not None)

    def _struct(self, record: Record, tag: tuple[str, Tag] | None, *, tagged: bool) -> type[Struct] | None:
        """The struct of a record, or of those of its objects that have a certain tag."""
        key = id(record.schema), record.entries, tag, tagged
        found = self._structs.get(key)
        if found is None:
            members = self._members(record, tag and tag[0])
            made = None if members is None else self.struct(members, tag, tagged=tagged)
            found = self._structs[key] = record, made
        return found[1]

    def _members(self, record: Record, tag_name: str | None) -> dict[str, Member] | None:
        """What the schema says of all members but the tag; None if one that must be there has no type."""
        members: dict[str, Member] = {}
        for name, schema in record.schema.get("properties", {}).items():
            if name == tag_name:
                continue
            typed = self.typed(self._shapes.shape(schema, record.entries))
            if typed is not None and not _UNNAMEABLE.search(name):
                members[name] = Member(attribute(name), typed, name in record.required)
            elif name in record.required:
                return None
        return members

    def struct(
        self,
        members: Members,
        tag: tuple[str, Tag] | None = None,
        *,
        tagged: bool = False,
        rule: Callable[[Any], bool] | None = None,
    ) -> type[Struct]:
        """A struct with these members and, if one is given, a tag; `tagged` for a union of several. `rule` judges instances."""
        fields = [_field(member) for member in members.values()]
        arrays = [member.attribute for member in members.values() if member.typed.differ]
        namespace: dict[str, Any] = {"__post_init__": _post_init(arrays, rule)} if arrays or rule is not None else {}
        options: dict[str, Any] = {}
        if tag is not None:
            own = Member(attribute(tag[0]), Typed(literal([tag[1]])))
            members = {**members, tag[0]: own}
            if tagged:
                namespace[own.attribute] = tag[1]  # no field, but found like one
                options = {"tag_field": tag[0], "tag": tag[1]}
            else:
                fields.append(_field(own))
        made = defstruct(
            "Object",
            fields,
            namespace=namespace,
            rename={member.attribute: name for name, member in members.items() if member.attribute != name},
            kw_only=True,
            forbid_unknown_fields=True,
            eq=False,
            gc=False,
            **options,
        )
        self.members[made] = members
        if tag is not None:
            self.tags[made] = tag
        return made


def attribute(name: str) -> str:
    """The Python name of a member: its own if that is an ordinary one."""
    ordinary = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if ordinary and not name.startswith(("_", _MANGLED)) else _MANGLED + name.encode().hex()


def _field(member: Member) -> tuple[str, Any] | tuple[str, Any, Any]:
    if member.required:
        return member.attribute, member.typed.type
    return member.attribute, one_of([member.typed.type, UnsetType]), UNSET


def _post_init(arrays: Sequence[str], rule: Callable[[Any], bool] | None) -> Callable[[Any], None]:
    """What msgspec calls on each decoded struct; it takes `ValueError` and `TypeError` for a refusal.

    To Python 1, 1.0 and true are equal, to JSON only the first two are, so this refuses more than it must. Lists and
    dictionaries can't be compared in this way, and raise `TypeError`. (Structs differ always, and are no items here.)
    """

    def __post_init__(self: Any) -> None:  # noqa: N807 -- it goes by this name
        for name in arrays:
            items: list[Any] = getattr(self, name)
            if type(items) is list and len(set(items)) != len(items):
                raise ValueError(name)
        if rule is not None and not rule(self):
            raise ValueError

    return __post_init__
