"""The page of one report, as records for its template. It has only what the student may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from grader.classroom.marks import Mark
from grader.classroom.report_items import Item, items_of, shown_diagnoses
from grader.core.first_thing import first_thing
from grader.core.report import CheckResult, CostResult, Diagnosis, Excerpt, Report, cost_word, without_word
from grader.core.times import show_length
from grader.course.api import REFLECT
from grader.pages.cost_plot import CostPlot
from grader.pages.heat_map import HeatMap, heat_maps
from grader.pages.paragraphs import Paragraph, next_step_of, paragraphs_of

UNTRUE = "not true for your code: "  # how the public text of a hidden check begins
NOT_MEASURED = "NOT MEASURED"
NO_FORMULA = "not a polynomial"  # a list of powers, one for each direction, fills a screen
_WORDS = {"passed": "passed", "failed": "FAILED", "not_run": "not run", "fault": "not graded"}
_SUITES = {"visible": "visible check", "hidden": "hidden check", "cost": "cost"}
Plots = Mapping[str, CostPlot]  # by the name of a cost, such as `sort work`


@dataclass(frozen=True)
class CheckRow:
    """One check: what must be true, whether it is, and what the student may read about it."""

    title: str
    suite: str
    word: str
    points: str
    text: str
    needs_review: bool


@dataclass(frozen=True)
class ProblemPart:
    """What is wrong with a function: the words, the source, and the numbers."""

    misconception: str
    paragraphs: tuple[Paragraph, ...]
    code: Excerpt | None
    call: str
    part: str
    maps: tuple[HeatMap, ...]


@dataclass(frozen=True)
class CostRow:
    """One cost beside its limit."""

    function: str
    meter: str
    word: str
    measured: str
    limit: str
    text: str
    points: str
    line: int | None
    code: Excerpt | None
    plot: CostPlot | None


@dataclass(frozen=True)
class FunctionPart:
    """Everything about one function or class, or about the answers under Reflect."""

    name: str
    anchor: str
    points: str
    share: int  # of its points, in percent
    passed: str
    checks: tuple[CheckRow, ...]
    problem: ProblemPart | None
    costs: tuple[CostRow, ...]
    forbidden: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether there is nothing to do."""
        return self.share == 100 and not self.forbidden and self.problem is None


@dataclass(frozen=True)
class Fact:
    """A line at the top of the page."""

    name: str
    text: str


@dataclass(frozen=True)
class ReportPage:
    """The page of one report."""

    title: str
    course: str
    student: str
    module: str
    own: bool  # whether the student made it, from visible checks alone
    score: str
    share: int | None
    message: str
    comment: str
    facts: tuple[Fact, ...]
    functions: tuple[FunctionPart, ...]
    general: tuple[ProblemPart, ...]
    undecided: tuple[str, ...]
    unmeasured: tuple[str, ...]
    steps: tuple[str, ...]
    made_with: str
    own_lines: frozenset[str] = field(default=frozenset(), repr=False)  # that the student wrote, for the leak search


def report_page(
    report: Report, mark: Mark | None = None, course: str = "", plots: Plots | None = None, *, own: bool = False
) -> ReportPage:
    """Return the page of a report. `plots` has the pictures of its costs, and `mark` its line of the class list."""
    plots = plots or {}
    items = items_of(report)
    diagnoses = tuple(shown_diagnoses(report))
    targets = dict.fromkeys(item.target for item in items)
    problems = {one.target: one for one in diagnoses}
    excerpts = [*(one.code for one in diagnoses), *(one.code for one in report.costs)]
    return ReportPage(
        title=f"{report.module}: {_name(report, mark)}",
        course=course,
        student=_name(report, mark),
        module=report.module,
        own=own,
        score=_score(report, mark, own=own),
        share=_share(report, mark, own=own),
        message=report.message,
        comment=mark.comment if mark else "",
        facts=tuple(_facts(report, mark, own=own)),
        functions=tuple(_function(report, target, items, problems.get(target), plots) for target in targets),
        general=tuple(_problem(one) for one in diagnoses if one.target not in targets),
        undecided=tuple(
            f"{item.target or 'your submission'}: {item.points:g} points" for item in report.reviews if item.is_open
        ),
        unmeasured=tuple(_unmeasured(report)),
        steps=_next_steps(report, own=own),
        made_with=f"AttnLab {report.environment.get('attnlab') or ''}".strip(),
        own_lines=frozenset(line for one in excerpts if one for line in one.lines),
    )


def _name(report: Report, mark: Mark | None) -> str:
    return (mark.name if mark else "") or report.submission


def _score(report: Report, mark: Mark | None, *, own: bool) -> str:
    if own:
        passed = sum(check.outcome == "passed" for check in report.checks)
        return f"{passed} of {len(report.checks)} visible checks pass"
    final = mark.final if mark else report.score
    return "not graded yet" if final is None else f"{final:g} of {report.max_score:g} points"


def _share(report: Report, mark: Mark | None, *, own: bool) -> int | None:
    if own:
        passed = sum(check.outcome == "passed" for check in report.checks)
        return 100 * passed // len(report.checks) if report.checks else None
    final = mark.final if mark else report.score
    return (
        None if final is None or not report.max_score else round(min(100.0, max(0.0, 100 * final / report.max_score)))
    )


def _facts(report: Report, mark: Mark | None, *, own: bool) -> Iterator[Fact]:
    """Yield what a reader must know about the score."""
    yield Fact("File", report.file)
    if own:
        yield Fact("What this is", "the visible checks; the grade comes from the hidden checks too")
    if mark is not None:
        yield from _mark_facts(mark)
    if report.undecided_points:
        yield Fact("Provisional", f"{report.undecided_points:g} points are not decided yet")
    for one in report.builds_on:
        yield Fact("Earlier module", one.text("your"))


def _mark_facts(mark: Mark) -> Iterator[Fact]:
    """Yield what a class list says: points by hand, times and lateness, and the attempt that counts."""
    if mark.override is not None:
        automatic = "none" if mark.automatic is None else f"{mark.automatic:g}"
        yield Fact("Points by hand", f"{mark.override:g}, automatic mark: {automatic}")
    if mark.handed_in:
        yield Fact("Handed in", _time(mark.handed_in))
    if mark.due:
        yield Fact("Due", _time(mark.due))
    if mark.late_s:
        penalty = f", penalty: {mark.penalty:g} points" if mark.penalty else ", no penalty"
        yield Fact("Late", f"by {show_length(timedelta(seconds=mark.late_s))}{penalty}")
    elif mark.due and not mark.time_known:
        yield Fact("Late", "submission time unknown: no penalty")
    if mark.attempts > 1:
        yield Fact("Attempts", f"{mark.attempts}; this is the one that counts")


def _time(text: str) -> str:
    return text.replace("T", " ").replace("+00:00", " UTC")


def _function(
    report: Report, target: str, items: tuple[Item, ...], diagnosis: Diagnosis | None, plots: Plots
) -> FunctionPart:
    mine = [item for item in items if item.target == target]
    points = round(sum(item.points for item in mine), 6)
    graded = report.score is not None
    earned = round(sum(item.earned or 0.0 for item in mine), 6)
    checks = [item for item in mine if item.kind != "cost"]
    calls = dict.fromkeys(call for call in report.forbidden if call.target == target)
    return FunctionPart(
        name="Reflect" if target == REFLECT else target,
        anchor=f"f-{list(dict.fromkeys(item.target for item in items)).index(target)}",
        points=f"{earned:g} of {points:g}" if graded else "not graded",
        share=round(100 * earned / points) if points and graded else 0,
        passed=f"{sum(item.outcome == 'passed' for item in checks)} of {len(checks)}",
        checks=tuple(_check(item, target) for item in checks),
        problem=_problem(diagnosis) if diagnosis else None,
        costs=tuple(_cost(cost, plots) for cost in report.costs if cost.target == target),
        forbidden=tuple(f"{call.call} in line {call.line} is not allowed: {call.why}" for call in calls),
    )


def _check(item: Item, target: str) -> CheckRow:
    earned = "?" if item.earned is None else f"{item.earned:g}"
    property_ = item.title.removeprefix(f"{target}: ")
    return CheckRow(
        title=property_,
        suite=_SUITES[item.kind],
        word=_WORDS[item.outcome],
        points=f"{earned} of {item.points:g}",
        text="" if item.text == f"{UNTRUE}{property_}" else item.text,
        needs_review=item.needs_review,
    )


def _cost(cost: CostResult, plots: Plots) -> CostRow:
    word = cost_word(cost.verdict, cost.measured, cost.message)
    return CostRow(
        function=cost.function,
        meter=cost.meter,
        word=word,
        measured=NO_FORMULA if cost.measured.startswith("grows like ") else cost.measured,
        limit=cost.law,
        text=without_word(cost.message),
        points=f"{cost.earned:g} of {cost.points:g}",
        line=cost.line,
        code=cost.code,
        plot=plots.get(cost.name) if word != NOT_MEASURED else None,
    )


def _problem(diagnosis: Diagnosis) -> ProblemPart:
    gap = diagnosis.gap
    return ProblemPart(
        misconception=diagnosis.misconception or "",
        paragraphs=paragraphs_of(diagnosis.message, gap.call if gap else ""),
        code=diagnosis.code,
        call=gap.call if gap else "",
        part=gap.part if gap else "",
        maps=heat_maps(gap) if gap else (),
    )


def _unmeasured(report: Report) -> Iterator[str]:
    """Yield what was not measured or could not be decided, and why; a reason that several meters share comes once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for cost in report.costs:
        word = cost_word(cost.verdict, cost.measured, cost.message)
        if word in (NOT_MEASURED, "not decided"):
            found.setdefault((cost.function, word, without_word(cost.message)), []).append(cost.meter)
    for (function, word, why), meters in found.items():
        yield f"{function}, {', '.join(meters)}: {word.lower()}. {why}".strip()
    for check in report.asked:
        if check.outcome in ("not_run", "held_back"):
            yield f"{check.target}, {check.property}: {check.message or 'not run'}"


def _next_steps(report: Report, *, own: bool) -> tuple[str, ...]:
    """Return one to three sentences: the first thing to fix comes first."""
    slug = report.module.partition("_")[2] or report.module
    if report.status == "not_importable":
        return (f"Fix the error above, so that Python can load your file. Then run `attn test {slug}`.",)
    if report.score is None:
        return ("There is nothing for you to do: the grader failed, not your code. Your work will be graded again.",)
    steps = []
    first = first_thing(report)
    failed = [check for check in report.checks if check.outcome == "failed"]
    if isinstance(first, Diagnosis) and first.target:
        advice = next_step_of(first.message)
        steps.append(f"Begin with {first.function or first.target}. {advice[:1].upper()}{advice[1:]}".strip())
    elif isinstance(first, CheckResult):
        steps.append(f"Begin with {first.target}: {first.property}. Then run `attn test {slug}`.")
    costly = [cost for cost in report.costs if cost.verdict == "fail"]
    if costly and not failed:
        steps.append(f"See what {costly[0].function} costs, and where: `attn profile {slug} {costly[0].function}`.")
    if report.forbidden:
        call = report.forbidden[0]
        steps.append(f"Write {call.target} without {call.call} (line {call.line}).")
    if report.needs_review and not own:
        steps.append("Your course staff still has to decide something. You need not do anything about that.")
    if not steps:
        steps.append(f"Run `attn complete {slug}`." if own else "Nothing is wrong here. Go on with the next module.")
    return tuple(steps)
