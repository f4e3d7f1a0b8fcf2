"""How many entries an operation on Python's own containers goes through: characters of text, items of lists and dicts.

Sizes come from the built-in types, never from a method that a student's class may redefine. A logarithm counts as 1.
"""

from __future__ import annotations

import array
import collections
from collections.abc import Sequence
from typing import Any

from grader.sandbox.worker.meters.values import NUMBERS

TEXTS = (str, bytes, bytearray)
MOVING = (list, bytearray, array.array)  # an item that is added or removed inside moves all behind it
IN_ORDER = (list, tuple, collections.deque)  # their items may be containers
VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.items()))  # which are compared and combined as sets are
SETS = (set, frozenset, dict, *VIEWS)
VALUES: Any = type({}.values())
ONE_BY_ONE = (*IN_ORDER, VALUES)  # what a look-up goes through
CONTAINERS = (list, tuple, *TEXTS, array.array, *SETS, collections.deque)
QUICK_KINDS = frozenset({*NUMBERS, type(None)})  # comparing or hashing these is one step
# What makes a container longer or shorter in place, without going through all that it held before.
_ADDING = {"+": (list, collections.deque, bytearray, array.array), "|": (dict, set), "-": (set,), "^": (set,)}


def length(value: Any) -> int:
    """Return the length of a container, as its built-in type knows it."""
    kind = type(value)
    for base in CONTAINERS:
        if kind is base or isinstance(value, base):
            return int(base.__len__(value))
    return len(value)


def weight(value: Any) -> int:
    """Return the entries of a container and of all containers inside it; 1 for anything else."""
    total, waiting, seen = 0, [value], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, TEXTS):
            total += length(one)
        elif isinstance(one, CONTAINERS) and id(one) not in seen:
            seen.add(id(one))  # a list may hold itself
            total += length(one)
            items = dict.items(one) if isinstance(one, dict) else () if isinstance(one, array.array) else one
            waiting += [item for item in items if isinstance(item, CONTAINERS)]
    return total


def hashed(key: Any) -> int:
    """Return what a look-up of this key costs beyond one step: a tuple is hashed item by item.

    A text or frozenset keeps its hash, and its entries were counted when it was made.
    """
    return sum(1 + hashed(item) for item in tuple.__iter__(key)) if isinstance(key, tuple) else 0


def compared(a: Any, b: Any) -> int:
    """Return the entries that a comparison of two values goes through at most."""
    total, waiting = 0, [(a, b)]
    while waiting:
        a, b = waiting.pop()
        if not (isinstance(a, CONTAINERS) and isinstance(b, CONTAINERS)):
            continue
        total += min(length(a), length(b))
        if isinstance(a, IN_ORDER) and isinstance(b, IN_ORDER):
            waiting += [(x, y) for x, y in zip(a, b, strict=False) if type(x) not in QUICK_KINDS and x is not y]
        elif isinstance(a, dict) and isinstance(b, dict):
            waiting += [(x, b[key]) for key, x in a.items() if type(x) not in QUICK_KINDS and key in b]
    return total


def looked_up(item: Any, container: Any) -> int | None:
    """Return what `item in container` goes through beyond one step; None if the container is not a built-in one."""
    if isinstance(container, SETS):
        return hashed(item)
    if isinstance(container, range):  # only an integer is found by arithmetic
        return 0 if type(item) in (int, bool) else len(container)
    if isinstance(container, ONE_BY_ONE):
        size = len(container) if type(container) is VALUES else length(container)
        if type(item) in QUICK_KINDS:
            return size
        if type(item) is str:  # the fast path: a list of words
            letters = len(item)
            return size + sum(min(letters, len(one)) for one in container if type(one) is str)
        return size + sum(compared(item, one) for one in container)
    return length(container) if isinstance(container, CONTAINERS) else None


def combined(operator: str, a: Any, b: Any, result: Any) -> int:
    """Return the entries that an operator between containers goes through."""
    if isinstance(a, SETS) and isinstance(b, SETS):
        if operator == "&":
            return min(length(a), length(b))
        return length(a) if operator == "-" else length(a) + length(b)
    return length(result)


def changed_in_place(operator: str, owner: Any, other: Any) -> int | None:
    """Return what an operator in place costs, if that is not the size of its result.

    `row += [x]` goes through what it adds. A text is made again, by `text += "x"`, although CPython may avoid that.
    """
    kind = type(owner)
    if kind is set and operator == "&" and isinstance(other, SETS):
        return min(length(owner), length(other))
    return length(other) if kind in _ADDING.get(operator, ()) and isinstance(other, CONTAINERS) else None


def adds_in_place(operator: str, owner: Any) -> bool:
    """Whether an operator in place only goes through what it adds."""
    return type(owner) in _ADDING.get(operator, ())


def moved_items(owner: Any, index: Any) -> int:
    """Return how many items move if one is added or removed at an index, or are near it in a deque."""
    size = length(owner)
    at = index if type(index) is int else int(index)
    at = max(0, size + at) if at < 0 else min(at, size)
    return min(at, size - at) if isinstance(owner, collections.deque) else size - at


def stored(owner: Any, index: Any, before: int, after: int) -> int:
    """Return what `owner[index] = …` or `del owner[index]` went through, given the length before and after."""
    if isinstance(owner, dict):
        return hashed(index)
    if type(index) is not slice:
        is_deque = isinstance(owner, collections.deque)
        return moved_items(owner, index) if is_deque or before != after else 0
    start, stop, step = index.indices(before)
    removed = len(range(start, stop, step))
    added = after - before + removed
    moved = before - max(start, stop) if before != after else 0
    return max(removed, added) + moved


def searched(owner: Any, bounds: Sequence[Any], found: int, *, backwards: bool = False) -> int:
    """Return what a search between two places went through; `found` is negative if it found nothing.

    A search of the complete container counts all of it: where it ends depends on the data.
    """
    if not bounds:
        return length(owner)
    start, stop, _ = slice(bounds[0], bounds[1] if len(bounds) > 1 else None).indices(length(owner))
    if found >= 0:
        return max(1, stop - found) if backwards else found - start + 1
    return max(0, stop - start)
