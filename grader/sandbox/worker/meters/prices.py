"""Prices: functions that tell the meter what a library call has cost.

A price depends only on the sizes of the arguments and the result.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sandbox.protocol.call_names import OWN_PATH, PREFIX, SUM, attention_in
from grader.sandbox.worker.meters.containers import adds_in_place, hashed
from grader.sandbox.worker.meters.values import arrays_in, name_of

if TYPE_CHECKING:
    from grader.sandbox.worker.meters.meter import Meter

Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Price = Callable[["Meter", int, Any, Args, Kwargs, Any], None]
PRODUCTS = {"multiply", "square", "power", "float_power", "outer", "kron", "mul", "imul", "pow", "ipow", "prod"}
ADDING = {"sum", "mean", "cumsum", "trace", "cumulative_sum", "std", "var", "norm", "nansum", "nanmean"}
ADDING |= {"nanstd", "nanvar"}
FACTORS = ("a", "x1", "v", "b", "x2", "w")  # the names of the two arguments of a product
MULTIPLYING = {"prod", "cumprod", "nanprod", "nancumprod", "cumulative_prod"}
SQUARING = {"std", "var", "norm", "nanstd", "nanvar"}  # sums of squares: two of them give a dot product
EXPONENTIALS = {"exp", "exp2", "expm1"}
DUNDERS = {
    **dict.fromkeys(("mul", "rmul", "imul"), "*"),
    **dict.fromkeys(("pow", "rpow", "ipow"), "**"),
    **dict.fromkeys(("matmul", "rmatmul", "imatmul"), "@"),
    **dict.fromkeys(("add", "radd", "iadd"), "+"),
    **dict.fromkeys(("sub", "rsub", "isub"), "-"),
    **dict.fromkeys(("and", "rand", "iand"), "&"),
    **dict.fromkeys(("or", "ror", "ior"), "|"),
    **dict.fromkeys(("xor", "rxor", "ixor"), "^"),
    **dict.fromkeys(("truediv", "rtruediv", "itruediv", "floordiv", "mod"), "/"),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert"), "/"),
}
_SPEC = find_spec("torch")
_TORCH = str(_SPEC.origin).removesuffix("__init__.py") if _SPEC is not None else "no torch"
CONVERSIONS = {"tolist", "numpy", "__array__"}
REFLECTED = ("__rmul__", "__rpow__", "__rmatmul__", "__radd__", "__rsub__", "__rtruediv__")


def subject_of(function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Return the main array of a call: the array whose method it is, the first argument, or an array keyword."""
    if isinstance(getattr(function, "__self__", None), np.ndarray):
        return function.__self__
    # By keyword, `where` may come first: the largest array is the one that is read.
    named = [one for one in kwargs.values() if isinstance(one, np.ndarray)]
    return args[0] if args else max(named, key=np.size, default=0)


def operands_of(function: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    """Return the two factors of a product, whether positional, by keyword, or the method's array."""
    owner = [function.__self__] if isinstance(getattr(function, "__self__", None), np.ndarray) else []
    named = [kwargs[name] for name in FACTORS if name in kwargs]  # in any order
    first, second, *_ = (*owner, *args, *named)
    return first, second


def by_torch(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions of torch: torch_meter counts their operations. Only conversions to Python or NumPy are counted here."""
    owner = getattr(function, "__self__", None)
    if owner is not None and getattr(function, "__name__", "") in CONVERSIONS and hasattr(owner, "numel"):
        meter.worked(at, int(owner.numel()))
    if "Script" in type(function).__name__:  # compiled: its loops cannot be counted, but its graph can be read
        meter.unpriced(at, "torch.jit")
        if name := attention_in(str(getattr(function, "inlined_graph", ""))):
            meter.event(at, f"{PREFIX}{name.strip('_')}")


def is_torch(function: Any) -> bool:
    """Whether this belongs to torch: a function, an operation, a tensor method, a layer or a layer class."""
    module = getattr(function, "__module__", None)
    if type(module) is str and module.startswith("torch"):
        return True
    if file_of(function).startswith(_TORCH):  # wrapped around a student's function by a decorator
        return True
    owner = getattr(function, "__self__", None)
    if type(owner) is types.ModuleType:
        return owner.__name__.startswith("torch")
    owners = [one for one in (function, owner) if isinstance(one, type)]
    return any(map(_is_of_torch, (type(function), *([] if owner is None else [type(owner)]), *owners)))


def is_list_of_layers(value: Any) -> bool:
    """Whether this only holds layers: `len(self.blocks)` calls none of them, though a list of layers is callable."""
    nn = sys.modules["torch"].nn
    return type(value) in (nn.ModuleList, nn.ModuleDict)


def file_of(function: Any) -> str:
    """Return the file of a Python function's code; empty for anything else."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code.co_filename if type(code) is types.CodeType else ""


@cache
def _is_of_torch(kind: type) -> bool:
    return any(str(base.__module__).partition(".")[0] == "torch" for base in kind.__mro__)


def free(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions whose cost does not depend on size."""
    if isinstance(result, type) and result.__module__.startswith(__package__):
        result.__module__ = "__main__"  # a class gets its caller's module, which is ours; it is really the student's


def elementwise(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Operations on every entry of arrays that are broadcast together."""
    operands = args[: function.nin] if isinstance(function, np.ufunc) else args
    output = result[0] if isinstance(result, tuple) else result
    name = getattr(function, "__name__", "")
    meter.elementwise(at, name in PRODUCTS, operands or (0,), output)
    if isinstance(output, np.ndarray) and output.dtype.kind == "f" and operands:
        if (name in EXPONENTIALS and id(operands[0]) in meter.added) or (
            name in ("divide", "true_divide") and all(np.size(one) > 1 for one in operands)
        ):
            meter.remember_product(output)
        elif name == "add" and all(np.size(one) > 1 for one in operands):
            meter.remember_sum(output)


def reduction(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions that read every entry of the first argument once."""
    subject = subject_of(function, args, kwargs)
    meter.computed(at, subject.size if type(subject) is np.ndarray else int(np.size(subject)))
    if function.__name__ in ADDING:
        meter.summed(at, SUM, subject, always=function.__name__ in SQUARING)
    elif function.__name__ in MULTIPLYING and isinstance(result, np.ndarray) and result.dtype.kind == "f":
        meter.multiplied(at, int(np.size(subject)), scalar=False)
        meter.remember_product(result)


def moved(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions that rearrange entries: free if the result is a view, else its size."""
    for array in arrays_in(result):
        meter.copied(at, array)


def vectorized(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """np.vectorize: the function inside it counts itself, unless it was put there later."""
    if not meter.is_own(function.pyfunc):
        meter.unpriced(at, name_of(function.pyfunc))
    moved(meter, at, function, args, kwargs, result)


def read(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions that read every entry once."""
    sizes = [np.size(one) for one in (subject_of(function, args, kwargs), *args, result) if isinstance(one, np.ndarray)]
    meter.worked(at, max(sizes, default=1))


def sorting(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Sorts: each entry is read about log2(size) times."""
    others = [*(one for one in (*args, *kwargs.values()) if isinstance(one, np.ndarray)), *arrays_in(result)]
    size = max(int(np.size(one)) for one in (subject_of(function, args, kwargs), *others))
    meter.worked(at, size * size.bit_length())


def compared(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """allclose, array_equiv and similar: every pair of entries of two arrays that are broadcast together."""
    shapes = [np.shape(one) for one in (*args, *kwargs.values()) if isinstance(one, np.ndarray | list | tuple)]
    try:
        size = prod(np.broadcast_shapes(*shapes))
    except ValueError:
        size = 1  # arrays of other shapes are never equal
    meter.computed(at, size)


def norm(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """linalg.norm: a sum of squares, or for some orders of a matrix its singular values."""
    order = kwargs.get("ord", args[1] if len(args) > 1 else None)
    axis = kwargs.get("axis", args[2] if len(args) > 2 else None)
    if order in (2, -2, "nuc") and (type(axis) is tuple or (axis is None and np.ndim(args[0] if args else 0) != 1)):
        meter.unpriced(at, name_of(function))
    reduction(meter, at, function, args, kwargs, result)


def product(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """matmul, dot, inner and similar: a sum over the last index of the first argument, or over `axis`."""
    a, b = operands_of(function, args, kwargs)
    if kwargs.get("axes") is not None:
        meter.unpriced(at, name_of(function))
    if kwargs.get("axis") in (None, -1):
        meter.matrix_product(at, name_of(function), a, b, result)
    else:
        length = np.broadcast_shapes(np.shape(a), np.shape(b))[kwargs["axis"]]
        meter.contracted(at, name_of(function), int(np.size(result)) * length)


def flat_product(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """vdot: a product for every entry."""
    meter.contracted(at, name_of(function), int(np.size(operands_of(function, args, kwargs)[0])))


def tensordot(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """tensordot: the length of the sum follows from the sizes of factors and result."""
    a, b = operands_of(function, args, kwargs)
    length = isqrt(int(np.size(a)) * int(np.size(b)) // max(1, int(np.size(result))))
    meter.contracted(at, name_of(function), int(np.size(result)) * length)


def sliding(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """convolve and correlate: every entry of one times every entry of the other."""
    a, b = operands_of(function, args, kwargs)
    meter.contracted(at, name_of(function), int(np.size(a)) * int(np.size(b)))


def einsum(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """einsum: a product for every combination of all indices."""
    operands = args[1:]
    if type(args[0]) is not str or (len(operands) > 2 and kwargs.get("optimize", False)):
        meter.event(at, name_of(function))
        meter.unpriced(at, OWN_PATH)
        return
    size = _combinations(args[0], [np.shape(one) for one in operands])
    if len(operands) == 1:
        meter.computed(at, size)
        meter.summed(at, SUM, operands[0])
    else:
        meter.contracted(at, name_of(function), size * (len(operands) - 1))


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


def ufunc_method(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Methods of a ufunc: reduce, accumulate, outer, at and reduceat."""
    ufunc = function.__self__
    if function.__name__ == "outer":
        meter.elementwise(at, ufunc.__name__ in PRODUCTS, args[:2], result)
        return
    subject = args[0] if args else next((one for one in kwargs.values() if isinstance(one, np.ndarray)), 0)
    others = [one for one in (*args[1:], *kwargs.values()) if isinstance(one, np.ndarray)]
    size = max(int(np.size(one)) for one in (subject, *others))
    if function.__name__ == "reduceat":
        places = kwargs.get("indices", args[1] if len(args) > 1 else None)
        size = _overlapping(subject, places, kwargs.get("axis", args[2] if len(args) > 2 else 0))
    meter.computed(at, size)
    if ufunc.__name__ in PRODUCTS:
        meter.multiplied(at, size, scalar=False)
    if ufunc in (np.add, np.subtract, np.hypot, np.logaddexp, np.logaddexp2):
        for one in (subject, *others):
            meter.summed(at, SUM, one, always=ufunc not in (np.add, np.subtract))


def _overlapping(array: Any, places: Any, axis: Any) -> int:
    """Return how many entries a reduceat reads: its ranges may overlap."""
    length, starts = int(np.shape(array)[axis]), np.asarray(places)
    ranges = np.maximum(np.append(starts[1:], length) - starts, 1)
    return int(ranges.sum()) * (int(np.size(array)) // max(1, length))


def weighted(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """average: with weights, a sum of products."""
    subject = subject_of(function, args, kwargs)
    if kwargs.get("weights") is not None or len(args) > 2:
        meter.contracted(at, name_of(function), int(np.size(subject)))
    else:
        reduction(meter, at, np.mean, (subject,), {}, result)


def unmeasured_product(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Matrix products whose cost does not follow from the sizes alone."""
    meter.event(at, name_of(function))
    meter.unpriced(at, name_of(function))


def sumprod(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """math.sumprod and math.dist: a multiplication for each pair, made in C."""
    meter.contracted(at, name_of(function), len(args[0]))


def operation(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Functions of the operator module, pow and abs: the same as the operator."""
    if len(args) == 1:
        elementwise(meter, at, function, args, kwargs, result)
    else:
        _operator(meter, at, function.__name__.strip("_").replace("concat", "add"), args, result)


def dunder(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """Operator methods: `a.__mul__(b)` and `float.__mul__(a, b)`."""
    operands = args if type(function) is types.WrapperDescriptorType else (function.__self__, *args)
    if function.__name__ in REFLECTED:
        operands = operands[::-1]
    _operator(meter, at, function.__name__.strip("_"), operands, result)


def _operator(meter: Meter, at: int, name: str, operands: Args, result: Any) -> None:
    """Count an operator by its name, such as `iadd`. In place, a list is only as expensive as what is added."""
    symbol = DUNDERS.get(name, "/")
    if name.startswith("i") and adds_in_place(symbol, operands[0]):
        meter.counted(at, operands[-1])
    else:
        meter.operated(at, symbol, operands[0], operands[-1], result)


def keyed(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """hash, and methods of dicts and sets that look up a key."""
    for key in args[:1]:
        meter.walked(at, hashed(key))


def picked(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """operator.itemgetter: a slice is copied, an item is not."""
    for index in function.__reduce__()[1]:
        if type(index) is slice:
            meter.walked(at, len(args[0][index]))


def chained(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs, result: Any) -> None:
    """chain.from_iterable: containers that are empty are gone through, too."""
    if hasattr(type(args[0]), "__len__"):
        meter.walked(at, len(args[0]))
