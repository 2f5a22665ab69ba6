"""Entry point of `dsh-codegen` and `python -m dsh_codegen`.

A plain install brings the generated package only, so the libraries of the `codegen` extra may be missing. Then this says
which extra to install, in one sentence, instead of showing a traceback. It imports nothing else itself, to stay quick.
"""

from __future__ import annotations

import sys
from typing import Final

EXTRA: Final = frozenset(
    {
        "click",
        "datamodel_code_generator",
        "jinja2",
        "jsonschema",
        "referencing",
        "rich",
        "ruff",
        "tree_sitter",
        "tree_sitter_typescript",
    },
)
"""Import names of the `codegen` extra."""


def main() -> None:
    """Run the command line. Exits with 2 when a library of the extra is missing; any other missing module is a bug."""
    try:
        from .cli import main as cli

        cli()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        sys.stderr.write(f"dsh-codegen needs {error.name}, which comes with an extra: pip install 'dsh-protocol[codegen]'\n")
        sys.exit(2)
    except KeyboardInterrupt:  # while the command line was still being loaded
        sys.exit(130)


if __name__ == "__main__":
    main()
