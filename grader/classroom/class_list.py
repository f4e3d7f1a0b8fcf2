"""The class list that every export reads from the results of a class: marks with their reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from grader.classroom import RESUME, ClassError
from grader.classroom.journal import ReportKey
from grader.classroom.marks import MISSING, NO_REPORT, Mark
from grader.classroom.overrides import Overrides
from grader.classroom.pseudonyms import Pseudonyms
from grader.classroom.store.store import ResultsStore, read_marks
from grader.core.report import Report, report_from
from grader.core.safe_text import one_line


class ExportError(ClassError):
    """Something that cannot be exported, and what to do about it."""


@dataclass(frozen=True)
class ClassList:
    """The marks of a class. The mark of a student who was not graded, or submitted nothing, has no `final`."""

    store: ResultsStore
    marks: tuple[Mark, ...]
    names: Pseudonyms | None = None  # if the students are hidden

    def hidden(self, names: Pseudonyms) -> ClassList:
        """Return the class list with pseudonyms, in their order."""
        marks = sorted(map(names.mark, self.marks), key=lambda mark: (mark.module, mark.id))
        return ClassList(self.store, tuple(marks), names)

    @property
    def modules(self) -> dict[str, float]:
        """The points possible in each module, by its name."""
        return {mark.module: mark.max_score for mark in self.marks}

    def overrides(self) -> Overrides:
        """Return what the instructor gave by hand; the marks have it already."""
        return self.store.overrides()

    def by_person(self) -> dict[str, dict[str, Mark]]:
        """Return the marks by student id and module, without those of which a module has several: see `problems`."""
        duplicates = self._duplicates()
        people: dict[str, dict[str, Mark]] = {mark.id: {} for mark in self.marks}
        for mark in self.marks:
            if (mark.id, mark.module) not in duplicates:
                people[mark.id][mark.module] = mark
        return people

    def real_names(self, mark: Mark) -> tuple[str, ...]:
        """Return the names that a student has in rules, also where the mark has a pseudonym."""
        if self.names is None:
            return mark.id, mark.submission
        own = (one for one in self.names.people if self.names.of(one.key) == mark.id)
        return tuple(name for one in own for name in (one.key, *one.others))

    def unknown_times(self) -> str:
        """Return how many submissions have a due date, but no known time; empty if there are none."""
        due = [mark for mark in self.marks if mark.due]
        unknown = [mark for mark in due if not mark.time_known]
        marked = sum(mark.marked_late for mark in unknown)
        late = f"; {marked} of them the platform marked LATE" if marked else ""
        return f"submission time unknown for {len(unknown)} of {len(due)}: no late penalty{late}" if unknown else ""

    def problems(self) -> Iterator[str]:
        """Yield a message for each student whose work has no score to export."""
        for student, module in sorted(self._duplicates()):
            yield one_line(f"{student} has several grades for {module}: none of them is exported")
        for mark in self.marks:
            if mark.final is None and mark.status != MISSING:
                why = mark.status.replace("_", " ") + (f", {mark.reason}" if mark.reason else "")
                yield one_line(f"{mark.id or mark.submission} has no score for {mark.module} ({why}): not a 0", 1000)

    def reports(self) -> Iterator[tuple[Mark, Report]]:
        """Yield every mark that has a report, with the report."""
        for mark in self.marks:
            if mark.status not in NO_REPORT:
                yield mark, self._report(mark)

    def _report(self, mark: Mark) -> Report:
        student = self.names.student(mark.submission) if self.names else mark.submission
        key = ReportKey(mark.module, student)
        where = self.store.where(key)
        try:
            report = report_from(json.loads(self.store.read(key)))
        except FileNotFoundError:
            raise ExportError(f"{where} is in the class list, but is missing. {RESUME}") from None
        except (OSError, ValueError) as error:
            raise ExportError(f"{where} cannot be read, or is not a report ({error}). {RESUME}") from None
        if report.score != mark.score or report.status != mark.status:
            raise ExportError(f"{where} does not agree with the class list. {RESUME}")
        return self.names.report(report) if self.names else report

    def _duplicates(self) -> set[tuple[str, str]]:
        counts = Counter((mark.id, mark.module) for mark in self.marks)
        return {key for key, count in counts.items() if count > 1}


def read_class(store: ResultsStore, modules: Collection[str] = ()) -> ClassList:
    """Read what `attn grade --to` wrote, for all or some modules; ClassError if the grading is unfinished."""
    marks = read_marks(store)
    found = tuple(mark for mark in marks if not modules or mark.module in modules)
    if not found:
        there = ", ".join(sorted({mark.module for mark in marks})) or "no module"
        wanted = f" for {', '.join(modules)}" if modules else ""
        raise ExportError(f"there are no grades in {store}{wanted}. It has grades for {there}")
    return ClassList(store, found)
