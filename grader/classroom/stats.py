"""Statistics of a class: failure rates, misconceptions, score distribution, submissions to review."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.classroom import ClassError
from grader.classroom.copies import CopyGroup, read_copies
from grader.classroom.store.store import ResultsStore, StoredReport, has_reports
from grader.complexity.cost import LeaderboardEntry, entries
from grader.core.json_record import to_json
from grader.core.report import Report
from grader.core.summary import Summary, summary_of
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import Module

BINS = 10


@dataclass(frozen=True)
class MisconceptionCount:
    """A misconception and the submissions that show it."""

    module: str
    misconception: str
    likely: str
    submissions: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the count as JSON data."""
        return to_json(self) | {"count": len(self.submissions)}


@dataclass(frozen=True)
class CheckRate:
    """How many of a class fail one check or cost."""

    name: str
    kind: str  # visible, hidden or cost
    target: str
    property: str
    failed: int
    of: int

    def rate(self) -> float:
        """Return the share of submissions that failed it, out of those that were checked."""
        return self.failed / self.of if self.of else 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the rate as JSON data."""
        return to_json(self) | {"rate": round(self.rate(), 4)}


@dataclass(frozen=True)
class ModuleStats:
    """Statistics of a class for one module."""

    module: str
    max_score: float
    submissions: int
    scores: tuple[float, ...]  # lowest first; submissions without a score are not in it
    checks: tuple[CheckRate, ...]  # highest failure rate first
    misconceptions: tuple[MisconceptionCount, ...]
    to_look_at: tuple[tuple[str, str], ...]  # a submission, and the reason
    speeds: tuple[LeaderboardEntry, ...] = ()  # on a GPU, fastest first
    copies: tuple[CopyGroup, ...] = ()  # files that are alike

    @property
    def distribution(self) -> tuple[int, ...]:
        """The number of scores in each tenth of the points; full marks belong to the last tenth."""
        counts = [0] * BINS
        for score in self.scores:
            counts[min(BINS - 1, int(BINS * score / self.max_score))] += 1
        return tuple(counts)

    def renamed(self, name: Callable[[str], str], text: Callable[[str], str]) -> ModuleStats:
        """Return the statistics with other names of students, in the order of those names."""
        counts = (replace(one, submissions=tuple(sorted(map(name, one.submissions)))) for one in self.misconceptions)
        return replace(
            self,
            misconceptions=tuple(counts),
            to_look_at=tuple(sorted((name(who), text(why)) for who, why in self.to_look_at)),
            speeds=tuple(replace(entry, submission=name(entry.submission)) for entry in self.speeds),
            copies=tuple(sorted((one.renamed(name) for one in self.copies), key=lambda one: one.submissions)),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the statistics as JSON data."""
        return {
            "module": self.module,
            "max_score": self.max_score,
            "submissions": self.submissions,
            "scored": len(self.scores),
            "full_marks": sum(score == self.max_score for score in self.scores),
            "mean": round(statistics.fmean(self.scores), 4) if self.scores else None,
            "median": statistics.median(self.scores) if self.scores else None,
            "distribution": list(self.distribution),
            "checks": [check.as_json() for check in self.checks],
            "misconceptions": [one.as_json() for one in self.misconceptions],
            "to_look_at": [{"submission": who, "why": why} for who, why in self.to_look_at],
            "leaderboard": [to_json(entry) for entry in self.speeds],
            "copies": [to_json(one) for one in self.copies],
        }


def read_stats(course: Course, store: ResultsStore, modules: Iterable[str] = ()) -> list[ModuleStats]:
    """Return the statistics of each module, from the reports that `attn grade --to` wrote."""
    wanted = set(modules)
    alike = read_copies(store)
    found = []
    for name in sorted(module.name for module in course.modules):
        if not wanted or name in wanted:
            summaries: list[Summary] = []
            rates: dict[str, CheckRate] = {}
            speeds: list[LeaderboardEntry] = []
            for one in store.stored(name):
                report = _read(one)
                summaries.append(summary_of(report))
                _count(rates, report)
                speeds += entries(report)
            if summaries:
                copies = tuple(one for one in alike if one.module == name)
                one_module = _module_stats(course, summaries, rates)
                found.append(replace(one_module, speeds=tuple(sorted(speeds)), copies=copies))
    missing = sorted(wanted.difference(one.module for one in found))
    there = [one.name for one in course.modules if has_reports(store, one.name)] if missing else []
    if there:
        raise ClassError(f"{store} has no reports of {', '.join(missing)}. It has reports of {', '.join(there)}")
    if not found:
        raise ClassError(f"there are no reports in {store}. To write them, run: attn grade class/ --to {store.name}")
    return found


def _module_stats(course: Course, summaries: list[Summary], rates: Mapping[str, CheckRate]) -> ModuleStats:
    summaries.sort(key=lambda one: one.submission)
    return ModuleStats(
        module=summaries[0].module,
        max_score=summaries[0].max_score,
        submissions=len(summaries),
        scores=tuple(sorted(one.score for one in summaries if one.score is not None)),
        checks=tuple(sorted(rates.values(), key=lambda check: -check.rate())),
        misconceptions=tuple(count_misconceptions(course, summaries)),
        to_look_at=tuple((one.submission, one.to_look_at) for one in summaries if one.to_look_at),
    )


def _count(rates: dict[str, CheckRate], report: Report) -> None:
    """Count what a submission failed. One that cannot be imported was never checked, so it does not count."""
    checked = report.status == "graded"
    for check in report.asked:
        rate = rates.get(check.name) or CheckRate(check.name, check.suite, check.target, check.property, 0, 0)
        failed = checked and check.outcome != "passed"
        rates[check.name] = _add(rate, failed=failed, checked=checked)
    for cost in report.costs:
        name = cost.name
        rate = rates.get(name) or CheckRate(name, "cost", cost.target, f"at most {cost.law}", 0, 0)
        rates[name] = _add(rate, failed=cost.verdict == "fail", checked=checked)


def _add(rate: CheckRate, *, failed: bool, checked: bool) -> CheckRate:
    return replace(rate, failed=rate.failed + failed, of=rate.of + checked)


def _read(stored: StoredReport) -> Report:
    try:
        return stored.report()
    except ValueError:
        fix = "Run the same `attn grade` with --resume to grade it again"
        raise ClassError(f"{stored.where} is not a complete report. {fix}") from None


def count_misconceptions(course: Course, summaries: Iterable[Summary]) -> list[MisconceptionCount]:
    """Return every diagnosed misconception, the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    for summary in summaries:
        for name in summary.misconceptions:
            found.setdefault((summary.module, name), []).append(summary.submission)
    known = {module.name: read_golden(module).misconceptions for module in _modules(course, {one for one, _ in found})}
    # A report may be older than the course. A misconception that the course no longer has is still counted.
    entries = [
        MisconceptionCount(module, name, str(known.get(module, {}).get(name, {}).get("likely", "")), tuple(sorted(who)))
        for (module, name), who in found.items()
    ]
    return sorted(entries, key=lambda one: (-len(one.submissions), one.module, one.misconception))


def _modules(course: Course, names: set[str]) -> list[Module]:
    return [module for module in course.modules if module.name in names]
