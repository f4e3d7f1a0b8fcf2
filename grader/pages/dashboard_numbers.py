"""The numbers of a section of a class, ready to be shown: the script of the dashboard computes nothing."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.classroom.class_results import ClassResults, StudentResult
from grader.classroom.class_statistics import (
    CheckStatistics,
    MisconceptionPair,
    Named,
    check_statistics,
    misconceptions_by_student,
)
from grader.classroom.marks import MISSING, Mark
from grader.classroom.stats import BINS


@dataclass(frozen=True)
class SectionNumbers:
    """The numbers of a section, ready to be shown, in the order of the rows of their tables."""

    glance: list[list[str]]
    bins: list[list[int]]
    checks: list[list[list[str]]]
    misconceptions: list[list[list[str]]]
    pairs: list[list[str]]
    teach: list[list[str]]
    shares: list[str]  # the mean of each module


def section_numbers(
    found: ClassResults,
    results: Iterable[StudentResult],
    misconceptions: Mapping[str, Sequence[str]],
    pairs: Sequence[MisconceptionPair],
    teach: Sequence[Named],
) -> SectionNumbers:
    """Return the numbers of some results of a class. The rows are those of the complete class."""
    results = list(results)
    by_module = {name: [one for one in results if one.mark.module == name] for name in found.modules}
    by_student = misconceptions_by_student(results).values()
    return SectionNumbers(
        glance=[_glance(mine) for mine in by_module.values()],
        bins=[_bins(mine) for mine in by_module.values()],
        checks=[
            [_check_cells(one) for one in check_statistics(found.checks[name].values(), mine)]
            for name, mine in by_module.items()
        ],
        misconceptions=[[_share(wrong, mine) for wrong in misconceptions[name]] for name, mine in by_module.items()],
        pairs=[_pair_cells(pair, by_student) for pair in pairs],
        teach=[_share(wrong, by_module[name]) for name, wrong in teach],
        shares=[_mean_share(mine) for mine in by_module.values()],
    )


def is_late(mark: Mark) -> bool:
    """Whether work is late: by its time or, if that is not known, because the platform says so."""
    return bool(mark.late_s) or (mark.marked_late and not (mark.time_known and mark.due))


def _share(misconception: str, results: Sequence[StudentResult]) -> list[str]:
    """Return how many results show a misconception, and their share of those that were checked."""
    count, of = sum(misconception in one.misconceptions for one in results), sum(one.was_checked for one in results)
    return [str(count), f"{100 * count / of:.0f} %" if of else "–"]


def _mean_share(results: Sequence[StudentResult]) -> str:
    """Return the mean of the final marks as a share of the points."""
    marks = [one.mark for one in results if one.mark.final is not None and one.mark.max_score]
    shares = [100 * (mark.final or 0.0) / mark.max_score for mark in marks]
    return f"{statistics.fmean(shares):.0f} %" if shares else "–"


def _glance(results: Sequence[StudentResult]) -> list[str]:
    """Return a module in a row of numbers."""
    finals = [one.mark.final for one in results if one.mark.final is not None]
    most = max((one.mark.max_score for one in results), default=0.0)
    missing = sum(one.mark.status == MISSING for one in results)
    return [
        str(len(results) - missing),
        f"{most:g}",
        f"{statistics.fmean(finals):.4g}" if finals else "–",
        f"{statistics.median(finals):.4g}" if finals else "–",
        str(sum(final >= most for final in finals)),
        str(sum(one.mark.status == "not_importable" for one in results)),
        str(sum(one.mark.final is None for one in results) - missing),
        str(sum(bool(one.undecided_points) for one in results)),
        str(sum(is_late(one.mark) for one in results)),
        str(missing),
    ]


def _bins(results: Sequence[StudentResult]) -> list[int]:
    """Return how many final marks are in each tenth of the points; full marks belong to the last tenth."""
    counts = [0] * BINS
    for one in results:
        if one.mark.final is not None and one.mark.max_score:
            counts[max(0, min(BINS - 1, int(BINS * one.mark.final / one.mark.max_score)))] += 1
    return counts


def _check_cells(one: CheckStatistics) -> list[str]:
    passing = "–" if one.difficulty is None else f"{100 * one.difficulty:.0f} %"
    telling = "–" if one.discrimination is None else f"{one.discrimination:.2f}"
    return [str(one.failed), str(one.of), passing, telling, one.remark]


def _pair_cells(pair: MisconceptionPair, by_student: Iterable[set[tuple[str, str]]]) -> list[str]:
    first = second = both = 0
    for names in by_student:
        first += pair.first in names
        second += pair.second in names
        both += pair.first in names and pair.second in names
    return [str(both), str(first), str(second)]
