"""The names that a student must define for a module, read from its stub."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

REFLECT = "reflect"


@dataclass(frozen=True)
class Api:
    """The functions, classes with their methods, and constants of a stub, in order."""

    functions: tuple[str, ...]
    classes: Mapping[str, tuple[str, ...]]
    constants: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All names that the student's file must define."""
        return (*self.functions, *self.classes, *self.constants)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that earn points. All constants together are the target `reflect`."""
        return (*self.functions, *self.classes, *((REFLECT,) if self.constants else ()))


def read_api(stub: str) -> Api:
    """Return the public names that a stub defines at its top level."""
    functions: list[str] = []
    classes: dict[str, tuple[str, ...]] = {}
    constants: list[str] = []
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            classes[node.name] = _methods(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            constants += [name for name in _assigned(node) if name.startswith("REFLECT_")]
    return Api(tuple(functions), classes, tuple(dict.fromkeys(constants)))


def _methods(node: ast.ClassDef) -> tuple[str, ...]:
    methods = (item.name for item in node.body if isinstance(item, ast.FunctionDef))
    return tuple(name for name in methods if not name.startswith("_"))


def _assigned(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]
