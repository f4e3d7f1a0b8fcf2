"""Plain text views of a student's progress."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence

from grader.core.machine import IN_BROWSER
from grader.course.course import Course
from grader.course.module import INTRODUCTION, Module
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


def status_lines(
    progress: ModuleProgress, unanswered: int, questions: int, *, is_next: bool = False, everything: bool = True
) -> list[str]:
    """Return the progress with one module: a phrase, what it unlocks, and once begun a bar, points and Reflect.

    A complete module has the phrase alone, unless `everything` is wanted.
    """
    text = f"{progress.module.name:<{NAME}} {progress_words(progress)}"
    lines = textwrap.wrap(text, WIDTH, subsequent_indent=" " * (NAME + 1))
    if progress.completed and progress.state == "passing" and not everything:
        return lines
    if (milestone := progress.module.milestone) is not None and (progress.completed or is_next):
        lines.append(f"{'':<{NAME}} {'unlocked' if progress.completed else 'unlocks'}: {milestone.unlocks}")
    if progress.state == "untouched":
        return lines
    words = []
    if (tested := progress.tested) is not None and tested.total:
        done = BAR * tested.passed // tested.total
        points = "" if tested.points is None else f" {tested.points:g} of {progress.module.points:g} points"
        lines.append(f"{'':<{NAME}} {'#' * done}{'-' * (BAR - done)}{points}")
        words += [f"{tested.holding} of {tested.stated} properties"] if tested.stated else []
    words += [f"Reflect {questions - unanswered} of {questions} answered"] if questions else []
    return [*lines, f"{'':<{NAME}} {', '.join(words)}"] if words else lines


def story_lines(found: list[ModuleProgress], ahead: ModuleProgress | None) -> list[str]:
    """Return the story of the course: what each module unlocks, which are complete, and which is next."""
    told = [(one, one.module.milestone.unlocks) for one in found if one.module.milestone is not None]
    width = max((len(one.module.title) for one, _ in told), default=0)
    lines = []
    for one, unlocks in told:
        mark = "next" if one is ahead else "done" if one.completed else ""
        text = f"  {mark:<4}  {one.module.title:<{width}}  {unlocks}"
        lines += textwrap.wrap(text, WIDTH, subsequent_indent=" " * (width + 10))
    return lines


def milestone_lines(course: Course, module: Module, result: Sequence[str], *, again: bool = True) -> list[str]:
    """Return what a complete module unlocked, what it does, and how to do it `again`. Lines to copy have no indent."""
    if (milestone := module.milestone) is None:
        return []
    shown = ["", f"You built it: {milestone.unlocks}.", *(f"  {line}" for line in result)]
    if not again:
        return [*shown, ""]
    here = os.path.relpath(course.root)
    where = "" if here == "." else f" in {here}"
    start = f"paste at the end of {module.stub.name}, and press Run" if IN_BROWSER else f"start python{where} and paste"
    try_it = "Try it:" if milestone.is_command else f"Try it: {start}"
    return [*shown, try_it, *milestone.code.splitlines(), ""]


def begin_lines(course: Course, progress: ModuleProgress) -> list[str]:
    """Return what a module is, how far it is, and what to do."""
    module = progress.module
    head = f"{module.name}, {module.title} ({module.minutes} min): {progress_words(progress)}"
    note = []
    if module.needs_gpu:
        from grader.sandbox.jail.view import gpu_devices  # the other modules need no look at the machine

        there = "" if gpu_devices() else ". This machine has none, so its checks are not run"
        note = [f"  note   optional, and in no total. It needs an NVIDIA GPU and Triton{there}."]
    return [head, *to_do_lines(course, progress), *note]


def to_do_lines(course: Course, progress: ModuleProgress) -> list[str]:
    """Return the lesson to read, the file to edit and the command to run."""
    module = progress.module
    command = "complete" if progress.state == "passing" else "test"
    introduction = [path for path in module.beside_lesson if path.name == INTRODUCTION]
    return [
        *(f"  first  {path.relative_to(course.root)}, if this is new to you" for path in introduction),
        f"  read   {module.lesson.relative_to(course.root)}",
        f"  edit   {own_file(module).relative_to(course.root)}",
        f"  run    attn {command} {module.slug}",
    ]
