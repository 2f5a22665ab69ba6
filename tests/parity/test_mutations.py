"""The proof that `parity` can fail: every site of every text changed, one at a time, and exactly that place must be named.

Sites are enumerated, not sampled. Only the text of the changed definition is read again, and only what it may touch is compared
again; `test_generated` makes one change of every class in files and runs the whole command.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from dsh_codegen.parity.compare import differences
from dsh_codegen.parity.difference import CATEGORIES
from dsh_codegen.parity.memory import Memory
from dsh_codegen.parity.model import Definition, Side
from dsh_codegen.parity.python import read_package
from dsh_codegen.parity.schema import read_schema
from dsh_codegen.parity.typescript import read_generated
from dsh_codegen.parity.unions import tags_of
from tests.parity.python_sites import PythonSites
from tests.parity.schema_sites import SchemaSites
from tests.parity.sites import Site, kinds
from tests.parity.typescript_sites import TypescriptSites

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "generated" / "python" / "dsh_protocol"
MAPS: Final = ("HarnessSdkRequestMap", "HarnessSdkNotificationMap")
MANIFEST: Final = json.loads((PACKAGE / "manifest.json").read_text(encoding="utf-8"))
MODULES: Final = [origin["module"] for origin in reversed(MANIFEST["revisions"].values())]  # newest first

# classes that every text has sites of: the sender of a notification stands in no TypeScript type
EVERYWHERE: Final = frozenset(CATEGORIES) - {"unread"}


@cache
def bundle_of(module: str) -> dict[str, Any]:
    bundle: dict[str, Any] = json.loads((PACKAGE / module / "schema.json").read_text(encoding="utf-8"))
    return bundle


@cache
def sides_of(module: str) -> dict[str, Side]:
    return {
        "schema": read_schema(bundle_of(module)),
        "python": read_package(PACKAGE / module),
        "typescript": read_generated(ROOT / "generated" / "typescript" / f"{module}.d.ts", MAPS),
    }


def says(module: str, name: str) -> tuple[Definition | None, ...]:
    """What all sides say of a definition."""
    return tuple(side.definitions.get(name) for side in sides_of(module).values())


def seen_elsewhere(module: str) -> set[str]:
    """Definitions of which a newer revision says the very same on every side: their sites are its sites."""
    newer = MODULES[: MODULES.index(module)]
    return {
        name for name in sides_of(module)["schema"].definitions for other in newer if says(other, name) == says(module, name)
    }


@pytest.mark.parametrize("module", MODULES)
def test_every_mutant_is_named_where_it_is(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    sides = sides_of(module)
    tags = tags_of(sides["schema"].definitions)
    memory = Memory()
    assert not differences(module, list(sides.values()), memory=memory)
    skipped = seen_elsewhere(module)
    sites = [
        *SchemaSites(bundle_of(module), sides["schema"], tags, skipped).all(),
        *PythonSites(PACKAGE / module, sides["python"], tags, skipped).all(),
        *TypescriptSites(ROOT / "generated" / "typescript" / f"{module}.d.ts", MAPS, sides["typescript"], tags, skipped).all(),
    ]
    missed: list[str] = []
    caught: Counter[str] = Counter()
    for site in sites:
        mutated = {**sides, site.side: site.mutate()}
        found = differences(module, list(mutated.values()), memory=memory)
        named = {(each.definition, each.path, each.category) for each in found}
        if named == site.expected:
            caught[site.category] += 1
        else:
            missed.append(_missed(site, named))
    counted = kinds(sites)
    with capsys.disabled():
        sys.stdout.write(_table(module, len(skipped), counted, caught))
    assert not missed, "\n".join([f"{len(missed)} of {len(sites)} not named exactly:", *missed[:40]])
    if module == MODULES[0]:
        assert counted.keys() == set(CATEGORIES) - {"unread"}
        assert all(count for category in EVERYWHERE for count in counted[category].values()), counted


def _table(module: str, skipped: int, counted: dict[str, dict[str, int]], caught: Counter[str]) -> str:
    total = sum(sum(row.values()) for row in counted.values())
    head = f"{module}: {total} sites, {sum(caught.values())} caught; {skipped} definitions as in a newer revision"
    rows = [
        f"  {category:14}{''.join(f'{side} {count:5}  ' for side, count in row.items())}caught {caught[category]}"
        for category, row in sorted(counted.items())
    ]
    return "\n".join(["", head, *rows, ""])


def _missed(site: Site, named: set[tuple[str, str, str]]) -> str:
    return f"{site.side} {site.category} ({site.what}): expected {sorted(site.expected)}, got {sorted(named)[:4]}"
