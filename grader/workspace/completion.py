"""What makes a module complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.core.report import Report
    from grader.workspace.own_costs import OwnCost


def all_checks_pass(report: Report) -> bool:
    """Whether every visible check passes."""
    return all(check.outcome == "passed" for check in report.checks)


def meets_contracts(report: Report, costs: Sequence[OwnCost]) -> bool:
    """Whether every visible check passes and no cost is over its limit."""
    return all_checks_pass(report) and not any(one.verdict == "fail" for cost in costs for one in cost.measured.costs)


def is_complete(report: Report, costs: Sequence[OwnCost], *, anyway: bool) -> bool:
    """Whether the module counts as complete; `anyway` accepts code that behaves like a known misconception."""
    return meets_contracts(report, costs) and (anyway or not report.diagnoses)
