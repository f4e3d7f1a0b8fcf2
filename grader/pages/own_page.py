"""The page that students make of their own file: visible checks, and costs measured now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.complexity.cost import Cost
from grader.core.report import CostResult, ForbiddenCall, Report, excerpt_of
from grader.core.safe_text import one_line, printable
from grader.course.module import Module
from grader.pages.cost_plot import Plotter
from grader.pages.rendering import render
from grader.pages.report_page import report_page
from grader.workspace.own_costs import OwnCost


def own_page(module: Module, report: Report, measured: Sequence[OwnCost], colour: str = "") -> str:
    """Return the page of a report about visible checks, with the costs of the same file."""
    forbidden = dict.fromkeys(
        ForbiddenCall(one.event.target, one_line(one.event.call), one.event.place.line, one.why)
        for own in measured
        for one in own.measured.forbidden
    )
    costs = tuple(_cost(own, cost) for own in measured for cost in own.measured.costs)
    with_costs = replace(report, costs=costs, forbidden=tuple(forbidden))
    plots = Plotter(module, reference=True).plots(with_costs)
    page = report_page(with_costs, plots=plots, own=True)
    return render("report.html", title=page.title, page=page, colour=colour)


def _cost(own: OwnCost, cost: Cost) -> CostResult:
    """Return a measured cost for a page. It has no points here: only grading gives them."""
    place = cost.place if cost.place and cost.place.file in own.source and cost.verdict != "pass" else None
    return CostResult(
        target=cost.target,
        function=cost.function,
        meter=cost.meter,
        law=cost.law,
        measured=cost.measured,
        verdict=cost.verdict,
        points=0.0,
        earned=0.0,
        line=cost.place.line if cost.place else None,
        message=printable(cost.message),
        code=excerpt_of(place.file, own.source[place.file], place.line) if place else None,
    )
