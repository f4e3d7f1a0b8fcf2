"""The audit: decides from a student's text alone whether what is counted inside their process can be trusted.

Plain code is *certified*. Code that could reach the meters, run code that they do not see, or change a library is not:
the report names the line and the reason, and a person decides. The audit runs in the trusted process and never runs
the code. What it allows is what honest solutions use; everything else is only undecided, never a fail.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from grader.complexity.audit_names import (
    BUILT_IN_CLASSES,
    DESCRIPTORS,
    DUNDER_ATTRIBUTES,
    DUNDER_METHODS,
    DUNDER_NAMES,
    KNOWN_PRIVATE,
    LIBRARY_CLASSES,
    MODULES_ALLOWED,
    NAME_TAKERS,
    NEVER_ATTRIBUTES,
    NEVER_NAMES,
    NOT_LAYERS,
    ONLY_CALLED,
    ONLY_THESE,
    UNWATCHED_PARTS,
    USUAL_LIBRARIES,
    BoundNames,
    is_name,
    parse_cells,
    without_main,
)
from grader.sandbox.protocol.call_names import PACKAGE

LONGEST_FILE = 100_000  # no honest file of this course is a tenth of this
_OUR_NAMES = re.compile(r"attn_(?:meter|slice)")


class Reason(StrEnum):
    """Why a line cannot be certified."""

    UNREADABLE = "this file is too long or too deeply nested to be checked"
    IMPORT = "an import that is not on the list of modules that solutions need"
    DYNAMIC = "a name that is only known when the code runs"
    HATCH = "a function that can run code or reach names that the grader does not see"
    DUNDER = "a special attribute that solutions do not need"
    PRIVATE = "a private attribute of a library"
    SPECIAL_METHOD = "a special method that the grader cannot follow"
    BASE_CLASS = "a base class that the grader cannot follow"
    CHANGED_LIBRARY = "an assignment to something in a library"
    LIBRARY_AS_VALUE = "a library passed around as a value"
    UNWATCHED = "a part of a library that the grader cannot watch"
    ASYNCHRONOUS = "asynchronous code"
    FORBIDDEN = "a call that this module forbids, in code that no check ran"
    OUR_NAMES = "a name of the grader itself"


@dataclass(frozen=True)
class UncertifiedLine:
    """A line that cannot be certified."""

    file: str
    line: int
    reason: Reason


def audit(files: Mapping[str, Mapping[str, Any]]) -> tuple[UncertifiedLine, ...]:
    """Return what cannot be certified in a student's files, each reason once for a file, at its first line."""
    found: dict[tuple[str, str], UncertifiedLine] = {}
    for source in files.values():
        for finding in _of_file(source["file"], tuple(source["cells"]), source["notebook"]):
            found.setdefault((finding.file, finding.reason), finding)
    return tuple(found.values())


@lru_cache(maxsize=32)  # every contract of a submission asks again
def _of_file(file: str, cells: tuple[bytes, ...], notebook: bool) -> tuple[UncertifiedLine, ...]:
    if sum(len(cell.decode("utf-8", "replace")) for cell in cells) > LONGEST_FILE:
        return (UncertifiedLine(file, 1, Reason.UNREADABLE),)
    parsed = parse_cells(file, cells, notebook=notebook)
    found = [UncertifiedLine(cell.name, 1, Reason.UNREADABLE) for cell in parsed if cell.tree is None]
    trees = [
        (cell.name, cell.tree if notebook else without_main(cell.tree)) for cell in parsed if cell.tree is not None
    ]
    names = BoundNames.of([tree for _, tree in trees])
    for name, tree in trees:
        auditor = _Auditor(names)
        try:
            auditor.visit(tree)
            found += [UncertifiedLine(name, line, reason) for line, reason in sorted(auditor.found)]
        except RecursionError:
            found.append(UncertifiedLine(name, 1, Reason.UNREADABLE))
    return tuple(found)


class _Auditor(ast.NodeVisitor):
    """Visits one file and collects the lines that cannot be certified."""

    def __init__(self, names: BoundNames) -> None:
        self.names = names
        self.found: set[tuple[int, Reason]] = set()
        self.in_class = False
        self.in_annotation = False

    def flag(self, node: ast.AST, reason: Reason) -> None:
        self.found.add((getattr(node, "lineno", 1), reason))

    # imports ----------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not _may_import(alias.name) and not _is_absent(alias.name):
                self.flag(node, Reason.IMPORT)
            self._check_bound(node, alias.asname or alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            path = f"{node.module}.{alias.name}"
            allowed = _may_import(path) or (_may_import(node.module or "") and _may_use(path)) or _is_absent(path)
            if node.level or not allowed:
                self.flag(node, Reason.IMPORT)
            self._check_bound(node, alias.asname or alias.name)

    # names and attributes ---------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._check_bound(node, node.id)
        elif _OUR_NAMES.search(node.id):
            self.flag(node, Reason.OUR_NAMES)
        elif node.id in NEVER_NAMES or (
            node.id in ONLY_CALLED and node.id not in self.names.own and not self.in_annotation
        ):
            self.flag(node, Reason.HATCH)
        else:
            self._check_path(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name, path = node.attr, self.names.path(node)
        if not isinstance(node.ctx, ast.Load):
            self._check_assigned(node)
        elif _is_dunder(name):
            if name not in DUNDER_ATTRIBUTES or (path is not None and name not in ("__version__", "__init__")):
                self.flag(node, Reason.DUNDER)  # of a library's function, it can show that a simulation has replaced it
        elif name.startswith("_") and (path is not None or name not in self.names.own | KNOWN_PRIVATE):
            self.flag(node, Reason.PRIVATE)
        if name in NEVER_ATTRIBUTES or (path is None and name in UNWATCHED_PARTS - self.names.own):
            self.flag(node, Reason.HATCH)
        self._check_path(node)
        if path is None:  # else everything in front is a part of that path
            self.visit(node.value)

    def _check_path(self, node: ast.expr) -> None:
        """Check a name or a chain of attributes that stands for something in a library, used as a value."""
        path = self.names.path(node)
        if path is None:
            return
        if path in MODULES_ALLOWED:
            if not self.names.libraries_may_be_values:
                self.flag(node, Reason.LIBRARY_AS_VALUE)
        elif path in NAME_TAKERS:
            self.flag(node, Reason.HATCH)
        elif not _may_use(path):
            self.flag(node, Reason.UNWATCHED)

    def _check_assigned(self, node: ast.Attribute) -> None:
        owner = node.value
        of_type = isinstance(owner, ast.Call) and is_name(owner.func, "type")
        of_class = isinstance(owner, ast.Attribute) and owner.attr == "__class__"
        if self.names.path(owner) is not None or of_type or of_class:
            self.flag(node, Reason.CHANGED_LIBRARY)
        elif _is_dunder(node.attr) and node.attr != "__doc__":
            self.flag(node, Reason.DUNDER)

    def _check_bound(self, node: ast.AST, name: str) -> None:
        """Check a name that is given a value: special ones have a meaning to Python."""
        if _is_dunder(name) and name not in DUNDER_NAMES:
            self.flag(node, Reason.SPECIAL_METHOD)
        if _OUR_NAMES.search(name):
            self.flag(node, Reason.OUR_NAMES)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load) and self.names.path(node.value) is not None:
            self.flag(
                node, Reason.CHANGED_LIBRARY
            )  # `os.environ["x"] = "y"` would be there when the file is loaded again
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self.in_class and is_name(node.value) and self._is_own_function(node.value):
            return  # `__call__ = forward`
        alias = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and self.names.path(node.value)
        if alias in MODULES_ALLOWED:  # `F = torch.nn.functional`
            self.visit(node.targets[0])
        else:
            self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        self._check_bound(node, node.arg)
        self._visit_annotation(node.annotation)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_annotation(node.annotation)
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _visit_annotation(self, annotation: ast.expr | None) -> None:
        if annotation is not None:
            before, self.in_annotation = self.in_annotation, True
            self.visit(annotation)
            self.in_annotation = before

    # calls ------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        path = self.names.path(node.func) or ""
        if name in ONLY_CALLED and name not in self.names.own:
            self._check_special_call(node, name)
        elif path in NAME_TAKERS:
            self._check_texts(node, node.args if path.endswith("attrgetter") else node.args[:1])
        else:
            self.visit(node.func)
        if (path.rpartition(".")[2] or name) in DESCRIPTORS and not all(map(self._is_own_function, node.args[:1])):
            self.flag(node, Reason.SPECIAL_METHOD)
        if path.startswith("numpy.") and any(keyword.arg == "call" for keyword in node.keywords):
            self.flag(node, Reason.UNWATCHED)  # NumPy would call it
        if any(keyword.arg == "stack_info" for keyword in node.keywords) or (name == "dir" and not node.args):
            self.flag(node, Reason.HATCH)  # they show the names and frames of the measurement
        for argument in (*node.args, *node.keywords):
            if name in ("isinstance", "issubclass") and is_name(argument, "type"):
                continue
            if name in ("hasattr", "getattr") and self.names.path(argument) in MODULES_ALLOWED:
                continue
            self.visit(argument)

    def _check_special_call(self, node: ast.Call, name: str) -> None:
        owner = node.args[0] if node.args else None
        if name == "getattr":
            if not (is_name(owner, "self") and node.args[1:] and _is_partly_plain(node.args[1])):
                self._check_texts(node, node.args[1:2])
            path = self.names.path(owner) if owner is not None else None
            text = node.args[1] if len(node.args) > 1 else None
            if path is not None and isinstance(text, ast.Constant) and not _may_use(f"{path}.{text.value!s}"):
                self.flag(node, Reason.UNWATCHED)
        elif name in ("setattr", "delattr"):
            if not (is_name(owner, "self") or is_name(owner, "cls")):
                self._check_texts(node, node.args[1:2])
            if owner is None or self.names.path(owner) is not None:
                self.flag(node, Reason.CHANGED_LIBRARY)
        elif name == "type" and (len(node.args) != 1 or node.keywords):
            self.flag(node, Reason.SPECIAL_METHOD)

    def _check_texts(self, node: ast.Call, arguments: list[ast.expr]) -> None:
        """Check names of attributes that are given as text: they must be there to read, and allowed."""
        for argument in arguments or [node.func]:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                self.flag(node, Reason.DYNAMIC)
                continue
            for part in argument.value.split("."):
                if part.startswith("_") and part not in self.names.own | DUNDER_ATTRIBUTES | KNOWN_PRIVATE:
                    self.flag(node, Reason.PRIVATE)
                elif part in NEVER_ATTRIBUTES | UNWATCHED_PARTS:
                    self.flag(node, Reason.UNWATCHED)

    def _is_own_function(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Lambda) or (isinstance(node, ast.Constant) and node.value is None):
            return True
        return isinstance(node, ast.Name) and node.id in self.names.own and node.id not in self.names.libraries

    def visit_keyword(self, node: ast.keyword) -> None:
        self._check_loop(node, node.arg)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._check_loop(node, node.value)

    def _check_loop(self, node: ast.AST, name: object) -> None:
        """Check a name by which torch.vmap would loop, in a file that uses it."""
        if name == "chunk_size" and self.names.has_vmap:
            self.flag(node, Reason.UNWATCHED)

    # definitions ------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if _is_dunder(node.name) and (not self.in_class or node.name not in DUNDER_METHODS):
            self.flag(node, Reason.SPECIAL_METHOD)
        self._visit_annotation(node.returns)
        node.returns = None
        self._visit_inside(node, in_class=False)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.flag(node, Reason.ASYNCHRONOUS)
        self._visit_inside(node, in_class=False)

    def visit_Await(self, node: ast.Await) -> None:
        self.flag(node, Reason.ASYNCHRONOUS)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not all(map(self._may_be_base, node.bases)):
            self.flag(node, Reason.BASE_CLASS)
        for keyword in node.keywords:
            if keyword.arg in ("metaclass", None) and self.names.path(keyword.value) != "abc.ABCMeta":
                self.flag(node, Reason.BASE_CLASS)
        self._visit_inside(node, in_class=True)

    def _visit_inside(self, node: ast.AST, *, in_class: bool) -> None:
        before, self.in_class = self.in_class, in_class
        self.generic_visit(node)
        self.in_class = before

    def _may_be_base(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Subscript):  # Generic[T]
            return self._may_be_base(base.value)
        if isinstance(base, ast.Call):
            return self.names.path(base.func) in ("collections.namedtuple", "typing.NamedTuple")
        path = self.names.path(base)
        if path is not None:
            is_layer = path.startswith("torch.nn.") and path not in NOT_LAYERS
            return path in LIBRARY_CLASSES or is_layer or path.startswith("mylab.")
        return isinstance(base, ast.Name) and (
            base.id in self.names.classes or (base.id in BUILT_IN_CLASSES and base.id not in self.names.own)
        )


@lru_cache(maxsize=64)
def _is_absent(path: str) -> bool:
    """Whether an import can only raise: a usual library that is not installed here."""
    top = path.partition(".")[0]
    return top in USUAL_LIBRARIES and find_spec(top) is None


def _may_import(module: str) -> bool:
    return module in MODULES_ALLOWED or module.partition(".")[0] == PACKAGE


def _may_use(path: str) -> bool:
    """Whether a path in a library does not lead to a part that the grader cannot watch."""
    root, *parts = path.split(".")
    only = ONLY_THESE.get(root)
    if only is not None and parts:
        return parts[0] in only and (parts[0] != "environ" or set(parts[1:]) <= {"get", "keys", "items", "values"})
    modules = {".".join([root, *parts[:count]]) for count in range(1, len(parts) + 1)} & MODULES_ALLOWED
    known = max(modules, key=len, default=root).split(".")
    return not any(part in UNWATCHED_PARTS for part in [root, *parts][len(known) :])


def _is_partly_plain(name: ast.expr) -> bool:
    """Whether a name that is put together begins or ends with a visible part, so that it can only be one's own.

    Such as `"visit_" + kind` and `f"{kind}_proj"`.
    """
    first, last = name, name
    if isinstance(name, ast.BinOp):
        first, last = name.left, name.right
    elif isinstance(name, ast.JoinedStr) and name.values:
        first, last = name.values[0], name.values[-1]
    end = _text(last)
    known = any(one.endswith(end) for one in NEVER_ATTRIBUTES | UNWATCHED_PARTS)
    return _text(first)[:1].isalpha() or (end[-1:].isalpha() and not known)


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and len(name) > 4
