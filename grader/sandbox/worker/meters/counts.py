"""Counts of one metered call: steps, products, work and memory, by line of the student's code.

Nothing here is trusted: it runs in the worker, and the student's code can change it.
"""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from typing import Any

import numpy as np

from grader.sandbox.protocol.call_names import UNKNOWN
from grader.sandbox.worker.meters.containers import length, stored, weight
from grader.sandbox.worker.meters.rewrite import file_of
from grader.sandbox.worker.meters.values import NUMBERS, arrays_in, owner_of


class Counts:
    """Keep and add up what one call costs.

    `at` is the line that a count belongs to, as the number that `rewrite.place` gives it.
    """

    def __init__(self) -> None:
        self.given: set[int] = set()  # the course's own files, by the index that a place begins with
        self.reset()

    def reset(self, inputs: tuple[Any, ...] = (), *, keep: bool = False) -> None:
        """Start again from zero. The arrays of the input do not count as the student's memory.

        With `keep`, neither do arrays that exist already: an object may hold what earlier calls have made.
        """
        kept = self.known if keep else {}
        self.live = self.peak = 0
        self.at = 0  # the line of the last hook: torch reports its operations later, and they belong to this line
        self.step_lines: defaultdict[int, int] = defaultdict(int)
        self.scalar_lines: defaultdict[int, int] = defaultdict(int)
        self.product_lines: defaultdict[int, int] = defaultdict(int)
        self.flop_lines: defaultdict[int, int] = defaultdict(int)
        self.work_lines: defaultdict[int, int] = defaultdict(int)
        self.memory_lines: defaultdict[int, int] = defaultdict(int)
        self.sum_lines: defaultdict[int, int] = defaultdict(int)
        self.unknown: dict[str, int] = {}  # calls without a price, with the first line of each
        self.events: dict[str, int] = {}  # calls that a module may forbid, with the first line of each
        self.known: dict[int, Any] = {}  # memory that was counted already, or is the input's
        if not keep:
            self.products: dict[int, Any] = {}  # arrays that are products of two arrays
            self.added: dict[int, Any] = {}  # arrays that are sums of two arrays: of logarithms, they are products
        for key, one in kept.items():
            if (owner := one() if isinstance(one, weakref.ref) else one) is not None:
                self.known[key] = weakref.ref(owner, functools.partial(_forget, self.known, key))
        self.given_entries = sum(weight(one) for one in inputs if type(one) in (str, list, tuple, dict))
        for array in arrays_in(inputs):
            owner = owner_of(array)
            self.known[id(owner)] = owner

    def counts(self) -> dict[str, int]:
        """Return the total of each meter."""
        sums = {name: sum(lines.values()) for name, lines in self.lines().items()}
        return sums | {"mem": self.peak}

    def lines(self) -> dict[str, dict[int, int]]:
        """Return each meter's counts by line; for memory, the largest array made in that line."""
        return {
            "steps": self.step_lines,
            "smul": self.scalar_lines,
            "mul": self.product_lines,
            "flops": self.flop_lines,
            "work": self.work_lines,
            "mem": self.memory_lines,
            "sums": self.sum_lines,
        }

    # names ------------------------------------------------------------------------------------------------

    def event(self, at: int, name: str) -> None:
        """Note a call by name, for the rules of what a module allows. What a fallback calls is always allowed."""
        if file_of(at) not in self.given:
            self.events.setdefault(name, at)

    def unpriced(self, at: int, name: str) -> None:
        """Note a call whose cost is unknown. The counts are then incomplete."""
        self.unknown.setdefault(name, at)

    # operations -------------------------------------------------------------------------------------------

    def walked(self, at: int, length: int) -> None:
        """Count the elements that code written in C went through: each is a step."""
        self.step_lines[at] += length

    def worked(self, at: int, size: int) -> None:
        """Count the array entries that one operation read or wrote."""
        self.work_lines[at] += size

    def computed(self, at: int, size: int) -> None:
        """Count the array entries that were computed, each by one arithmetic operation."""
        self.work_lines[at] += size
        self.flop_lines[at] += size

    def multiplied(self, at: int, size: int, *, scalar: bool) -> None:
        """Count multiplications; `scalar` if they were made one by one in Python."""
        self.product_lines[at] += size
        if scalar:
            self.scalar_lines[at] += size

    def multiplied_and_added(self, at: int, size: int) -> None:
        """Count products that were each added to a sum."""
        self.multiplied(at, size, scalar=False)
        self.worked(at, size)
        self.flop_lines[at] += 2 * size

    def contracted(self, at: int, name: str, size: int) -> None:
        """Count a named product of `size` multiplications, made outside Python."""
        self.event(at, name)
        self.multiplied_and_added(at, size)

    def summed(self, at: int, name: str, array: Any, *, always: bool = False) -> None:
        """Note that the entries of a product of two arrays are added up: this may be a hidden dot product.

        It is noted `always` where a sum is one of squares or of exponentials.
        """
        if not always and not self.products:
            return
        size = int(np.size(array))
        while isinstance(array, np.ndarray):
            if always or id(array) in self.products:
                self.event(at, name)
                self.sum_lines[at] += size
                return
            array = array.base

    def remember_product(self, array: np.ndarray) -> None:
        """Remember that an array is the product of two arrays, until it is freed."""
        _remember(self.products, array)

    def remember_sum(self, array: np.ndarray) -> None:
        """Remember that an array is the sum of two arrays, until it is freed."""
        _remember(self.added, array)

    # memory -----------------------------------------------------------------------------------------------

    def made(self, at: int, result: Any) -> None:
        """Count the memory of the new arrays in a result, until they are freed."""
        if type(result) is np.ndarray:  # the fast path
            self._made_array(at, result)
        elif type(result) not in NUMBERS:
            for array in arrays_in(result):
                self._made_array(at, array)

    def _made_array(self, at: int, array: np.ndarray) -> None:
        owner = array if array.base is None else owner_of(array)
        if (key := id(owner)) not in self.known:
            self.allocated(at, key, owner, owner.nbytes)
            if array.dtype.kind in "OV":  # an entry can be a whole matrix, or a row
                self.unpriced(at, UNKNOWN)

    def allocated(self, at: int, key: int, owner: Any, size: int) -> None:
        """Count new memory until its owner is freed; `key` identifies it."""
        self.known[key] = weakref.ref(owner, functools.partial(self._freed, key, size))
        self.live += size
        if self.live > self.peak:
            self.peak = self.live
        if size > self.memory_lines[at]:
            self.memory_lines[at] = size

    def _freed(self, key: int, size: int, reference: Any) -> None:
        if self.known.get(key) is reference:
            del self.known[key]
            self.live -= size

    def copied(self, at: int, array: np.ndarray) -> None:
        """Count the entries of an array that is new. A view is free."""
        owner = owner_of(array)
        if id(owner) not in self.known:
            self.worked(at, min(array.size, owner.size))


def _remember(table: dict[int, Any], array: np.ndarray) -> None:
    table[id(array)] = weakref.ref(array, functools.partial(_forget, table, id(array)))


def _forget(table: dict[int, Any], key: int, reference: Any) -> None:
    if table.get(key) is reference:
        del table[key]


class AssignmentTarget:
    """Replaces an array or container on the left of `=`, to count the assignment."""

    __slots__ = ("at", "meter", "owner")

    def __init__(self, meter: Counts, at: int, owner: Any) -> None:
        self.meter = meter
        self.at = at
        self.owner = owner

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(self.owner, np.ndarray):
            self.owner[index] = value
            if not _is_single(index, self.owner.ndim):
                self.meter.worked(self.at, int(np.size(self.owner[index])))
            return
        before = length(self.owner)
        self.owner[index] = value
        self.meter.walked(self.at, stored(self.owner, index, before, length(self.owner)))

    def __delitem__(self, index: Any) -> None:
        before = length(self.owner)
        del self.owner[index]
        self.meter.walked(self.at, stored(self.owner, index, before, length(self.owner)))


def _is_single(index: Any, ndim: int) -> bool:
    parts = index if type(index) is tuple else (index,)
    return len(parts) == ndim and all(isinstance(part, int | np.integer) for part in parts)
