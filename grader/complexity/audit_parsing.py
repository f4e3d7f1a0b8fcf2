"""Parsing of a student's cells for the audit, as the worker would run them."""

from __future__ import annotations

import ast

from grader.complexity.audit_names import is_name
from grader.core import syntax
from grader.core.syntax import without_magic

MOST_MAGIC = 200  # IPython lines in a cell


def parse(cell: str, *, notebook: bool) -> ast.Module | None:
    """Return the tree of a cell; None if it is not Python. One that is too much raises an error, such as ValueError."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if notebook else 0
    for _ in range(MOST_MAGIC):  # each IPython line costs a new attempt: a file of nothing else must not take minutes
        try:
            return syntax.parse(cell, "<audit>", flags=flags)
        except SyntaxError as error:
            fixed = without_magic(cell, error.lineno or 0) if notebook else None
            if fixed is None:
                return None
            cell = fixed
    raise ValueError("too many IPython lines")


def without_main(tree: ast.Module) -> ast.Module:
    """Leave out `if __name__ == "__main__":`. A file that is graded is never the main program."""
    return ast.Module([node for node in tree.body if not _is_for_main(node)], tree.type_ignores)


def _is_for_main(node: ast.stmt) -> bool:
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    (other,) = test.comparators
    return is_name(test.left, "__name__") and isinstance(other, ast.Constant) and other.value == "__main__"
