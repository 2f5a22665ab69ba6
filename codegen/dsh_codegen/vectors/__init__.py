"""Instances of a protocol's types, valid and not, that every language's codecs have to agree on; and how much they pin down.

`build` makes them from the IR, `prove` has `jsonschema` confirm each, `score` counts the changes to a schema that they notice.
"""

from __future__ import annotations
