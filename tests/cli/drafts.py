"""What `attn test` shows of the first drafts in tests/data/drafts: `python -m tests.cli.drafts [MODULES] [--all]`.

Each screen is printed as a student sees it, after a line with what the draft is and what should be shown first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli.student.own_checks import where_to_paste
from cli.ui.own_screen import own_screen
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.grading.grade import check_own_files
from tests.cases import Case, cases
from tests.conftest import ROOT
from tests.submissions import submission_of

ROWS, COLUMNS = 23, 80  # of 24 rows, the last is for the prompt


@dataclass(frozen=True)
class Shown:
    """A draft, its report, and the screen of `attn test`."""

    draft: Case
    report: Report
    screen: str

    @property
    def first(self) -> str:
        """The function that is shown first, and what is wrong with it."""
        found = self.report.first_diagnosis
        return f"{found.function or found.target}: {found.kind}" if found is not None else "nothing"

    @property
    def is_right(self) -> bool:
        """Whether the expected thing is shown first; a draft may say two kinds of what is wrong."""
        function, _, kinds = self.draft.expected.partition(": ")
        return self.first in [f"{function}: {kind}" for kind in kinds.split(" or ")]

    @property
    def fits(self) -> bool:
        """Whether the screen fits a small terminal."""
        lines = self.screen.splitlines()
        return len(lines) <= ROWS and max(map(len, lines)) <= COLUMNS


def drafts_shown(
    course: Course, module: Module, drafts: Sequence[Case], *, everything: bool = False
) -> Iterator[Shown]:
    """Run the visible checks on drafts, as `attn test` does."""
    stub = read_golden(module).stub
    reports: list[Report] = []
    check_own_files(
        course, module, [submission_of(course, module, one.changing(stub)) for one in drafts], reports.append
    )
    for draft, report in zip(drafts, reports, strict=True):
        yield Shown(draft, report, own_screen(report, everything=everything, python=where_to_paste(module)))


def main() -> None:
    """Print the screens, and whether each shows the right thing in 24 rows of 80 characters."""
    course, wanted = read_course(ROOT), [one for one in sys.argv[1:] if not one.startswith("-")]
    good, total = 0, 0
    for module in course.modules:
        drafts = cases("drafts", module.name)
        if not drafts or (wanted and not any(module.name.startswith(one) for one in wanted)):
            continue
        for one in drafts_shown(course, module, drafts, everything="--all" in sys.argv):
            verdict = "right" if one.is_right else f"NOT RIGHT: {one.first}"
            print(f"{'=' * COLUMNS}\n{module.name} {one.draft.name}: {one.draft.shows}")
            print(f"expected: {one.draft.expected}; {verdict}; {len(one.screen.splitlines())} rows\n{'-' * COLUMNS}")
            print(one.screen)
            good, total = good + (one.is_right and one.fits), total + 1
    print(f"{'=' * COLUMNS}\n{good} of {total} show the right thing first and fit {ROWS} rows of {COLUMNS}")


if __name__ == "__main__":
    main()
