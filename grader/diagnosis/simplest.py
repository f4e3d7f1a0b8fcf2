"""The simplest call that shows a mistake: plain before unusual, small before large, usual numbers before odd types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from grader.core.compare import as_float64, shape_of
from grader.diagnosis.fingerprints import Fingerprints
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Likeness, likeness
from grader.diagnosis.probe import Probe, axes_of
from grader.diagnosis.reproducer import expression

PLAIN_AXES = 2
SMALL = 16  # entries of all arguments: easy to follow by hand
STEEP = 50  # numbers of which not all exponentials are easy to see


def simplest(numbers: Iterable[int], prints: Fingerprints, observed: Observed) -> int:
    """Return the probe to show: of the usual dtype, then a plain call, with few axes, and a gap that is easy to see."""

    def order(number: int) -> tuple[bool, bool, int, bool, bool, bool, bool, int, int, int]:
        probe, found, expected = prints.probes[number], observed[number], prints.outcome(None, number)
        near = found.ended == "returned" and likeness(found.value, expected.value) == Likeness.NEAR
        axes = max([len(axes_of(arg)) for arg in probe.given if shape_of(arg) is not None], default=0)
        long = expression(probe) is None
        given = sum(arg is not None for arg in (*probe.args, *probe.kwargs.values()))  # without a mask before with one
        unusual = is_odd(number, prints), _is_special(probe), max(axes, PLAIN_AXES)
        return *unusual, near, long, _is_steep(probe), probe.size > SMALL, given, probe.size, number

    return min(numbers, key=order)


def is_odd(number: int, prints: Fingerprints) -> bool:
    """Whether a call is about dtypes: its numbers are of another type than in most calls of the function."""
    usual = _usual(prints.probes, prints.probes[number].path)
    own = _dtype(prints.probes[number])
    return usual != "" and own not in ("", usual)


@lru_cache(maxsize=64)
def _usual(probes: tuple[Probe, ...], path: str) -> str:
    """Return the type of floats that most calls of a function have; empty if it takes none."""
    kinds = Counter(kind for probe in probes if probe.path == path and "float" in (kind := _dtype(probe)))
    return kinds.most_common(1)[0][0] if kinds else ""


def _dtype(probe: Probe) -> str:
    """Return the dtype of the first array of a call; empty if there is none. A mask comes later, and may have any."""
    arrays = (arg for arg in probe.given if shape_of(arg) is not None)
    return next((str(getattr(arg, "dtype", "")) for arg in arrays), "")


def _is_steep(probe: Probe) -> bool:
    """Whether a call has numbers that are large for a score, such as 1000."""
    arrays = (as_float64(arg) for arg in probe.given if shape_of(arg) is not None)
    return any(one is not None and one.size and np.abs(one).max() >= STEEP for one in arrays)


def _is_special(probe: Probe) -> bool:
    """Whether more than one call is needed: for gradients, in train mode, after other steps, or on a device."""
    more = (probe.cotangent is not None, probe.made.training, probe.before, probe.place, probe.attribute)
    return any(map(bool, more))
