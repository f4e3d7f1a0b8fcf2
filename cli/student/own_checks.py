"""The visible checks on a student's own file, as `test`, `complete` and `watch` run them."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from grader.course.course import Course
from grader.course.module import Module
from grader.sandbox.jail.tiers import begin_spawner
from grader.submission.own_file import own_file, stale_twin
from grader.workspace.progress import record_report

if TYPE_CHECKING:
    from grader.core.report import Report


def run_checks(course: Course, module: Module, case: str = "") -> Report:
    """Run the visible checks."""
    # The worker starts first, and the grader is imported while it does: both import NumPy, on two cores at once.
    # With this import at the top of the file, the student would wait for the first and then for the second.
    begun = begin_spawner(module.backend)
    try:
        gc.disable()  # collecting takes a tenth of the time of the imports, and there is no garbage yet
        from grader.grading.grade import check_own_file

        gc.enable()
        return check_own_file(course, module, begun, case)
    finally:
        if begun is not None:
            begun.close()


def save_progress(course: Course, module: Module, report: Report) -> None:
    """Save the result of the checks as progress; if that fails, the result is still worth showing."""
    try:
        record_report(course, module, report)
    except OSError as error:
        click.echo(f"attn: your progress could not be saved: {error.strerror or error}", err=True)


def own_python(module: Module) -> str:
    """Return the command that starts Python with the student's file, from the current folder."""
    file = own_file(module)
    if file == module.notebook:
        return f"a new cell of {file.name}"
    script = os.path.relpath(file)
    # Only the package that the student builds, `mylab`, is outside the folder of the file.
    uses_mylab = "mylab" in file.read_text(encoding="utf-8", errors="replace")
    root = os.path.relpath(module.folder.parent.parent)
    setting = f"set PYTHONPATH={root} & " if sys.platform == "win32" else f"PYTHONPATH={shlex.quote(root)} "
    return f"{setting if uses_mylab else ''}python -i {shlex.quote(script)}"


def tell_which_counts(module: Module) -> None:
    """Say which file counts if a script and a notebook differ."""
    if (older := stale_twin(module)) is not None:
        newer = own_file(module).name
        click.echo(f"attn: {newer} counts: it is newer than {older.name}, and they differ", err=True)
