"""Products of arrays that are written in a student's functions, whether they ever run or not.

Checks can watch some calls, not all: code may use a product only for lengths that are not measured. Where a module asks
for loops, honest functions have no product at all.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

from grader.complexity.audit_names import Names
from grader.complexity.audit_parsing import parse, without_main

_OF_NUMPY = {
    "dot",
    "matmul",
    "inner",
    "vdot",
    "vecdot",
    "matvec",
    "vecmat",
    "tensordot",
    "einsum",
    "convolve",
    "correlate",
}
_OF_SIGNALS = {"convolve", "correlate"}
_OF_LINALG = {"multi_dot", "matmul", "vecdot", "tensordot", "matrix_power"}
PRODUCTS = frozenset(
    {f"numpy.{name}" for name in _OF_NUMPY | _OF_SIGNALS}
    | {f"numpy.linalg.{name}" for name in _OF_LINALG}
    | {"operator.matmul", "operator.imatmul", "math.sumprod"}
)
METHODS = frozenset({"__matmul__", "__rmatmul__", "__imatmul__"})


def first_product(source: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the file and line of the first product in a function of a student's file."""
    trees: list[tuple[str, ast.Module]] = []
    for number, cell in enumerate(source["cells"], 1):
        with suppress(RecursionError, MemoryError, ValueError):  # the audit reports what it cannot read
            tree = parse(cell.decode("utf-8", "replace"), notebook=source["notebook"])
            name = f"{source['file']}[{number}]" if source["notebook"] else source["file"]
            trees += [(name, without_main(tree))] if tree is not None else []
    names = Names.of([tree for _, tree in trees])
    found = ((name, line) for name, tree in trees for line in sorted(_lines(tree, names)))
    return next(found, None)


def _lines(tree: ast.Module, names: Names) -> Iterator[int]:
    """Yield the lines of products. A call outside all functions only makes a value, such as one to compare with."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inside |= {id(part) for part in ast.walk(node)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    own = _names_of_own_operands(tree)
    for node in ast.walk(tree):
        harmless = id(node) not in inside and (_is_operator(node) or id(node) in called)
        if ((_is_operator(node) and not _made_of(_left(node), own)) or _is_product(node, names)) and not harmless:
            yield node.lineno


def _is_operator(node: ast.AST) -> TypeGuard[ast.BinOp | ast.AugAssign]:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)


def _is_product(node: ast.AST, names: Names) -> TypeGuard[ast.Name | ast.Attribute | ast.Call]:
    paths = list(names.paths(node))
    if paths:
        return any(path in PRODUCTS or path.rpartition(".")[2] in METHODS for path in paths)
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in METHODS or (node.attr == "dot" and "dot" not in names.own)


def _names_of_own_operands(tree: ast.Module) -> set[str]:
    """Return the classes that define `@` themselves, and the variables that are never anything but such an object."""
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(part, ast.FunctionDef) and part.name == "__matmul__" for part in node.body)
    }
    bound = Counter(
        node.id if isinstance(node, ast.Name) else node.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    )
    made = Counter(
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _made_of(node.value, own)
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    return {name for name in own if not bound[name]} | {name for name, times in made.items() if times == bound[name]}


def _left(node: ast.BinOp | ast.AugAssign) -> ast.expr:
    return node.left if isinstance(node, ast.BinOp) else node.target


def _made_of(node: ast.expr, own: set[str]) -> bool:
    name = node.func if isinstance(node, ast.Call) else node
    return isinstance(name, ast.Name) and name.id in own
