"""What is counted in a log for `--report`, apart from findings; `observed` puts it together.

    coverage   which parts of the schema are in use, and what is undeclared: a `Layout` of counters, and walks that count
               (`declared` compiles definitions into `walks` and, for unions, `arms`)
    watch      sessions and the spans (turns) in them, counted in `sessions`
    traffic    sizes, rates, latencies, in a `histogram`
    sample     any number of names in bounded memory (`seen`: how often and where first)
    told       all of that as JSON
    tables     all of that as short tables

Counts of parts of a log merge into those of the whole; they are integers, so it does not matter where the log was cut.
"""

from __future__ import annotations
