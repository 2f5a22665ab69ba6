"""The table of sequencing rules (schema/sequencing.json): what may follow what in a log, as data.

`load_sequencing` reads it for one revision. What the words of the table mean is said in schema/sequencing.meta.json. The checks
here repeat those of that schema, since importing `jsonschema` takes longer than judging most logs, and add what it can't say:
that every event that is named exists, and that keys fit each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from .findings import Kind, Severity
from .wording import Json

NOTHING: Final = ""
"""The event that stands for none before."""


class Event(Struct, frozen=True):
    """A frame of `kind` and one of `methods` (of a response: the method of its request) that fits.

    It fits if each path of `where` leads to that value, and if it has the member `has`.
    """

    name: str
    kind: Kind
    methods: tuple[str, ...]
    where: tuple[tuple[str, str | int | bool], ...] = ()
    has: str | None = None


class End(Struct, frozen=True):
    """What to say of a key that the log leaves at an event; with `seen`, only if both key and that event came last in the last
    conversation of the log."""

    says: str
    seen: str | None = None


class SequenceRule(Struct, frozen=True):
    """A rule about neighbours: of the events with the same key, which may directly follow which.

    `events` maps each event to the paths of its key; without paths there is one key for the whole log. `after` maps each event
    to those that may come directly before it, with `NOTHING` if none has to. With `rising` it is the value at that path which
    has to rise, and `after` allows everything. `whole`: the rule sees the log as one, others don't look across conversations.
    `says` and `ends` hold templates (see `fill`) for a breach by an event, and for a log that ends after one; of several ends
    the first that applies counts.
    """

    id: str
    severity: Severity
    sentence: str
    protocol: tuple[str, ...]
    events: Mapping[str, tuple[str, ...]]
    after: Mapping[str, frozenset[str]]
    rising: str | None = None
    whole: bool = False
    says: Mapping[str, str] = field(default_factory=dict[str, str])
    ends: Mapping[str, tuple[End, ...]] = field(default_factory=dict[str, tuple[End, ...]])
    closing: frozenset[str] = frozenset()
    """The events after which the same may come as after nothing: they leave their key as if it had never been seen.

    It follows from the other members, whatever is given.
    """

    def __post_init__(self) -> None:
        before = self.after.values()
        closing = (each for each in self.events if all((each in some) == (NOTHING in some) for some in before))
        force_setattr(self, "closing", frozenset(closing if self.rising is None else ()))

    def narrowed(self, here: Collection[str]) -> SequenceRule | None:
        """The same rule about the events `here` only; None if none of them can break it."""
        events = {name: paths for name, paths in self.events.items() if name in here}
        everything = frozenset({*events, NOTHING})
        after = {name: self.after[name] & everything for name in events}
        if not events or (self.rising is None and all(before == everything for before in after.values())):
            return None
        ends = {
            name: tuple(each for each in several if each.seen is None or each.seen in here)
            for name, several in self.ends.items()
            if name in events
        }
        return replace(self, events=events, after=after, ends=ends)


class Span(Struct, frozen=True):
    """A stretch between two events that have the same key (at the paths `per`); `outcome` is a path in the second one."""

    name: str
    start: str
    end: str
    per: tuple[str, ...]
    outcome: str


class Sequencing(Struct, frozen=True):
    """What holds for one revision. It can be pickled.

    `begins` is the event that begins a conversation, None if nothing does. `sessions` maps the events that show that a session
    exists to the path of its id.
    """

    events: Mapping[str, Event] = field(default_factory=dict[str, Event])
    rules: tuple[SequenceRule, ...] = ()
    spans: tuple[Span, ...] = ()
    sessions: Mapping[str, str] = field(default_factory=dict[str, str])
    begins: str | None = None


EMPTY: Final = Sequencing()
"""No rules at all."""


def fill(template: str, event: str, previous: str, line: int, key: Iterable[str]) -> str:
    """The sentence that a template of the table gives. `key` has its parts ready to be shown; `line` is that of `previous`."""
    parts = list(key)
    return template.format(*parts, key=", ".join(parts), event=event, previous=previous, line=line)


def load_sequencing(data: Json, revision: str) -> Sequencing:
    """The rules for `revision` in the parsed table `data`.

    All of the table is checked, parts for other revisions too. Raises `SchemaError`, which names the place by JSON Pointer.
    """
    return load_sequencings(data, [revision])[0]


def load_sequencings(data: Json, revisions: Iterable[str]) -> list[Sequencing]:
    """Likewise for several revisions; the table is checked once."""
    from .sequence_table import Table

    table = Table(data)
    return [table.narrowed(revision) for revision in revisions]
