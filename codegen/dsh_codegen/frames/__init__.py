"""Logs of frames, judged by the schema of a protocol: what `dsh-codegen validate` does.

    rows      bytes of a file -> one `Row` a line: a frame, or the reason why there is none (`reading`: text -> JSON)
    frame     a JSON value -> a `Frame`: request, response or notification, and what is wrong with its envelope
    pending   requests that wait for a response
    judge     params and results against their definitions (`tags` finds the arm of a union, `explain` the sentence)
    members   what a frame carries that the schema does not declare
    examine   all of that, row by row, for one revision (`protocol`) -> `Finding`s and a `Summary`
    revision  the same rows under several revisions, and which of them fits -> a `Report`
    render    a report as text or JSON
    command   the command line

It reads a bundle (one JSON Schema document a revision, with `x-methods`) as parsed JSON, and knows no method by name.
Findings are values: rendering happens in `render` only. Nothing here keeps more than one line of a log in memory, apart from
the requests that are still unanswered and a fixed number of counters.
"""

from __future__ import annotations
