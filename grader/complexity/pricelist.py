"""The price list: which function of NumPy, of Python and of its library has which price.

Every name here is one whose work follows from the sizes of its arguments and results; whatever is missing makes a
measurement inconclusive, never wrong.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import itertools
import math
import operator
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.complexity.prices import (
    DUNDERS,
    OPERATIONS,
    Price,
    dunder,
    einsum,
    elementwise,
    flat_product,
    free,
    hatch,
    higher,
    list_method,
    moved,
    operation,
    product,
    read,
    reduce,
    reduction,
    sliding,
    sorting,
    sumprod,
    tensordot,
    total,
    ufunc_method,
    unbound,
    walk,
)


def price_of(function: Any) -> Price | None:
    """Return the price of anything that can be called and is not the student's own."""
    found = _PRICES.get(id(function))
    if found is not None:
        return found
    kind = type(function)
    if kind is types.BuiltinMethodType:
        return _method_price(function)
    if kind is np.ufunc:  # one that the student made of a function
        return elementwise
    if kind is types.MethodWrapperType or kind is types.WrapperDescriptorType:
        return dunder if function.__name__.strip("_") in DUNDERS else None
    if kind is types.MethodDescriptorType:
        return unbound
    if kind is functools.partial:
        return lambda meter, at, f, args, kwargs: meter.call(at, f.func, *f.args, *args, **(f.keywords | kwargs))
    if kind is np.vectorize:
        return moved
    if kind in _FREE_KINDS:
        return free
    if isinstance(function, type):
        return free if function in _FREE_TYPES or issubclass(function, BaseException | np.generic) else None
    if kind is types.MethodType and isinstance(function.__self__, np.ma.MaskedArray):
        return moved if function.__name__ == "filled" else _ARRAY_METHODS.get(function.__name__)
    if kind is types.FunctionType or kind is types.MethodType:
        return free if function.__module__ in _FREE_MODULES else None
    if kind.__module__ == "numpy.ma.core":  # the masked forms of ufuncs
        return elementwise
    return None


def _method_price(function: Any) -> Price | None:
    """Return the price of a method written in C, by what it is a method of."""
    owner, name = function.__self__, function.__name__
    if isinstance(owner, np.ndarray):
        return _ARRAY_METHODS.get(name)
    if isinstance(owner, np.ufunc):
        return ufunc_method
    if isinstance(owner, np.generic | int | float | complex):
        return free
    if isinstance(owner, list | collections.deque | set):
        return free if name in ("append", "appendleft", "pop", "popleft", "add", "discard", "clear") else list_method
    if name == "join":
        return walk
    return free if isinstance(owner, _FREE_OWNERS) or owner in (dict, str, int, float) else None


_FREE_TYPES = {
    *(np.dtype, np.errstate, np.finfo, np.iinfo, np.ndindex, np.ndenumerate, np.broadcast, np.nditer),
    *(int, float, bool, str, complex, range, slice, type, enumerate, zip, reversed),
    *(itertools.product, itertools.chain, itertools.count, itertools.cycle, itertools.repeat, itertools.islice),
    *(itertools.zip_longest, itertools.combinations, itertools.permutations, itertools.pairwise, itertools.groupby),
    *(contextlib.suppress, contextlib.nullcontext, warnings.catch_warnings),
}
_FREE_KINDS = {operator.itemgetter, operator.attrgetter, types.GenericAlias}
_FREE_OWNERS = (dict, str, bytes, tuple, range)
_FREE_MODULES = {"logging", "warnings", "contextlib", "dataclasses", "typing", "functools"}
_ARRAY_METHODS: dict[str, Price] = {
    name: price
    for price, names in {
        reduction: "sum mean max min prod any all argmax argmin std var cumsum cumprod trace ptp",
        moved: """reshape transpose swapaxes ravel flatten copy astype squeeze view take repeat diagonal compress
            choose""",
        read: "round clip conj conjugate tolist tobytes fill put nonzero resize byteswap __array__ __copy__",
        sorting: "sort argsort partition argpartition searchsorted",
        free: "item setflags __len__",
        product: "dot",
    }.items()
    for name in names.split()
}


def _numpy_prices() -> Iterator[tuple[Any, Price]]:
    """Yield the functions of NumPy with their prices, those that this version has."""
    tables: dict[Price, str] = {
        reduction: """sum mean max min amax amin prod any all argmax argmin std var median cumsum cumprod nansum nanmax
            nanmin nanmean nanprod nanstd nanvar nanargmax nanargmin count_nonzero ptp average trace cumulative_sum
            allclose array_equal array_equiv percentile quantile diff""",
        moved: """asarray array asanyarray ascontiguousarray asfortranarray copy reshape transpose permute_dims swapaxes
            moveaxis rollaxis ravel squeeze expand_dims atleast_1d atleast_2d atleast_3d broadcast_to broadcast_arrays
            stack concatenate concat vstack hstack dstack column_stack block tile repeat take take_along_axis flip
            fliplr flipud roll rot90 split array_split hsplit vsplit dsplit pad diagonal diag diagflat tril triu append
            insert delete compress extract choose meshgrid indices ix_ matrix_transpose frombuffer fromiter require
            zeros ones empty full zeros_like ones_like empty_like full_like eye identity arange linspace logspace
            geomspace tri tril_indices triu_indices tril_indices_from triu_indices_from diag_indices astype unstack
            asarray_chkfinite""",
        read: """where clip round around nan_to_num isclose real imag nonzero argwhere flatnonzero put_along_axis copyto
            putmask place fill_diagonal select real_if_close isreal iscomplex isposinf isneginf isin""",
        sorting: "sort argsort partition argpartition searchsorted lexsort unique",
        product: "dot inner matmul vecdot matvec vecmat",
        flat_product: "vdot",
        tensordot: "tensordot",
        sliding: "convolve correlate",
        einsum: "einsum",
        higher: "apply_along_axis apply_over_axes fromfunction vectorize frompyfunc piecewise",
        elementwise: "outer kron",
        free: """shape ndim size result_type promote_types can_cast min_scalar_type common_type issubdtype isscalar
            iterable broadcast_shapes seterr geterr set_printoptions get_printoptions printoptions array2string
            array_repr array_str may_share_memory shares_memory unravel_index ravel_multi_index format_float_positional
            einsum_path isfortran iscomplexobj isrealobj nditer""",
    }
    for price, names in tables.items():
        for name in names.split():
            if hasattr(np, name):
                yield getattr(np, name), price
    for name in vars(np):
        found = getattr(np, name)
        if isinstance(found, np.ufunc) and name not in ("matmul", "vecdot", "matvec", "vecmat"):
            yield found, elementwise
    for name in ("array", "asarray", "masked_array", "masked_where", "masked_equal", "filled", "getmaskarray"):
        yield getattr(np.ma, name), moved
    yield np.linalg.norm, reduction
    yield np.linalg.vecdot, product
    yield np.linalg.matmul, product
    yield np.linalg.outer, elementwise
    yield np.linalg.tensordot, tensordot
    yield np.linalg.matrix_transpose, moved
    yield np.lib.stride_tricks.sliding_window_view, moved
    yield np.lib.stride_tricks.as_strided, moved


def _python_prices() -> Iterator[tuple[Any, Price]]:
    """Yield the builtins and the functions of Python's library with their prices."""
    walkers = (max, min, any, all, sorted, list, tuple, set, frozenset, dict, bytes, bytearray, math.fsum)
    yield from ((one, walk) for one in (*walkers, collections.deque, collections.Counter, collections.OrderedDict))
    highers = (map, filter, itertools.accumulate, itertools.starmap, itertools.takewhile, itertools.dropwhile)
    yield from ((one, higher) for one in (*highers, itertools.filterfalse, functools.partial, functools.cmp_to_key))
    yield from ((one, operation) for one in OPERATIONS)
    yield sum, total
    yield functools.reduce, reduce
    yield from ((one, hatch) for one in (exec, eval, compile))
    for name in vars(math):
        if callable(found := getattr(math, name)) and not isinstance(found, type):
            yield found, {"fsum": walk, "prod": walk, "sumprod": sumprod, "dist": sumprod}.get(name, free)
    plain = """getattr hasattr setattr delattr callable isinstance issubclass id hash len next iter print repr round
        format divmod ord chr bin hex __import__ type vars"""
    yield from ((getattr(builtins, name), free) for name in plain.split())
    yield from ((one, free) for one in (functools.wraps, functools.lru_cache, functools.cache, itertools.tee))
    yield from ((one, moved) for one in (copy.copy, copy.deepcopy))
    yield from ((one, free) for one in (operator.index, operator.not_, operator.truth, operator.is_, warnings.warn))
    yield operator.getitem, lambda meter, at, _, args, kwargs: meter.item(at, *args, **kwargs)


_PRICES: dict[int, Price] = {id(function): price for function, price in (*_numpy_prices(), *_python_prices())}
