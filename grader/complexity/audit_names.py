"""What the names of a student's file stand for: something in a library, or the student's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.complexity.audit_lists import NAME_TAKERS, UNWATCHED_PARTS


@dataclass(frozen=True)
class Names:
    """What the names of a student's file stand for, wherever they are bound."""

    libraries: Mapping[str, str]  # a name, and the path in a library that it stands for
    own: frozenset[str]  # names of the student's functions, classes and attributes
    classes: frozenset[str]
    may_change_others: bool  # whether attributes of anything but `self` are given a value
    may_read_any: bool  # whether attributes are read whose names are not in the text
    has_vmap: bool  # whether torch.vmap is named

    @classmethod
    def of(cls, trees: list[ast.Module]) -> Names:
        """Collect the names of all cells of a file."""
        nodes = [node for tree in trees for node in ast.walk(tree)]
        libraries: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    libraries[alias.asname or path] = path
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    libraries[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
                    if (node.module, alias.name) == ("torch.nn", "*"):
                        libraries["Module"] = "torch.nn.Module"  # what a layer extends
        assigned = [
            (node.targets[0].id, node.value)
            for node in nodes
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ]
        for _ in range(3):  # an alias of an alias of an alias
            for name, value in assigned:
                if (known := path_of(value, libraries)) is not None:
                    libraries.setdefault(name, known)
        own = {name for node in nodes for name in _bound(node)}
        classes = frozenset(node.name for node in nodes if isinstance(node, ast.ClassDef))
        changes, reads, vmap = (any(map(is_one, nodes)) for is_one in (_changes_another, _reads_any, _is_vmap))
        return cls(libraries, frozenset(own), classes, changes, reads, vmap)

    @property
    def libraries_may_be_values(self) -> bool:
        """Whether a library as a value is harmless: all that is done with it is to read attributes that are checked."""
        return not (self.may_change_others or self.may_read_any or self.own & UNWATCHED_PARTS)

    def path(self, node: ast.AST) -> str | None:
        """Return the path in a library that an expression stands for, such as `numpy.add.reduce`."""
        return path_of(node, self.libraries)

    def paths(self, node: ast.AST) -> Iterator[str]:
        """Yield what a node names in a library, also by a text: `getattr(F, "relu")`, `methodcaller("dot")`."""
        if isinstance(node, ast.Name | ast.Attribute) and (path := self.path(node)):
            yield path
        elif isinstance(node, ast.Call) and (is_name(node.func, "getattr") or self.path(node.func) in NAME_TAKERS):
            texts = {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            yield from (f"{root}.{text}" for text in texts - self.own for root in ("numpy", "torch"))


def path_of(node: ast.AST, libraries: Mapping[str, str]) -> str | None:
    """Return the path in a library that a name or a chain of attributes stands for."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in libraries:
        return None
    return ".".join([libraries[node.id], *reversed(parts)])


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a node gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer":
        yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _changes_another(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Load):
        return False
    return not (is_name(node.value, "self") or is_name(node.value, "cls"))


def _reads_any(node: ast.AST) -> bool:
    """Whether a node can read any attribute: `x.__dict__`, or `getattr` with a name that is put together."""
    if isinstance(node, ast.Call) and is_name(node.func, "getattr") and len(node.args) > 1:
        return not isinstance(node.args[1], ast.Constant)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _is_vmap(node: ast.AST) -> bool:
    names = (getattr(node, key, None) for key in ("id", "attr", "name", "value"))
    return any(type(name) is str and name == "vmap" for name in names)


def is_name(node: ast.AST | None, name: str = "") -> bool:
    """Whether a node is a name, or this one."""
    return isinstance(node, ast.Name) and name in ("", node.id)
