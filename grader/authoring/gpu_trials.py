"""Trials of a module that runs only on a GPU: its stub, its solution and its misconceptions, graded there.

Without a GPU nothing is run. The golden file needs none: it has no fingerprints, because there is no CPU to take them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grader.authoring.golden_file import answer_hashes
from grader.authoring.misconceptions import Misconception, as_submission, authors_submission, read_misconceptions
from grader.authoring.soundness_rules import Problem
from grader.authoring.trials import TellStep
from grader.core.report import Report
from grader.course.answers import literal_answers
from grader.course.course import Course
from grader.course.golden import SCHEMA
from grader.course.hints import read_hints
from grader.course.module import Module, read_text
from grader.grading.checks import Check
from grader.grading.grade import authors_reports, full_suite
from grader.grading.run_suite import run_suite
from grader.grading.workers import MODULE_NEEDS_GPU
from grader.sandbox.jail.view import gpu_devices
from grader.submission.submission import Submission


@dataclass(frozen=True)
class GpuTrials:
    """What the trials found. `not_run` says why nothing was graded, if nothing was."""

    problems: tuple[Problem, ...]
    golden: dict[str, Any]
    checks: int
    wrong: int
    not_run: str


def try_on_gpu(course: Course, module: Module, tell: TellStep = lambda _: None) -> GpuTrials:
    """Grade what has a known verdict, if this machine has a GPU. Read the files in any case."""
    wrong_ways = read_misconceptions(course, module)
    read_hints(module)
    checks = run_suite(full_suite(course, module), lambda checks, _: checks)
    there = bool(gpu_devices())
    problems = tuple(_problems(course, module, wrong_ways, tell)) if there else ()
    golden = _golden(course, module, checks)
    return GpuTrials(problems, golden, len(checks), len(wrong_ways), "" if there else MODULE_NEEDS_GPU)


def graded_on_gpu(course: Course, module: Module, submissions: Sequence[Submission]) -> list[Report]:
    """Return the reports of the author's own submissions, graded on the GPU of this machine."""
    return authors_reports(full_suite(course, module), submissions, gpu=True)


def known_verdicts(course: Course, module: Module) -> list[Submission]:
    """Return the stub, then the solution, then every misconception."""
    texts = {"the stub": course.stub_text(module), "the solution": read_text(course.solution(module))}
    first = [authors_submission(course, module, name, text) for name, text in texts.items()]
    return [*first, *(as_submission(course, module, wrong) for wrong in read_misconceptions(course, module))]


def verdict_problem(report: Report) -> Problem | None:
    """Return what is wrong with the score of a submission whose verdict is known."""
    name, score = report.submission, report.score
    if score is None:
        return Problem(f"{name}: {report.message or report.status}", "Fix the check")
    if name == "the stub":
        return Problem(f"the stub scores {score:g}, not 0", "Find the check that passes it") if score else None
    full = score == report.max_score
    if name == "the solution":
        return None if full else Problem(f"the solution scores {score:g} of {report.max_score:g}", "Fix one of them")
    return Problem(f"the misconception {name} gets full marks", "Write a check that it fails") if full else None


def _problems(course: Course, module: Module, wrong: Sequence[Misconception], tell: TellStep) -> Iterator[Problem]:
    tell(f"{2 + len(wrong)} submissions on the GPU")
    for report in graded_on_gpu(course, module, known_verdicts(course, module)):
        if (problem := verdict_problem(report)) is not None:
            yield problem


def _golden(course: Course, module: Module, checks: Sequence[Check]) -> dict[str, Any]:
    targets = {check.target: {"visible": 0.0, "hidden": 0.0, "costs": 0.0} for check in checks}
    for check in checks:
        targets[check.target][check.suite] += check.points
    for function, contract in module.gpu.items():
        targets[function]["costs"] += float(contract["points"])
    given = literal_answers(read_text(course.solution(module)), course.api(module).constants)
    answers = {"answers": answer_hashes(module, given, course.hidden_suite(module))}
    empty: dict[str, Any] = {"costs": {}, "misconceptions": {}, "probes": []}
    return {
        "schema": SCHEMA,
        "module": module.name,
        "stub": course.stub_text(module),
        "targets": targets,
        **empty,
        **answers,
    }
