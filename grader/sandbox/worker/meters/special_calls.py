"""Handlers: calls that the meter makes itself, to count what happens inside them."""

from __future__ import annotations

import array
import collections
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sandbox.protocol.call_names import SUM, UNKNOWN
from grader.sandbox.worker.meters.prices import Args, Kwargs, moved
from grader.sandbox.worker.meters.values import NUMBERS, name_of

if TYPE_CHECKING:
    from grader.sandbox.worker.meters.meter import Meter

Handler = Callable[["Meter", int, Any, Args, Kwargs], Any]
DEEPEST = 24  # containers inside each other, of which a copy is counted
HASHING = (set, frozenset, collections.Counter)  # they hash each item that they are given
# The keywords by which NumPy functions take a function to call.
CALLED = {"func", "function", "func1d", "pyfunc"}


def calls_its_argument(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Functions that call their first argument: those calls must be counted too."""
    if function in (filter, itertools.filterfalse) and len(args) > 1 and args[0] is None:
        args = (None, meter.ticking(at, args[1]))  # what it leaves out is gone through, too
    args = (meter.watched(at, args[0]), *args[1:]) if args else args
    if function.__name__ == "accumulate":
        args = tuple(meter.watched(at, arg) if callable(arg) else arg for arg in args)
        if (args[1] if len(args) > 1 else kwargs.get("func")) is None:
            args, kwargs = args[:1], kwargs | {"func": operator.add}
    kwargs = {key: meter.watched(at, arg) if key in CALLED else arg for key, arg in kwargs.items()}
    result = function(*args, **kwargs)
    moved(meter, at, function, args, kwargs, result)
    return result


def piecewise(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """np.piecewise: each function of its list is called with the part of the array that it is for."""

    def watched(functions: Any) -> Any:
        return [meter.watched(at, one) if callable(one) else one for one in functions]

    args = tuple(watched(arg) if position == 2 else arg for position, arg in enumerate(args))
    kwargs = {key: watched(arg) if key == "funclist" else arg for key, arg in kwargs.items()}
    result = function(*args, **kwargs)
    moved(meter, at, function, args[:1], {}, result)
    return result


def calls_on_demand(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """`iter(f, end)`, groupby and defaultdict: the function that they are given is called later, when they are used."""
    args = tuple(meter.watched(at, arg) if callable(arg) and not isinstance(arg, type) else arg for arg in args)
    if args and function is itertools.groupby:
        args = (meter.ticking(at, args[0]), *args[1:])  # a loop over the groups need not look into them
    elif len(args) > 1 and function is collections.defaultdict:
        args = (args[0], meter.counted(at, args[1]), *args[2:])
    kwargs = kwargs | ({"key": meter.watched(at, kwargs["key"])} if kwargs.get("key") is not None else {})
    return function(*args, **kwargs)


def walk(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Builtins that go through their complete argument."""
    if kwargs.get("key") is not None:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    if len(args) > 1 and function in (max, min, math.hypot):
        meter.walked(at, len(args))
    elif function is array.array and len(args) > 1:
        args = (args[0], meter.counted(at, args[1]), *args[2:])
    elif args and isinstance(args[0], int) and function in (bytes, bytearray):
        meter.walked(at, args[0])
    elif args and isinstance(args[0], Iterable):
        if function is math.fsum:
            meter.summed(at, SUM, args[0])
        elif function is statistics.fmean and (len(args) > 1 or kwargs.get("weights") is not None):
            meter.unpriced(at, name_of(function))  # with weights, it is a dot product
        args = ((meter.counted_keys if function in HASHING else meter.counted)(at, args[0]), *args[1:])
    return function(*args, **kwargs)


def copy_object(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Copies: an array costs its size, a list its length, and all that is inside where the copy is deep."""
    result = function(*args, **kwargs)
    _count_copy(meter, at, result, deep=function.__name__ != "copy")
    return result


def _count_copy(meter: Meter, at: int, value: Any, *, deep: bool, seen: tuple[int, ...] = ()) -> None:
    """Count what a copy holds. A list may hold itself, and no copy is deeper than this course needs."""
    if isinstance(value, np.ndarray):
        meter.worked(at, value.size)
        meter.made(at, value)
    elif isinstance(value, list | tuple | dict | set | frozenset | collections.deque):
        meter.walked(at, len(value))
        items = value.values() if isinstance(value, dict) else value
        for item in items if deep else ():
            if type(item) in NUMBERS or isinstance(item, str) or id(item) in seen:
                continue
            if len(seen) > DEEPEST:
                meter.unpriced(at, UNKNOWN)
                return
            _count_copy(meter, at, item, deep=True, seen=(*seen, id(item)))
    elif hasattr(type(value), "__len__"):
        meter.walked(at, len(value))
    elif deep and hasattr(value, "__dict__") and not hasattr(value, "numel"):  # torch counts its own copies
        _count_copy(meter, at, vars(value), deep=True, seen=(*seen, id(value)))
    elif deep and hasattr(type(value), "__slots__"):
        meter.unpriced(at, UNKNOWN)


def sum_up(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """sum: adding arrays or lists costs more than one step."""
    subject, start = args[0], kwargs.get("start", args[1] if len(args) > 1 else 0)
    if isinstance(subject, np.ndarray) and subject.dtype != object:
        meter.summed(at, SUM, subject)
        meter.walked(at, len(subject))
        meter.worked(at, subject.size if subject.ndim > 1 else 0)
        return function(*args, **kwargs)
    plain = isinstance(start, int | float) and isinstance(subject, list | tuple)
    if isinstance(start, str) or (plain and not any(isinstance(one, np.ndarray) for one in subject)):
        meter.walked(at, len(subject))
        return function(*args, **kwargs)
    for element in subject:
        meter.tick(at)
        start = meter.binary(at, "+", start, element)
    return start


def multiply_all(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """math.prod: one product after another, as operators make them."""
    if len(args) != 1 or not kwargs.keys() <= {"start"}:
        return function(*args, **kwargs)  # which raises the right error
    product = kwargs.get("start", 1)
    for element in args[0]:
        meter.tick(at)
        product = meter.binary(at, "*", product, element)
    return product


def reduce(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """functools.reduce, counted call by call."""
    if len(args) < 2:
        return function(*args, **kwargs)  # which raises the right error
    return function(meter.watched(at, args[0]), meter.counted(at, args[1]), *args[2:], **kwargs)


def unbound(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """`np.ndarray.dot(a, b)`, `list.append(x, 1)`: a method of the first argument."""
    return meter.call(at, function.__get__(args[0]), *args[1:], **kwargs)


def partial(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """functools.partial: the function inside it, with all arguments."""
    return meter.call(at, function.func, *function.args, *args, **(function.keywords | kwargs))


def runs_code(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """exec and eval under another name: the code they run is not counted."""
    meter.hatched(at, function.__name__)
    return function(*args, **kwargs)


def get_item(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """operator.getitem and `x.__getitem__`: the same as indexing."""
    owner = (function.__self__,) if type(getattr(function, "__self__", None)).__name__ != "module" else ()
    return meter.item(at, *owner, *args, **kwargs)
