"""Reasons why nothing can be graded, as JSON data: a grading process answers with one instead of a report."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any, NoReturn

from grader.course.module import CourseError
from grader.grading.workers import NoGpuError, NoJailError

NO_JAIL, NO_GPU, COURSE, NO_PROCESS, FAULT = "no_jail", "no_gpu", "course", "no_process", "fault"


class NoProcessError(Exception):
    """Grading processes end before they answer anything, so the submissions are not the cause."""


def failure_of(error: Exception) -> dict[str, Any]:
    """Return an exception as data."""
    if isinstance(error, NoJailError):
        return {"error": NO_JAIL, "args": []}
    if isinstance(error, NoGpuError):
        return {"error": NO_GPU, "args": [str(error)]}
    if isinstance(error, CourseError):
        return {"error": COURSE, "args": error.parts}
    if isinstance(error, NoProcessError):
        return {"error": NO_PROCESS, "args": [str(error)]}
    return {"error": FAULT, "args": ["".join(traceback.format_exception(error))]}


def raise_failure(answer: dict[str, Any]) -> NoReturn:
    """Raise the exception that the data describes."""
    if answer["error"] == NO_JAIL:
        raise NoJailError
    if answer["error"] == NO_GPU:
        raise NoGpuError(answer["args"][0])
    if answer["error"] == COURSE:
        file, key, problem, fix, usage = answer["args"]
        raise CourseError(Path(file), key, problem, fix, usage=usage)
    if answer["error"] == NO_PROCESS:
        raise NoProcessError(answer["args"][0])
    raise RuntimeError("a grading process failed:\n" + answer["args"][0])
