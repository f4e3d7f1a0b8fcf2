"""The results.json of a Gradescope autograder: a report in the fields that Gradescope publishes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.complexity.gpu_speed import LeaderboardEntry, entries
from grader.core.atomic_file import write_atomically
from grader.core.report import CostResult, Report
from grader.platforms.gradescope.evaluate import value_at
from grader.platforms.items import Item, diagnosed, items_of

HiddenVisibility = Literal["after_published", "after_due_date", "hidden"]
SIZE = 64
VISIBILITIES = ("after_published", "after_due_date", "hidden")
NOT_GRADED = (
    "This submission has not been graded, and has no score: the autograder or its machine failed, not your code. "
    "Your course staff can run it again."
)


@dataclass(frozen=True)
class GradescopeOptions:
    """How results are shown."""

    hidden: HiddenVisibility = "after_published"
    leaderboard: bool = True


def results_of(report: Report, manner: GradescopeOptions, *, seconds: float | None = None) -> dict[str, Any]:
    """Return what Gradescope is told of a report; without a score, as a failed autograder, if it has none."""
    if report.score is None:
        return failed(f"{NOT_GRADED}\n\n{report.message}".strip(), report.status)
    data: dict[str, Any] = {
        "score": report.score,
        "output": _output(report),
        "stdout_visibility": "hidden",
        "tests": [_test(item, report, manner) for item in items_of(report)],
        "extra_data": _about(report),
    }
    if manner.leaderboard and (board := _leaderboard(report)):
        data["leaderboard"] = board
    return data | ({} if seconds is None else {"execution_time": round(seconds, 3)})


def failed(output: str, status: str) -> dict[str, Any]:
    """Return results that have no score, so that nobody takes a failure of ours for a 0."""
    return {"output": output, "stdout_visibility": "hidden", "extra_data": {"status": status}}


def write_results(path: Path, data: Mapping[str, Any]) -> None:
    """Write results.json, whole or not at all."""
    write_atomically(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _test(item: Item, report: Report, manner: GradescopeOptions) -> dict[str, Any]:
    visible = item.kind != "hidden"
    test: dict[str, Any] = {
        "name": item.title,
        "score": item.earned,
        "max_score": item.points,
        "status": "passed" if item.outcome == "passed" else "failed",
        "output": item.text,
        "output_format": "text",
        "visibility": "visible" if visible else manner.hidden,
    }
    if not visible and item.outcome == "failed":
        told = [one.message for one in report.diagnoses if one.target == item.target]
        test["output"] = "\n\n".join(dict.fromkeys(filter(None, [item.text, *told])))
    return test | ({"tags": ["needs_review"]} if item.needs_review else {})


def _output(report: Report) -> str:
    """Return what stands above the tests, at once and for the student: nothing that only a hidden check could tell."""
    if report.status == "not_importable":
        return f"{report.file} could not be loaded, so that nothing in it could be graded.\n\n{report.message}"
    told = list(dict.fromkeys(diagnosed(report, public=True)))
    return "\n\n".join([f"{report.file} was graded for {report.module}.", *told])


def _about(report: Report) -> dict[str, Any]:
    """Return what the instructor may want to know; Gradescope stores it and shows it to nobody."""
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
    """Return the counts of the functions that keep to their laws and pass what everybody can see of them.

    Not those that pass everything: to be on the board would tell of the hidden checks.
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
    """Return how fast a function is on a GPU, where it was graded on one: 1 is as fast as PyTorch's own attention."""
    return {"name": f"{entry.function} on a GPU, times the built-in", "value": entry.times_built_in, "order": "asc"}


def _entry(cost: CostResult) -> dict[str, Any] | None:
    """Return a line of a leaderboard, which sorts numbers and not polynomials: the count where every size is the same.

    A cost that is known only by how it grows has no such number.
    """
    try:
        count = value_at(cost.measured, SIZE)
    except ValueError:
        return None
    return {"name": f"{cost.function} {cost.meter} at {SIZE}", "value": count, "order": "asc"}
