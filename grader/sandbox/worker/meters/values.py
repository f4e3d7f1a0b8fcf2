"""What the meter knows about values: which types are numbers, Python's operators, arrays, and names of functions."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# A product with one of these is one multiplication. Integers do not count: they are indices more often than data.
FLOATS = frozenset({float, complex, np.float64, np.float32, np.float16, np.longdouble, Decimal, Fraction})
NUMBERS = FLOATS | {int, bool, np.bool_, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint8}


# Symbol, function of `operator`, node of `ast`.
_BINARY = """+ add Add  - sub Sub  * mul Mult  / truediv Div  // floordiv FloorDiv  % mod Mod  ** pow Pow
    @ matmul MatMult  & and_ BitAnd  | or_ BitOr  ^ xor BitXor  << lshift LShift  >> rshift RShift"""
_COMPARE = "== eq Eq  != ne NotEq  < lt Lt  <= le LtE  > gt Gt  >= ge GtE"
_UNARY = "- neg USub  + pos UAdd  ~ invert Invert"


def _functions(table: str) -> dict[str, Callable[..., Any]]:
    """Return the functions of a table, by their symbols."""
    words = table.split()
    return {symbol: getattr(operator, name) for symbol, name in zip(words[::3], words[1::3], strict=True)}


def _symbols(table: str) -> dict[type[ast.AST], str]:
    """Return the symbols of a table, by their nodes."""
    words = table.split()
    return {getattr(ast, node): symbol for symbol, node in zip(words[::3], words[2::3], strict=True)}


BINARY = _functions(_BINARY)
IN_PLACE = {symbol: getattr(operator, f"i{one.__name__.strip('_')}") for symbol, one in BINARY.items()}
COMPARE = _functions(_COMPARE) | {"in": lambda a, b: a in b, "not in": lambda a, b: a not in b}
UNARY = _functions(_UNARY)
BINARY_SYMBOLS = _symbols(_BINARY)
COMPARE_SYMBOLS = _symbols(_COMPARE) | {ast.In: "in", ast.NotIn: "not in"}
UNARY_SYMBOLS = _symbols(_UNARY)


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of a result: the result itself, or the items of a tuple or list."""
    if isinstance(value, np.ndarray):
        yield value
    elif type(value) in (tuple, list):
        for item in value:
            if isinstance(item, np.ndarray):
                yield item


def owner_of(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of a view, also for views made by stride tricks."""
    while array.base is not None:
        base = array.base if isinstance(array.base, np.ndarray) else getattr(array.base, "base", None)
        if not isinstance(base, np.ndarray):
            break
        array = base
    return array


def name_of(function: Any) -> str:
    """Return the name of a function as a student would write it."""
    owner = getattr(function, "__self__", None)
    name = str(getattr(function, "__name__", None) or type(function).__name__)[:80]
    if isinstance(owner, np.ndarray):
        return f"ndarray.{name}"
    if isinstance(owner, np.ufunc):
        return f"numpy.{owner.__name__}.{name}"
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__name__}.{name}"
    module = "numpy" if isinstance(function, np.ufunc) else str(getattr(function, "__module__", None) or "")[:80]
    return name if module in ("", "builtins") else f"{module}.{name}"
