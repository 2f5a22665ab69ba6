"""`python -m tests.conformance`: write the lists of groups that are supported and refused."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.conformance.suite import REFUSALS, SUPPORTED, groups, judge, suite_dir, tables


def main() -> None:
    """Judge every group and write both lists."""
    if not suite_dir().is_dir():
        sys.exit(f"there is no JSON-Schema-Test-Suite in {suite_dir()}; DSH_REFERENCE_DIR names the folder above `suites`")
    with tempfile.TemporaryDirectory() as folder:
        supported, refused = tables([judge(group, Path(folder)) for group in groups()])
    SUPPORTED.write_text(supported, encoding="utf-8", newline="\n")
    REFUSALS.write_text(refused, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
