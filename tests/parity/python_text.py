"""Python text of which syntax nodes are replaced."""

from __future__ import annotations

import ast

from tests.parity.sites import spliced


class Piece:
    """A text, and where its lines start: syntax nodes count lines, and bytes in them."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def changed(self, *edits: tuple[ast.AST, str]) -> str:
        """The text with nodes replaced, which do not overlap."""
        return spliced(self._text, *((*self._span(node), new) for node, new in edits))

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, (ast.expr, ast.stmt))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset
