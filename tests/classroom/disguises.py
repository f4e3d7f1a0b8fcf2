"""Ways to make a copy of a file look different, to see whether the list of files that are alike still has it."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from itertools import pairwise


def renamed(text: str) -> str:
    """Return a text with other names for its variables. Arguments and what the module asks for keep theirs."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    variables = [node for node in nodes if isinstance(node, ast.Name)]
    names = {node.id for node in variables if isinstance(node.ctx, ast.Store) and not node.id.isupper()}
    names -= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names -= {node.name or "" for node in nodes if isinstance(node, ast.MatchAs | ast.ExceptHandler)}
    names -= {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    new = {name: f"value_{at}" for at, name in enumerate(sorted(names))}
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for node in sorted(variables, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        if node.id in new:
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line[: node.col_offset] + new[node.id].encode() + line[node.end_col_offset :]
    return b"".join(lines).decode()


def other_comments(text: str) -> str:
    """Return a text without its comments and docstrings, and with others."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and isinstance(body, list) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                body[0] = ast.Expr(ast.Constant("My own words about all of this."))
    lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
    return "\n".join(f"{line}  # here I do step {at} of it" if line else "" for at, line in enumerate(lines)) + "\n"


def reordered(text: str) -> str:
    """Return a text with its functions and classes in the opposite order, where no name is needed before."""
    tree = ast.parse(text)
    places = [at for at, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef)]
    moved = [tree.body[at] for at in reversed(places)]
    for at, node in zip(places, moved, strict=True):
        tree.body[at] = node
    return ast.unparse(tree) + "\n"


def formatted(text: str) -> str:
    """Return a text in another layout: each statement on as few lines as possible, indented by two."""
    lines = ast.unparse(ast.parse(text)).splitlines()
    return "\n".join(" " * ((len(line) - len(line.lstrip())) // 2) + line.lstrip() + " " for line in lines) + "\n"


def edited(text: str) -> str:
    """Return a text with three statements changed or new."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and len(node.body) > 2]
    for node in sorted(functions, key=lambda one: -len(ast.dump(one)))[:3]:
        node.body.insert(len(node.body) // 2, ast.parse("checked = len(str(len('abc'))) + 1").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def as_notebook(text: str) -> str:
    """Return a file as a notebook with a cell for each function, class or other statement."""
    lines = text.splitlines()
    starts = [0, *(min([node.lineno, *_decorators(node)]) - 1 for node in ast.parse(text).body[1:]), len(lines)]
    parts = ["\n".join(lines[start:end]) for start, end in pairwise(starts)]
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": part} for part in parts
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _decorators(node: ast.stmt) -> list[int]:
    return [one.lineno for one in getattr(node, "decorator_list", ())]


def everything(text: str) -> str:
    """Return a text with other names, comments, order and layout."""
    return formatted(reordered(other_comments(renamed(text))))


DISGUISES: dict[str, Callable[[str], str]] = {
    "other names": renamed,
    "other comments": other_comments,
    "functions in another order": reordered,
    "another layout": formatted,
    "some statements changed": edited,
    "a notebook": as_notebook,
    "other names, comments, order and layout": everything,
}
