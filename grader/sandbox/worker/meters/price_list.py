"""Prices and handlers of the functions of NumPy, Python and its standard library.

The cost of every function here follows from the sizes of its arguments and results. A function that is missing makes
a measurement inconclusive, never wrong.
"""

from __future__ import annotations

import abc
import argparse
import array
import builtins
import cmath
import collections
import contextlib
import copy
import dataclasses
import decimal
import fractions
import functools
import heapq
import inspect
import io
import itertools
import logging
import math
import operator
import pprint
import re
import statistics
import string
import sys
import textwrap
import threading
import time
import types
import typing
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.sandbox.worker.meters import container_calls, prices
from grader.sandbox.worker.meters import special_calls as handlers
from grader.sandbox.worker.meters.containers import CONTAINERS
from grader.sandbox.worker.meters.prices import (
    DUNDERS,
    Price,
    elementwise,
    free,
    moved,
    product,
    read,
    reduction,
    sorting,
)
from grader.sandbox.worker.meters.special_calls import Handler

# Methods that create and inspect objects. A student's own version of them counts itself.
_OBJECT = {"init", "new", "len", "setattr", "getattribute", "delattr", "repr", "str", "hash", "iter", "next", "bool"}
_OBJECT |= {"float", "int", "index", "contains", "enter", "exit", "init_subclass", "class_getitem"}


def handler_of(function: Any) -> Handler | None:
    """Return the handler of a function; None for most functions."""
    entry = _HANDLERS.get(id(function))
    if entry is not None:
        return entry[1]
    kind = type(function)
    if kind is functools.partial:
        return handlers.partial
    if kind is types.MethodDescriptorType:
        return handlers.unbound
    if kind is types.MethodWrapperType:
        return container_calls.special_method_handler(function)
    if kind is types.WrapperDescriptorType and issubclass(function.__objclass__, CONTAINERS):
        return handlers.unbound if function.__name__ in container_calls.SPECIAL else None
    if issubclass(kind, types.BuiltinMethodType):  # which method is of a type derived from it differs by version
        return container_calls.method_handler(function)
    if kind is types.MethodType:
        return container_calls.bound_handler(function)
    return None


def price_of(function: Any) -> Price | None:
    """Return the price of a callable that is not the student's own; None if it has none."""
    entry = _PRICES.get(id(function))
    if entry is not None:
        return entry[1]
    if "torch" in sys.modules and prices.is_torch(function):
        return prices.by_torch
    kind = type(function)
    if issubclass(kind, types.BuiltinMethodType):
        return _method_price(function)
    if kind is np.ufunc:  # one that the student made, or one that hides a product
        return elementwise if function.signature is None else prices.unmeasured_product
    if kind is types.MethodWrapperType or kind is types.WrapperDescriptorType:
        name = function.__name__.strip("_")
        return prices.dunder if name in DUNDERS else free if name in _OBJECT else None
    if kind is np.vectorize:
        return prices.vectorized
    if kind is operator.itemgetter:
        return prices.picked
    if kind in _FREE_KINDS:
        return free
    if isinstance(function, type):
        return free if function in _FREE_TYPES or issubclass(function, BaseException | np.generic) else None
    if kind is types.MethodType and isinstance(function.__self__, np.ma.MaskedArray):
        return moved if function.__name__ == "filled" else _ARRAY_METHODS.get(function.__name__)
    if kind is types.MethodType and isinstance(function.__self__, tuple):
        return free  # a method of a namedtuple
    if kind is types.FunctionType or kind is types.MethodType:
        return free if prices.file_of(function) in _FREE_FILES else None
    if kind.__module__ == "numpy.ma.core":  # the masked forms of ufuncs
        return elementwise
    return None


def may_call(function: Any, given: Any) -> bool:
    """Whether a library function may call one that it is given, unseen by the meter. Torch is watched."""
    if type(given) in _FREE_KINDS or (_PRICES.get(id(given), (None, None))[1] in (free, prices.keyed)):
        return False
    if id(function) in _KEEPERS or (isinstance(function, type) and issubclass(function, BaseException)):
        return False
    if isinstance(function, types.BuiltinMethodType) and type(function.__self__) in _KEEPING_OWNERS:
        return False
    return not ("torch" in sys.modules and (prices.is_torch(function) or prices.is_list_of_layers(given)))


def _method_price(function: Any) -> Price | None:
    """Return the price of a method written in C, by the type of its object."""
    owner, name = function.__self__, function.__name__
    if isinstance(owner, np.ndarray):
        return _ARRAY_METHODS.get(name)
    if isinstance(owner, np.ufunc):
        return prices.ufunc_method
    if owner is itertools.chain:
        return prices.chained
    if isinstance(owner, dict | set | frozenset):
        return prices.keyed
    if isinstance(owner, _FREE_OWNERS) or owner in (dict, str, int, float, object) or name == "__new__":
        return free
    return None


_FREE_TYPES = {
    weakref.ref,
    *(np.dtype, np.errstate, np.finfo, np.iinfo, np.ndindex, np.ndenumerate, np.broadcast, np.nditer),
    *(int, float, bool, complex, range, slice, type, enumerate, zip, reversed),
    *(itertools.chain, itertools.count, itertools.repeat, itertools.zip_longest, itertools.pairwise),
    *(functools.partial, operator.itemgetter, operator.attrgetter, fractions.Fraction),
    *(decimal.Decimal, memoryview, types.SimpleNamespace),
    *(contextlib.suppress, contextlib.nullcontext, contextlib.ExitStack, warnings.catch_warnings, io.StringIO),
    *(collections.ChainMap, collections.UserDict, types.MappingProxyType),
}
_FREE_KINDS = {operator.itemgetter, operator.attrgetter, types.GenericAlias}
_FREE_OWNERS: tuple[type, ...] = (np.generic, int, float, complex, str, bytes, tuple, range, list, slice)
_FREE_OWNERS += (collections.deque, types.GeneratorType, np.nditer, io.StringIO, array.array, bytearray, re.Match)
_FREE_MODULES: tuple[types.ModuleType, ...] = (
    argparse,
    contextlib,
    dataclasses,
    functools,
    inspect,
    logging,
    pprint,
    string,
    textwrap,
    typing,
)
_FREE_MODULES += (warnings, weakref)
# By the file of their code: a decorator gives its function the name and the module of the student's.
_FREE_FILES = {module.__file__ for module in _FREE_MODULES}
_ARRAY_METHODS: dict[str, Price] = {
    name: price
    for price, names in {
        reduction: "sum mean max min prod any all argmax argmin std var cumsum cumprod trace ptp",
        moved: """reshape transpose swapaxes ravel flatten copy astype squeeze view take repeat diagonal compress
            choose""",
        read: "round clip conj conjugate tolist tobytes fill put nonzero resize byteswap __array__ __copy__",
        sorting: "sort argsort partition argpartition searchsorted",
        free: "item setflags __len__ __array_namespace__",
        product: "dot",
    }.items()
    for name in names.split()
}


_NUMPY: dict[Price, str] = {
    reduction: """sum mean max min amax amin prod any all argmax argmin std var median cumsum cumprod nansum nanmax
        nanmin nanmean nanprod nanstd nanvar nanargmax nanargmin count_nonzero ptp trace cumulative_sum
        percentile quantile diff""",
    prices.compared: "allclose array_equal array_equiv isclose",
    moved: """asarray array asanyarray ascontiguousarray asfortranarray copy reshape transpose permute_dims swapaxes
        moveaxis rollaxis ravel squeeze expand_dims atleast_1d atleast_2d atleast_3d broadcast_to broadcast_arrays
        stack concatenate concat vstack hstack dstack column_stack block tile repeat take take_along_axis flip
        fliplr flipud roll rot90 split array_split hsplit vsplit dsplit pad diagonal diag diagflat tril triu append
        insert delete compress extract choose meshgrid indices ix_ matrix_transpose frombuffer fromiter require
        zeros ones empty full zeros_like ones_like empty_like full_like eye identity arange linspace logspace
        geomspace tri tril_indices triu_indices tril_indices_from triu_indices_from diag_indices astype unstack
        asarray_chkfinite row_stack resize diag_indices_from""",
    read: """where clip round around nan_to_num real imag nonzero argwhere flatnonzero put put_along_axis
        copyto putmask place fill_diagonal select real_if_close isreal iscomplex isposinf isneginf isin fix""",
    sorting: """sort argsort partition argpartition searchsorted lexsort unique unique_values unique_counts
        unique_inverse unique_all union1d intersect1d setdiff1d setxor1d digitize""",
    product: "dot inner matmul vecdot matvec vecmat",
    prices.flat_product: "vdot",
    prices.tensordot: "tensordot",
    prices.sliding: "convolve correlate",
    prices.einsum: "einsum",
    elementwise: "outer kron",
    free: """shape ndim size result_type promote_types can_cast min_scalar_type common_type issubdtype isscalar
        iterable broadcast_shapes seterr geterr set_printoptions get_printoptions printoptions array2string
        array_repr array_str may_share_memory shares_memory unravel_index ravel_multi_index format_float_positional
        einsum_path isfortran iscomplexobj isrealobj nditer isdtype mintypecode typename base_repr binary_repr
        format_float_scientific""",
}
_MASKED: dict[Price, str] = {
    reduction: "sum mean prod any all std var count",
    moved: """where zeros ones empty array asarray masked_array masked_where masked_equal filled getmaskarray""",
}


def _numpy_prices() -> Iterator[tuple[Any, Price]]:
    """Yield the NumPy functions that this version has, with their prices."""
    for price, names in _NUMPY.items():
        for name in names.split():
            if hasattr(np, name):
                yield getattr(np, name), price
    for name in vars(np):
        ufunc = getattr(np, name)
        if (
            isinstance(ufunc, np.ufunc)
            and ufunc.signature is None
            and name not in ("matmul", "vecdot", "matvec", "vecmat")
        ):
            yield ufunc, elementwise
    yield from ((one, prices.unmeasured_product) for one in (np.ma.dot, np.ma.inner, np.polyval, np.bincount))
    yield from ((one, moved) for one in (np.asmatrix, np.mask_indices))
    yield from ((one, read) for one in (np.ma.masked_invalid, np.ma.max, np.ma.min, np.ma.masked_less))
    for price, names in _MASKED.items():
        for name in names.split():
            yield getattr(np.ma, name), price
    yield np.average, prices.weighted
    for product_of_many in (np.linalg.multi_dot, np.linalg.matrix_power, np.cov, np.corrcoef):
        yield product_of_many, prices.unmeasured_product
    yield np.lib.array_utils.normalize_axis_index, free
    yield np.linalg.norm, prices.norm
    yield np.linalg.vecdot, product
    yield np.linalg.matmul, product
    yield np.linalg.outer, elementwise
    yield np.linalg.tensordot, prices.tensordot
    yield np.linalg.matrix_transpose, moved
    yield np.linalg.diagonal, moved
    yield np.linalg.trace, reduction
    yield np.lib.stride_tricks.sliding_window_view, moved
    yield np.lib.stride_tricks.as_strided, moved


def _python_prices() -> Iterator[tuple[Any, Price]]:
    """Yield the builtins and standard library functions with their prices."""
    names = """add iadd sub isub mul imul truediv itruediv floordiv ifloordiv mod imod pow ipow matmul imatmul and_
        or_ xor lt le gt ge eq ne neg pos abs invert inv concat iconcat"""
    yield from ((getattr(operator, name), prices.operation) for name in names.split())
    yield from ((one, prices.operation) for one in (pow, abs, divmod))
    for name in vars(math):
        if callable(function := getattr(math, name)) and not isinstance(function, type):
            yield function, {"sumprod": prices.sumprod, "dist": prices.sumprod}.get(name, free)
    yield from ((function, free) for function in vars(cmath).values() if callable(function))
    yield hash, prices.keyed
    plain = """getattr hasattr setattr delattr callable isinstance issubclass id len next print round
        ord chr bin hex __import__ type vars"""
    yield from ((getattr(builtins, name), free) for name in plain.split())
    yield from ((one, free) for one in (functools.wraps, functools.lru_cache, functools.cache))
    yield from ((one, free) for one in (threading.Lock, threading.RLock, time.perf_counter_ns, time.monotonic))
    heaps = (heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace, heapq.merge)  # a logarithm is 1
    yield from ((one, free) for one in (*heaps, re.compile, re.escape))
    yield from ((one, free) for one in (time.perf_counter, time.time, time.process_time, collections.namedtuple))
    yield from ((one, free) for one in (operator.index, operator.not_, operator.truth, operator.is_, warnings.warn))
    yield from ((one, free) for one in (contextlib.contextmanager, functools.singledispatch, functools.total_ordering))


def _handlers() -> Iterator[tuple[Any, Handler]]:
    """Yield the functions that have handlers."""
    walkers = (max, min, any, all, sorted, list, tuple, set, frozenset, dict, bytes, bytearray, math.fsum, math.hypot)
    more = (collections.deque, collections.Counter, collections.OrderedDict, statistics.fmean, statistics.mean)
    yield from ((one, handlers.walk) for one in (*walkers, *more, array.array))
    calling = (map, filter, itertools.accumulate, itertools.starmap, itertools.takewhile, itertools.dropwhile)
    arrays = (np.apply_along_axis, np.apply_over_axes, np.fromfunction, np.vectorize, np.frompyfunc)
    calling_too = (itertools.filterfalse, functools.cmp_to_key)
    yield from ((one, handlers.calls_its_argument) for one in (*calling, *calling_too, *arrays))
    deep = (copy.deepcopy, dataclasses.asdict, dataclasses.astuple)
    yield from ((one, handlers.copy_object) for one in (copy.copy, *deep))
    yield sum, handlers.sum_up
    yield math.prod, handlers.multiply_all
    yield from ((one, handlers.calls_on_demand) for one in (iter, itertools.groupby, collections.defaultdict))
    yield functools.reduce, handlers.reduce
    yield np.piecewise, handlers.piecewise
    yield operator.getitem, handlers.get_item
    yield from ((one, handlers.runs_code) for one in (exec, eval, compile))
    yield from container_calls.handler_table()


# They keep or inspect a function that they are given, and never call it; `partial` is followed where it is called.
_KEPT: tuple[Any, ...] = (callable, isinstance, issubclass, id, hash, print, type, hasattr, getattr, setattr)
_KEPT += (functools.partial, functools.wraps, functools.lru_cache, functools.cache, functools.cached_property)
_KEPT += (staticmethod, classmethod, property, operator.is_, warnings.warn, contextlib.contextmanager)
_KEPT += (dataclasses.dataclass, typing.cast, typing.overload, typing.final, typing.runtime_checkable)
_KEPT += (abc.abstractmethod, len, list, tuple, enumerate, zip, reversed)  # a Sequential is callable, and a sequence
_KEEPERS = {id(function): function for function in _KEPT}
_KEEPING_OWNERS = (list, dict, set, collections.deque, collections.OrderedDict)

# The functions are kept too: no other object can then get the same id.
_PRICES = {id(function): (function, price) for function, price in (*_python_prices(), *_numpy_prices())}
_HANDLERS = {id(function): (function, handler) for function, handler in _handlers()}
