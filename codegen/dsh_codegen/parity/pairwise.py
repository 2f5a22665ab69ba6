"""Two sides, one definition: everything that they say differently.

Between generated sides a reference is its name (`nominal`): a reference to another definition is a difference there, and what
the definition says is compared once, in its own place. A foreign side may have no name for an object, or another one: then
references that the sides don't share are followed, and arms of unions are matched by their tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .arms import Arm, either, matched, names_of, partners, tag_of, values_of
from .difference import Relation
from .following import everything, followed, unnamed
from .found import MISSING, At, Found, Tags, placed
from .model import Definition, Member, Object, Shape, coarse, text
from .relations import covering, lopsided, widened


class Pair:
    """Compares definitions of two sides. `tags` decide what counts as a discriminator."""

    def __init__(
        self,
        left: Mapping[str, Definition],
        right: Mapping[str, Definition],
        tags: Tags,
        *,
        nominal: bool = True,
        integers: bool = True,
    ) -> None:
        self._left = left
        self._right = right
        self._tags = tags
        self._nominal = nominal
        self._integers = integers
        self._seen: set[tuple[Object, Object]] = set()

    def definition(self, left: Definition, right: Definition) -> Iterator[Found]:
        """What two definitions of one name say differently."""
        at = At(left.name, "", left.tag)
        places = (left.place, right.place)
        shape = left.shape if right.future is None else self._known(left, right.shape, right.future)
        for found in self.shapes(shape, right.shape, at):
            yield placed(found, places)
        if left.tag is not None and right.tag is not None and left.tag != right.tag:
            yield Found(at, "discriminator", "other", left.tag, right.tag, places)
        elif left.by_member is not None and right.by_member is not None and left.by_member != right.by_member:
            yield Found(at, "discriminator", "other", _pairs(left.by_member), _pairs(right.by_member), places)
        if left.open is not None and right.open is not None and left.open != right.open:
            yield Found(at, "open", "wider" if right.open else "narrower", _open(left.open), _open(right.open), places)

    def _known(self, left: Definition, right: Shape, future: frozenset[str]) -> Shape:
        """The shape of a union less the arms for the future, where the other side lists those apart (see `unions`)."""
        apart = {name for name in left.shape.refs - right.refs if name in future or self._unbounded(name, left.tag)}
        return replace(left.shape, refs=left.shape.refs - apart) if apart else left.shape

    def _unbounded(self, name: str, tag: str | None) -> bool:
        """Whether a definition is an object whose tag takes any value."""
        nodes = self._left[name].shape.objects if name in self._left else ()
        return tag is not None and any(node.member(tag) is not None and not values_of(node, tag) for node in nodes)

    def shapes(self, left: Shape, right: Shape, at: At) -> Iterator[Found]:
        """What two shapes say differently."""
        if left == right:
            return
        shown = (text(left), text(right))
        arms: tuple[list[Arm], list[Arm]] = unnamed(left), unnamed(right)
        if not self._nominal and not (left.any or right.any):
            less = followed(left, right, at, self._left, self._right)
            left, right, arms, at = less.left, less.right, less.arms, less.at
        if left.any or right.any:
            if left.any != right.any and (self._nominal or not self._spelled_out(left, right)):
                yield self._found(at, "type", "wider" if right.any else "narrower", shown)
            return
        if left.unread or right.unread:
            yield Found(at, "unread", "unseen", *shown)
            return
        if left.null != right.null:
            yield self._found(at, "nullable", "wider" if right.null else "narrower", shown)
        if (left.items is None) != (right.items is None):
            yield self._found(at, "array", lopsided(left, right), shown)
        elif (left.values is None) != (right.values is None):
            yield self._found(at, "map", lopsided(left, right), shown)
        else:
            if left.items is not None and right.items is not None:
                yield from self.shapes(left.items, right.items, at / "[]")
            if left.values is not None and right.values is not None:
                yield from self.shapes(left.values, right.values, at / "{}")
            yield from self._scalars(left, right, at, shown)
            yield from self._objects(arms[0], arms[1], at, shown)

    def _spelled_out(self, left: Shape, right: Shape) -> bool:
        """Whether the one that is not any JSON says the same in so many words."""
        return everything(right, self._right) if left.any else everything(left, self._left)

    def _found(self, at: At, category: str, relation: Relation, shown: tuple[str, str]) -> Found:
        if category in ("type", "literals", "open") and (at.definition, at.path[1:]) in self._tags:
            category = "discriminator"
        return Found(at, category, relation, *shown)

    # scalars

    def _scalars(self, left: Shape, right: Shape, at: At, shown: tuple[str, str]) -> Iterator[Found]:
        """Kinds, literals and, between generated sides, references."""
        if not self._integers:
            left, right = coarse(left), coarse(right)
        wide_left, wide_right = (widened(shape, integers=self._integers) for shape in (left, right))
        refs_differ = left.refs != right.refs
        union_ = len(left.refs) > 1 or len(right.refs) > 1 or (at.tag is not None and not at.path)
        records_differ = self._nominal and len(left.objects) != len(right.objects)
        if wide_left != wide_right or (refs_differ and not union_) or records_differ:
            yield self._found(at, "type", covering(left, right), shown)
            return
        if refs_differ:
            relation: Relation = "wider" if left.refs < right.refs else "narrower" if right.refs < left.refs else "other"
            yield Found(at, "arms", relation, _listed(left.refs, right.refs), _listed(right.refs, left.refs))
        if left.literals != right.literals:
            yield self._found(at, "literals", covering(left, right), shown)
        elif left.kinds != right.kinds:
            yield self._found(at, "open", covering(left, right), shown)

    # objects

    def _objects(self, left: Sequence[Arm], right: Sequence[Arm], at: At, shown: tuple[str, str]) -> Iterator[Found]:
        if not left and not right:
            return
        if self._nominal:
            for (first, _), (second, _) in zip(left, right, strict=False):
                yield from self._members(first, second, at)
            return
        alone = len(left) == 1 and len(right) == 1
        tag = at.tag or (None if alone else tag_of([node for node, _ in (*left, *right)]))
        if tag is not None:
            yield from self._tagged(tag, left, right, at)
        elif alone:
            yield from self._nested(left[0], right[0], at)
        else:
            yield Found(at, "arms", "narrower" if len(left) > len(right) else "wider", *shown)

    def _tagged(self, tag: str, left: Sequence[Arm], right: Sequence[Arm], at: At) -> Iterator[Found]:
        """Arms by the values of their tag. Arms that share values count as one object that may look like any of them."""
        rest = next((node.member(tag) for node, _ in left if not values_of(node, tag)), None)
        for values, mine, theirs in matched(tag, left, right):
            if mine and theirs:
                for ours, others in partners(tag, mine, theirs):
                    shared = values_of(ours[0][0], tag) & values_of(others[0][0], tag)
                    here = at / f"<{' | '.join(sorted(shared)) or 'any other'}>"
                    name = ours[0][1] if len(ours) == 1 else None
                    yield from self._nested((either(ours), name), (either(others), None), here, tag)
            elif not values:
                relation: Relation = "narrower" if mine else "wider"
                yield Found(at, "open", relation, _open(bool(mine)), _open(bool(theirs)))
                continue
            had = frozenset[str]().union(*(values_of(node, tag) for node, _ in mine))
            has = frozenset[str]().union(*(values_of(node, tag) for node, _ in theirs))
            for value in sorted(had - has):
                yield Found(at / f"<{value}>", "arms", "narrower", names_of(mine), MISSING)
            for value in sorted(has - had):
                passes = rest is not None and value not in rest.excluded
                yield Found(at / f"<{value}>", "arms", "unseen" if passes else "wider", MISSING, names_of(theirs))

    def _nested(self, left: Arm, right: Arm, at: At, tag: str | None = None) -> Iterator[Found]:
        """Two objects, in the place of the left one's own definition if it has one; the tag has been compared already."""
        if (left[0], right[0]) in self._seen:
            return
        self._seen.add((left[0], right[0]))
        if left[1] is None:
            yield from self._members(left[0], right[0], at, tag)
            return
        for found in self._members(left[0], right[0], At(left[1]), tag):
            yield placed(found, (self._left[left[1]].place, None))

    def _members(self, left: Object, right: Object, at: At, tag: str | None = None) -> Iterator[Found]:
        theirs = {member.wire: member for member in right.members if member.wire != tag}
        for member in left.members:
            if member.wire == tag:
                continue
            place = at / f".{member.wire}"
            other = theirs.pop(member.wire, None)
            if other is None:
                relation: Relation = "wider" if member.required else "narrower" if right.open is False else "unseen"
                yield Found(place, "member", relation, _said(member), MISSING, (member.place, None))
            else:
                for found in self._member(member, other, place):
                    yield placed(found, (member.place, other.place))
        for member in theirs.values():
            relation = "narrower" if member.required else "wider" if left.open is False else "unseen"
            yield Found(at / f".{member.wire}", "member", relation, MISSING, _said(member), (None, member.place))
        if left.open is not None and right.open is not None and left.open != right.open:
            yield Found(at, "open", "wider" if right.open else "narrower", _open(left.open), _open(right.open))
        if left.values is not None and right.values is not None:
            yield from self.shapes(left.values, right.values, at / "{}")

    def _member(self, left: Member, right: Member, at: At) -> Iterator[Found]:
        if left.required and not right.sent:
            yield Found(at, "required", "wider", _need(left), _need(right))
        elif not left.required and right.required:
            yield Found(at, "required", "narrower", _need(left), _need(right))
        elif self._nominal and left.required != right.required:
            yield Found(at, "required", "other", _need(left), _need(right))
        if (
            right.default is not None
            and left.shape.literals
            and not left.shape.kinds
            and right.default not in left.shape.literals
        ):
            shown = f"{text(right.shape)} (default {right.default})"
            category = "discriminator" if (at.definition, at.path[1:]) in self._tags else "literals"
            yield Found(at, category, "wider", text(left.shape), shown)
        elif self._nominal and left.default is not None and left.default not in (right.shape.literals or {left.default}):
            shown = f"{text(left.shape)} (default {left.default})"
            category = "discriminator" if (at.definition, at.path[1:]) in self._tags else "literals"
            yield Found(at, category, "narrower", shown, text(right.shape))
        else:
            yield from self.shapes(left.shape, right.shape, at)


def _said(member: Member) -> str:
    return f"{text(member.shape)}{'' if member.required else ', optional'}"


def _need(member: Member) -> str:
    return "required" if member.required else "optional"


def _open(value: bool) -> str:
    return "open" if value else "closed"


def _pairs(pairs: frozenset[tuple[str, str]]) -> str:
    return ", ".join(f"{name} by {member}" for name, member in sorted(pairs)) or "no arm by a member"


def _listed(names: frozenset[str], others: frozenset[str]) -> str:
    """Of two sets of arms, what this one has that the other has not."""
    return ", ".join(sorted(names - others)) or "none of these"
