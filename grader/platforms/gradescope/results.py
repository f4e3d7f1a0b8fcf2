"""The results.json of a Gradescope autograder, made from a report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from grader.classroom.report_items import Item, diagnosed, items_of
from grader.complexity.cost import LeaderboardEntry, entries
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text
from grader.core.report import CostResult, Report

HiddenVisibility = Literal["after_published", "after_due_date", "hidden"]
SIZE = 64
VISIBILITIES = ("after_published", "after_due_date", "hidden")
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_FACTOR = re.compile(r"\(?(?P<number>\d+(?:/\d+)?)\)?|[A-Za-z_]\w*?(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹]*)")


@dataclass(frozen=True)
class GradescopeOptions:
    """How Gradescope shows the results: when hidden checks are visible, and whether there is a leaderboard."""

    hidden: HiddenVisibility = "after_published"
    leaderboard: bool = True


def results_of(report: Report, options: GradescopeOptions, *, seconds: float | None = None) -> dict[str, Any]:
    """Return the results of a report that has a score."""
    data: dict[str, Any] = {
        "score": report.score,
        "output": _output(report),
        "stdout_visibility": "hidden",
        "tests": [_test(item, report, options) for item in items_of(report)],
        "extra_data": _about(report),
    }
    if options.leaderboard and (board := _leaderboard(report)):
        data["leaderboard"] = board
    return data | ({} if seconds is None else {"execution_time": round(seconds, 3)})


def failed(output: str, status: str) -> dict[str, Any]:
    """Return results without a score, so that a failure of the grader is not mistaken for a 0."""
    return {"output": output, "stdout_visibility": "hidden", "extra_data": {"status": status}}


def write_results(path: Path, data: Mapping[str, Any]) -> None:
    """Write results.json, completely or not at all."""
    write_atomically(path, json_text(data, allow_nan=False) + "\n")


def _test(item: Item, report: Report, options: GradescopeOptions) -> dict[str, Any]:
    visible = item.kind != "hidden"
    test: dict[str, Any] = {
        "name": item.title,
        "score": item.earned,
        "max_score": item.points,
        "status": "passed" if item.outcome == "passed" else "failed",
        "output": item.text,
        "output_format": "text",
        "visibility": "visible" if visible else options.hidden,
    }
    if not visible and item.outcome == "failed":
        diagnoses = [one.message for one in report.diagnoses if one.target == item.target]
        test["output"] = "\n\n".join(dict.fromkeys(filter(None, [item.text, *diagnoses])))
    return test | ({"tags": ["needs_review"]} if item.needs_review else {})


def _output(report: Report) -> str:
    """Return the text above the tests. The student sees it at once, so it says nothing about hidden checks."""
    if report.status == "not_importable":
        return f"{report.file} could not be loaded, so nothing in it was graded.\n\n{report.message}"
    diagnoses = list(dict.fromkeys(diagnosed(report, public=True)))
    return "\n\n".join([f"{report.file} was graded for {report.module}.", *diagnoses])


def _about(report: Report) -> dict[str, Any]:
    """Return data for the instructor. Gradescope stores it and does not show it."""
    named = [one.misconception for one in report.diagnoses if one.misconception]
    return {
        "status": report.status,
        "module": report.module,
        "max_score": report.max_score,
        "file": report.file,
        "needs_review": report.needs_review,
        "misconceptions": list(dict.fromkeys(named)),
        "endings": list(dict.fromkeys(ending.kind for ending in report.endings)),
        "sandbox": report.sandbox,
        "environment": report.environment,
    }


def _leaderboard(report: Report) -> list[dict[str, Any]]:
    """Return the costs of the functions that keep their contract and pass their visible checks.

    Hidden checks do not matter here: otherwise a place on the board would reveal their outcome.
    """
    board = []
    for target in dict.fromkeys(cost.target for cost in report.costs):
        costs = [cost for cost in report.costs if cost.target == target]
        visible = [check for check in report.checks if check.target == target and check.suite == "visible"]
        if all(check.outcome == "passed" for check in visible) and all(cost.verdict == "pass" for cost in costs):
            board += [entry for cost in costs if (entry := _entry(cost))]
            board += [_speed(entry) for entry in entries(report) if entry.function == target]
    return board


def _speed(entry: LeaderboardEntry) -> dict[str, Any]:
    """Return the leaderboard line of a function's GPU time: 1 is as fast as PyTorch's own attention."""
    return {"name": f"{entry.function} on a GPU, times the built-in", "value": entry.times_built_in, "order": "asc"}


def _entry(cost: CostResult) -> dict[str, Any] | None:
    """Return the leaderboard line of a cost; None for a cost of which only the growth is known.

    A leaderboard sorts numbers, not polynomials, so the line has the cost with SIZE for every size.
    """
    try:
        count = value_at(cost.measured, SIZE)
    except ValueError:
        return None
    return {"name": f"{cost.function} {cost.meter} at {SIZE}", "value": count, "order": "asc"}


def value_at(polynomial: str, size: int) -> float:
    """Return the value of a polynomial such as `2·n²·d - 3·n` with the same size for all letters.

    ValueError if the text is not a polynomial.
    """
    total = Fraction(0)
    for term in polynomial.replace(" - ", " + -").split(" + "):
        sign, bare = (-1, term[1:]) if term.startswith("-") else (1, term)
        value = Fraction(sign)
        for part in bare.split("·"):
            matched = _FACTOR.fullmatch(part)
            if matched is None:
                raise ValueError(f"{part!r} in {polynomial!r} is not part of a polynomial")
            value *= Fraction(matched["number"]) if matched["number"] else size ** _power(matched["power"])
        total += value
    return float(total)


def _power(text: str) -> int:
    return int(text.translate(_SUPERSCRIPT)) if text else 1
