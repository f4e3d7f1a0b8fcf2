"""The meter: the hooks that rewritten student code calls.

It runs in the worker, next to the student's code. It decides nothing, and its numbers are trusted no more than the
student's own results.
"""

from __future__ import annotations

import array
import collections
import contextlib
import functools
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.sandbox.protocol.call_names import LONG_INTEGERS, UNKNOWN, UNKNOWN_OPERATOR
from grader.sandbox.worker.meters import containers
from grader.sandbox.worker.meters.container_hooks import ContainerHooks, is_students
from grader.sandbox.worker.meters.containers import CONTAINERS, TEXTS, length
from grader.sandbox.worker.meters.counts import AssignmentTarget
from grader.sandbox.worker.meters.values import BINARY, COMPARE, FLOATS, IN_PLACE, NUMBERS, UNARY, name_of

SEQUENCES = (list, tuple, *TEXTS, array.array)
# Reading a number out of these is one step. From a dict it may take the hash of a tuple, from a deque a walk.
QUICK_OWNERS = frozenset({np.ndarray, list, tuple, *TEXTS, array.array, range})
PRODUCTS = ("*", "**")
# Operators of these cost nothing: they build the types of annotations.
PLAIN = NUMBERS | {type(None), type, types.GenericAlias, types.UnionType, type(typing.Any)}
PLAIN |= {type(typing.Union[int, list[int]]), type(typing.Callable[[], int]), typing.TypeVar, type(...)}  # noqa: UP007
CONTEXTS = np.errstate | contextlib.ContextDecorator  # callable, as they are decorators, too
WATCHED_OWNERS = (
    np.ndarray,
    *containers.MOVING,
    dict,
    collections.deque,
)  # whose assignments may cost more than a step
LARGEST_INTEGER = 1 << 128
LONGEST_TEXT, LONGEST_TIMES = 100_000, 8
PLAIN_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, functools.partial)
# A student's subclass of one of these runs library code, which does not count itself.
LIBRARY_BASES = (list, dict, set, frozenset, map, filter, functools.partial, np.vectorize, np.ndarray)


# A price adds up the cost of a call that was made. A handler makes the call itself. Both get the meter.
PriceOf = Callable[[Any], "Callable[[Meter, int, Any, tuple[Any, ...], dict[str, Any], Any], None] | None"]
HandlerOf = Callable[[Any], "Callable[[Meter, int, Any, tuple[Any, ...], dict[str, Any]], Any] | None"]


class Meter(ContainerHooks):
    """The hooks of rewritten code. Each one does what the student wrote, and counts it.

    Hooks and counts are one object: a hook runs for every operator, and one more attribute lookup would be slow.
    """

    def __init__(self, price_of: PriceOf, handler_of: HandlerOf, may_call: Callable[[Any, Any], bool]) -> None:
        super().__init__()
        self.price_of = price_of
        self.handler_of = handler_of
        self.may_call = may_call  # whether a library function may call a function that it is given
        self.files: list[str] = []  # the student's files; a hook knows a file by its index here
        self.own_code: dict[int, types.CodeType] = {}  # of the rewritten files, by id
        self.hidden: dict[str, int] = {}  # functions that a library may call unseen, with the line; never reset

    def add_own_code(self, code: types.CodeType) -> None:
        """Remember code that counts itself, with the functions and classes inside it."""
        self.own_code[id(code)] = code
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                self.add_own_code(inner)

    # hooks ------------------------------------------------------------------------------------------------

    def tick(self, at: int) -> None:
        """Count one step: a function was entered, or the body of a loop began."""
        self.step_lines[at] += 1

    def tock(self, at: int) -> bool:
        """Count one step of a comprehension."""
        self.step_lines[at] += 1
        return True

    def binary(self, at: int, name: str, a: Any, b: Any) -> Any:
        """Apply a binary operator."""
        if type(a) in NUMBERS and type(b) in NUMBERS:  # the fast path: most operators in a loop are between numbers
            if name in PRODUCTS and (type(a) in FLOATS or type(b) in FLOATS):
                self.product_lines[at] += 1
                self.scalar_lines[at] += 1
            elif name in PRODUCTS and type(a) is int and abs(result := BINARY[name](a, b)) > LARGEST_INTEGER:
                self.unpriced(at, LONG_INTEGERS)  # it can hold many products at once
                return result
            return BINARY[name](a, b)
        self.at = at
        result = BINARY[name](a, b)
        self.operated(at, name, a, b, result)
        return result

    def unary(self, at: int, name: str, a: Any) -> Any:
        """Apply a unary operator."""
        self.at = at
        result = UNARY[name](a)
        if isinstance(result, np.ndarray):
            self.computed(at, result.size)
            self.made(at, result)
        return result

    def compare(self, at: int, name: str, a: Any, b: Any) -> Any:
        """Apply a comparison, `in` or `not in`."""
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return COMPARE[name](a, b)
        self.at = at
        if name in ("in", "not in") and hasattr(type(b), "__next__") and not hasattr(type(b), "__contains__"):
            b = self.ticking(at, b)
        result = COMPARE[name](a, b)
        if isinstance(result, np.ndarray):
            self.worked(at, result.size)
            self.made(at, result)
        elif name in ("in", "not in"):
            if isinstance(b, np.ndarray | np.flatiter):
                self.worked(at, int(np.size(b)))
            elif size := containers.looked_up(a, b):
                self.walked(at, size)
        elif isinstance(a, CONTAINERS) and isinstance(b, CONTAINERS):
            self.walked(at, containers.compared(a, b))
        return result

    def augment(self, at: int, name: str, a: Any, b: Any) -> Any:
        """Apply an operator in place, as in `a += b`."""
        self.at = at
        if (size := containers.changed_in_place(name, a, b)) is not None:
            self.walked(at, size)
            return IN_PLACE[name](a, b)
        if containers.adds_in_place(name, a):
            return IN_PLACE[name](a, self.counted(at, b))
        result = IN_PLACE[name](a, b)
        self.operated(at, name, a, b, result)
        return result

    def held(self, at: int, owner: Any, index: Any) -> tuple[Any, Any, Any]:
        """Return an item with its owner and index: Python evaluates these before the right-hand side."""
        return owner, index, self.item(at, owner, index)

    def augment_item(self, at: int, name: str, held: tuple[Any, Any, Any], value: Any) -> None:
        """Apply an operator in place to an item that `held` returned."""
        owner, index, item = held
        self.place(at, owner)[index] = self.augment(at, name, item, value)

    def held_attribute(self, _at: int, owner: Any, attribute: str) -> tuple[Any, str, Any]:
        """Return an attribute with its owner and name, as `held` does for an item."""
        return owner, attribute, getattr(owner, attribute)

    def augment_attribute(self, at: int, name: str, held: tuple[Any, str, Any], value: Any) -> None:
        """Apply an operator in place to an attribute that `held_attribute` returned."""
        owner, attribute, old = held
        setattr(owner, attribute, self.augment(at, name, old, value))

    def item(self, at: int, owner: Any, index: Any) -> Any:
        """Return `owner[index]`."""
        self.at = at
        result = owner[index]
        if type(result) in NUMBERS and type(owner) in QUICK_OWNERS:
            return result
        if type(owner) is np.ndarray and id(owner) not in self.known:
            self._made_array(at, owner)  # no hook sees what a loop in C hands out
        if isinstance(result, np.ndarray):
            self._follow_products((owner,), result)
            self.copied(at, result)
            self.made(at, result)
        elif type(index) is slice:
            if isinstance(owner, SEQUENCES):
                self.walked(at, length(result))
        elif type(index) is tuple:
            if isinstance(owner, dict):
                self.walked(at, containers.hashed(index))
        elif isinstance(owner, collections.deque):
            self.walked(at, containers.moved_items(owner, index))
        return result

    def attribute(self, at: int, owner: Any, name: str) -> Any:
        """Return an attribute that may be a new array: `imag` of a real array, or the inverse of a matrix."""
        self.at = at
        result = getattr(owner, name)
        if isinstance(result, np.ndarray):
            if name == "I":
                self.unpriced(at, UNKNOWN)
            self.copied(at, result)
            self.made(at, result)
        return result

    def chained(self, at: int, value: Any) -> Any:
        """Return a value of a chained comparison, which has no hook."""
        if isinstance(value, np.ndarray) and value.size > 1:
            self.unpriced(at, UNKNOWN_OPERATOR)
        elif isinstance(value, CONTAINERS):
            self.walked(at, containers.weight(value))
        return value

    def overwritten(self, at: int, owner: Any) -> Any:
        """Return an owner of which one attribute, such as `flat`, is about to get other numbers."""
        if isinstance(owner, np.ndarray):
            self.worked(at, owner.size)
            self.made(at, owner)
        return owner

    def place(self, at: int, owner: Any) -> Any:
        """Return the object to assign items of: `owner`, or a wrapper that counts the assignment."""
        self.at = at
        if type(owner) is np.ndarray and id(owner) not in self.known:
            self._made_array(at, owner)
        return AssignmentTarget(self, at, owner) if isinstance(owner, WATCHED_OWNERS) else owner

    def hatched(self, at: int, name: str) -> None:
        """Note that exec or eval is about to run code that is not counted."""
        self.event(at, name)
        self.unpriced(at, name)

    def call(self, at: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call any function. Count what it does, unless it is the student's own: that counts itself."""
        if self.is_own(function):
            return function(*args, **kwargs)
        handler = self.handler_of(function)
        self.at = at
        if handler is not None:
            result = handler(self, at, function, args, kwargs)
            self._note_text(at, result)
            self.made(at, result)
            return result
        self._note_callbacks(at, function, (*args, *kwargs.values()))
        if type(function) is types.FunctionType and str(function.__module__).startswith("torch"):
            args = tuple(self._watched_callback(at, one) for one in args)
            kwargs = {name: self._watched_callback(at, one) for name, one in kwargs.items()}
        result = function(*args, **kwargs)
        self._note_text(at, result)
        for one in (getattr(function, "__self__", None), *args):
            if type(one) is np.ndarray and id(one) not in self.known:
                self._made_array(at, one)
        price = self.price_of(function)
        try:
            if price is None:
                raise LookupError
            price(self, at, function, args, kwargs, result)
        except Exception:  # noqa: BLE001 - a call that went well must not fail because we cannot price it
            self.unpriced(at, name_of(function))
        self._follow_products(args, result)
        self.made(at, result)
        return result

    def decorator(self, at: int, decorator: Any) -> Any:
        """Return a decorator that is called through the meter."""
        return lambda decorated: self.call(at, decorator, decorated)

    # what hooks, prices and handlers share ----------------------------------------------------------------

    def is_own(self, function: Any) -> bool:
        """Whether this is the student's code, which is rewritten and counts itself, and not library code."""
        kind = type(function)
        if kind is types.FunctionType:
            code = function.__code__
            return id(code) in self.own_code or code.co_filename == __file__
        if kind is types.MethodType or kind is staticmethod:
            return self.is_own(function.__func__)
        if isinstance(function, type):
            return is_students(function) and not issubclass(function, LIBRARY_BASES)
        if is_students(kind):
            return self.is_own(kind.__call__)
        return kind is functools._lru_cache_wrapper and self.is_own(function.__wrapped__)

    def _follow_products(self, operands: tuple[Any, ...], result: Any) -> None:
        """Remember that an array was made from a product of arrays."""
        if self.products and isinstance(result, np.ndarray) and any(id(one) in self.products for one in operands):
            self.remember_product(result)

    def _note_text(self, at: int, result: Any) -> None:
        """Note a text that is far longer than what the call was given: it takes memory that is not counted."""
        if type(result) is str and len(result) > LONGEST_TEXT + LONGEST_TIMES * self.given_entries:
            self.unpriced(at, UNKNOWN)

    def _note_callbacks(self, at: int, function: Any, args: tuple[Any, ...]) -> None:
        """Note functions of libraries that are given to another one, which may call them unseen, now or later."""
        for one in args:
            if (
                not callable(one)
                or isinstance(one, type)
                or _is_context(one)
                or is_students(type(one))
                or self.is_own(one)
            ):
                continue
            if self.may_call(function, one):
                self.hidden.setdefault(name_of(one), at)

    def _watched_callback(self, at: int, value: Any) -> Any:
        """Return a library's function so that its calls are counted: one of torch, such as `tree_map`, may loop."""
        return self.watched(at, value) if type(value) in PLAIN_FUNCTIONS else value

    def operated(self, at: int, name: str, a: Any, b: Any, result: Any) -> None:
        """Count an operator between two values, given its result. It may be a comparison, by the name `/`."""
        kind_a, kind_b = type(a), type(b)
        if kind_a in NUMBERS and kind_b in NUMBERS:
            if name in PRODUCTS and (kind_a in FLOATS or kind_b in FLOATS):
                self.multiplied(at, 1, scalar=True)
            elif name in PRODUCTS and kind_a is int and abs(result) > LARGEST_INTEGER:
                self.unpriced(at, LONG_INTEGERS)  # it can hold many products at once
            return
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            if name == "@" or (name == "*" and isinstance(result, np.matrix) and np.ndim(a) and np.ndim(b)):
                self.matrix_product(at, "@", a, b, result)
            elif name == "**" and isinstance(a, np.matrix):
                self.event(at, "@")
                self.unpriced(at, UNKNOWN_OPERATOR)
            else:
                self.elementwise(at, name in PRODUCTS, (a, b), result)
                if name == "/" and isinstance(result, np.ndarray) and _is_data(a) and _is_data(b):
                    self.remember_product(result)  # a / (1 / b)
                elif name == "+" and isinstance(result, np.ndarray) and _is_data(a) and _is_data(b):
                    self.remember_sum(result)  # of logarithms
            self.made(at, result)
        elif isinstance(result, CONTAINERS):
            self.walked(at, containers.combined(name, a, b, result))
            self._note_text(at, result)
        elif isinstance(a, CONTAINERS) and isinstance(b, CONTAINERS):
            self.walked(at, containers.compared(a, b))
        elif not (self._is_plain(a) and self._is_plain(b)):
            self.unpriced(at, UNKNOWN_OPERATOR)

    def _is_plain(self, value: Any) -> bool:
        """Whether operators of this value count themselves, or cost nothing."""
        kind = type(value)
        return kind in PLAIN or isinstance(value, CONTAINERS) or is_students(kind) or _is_tensor(value)

    def elementwise(self, at: int, product: bool, operands: tuple[Any, ...], result: Any) -> None:
        """Count an operation on every entry. On numbers alone it is a single Python operation."""
        size, scalar = result.size if type(result) is np.ndarray else int(np.size(result)), True
        for one in operands:
            if type(one) is np.ndarray:  # the fast path: np.size and np.ndim take longer than all else
                length, flat = one.size, one.ndim == 0
            elif type(one) in NUMBERS:
                length, flat = 1, True
            else:
                length, flat = int(np.size(one)), np.ndim(one) == 0
            size = length if length > size else size
            scalar = scalar and flat
        if product:
            self.multiplied(at, size, scalar=scalar)
            if isinstance(result, np.ndarray) and sum(_is_data(one) for one in operands) > 1:
                self.remember_product(result)
        if not scalar:
            self.computed(at, size)

    def matrix_product(self, at: int, name: str, a: Any, b: Any, result: Any) -> None:
        """Count a product that sums over an index: a multiplication per entry of the result and per summand."""
        length = np.shape(a)[-1] if np.ndim(a) else 1
        if np.ndim(a) == 0 or np.ndim(b) == 0:
            length = 1
        self.contracted(at, name, int(np.size(result)) * length)

    def watched(self, at: int, function: Any) -> Any:
        """Return a function for library code to call, wrapped so that its cost is counted."""
        if not callable(function):
            return function
        if self.is_own(function):
            return function

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.tick(at)
            return self.call(at, function, *args, **kwargs)

        return counted


def _is_context(value: Any) -> bool:
    """Whether a value only changes settings for a while, such as `torch.no_grad()`."""
    kind, modes = type(value), sys.modules.get("torch.autograd.grad_mode")
    return isinstance(value, CONTEXTS) or getattr(modes, kind.__name__, None) is kind  # a class may claim any module


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_data(operand: Any) -> bool:
    """Whether this is an array of real numbers: not a mask, and not a scale factor."""
    return isinstance(operand, np.ndarray) and operand.size > 1 and operand.dtype.kind == "f"
