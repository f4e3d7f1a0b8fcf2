"""Python code as a tree, for programs with threads: a class is read by several at once."""

from __future__ import annotations

import ast
import threading
import warnings

# Before Python 3.11.8, `ast.parse` in two threads at once may end with a SystemError (CPython issue 106905).
_ONE_AT_A_TIME = threading.RLock()


def parse(code: str, file: str = "<unknown>", *, flags: int = 0) -> ast.Module:
    """Do the same as `ast.parse`, but without warnings about the text, such as an invalid escape."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = compile(code, file, "exec", flags=flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree
