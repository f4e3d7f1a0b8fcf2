"""Hatches: what code does that wants to know, or to change, how it is measured. Looked for in its text, here.

The meters live beside the student's code and could be tampered with. Nothing here proves that they were; costs are
then left for a person to look at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

MODULES = {"grader", "gc", "inspect", "ctypes", "importlib", "threading", "multiprocessing", "_thread", "builtins"}
ATTRIBUTES = {
    "__code__",
    "__globals__",
    "__builtins__",
    "__subclasses__",
    "_getframe",
    "modules",
    "settrace",
    "setprofile",
}
ATTRIBUTES |= {"f_globals", "f_locals", "f_back", "co_names", "tb_frame", "gi_frame"}
RESERVED = "attn_"


def hatches(files: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """Return what looks at its own measurement in a student's files: its name, and the file and line."""
    found: dict[str, tuple[str, int]] = {}
    for source in files.values():
        for number, data in enumerate(source["cells"], 1):
            name = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
            for what, line in _in_cell(data.decode("utf-8", "replace")):
                found.setdefault(what, (name, line))
    return found


def _in_cell(text: str) -> Iterator[tuple[str, int]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # with a line of IPython's in it; what cannot be parsed is not measured either
    for node in ast.walk(tree):
        for name in _suspects(node):
            yield name, getattr(node, "lineno", 0)


def _suspects(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names if alias.name.partition(".")[0] in MODULES)
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in MODULES:
            yield module
        case ast.Attribute(attr=name) if name in ATTRIBUTES or RESERVED in name:
            yield name
        case ast.Name(id=name) if RESERVED in name:
            yield name
        case ast.Constant(value=str(text)) if RESERVED in text or text in ATTRIBUTES:
            yield text[:40]
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals" as name))):
            yield f"{name}()[...]"
