"""Grade everything with a known verdict on this GPU: `python -m tests.acceptance.gpu.whole_suite [NAME ...]`.

The reference and the other right solutions must get full marks, the stub none, and every misconception less than full
marks. Prints a line for each, and fails if one has the wrong score.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.complexity.gpu_costs import GPU_MEMORY
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Module, read_text
from grader.grading.grade import full_suite, run_grading
from grader.submission.submission import Source, Submission
from tests.cases import cases

ROOT = Path(__file__).parents[3]
MODULE = "07_gpu_path"


def main(names: list[str]) -> int:
    """Print a table. Return 1 if a score is wrong."""
    course = read_course(ROOT)
    module = course.module(MODULE)
    suite = replace(full_suite(course, module), gpu=course.gpu_suite(module), diagnosed=False)
    wrong_ways = read_misconceptions(course, module)
    costly = {wrong.name for wrong in wrong_ways if wrong.costly}
    submissions = [*right(course, module), *(as_submission(course, module, wrong) for wrong in wrong_ways)]
    submissions = [one for one in submissions if not names or one.student in names]
    bad = 0
    for measured in (True, False):  # wrong values are found without measuring costs on the CPU
        chosen = [one for one in submissions if (one.student in costly or _is_right(one)) == measured]
        started = time.monotonic()

        def tell(report: Report) -> None:
            nonlocal bad, started
            good = as_it_should_be(report)
            bad += not good
            print(f"{report.submission:<44} {line_of(report)} {time.monotonic() - started:5.1f} s", end="", flush=True)
            print("" if good else "  WRONG", flush=True)
            for check in report.checks if not good else ():
                if check.outcome != "passed":
                    print(f"    {check.name}: {check.message} {check.detail[:300]}")
            for cost in report.costs if not good else ():
                print(f"    {cost.function} {cost.meter}: {cost.verdict} {cost.measured} {cost.message[:200]}")
            started = time.monotonic()

        run_grading(replace(suite, measured=measured), chosen, tell, gpu=True)
    print(f"{len(submissions)} submissions, {bad} with a wrong score")
    return 1 if bad else 0


def right(course: Course, module: Module) -> list[Submission]:
    """Return the stub, the reference and the other right solutions."""
    texts = {"the stub": read_text(module.stub), "the reference": read_text(course.solution(module))}
    texts |= {f"right: {case.name}": case.code for case in cases("right", module.name)}
    return [
        Submission(name, module.name, f"{module.slug}.py", {module.slug: Source(f"{module.slug}.py", (text,), False)})
        for name, text in texts.items()
    ]


def as_it_should_be(report: Report) -> bool:
    """Whether the score is right for this submission."""
    if report.submission == "the stub":
        return report.score == 0
    full = report.score == report.max_score
    return full if report.submission.startswith(("the reference", "right: ")) else report.score is not None and not full


def line_of(report: Report) -> str:
    checks = [(one.earned or 0.0, one.points) for one in report.checks if one.suite == "gpu"]
    costs = [(one.earned, one.points) for one in report.costs if one.meter == GPU_MEMORY]
    earned, points = (sum(column) for column in zip(*checks, *costs, strict=True))
    return f"{report.score} / {report.max_score:g}, on the GPU {earned:g} / {points:g}"


def _is_right(one: Submission) -> bool:
    return one.student.startswith(("the ", "right: "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
