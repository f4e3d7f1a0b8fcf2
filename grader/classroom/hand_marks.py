"""Marks by hand: points and comments that replace or explain the automatic mark of a student."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.classroom import ClassError
from grader.classroom.marks import Mark
from grader.classroom.overrides import Override, Overrides
from grader.classroom.results import Results
from grader.classroom.roster import normalize_name
from grader.classroom.store.store import ResultsStore, read_marks


def find_mark(marks: Sequence[Mark], student: str, module: str) -> Mark:
    """Return the line of a student, named as in the reports, by id or by a name that only one student has."""
    lines = [mark for mark in marks if mark.module == module]
    wanted = normalize_name(student)
    for names in (lambda mark: (mark.id, mark.submission), lambda mark: (mark.name,)):
        found = [mark for mark in lines if wanted in map(normalize_name, filter(None, names(mark)))]
        if len(found) == 1:
            return found[0]
        if found:
            raise ClassError(f"{len(found)} lines of the class list for {module} are {student}: use the id")
    if not lines:
        modules = ", ".join(sorted({mark.module for mark in marks}))
        raise ClassError(f"there are no grades for {module}. There are grades for {modules}")
    raise ClassError(f"{student} has no line for {module} in the class list. Add the student to the roster")


def give(store: ResultsStore, mark: Mark, points: float | None, comment: str, when: str, *, extra: bool) -> Mark:
    """Give points, a comment or both, and return the new mark. What is not given stays as it was."""

    def given(overrides: Overrides) -> Overrides:
        before = overrides.find(mark)
        new = Override(mark.submission or mark.id, mark.module, points, comment, extra, mark.automatic, when)
        if before is not None:
            new = replace(
                new,
                points=before.points if points is None else points,
                comment=comment or before.comment,
                extra=extra or (before.extra and points in (None, before.points)),
            )
        if new.points is not None and new.points > mark.max_score and not new.extra:
            problem = f"{new.points:g} points are more than the {mark.max_score:g} that {mark.module} has"
            raise ClassError(f"{problem}. If that is meant, add --extra")
        return overrides.put(mark, new)

    return _change(store, mark, given)


def clear(store: ResultsStore, mark: Mark) -> Mark:
    """Take points and comment back, and return the automatic mark."""

    def cleared(overrides: Overrides) -> Overrides:
        if overrides.find(mark) is None:
            raise ClassError(f"{mark.id} has no points or comment by hand for {mark.module}")
        return overrides.without(mark)

    return _change(store, mark, cleared)


def _change(store: ResultsStore, mark: Mark, change: Callable[[Overrides], Overrides]) -> Mark:
    """Save the overrides, then the class list. Readers of the list read the overrides too, so a crash loses nothing."""
    with Results(store) as results:

        def steps() -> Mark:
            overrides = change(results.writer.overrides())
            marks = read_marks(store)
            results.writer.save_overrides(overrides)
            results.write_class_list(marks)
            return overrides.applied_to(mark)

        return results.writer.atomically(steps, alone=True)


def overrides_of(store: ResultsStore, marks: Sequence[Mark]) -> tuple[list[Mark], list[str]]:
    """Return the marks with points or a comment by hand, and what the instructor should know about them."""
    overrides = store.overrides()
    return [mark for mark in marks if overrides.find(mark)], list(overrides.notes(marks))
