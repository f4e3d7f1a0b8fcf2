"""A term of two modules in one results folder, whose steps may come in any order: what its marks must be."""

from __future__ import annotations

import contextlib
import csv
import io
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.classroom.marks import Mark
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.executor import LocalPool
from grader.grading.pool import Graded
from grader.submission.submission import SubmissionRef, submission_hash
from tests.classroom.conftest import HALF, RIGHT
from tests.classroom.store.made import report
from tests.conftest import write

TINY, TWIN = "01_tiny", "02_twin"
ROSTER = "id,name\nana,Ana Silva\nben,Ben Okoro\ncy,Cy Young\ndee,Dee Ito\n"
TIMES = {
    TINY: {"ana": "2026-10-01T12:00Z", "ben": "2026-10-02T18:00Z", "cy": "2026-10-01T18:00Z"},
    TWIN: {"ana": "2026-11-01T12:00Z", "ben": "2026-11-02T18:00Z", "dee": "2026-11-01T18:00Z"},
}
DUE = {TINY: "2026-10-01T12:00Z", TWIN: "2026-11-01T12:00Z"}
PENALTY = {TINY: "10%/day", TWIN: "2/12h"}


def expected(late_fix: set[str], extended: set[str]) -> dict[str, dict[str, float | None]]:
    """Return the final marks: the score, less 10 % of 10 points a day in 01, less 2 points for 12 hours in 02."""
    return {
        TINY: {
            "ana": 10.0,  # at the last moment
            "ben": 6.0 if TINY in late_fix else 7.0,  # 4 days late with 10 points, or 2 days with 9
            "cy": 10.0 if TINY in extended else 9.0,  # 6 hours late
            "dee": None,
        },
        TWIN: {
            "ana": 10.0,
            "ben": 2.0 if TWIN in late_fix else 4.0,  # 42 hours late, or 30 hours
            "cy": None,
            "dee": 9.0 if TWIN in extended else 7.0,
        },
    }


@dataclass
class ReportsOnce:
    """An executor that grades each submission once, and from then on gives the report that it has.

    If it is not `real`, it grades none, and gives a made report with the score of the code.
    """

    real: bool = True
    known: dict[tuple[str, str, str], Report] = field(default_factory=dict)
    stop_after: int | None = None  # how many reports until the run is killed
    graded: int = 0

    gpu_name = None

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: Any) -> Generator[Graded]:
        keys = [(one.module, one.student, submission_hash(one.read())) for one in work]
        new = [one for one, key in zip(work, keys, strict=True) if key not in self.known]
        for made in self._graded(course, new, tell) if new else ():
            self.graded += 1
            self.known[made.handed_in.module, made.handed_in.student, made.submission] = made.report
        for number, (one, key) in enumerate(zip(work, keys, strict=True)):
            if number == self.stop_after:
                raise KeyboardInterrupt
            yield Graded(one, key[2], self.known[key])

    def _graded(self, course: Course, new: Sequence[SubmissionRef], tell: Any) -> Iterator[Graded]:
        if self.real:
            yield from LocalPool(1, allow_unjailed=True).grade(course, new, tell)
            return
        for one in new:
            work = one.read()
            score = 9.0 if "*=" in str(work.sources[one.module[3:]]) else 10.0
            yield Graded(one, submission_hash(work), replace(report(one.student, score), module=one.module))

    @contextlib.contextmanager
    def opened(self, *_: object) -> Iterator[ReportsOnce]:
        yield self


@dataclass
class Term:
    """The class, and a way to run `attn grade` for it. `attn` returns the exit status and what was printed."""

    folder: Path
    attn: Callable[[Sequence[str]], tuple[int, str]]
    store: tuple[str, ...] = ()  # --store URL
    executor: ReportsOnce | None = None  # if runs can be killed
    done: list[str] = field(default_factory=list)
    late_fix: set[str] = field(default_factory=set)
    extended: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        write(
            self.folder,
            {
                "roster.csv": ROSTER,
                "week1/ana/tiny.py": RIGHT,
                "week1/ben/tiny.py": HALF,
                "week1/cy/tiny.py": RIGHT,
                "week2/ana/twin.py": RIGHT.replace("tiny", "twin"),
                "week2/ben/twin.py": RIGHT.replace("tiny", "twin"),
                "week2/dee/twin.py": HALF.replace("tiny", "twin"),
            },
        )

    def run(self, module: str | None, *options: str) -> str:
        """Grade the work of one week, or of both."""
        weeks = {TINY: ["week1"], TWIN: ["week2"], None: ["week1", "week2"]}[module]
        paths = [str(self.folder / week) for week in weeks]
        to = "reports" if self.store else str(self.folder / "reports")
        status, text = self.attn(["grade", *paths, "--to", to, *self.store, "--allow-unjailed", *options])
        assert status in (0, 1), f"{self.done}: {text}"
        return text

    def write_times(self, module: str) -> str:
        """Write the list of times. Each week it is the same file."""
        times = dict(TIMES[module])
        if module in self.late_fix:
            times["ben"] = "2026-10-04T18:00Z" if module == TINY else "2026-11-03T06:00Z"
        rows = "".join(f"{who},{when}\n" for who, when in times.items())
        return str(write(self.folder, {"times.csv": f"id,submitted\n{rows}"}) / "times.csv")

    def options(self, module: str) -> list[str]:
        """Return all options of a module, as they are by now."""
        given = ["--due", DUE[module], "--late-penalty", PENALTY[module], "--times", self.write_times(module)]
        given += ["--roster", str(self.folder / "roster.csv")]
        return given + (["--extensions", self.extensions(module)] if module in self.extended else [])

    def extensions(self, module: str) -> str:
        """Write the list of extensions, which is the same file for both modules."""
        who = {TINY: "cy", TWIN: "dee"}[module]
        until = {TINY: "2026-10-02T00:00Z", TWIN: "2026-11-02T00:00Z"}[module]
        return str(write(self.folder, {"more.csv": f"id,until\n{who},{until}\n"}) / "more.csv")

    def step(self, name: str, module: str | None) -> None:
        """Do one thing that an instructor does in a term."""
        self.done.append(f"{name} {module or 'both'}")
        if name == "grade" and module:
            self.run(module, *self.options(module))
        elif name == "resume":
            self.run(module, "--resume", "--rules", "kept")
        elif name == "late fix" and module:
            self.late_fix.add(module)
            slug = module[3:]
            write(self.folder, {f"week{module[1]}/ben/{slug}.py": RIGHT.replace("tiny", slug) + "\n# corrected\n"})
            self.run(module, "--resume", "--times", self.write_times(module), "--rules", "kept")
        elif name == "extension" and module:
            self.extended.add(module)
            self.run(module, "--resume", "--extensions", self.extensions(module), "--rules", "kept", "--yes")
        elif name == "killed" and module and self.executor:
            self.executor.stop_after = 1
            try:
                with contextlib.suppress(AssertionError):
                    self.run(module, *self.options(module))
            finally:
                self.executor.stop_after = None


def random_order(seed: int) -> list[tuple[str, str | None]]:
    """Return the steps of a term. Each module is graded first; everything after that is in a random order."""
    draw = random.Random(seed)
    queues: list[list[tuple[str, str | None]]] = []
    for module in (TINY, TWIN):
        names = ["late fix", "extension", *draw.choices(["grade", "resume", "killed"], k=2)]
        queues.append([("grade", module), *((name, module) for name in draw.sample(names, 3))])
    order: list[tuple[str, str | None]] = []
    while any(queues):
        order.append(draw.choice([queue for queue in queues if queue]).pop(0))
        if len({module for _, module in order if module}) == 2 and draw.random() < 0.2:
            order.append(("resume", None))
    last: list[str | None] = draw.choice([[TINY, TWIN], [TWIN, TINY], [None]])
    return [*order, *(("resume", module) for module in last)]


def finals(marks: Sequence[Mark]) -> dict[str, dict[str, float | None]]:
    """Return the final marks by module and student."""
    found: dict[str, dict[str, float | None]] = {}
    for mark in marks:
        found.setdefault(mark.module, {})[mark.id] = mark.final
    return found


def comparable(marks: Sequence[Mark]) -> list[Mark]:
    """Return the class list in an order of its own."""
    return sorted((replace(mark, comment="") for mark in marks), key=lambda mark: (mark.module, mark.id))


def totals(text: str) -> dict[str, str]:
    """Return the totals in the table of `attn export csv`."""
    return {row["id"]: f"{row['total']} of {row['of']}; {row['note']}" for row in csv.DictReader(io.StringIO(text))}
