"""The contract: the limits on what a function may cost, read from `module.toml`.

```toml
[complexity.softmax]
args = ["array m n"]
sizes = {m = [2, 1], n = [2, 1]}
large = [{m = 3, n = 300}]
points = 1
steps = "1"
work = "m*n"
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.complexity.polynomial import Lattice, Polynomial, Sizes, parse
from grader.core.compare import Tolerance
from grader.course.module import CourseError, module_error

METERS = ("steps", "smul", "mul", "flops", "work", "mem", "sums")
# The kinds of arguments, and how many sizes follow each. None means one or more.
PARTS: dict[str, int | None] = {"array": None, "mask": None, "tensor": None, "tensormask": None}
PARTS |= {"none": 0, "true": 0, "size": 1, "lengths": 2, "value": 1}
_KEYS = {"args", "init", "also", "needs", "sizes", "large", "points", "tolerance", *METERS}
# Of tensors in single precision: rounding errors grow with the sizes, and large ones must not fail a right result.
SINGLE = Tolerance(1e-3, 3e-5)
_KEYS_NEEDED = "A contract needs args, sizes = {n = [first, step]}, large, points and a limit for at least one meter"


@dataclass(frozen=True)
class CostLimit:
    """What one meter may count: an upper bound, and with `exact` also a range for its coefficients."""

    meter: str
    bound: Polynomial
    exact: int | None
    points: float

    @property
    def text(self) -> str:
        """The limit as a student reads it."""
        return str(self.bound)

    def smallest_term(self, sizes: Sizes) -> Fraction:
        """Return the value of the smallest term of the bound at these sizes."""
        return min(self.bound.term(powers, sizes) for powers in self.bound.terms)


@dataclass(frozen=True)
class Contract:
    """The limits on the cost of one function or method, and the sizes at which it is measured."""

    function: str  # `softmax`, or `ScaledDotProductAttention.forward`
    init: tuple[str, ...]
    args: tuple[str, ...]
    also: tuple[tuple[str, ...], ...]  # further calls: what they call matters, not their cost
    lattice: Lattice
    large: tuple[Sizes, ...]
    limits: tuple[CostLimit, ...]
    needs: str | None = None  # what each of these calls must call; the points of the last limit depend on it
    far: tuple[Sizes, ...] = ()  # secret sizes, each much larger in one variable than all others
    farthest: tuple[Sizes, ...] = ()  # the same where loops are allowed, for functions that do not loop
    tolerance: Tolerance | None = None  # of results, where right ones differ by more than the rounding of their dtype

    @property
    def target(self) -> str:
        """The function or class that gets the points."""
        return self.function.partition(".")[0]

    @property
    def quick(self) -> Lattice:
        """The sizes that are enough for code whose powers are not higher than those of the limits."""
        powers = [powers for limit in self.limits for powers in limit.bound.terms]
        highest = tuple(max(1, *of_one) for of_one in zip(*powers, strict=True))
        return replace(self.lattice, highest=highest)

    @property
    def is_method(self) -> bool:
        return "." in self.function

    @property
    def points(self) -> float:
        return sum(limit.points for limit in self.limits)


def read_contracts(folder: Path, table: Mapping[str, Any]) -> tuple[Contract, ...]:
    """Read the `complexity` tables of a module. A mistake raises an error that says how to fix it."""
    return tuple(_read(folder, name, entry) for name, entry in table.items())


def _read(folder: Path, name: str, table: Any) -> Contract:
    where = f"complexity.{name}"
    if type(table) is not dict:
        raise module_error(folder, where, "must be a table", "Write it as docs/authoring.md shows")
    for key in table:
        if key not in _KEYS:
            raise module_error(
                folder, f"{where}.{key}", "is not a key of a contract", f"The keys are {', '.join(sorted(_KEYS))}"
            )
    try:
        names = tuple(table["sizes"])
        base, step = zip(*table["sizes"].values(), strict=True)
        _require_counts("sizes", (*base, *step))
        meters = [meter for meter in METERS if meter in table]
        if not meters or not table["points"] > 0:
            raise ValueError("it needs at least one limit, and points above 0")
        share = table["points"] / len(meters)
        if abs(100 * share - round(100 * share)) > 1e-9:
            raise ValueError(f"{table['points']} points cannot be divided evenly among {', '.join(meters)}")
        limits = tuple(_limit(meter, table[meter], names, share) for meter in meters)
        degree = 1 + max(limit.bound.degree for limit in limits)
        return Contract(
            function=name,
            init=_specs(table.get("init", []), names),
            args=_specs(table["args"], names),
            also=tuple(_specs(call, names) for call in table.get("also", [])),
            lattice=Lattice(names, base, step, degree),
            large=_large(table["large"], names),
            limits=limits,
            needs=_needs(table["needs"]) if "needs" in table else None,
            tolerance=_tolerance(table),
        )
    except CourseError:
        raise
    except KeyError as error:
        raise module_error(folder, where, f"has no {error.args[0]}", _KEYS_NEEDED) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise module_error(folder, where, f"cannot be read: {error}", _KEYS_NEEDED) from None


def _limit(meter: str, entry: Any, names: tuple[str, ...], points: float) -> CostLimit:
    if type(entry) is str:
        return CostLimit(meter, parse(entry, names), None, points)
    if type(entry) is not dict or entry.keys() != {"law", "exact"}:
        raise ValueError(f'{meter} must be a limit such as "n^2", or {{law = "n^2", exact = 1}}')
    _require_counts("exact", [entry["exact"]])
    return CostLimit(meter, parse(entry["law"], names), entry["exact"], points)


def _needs(kind: Any) -> str:
    if kind != "attention":
        raise ValueError('needs must be "attention"')
    return str(kind)


def _tolerance(table: Mapping[str, Any]) -> Tolerance | None:
    if "tolerance" not in table:
        return SINGLE if any(spec.startswith("tensor ") for spec in table["args"]) else None
    size = table["tolerance"]
    if type(size) is not float or not 0 < size < 1:
        raise ValueError("tolerance must be a number between 0 and 1, such as 0.001")
    return Tolerance(size, size)


def _large(points: Any, names: tuple[str, ...]) -> tuple[Sizes, ...]:
    if type(points) is not list or not points or not all(point.keys() == set(names) for point in points):
        raise ValueError(f"large must be a list of tables, each with {', '.join(names)}")
    large = tuple(tuple(point[size] for size in names) for point in points)
    _require_counts("large", [size for sizes in large for size in sizes])
    return large


def _require_counts(key: str, values: Any) -> None:
    if not all(type(value) is int and value > 0 for value in values):
        raise ValueError(f"{key} must hold only integers above 0")


def _specs(specs: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    for spec in specs:
        kind, *parts = str(spec).split() or [""]
        if kind == "value":
            known = len(parts) == 1 and parts[0].replace(".", "", 1).isdigit()
        else:
            known = all(part in names or (part.isdigit() and int(part) > 0) for part in parts)
        count = PARTS.get(kind, -1)
        if not known or (not parts if count is None else count != len(parts)):
            raise ValueError(f"{spec!r} is not an argument: write one of {', '.join(PARTS)}, then sizes or numbers")
    return tuple(specs)
