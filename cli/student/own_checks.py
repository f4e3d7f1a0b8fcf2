"""The visible checks on a student's own file, as `test`, `complete` and `watch` run them."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.ui.progress_line import Pace
from grader.core.machine import IN_BROWSER
from grader.course.course import Course
from grader.course.module import Module
from grader.sandbox.jail.tiers import begin_spawner
from grader.sandbox.jail.view import gpu_devices
from grader.submission.own_file import own_file, stale_twin
from grader.workspace.progress import record_report

if TYPE_CHECKING:
    from grader.core.report import Report

WIDTH = 80
NO_GPU = "not run: it needs an NVIDIA GPU, and this machine has none. Nothing else in the course needs it"


def run_checks(course: Course, module: Module, case: str = "") -> Report:
    """Run the visible checks."""
    # The worker starts first, and the grader is imported while it does: both import NumPy, on two cores at once.
    # With this import at the top of the file, the student would wait for the first and then for the second.
    if module.needs_gpu and not gpu_devices():
        raise click.UsageError(f"{module.name}: {NO_GPU}")
    begun = None if module.needs_gpu else begin_spawner(module.backend)
    try:
        gc.disable()  # collecting takes a tenth of the time of the imports, and there is no garbage yet
        from grader.grading.grade import check_own_file
        from grader.grading.workers import NoGpuError

        gc.enable()
        try:
            with Pace(1) as pace:
                if module.backend == "torch":
                    pace.tell("starting PyTorch ...")
                return check_own_file(
                    course, module, begun, case, lambda _, check: pace.slow(module.slug, check), pace.busy
                )
        except NoGpuError as error:
            raise click.UsageError(f"{module.name}: no worker can use a GPU here: {error}") from None
    finally:
        if begun is not None:
            begun.close()


def save_progress(course: Course, module: Module, report: Report) -> None:
    """Save the result of the checks as progress; if that fails, the result is still worth showing."""
    try:
        record_report(course, module, report)
    except OSError as error:
        click.echo(f"attn: your progress could not be saved: {error.strerror or error}", err=True)


def where_to_paste(module: Module) -> str:
    """Say where a student can paste a call: below a command that starts Python with their file, or in their notebook.

    The file is imported, not run: the part of a lesson that is only for a main program may train a model.
    """
    file = own_file(module)
    if IN_BROWSER:
        return f"at the end of {file.name}, and press Run"
    if file == module.notebook:
        return f"into a new cell of {file.name}"
    folder = os.path.relpath(module.folder)
    enter = "" if folder == "." else f"cd {shlex.quote(folder)}"
    # Only the package that the student builds, `mylab`, is outside the folder of the file.
    setting = (
        ("set PYTHONPATH=..\\.. && " if sys.platform == "win32" else "PYTHONPATH=../.. ") if _uses_mylab(file) else ""
    )
    start = f'{setting}python -i -c "from {module.slug} import *"'
    if not enter:
        return f"after this command:\n{start}"
    both = f"{enter} && {start}"
    return f"after this command:\n{both}" if len(both) <= WIDTH else f"after these commands:\n{enter}\n{start}"


def _uses_mylab(file: Path) -> bool:
    return file.is_file() and "mylab" in file.read_text(encoding="utf-8", errors="replace")


def tell_which_counts(module: Module) -> None:
    """Say which file counts if a script and a notebook differ."""
    if (older := stale_twin(module)) is not None:
        newer = own_file(module).name
        click.echo(f"attn: {newer} counts: it is newer than {older.name}, and they differ", err=True)
