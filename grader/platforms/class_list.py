"""The class list of a folder of results, as every export reads it: marks, and the report behind each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.marks import MISSING, Mark, mark_from
from grader.core.report import Report, file_name, report_from
from grader.core.safe_text import one_line


class ExportError(Exception):
    """Something that cannot be handed on, and what to do about it."""


@dataclass(frozen=True)
class ClassList:
    """What counts for everybody, module by module. Who was not graded, or has nothing, has no `final`."""

    folder: Path
    marks: tuple[Mark, ...]

    @property
    def modules(self) -> dict[str, float]:
        """The modules by name, with the points possible."""
        return {mark.module: mark.max_score for mark in self.marks}

    def by_person(self) -> dict[str, dict[str, Mark]]:
        """Return the marks of everybody by id and module. Of two for one module neither is taken: see `problems`."""
        double = self._double()
        people: dict[str, dict[str, Mark]] = {mark.id: {} for mark in self.marks}
        for mark in self.marks:
            if (mark.id, mark.module) not in double:
                people[mark.id][mark.module] = mark
        return people

    def problems(self) -> Iterator[str]:
        """Yield who has no score though there is work of theirs, and why."""
        for who, module in sorted(self._double()):
            yield one_line(f"{who} has several grades for {module}: none of them is handed on")
        for mark in self.marks:
            if mark.final is None and mark.status != MISSING:
                why = mark.status.replace("_", " ")
                yield one_line(f"{mark.id or mark.submission} has no score for {mark.module} ({why}): not a 0")

    def reports(self) -> Iterator[tuple[Mark, Report]]:
        """Yield every mark that rests on a report, with it."""
        for mark in self.marks:
            if mark.status != MISSING:
                yield mark, self._report(mark)

    def _report(self, mark: Mark) -> Report:
        path = self.folder / mark.module / f"{file_name(mark.submission)}.json"
        fix = "run the same `attn grade` again with --resume"
        try:
            report = report_from(json.loads(path.read_bytes()))
        except FileNotFoundError:
            raise ExportError(f"{path} is missing, but is in the class list: {fix}") from None
        except (OSError, ValueError) as error:
            raise ExportError(f"{path} cannot be read, or is no report ({error}): {fix}") from None
        if report.score != mark.score or report.status != mark.status:
            raise ExportError(f"{path} says something else than the class list: {fix}")
        return report

    def _double(self) -> set[tuple[str, str]]:
        counts = Counter((mark.id, mark.module) for mark in self.marks)
        return {key for key, count in counts.items() if count > 1}


def read_class(folder: Path, modules: Collection[str] = ()) -> ClassList:
    """Read what `attn grade --to FOLDER` wrote, all of it or some modules; ExportError if it is not finished."""
    try:
        marks = [mark_from(one) for one in json.loads((folder / "grades.json").read_text(encoding="utf-8"))]
    except FileNotFoundError:
        if (folder / "journal.jsonl").is_file():
            fix = f"finish it: attn grade ... --to {folder} --resume"
            raise ExportError(f"{folder} has no class list, so that the grading did not end; {fix}") from None
        raise ExportError(f"there are no grades in {folder}; make them with: attn grade ... --to {folder}") from None
    except (OSError, ValueError) as error:
        raise ExportError(f"{folder / 'grades.json'} cannot be read: {error}") from None
    found = tuple(mark for mark in marks if not modules or mark.module in modules)
    if not found:
        raise ExportError(f"there are no grades in {folder}" + (f" for {', '.join(modules)}" if modules else ""))
    return ClassList(folder, found)
