"""Python code as a tree, for programs with threads: a class is read by several at once."""

from __future__ import annotations

import ast
import re
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


# `%magic`, `!command`, `name?`, `?name`, `files = !ls`, `t = %timeit ...`, and `pip` or `conda` without its `%`.
_MAGIC = re.compile(
    r"(?P<indent>\s*)(?P<assigned>\w+\s*=\s*)?(?P<line>[%!?].*|[\w.]+\?{1,2}|(?:pip|conda)\s.*)\s*", re.DOTALL
)
# `%%check` is ours. Tests in a notebook are not the student's code, even if nbgrader's metadata was lost.
_OTHER_LANGUAGE = re.compile(r"\s*%%(bash|check|sh|html|javascript|js|latex|markdown|writefile|perl|ruby|svg)\b")


def without_magic(cell: str, number: int) -> str | None:
    """Replace one IPython line of a cell, keeping line numbers; None if that line is not IPython."""
    if _OTHER_LANGUAGE.match(cell):
        return ""
    lines = cell.split("\n")
    if not 0 < number <= len(lines) or not (matched := _MAGIC.fullmatch(lines[number - 1])):
        return None
    lines[number - 1] = f"{matched['indent']}{matched['assigned'] or ''}None"
    continued = matched["line"].endswith("\\")
    while continued and number < len(lines):
        continued = lines[number].endswith("\\")
        lines[number] = ""
        number += 1
    return "\n".join(lines)
