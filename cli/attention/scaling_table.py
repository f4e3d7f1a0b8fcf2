"""The table of sizes: what attention over n tokens costs, from 4 to 8192 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from grader.complexity.curves import FLOAT32, fixed_sizes, growing, sizes_at
from grader.core.errors import StudentError
from grader.course.course import Course
from grader.pages.cost_plot import read_polynomial
from grader.submission.own_file import is_untouched
from grader.workspace.own_costs import OwnCost, own_costs

SIZES = tuple(2**power for power in range(2, 14))
METERS = {"mul": "multiplications", "smul": "multiplications", "flops": "flops", "mem": "bytes"}

# The functions that make a complete attention, by module. Of 02 and 03 only the one that is explored.
_SHOWN = ("02_loop_attention", "03_attention")
_FUNCTIONS = {
    "02_loop_attention": ("scaled_dot_product_attention",),
    "03_attention": ("scaled_dot_product_attention",),
    "11_efficient_attention": ("sliding_window_attention", "linear_attention"),
}


@dataclass(frozen=True)
class Counted:
    """The counts of one meter of one function at every size."""

    title: str
    polynomial: str
    note: str
    counts: tuple[str, ...]


@dataclass(frozen=True)
class Scaling:
    """The numbers for every size: the entries of the table of weights, their bytes, and the student's own counts."""

    sizes: tuple[int, ...]
    entries: tuple[str, ...]
    bytes: tuple[str, ...]
    counted: tuple[Counted, ...]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return ("n", "entries of the weights", "bytes in float32", *(one.title for one in self.counted))

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """A row for each size."""
        columns = (self.entries, self.bytes, *(one.counts for one in self.counted))
        return tuple((str(n), *(column[at] for column in columns)) for at, n in enumerate(self.sizes))


def explored_costs(course: Course, attention: str) -> Iterator[tuple[str, OwnCost]]:
    """Yield a module and what one of its functions costs. What cannot be loaded or measured is left out."""
    for module in course.modules:
        other = module.name in _SHOWN and module.name != attention
        if other or module.name not in _FUNCTIONS or is_untouched(module):
            continue
        for function in _FUNCTIONS[module.name]:
            try:
                yield from ((module.name, cost) for cost in own_costs(course, module, function))
            except StudentError:
                break


def scaling_table(measured: Iterable[tuple[str, OwnCost]]) -> Scaling:
    """Return the table. A cost that is no polynomial has no column: it cannot be computed for another size."""
    counted = [one for module, own in measured for one in _counted(module, own)]
    return Scaling(
        SIZES,
        tuple(f"{n * n:,}" for n in SIZES),
        tuple(in_bytes(FLOAT32 * n * n) for n in SIZES),
        tuple(counted),
    )


def in_bytes(count: float) -> str:
    """Return a number of bytes in the largest unit that fits."""
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 1024**power:
            return f"{count / 1024**power:.4g} {unit}"
    return f"{count:.0f} B"


def _counted(module: str, own: OwnCost) -> list[Counted]:
    contract = own.contract
    found: list[Counted] = []
    for cost in own.measured.costs:
        polynomial = read_polynomial(cost.measured, contract) if cost.meter in METERS else None
        if polynomial is None:
            continue
        grows = growing(contract)
        fixed = ", ".join(f"{name} = {size}" for name, size in fixed_sizes(contract, grows).items())
        counts = [float(polynomial.at(sizes_at(contract, n, grows))) for n in SIZES]
        shown = in_bytes if cost.meter == "mem" else "{:,.0f}".format
        title = f"{contract.function} of {module}: {METERS[cost.meter]}"
        note = f"with {fixed}" if fixed else ""
        found.append(Counted(title, cost.measured, note, tuple(map(shown, counts))))
    return found
