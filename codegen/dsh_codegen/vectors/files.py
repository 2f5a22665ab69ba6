"""Vector files and their summary: what the command writes and compares.

The files are large and follow from the schema alone, so a project keeps the summary under version control: it says how many
vectors of which kind there are, and the digest of each file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from ..errors import ConfigError
from ..revisions import Revision
from .build import build
from .prove import Judge, prove
from .row import KINDS, Vector

SUMMARY: Final = "summary.json"


def proven(revision: Revision, package: str) -> tuple[tuple[Vector, ...], dict[str, Any]]:
    """The vectors of a revision, each confirmed by `jsonschema`, and the bundle that they were judged by.

    Raises `CodegenError` that names the first vector which is not what it was made to be.
    """
    from ..emit.bundle import bundle

    schema = bundle(revision.protocol, package)
    vectors = build(revision.protocol)
    prove(revision.protocol, Judge(schema), vectors)
    return vectors, schema


def file_name(revision: str) -> str:
    """The file of a revision's vectors."""
    return f"{quote(revision, safe='')}.jsonl"


def text(vectors: Iterable[Vector]) -> str:
    """The content of a vector file."""
    return "".join(f"{vector.row()}\n" for vector in vectors)


def summary(vectors: Iterable[Vector]) -> dict[str, Any]:
    """What a revision's vectors are, in short."""
    vectors = tuple(vectors)
    kinds = Counter(vector.kind for vector in vectors)
    reasons = Counter(vector.reason for vector in vectors if vector.reason)
    return {
        "vectors": len(vectors),
        "valid": sum(vector.valid for vector in vectors),
        "kinds": {kind: kinds[kind] for kind in KINDS if kinds[kind]},
        "reasons": dict(sorted(reasons.items())),
        "sha256": hashlib.sha256(text(vectors).encode()).hexdigest(),
    }


def summary_text(summaries: Mapping[str, Any]) -> str:
    """The content of the summary file."""
    return json.dumps(summaries, indent=1) + "\n"


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary in a folder; empty if there is none. Raises `ConfigError` for a file that is not one."""
    file = folder / SUMMARY
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: can't be read: {error}; delete it and write it again") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: it is no summary of vectors; delete it and write it again")
    return cast("dict[str, Any]", found)
