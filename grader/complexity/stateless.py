"""Stateless files: no call of their functions can leave anything behind in its process.

This is decided from the student's text alone, in the trusted process. Where it is certain, a worker that has run other
functions is as good as a new one. Everything that is not on the lists below makes it uncertain, and costs only time.

A call could leave something in three places. Module variables: functions may use only those that cannot change. The
attributes of functions, classes and libraries: none is set, and only attributes on a list are read. The state of
libraries: only functions of NumPy and Python without any are used. Not `numpy.empty`, nor `where=` in a call: they show
what was in memory before.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from grader.complexity.audit import LONGEST_FILE
from grader.complexity.audit_names import library_path, parse_cell, without_main, words

_BUILTINS = words("""abs all any bool complex dict divmod enumerate filter float frozenset int isinstance len list map
    max min next iter pow print range repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError Exception FloatingPointError IndexError KeyError LookupError NotImplementedError
    OverflowError RuntimeError TypeError ValueError ZeroDivisionError""")
_UNSAFE_NAMES = frozenset(dir(builtins)) - _BUILTINS - {"__name__"} | words("In Out _ get_ipython display")
_NUMPY = words("""abs absolute add all allclose amax amin any arange argmax argmin argsort array asarray atleast_1d
    atleast_2d bool bool_ broadcast_shapes broadcast_to ceil clip concatenate copy cos cumsum diag divide dot double
    dtype e einsum errstate exp exp2 expand_dims expm1 eye finfo flip float16 float32 float64 floating floor full
    full_like hstack identity iinfo inexact inf int8 int32 int64 integer isclose isfinite isinf isnan isneginf
    isposinf issubdtype linspace log log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logsumexp
    matmul max maximum mean min minimum moveaxis multiply nan nan_to_num nanmax ndim ndindex negative newaxis number
    ones ones_like outer pi power prod promote_types reciprocal repeat reshape result_type rollaxis round shape sign
    sin size sort split sqrt square squeeze stack std subtract sum swapaxes take_along_axis tanh tensordot tile
    transpose tri tril tril_indices triu triu_indices true_divide uint8 var vstack where zeros zeros_like""")
_MATH = words("""ceil e erf exp expm1 floor fsum inf isclose isfinite isinf isnan log log1p log2 nan pi pow prod sqrt
    tanh""")
_LIBRARIES = frozenset({"numpy", "math"})
_USABLE = frozenset({f"numpy.{name}" for name in _NUMPY} | {f"math.{name}" for name in _MATH})
_ONLY_ANNOTATIONS = ("__future__", "typing", "collections.abc", "numpy.typing")
_ATTRIBUTES = words("""T accumulate add all any append argmax argmin argsort args astype at bits clip conj copy count
    cumprod cumsum diagonal dot dtype endswith eps extend fill flat flatten get imag index insert item items itemsize
    join keys kind lower mT max maxexp mean min minexp name nbytes ndim newbyteorder nonzero outer pop prod ravel real
    reduce reduceat remove repeat reshape resolution reverse round searchsorted setdefault shape size smallest_normal
    smallest_subnormal sort split squeeze startswith std strip strides sum swapaxes take tiny tolist trace transpose
    type update upper values var""")
_REFUSED = (
    ast.Global,
    ast.Nonlocal,
    ast.ClassDef,
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.Match,
    ast.Yield,  # in a `with`, it would leave with NumPy's settings changed
    ast.YieldFrom,
)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_IN_ANNOTATIONS = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr)


def is_stateless(source: Mapping[str, Any]) -> bool:
    """Whether it is certain that no call of a function in a student's file can change what a later call does."""
    return _is_stateless(tuple(source["cells"]), source["notebook"])


@lru_cache(maxsize=32)  # every check that fails asks again
def _is_stateless(cells: tuple[bytes, ...], notebook: bool) -> bool:
    if sum(map(len, cells)) > LONGEST_FILE:
        return False
    nodes: list[ast.stmt] = []
    try:
        for cell in cells:
            tree = parse_cell(cell.decode("utf-8"), notebook=notebook)
            if tree is None:
                return False
            nodes += tree.body if notebook else without_main(tree).body
        return _File(nodes).is_stateless()
    except (RecursionError, MemoryError, ValueError):
        return False


class _File:
    """The statements of a file, split into what runs once, when it is loaded, and what runs in calls."""

    def __init__(self, body: Iterable[ast.stmt]) -> None:
        self.libraries: dict[str, str] = {}
        self.loading: list[ast.AST] = []  # nodes that are evaluated when the file is loaded
        self.calling: list[ast.AST] = []  # nodes that are evaluated in calls
        self.annotations: list[ast.expr] = []
        self.defaults: list[ast.expr] = []
        for node in body:
            self._sort(node, self.loading)

    def _sort(self, node: ast.AST, into: list[ast.AST]) -> None:
        into.append(node)
        if isinstance(node, ast.AnnAssign):
            self.annotations.append(node.annotation)
            self._sort(node.target, into)
            if node.value is not None:
                self._sort(node.value, into)
            return
        if not isinstance(node, _FUNCTIONS):
            for child in ast.iter_child_nodes(node):
                self._sort(child, into)
            return
        self.defaults += [one for one in (*node.args.defaults, *node.args.kw_defaults) if one is not None]
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        given = [one for one in every if one is not None]
        self.calling += given
        self.annotations += [one.annotation for one in given if one.annotation is not None]
        if isinstance(node, ast.FunctionDef):
            self.annotations += [node.returns] if node.returns is not None else []
        body: list[ast.AST] = [*node.body] if isinstance(node, ast.FunctionDef) else [node.body]
        for child in body:
            self._sort(child, self.calling)

    def is_stateless(self) -> bool:
        """Whether everything in the file is on the lists."""
        every = self.loading + self.calling
        if any(isinstance(node, _REFUSED) for node in every) or not all(map(self._may_import, every)):
            return False
        if any(isinstance(node, ast.FunctionDef) and node.decorator_list for node in every):
            return False
        bound = [name for node in every for name in _bound(node)]
        if self.libraries.keys() & set(bound):  # then a name does not always stand for the library
            return False
        known = set(bound)
        changeable = {name for node in self.loading for name in _bound(node)} - self._constants()
        return (
            all(self._may_be_there(node, known) for node in every)
            and not any(_loads(node) in changeable for node in self.calling)
            and all(map(self._is_constant, self.defaults))
            and all(
                isinstance(part, (*_IN_ANNOTATIONS, ast.Load)) for one in self.annotations for part in ast.walk(one)
            )
        )

    def _may_import(self, node: ast.AST) -> bool:
        """Note what an import binds. Whether that may be used is checked where it is used."""
        if isinstance(node, ast.Import):
            self.libraries |= {alias.asname or alias.name: alias.name for alias in node.names}
            return all(alias.name in _LIBRARIES for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            self.libraries |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            allowed = node.module in _LIBRARIES or node.module in _ONLY_ANNOTATIONS
            return allowed and not node.level and all(alias.name != "*" for alias in node.names)
        return True

    def _may_be_there(self, node: ast.AST, known: set[str]) -> bool:
        if isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Load):
                return False
            path = library_path(node, self.libraries)
            return path in _USABLE if path and path.count(".") == 1 else node.attr in _ATTRIBUTES
        if isinstance(node, ast.Name):
            return not isinstance(node.ctx, ast.Load) or self._may_load(node.id, known)
        if isinstance(node, ast.Call):
            return all(keyword.arg not in ("where", None) for keyword in node.keywords)
        if isinstance(node, ast.With):
            return all(self._is_errstate(one.context_expr) for one in node.items)
        return True

    def _may_load(self, name: str, known: set[str]) -> bool:
        if name in self.libraries:
            path = self.libraries[name]
            return path in _LIBRARIES or path in _USABLE
        return name not in _UNSAFE_NAMES and (name in known or name in _BUILTINS or name == "__name__")

    def _is_errstate(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and library_path(node.func, self.libraries) == "numpy.errstate"

    def _constants(self) -> set[str]:
        """Return the module variables that are functions or cannot change, however they are bound."""
        found: set[str] = set()
        others: set[str] = set()
        for node in self.loading:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                value = node.value
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                simple = all(isinstance(one, ast.Name) for one in targets)
                fixed = value is not None and (isinstance(value, ast.Lambda) or self._is_constant(value))
                names = {name for target in targets for part in ast.walk(target) for name in _bound(part)}
                (found if simple and fixed else others).update(names)
            elif isinstance(node, ast.AugAssign | ast.For | ast.With | ast.NamedExpr | ast.comprehension | ast.Delete):
                others.update(name for part in ast.walk(node) for name in _bound(part))
        return found - others

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether an expression gives something that cannot change: numbers, texts, tuples of them, dtypes."""
        if isinstance(node, ast.Tuple):
            return all(map(self._is_constant, node.elts))
        if isinstance(node, ast.UnaryOp):
            return self._is_constant(node.operand)
        if isinstance(node, ast.BinOp):
            return self._is_constant(node.left) and self._is_constant(node.right)
        return isinstance(node, ast.Constant) or library_path(node, self.libraries) in _USABLE


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the name that a node binds, other than by an import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


def _loads(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else None
