"""Prices: calls of functions that are not the student's own, made and told to the meter.

A price makes the call itself and says what was done, from the sizes of arguments and results alone.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Iterator
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from grader.complexity.meter import Meter

Price = Callable[["Meter", int, Any, tuple[Any, ...], dict[str, Any]], Any]
SUM = "the sum of a product of arrays"


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of a result: itself, or those of a pair or a list."""
    if isinstance(value, np.ndarray):
        yield value
    elif type(value) in (tuple, list):
        for item in value:
            if isinstance(item, np.ndarray):
                yield item


def owner_of(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def name_of(function: Any) -> str:
    """Return the name of a function as a student would write it."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", None) or type(function).__name__
    if isinstance(owner, np.ndarray):
        return f"ndarray.{name}"
    if isinstance(owner, np.ufunc):
        return f"numpy.{owner.__name__}.{name}"
    if owner is not None and not isinstance(owner, types.ModuleType):
        return f"{type(owner).__name__}.{name}"
    module = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None) or ""
    return name if module in ("", "builtins") else f"{module}.{name}"


def free(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What costs the same for every size."""
    result = function(*args, **kwargs)
    meter.made(at, result)
    return result


def elementwise(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operation on each entry of the arrays, broadcast together."""
    result = function(*args, **kwargs)
    operands = args[: function.nin] if isinstance(function, np.ufunc) else args
    whole = result if not isinstance(result, tuple) else result[0]
    meter.elementwise(at, getattr(function, "__name__", "") in _PRODUCTS, operands or (0,), whole)
    meter.made(at, result)
    return result


def reduction(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Every entry of the first argument is looked at once."""
    result = function(*args, **kwargs)
    subject = args[0] if args else next(iter(kwargs.values()), 0)
    if _is_array_method(function):
        subject = function.__self__
    meter.worked(at, int(np.size(subject)))
    if function.__name__.removeprefix("nan") in _ADDING:
        meter.summed(at, SUM, subject)
    meter.made(at, result)
    return result


def moved(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A new arrangement of entries: nothing if the result is a view, its size if it is new."""
    result = function(*args, **kwargs)
    for array in arrays_in(result):
        if id(owner_of(array)) not in meter.known:
            meter.worked(at, array.size)
    meter.made(at, result)
    return result


def read(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Every entry is read once, whatever becomes of it."""
    result = function(*args, **kwargs)
    subject = function.__self__ if _is_array_method(function) else args[0]
    meter.worked(at, max(int(np.size(subject)), int(np.size(result)) if isinstance(result, np.ndarray) else 0))
    meter.made(at, result)
    return result


def sorting(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A sort looks at each entry about as often as its length has binary digits."""
    result = function(*args, **kwargs)
    subject = function.__self__ if _is_array_method(function) else args[0]
    size = int(np.size(subject))
    meter.worked(at, size * size.bit_length())
    meter.made(at, result)
    return result


def product(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """matmul, dot, inner and the like: they sum over the last index of the first argument."""
    result = function(*args, **kwargs)
    a, b = (function.__self__, args[0]) if _is_array_method(function) else args[:2]
    meter.matrix_product(at, name_of(function), a, b, result)
    return result


def flat_product(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """vdot: all entries of both."""
    result = function(*args, **kwargs)
    meter.contracted(at, name_of(function), int(np.size(args[0])), result)
    return result


def tensordot(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = function(*args, **kwargs)
    sizes = int(np.size(args[0])) * int(np.size(args[1]))
    length = isqrt(sizes // max(1, int(np.size(result))))  # both arguments hold the summed indices
    meter.contracted(at, name_of(function), int(np.size(result)) * length, result)
    return result


def sliding(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """convolve and correlate: every entry with every other."""
    result = function(*args, **kwargs)
    meter.contracted(at, name_of(function), int(np.size(args[0])) * int(np.size(args[1])), result)
    return result


def einsum(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As many products as there are combinations of all indices."""
    result = function(*args, **kwargs)
    operands = args[1:]
    if type(args[0]) is not str or (len(operands) > 2 and kwargs.get("optimize", False)):
        meter.unknown.setdefault("numpy.einsum with a path of its own", at)
        return result
    size = _combinations(args[0], [np.shape(one) for one in operands])
    if len(operands) == 1:
        meter.worked(at, size)
        meter.summed(at, SUM, operands[0])
        meter.made(at, result)
    else:
        meter.contracted(at, name_of(function), size * (len(operands) - 1), result)
    return result


def _combinations(subscripts: str, shapes: list[tuple[int, ...]]) -> int:
    sizes: dict[str, int] = {}
    rest: list[tuple[int, ...]] = []
    for labels, shape in zip(subscripts.partition("->")[0].replace(" ", "").split(","), shapes, strict=True):
        before, dots, after = labels.partition("...")
        spare = shape[len(before) : len(shape) - len(after)] if dots else ()
        named = shape[: len(before)] + shape[len(shape) - len(after) :] if dots else shape
        rest.append(spare)
        for label, size in zip(before + after, named, strict=True):
            sizes[label] = max(size, sizes.get(label, 1))
    return prod(sizes.values()) * prod(np.broadcast_shapes(*rest))


def ufunc_method(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """reduce, accumulate, outer, at and reduceat of a ufunc."""
    result = function(*args, **kwargs)
    ufunc = function.__self__
    if function.__name__ == "outer":
        meter.elementwise(at, ufunc.__name__ in _PRODUCTS, args[:2], result)
        return result
    size = int(np.size(args[0]))
    meter.worked(at, size)
    if ufunc.__name__ in _PRODUCTS:
        meter.multiplied(at, size, scalar=False)
    if ufunc is np.add:
        meter.summed(at, SUM, args[0])
    meter.made(at, result)
    return result


def higher(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Something that calls what it is given: that must be counted, too."""
    args = tuple(meter.watched(at, arg) if _is_function(arg) else arg for arg in args)
    kwargs = {key: meter.watched(at, arg) if _is_function(arg) else arg for key, arg in kwargs.items()}
    return moved(meter, at, function, args, kwargs)


def walk(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A builtin that goes through its argument from one end to the other."""
    if "key" in kwargs:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    if len(args) > 1 and function in (max, min):
        meter.walked(at, len(args))
    elif args and isinstance(args[0], Iterable):
        args = (meter.counted(at, args[0]), *args[1:])
    result = function(*args, **kwargs)
    meter.made(at, result)
    return result


def total(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """sum: the additions of arrays are work of their own."""
    subject = args[0]
    if isinstance(subject, np.ndarray):
        meter.summed(at, SUM, subject)
        meter.walked(at, len(subject))
        meter.worked(at, subject.size if subject.ndim > 1 else 0)
        return function(*args, **kwargs)
    start = kwargs.get("start", args[1] if len(args) > 1 else 0)
    if isinstance(subject, list | tuple) and not any(isinstance(one, np.ndarray) for one in (*subject, start)):
        meter.walked(at, len(subject))
        return function(*args, **kwargs)
    for element in subject:
        meter.tick(at)
        start = meter.binary(at, "+", start, element)
    return start


def reduce(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """functools.reduce, step by step."""
    if len(args) < 2:
        return function(*args, **kwargs)  # which will say so
    step, elements, *start = args
    iterator = iter(elements)
    value = start[0] if start else kwargs.get("initial")
    if not start and "initial" not in kwargs:
        value = next(iterator, None)
    for element in iterator:
        meter.tick(at)
        value = meter.call(at, step, value, element)
    return value


def operation(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of the operator module, or pow and abs: the operator it stands for."""
    name = OPERATIONS[function]
    if len(args) == 1:
        return elementwise(meter, at, function, args, kwargs)
    result = function(*args, **kwargs)
    meter.operated(at, name, args[0], args[1], result)
    return result


def dunder(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`a.__mul__(b)` and `float.__mul__(a, b)`."""
    result = function(*args, **kwargs)
    operands = args if type(function) is types.WrapperDescriptorType else (function.__self__, *args)
    meter.operated(at, DUNDERS[function.__name__.strip("_")], operands[0], operands[-1], result)
    return result


def unbound(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.ndarray.dot(a, b)`, `list.append(x, 1)`: the method of its first argument."""
    return meter.call(at, function.__get__(args[0]), *args[1:], **kwargs)


def hatch(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """exec and eval: what they run is not counted."""
    meter.event(at, function.__name__)
    meter.unknown.setdefault(function.__name__, at)
    return function(*args, **kwargs)


def sumprod(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = function(*args, **kwargs)
    meter.contracted(at, name_of(function), len(args[0]), result)
    return result


def list_method(meter: Meter, at: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method that may go through the whole list, and through its argument."""
    if function.__name__ in ("extend", "update", "extendleft") and args:
        args = (meter.counted(at, args[0]), *args[1:])
    else:
        meter.walked(at, len(function.__self__))
    if "key" in kwargs:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    return function(*args, **kwargs)


def _is_array_method(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), np.ndarray)


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, np.ndarray | np.generic)


_PRODUCTS = {"multiply", "square", "power", "float_power", "outer", "kron", "mul", "imul", "pow", "ipow", "prod"}
_ADDING = {"sum", "mean", "average", "cumsum", "trace", "cumulative_sum"}
DUNDERS = {
    **dict.fromkeys(("mul", "rmul", "imul"), "*"),
    **dict.fromkeys(("pow", "rpow", "ipow"), "**"),
    **dict.fromkeys(("matmul", "rmatmul", "imatmul"), "@"),
    **dict.fromkeys(("add", "radd", "iadd"), "+"),
    **dict.fromkeys(("sub", "rsub", "isub"), "-"),
    **dict.fromkeys(("truediv", "rtruediv", "itruediv"), "/"),
    **dict.fromkeys(("floordiv", "mod", "and", "or", "xor"), "/"),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), "/"),
}
OPERATIONS: dict[Any, str] = {
    **{getattr(operator, name): "*" for name in ("mul", "imul")},
    **{getattr(operator, name): "**" for name in ("pow", "ipow")},
    **{getattr(operator, name): "@" for name in ("matmul", "imatmul")},
    **{getattr(operator, name): "+" for name in ("add", "iadd", "concat", "iconcat")},
    **{getattr(operator, name): "-" for name in ("sub", "isub", "neg", "pos", "abs", "invert", "inv")},
    **{getattr(operator, name): "/" for name in ("truediv", "itruediv", "floordiv", "ifloordiv", "mod", "imod")},
    **{getattr(operator, name): "/" for name in ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "xor")},
    pow: "**",
    abs: "-",
}
