"""The generator and the checks behind `dsh-codegen`. Its command line is its interface; its modules are internal.

It must never import the package it generates: it has to run when that package is broken or absent.
"""

from __future__ import annotations

__version__ = "0.1.0"
"""The version of the distribution; the build reads it from here."""
