"""Logs of frames, judged by the schema of a protocol: what `dsh-codegen validate` does.

From the command line to a report:

    command      the command line; `setup` is what it asks for
    plan         arguments -> logs and their files (`arguments`, `heads`) -> pieces (`source`, `flow`, `packed`, `follow`)
    run          logs -> a `Report`; `revision` finds out which revision they are of
    engine       pieces -> parts, by this process, by several (`workers`), or by a cluster (`cluster`, `remote`)
    stream       the parts of a log -> its outcome: what crosses the cuts is judged here
    formats      a report as text, JSON, JUnit, SARIF, ...

Judging the lines of a piece, `examine`, takes three lanes. A quicker one may only accept; all give the same `part`:

    shortcut     `structs` decode an ordinary line and judge it in one go
    verdict      the line is read without types (`rows`, `envelope`, `reading`, `depth`) and taken for a `frame`; params
                 and results are judged by `compiled` schemas (of a union only the arms that matter: `forks`); responses find
                 their requests (`pending`)
    judge        the reference, with explanations (`tags`, `explain`), for what the compiled ones refuse

The order of frames is followed by the table of a `sequencing`: `follower` within a part, `order` across parts, `words` for the
sentences. `observed` looks at what the schema does not say. Findings are values (`findings`), alike ones together (`groups`).

It reads a bundle (one JSON Schema document a revision, with `x-methods`) and a table, both parsed. It knows no method by name.
"""

from __future__ import annotations
