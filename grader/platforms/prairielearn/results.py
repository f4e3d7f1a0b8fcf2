"""The results.json of PrairieLearn's external grader, made from a report.

PrairieLearn takes a score from 0 to 1. What is not gradable changes no points and costs the student no attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from grader.classroom.report_items import Item, diagnosed, items_of
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text
from grader.core.report import Report
from grader.platforms.container.job import Failure

HiddenChecks = Literal["summed", "shown"]
HIDDEN: tuple[HiddenChecks, ...] = ("summed", "shown")
MOST_BYTES = 1024 * 1024  # PrairieLearn throws larger results away, with the score
NOTHING_GRADED = "Nothing was graded, so this costs you no attempt."
SHORTENED = " … (shortened)"


def results_of(report: Report, hidden: HiddenChecks) -> dict[str, Any]:
    """Return the results of a report with a score. Work that cannot be loaded is not gradable: it costs no attempt."""
    if report.status == "not_importable" or report.score is None:
        return not_gradable(f"{NOTHING_GRADED}\n\n{report.message}", report.status)
    diagnoses = diagnosed(report, public=hidden == "summed")
    return {
        "gradable": True,
        "score": min(1.0, max(0.0, report.score / report.max_score)) if report.max_score else 1.0,
        "message": "\n\n".join([_headline(report), *dict.fromkeys(diagnoses)]),
        "tests": _tests(report, hidden),
        "attnlab": _about(report),
    }


def failed(failure: Failure) -> dict[str, Any]:
    """Return results without a score, for a failure of the grader."""
    return not_gradable(failure.message, failure.status)


def not_gradable(message: str, status: str) -> dict[str, Any]:
    """Return results that change no points and cost no attempt."""
    return {"gradable": False, "format_errors": [message], "attnlab": {"status": status}}


def write_results(path: Path, data: Mapping[str, Any]) -> None:
    """Write results.json, completely or not at all, and no larger than PrairieLearn takes it."""
    write_atomically(path, results_text(data) + "\n")


def results_text(data: Mapping[str, Any]) -> str:
    """Return results as JSON that PrairieLearn takes: if they are too large, with the longest texts shortened."""
    for most in (None, 16_000, 4_000, 1_000, 200, 40):
        text = json_text(data if most is None else _shortened(data, most), allow_nan=False)
        if len(text.encode()) < MOST_BYTES:
            return text
    return json_text({name: data[name] for name in ("gradable", "score") if name in data}, allow_nan=False)


def _shortened(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + SHORTENED
    if isinstance(value, Mapping):
        return {name: _shortened(one, most) for name, one in value.items()}
    return [_shortened(one, most) for one in value] if isinstance(value, list) else value


def _headline(report: Report) -> str:
    line = f"{report.file} was graded for {report.module}: {report.score:g} of {report.max_score:g} points."
    return f"{line} Some of it is not decided yet: see below." if report.needs_review else line


def _tests(report: Report, hidden: HiddenChecks) -> list[dict[str, Any]]:
    """Return a test for each check and cost; with `summed`, one for all hidden checks of a function."""
    items = items_of(report)
    shown = [item for item in items if item.kind != "hidden" or hidden == "shown"]
    tests = [
        _test(item.title, [item], "" if item.outcome == "passed" and not item.needs_review else item.text)
        for item in shown
    ]
    kept = [item for item in items if item not in shown]
    for target in dict.fromkeys(item.target for item in kept):
        of_target = [item for item in kept if item.target == target]
        tests.append(_test(f"{target}: {len(of_target)} hidden checks", of_target, ""))
    return tests


def _test(name: str, items: list[Item], text: str) -> dict[str, Any]:
    earned = round(sum(item.earned or 0.0 for item in items), 6)
    test = {"name": name, "points": earned, "max_points": round(sum(item.points for item in items), 6)}
    return test | ({"message": text} if text else {})


def _about(report: Report) -> dict[str, Any]:
    """Return data for the instructor. PrairieLearn stores it with the grading job, and shows it to course staff."""
    named = (one.misconception for one in report.diagnoses if one.misconception)
    return {
        "status": report.status,
        "module": report.module,
        "points": report.score,
        "max_points": report.max_score,
        "needs_review": report.needs_review,
        "misconceptions": list(dict.fromkeys(named)),
        "sandbox": report.sandbox,
        "environment": report.environment,
    }
