"""The review items of a submission: everything that its grading could not decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from grader.core.report import CheckResult, cost_name
from grader.core.review import ReviewItem
from grader.core.safe_text import one_line, plain_name, printable
from grader.submission.submission import Submission

if TYPE_CHECKING:  # a student's own checks must not wait for the meters
    from grader.complexity.cost import Cost


def review_items(
    submission: Submission, checks: Iterable[CheckResult], costs: Iterable[Cost]
) -> tuple[ReviewItem, ...]:
    """Return what an instructor must decide, in the order of the report.

    Another source of doubt adds its items here. Each names in `parts` the checks and costs that depend on it, so that
    a decision can give or take their points.
    """
    return (*_of_checks(submission, checks), *_of_costs(submission, costs))


def _of_checks(submission: Submission, checks: Iterable[CheckResult]) -> Iterator[ReviewItem]:
    """Yield one item for each check that passed, but in doubt."""
    for check in checks:
        if check.undecided and check.outcome == "passed":
            file, reason = plain_name(submission.file), printable(check.undecided)
            yield ReviewItem(check.target, "check", file, None, reason, check.points, parts=(check.name,))


def _of_costs(submission: Submission, costs: Iterable[Cost]) -> Iterator[ReviewItem]:
    """Yield one item for each cost that the meters could not decide."""
    texts = source_texts(submission)
    for cost in costs:
        if cost.verdict != "inconclusive":
            continue
        place = cost.place if cost.place and cost.place.file in texts else None  # the worker says which file it was
        yield ReviewItem(
            target=cost.target,
            what="cost",
            file=place.file if place else plain_name(submission.file),
            line=place.line if place else None,
            reason=printable(cost.message),
            points=round(cost.points, 6),
            parts=(cost_name(cost.function, cost.meter),),
            code=_line(texts[place.file], place.line) if place else "",
        )


def source_texts(submission: Submission) -> dict[str, str]:
    """Return the text of every file, by its name in messages: a cell of a notebook is `warm_up.ipynb[3]`."""
    found = {}
    for source in submission.sources.values():
        name = plain_name(source.file)
        for number, cell in enumerate(source.cells, 1):
            found[f"{name}[{number}]" if source.notebook else name] = cell
    return found


def _line(text: str, number: int) -> str:
    """Return one line of a text, counted as Python does."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return one_line(lines[number - 1].strip()) if 0 < number <= len(lines) else ""
