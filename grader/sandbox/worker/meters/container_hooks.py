"""Hooks for what goes through a container: keys, stars, f-strings, and C code that takes one element after another."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.sandbox.worker.meters import containers
from grader.sandbox.worker.meters.containers import CONTAINERS, length
from grader.sandbox.worker.meters.counts import Counts
from grader.sandbox.worker.meters.values import NUMBERS

STUDENT = "mylab"  # the package of a student's modules; a notebook is __main__
STUDENT_MODULES = ("__main__", STUDENT)
_IN_STUDENT_MODULES = tuple(f"{name}." for name in STUDENT_MODULES)


class ContainerHooks(Counts):
    """The hooks of rewritten code that get a container or an iterator, and what handlers use of them."""

    def key(self, at: int, key: Any) -> Any:
        """Return a key of a set or dict that is being written down."""
        if type(key) is tuple:
            self.walked(at, containers.hashed(key))
        return key

    def formatted(self, at: int, value: Any) -> Any:
        """Return a value inside an f-string. A number is written in one step."""
        if isinstance(value, CONTAINERS):
            self.walked(at, containers.weight(value))
        return value

    def width(self, at: int, value: Any) -> Any:
        """Return a value in the format of an f-string: it may be a width, which is filled with spaces."""
        if type(value) in NUMBERS:
            self.walked(at, abs(int(value)))
        return value

    def spread(self, at: int, iterable: Any) -> Any:
        """Count what a star unpacks."""
        return self.counted(at, iterable)

    def unpacked(self, at: int, value: Any) -> Any:
        """Count what `**` or a star in a pattern copies. The value may be anything, and stays what it is."""
        if hasattr(type(value), "__len__") and not (isinstance(value, np.ndarray) and value.ndim == 0):
            self.walked(at, length(value))
        return value

    def counted(self, at: int, iterable: Any) -> Any:
        """Return an iterable for C code to go through. Count it now if it has a length, else as it is used."""
        if isinstance(iterable, np.ndarray):
            self.walked(at, len(iterable) if iterable.ndim else 1)
            return iterable
        if isinstance(iterable, CONTAINERS):
            self.walked(at, length(iterable))
            return iterable
        kind = type(iterable)
        if hasattr(kind, "__len__") and (not is_students(kind) or hasattr(kind, "keys")):
            self.walked(at, len(iterable))
            return iterable
        return self.ticking(at, iterable)

    def counted_keys(self, at: int, iterable: Any) -> Any:
        """Return an iterable of keys for C code to go through, as `counted` does. Each key is hashed, too."""
        if isinstance(iterable, (list, tuple)):
            self.walked(at, sum(map(containers.hashed, iterable)))
        elif not hasattr(type(iterable), "__len__"):
            return map(functools.partial(self.key, at), self.ticking(at, iterable))
        return self.counted(at, iterable)

    def ticking(self, at: int, iterable: Any) -> Iterator[Any]:
        """Count each element when C code takes it."""
        for element in iterable:
            self.walked(at, 1)
            yield element


def is_students(kind: type) -> bool:
    """Whether a class is one of the student's."""
    module = kind.__module__
    return module in STUDENT_MODULES or module.startswith(_IN_STUDENT_MODULES)
