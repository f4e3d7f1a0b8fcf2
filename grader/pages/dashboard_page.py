"""The dashboard of a class, as records for its template. All numbers come from `grader/classroom/`."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from grader.classroom.class_results import ClassResults, StudentResult
from grader.classroom.class_statistics import (
    MisconceptionPair,
    Named,
    SuspectCheck,
    attempt_days,
    misconception_pairs,
    stuck_students,
    suspect_checks,
)
from grader.classroom.copies import CopyGroup
from grader.classroom.marks import MISSING, NO_REPORT, Mark
from grader.classroom.stats import BINS
from grader.core.safe_text import listed
from grader.core.times import show_length
from grader.pages.dashboard_numbers import SectionNumbers, is_late, section_numbers
from grader.pages.rendering import render

EVERY = ""  # all sections
MOST_TAUGHT = 10  # misconceptions in the list of what to teach again


@dataclass(frozen=True)
class MisconceptionText:
    """What a course says about a misconception: a sentence, what to try, and the part of the lesson it belongs to."""

    likely: str
    hint: str = ""
    part: str = ""


About = Callable[[str, str, str], MisconceptionText]  # by module, misconception and function


@dataclass(frozen=True)
class TableRow:
    """A row of a table: its cells, and the places of its section and its modules, by which it can be filtered."""

    cells: tuple[str, ...]
    section: int = -1
    modules: tuple[int, ...] = ()
    note: str = ""
    place: int = 0  # before it was sorted


@dataclass(frozen=True)
class ModulePart:
    """One module of a class. The numbers are those of all sections; `SectionNumbers` has those of each."""

    name: str
    at: int
    bins: tuple[str, ...]
    checks: tuple[TableRow, ...]
    misconceptions: tuple[TableRow, ...]
    matrix: tuple[TableRow, ...]  # who has which misconception; the script makes a column of each


@dataclass(frozen=True)
class DashboardPage:
    """The dashboard of a class."""

    title: str
    students: int
    sections: tuple[str, ...]
    modules: tuple[ModulePart, ...]
    numbers: dict[str, SectionNumbers]
    by_section: tuple[TableRow, ...]
    teach: tuple[TableRow, ...]
    suspects: tuple[TableRow, ...]
    pairs: tuple[TableRow, ...]
    overview_head: tuple[str, ...]
    overview: tuple[TableRow, ...]
    days: tuple[TableRow, ...]
    stuck: tuple[TableRow, ...]
    look_at: tuple[TableRow, ...]
    alike: tuple[TableRow, ...]
    absent: tuple[TableRow, ...]
    late: tuple[TableRow, ...]
    by_hand: tuple[TableRow, ...]
    progress: tuple[TableRow, ...]
    changed: tuple[TableRow, ...]
    has_attempts: bool


def dashboard(found: ClassResults, about: About, title: str, colour: str = "") -> str:
    """Return the page, in the colour of the course. `about` says what a misconception is."""
    page = dashboard_page(found, about, title)
    data = [vars(numbers) for numbers in page.numbers.values()]  # all sections first
    return render("dashboard.html", script="dashboard.js", title=page.title, page=page, data=data, colour=colour)


def dashboard_page(found: ClassResults, about: About, title: str) -> DashboardPage:
    """Return the records of the page."""
    return _Builder(found, about, title).page()


class _Builder:
    """Builds one dashboard. It holds what all parts need: the places of modules and sections."""

    def __init__(self, found: ClassResults, about: About, title: str) -> None:
        self.found = found
        self.about = about
        self.title = title
        self.modules = found.modules
        self.sections = found.sections
        self.by_module = {name: [one for one in found.results if one.mark.module == name] for name in self.modules}
        self.wrong = {name: _misconception_counts(self.by_module[name]) for name in self.modules}
        self.people = {one.mark.id: one.mark for one in found.results}
        self.by_submission = {one.mark.submission: one.mark for one in found.results if one.mark.submission}
        self.all_pairs = misconception_pairs(found.results)
        self.most_frequent = _most_frequent(found.results)

    def page(self) -> DashboardPage:
        numbers = {
            section: section_numbers(self.found, self._of(section), self.wrong, self.all_pairs, self.most_frequent)
            for section in (EVERY, *self.sections)
        }
        return DashboardPage(
            title=self.title,
            students=len(self.people),
            sections=self.sections,
            modules=tuple(self._module(at, numbers[EVERY]) for at in range(len(self.modules))),
            numbers=numbers,
            by_section=tuple(self._section_row(section, numbers[section]) for section in (EVERY, *self.sections)),
            teach=tuple(map(self._teach_row, self.most_frequent, numbers[EVERY].teach)),
            suspects=tuple(map(self._suspect_row, suspect_checks(self.found))),
            pairs=tuple(map(self._pair_row, self.all_pairs, numbers[EVERY].pairs)),
            overview_head=tuple(
                f"{name} (of {row[1]})" for name, row in zip(self.modules, numbers[EVERY].glance, strict=True)
            ),
            overview=tuple(self._overview()),
            days=tuple(
                TableRow((one.day, one.module, str(one.attempts)), -1, self._at(one.module))
                for one in attempt_days(self.found)
            ),
            stuck=tuple(self._stuck()),
            look_at=tuple(
                self._row(one, one.to_look_at, f"{one.undecided_points:g}" if one.undecided_points else "")
                for one in self.found.results
                if one.to_look_at
            ),
            alike=tuple(self._alike_row(one) for one in self.found.copies if one.module in self.modules),
            absent=tuple(
                self._row(one, one.mark.status, one.mark.reason or "")
                for one in self.found.results
                if one.mark.status in NO_REPORT
            ),
            late=tuple(
                self._row(one, _late_by(one.mark), f"{one.mark.penalty:g}", _number(one.mark.final))
                for one in self.found.results
                if is_late(one.mark)
            ),
            by_hand=tuple(
                self._row(one, one.mark.comment, _number(one.mark.automatic), _number(one.mark.override))
                for one in self.found.results
                if one.mark.override is not None or one.mark.comment
            ),
            progress=tuple(self._progress()),
            changed=tuple(self._changed()),
            has_attempts=bool(self.found.attempts),
        )

    def _of(self, section: str) -> list[StudentResult]:
        return [one for one in self.found.results if section in (EVERY, one.mark.section)]

    def _at(self, *modules: str) -> tuple[int, ...]:
        return tuple(self.modules.index(module) for module in modules if module in self.modules)

    def _section(self, section: str) -> int:
        return self.sections.index(section) if section in self.sections else -1

    def _row(self, one: StudentResult, *cells: str) -> TableRow:
        mark = one.mark
        head = (mark.id, mark.name, mark.section, mark.module)
        return TableRow((*head, *cells), self._section(mark.section), self._at(mark.module))

    def _module(self, at: int, numbers: SectionNumbers) -> ModulePart:
        name = self.modules[at]
        most = max((one.mark.max_score for one in self.by_module[name]), default=0.0)
        infos = list(self.found.checks[name].values())
        columns = self.wrong[name]
        rows = [
            TableRow((info.property, info.kind, info.target, *cells), note=info.name, place=place)
            for place, (info, cells) in enumerate(zip(infos, numbers.checks[at], strict=True))
        ]
        rows.sort(key=lambda row: -int(row.cells[3]))  # what fails most comes first
        matrix = [
            TableRow((_shown_name(one), ", ".join(one.misconceptions)), self._section(one.mark.section))
            for one in self.by_module[name]
            if one.misconceptions
        ]
        return ModulePart(
            name=name,
            at=at,
            bins=tuple(f"{most * low / BINS:g} to {most * (low + 1) / BINS:g}" for low in range(BINS)),
            checks=tuple(rows),
            misconceptions=tuple(
                TableRow((column, *self._texts(name, column), *cells))
                for column, cells in zip(columns, numbers.misconceptions[at], strict=True)
            ),
            matrix=tuple(matrix),
        )

    def _texts(self, module: str, name: str) -> tuple[str, str, str]:
        """Return what a misconception is, its part of the lesson, and what to try."""
        function = self.found.functions.get(module, {}).get(name, "")
        text = self.about(module, name, function)
        return text.likely, text.part or function, text.hint

    def _section_row(self, section: str, numbers: SectionNumbers) -> TableRow:
        """Return the mean of each module in a section, as a share of its points."""
        students = len({one.mark.id for one in self._of(section)})
        return TableRow((section or "all", str(students), *numbers.shares))

    def _teach_row(self, named: Named, cells: list[str]) -> TableRow:
        module, name = named
        likely, part, _ = self._texts(module, name)
        return TableRow((module, part, name, likely, *cells), -1, self._at(module))

    def _suspect_row(self, one: SuspectCheck) -> TableRow:
        found, check = one.statistics, one.statistics.check
        names = listed(_shown_name(result) for result in one.strongest)
        cells = (one.module, check.property, check.kind, check.target, found.remark, names)
        return TableRow((*cells, f"{found.failed} of {found.of}"), -1, self._at(one.module), check.name)

    def _pair_row(self, pair: MisconceptionPair, cells: list[str]) -> TableRow:
        names = (f"{pair.first[0]} {pair.first[1]}", f"{pair.second[0]} {pair.second[1]}")
        return TableRow((*names, *cells), -1, self._at(pair.first[0], pair.second[0]))

    def _alike_row(self, group: CopyGroup) -> TableRow:
        marks = [self.by_submission[who] for who in group.submissions if who in self.by_submission]
        sections = {self._section(mark.section) for mark in marks}
        names = {mark.submission: f"{mark.name} ({mark.id})" if mark.name else mark.id for mark in marks}
        who = ", ".join(names.get(one, one) for one in group.submissions)
        cells = (who, group.module, group.text, str(len(group.submissions)))
        return TableRow(cells, sections.pop() if len(sections) == 1 else -1, self._at(group.module))

    def _overview(self) -> Iterable[TableRow]:
        """Yield a row for each student: the total, what is missing or weak, and the mark of each module."""
        by_person: dict[str, dict[str, StudentResult]] = {}
        for one in self.found.results:
            by_person.setdefault(one.mark.id, {})[one.mark.module] = one
        for who, mine in by_person.items():
            mark = self.people[who]
            scored = [one.mark for one in mine.values() if one.mark.final is not None]
            most = sum(one.max_score for one in scored)
            share = f"{100 * sum(one.final or 0.0 for one in scored) / most:.0f} %" if most else "–"
            missing = sum(one.mark.status == MISSING for one in mine.values())
            weak = sum(2 * (mark.final or 0.0) < mark.max_score for mark in scored)
            wrong = sum(len(one.misconceptions) for one in mine.values())
            marks = [_final(mine[module]) if module in mine else "" for module in self.modules]
            cells = (mark.id, mark.name, mark.section, share, str(missing), str(wrong), str(weak), *marks)
            yield TableRow(cells, self._section(mark.section))

    def _stuck(self) -> Iterable[TableRow]:
        for one in stuck_students(self.found.attempts):
            mark = self.by_submission.get(one.student)
            who = (mark.id, mark.name, mark.section) if mark else (one.student, "", "")
            cells = (*who, one.module, one.misconception, f"{one.attempts} of {one.of}")
            yield TableRow(cells, self._section(who[2]), self._at(one.module))

    def _progress(self) -> Iterable[TableRow]:
        """Yield a row for each module: the mean before and now, and how many marks went up and down."""
        before = {(mark.id, mark.module): mark.final for mark in self.found.before if mark.final is not None}
        for module in self.modules:
            now = {one.mark.id: one.mark.final for one in self.by_module[module] if one.mark.final is not None}
            both = [(before[who, module], final) for who, final in now.items() if (who, module) in before]
            if not both:
                continue
            means = [f"{statistics.fmean(side):.4g}" for side in zip(*both, strict=True)]
            up, down = sum(new > old for old, new in both), sum(new < old for old, new in both)
            cells = (module, str(len(both)), *means, str(up), str(down), str(len(now) - len(both)))
            yield TableRow(cells, -1, self._at(module))

    def _changed(self) -> Iterable[TableRow]:
        """Yield a row for each mark that changed since the grading before."""
        before = {(mark.id, mark.module): mark for mark in self.found.before}
        for one in self.found.results:
            old = before.get((one.mark.id, one.mark.module))
            if old and old.final != one.mark.final:
                yield self._row(one, _why_changed(old, one), _number(old.final), _number(one.mark.final))


def _shown_name(one: StudentResult) -> str:
    return f"{one.mark.name} ({one.mark.id})" if one.mark.name else one.mark.id


def _late_by(mark: Mark) -> str:
    return show_length(timedelta(seconds=mark.late_s)) if mark.late_s else "unknown: marked late by the platform"


def _why_changed(old: Mark, one: StudentResult) -> str:
    """Return why a mark changed: by hand, with the late penalty, or with the report."""
    if old.override != one.mark.override:
        return "points by hand" if one.mark.override is not None else "no more points by hand"
    reasons = ["late penalty"] if old.penalty != one.mark.penalty else []
    return "; ".join([*reasons, *([one.changed] if one.changed else [])])


def _most_frequent(results: Iterable[StudentResult]) -> list[Named]:
    """Return the most frequent misconceptions of all modules. One student alone is no reason to teach it again."""
    counts = Counter((one.mark.module, name) for one in results for name in one.misconceptions)
    named = sorted((name for name in counts if counts[name] > 1), key=lambda name: (-counts[name], name))
    return named[:MOST_TAUGHT]


def _misconception_counts(results: Sequence[StudentResult]) -> list[str]:
    """Return the misconceptions of a module, the most frequent first."""
    counts = Counter(name for one in results for name in one.misconceptions)
    return sorted(counts, key=lambda name: (-counts[name], name))


def _final(one: StudentResult) -> str:
    if one.mark.final is None:
        return one.mark.status.replace("_", " ")
    return f"{one.mark.final:g}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
