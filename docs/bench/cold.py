"""A cold process: `python -m docs.bench.cold MODULE` imports torch, runs a module's suite once, and ends.

Most autograders do this for every submission. The student's code runs in the same process, without a jail.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from grader.course.course import read_course
from grader.grading.checks import Check
from grader.grading.grade import full_suite
from grader.grading.load_student import program_of
from grader.grading.run_suite import run_suite
from grader.grading.suite import Judge
from grader.sandbox.jail.limits import Limits
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from grader.sandbox.worker.seeding import seed_everything
from grader.sandbox.worker.warm_up import set_up_torch
from grader.sandbox.worker.worker import Worker
from grader.submission.submission import Source, Submission

ROOT = Path(__file__).parent.parent.parent


class Near(Session):
    """A session whose worker is this process: nothing is sent anywhere."""

    def __init__(self, program: Program) -> None:
        super().__init__(None, program, Limits())  # type: ignore[arg-type]
        self._near = Worker()
        seed_everything(0)
        files = {"files": program.files, "main": program.main, "names": list(program.names)}
        assert not self._near.answer({"op": "load", **files})["ok"]["errors"]

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        reply = self._near.answer(self._with_earlier(message))
        if "error" in reply:
            raise self.failure(call, owner, reply["error"])
        return _carried(self._near, reply["ok"])


def _carried(worker: Worker, value: Any) -> Any:
    """Return a result as it would arrive over the wire; objects that cannot be sent stay in the worker."""
    if type(value) in (list, tuple):
        return type(value)(_carried(worker, item) for item in value)
    if type(value) is dict:
        return {key: _carried(worker, item) for key, item in value.items()}
    if type(value) is torch.nn.Parameter:
        return value.detach()
    return worker.keep(value) if type(value).__module__.partition(".")[0] == "mylab" else value


def main(name: str) -> None:
    """Grade a module's solution once; AssertionError if it does not pass."""
    set_up_torch()
    course = read_course(ROOT)
    module = course.module(name)
    suite = replace(full_suite(course, module), measured=False)
    source = Source(f"{module.slug}.py", (course.solution(module).read_text(),), notebook=False)
    program = program_of(Submission("s", name, source.file, {module.slug: source}), module, suite.api)

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        verdict = judge(Student(Near(program), suite.api))
        failed = [check for check in verdict.checks if check.outcome != "passed"]
        assert len(verdict.checks) == len(checks)
        assert not failed, failed

    run_suite(suite, body)


if __name__ == "__main__":
    main(sys.argv[1])
