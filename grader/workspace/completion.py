"""What makes a module complete, and `mylab`, the package that a student builds from complete modules."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.complexity.meter_words import in_words
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import Module
from grader.course.notebook import read_cells
from grader.submission.own_file import own_file

if TYPE_CHECKING:
    from grader.core.report import Report
    from grader.workspace.own_costs import OwnCost

PACKAGE = "mylab"
_INIT = '"""What I built in AttnLab: each module appears here when it is complete."""\n'


@dataclass(frozen=True)
class Completion:
    """What is still open in a module: its checks, its limits, what it states about its functions, its questions."""

    report: Report
    costs: Sequence[OwnCost] = ()
    unanswered: tuple[str, ...] = ()
    not_right: Mapping[str, str] = field(default_factory=dict)  # questions whose answer is not right, and why

    @property
    def passes(self) -> bool:
        """Whether every visible check passes."""
        return all(check.outcome == "passed" for check in self.report.checks)

    @property
    def keeps_limits(self) -> bool:
        """Whether every visible check passes and no cost is over its limit."""
        return self.passes and not self._broken()

    def is_complete(self, *, anyway: bool) -> bool:
        """Whether nothing is open; `anyway` accepts open questions, and small calls with another result than stated."""
        return self.keeps_limits and (anyway or not self.open_items())

    def open_items(self) -> list[str]:
        """Return one line for each thing that is open."""
        failed = [check.property for check in self.report.checks if check.outcome != "passed"]
        return [*(f"visible check: {text}" for text in failed), *self.beyond_checks()]

    def beyond_checks(self) -> list[str]:
        """Return the same without the visible checks."""
        items = [
            f"{one.function}: {one.total - one.hold} of {one.total} small calls do not do what is stated"
            for one in self.report.properties
            if one.hold < one.total
        ]
        items += [
            f"limit of {function}: {', '.join(map(in_words, all_of))}" for function, all_of in self._broken().items()
        ]
        items += [f"question under Reflect: {name} is not answered" for name in self.unanswered]
        return items + [f"question under Reflect: {name}: {why}" for name, why in self.not_right.items()]

    def _broken(self) -> dict[str, list[str]]:
        """Return the meters over their limits, by function."""
        found = {
            cost.contract.function: [one.meter for one in cost.measured.costs if one.verdict == "fail"]
            for cost in self.costs
        }
        return {function: meters for function, meters in found.items() if meters}


def export(course: Course, module: Module) -> Path:
    """Write a module's code into the student's package and return the path. An older version is kept beside it."""
    folder = course.root / PACKAGE
    if not (folder / "__init__.py").is_file():
        write_atomically(folder / "__init__.py", _INIT)
    source = own_file(module)
    text = _as_script(source) if source == module.notebook else source.read_text(encoding="utf-8")
    path = folder / f"{module.slug}.py"
    if path.is_file() and path.read_bytes() != text.encode():
        shutil.copy2(path, path.with_suffix(".py.old"))
    write_atomically(path, text)
    return path


def _as_script(notebook: Path) -> str:
    return "".join(f"# %%\n{cell}\n\n" for cell in read_cells(notebook.read_bytes()))
