"""Plots of a cost beside its limit, on two logarithmic axes, from what a report says about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log2

from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.curves import CURVE, TABLE, fixed_sizes, growing, sizes_at
from grader.complexity.polynomial import Polynomial, parse_polynomial
from grader.core.report import CostResult, Report
from grader.course.golden import read_golden
from grader.course.module import Module

WIDTH, HEIGHT = 460, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 40
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SIGN = re.compile(r" ([+-]) ")


@dataclass(frozen=True)
class PlotLine:
    """One curve: its name and its points in the picture."""

    name: str
    points: str


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class CostPlot:
    """A picture of a cost, and the table with its numbers."""

    title: str
    across: str
    lines: tuple[PlotLine, ...]
    sizes: tuple[Tick, ...]
    counts: tuple[Tick, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    right: int = WIDTH - RIGHT
    top: int = TOP


class Plotter:
    """Draws the costs of one module, each once: a class has many costs alike.

    With `reference`, the plot also has the costs of the reference solution.
    """

    def __init__(self, module: Module, *, reference: bool = False) -> None:
        self.module = module
        self.reference = reference
        self._drawn: dict[tuple[str, str, str], CostPlot | None] = {}

    def plots(self, report: Report) -> Mapping[str, CostPlot]:
        """Return a plot for each cost that is not within its limit and is a polynomial."""
        found = {cost.name: self._plot(cost) for cost in report.costs if cost.verdict != "pass" and cost.measured}
        return {name: plot for name, plot in found.items() if plot is not None}

    def _plot(self, cost: CostResult) -> CostPlot | None:
        key = (cost.function, cost.meter, cost.measured)
        if key not in self._drawn:
            contract = self._contracts.get(cost.function)
            reference = self._reference(contract, cost.meter) if contract and self.reference else None
            self._drawn[key] = cost_plot(contract, cost.meter, cost.measured, reference) if contract else None
        return self._drawn[key]

    @cached_property
    def _contracts(self) -> Mapping[str, Contract]:
        found = read_contracts(self.module.folder, self.module.complexity)
        return {contract.function: contract for contract in found}

    def _reference(self, contract: Contract, meter: str) -> Polynomial | None:
        terms = read_golden(self.module).costs.get(contract.function, {}).get(meter)
        names, tiles = contract.lattice.names, contract.lattice.tiles
        return Polynomial.from_data(names, terms, tiles) if terms is not None else None


def cost_plot(contract: Contract, meter: str, measured: str, reference: Polynomial | None = None) -> CostPlot | None:
    """Return the plot of a measured polynomial against its limit; None if what was measured is no polynomial."""
    limit = next((one for one in contract.limits if one.meter == meter), None)
    own = read_polynomial(measured, contract)
    if limit is None or own is None:
        return None
    grows = growing(contract, own, limit.bound)
    drawn = {"yours": own, "allowed": limit.bound} | ({"the reference": reference} if reference else {})
    values = {name: [_count(one, contract, n, grows) for n in CURVE] for name, one in drawn.items()}
    low, high = _span([count for counts in values.values() for count in counts])
    fixed = [f"{name} = {size}" for name, size in fixed_sizes(contract, grows).items()]
    across = " and ".join(grows) + (f", with {', '.join(fixed)}" if fixed else "")
    return CostPlot(
        title=f"{contract.function}: {meter}",
        across=across,
        lines=tuple(PlotLine(name, _points(counts, low, high)) for name, counts in values.items()),
        sizes=tuple(Tick(_x(n), str(n)) for n in CURVE[1::3]),
        counts=tuple(Tick(_y(2.0**power, low, high), _short(2.0**power)) for power in _powers(low, high)),
        header=("n" if len(grows) > 1 else grows[0], *drawn),
        rows=tuple((str(n), *(f"{_count(one, contract, n, grows):,.0f}" for one in drawn.values())) for n in TABLE),
        note="" if limit.exact else "Only growth counts here: a constant factor is free.",
    )


def read_polynomial(text: str, contract: Contract) -> Polynomial | None:
    """Return the polynomial that a report shows, such as `2·n²·d - (1/2)·n`; None for any other text."""
    names, tiles = contract.lattice.names, contract.lattice.tiles
    found: dict[tuple[int, ...], Fraction] = {}
    first, *rest = _SIGN.split(text.strip())
    signed = [(-1, first[1:]) if first.startswith("-") else (1, first)]
    signed += [(-1 if sign == "-" else 1, term) for sign, term in zip(rest[::2], rest[1::2], strict=True)]
    for sign, term in signed:
        try:
            (powers, factor), *more = parse_polynomial(_plain(term), names, tiles).terms.items()
        except ValueError:
            return None
        if more:
            return None
        found[powers] = found.get(powers, Fraction(0)) + sign * factor
    return replace(
        parse_polynomial("1", names, tiles), terms={powers: factor for powers, factor in found.items() if factor}
    )


def _plain(term: str) -> str:
    """Return a term as authors type it: `2*n^2*d` for `2·n²·d`."""
    powered = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: f"^{found[0].translate(_POWERS)}", term)
    return powered.replace("·", "*").replace("(", "").replace(")", "")


def _count(polynomial: Polynomial, contract: Contract, n: int, grows: tuple[str, ...]) -> float:
    return float(polynomial.at(sizes_at(contract, n, grows)))


def _span(counts: Sequence[float]) -> tuple[float, float]:
    low, high = log2(max(min(counts), 1)), log2(max(*counts, 2))
    return low, max(high, low + 1)


def _points(counts: Sequence[float], low: float, high: float) -> str:
    return " ".join(f"{_x(n):.1f},{_y(count, low, high):.1f}" for n, count in zip(CURVE, counts, strict=True))


def _x(n: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * log2(n / CURVE[0]) / log2(CURVE[-1] / CURVE[0]), 1)


def _y(count: float, low: float, high: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (log2(max(count, 1)) - low) / (high - low), 1)


def _powers(low: float, high: float) -> list[float]:
    """Return four heights for marks on the axis of counts."""
    return [low + (high - low) * part / 3 for part in range(4)]


def _short(count: float) -> str:
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.3g}"
