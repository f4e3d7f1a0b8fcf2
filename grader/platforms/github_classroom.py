"""GitHub Classroom: a report as the result of a test runner, and the workflow that reports it."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from grader.classroom.marks import Mark
from grader.classroom.report_items import diagnosed, items_of
from grader.core.report import Report
from grader.course.engine import WHEEL
from grader.course.module import Module

VERSION = 1
REPORTER = "classroom-resources/autograding-grading-reporter@v1"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def class_result(mark: Mark, report: Report) -> dict[str, Any]:
    """Return the runner result of a student of a class, with what the instructor gave by hand.

    The reporter adds up scores and allows none below 0. So with points by hand, one test has all the points.
    """
    result = runner_result(report)
    if mark.override is None:
        comment = [_test(report, "comment", "pass", 0.0, mark.comment)] if mark.comment else []
        return result | {"tests": result["tests"] + comment}
    automatic = "none" if mark.automatic is None else f"{mark.automatic:g}"
    message = f"{mark.override:g} points by hand, automatic mark: {automatic}. {mark.comment}".strip()
    status = "pass" if mark.override >= mark.max_score else "fail"
    tests = [one | {"score": 0.0} for one in result["tests"]]
    return _result(status, mark.max_score, [_test(report, "by hand", status, mark.override, message), *tests])


def runner_result(report: Report) -> dict[str, Any]:
    """Return a report as the result of a runner: `pass`, `fail` or `error`, with a test for each check and cost.

    The reporter adds up the scores of the tests. It reports nothing if no points are possible, so a submission without
    a score becomes an error out of 0 points, not 0 out of many.
    """
    if report.score is None:
        message = report.message or "not graded: the grader failed, not your code"
        return _result("error", 0, [_test(report, "graded", "error", 0.0, message)])
    if report.status == "not_importable":
        test = _test(report, f"{report.file} can be loaded", "fail", 0.0, report.message)
        return _result("fail", report.max_score, [test])
    tests = [
        _test(report, item.title, "pass" if item.outcome == "passed" else "fail", item.earned or 0.0, item.text)
        for item in items_of(report)
    ]
    diagnoses = "\n\n".join(dict.fromkeys(diagnosed(report)))
    failed = [test for test in tests if test["status"] != "pass"]
    if failed and diagnoses:
        failed[0]["message"] = f"{failed[0]['message']}\n\n{diagnoses}".strip()
    return _result("fail" if failed else "pass", report.max_score, tests)


def encoded(result: dict[str, Any]) -> str:
    """Return a result in the encoding in which one workflow step passes it to the next."""
    return base64.b64encode(json.dumps(result).encode()).decode()


def workflow_text(modules: Sequence[Module], engine: str = WHEEL) -> str:
    """Return a workflow that runs and reports the visible checks of some modules in a student's repository."""
    torch = any(module.backend == "torch" for module in modules)
    packages = f"torch --extra-index-url {TORCH_INDEX} {engine}" if torch else engine
    steps = "\n".join(_step(module) for module in modules)
    results = "\n".join(
        f'          {module.slug.upper()}_RESULTS: "${{{{ steps.{module.slug}.outputs.result }}}}"'
        for module in modules
    )
    return f"""\
# Made by `attn export github workflow`. It reports the visible checks to GitHub Classroom.
# Anyone who can write to the repository can change this file, so the result is only information.
# Grades come from `attn grade`, which has the hidden suite.
name: Autograding Tests
"on":
  - push
  - workflow_dispatch
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    name: Autograding Tests
    runs-on: ubuntu-latest
    timeout-minutes: 15
    if: github.actor != 'github-classroom[bot]'
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install AttnLab
        run: python -m pip install --quiet -c constraints.txt {packages}
{steps}
      - name: Report
        uses: {REPORTER}
        env:
{results}
        with:
          runners: {",".join(module.slug for module in modules)}
"""


def _step(module: Module) -> str:
    # Exit status 1 means that a check failed, and is reported. Any other status is a grader fault, and stops here.
    return f"""\
      - name: {module.name}
        id: {module.slug}
        run: |
          attn test {module.slug} --json > "$RUNNER_TEMP/{module.slug}.json" || test $? -eq 1
          echo "result=$(attn export github result "$RUNNER_TEMP/{module.slug}.json" --base64)" >> "$GITHUB_OUTPUT\""""


def _result(status: str, points: float, tests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"version": VERSION, "status": status, "max_score": points, "tests": tests}


def _test(report: Report, name: str, status: str, score: float, message: str) -> dict[str, Any]:
    return {
        "name": name,
        "status": status,
        "score": score,
        "message": message,
        "test_code": "",
        "filename": report.file,
        "line_no": 0,
        "execution_time": 0,
    }
