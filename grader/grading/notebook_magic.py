"""Checks inside a notebook: `%load_ext grader.grading.notebook_magic`, then cells that begin with `%%check`.

The functions are called in the notebook's own process. Nothing here is graded, so nothing is jailed. Values are still
encoded and decoded, so that a check sees exactly what it sees in grading.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.core.report import CheckResult
from grader.course.api import Api
from grader.grading.argument_checks import judge_arguments
from grader.grading.checks import read_checks
from grader.grading.judge import judge
from grader.grading.run_suite import directly, tests_among
from grader.sandbox.jail.limits import Limits
from grader.sandbox.protocol.decoder import decode
from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from grader.sandbox.worker.worker import Worker

_CELL = Path("checks.py")  # stands for the file of a cell's checks
_UNWRITTEN = "raised NotImplementedError"


class ChecksFailedError(Exception):
    """Some checks failed. A notebook shows only the message, without a traceback through our code."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class _InProcess(Session):
    """A session with the notebook's own objects instead of a worker."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(_NoSpawner(), Program({}, "__main__", ()), Limits())  # type: ignore[arg-type] # nothing is spawned
        self.objects = Worker()
        self.objects.modules = SimpleNamespace(main=SimpleNamespace(**names), filenames=set())  # type: ignore[assignment]

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        """Make the call in this process. Arguments and results are copies, as from another process."""
        message = self._with_earlier(message)
        reply = self.objects.answer(decode(encode(message)))
        try:
            reply = decode(encode(reply, self.objects.keep))
            self.record.note_changed(reply.get("changed", []), message, owner)
        except UnsendableError as error:
            reply = {"error": self.objects.describe(error)}
        if "error" in reply:
            raise self.failure(call, owner, reply["error"])
        return reply["ok"]

    def start_afresh(self) -> bool:
        """Return False: there is no other process."""
        return False


class _NoSpawner:
    tier = "none"


def check(line: str, cell: str, names: Mapping[str, Any]) -> str:
    """Run the checks that a cell defines on some names, and return what to show; ChecksFailedError if one fails."""
    module, target = line.split()
    space: dict[str, Any] = {"__name__": f"checks of {target}"}
    # In a separate namespace: the notebook's names do not change.
    exec(compile(cell, f"<checks of {target}>", "exec"), space)
    tests = tests_among(space, _CELL) or []
    checks = read_checks(tests, {_CELL: "visible"}, (target,))
    pairs = [(directly(one, module), check) for one, check in zip(tests, checks, strict=True)]
    session, api = _InProcess(names), _api(names)
    found = judge(Student(session, api), pairs).checks
    found += tuple(judge_arguments((), session.record.calls, found, checks, api))
    if all(one.outcome == "passed" for one in found):
        return f"{target}: {_counted(found)}. The hidden checks run when your work is graded."
    raise ChecksFailedError(_failure_text(target, found))


def load_ipython_extension(shell: Any) -> None:
    """Add `%%check` to a notebook."""

    def magic(line: str, cell: str) -> None:
        shell.display_pub.publish({"text/plain": check(line, cell, shell.user_ns)})

    shell.register_magic_function(magic, "cell", "check")


def _api(names: Mapping[str, Any]) -> Api:
    """Return the functions and classes among some names."""
    types = {name: value for name, value in names.items() if isinstance(value, type)}
    parts = {name: {one: part for one, part in vars(value).items() if one[:1] != "_"} for name, value in types.items()}
    properties = {
        name: tuple(one for one, part in found.items() if isinstance(part, property)) for name, found in parts.items()
    }
    classes = {name: tuple(one for one in found if one not in properties[name]) for name, found in parts.items()}
    functions = tuple(name for name, value in names.items() if callable(value) and name not in classes)
    return Api(functions, classes, (), properties=properties)


def _failure_text(target: str, checks: tuple[CheckResult, ...]) -> str:
    failed = [check for check in checks if check.outcome != "passed"]
    if all(_UNWRITTEN in check.message for check in failed):
        lines = [f"{target}: not written yet."] if len(failed) == len(checks) else [f"{target}: {_counted(checks)}."]
        return "\n".join([*lines, "Replace `raise NotImplementedError` with your code, run that cell, then this one."])
    lines = [f"{target}: {_counted(checks)}."]
    for check in failed:
        lines += [f"  FAILED  {check.property}", *(f"          {line}" for line in check.message.splitlines())]
    return "\n".join(lines)


def _counted(checks: tuple[CheckResult, ...]) -> str:
    passed = sum(check.outcome == "passed" for check in checks)
    return f"{passed} of {len(checks)} visible checks pass"
