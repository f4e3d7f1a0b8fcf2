"""Plain text views of a student's progress."""

from __future__ import annotations

import textwrap

from grader.course.course import Course
from grader.course.module import INTRODUCTION
from grader.submission.own_file import own_file
from grader.workspace.progress import ModuleProgress

ALL_COMPLETE = "Every module is complete. Hand in your work: attn submit"
WIDTH, NAME, BAR = 80, 24, 10  # characters
POINTS = "Points are those of the visible checks. Grading decides about the others."
_STATES = {
    "untouched": "not started",
    "started": "changed, not tested yet",
    "failing": "{passed} of {total} visible checks pass",
    "passing": "all {total} visible checks pass",
}


def progress_words(progress: ModuleProgress) -> str:
    """Return the progress with one module as a phrase."""
    counts = {} if progress.tested is None else {"passed": progress.tested.passed, "total": progress.tested.total}
    words = _STATES[progress.state].format(**counts)
    if progress.missing and not progress.completed:
        return f"{words}; locked, needs {', '.join(progress.missing)}"
    if progress.completed:
        return f"complete; {words}" if progress.state == "passing" else f"was complete; now {words}"
    return words


def status_lines(progress: ModuleProgress, unanswered: int, questions: int) -> list[str]:
    """Return the progress with one module: a phrase, and once it is begun a bar, its points and Reflect."""
    text = f"{progress.module.name:<{NAME}} {progress_words(progress)}"
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=" " * (NAME + 1))
    if progress.state == "untouched":
        return lines
    words = []
    if (tested := progress.tested) is not None and tested.total:
        done = BAR * tested.passed // tested.total
        points = "" if tested.points is None else f" {tested.points:g} of {progress.module.points:g} points"
        lines.append(f"{'':<{NAME}} {'#' * done}{'-' * (BAR - done)}{points}")
        words += [f"{tested.holding} of {tested.stated} properties"] if tested.stated else []
    words += [f"Reflect {questions - unanswered} of {questions}"] if questions else []
    return [*lines, f"{'':<{NAME}} {', '.join(words)}"] if words else lines


def to_do_lines(course: Course, progress: ModuleProgress) -> list[str]:
    """Return the lesson to read, the file to edit and the command to run."""
    module = progress.module
    command = "complete" if progress.state == "passing" else "test"
    introduction = [path for path in module.beside_lesson if path.name == INTRODUCTION]
    return [
        *(f"  first  {path.relative_to(course.root)}, if attention is new to you" for path in introduction),
        f"  read   {module.lesson.relative_to(course.root)}",
        f"  edit   {own_file(module).relative_to(course.root)}",
        f"  run    attn {command} {module.slug}",
    ]
