"""The result.json of Classroom 50, made from a report. It takes whole numbers only.

So points are multiplied by 1, 10, 100 or 1000: the least that makes the points of every check whole. What is no whole
number even then is rounded up, in favour of the student.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from grader.classroom.report_items import Item, items_of
from grader.core.report import Report
from grader.platforms.github_actions import summary

SCHEMA = "classroom50/result/v1"
SCALES = (1, 10, 100, 1000)
# What the runner tells an autograder, and the key that a result has for it.
_IDENTITY = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def result_of(report: Report, told: Mapping[str, str], now: datetime | None = None) -> dict[str, Any]:
    """Return the result of a report that has a score. `told` is the environment that the runner gives."""
    items = items_of(report)
    scale = scale_of(item.points for item in items)
    tests = [_test(item, scale) for item in items]
    return {
        "schema": SCHEMA,
        **{key: told[name] for key, name in _IDENTITY.items()},
        "datetime": (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def release_body(report: Report, result: Mapping[str, Any]) -> str:
    """Return the text of the release: what the numbers mean, and what is wrong."""
    scale = scale_of(item.points for item in items_of(report))
    lines = ["These are the visible checks only. Your mark comes from your course staff, with the hidden checks."]
    if scale > 1:
        said = f"{result['score']} of {result['max-score']} here are {report.score:g} of {report.max_score:g} points"
        lines.append(f"Classroom 50 takes whole numbers, so points are shown times {scale}: {said}.")
    return f"{summary(report)}\n" + "\n\n".join(lines) + "\n"


def scale_of(points: Iterable[float]) -> int:
    """Return the least scale that makes the points of all checks whole, or the largest if none does."""
    found = list(points)
    return next((scale for scale in SCALES if all(_is_whole(one * scale) for one in found)), SCALES[-1])


def whole(points: float, scale: int) -> int:
    """Return points as a whole number: exact if possible, and never less than they are."""
    scaled = points * scale
    return round(scaled) if _is_whole(scaled) else math.ceil(scaled)


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6


def _test(item: Item, scale: int) -> dict[str, Any]:
    test: dict[str, Any] = {
        "test-name": item.title,
        "passed": item.outcome == "passed",
        "score": whole(item.earned or 0.0, scale),
        "max-score": whole(item.points, scale),
        "points": item.earned,
        "points-times": scale,
    }
    return test | ({"message": item.text} if item.text else {})
