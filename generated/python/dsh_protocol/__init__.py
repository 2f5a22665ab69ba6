"""DeepSeek Harness SDK runtime protocol: generated types, codecs and method maps, one subpackage per revision.

The names of the newest stable revision, 0.1.5, are here at the root; other revisions are subpackages.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .v0_1_5 import *

REVISIONS: Final[tuple[str, ...]] = (
    "2026-07-29",
    "0.1.1",
    "0.1.5",
    "0.2.1",
)
"""Every revision in this package, oldest first."""

HEAD: Final = "0.1.5"
"""The revision whose names are at the root."""

_MODULES: Final[dict[str, str]] = {
    "2026-07-29": "v2026_07_29",
    "0.1.1": "v0_1_1",
    "0.1.5": "v0_1_5",
    "0.2.1": "v0_2_1",
}


def revision(name: str) -> ModuleType:
    """The subpackage of a revision. Raises `LookupError` for an unknown one."""
    if name not in _MODULES:
        raise LookupError(f"no revision {name!r}; there are {', '.join(REVISIONS)}")
    return import_module(f"{__name__}.{_MODULES[name]}")


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # the import system probes for dunder names
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(revision(HEAD), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(revision(HEAD))})
