"""The sentences of a stub's docstrings: each may promise something that students are graded by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.core.syntax import parse

_POINT = re.compile(r"\s*(?:-|\d+\.) +")  # the start of a point in a list
_END = re.compile(r"(?<=[.!?])\s+|(?<=[.!?]\))\s+")


def stub_sentences(stub: str) -> dict[str, tuple[str, ...]]:
    """Return the sentences about each function, class and method. Those about a constructor are its class's."""
    found: dict[str, tuple[str, ...]] = {}
    for place, node in _documented(parse(stub)):
        found[place] = found.get(place, ()) + sentences(ast.get_docstring(node) or "")
    return {place: texts for place, texts in found.items() if texts}


def sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences. Paragraphs and the points of a list end one, too; line breaks become spaces."""
    return tuple(one for block in _blocks(text) for one in _END.split(block) if one)


def one_line(text: str) -> str:
    """Return a text without line breaks and repeated spaces."""
    return " ".join(text.split())


def _documented(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            yield from ((node.name, item) for item in methods if item.name == "__init__")
            yield from ((f"{node.name}.{item.name}", item) for item in methods if not item.name.startswith("_"))


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and points, each on one line."""
    lines: list[str] = []
    for line in text.splitlines():
        is_point = _POINT.match(line)
        if is_point or not line.strip():
            yield one_line(" ".join(lines))
            lines = []
        lines.append(line[is_point.end() :] if is_point else line)
    yield one_line(" ".join(lines))
