"""The JSON of schema/sequencing.json -> `Sequencing`, checked on the way."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from string import Formatter
from typing import Final

from .findings import Kind, Severity
from .sequencing import NOTHING, End, Event, SequenceRule, Sequencing, Span
from .tables import At
from .wording import Json, show

FILE: Final = "sequencing.json"
_RULE_ID: Final = re.compile(r"sequence/[a-z0-9]+(-[a-z0-9]+)*")
_CITATION: Final = re.compile(r"[A-Z][1-9][0-9]*")
_REVISION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]*")
_KINDS: Final[tuple[Kind, ...]] = ("request", "response", "notification")
_SEVERITIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning"}
_RULE_MEMBERS: Final = ("comment", "revisions", "over", "after", "not_after", "rising", "says", "ends")


class Table:
    """The whole table, parsed. Raises `SchemaError` if it is broken."""

    def __init__(self, data: Json) -> None:
        root = At(data, FILE).members(("events", "rules"), ("$schema", "begins", "spans", "sessions"))
        if "$schema" in root:
            root["$schema"].text()
        self._revisions: dict[str, tuple[str, ...]] = {}
        self._events = {name: self._event(name, at) for name, at in root["events"].named().items()}
        self._begins = self._known(root["begins"]) if "begins" in root else None
        self._rules: list[tuple[SequenceRule, tuple[str, ...]]] = []
        for at in root["rules"].items():
            rule, revisions = self._rule(at)
            if any(rule.id == other.id for other, _ in self._rules):
                raise at.child("id").refuse(f"the rule {show(rule.id)} stands twice")
            self._rules.append((rule, revisions))
        self._spans = [self._span(at) for at in root["spans"].items()] if "spans" in root else []
        sessions = root["sessions"].named() if "sessions" in root else {}
        self._sessions = {self._known_name(root["sessions"], name): at.path() for name, at in sessions.items()}

    def narrowed(self, revision: str) -> Sequencing:
        """What holds for one revision."""
        here = {name for name in self._events if _holds(self._revisions[name], revision)}
        rules = (rule.narrowed(here) for rule, revisions in self._rules if _holds(revisions, revision))
        return Sequencing(
            {name: event for name, event in self._events.items() if name in here},
            tuple(rule for rule in rules if rule is not None),
            tuple(span for span in self._spans if {span.start, span.end} <= here),
            {name: path for name, path in self._sessions.items() if name in here},
            self._begins if self._begins in here else None,
        )

    def _event(self, name: str, at: At) -> Event:
        if name == NOTHING:
            raise at.refuse("an event needs a name; the empty one stands for none before")
        found = at.members((), (*_KINDS, "where", "has", "revisions", "comment"))
        kinds: list[Kind] = [kind for kind in _KINDS if kind in found]
        if len(kinds) != 1:
            raise at.refuse("an event is one of a request, a response and a notification")
        methods = found[kinds[0]]
        where = found["where"].named() if "where" in found else {}
        self._revisions[name] = _revisions(found)
        _comment(found)
        return Event(
            name,
            kinds[0],
            methods.texts(what="a method") if isinstance(methods.value, list) else (methods.text(what="a method"),),
            tuple((At(path, each.file, each.pointer).path(), each.scalar()) for path, each in where.items()),
            found["has"].text() if "has" in found else None,
        )

    def _rule(self, at: At) -> tuple[SequenceRule, tuple[str, ...]]:
        found = at.members(("id", "severity", "sentence", "protocol", "per"), _RULE_MEMBERS)
        if ("rising" in found) == ("after" in found or "not_after" in found):
            raise at.refuse("a rule has either `rising`, or `after`, `not_after` or both")
        _comment(found)
        events = {self._known_name(found["per"], name): _paths(each) for name, each in found["per"].named().items()}
        sizes = {len(paths) for paths in events.values()}
        if len(sizes) > 1:
            raise found["per"].refuse("the keys of all events have the same number of paths")
        within = _Names(events, sizes.pop())
        rule = SequenceRule(
            found["id"].text(_RULE_ID, "a rule id such as sequence/turns"),
            _SEVERITIES[found["severity"].known(_SEVERITIES, "severity")],
            found["sentence"].text(),
            found["protocol"].texts(_CITATION, "the id of a rule such as S121"),
            events,
            within.after(found),
            found["rising"].path() if "rising" in found else None,
            "over" in found and found["over"].known(("conversation", "log"), "extent") == "log",
            {name: within.template(each) for name, each in within.members(found, "says").items()},
            {name: self._ends(each, within) for name, each in within.members(found, "ends").items()},
        )
        for name, each in within.members(found, "ends").items():
            if name in rule.closing:
                raise each.refuse(f"{show(name)} leaves nothing open: after it the same may come as at the beginning")
        return rule, _revisions(found)

    def _ends(self, at: At, within: _Names) -> tuple[End, ...]:
        if isinstance(at.value, str):
            return (End(within.template(at)),)
        ends: list[End] = []
        for each in at.items():
            if ends and ends[-1].seen is None:
                raise each.refuse("the one before it applies always")
            found = each.members(("says",), ("if",))
            ends.append(End(within.template(found["says"]), self._known(found["if"]) if "if" in found else None))
        return tuple(ends)

    def _span(self, at: At) -> Span:
        found = at.members(("name", "start", "end", "per", "outcome"))
        start, end = self._known(found["start"]), self._known(found["end"])
        return Span(found["name"].text(), start, end, _paths(found["per"]), found["outcome"].path())

    def _known(self, at: At) -> str:
        return at.known(self._events, "event")

    def _known_name(self, at: At, name: str) -> str:
        return At(name, at.file, at.child(name).pointer).known(self._events, "event")


class _Names:
    """The events of one rule, and what may be said of them."""

    def __init__(self, events: Collection[str], key_size: int) -> None:
        self._events = events
        self._key_size = key_size

    def members(self, found: Mapping[str, At], member: str) -> dict[str, At]:
        """What a member says of each event that it names."""
        if member not in found:
            return {}
        named = found[member].named()
        for name in named:
            At(name, found[member].file, found[member].child(name).pointer).known(self._events, "event of this rule")
        return named

    def after(self, found: Mapping[str, At]) -> dict[str, frozenset[str]]:
        """What may come before each event; of one that the rule says nothing about, anything."""
        everything = frozenset({*self._events, NOTHING})
        result = dict.fromkeys(self._events, everything)
        for name, at in self.members(found, "after").items():
            result[name] = self._listed(at, everything)
        for name, at in self.members(found, "not_after").items():
            if result[name] is not everything:
                raise at.refuse("it stands under `after`, too")
            result[name] = everything - self._listed(at, everything)
        return result

    def template(self, at: At) -> str:
        """A template: a text with places such as {key} to fill in."""
        text = at.text()
        known = {"event", "previous", "line", "key", *map(str, range(self._key_size))}
        try:
            fields = [(name, spec or conversion) for _, name, spec, conversion in Formatter().parse(text) if name is not None]
        except ValueError as error:
            raise at.refuse(f"it is no template: {error}; write a brace twice") from None
        for name, more in fields:
            if name not in known or more:
                raise at.refuse(f"there is nothing to put in the place of {{{name}}}; there are {', '.join(sorted(known))}")
        return text

    def _listed(self, at: At, everything: Collection[str]) -> frozenset[str]:
        found: set[str] = set()
        for each in at.items():
            name = each.known(everything, "event of this rule")
            if name in found:
                raise each.refuse(f"{show(name)} stands twice")
            found.add(name)
        return frozenset(found)


def _holds(revisions: Collection[str], revision: str) -> bool:
    return not revisions or revision in revisions


def _revisions(found: Mapping[str, At]) -> tuple[str, ...]:
    return found["revisions"].texts(_REVISION, "the name of a revision") if "revisions" in found else ()


def _comment(found: Mapping[str, At]) -> None:
    if "comment" in found:
        found["comment"].text()


def _paths(at: At) -> tuple[str, ...]:
    if at.value == "":
        return ()
    return tuple(each.path() for each in at.items()) if isinstance(at.value, list) else (at.path(),)
