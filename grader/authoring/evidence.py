"""Evidence about a module: what its suites say of the stub, the solution, the known wrong ways and some liars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from grader.authoring.fingerprinting import Fingerprinting, learn_fingerprints
from grader.authoring.misconceptions import Misconception, as_submission, read_misconceptions
from grader.complexity.measurer import FunctionCosts
from grader.core.report import Report
from grader.course.api import Api
from grader.course.course import Course
from grader.course.hints import Hints, read_hints
from grader.course.module import Module, read_text
from grader.grading.checks import Check
from grader.grading.grade import full_suite, measure_submission, run_grading
from grader.grading.run_suite import run_suite
from grader.grading.suite import Suite
from grader.submission.submission import Source, Submission

SALTS = ("another", "yet another")
# Results of every wrong type and shape: a suite must call them wrong without stumbling over them.
LIES = (
    "None",
    "True",
    "'text'",
    "()",
    "{'a': 1}",
    "object()",
    "float('nan')",
    "np.float64(1.0)",
    "np.zeros(())",
    "np.zeros((0, 1, 1))",
    "np.full((2, 3), np.nan)",
    "np.array(['a', 'b'])",
    "np.zeros(3, dtype='M8[s]')",
    "(np.zeros(2), None)",
)
TENSOR_LIES = (
    "torch.zeros(())",
    "torch.full((2, 3), torch.nan)",
    "torch.zeros(2, 3, dtype=torch.complex64)",
    "torch.zeros(2, 3).to_sparse()",
    "torch.zeros(2, 3, device='meta')",
    "(torch.zeros(2, 3), torch.zeros(2, 3, requires_grad=True) * 2)",
    "(torch.ones(1, dtype=torch.int64), None)",
)


@dataclass(frozen=True)
class Evidence:
    """The checks of a module, and a report for everything they were tried on."""

    api: Api
    checks: tuple[Check, ...]
    stub: Report
    reference: Report
    reference_again: tuple[Report, ...]  # with other random inputs
    misconceptions: tuple[tuple[Misconception, Report], ...]
    liars: tuple[Report, ...]
    function_costs: tuple[FunctionCosts, ...]  # of the solution
    fingerprints: Fingerprinting
    hints: Mapping[str, Hints]


def gather(course: Course, module: Module) -> Evidence:
    """Grade everything we know the truth about, in one session."""
    wrong_ways = read_misconceptions(course, module)
    suite = replace(full_suite(course, module), diagnosed=False)  # by a golden file that may be stale
    text = read_text(course.solution(module))
    solution = _submission("the solution", module, text)
    stub = _submission("the stub", module, read_text(module.stub))
    lies = LIES + (TENSOR_LIES if module.backend == "torch" else ())
    liars = [_submission(f"a student returning {lie}", module, text + _liar(suite.api, lie)) for lie in lies]
    quick = replace(suite, measured=False)  # measuring takes longer than all checks, and tells nothing of wrong values
    checks: list[Check] = []
    run_suite(suite, lambda found, _: checks.extend(found))
    submissions = {wrong.name: as_submission(course, module, wrong) for wrong in wrong_ways}
    costly = [submissions[wrong.name] for wrong in wrong_ways if wrong.costly]
    measured = _graded(suite, [stub, solution, *costly])
    rest = _graded(quick, [*(submissions[wrong.name] for wrong in wrong_ways if not wrong.costly), *liars])
    reports = {report.submission: report for report in (*measured, *rest)}
    return Evidence(
        api=suite.api,
        checks=tuple(checks),
        stub=measured[0],
        reference=measured[1],
        reference_again=tuple(report for salt in SALTS for report in _graded(replace(suite, salt=salt), [solution])),
        misconceptions=tuple((wrong, reports[wrong.name]) for wrong in wrong_ways),
        liars=tuple(rest[-len(liars) :]),
        function_costs=measure_submission(suite, solution),
        fingerprints=learn_fingerprints(suite, solution, {wrong: submissions[wrong.name] for wrong in wrong_ways}),
        hints=read_hints(module),
    )


def _graded(suite: Suite, submissions: list[Submission]) -> list[Report]:
    reports: list[Report] = []
    run_grading(suite, submissions, reports.append, allow_unjailed=True)
    return reports


def _submission(name: str, module: Module, text: str) -> Submission:
    source = Source(f"{module.slug}.py", (text,), notebook=False)
    return Submission(name, module.name, source.file, {module.slug: source})


def _liar(api: Api, lie: str) -> str:
    """Return a cell laid over the solution in which every function, method and constant is the same lie."""
    lines = ["", "import numpy as np", ""]
    for name in api.functions:
        lines += [f"def {name}(*args, **kwargs):", f"    return {lie}", ""]
    for name, methods in api.classes.items():
        lines += [f"class {name}({name}):"]
        for method in dict.fromkeys(["__call__", *methods]):
            lines += [f"    def {method}(self, *args, **kwargs):", f"        return {lie}", ""]
    lines += [f"{name} = {lie}" for name in api.constants]
    return "\n".join(lines) + "\n"
