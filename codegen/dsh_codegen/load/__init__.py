"""Schema files -> IR: `read_protocol`.

The way goes through `files` (checked JSON, references), `lower` (one schema, one type) and `unions` (how their arms differ).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import SchemaError
from ..ir import Protocol
from .files import load
from .lower import lower

__all__ = ["ReadProtocol", "read_protocol"]


@dataclass(frozen=True, slots=True)
class ReadProtocol:
    """A protocol, and the digest of the schema text it was read from (SHA-256, hex)."""

    protocol: Protocol
    digest: str


def read_protocol(path: Path) -> ReadProtocol:
    """The protocol in a schema directory or file. A schema that names no revision gets its own name. Raises `SchemaError`."""
    source = load(path)
    try:
        protocol = lower(source, revision=path.name.partition(".")[0] or "schema", title=path.stem)
    except RecursionError:
        raise SchemaError(f"{path.name}#", "definitions nest in or extend each other too deeply") from None
    return ReadProtocol(protocol, source.digest)
