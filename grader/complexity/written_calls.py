"""What is written in a student's file, whether it ever runs or not: products of arrays, and names in a library.

Checks can watch some calls, not all: code may use a product only for lengths that are not measured. Where a module asks
for loops, honest functions have no product at all.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeGuard

from grader.complexity.audit_names import BoundNames, parse_cells, without_main

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
_PRODUCTS = frozenset(
    {f"numpy.{name}" for name in _OF_NUMPY | _OF_SIGNALS}
    | {f"numpy.linalg.{name}" for name in _OF_LINALG}
    | {"operator.matmul", "operator.imatmul", "math.sumprod"}
)
_METHODS = frozenset({"__matmul__", "__rmatmul__", "__imatmul__"})


def first_product(source: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return the file and line of the first product in a function of a student's file."""
    parsed = parse_cells(source["file"], source["cells"], notebook=source["notebook"])
    trees = [(cell.name, without_main(cell.tree)) for cell in parsed if cell.tree is not None]
    names = BoundNames.of([tree for _, tree in trees])
    found = ((name, line) for name, tree in trees for line in sorted(_lines(tree, names)))
    return next(found, None)


def first_use(files: Mapping[str, Mapping[str, Any]], is_wanted: Callable[[str], bool]) -> tuple[str, int] | None:
    """Return the file and line where something in a library is first named."""
    for source in files.values():
        for use in _uses(source["file"], tuple(source["cells"]), source["notebook"]):
            if is_wanted(use.path):
                return use.file, use.line
    return None


class _Use(NamedTuple):
    """A path in a library that a file names, and where."""

    file: str
    line: int
    path: str


@lru_cache(maxsize=32)  # every contract of a submission asks again
def _uses(file: str, cells: tuple[bytes, ...], notebook: bool) -> tuple[_Use, ...]:
    trees = [(cell.name, cell.tree) for cell in parse_cells(file, cells, notebook=notebook) if cell.tree is not None]
    names = BoundNames.of([tree for _, tree in trees])
    return tuple(
        _Use(name, getattr(node, "lineno", 1), path)
        for name, tree in trees
        for node in ast.walk(tree)
        for path in names.paths(node)
    )


def _lines(tree: ast.Module, names: BoundNames) -> Iterator[int]:
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


def _is_product(node: ast.AST, names: BoundNames) -> TypeGuard[ast.Name | ast.Attribute | ast.Call]:
    paths = list(names.paths(node))
    if paths:
        return any(path in _PRODUCTS or path.rpartition(".")[2] in _METHODS for path in paths)
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in _METHODS or (node.attr == "dot" and "dot" not in names.own)


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
