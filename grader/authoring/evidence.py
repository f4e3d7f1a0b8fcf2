"""Evidence about a module: the reports of its stub, its solution, its misconceptions and some strange results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from grader.authoring.fingerprinting import Fingerprinting, learn_fingerprints
from grader.authoring.misconceptions import Misconception, as_submission, authors_submission, read_misconceptions
from grader.authoring.reach import ALL, Reach
from grader.authoring.trials import Reference, TellStep, TrialRoom, in_trial_room
from grader.complexity.measurer import FunctionCosts
from grader.complexity.reference_answers import rehearse_contracts
from grader.core.report import Report
from grader.course.api import Api, read_api
from grader.course.course import Course
from grader.course.hints import Hints, read_hints
from grader.course.loading import imported_modules
from grader.course.module import CourseError, Module, module_error, read_text
from grader.diagnosis.probe import read_probes
from grader.grading.checks import Check
from grader.grading.grade import authors_reports, full_suite
from grader.grading.workers import Workers
from grader.submission.fallbacks import with_fallbacks
from grader.submission.submission import Submission

SALT = "another"
# Results of every wrong type and shape. A suite must fail them without crashing.
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
class FallbackTrial:
    """A fallback, the solution's report on top of it, and its own report in the module that it stands in for."""

    file: str
    module: str  # that it stands in for
    solution: Report
    own: Report


@dataclass(frozen=True)
class ModuleEvidence:
    """The checks of a module, and a report for everything they were tried on."""

    api: Api
    checks: tuple[Check, ...]
    stub: Report
    reference: Report
    reference_again: tuple[Report, ...]  # with other random inputs
    misconceptions: tuple[tuple[Misconception, Report], ...]
    liars: tuple[Report, ...]
    function_costs: tuple[FunctionCosts, ...]  # of the solution
    wrong_costs: Mapping[str, Mapping[str, FunctionCosts]]  # of the costly misconceptions, by name and function
    fingerprints: Fingerprinting
    hints: Mapping[str, Hints]
    fallbacks: tuple[FallbackTrial, ...] = ()


def gather(course: Course, module: Module, workers: Workers, tell: TellStep = lambda _: None) -> ModuleEvidence:
    """Grade everything with a known verdict, with one zygote; `tell` is called with what comes next."""
    suite = replace(full_suite(course, module), diagnosed=False)  # the golden file may be stale
    text = read_text(course.solution(module))
    solution = authors_submission(course, module, "the solution", text)
    # What can be read at once is read first: an author with a typing mistake should not wait for a proof.
    wrong_ways = read_misconceptions(course, module)
    read_probes(module, suite.api)
    require_fallbacks(course, module)
    if (measurer := suite.cost_measurer()) is not None:
        rehearse_contracts(module.folder, measurer.contracts, module.name, suite.salt, measurer.reference)

    def work(room: TrialRoom) -> ModuleEvidence:
        tell("the solution")
        reference = room.reference(solution)
        wrong = {one: as_submission(course, module, one) for one in wrong_ways}
        ways, costs = _try_wrong_ways(wrong, room, reference, tell)
        tell("strange results")
        liars = tuple(room.wrong(liar, ALL, reference) for liar in _liars(course, module, suite.api, text))
        tell("probes")
        return ModuleEvidence(
            api=suite.api,
            checks=room.checks,
            stub=room.measured(authors_submission(course, module, "the stub", course.stub_text(module))),
            reference=reference.report,
            reference_again=(),
            misconceptions=ways,
            liars=liars,
            function_costs=tuple(reference.costs.values()),
            wrong_costs=costs,
            fingerprints=learn_fingerprints(suite, room.session, solution, wrong, costs),
            hints=read_hints(module),
        )

    evidence = in_trial_room(suite, workers, Reach(text), work)
    fallbacks = _try_fallbacks(course, module, solution, workers, tell)
    tell("other random inputs")
    # One other salt, without costs: tests/acceptance/test_salts.py compares misconceptions, too.
    again = authors_reports(replace(suite, salt=SALT, measured=False), [solution], workers)
    return replace(evidence, reference_again=tuple(again), fallbacks=fallbacks)


def _try_wrong_ways(
    wrong: Mapping[Misconception, Submission],
    room: TrialRoom,
    reference: Reference,
    tell: TellStep,
) -> tuple[tuple[tuple[Misconception, Report], ...], dict[str, Mapping[str, FunctionCosts]]]:
    """Grade every misconception; return the reports, and the costs of those that are costly."""
    reports: list[tuple[Misconception, Report]] = []
    costs: dict[str, Mapping[str, FunctionCosts]] = {}
    for number, (one, submission) in enumerate(wrong.items(), 1):
        tell(f"misconception {number} of {len(wrong)}")
        changed = room.reach.changed_by(one.code)
        if one.costly:
            report, costs[one.name] = room.costly(submission, changed, reference)
        else:
            report = room.wrong(submission, changed, reference)
        reports.append((one, report))
    return tuple(reports), costs


def _liars(course: Course, module: Module, api: Api, solution: str) -> list[Submission]:
    """Return the solution with every function giving a strange value, for each of these values."""
    lies = LIES + (TENSOR_LIES if module.backend == "torch" else ())
    return [
        authors_submission(course, module, f"a student returning {lie}", solution + _liar(api, lie)) for lie in lies
    ]


def _liar(api: Api, lie: str) -> str:
    """Return code to add to the solution, in which every function, method and constant gives the same strange value."""
    lines = ["", "import numpy as np", ""]
    for name in api.functions:
        lines += [f"def {name}(*args, **kwargs):", f"    return {lie}", ""]
    for name, methods in api.classes.items():
        lines += [f"class {name}({name}):"]
        for method in dict.fromkeys(["__call__", *methods]):
            lines += [f"    def {method}(self, *args, **kwargs):", f"        return {lie}", ""]
    lines += [f"{name} = {lie}" for name in api.constants]
    return "\n".join(lines) + "\n"


def require_fallbacks(course: Course, module: Module) -> None:
    """Raise a CourseError if a fallback lacks a name of its module, or the stub imports a module without one."""
    for one in imported_modules(course, module, course.stub_text(module)):
        if one.slug not in module.fallback:
            problem = f"the stub imports mylab.{one.slug}, but a student's own may be missing or fail"
            fix = f'Write [fallback] {one.slug} = "fallback.py", and that file'
            raise module_error(module.folder, "fallback", problem, fix)
    for slug, path in module.fallbacks.items():
        earlier = course.module(slug)
        try:
            defined = read_api(read_text(path)).names
            lacking = [name for name in _wanted(course, earlier) if name not in defined]
        except SyntaxError as error:
            raise CourseError(path, f"line {error.lineno}", "is not Python", "Fix that line") from None
        if lacking:
            problem = f"does not define {', '.join(lacking)}"
            raise CourseError(path, "", problem, f"Define every function and class of {earlier.name}")


def _try_fallbacks(
    course: Course, module: Module, solution: Submission, workers: Workers, tell: TellStep
) -> tuple[FallbackTrial, ...]:
    """Try every fallback of a module: the solution on top of it, and it by the checks of the earlier module."""
    found: list[FallbackTrial] = []
    for slug, path in module.fallbacks.items():
        tell(f"the fallback for {slug}")
        earlier = course.module(slug)
        on_it = with_fallbacks(course, module, solution, {slug: "is not there"})
        as_own = authors_submission(course, earlier, path.name, read_text(path))
        (of_solution,), (own,) = (
            authors_reports(replace(full_suite(course, one), diagnosed=False), [submission], workers)
            for one, submission in ((module, on_it), (earlier, as_own))
        )
        found.append(FallbackTrial(path.name, earlier.name, of_solution, own))
    return tuple(found)


def _wanted(course: Course, earlier: Module) -> tuple[str, ...]:
    """Return the functions and classes of a module. Nothing builds on the answers under Reflect."""
    api = course.api(earlier)
    return (*api.functions, *api.classes)
