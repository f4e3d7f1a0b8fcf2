"""The names that a student must define for a module, read from its stub."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.core.syntax import parse

REFLECT = "reflect"


@dataclass(frozen=True)
class Api:
    """The functions, classes with their methods, and constants of a stub, in order."""

    functions: tuple[str, ...]
    classes: Mapping[str, tuple[str, ...]]
    constants: tuple[str, ...]
    # By function, `Class.method`, or `Class` for its constructor, without `self`. The last may be `*masks`.
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of classes: read, not called
    none_by_default: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # parameters, as above

    @property
    def names(self) -> tuple[str, ...]:
        """All names that the student's file must define."""
        return (*self.functions, *self.classes, *self.constants)

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that earn points. All constants together are the target `reflect`."""
        return (*self.functions, *self.classes, *((REFLECT,) if self.constants else ()))

    def argument(self, call: str, argument: int | str) -> str:
        """Return the words for an argument, given by its position from 0 or by its keyword."""
        if isinstance(argument, str):
            return f"the argument {argument}"
        names = self.parameters.get(call, ())
        rest = names[-1:] if names and names[-1].startswith("*") else ()
        named = [*names[argument : argument + 1], *rest]
        return f"argument {argument + 1} ({named[0].lstrip('*')})" if named else f"argument {argument + 1}"


def read_api(stub: str) -> Api:
    """Return the public names that a stub defines at its top level."""
    functions: list[str] = []
    classes: dict[str, tuple[str, ...]] = {}
    constants: list[str] = []
    parameters: dict[str, tuple[str, ...]] = {}
    properties: dict[str, tuple[str, ...]] = {}
    defaults: dict[str, tuple[str, ...]] = {}
    for node in parse(stub).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            functions.append(node.name)
            parameters[node.name] = _parameters(node)
            defaults[node.name] = _none_by_default(node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            properties[node.name] = _properties(node)
            classes[node.name] = tuple(name for name in _methods(node) if name not in properties[node.name])
            parameters |= {path: _parameters(item)[1:] for path, item in _calls_of(node)}
            defaults |= {path: _none_by_default(item) for path, item in _calls_of(node)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            constants += [name for name in _assigned(node) if name.startswith("REFLECT_")]
    return Api(tuple(functions), classes, tuple(dict.fromkeys(constants)), parameters, properties, defaults)


def _methods(node: ast.ClassDef) -> tuple[str, ...]:
    methods = (item.name for item in node.body if isinstance(item, ast.FunctionDef))
    return tuple(name for name in methods if not name.startswith("_"))


def _properties(node: ast.ClassDef) -> tuple[str, ...]:
    """Return the names that a class defines with `@property`. What a student writes may be a plain attribute."""
    found = (item for item in node.body if isinstance(item, ast.FunctionDef))
    return tuple(one.name for one in found if "property" in map(ast.unparse, one.decorator_list))


def _parameters(node: ast.FunctionDef) -> tuple[str, ...]:
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    return (*names, *([f"*{node.args.vararg.arg}"] if node.args.vararg else []))


def _none_by_default(node: ast.FunctionDef) -> tuple[str, ...]:
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    pairs = zip(reversed(names), reversed(node.args.defaults), strict=False)
    return tuple(name for name, default in pairs if isinstance(default, ast.Constant) and default.value is None)


def _calls_of(node: ast.ClassDef) -> list[tuple[str, ast.FunctionDef]]:
    """Return the methods of a class with their paths; the constructor has that of the class."""
    items = [item for item in node.body if isinstance(item, ast.FunctionDef)]
    return [(node.name if item.name == "__init__" else f"{node.name}.{item.name}", item) for item in items]


def _assigned(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]
