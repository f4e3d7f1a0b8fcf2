"""The families of cases, and how many of each the test commands run: `python -m tests.families` prints the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.authoring.misconceptions import read_misconceptions
from grader.course.course import Course, read_course
from tests.acceptance import graded_cases, test_cheats
from tests.acceptance.attacks.attack import read_attacks, some_of_each
from tests.acceptance.attacks.test_strict import SOME
from tests.acceptance.docs import test_blocks
from tests.acceptance.docs.blocks import PAGES
from tests.acceptance.journey import screens
from tests.cases import cases
from tests.complexity import test_implementations
from tests.conftest import ROOT
from tests.diagnosis import graded, test_styles, test_wild
from tests.quick import QUICK, sampled, share
from tests.sandbox import test_liars

HEAD = "| family | cases | in `make test` | in `make test-all` |\n|---|---|---|---|\n"


@dataclass(frozen=True)
class Family:
    """Cases of one kind, and how many of them run."""

    name: str
    cases: int
    quick: int
    all: int

    def __str__(self) -> str:
        return f"| {self.name} | {self.cases} | {self.quick} | {self.all} |\n"


def families(course: Course) -> Sequence[Family]:
    """Return all families."""
    attacks = len(read_attacks())
    quick_attacks = len(some_of_each(read_attacks(), SOME))
    ways = {module.name: read_misconceptions(course, module) for module in course.modules}
    cheats = [case.module for case in test_cheats.CHEATS]
    leaks = len(test_cheats.FAST_LEAKS), len(test_cheats.FAST_LEAKS) + len(test_cheats.SLOW_LEAKS)
    every_cheat = [
        one for name in set(cheats) for one in sampled([*filter(name.__eq__, cheats)], test_cheats.EVERY.get(name, 1))
    ]
    pages = [page for page in PAGES if test_blocks.runnable(page)]
    return (
        Family("attacks on the strict jail", attacks, quick_attacks, attacks),
        Family("attacks on the contained jail", attacks, quick_attacks, attacks),
        Family(
            "results that lie",
            len(test_liars.BODIES),
            share(len(test_liars.BODIES), test_liars.EVERY),
            len(test_liars.BODIES),
        ),
        Family("cheats", len(cheats), len(test_cheats.FAST), len(every_cheat)),
        Family("cheats that bring out hidden inputs", len(test_cheats.LEAKS), *leaks),
        _files("right solutions", "right"),
        _files("honest submissions, under another salt", "honest"),
        Family(
            "costs of implementations",
            len(test_implementations.ALL),
            len(test_implementations.QUICK),
            len(test_implementations.IMPLEMENTATIONS),
        ),
        Family(
            "misconceptions, proved",
            sum(map(len, ways.values())),
            len(ways["01_softmax"]),
            sum(map(len, ways.values())),
        ),
        Family(
            "misconceptions, graded in full and named",
            sum(map(len, ways.values())),
            len(graded.some_of(ways["01_softmax"], "01_softmax")),
            sum(len(graded.some_of(found, name)) for name, found in ways.items()),
        ),
        _cells("mistakes in other styles", "styles", test_styles.EVERY_STYLE),
        _cells("mistakes without a name", "unknown", test_styles.EVERY_STYLE),
        _cells("mistakes in the wild", "wild", test_wild.EVERY),
        Family(
            "pages whose commands are run",
            len(pages),
            len([page for page in pages if page not in {*test_blocks.LONG, test_blocks.AUTHORING}]),
            len(pages),
        ),
        Family("first drafts", len(cases("drafts")), len(cases("drafts", QUICK[0])), len(cases("drafts"))),
        Family("screens", len([*screens.FOLDER.glob("*.txt")]), 0, len([*screens.FOLDER.glob("*.txt")])),
    )


def _files(name: str, kind: str) -> Family:
    counts = Counter(case.module for case in cases(kind))
    run = [len(sampled(range(count), graded_cases.EVERY.get(module, 1))) for module, count in counts.items()]
    return Family(name, sum(counts.values()), counts["01_softmax"], sum(run))


def _cells(name: str, kind: str, every: Mapping[str, int]) -> Family:
    counts = Counter(case.module for case in cases(kind))
    run = [len(sampled(range(count), every.get(module, 1))) for module, count in counts.items()]
    return Family(name, sum(counts.values()), counts["01_softmax"], sum(run))


def table(found: Sequence[Family]) -> str:
    """Return the table of docs/testing.md."""
    return HEAD + "".join(map(str, found))


if __name__ == "__main__":
    print(table(families(read_course(ROOT))), end="")
