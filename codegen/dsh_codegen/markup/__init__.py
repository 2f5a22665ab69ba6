"""What the formats of reports ask for, whatever is reported: their escaping and their outer shape.

    text      text that a terminal, XML and a reader of JSON can take, whatever it was; numbers with their noun
    files     names of files: as shown, and as URIs
    sarif     SARIF 2.1.0
    junit     JUnit XML
    github    workflow commands
    markdown  Markdown as GitHub reads it

Reports quote strangers: what a log or a source text contains must not command the terminal, the page or the build that shows
it.
"""

from __future__ import annotations
