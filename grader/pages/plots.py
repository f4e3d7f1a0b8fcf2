"""The plots of the costs in a report. A class has many costs alike, and each is drawn once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.polynomial import Polynomial
from grader.core.report import CostResult, Report
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.pages.cost_plot import CostPlot, cost_plot


class Plotter:
    """Draws the costs of one module. With `reference`, the plot also has the costs of the reference solution."""

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
