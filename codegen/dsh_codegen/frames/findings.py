"""Findings: what is wrong with one line of a log, as values. Rendering them is the business of `render`.

A `Problem` knows what is wrong; a `Finding` knows also where. Each names a rule of `RULES`; a rule says what it asks for and
which rules of schema/PROTOCOL.md it rests on. JSON findings have exactly the fields of `Finding`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from .wording import Path

Direction: TypeAlias = Literal["c2s", "s2c"]
"""Who wrote a frame: the client (to the server) or the server (to the client)."""

Kind: TypeAlias = Literal["request", "response", "notification"]
"""What the reader of a frame takes it for."""


Severity: TypeAlias = Literal["error", "warning", "note"]
"""error: the protocol is broken. warning: that is likely, or promised by nobody. note: worth knowing, nothing is wrong."""


class Problem(Struct, frozen=True):
    """One thing wrong with a frame. `path` leads from the frame; `schema` points into the bundle, None if none is involved."""

    rule: str
    message: str
    path: Path = ()
    schema: str | None = None


class Finding(Struct, frozen=True):
    """A problem in its place: the fields of a finding in the JSON report.

    `line` counts line feeds from 1; 0 is the file as a whole. `path` is a JSONPath from the frame, not from the row around it;
    in a report on lines with an `Envelope`, from the line. `method` of a response is the method of the request it answers.
    """

    file: str
    line: int
    direction: Direction | None
    kind: Kind | None
    method: str | None
    rule: str
    path: str
    schema: str | None
    message: str
    severity: Severity = "error"


class Rule(Struct, frozen=True):
    """What a log is held to: a sentence, and the ids of the PROTOCOL.md rules it rests on (none: it is about logs)."""

    sentence: str
    protocol: tuple[str, ...] = ()
    severity: Severity = "error"


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "file/encoding": Rule("A log is UTF-8; a file of UTF-16 or UTF-32 is reported once and not read.", ("T2",)),
        "file/unreadable": Rule("A file that was found is a log, and can be read to its end; one that can't is reported once."),
        "file/truncated": Rule("A packed file is whole; of one that breaks off, the complete lines before that are read."),
        "file/corrupt": Rule(
            "A packed file unpacks without an error; of a damaged one, the complete lines before that are read."
        ),
        "line/too-long": Rule("A line longer than --max-line is not read."),
        "line/utf-8": Rule("Frames are UTF-8; other bytes are read as U+FFFD.", ("T2", "T6")),
        "row/shape": Rule('A capture row has "dir": "c2s" or "s2c" and a frame, or says why it has none.'),
        "json/nul": Rule("A line does not begin with NUL bytes, as a crash leaves them; its reader drops it.", ("T8",)),
        "json/noise": Rule(
            "A line that is not a frame at all, such as log text, is dropped by its reader.", ("T8",), "warning"
        ),
        "json/syntax": Rule("A line is one JSON value as RFC 8259 defines it, so without NaN or Infinity.", ("T1", "T8")),
        "json/glued": Rule("A frame that breaks off and runs into the next one loses both.", ("T1", "T8")),
        "json/several-values": Rule("A line carries one JSON value; several are dropped together.", ("T1", "T11")),
        "json/torn": Rule("Text after the last line feed is discarded when the input ends.", ("T1", "T13"), "warning"),
        "json/number": Rule("A number has no more digits than its reader can take."),
        "json/nesting": Rule("A frame is not nested deeper than its reader can follow."),
        "frame/shape": Rule("A frame is an object with a method, or a response with an id.", ("T9", "T17", "T18", "T20")),
        "frame/batch": Rule("There are no batches: an array is dropped.", ("T10",)),
        "frame/version": Rule('A frame says "jsonrpc": "2.0".', ("T15",)),
        "frame/id": Rule("An id is a string or a number; with any other a request is a notification.", ("T19", "T21")),
        "frame/method": Rule("A method is a string.", ("T18",)),
        "frame/no-result": Rule("A response has a result or an error.", ("T30", "T31", "T36")),
        "frame/result-and-error": Rule("A response has either a result or an error.", ("T30", "T36", "T48")),
        "frame/error-shape": Rule("An error is an object with an integer code and a message string.", ("T36", "T48", "T49")),
        "frame/error-code": Rule("An error carries one of the codes that the protocol declares.", ("T37",)),
        "method/unknown": Rule("The methods of a revision are a closed set.", ("S2", "S3", "S4", "S5", "S6", "S9", "S141")),
        "method/direction": Rule("A method is sent by the side that the protocol says.", ("S2", "S4", "S7", "S8", "S9")),
        "method/kind": Rule("A method with a result is called by a request, any other by a notification.", ("S2", "S4", "S8")),
        "params/shape": Rule("Params are an object; anything else is read as an empty one.", ("T27",)),
        "params/schema": Rule("Params are valid against the definition that the method names.", ("T27",)),
        "result/schema": Rule("A result is valid against the definition that the method of its request names.", ("T30",)),
        "request/duplicate-id": Rule("A request does not use an id that still waits for a response.", ("T25",)),
        "request/unanswered": Rule("A request is answered before the log ends.", ("T25",), "note"),
        "response/orphan": Rule('A response has the id of a request that waits for it; 1 is not "1".', ("T23", "T24", "T26")),
        "strict/other-revision": Rule("With --strict: a method of another revision is no method here.", ("S1", "S9", "S141")),
        "strict/unknown-member": Rule("With --strict: an object has declared members only.", ("T16", "T36", "S140")),
        "strict/unterminated": Rule("With --strict: the last line ends with a line feed too.", ("T1", "T13")),
    }
)
"""Every rule by its id, in the order in which they apply."""
