"""Plain text views of a student's progress."""

from __future__ import annotations

from grader.course.course import Course
from grader.submission.own_file import own_file
from grader.workspace.progress import ModuleProgress

ALL_COMPLETE = "Every module is complete. Hand in your work: attn submit"
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


def to_do_lines(course: Course, progress: ModuleProgress) -> list[str]:
    """Return the lesson to read, the file to edit and the command to run."""
    module = progress.module
    command = "complete" if progress.state == "passing" else "test"
    return [
        f"  read   {module.lesson.relative_to(course.root)}",
        f"  edit   {own_file(module).relative_to(course.root)}",
        f"  run    attn {command} {module.slug}",
    ]
