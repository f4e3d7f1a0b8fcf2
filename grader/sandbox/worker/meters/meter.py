"""The meter: what the hooks of rewritten code call, and the counts they keep.

It runs in the worker, beside the student's code. It decides nothing, and nothing it says is trusted further
than the student's own results are.
"""

from __future__ import annotations

import collections
import functools
import types
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from grader.sandbox.worker.meters.arrays import arrays_in, name_of, owner_of
from grader.sandbox.worker.meters.operators import BINARY, COMPARE, IN_PLACE, UNARY

# A product of these is one multiplication. Whole numbers are counted apart: they are indices more often than data.
FLOATS = frozenset({float, complex, np.float64, np.float32, np.float16, np.longdouble, Decimal, Fraction})
NUMBERS = FLOATS | {int, bool, np.bool_, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint8}
SEQUENCES = (list, tuple, str, bytes)
PRODUCTS = ("*", "**")
STUDENT = "mylab"  # the package a student's modules belong to; a notebook is __main__
STUDENT_MODULES = ("__main__", STUDENT)
CONTAINERS = (list, tuple, str, bytes, bytearray, dict, set, frozenset, collections.deque)
SLOW_LOOKUP: tuple[Any, ...] = (list, tuple, str, bytes, bytearray, range, collections.deque, type({}.values()))
# A class of the student's that is one of these runs code that is not theirs.
DISGUISES = (list, dict, set, frozenset, map, filter, functools.partial, np.vectorize, np.ndarray)


# What a call has cost, and the way in which the meter makes some calls itself; each is handed the meter.
PriceOf = Callable[[Any], "Callable[[Meter, int, Any, tuple[Any, ...], dict[str, Any], Any], None] | None"]
HandlerOf = Callable[[Any], "Callable[[Meter, int, Any, tuple[Any, ...], dict[str, Any]], Any] | None"]


class Meter:
    """Counts of one call, by the place in the student's file where they arose."""

    def __init__(self, price_of: PriceOf, handler_of: HandlerOf) -> None:
        self.price_of = price_of
        self.handler_of = handler_of
        self.files: list[str] = []  # of the student, each known to the hooks by its place here
        self.reset()

    def reset(self, inputs: tuple[Any, ...] = ()) -> None:
        """Begin to count anew; the arrays of the input are not the student's memory."""
        self.live = self.peak = 0
        self.at = 0  # the place of the last hook: what torch does is told by torch, and happens there
        self.step_lines: defaultdict[int, int] = defaultdict(int)
        self.scalar_lines: defaultdict[int, int] = defaultdict(int)
        self.product_lines: defaultdict[int, int] = defaultdict(int)
        self.flop_lines: defaultdict[int, int] = defaultdict(int)
        self.work_lines: defaultdict[int, int] = defaultdict(int)
        self.memory_lines: defaultdict[int, int] = defaultdict(int)
        self.sum_lines: defaultdict[int, int] = defaultdict(int)
        self.unknown: dict[str, int] = {}
        self.events: dict[str, int] = {}
        self.known: dict[int, Any] = {}
        self.products: dict[int, Any] = {}
        for array in arrays_in(inputs):
            owner = owner_of(array)
            self.known[id(owner)] = owner

    def counts(self) -> dict[str, int]:
        """Return what was counted, by meter."""
        sums = {name: sum(lines.values()) for name, lines in self.lines().items()}
        return sums | {"mem": self.peak}

    def lines(self) -> dict[str, dict[int, int]]:
        """Return the counts of each place; for memory, the largest array that was made there."""
        return {
            "steps": self.step_lines,
            "smul": self.scalar_lines,
            "mul": self.product_lines,
            "flops": self.flop_lines,
            "work": self.work_lines,
            "mem": self.memory_lines,
            "sums": self.sum_lines,
        }

    # what rewritten code calls ---------------------------------------------------------------------------

    def tick(self, at: int) -> None:
        """One step: a function entered, a loop's body begun."""
        self.step_lines[at] += 1

    def tock(self, at: int) -> bool:
        """One step, inside a comprehension."""
        self.step_lines[at] += 1
        return True

    def binary(self, at: int, name: str, a: Any, b: Any) -> Any:
        if type(a) in NUMBERS and type(b) in NUMBERS:  # the short way: most operators of a loop are between numbers
            if name in PRODUCTS and (type(a) in FLOATS or type(b) in FLOATS):
                self.product_lines[at] += 1
                self.scalar_lines[at] += 1
            return BINARY[name](a, b)
        self.at = at
        result = BINARY[name](a, b)
        self.operated(at, name, a, b, result)
        return result

    def augment(self, at: int, name: str, a: Any, b: Any) -> Any:
        self.at = at
        result = IN_PLACE[name](a, b)
        self.operated(at, name, a, b, result)
        return result

    def held(self, at: int, owner: Any, index: Any) -> tuple[Any, Any, Any]:
        """Return an item with its place, as Python holds both while it computes what is added to it."""
        return owner, index, self.item(at, owner, index)

    def augment_item(self, at: int, name: str, held: tuple[Any, Any, Any], value: Any) -> None:
        owner, index, item = held
        self.place(at, owner)[index] = self.augment(at, name, item, value)

    def held_attribute(self, _at: int, owner: Any, attribute: str) -> tuple[Any, str, Any]:
        return owner, attribute, getattr(owner, attribute)

    def augment_attribute(self, at: int, name: str, held: tuple[Any, str, Any], value: Any) -> None:
        owner, attribute, old = held
        setattr(owner, attribute, self.augment(at, name, old, value))

    def hatched(self, at: int, name: str) -> None:
        """Code that is made while it runs is about to run: it is not counted."""
        self.event(at, name)
        self.unpriced(at, name)

    def spread(self, at: int, iterable: Any) -> Any:
        """Count what is unpacked by a star."""
        return self.counted(at, iterable)

    def unary(self, at: int, name: str, a: Any) -> Any:
        self.at = at
        result = UNARY[name](a)
        if isinstance(result, np.ndarray):
            self.computed(at, result.size)
            self.made(at, result)
        return result

    def compare(self, at: int, name: str, a: Any, b: Any) -> Any:
        self.at = at
        result = COMPARE[name](a, b)
        if isinstance(result, np.ndarray):
            self.worked(at, result.size)
            self.made(at, result)
        elif name in ("in", "not in"):
            if isinstance(b, np.ndarray | np.flatiter):
                self.worked(at, int(np.size(b)))
            elif isinstance(b, SLOW_LOOKUP):
                self.walked(at, len(b))
        elif isinstance(a, CONTAINERS) and isinstance(b, CONTAINERS):
            self.walked(at, min(len(a), len(b)))
        return result

    def item(self, at: int, owner: Any, index: Any) -> Any:
        self.at = at
        result = owner[index]
        if type(result) in NUMBERS:
            return result
        if isinstance(result, np.ndarray):
            self.copied(at, result)
            self.made(at, result)
        elif type(index) is slice and isinstance(owner, SEQUENCES):
            self.walked(at, len(result))
        return result

    def place(self, at: int, owner: Any) -> Any:
        """Return what to assign items of: the thing itself, or a stand-in that counts."""
        self.at = at
        return _AssignmentTarget(self, at, owner) if isinstance(owner, np.ndarray | list) else owner

    def call(self, at: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call anything, and count what it does if it is not the student's own, which counts itself."""
        if self.is_own(function):
            return function(*args, **kwargs)
        handler = self.handler_of(function)
        self.at = at
        if handler is not None:
            result = handler(self, at, function, args, kwargs)
            self.made(at, result)
            return result
        result = function(*args, **kwargs)
        price = self.price_of(function)
        try:
            if price is None:
                raise LookupError
            price(self, at, function, args, kwargs, result)
        except Exception:  # noqa: BLE001 - what we cannot put a price on must not fail a call that went well
            self.unpriced(at, name_of(function))
        self.made(at, result)
        return result

    # what prices call ------------------------------------------------------------------------------------

    def is_own(self, function: Any) -> bool:
        """Whether this is code of the student's, rewritten like the rest, and not the library's in its clothes."""
        kind = type(function)
        if kind is types.FunctionType:
            if function.__code__.co_filename in self.files or function.__code__.co_filename == __file__:
                return True
            inner = function.__dict__.get("__wrapped__")  # what a decorator of the library's made of it
            return inner is not None and self.is_own(inner)
        if kind is types.MethodType or kind is staticmethod:
            return self.is_own(function.__func__)
        if isinstance(function, type):
            return _is_students(function) and not issubclass(function, DISGUISES)
        if _is_students(kind):
            return self.is_own(kind.__call__)
        return kind is functools._lru_cache_wrapper and self.is_own(function.__wrapped__)

    def unpriced(self, at: int, name: str) -> None:
        """Note a call whose cost is not known: the counts are no longer the whole truth."""
        self.unknown.setdefault(name, at)

    def copied(self, at: int, array: np.ndarray) -> None:
        """Count the entries of an array that was not there before; a view is free."""
        owner = owner_of(array)
        if id(owner) not in self.known:
            self.worked(at, min(array.size, owner.size))

    def operated(self, at: int, name: str, a: Any, b: Any, result: Any) -> None:
        """Count an operator between two values that gave this result."""
        kind_a, kind_b = type(a), type(b)
        if kind_a in NUMBERS and kind_b in NUMBERS:
            if name in PRODUCTS and (kind_a in FLOATS or kind_b in FLOATS):
                self.multiplied(at, 1, scalar=True)
            return
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            if name == "@" or (name == "*" and isinstance(result, np.matrix) and np.ndim(a) and np.ndim(b)):
                self.matrix_product(at, "@", a, b, result)
            else:
                self.elementwise(at, name in PRODUCTS, (a, b), result)
            self.made(at, result)
        elif isinstance(result, CONTAINERS):
            self.walked(at, len(result))

    def elementwise(self, at: int, product: bool, operands: tuple[Any, ...], result: Any) -> None:
        """Count an operation on each entry; one on numbers alone is a single step of Python's."""
        size = max(int(np.size(result)), *(int(np.size(one)) for one in operands))
        scalar = all(np.ndim(one) == 0 for one in operands)
        if product:
            self.multiplied(at, size, scalar=scalar)
            if isinstance(result, np.ndarray) and sum(_is_data(one) for one in operands) > 1:
                self.products[id(result)] = weakref.ref(result, functools.partial(self.forget, id(result)))
        if not scalar:
            self.computed(at, size)

    def matrix_product(self, at: int, name: str, a: Any, b: Any, result: Any) -> None:
        """Count a product that sums over an index: one multiplication for each entry of the result and each place."""
        length = np.shape(a)[-1] if np.ndim(a) else 1
        if np.ndim(a) == 0 or np.ndim(b) == 0:
            length = 1
        self.contracted(at, name, int(np.size(result)) * length)

    def contracted(self, at: int, name: str, size: int) -> None:
        """Count a product of so many multiplications, made outside Python."""
        self.event(at, name)
        self.multiplied_and_added(at, size)

    def multiplied_and_added(self, at: int, size: int) -> None:
        """So many products were made, and each was added to a sum."""
        self.multiplied(at, size, scalar=False)
        self.worked(at, size)
        self.flop_lines[at] += 2 * size

    def summed(self, at: int, name: str, array: Any) -> None:
        """Note where the entries of a product of two arrays are added up: that may be a dot product by another name."""
        size = int(np.size(array))
        while isinstance(array, np.ndarray):
            if id(array) in self.products:
                self.event(at, name)
                self.sum_lines[at] += size
                return
            array = array.base

    def multiplied(self, at: int, size: int, *, scalar: bool) -> None:
        self.product_lines[at] += size
        if scalar:
            self.scalar_lines[at] += size

    def worked(self, at: int, size: int) -> None:
        """So many entries of arrays were read or written by one operation."""
        self.work_lines[at] += size

    def computed(self, at: int, size: int) -> None:
        """So many entries of arrays were computed, each by one operation of arithmetic."""
        self.work_lines[at] += size
        self.flop_lines[at] += size

    def walked(self, at: int, length: int) -> None:
        """So many elements were gone through by something written in C."""
        self.step_lines[at] += length

    def event(self, at: int, name: str) -> None:
        """Note a call by name, for the rules of what is allowed."""
        self.events.setdefault(name, at)

    def made(self, at: int, result: Any) -> None:
        """Count the memory of arrays in a result that were not there before, until they are gone."""
        if type(result) in NUMBERS:
            return
        for array in arrays_in(result):
            owner = owner_of(array)
            key = id(owner)
            if key in self.known:
                continue
            size = owner.nbytes
            self.known[key] = weakref.ref(owner, functools.partial(self.freed, key, size))
            self.live += size
            self.peak = max(self.peak, self.live)
            self.memory_lines[at] = max(self.memory_lines[at], size)

    def freed(self, key: int, size: int, reference: Any) -> None:
        if self.known.get(key) is reference:
            del self.known[key]
            self.live -= size

    def forget(self, key: int, reference: Any) -> None:
        if self.products.get(key) is reference:
            del self.products[key]

    def watched(self, at: int, function: Any) -> Any:
        """Return a function for others to call, so that what it does is counted, too."""
        if not callable(function):
            return function
        if self.is_own(function):
            return function

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.tick(at)
            return self.call(at, function, *args, **kwargs)

        return counted

    def counted(self, at: int, iterable: Any) -> Any:
        """Return something to be gone through in C: what has a length is charged at once, the rest as it comes."""
        if isinstance(iterable, np.ndarray):
            self.walked(at, len(iterable) if iterable.ndim else 1)
            return iterable
        if hasattr(type(iterable), "__len__"):
            self.walked(at, len(iterable))
            return iterable
        return self.ticking(at, iterable)

    def ticking(self, at: int, iterable: Any) -> Iterator[Any]:
        for element in iterable:
            self.tick(at)
            yield element


class _AssignmentTarget:
    """Stands in for an array or a list on the left of `=`."""

    __slots__ = ("at", "meter", "owner")

    def __init__(self, meter: Meter, at: int, owner: Any) -> None:
        self.meter = meter
        self.at = at
        self.owner = owner

    def __setitem__(self, index: Any, value: Any) -> None:
        self.owner[index] = value
        if isinstance(self.owner, list):
            if type(index) is slice:
                self.meter.walked(self.at, len(self.owner[index]))
        elif not _is_single(index, self.owner.ndim):
            self.meter.worked(self.at, int(np.size(self.owner[index])))

    def __delitem__(self, index: Any) -> None:
        self.meter.walked(self.at, len(self.owner))
        del self.owner[index]


def _is_students(kind: type) -> bool:
    return kind.__module__.split(".")[0] in STUDENT_MODULES


def _is_data(operand: Any) -> bool:
    """Whether this is an array of real numbers, and neither a mask nor a scale."""
    return isinstance(operand, np.ndarray) and operand.size > 1 and operand.dtype.kind == "f"


def _is_single(index: Any, ndim: int) -> bool:
    parts = index if type(index) is tuple else (index,)
    return len(parts) == ndim and all(isinstance(part, int | np.integer) for part in parts)
