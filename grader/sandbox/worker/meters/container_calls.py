"""Handlers of calls that go through Python's own containers: methods of lists, sets, dicts and texts, heaps, `re`."""

from __future__ import annotations

import bisect
import collections
import heapq
import itertools
import operator
import re
import string
import textwrap
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.sandbox.worker.meters import special_calls as handlers
from grader.sandbox.worker.meters.containers import (
    CONTAINERS,
    MOVING,
    SETS,
    TEXTS,
    length,
    looked_up,
    moved_items,
    searched,
    weight,
)
from grader.sandbox.worker.meters.counts import AssignmentTarget
from grader.sandbox.worker.meters.prices import Args, Kwargs
from grader.sandbox.worker.meters.special_calls import Handler

if TYPE_CHECKING:
    from grader.sandbox.worker.meters.meter import Meter

PADDING = 40  # characters that a format may add to what it is given, before they count
_SEQUENCES = (*MOVING, collections.deque)
_WALKED = (*SETS, tuple)
_BYTEARRAY = {"append", "extend", "insert", "pop", "remove", "reverse", "clear"}  # as a list has them
_QUICK = {"add", "discard", "get", "setdefault", "items", "keys", "values", "pop", "popitem", "clear", "move_to_end"}
_QUICK |= {"remove", "__contains__", "__getitem__"}
_QUICK_IN_ORDER = {"append", "appendleft", "popleft", "clear", "__reversed__"}
_ADDING = {"extend", "extendleft", "fromlist", "frombytes"}
_UPDATING = {"update", "difference_update", "symmetric_difference_update"}


def method_handler(function: Any) -> Handler | None:
    """Return the handler of a method written in C; None if its container does not make it slow."""
    owner, name = function.__self__, function.__name__
    if type(owner) is np.ndarray:  # the fast path
        return None
    if isinstance(owner, str | bytes) or (isinstance(owner, bytearray) and name not in _BYTEARRAY):
        return text_method
    if isinstance(owner, _SEQUENCES):
        return handlers.get_item if name == "__getitem__" else None if name in _QUICK_IN_ORDER else list_method
    if isinstance(owner, _WALKED):
        return None if name in _QUICK else walk_all
    if isinstance(owner, re.Pattern):
        return by_pattern
    if isinstance(owner, type) and name == "__new__" and issubclass(owner, (tuple, frozenset, *TEXTS)):
        return new
    return walk_all if isinstance(owner, type) and issubclass(owner, dict) and name == "fromkeys" else None


def special_method_handler(function: Any) -> Handler | None:
    """Return the handler of `x.__contains__` and similar; None for methods that are not of a container."""
    if not isinstance(function.__self__, (*CONTAINERS, range)):
        return handlers.get_item if function.__name__ == "__getitem__" else None
    return SPECIAL.get(function.__name__)


def walk_all(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Methods that go through their object and every argument: union, fromkeys, copy."""
    owner, name = getattr(function, "__self__", None), function.__name__
    if isinstance(owner, CONTAINERS) and name not in _UPDATING:
        meter.walked(at, length(owner))
    counted = meter.counted_keys if isinstance(owner, set | frozenset) or name == "fromkeys" else meter.counted
    args = tuple(counted(at, arg) if isinstance(arg, Iterable) else arg for arg in args)
    return function(*args, **kwargs)


def list_method(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Methods of lists, deques and arrays of numbers. A sort goes through its list once: logarithms count as 1."""
    owner, name = function.__self__, function.__name__
    if name in _ADDING and args:
        args = (meter.counted(at, args[0]), *args[1:])
    elif name in ("pop", "insert"):
        if args and isinstance(args[0], int | np.integer):
            meter.walked(at, moved_items(owner, args[0]))
    elif name == "rotate":
        meter.walked(at, min(abs(int(args[0])) if args else 1, length(owner)))
    elif name == "index" and len(args) > 1:
        found = function(*args)
        meter.walked(at, searched(owner, args[1:], found))
        return found
    elif name in ("index", "count", "remove") and args:
        meter.walked(at, looked_up(args[0], owner) or length(owner))
    else:
        meter.walked(at, length(owner))
    if kwargs.get("key") is not None:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    return function(*args, **kwargs)


def text_method(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Methods of texts and bytes: the longer one of text and result, but only what a search or a prefix looks at."""
    owner, name = function.__self__, function.__name__
    if name == "join" and args:
        args = (meter.counted(at, args[0]), *args[1:])
    result = function(*args, **kwargs)
    if name in ("find", "index", "count", "rfind", "rindex"):
        found = -1 if name == "count" else result
        size = searched(owner, args[1:], found, backwards=name.startswith("r"))
    elif name in ("startswith", "endswith"):
        size = weight(args[0])
    elif name in ("format", "format_map"):
        size = length(owner) + _written(result, (*args, *kwargs.values()))
    else:
        made = length(result) if isinstance(result, CONTAINERS) else 0
        size = made if name == "join" else max(length(owner), made)
    meter.walked(at, size)
    return result


def to_text(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """str, repr, ascii and format: a list costs what it holds, a number is one step."""
    result = function(*args, **kwargs)
    if args and isinstance(args[0], np.ndarray):
        meter.walked(at, int(np.size(args[0])))
    elif len(args) > 1 and function is format:
        meter.walked(at, _written(result, args))
    elif args:
        meter.walked(at, weight(args[0]))
    return result


def _written(result: Any, values: Iterable[Any]) -> int:
    """Return what a formatted text costs: the texts in it, and what is more than usual padding."""
    texts = [weight(one) for one in values]
    made = length(result) if isinstance(result, TEXTS) else 0
    return max(sum(texts), made - PADDING * len(texts))


def contains(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """operator.contains and `x.__contains__`: the same as `in`."""
    if kwargs or not args:
        return function(*args, **kwargs)  # which raises the right error
    owner, item = args if len(args) == 2 else (function.__self__, *args)
    return meter.compare(at, "in", item, owner)


def assign(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """`x.__setitem__` and `x.__delitem__`: the same as an assignment and `del`."""
    target = AssignmentTarget(meter, at, function.__self__)
    return getattr(target, function.__name__)(*args, **kwargs)


def fill(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """`super().__init__(items)` of a container: it goes through the items."""
    return function(*(meter.counted(at, arg) if isinstance(arg, Iterable) else arg for arg in args), **kwargs)


def new(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """`tuple.__new__(kind, items)`: it goes through the items."""
    return fill(meter, at, function, args, kwargs) if len(args) > 1 else function(*args, **kwargs)


def search_walk(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """operator.countOf and operator.indexOf: they go through their first argument."""
    return function(*(meter.counted(at, arg) for arg in args[:1]), *args[1:], **kwargs)


def counter_method(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Methods of a Counter that are written in Python."""
    if function.__name__ not in ("update", "subtract", "elements"):
        meter.walked(at, length(function.__self__))
    return fill(meter, at, function, args, kwargs)


def skip(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Iterators that leave out elements, or take many at once: each is a step, when it is taken."""
    if args and (function is not itertools.islice or len(args) > 2):
        args = (meter.ticking(at, args[0]), *args[1:])
    return function(*args, **kwargs)


def pool(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Iterators that copy what they are given before they begin: product, permutations, chain.from_iterable."""
    return fill(meter, at, function, args, kwargs)


def heap(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """nlargest and nsmallest: they go through their second argument."""
    if kwargs.get("key") is not None:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    return function(*args[:1], *(meter.counted(at, arg) for arg in args[1:2]), *args[2:], **kwargs)


def bisection(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Bisection: a logarithm counts as 1. `insort` also moves what is behind the new item."""
    if kwargs.get("key") is not None:
        kwargs = kwargs | {"key": meter.watched(at, kwargs["key"])}
    if function in (bisect.insort_left, bisect.insort_right) and args and isinstance(args[0], MOVING):
        meter.walked(at, length(args[0]))
    return function(*args, **kwargs)


def by_pattern(meter: Meter, at: int, function: Any, args: Args, kwargs: Kwargs) -> Any:
    """Regular expressions go through their text once. What a pattern tries again and again is not seen.

    A match at a given place costs what it matched.
    """
    name, place = function.__name__, int(function.__name__ in ("sub", "subn"))  # these get a replacement first
    owner = getattr(function, "__self__", None)
    given = list(args) if isinstance(owner, re.Pattern) else list(args[1:])
    if place and given and callable(given[0]):
        args = tuple(meter.watched(at, arg) if arg is given[0] else arg for arg in args)
    text = kwargs.get("string", given[place] if len(given) > place else "")
    bounds = given[1:] if isinstance(owner, re.Pattern) and not place else []
    result = function(*args, **kwargs)
    if not isinstance(text, TEXTS):
        return result
    found = result.end() if isinstance(result, re.Match) else -1
    if name in ("match", "fullmatch") and bounds and found < 0:
        meter.walked(at, 1)
    else:
        made = length(result) if isinstance(result, (list, *TEXTS)) else 0
        meter.walked(at, max(made, searched(text, bounds, found)))
    return result


SPECIAL: dict[str, Handler] = {
    "__getitem__": handlers.get_item,
    "__contains__": contains,
    "__setitem__": assign,
    "__delitem__": assign,
    "__init__": fill,
}
_COUNTER = {
    getattr(collections.Counter, name) for name in ("update", "subtract", "elements", "most_common", "total", "copy")
}


def handler_table() -> Iterator[tuple[Any, Handler]]:
    """Yield the functions of Python and its standard library that have a handler here."""
    yield from ((one, to_text) for one in (str, repr, ascii, format))
    yield operator.contains, contains
    yield from ((one, search_walk) for one in (operator.countOf, operator.indexOf))
    for name in ("islice", "compress", "batched"):
        if hasattr(itertools, name):
            yield getattr(itertools, name), skip
    pools = (itertools.product, itertools.permutations, itertools.combinations, itertools.cycle, itertools.tee)
    yield from ((one, pool) for one in (*pools, itertools.combinations_with_replacement))
    yield from ((one, heap) for one in (heapq.nlargest, heapq.nsmallest))
    yield from ((one, handlers.walk) for one in (heapq.heapify, string.capwords))
    yield from ((getattr(textwrap, name), handlers.walk) for name in ("wrap", "fill", "shorten", "dedent", "indent"))
    sides = (bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right)
    yield from ((one, bisection) for one in sides)
    for name in ("search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"):
        yield getattr(re, name), by_pattern


def bound_handler(function: types.MethodType) -> Handler | None:
    """Return the handler of a method that the library has written in Python."""
    return counter_method if function.__func__ in _COUNTER else None
