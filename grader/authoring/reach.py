"""Which checks a wrong way can affect: those that reach a definition it changes.

A wrong way is the solution with some definitions replaced. A check that never reaches one of them runs exactly the
solution's code, so it passes as it does for the solution. The answer errs on the safe side: names are followed wherever
they occur in a definition, even where the code would not use them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping

from grader.core.syntax import parse

# Methods that are called without being named: by Python, or by torch when a module is called or changes its mode.
_IMPLICIT = {"forward", "train", "eval", "reset_parameters", "extra_repr"}
EVERYTHING = "*"  # a name that every check reaches
ALL = frozenset({EVERYTHING})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Reach:
    """The definitions of a solution, and what each of them names."""

    def __init__(self, solution: str) -> None:
        self._bodies = {name: node for node in parse(solution).body for name in _defined(node)}
        self._named: Mapping[str, set[str]] = _names_by_definition(self._bodies.values())
        self._known = set(solution.split("\n"))
        self._reached: dict[frozenset[str], frozenset[str]] = {}  # for each wrong way, the same is asked

    def from_names(self, names: Iterable[str]) -> frozenset[str]:
        """Return every name that can be reached from these."""
        start = frozenset(names)
        if start in self._reached:
            return self._reached[start]
        reached: set[str] = {EVERYTHING}
        todo = list(start)
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += self._named.get(name, ())
        return self._reached.setdefault(start, frozenset(reached))

    def changed_by(self, code: str) -> frozenset[str]:
        """Return the names of functions, methods and constants that this code changes when it is added."""
        changed: set[str] = set()
        for node in parse(code).body:
            names = _defined(node)
            if isinstance(node, ast.ClassDef):
                changed |= self._changed_in_class(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                changed |= set() if ast.unparse(node) in self._known else set(names)
            else:
                changed |= set(names) or {EVERYTHING}  # a statement that defines nothing may do anything
        return frozenset(changed)

    def _changed_in_class(self, node: ast.ClassDef) -> set[str]:
        """Return the methods that a class changes; its own name if more than methods changes."""
        old = self._bodies.get(node.name)
        if not isinstance(old, ast.ClassDef):
            return {node.name}
        extends = [ast.unparse(base) for base in node.bases] == [node.name]
        before, after = _methods(old), _methods(node)
        same_frame = extends or _without_methods(old) == _without_methods(node)
        only_methods = all(isinstance(one, ast.FunctionDef) or _is_text(one) for one in node.body)
        if not same_frame or (extends and not only_methods) or after.keys() - before.keys():
            return {node.name}
        removed = set() if extends else before.keys() - after.keys()
        return removed | {name for name, text in after.items() if text != before[name]}


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement at the top of a file defines."""
    if isinstance(node, _Definition):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def _names_by_definition(nodes: Iterable[ast.stmt]) -> dict[str, set[str]]:
    """Return what each definition names; methods are known by their bare names, whichever class they are of."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if not isinstance(node, ast.ClassDef):
            for name in _defined(node):
                named[name] |= _names_in(node)
            continue
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not _is_implicit(part.name):
                named[part.name] |= _names_in(part)
            else:
                named[node.name] |= _names_in(part)
                named[node.name] |= {part.name} if isinstance(part, ast.FunctionDef) else set()
        for outside in (*node.bases, *node.keywords, *node.decorator_list):
            named[node.name] |= _names_in(outside)
    return named


def _names_in(node: ast.AST) -> set[str]:
    """Return every name in a piece of code: variables, attributes, and texts that could be names."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            found.add(part.value)
    return found


def _is_implicit(method: str) -> bool:
    return method in _IMPLICIT or (method.startswith("__") and method.endswith("__"))


def _methods(node: ast.ClassDef) -> dict[str, str]:
    return {part.name: ast.dump(part) for part in node.body if isinstance(part, ast.FunctionDef)}


def _without_methods(node: ast.ClassDef) -> list[str]:
    parts = [*node.bases, *node.keywords, *node.decorator_list]
    parts += [part for part in node.body if not isinstance(part, ast.FunctionDef) and not _is_text(part)]
    return [ast.dump(part) for part in parts]


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
