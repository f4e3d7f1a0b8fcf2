"""What makes a module complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.core.report import Report
    from grader.workspace.own_costs import OwnCost


@dataclass(frozen=True)
class Completion:
    """What is still open in a module: its checks, its limits, what it states about its functions, its questions."""

    report: Report
    costs: Sequence[OwnCost] = ()
    unanswered: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether every visible check passes."""
        return all(check.outcome == "passed" for check in self.report.checks)

    @property
    def keeps_limits(self) -> bool:
        """Whether every visible check passes and no cost is over its limit."""
        return self.passes and not self._broken()

    def is_complete(self, *, anyway: bool) -> bool:
        """Whether nothing is open; `anyway` accepts open questions, and small calls with another result than stated."""
        return self.keeps_limits and (anyway or not self.open_items())

    def open_items(self) -> list[str]:
        """Return one line for each thing that is open."""
        failed = [check.property for check in self.report.checks if check.outcome != "passed"]
        return [*(f"visible check: {text}" for text in failed), *self.beyond_checks()]

    def beyond_checks(self) -> list[str]:
        """Return the same without the visible checks."""
        items = [
            f"{one.function}: {one.total - one.hold} of {one.total} small calls do not do what is stated"
            for one in self.report.properties
            if one.hold < one.total
        ]
        items += [f"limit of {function}: {', '.join(meters)}" for function, meters in self._broken().items()]
        return items + [f"question under Reflect: {name} is not answered" for name in self.unanswered]

    def _broken(self) -> dict[str, list[str]]:
        """Return the meters over their limits, by function."""
        found = {
            cost.contract.function: [one.meter for one in cost.measured.costs if one.verdict == "fail"]
            for cost in self.costs
        }
        return {function: meters for function, meters in found.items() if meters}
