"""The class list that every export reads from a results folder: marks with their reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.marks import MISSING, NO_REPORT, Mark
from grader.core.json_record import from_json
from grader.core.report import Report, file_name, report_from
from grader.core.safe_text import one_line


class ExportError(Exception):
    """Something that cannot be exported, and what to do about it."""


@dataclass(frozen=True)
class ClassList:
    """The marks of a class. The mark of a student who was not graded, or submitted nothing, has no `final`."""

    folder: Path
    marks: tuple[Mark, ...]

    @property
    def modules(self) -> dict[str, float]:
        """The points possible in each module, by its name."""
        return {mark.module: mark.max_score for mark in self.marks}

    def by_person(self) -> dict[str, dict[str, Mark]]:
        """Return the marks by student id and module, without those of which a module has several: see `problems`."""
        duplicates = self._duplicates()
        people: dict[str, dict[str, Mark]] = {mark.id: {} for mark in self.marks}
        for mark in self.marks:
            if (mark.id, mark.module) not in duplicates:
                people[mark.id][mark.module] = mark
        return people

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
                why = mark.status.replace("_", " ")
                yield one_line(f"{mark.id or mark.submission} has no score for {mark.module} ({why}): not a 0")

    def reports(self) -> Iterator[tuple[Mark, Report]]:
        """Yield every mark that has a report, with the report."""
        for mark in self.marks:
            if mark.status not in NO_REPORT:
                yield mark, self._report(mark)

    def _report(self, mark: Mark) -> Report:
        path = self.folder / mark.module / f"{file_name(mark.submission)}.json"
        fix = "Run the same `attn grade` again with --resume"
        try:
            report = report_from(json.loads(path.read_bytes()))
        except FileNotFoundError:
            raise ExportError(f"{path} is in the class list, but is missing. {fix}") from None
        except (OSError, ValueError) as error:
            raise ExportError(f"{path} cannot be read, or is not a report ({error}). {fix}") from None
        if report.score != mark.score or report.status != mark.status:
            raise ExportError(f"{path} does not agree with the class list. {fix}")
        return report

    def _duplicates(self) -> set[tuple[str, str]]:
        counts = Counter((mark.id, mark.module) for mark in self.marks)
        return {key for key, count in counts.items() if count > 1}


def read_class(folder: Path, modules: Collection[str] = ()) -> ClassList:
    """Read what `attn grade --to FOLDER` wrote, for all or some modules; ExportError if the grading is unfinished."""
    try:
        marks = [from_json(Mark, one) for one in json.loads((folder / "grades.json").read_text(encoding="utf-8"))]
    except FileNotFoundError:
        if (folder / "journal.jsonl").is_file():
            fix = f"To finish it, run: attn grade ... --to {folder} --resume"
            raise ExportError(f"{folder} has no class list, because the grading did not finish. {fix}") from None
        fix = f"To make them, run: attn grade ... --to {folder}"
        raise ExportError(f"there are no grades in {folder}. {fix}") from None
    except (OSError, ValueError) as error:
        raise ExportError(f"{folder / 'grades.json'} cannot be read: {error}") from None
    found = tuple(mark for mark in marks if not modules or mark.module in modules)
    if not found:
        raise ExportError(f"there are no grades in {folder}" + (f" for {', '.join(modules)}" if modules else ""))
    return ClassList(folder, found)
