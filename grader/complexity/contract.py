"""The contract: the limits on what a function may cost. `contract_reader` reads it from `module.toml`.

```toml
[complexity.sort]
args = ["array m n"]
sizes = {m = [2, 1], n = [2, 1]}
large = [{m = 3, n = 300}]
points = 1
steps = "1"
work = "m*n"
```
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from grader.complexity.cost import path_of
from grader.complexity.polynomial import NO_CONSTANTS, Lattice, Polynomial, Sizes, from_tiles, in_tiles
from grader.core.compare import Tolerance
from grader.sandbox.protocol.script import NOTHING

# The meters, and what each counts. Limits are shown and share points in this order.
METERS: dict[str, str] = {
    "steps": "steps of Python: bodies of loops, calls of own functions, and the entries of lists, dicts, sets and texts"
    " that an operation goes through",
    "smul": "multiplications that Python makes one by one, with at least one float",
    "mul": "all multiplications: those of `smul`, and those inside array operations and products",
    "flops": "arithmetic operations; a multiplication that is added to a sum is two",
    "work": "array entries that are computed, copied or summed",
    "mem": "most bytes of new arrays at one time; a limit is in entries, so it allows any factor",
    "sums": "products that are added up in array operations",
}


EACH_STEP = 40  # steps that are measured one by one


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
class ObjectSpec:
    """An object of a student's class that the measured calls need."""

    kind: str
    init: tuple[str, ...]


@dataclass(frozen=True)
class CallSpec:
    """A call that comes before the measured one: of a function, a method of the measured object or one of `objects`."""

    name: str
    args: tuple[str, ...]
    times: str | None  # a size: how often it is made


@dataclass(frozen=True)
class Contract:
    """The limits on the cost of one function or method, and the sizes at which it is measured."""

    function: str  # `sort`, `Sorter.forward`, or `sort (reversed)` for a second contract
    init: tuple[str, ...]
    args: tuple[str, ...]
    also: tuple[tuple[str, ...], ...]  # further calls: what they call matters, not their cost
    lattice: Lattice
    large: tuple[Sizes, ...]
    limits: tuple[CostLimit, ...]
    needs: str | None = None  # what each of these calls must call; the points of the last limit depend on it
    far: tuple[Sizes, ...] = ()  # secret sizes: each much larger in one variable than all others, and all together
    farthest: tuple[Sizes, ...] = ()  # the same where loops are allowed, for functions that do not loop
    huge: Sizes | None = None  # a size at which the kernel watches one call that is not counted
    ragged: tuple[Sizes, ...] = ()  # secret sizes that their tiles do not divide
    tolerance: Tolerance | None = None  # of results, where right ones differ by more than the rounding of their dtype
    objects: Mapping[str, ObjectSpec] = field(default_factory=lambda: NOTHING)  # by name
    before: tuple[CallSpec, ...] = ()
    times: str | None = None  # a size: how often the measured call is made; its cost is that of all calls together
    where: tuple[tuple[int, int], ...] = ()  # pairs of sizes, the first never larger than the second
    constants: Mapping[str, int] = field(default_factory=lambda: NO_CONSTANTS)
    compare: int | None = None  # the only part of a result that is compared with the reference's
    unguarded: Mapping[str, str] = field(default_factory=lambda: NOTHING)  # limits that no wrong way breaks, and why

    @property
    def path(self) -> str:
        """The function or method that is measured."""
        return path_of(self.function)

    @property
    def target(self) -> str:
        """The function or class that gets the points."""
        return self.path.partition(".")[0]

    @property
    def quick(self) -> Lattice:
        """The sizes that are enough for code whose powers are not higher than those of the limits."""
        powers = [powers for limit in self.limits for powers in limit.bound.terms]
        highest = tuple(max(1, *of_one) for of_one in zip(*powers, strict=True))
        return replace(self.lattice, highest=highest)

    def lattice_beyond(self, meters: Collection[str]) -> Lattice:
        """Return the sizes that also show powers one higher than those of the limits of these meters."""
        degree = 1 + max(limit.bound.degree for limit in self.limits if limit.meter in meters)
        return replace(self.lattice, degree=degree)

    @property
    def each_step(self) -> tuple[Sizes, ...]:
        """Sizes at which one step of a sequence after another is measured: only some may be expensive."""
        base, step, names = self.lattice.base, self.lattice.step, self.lattice.names
        repeated = [at for at, name in enumerate(names) if any(call.times == name for call in self.before)]
        return tuple(
            self.fitted([size + k * step[at] if at == chosen else size for at, size in enumerate(base)])
            for chosen in repeated
            for k in range(EACH_STEP)
        )

    @property
    def reaches(self) -> list[str]:
        """The names in the student's module that a measurement calls."""
        before = [part for call in self.before for part in call.name.split(".")]
        return [*self.path.split("."), *(one.kind for one in self.objects.values()), *before]

    def named(self, sizes: Sizes) -> dict[str, int]:
        """Return sizes and constants by name."""
        return {**self.constants, **dict(zip(self.lattice.names, sizes, strict=True))}

    def counted(self, sizes: Sizes) -> Sizes:
        """Return sizes, with numbers of tiles in place of those that have tiles."""
        return in_tiles(sizes, self.lattice.tiles)

    def fitted(self, counted: Sequence[int]) -> Sizes:
        """Return the sizes for numbers of tiles. Sizes that `where` says are too small grow by complete steps."""
        tiles, now = self.lattice.tiles, list(counted)
        for _ in self.where:  # one round for each rule: a size may be the larger one of one and the smaller of the next
            for smaller, larger in self.where:
                while (sizes := from_tiles(now, tiles))[smaller] > sizes[larger]:
                    now[larger] += self.lattice.step[larger]
        return from_tiles(now, tiles)

    def broken_rules(self, sizes: Sizes) -> Iterator[str]:
        """Yield the rules of `where` that these sizes break."""
        names = self.lattice.names
        for smaller, larger in self.where:
            if sizes[smaller] > sizes[larger]:
                yield f"{names[smaller]} <= {names[larger]}"

    @property
    def is_method(self) -> bool:
        return "." in self.path

    @property
    def points(self) -> float:
        return sum(limit.points for limit in self.limits)
