"""The race: the three graders on the same class in one run, and whether their verdicts agree."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from docs.bench.command import grade_class
from docs.bench.peers import course as ours
from docs.bench.peers import nbgrader, otter
from docs.bench.peers.agreement import WHOLE, Verdicts, agreement, right_questions, whole
from docs.bench.peers.environment import Environment, peers_environment
from docs.bench.peers.pupils import Pupil, class_of
from docs.bench.row import ANY, Limit, Row, quickness
from grader.course.course import Course

PART = "peers: submissions a second, whole commands, jail on"
FEW, MANY, FOR_OTTER = 6, 200, 10
PLAIN, PROFILED = "no profiles", "with profiles"
PROMISES = {PLAIN: Limit(least=25, goal=50), PROFILED: Limit(least=8)}
OTTER_PROMISES = {(PLAIN, "otter run"): Limit(goal=100)}
DEFAULT: tuple[str, ...] = ()
ALONE = ("-j", "1")


@dataclass(frozen=True)
class Speed:
    """The time of a grader for few and for many submissions. The difference shows its speed after the start."""

    few: float
    many: float

    @property
    def whole(self) -> float:
        """Submissions per second of the complete command."""
        return MANY / self.many

    @property
    def warm(self) -> float:
        """Submissions per second after the start of the command."""
        return (MANY - FEW) / (self.many - self.few)


@dataclass
class _Ours:
    """AttnLab in the race: runs of `attn grade` before, between and after those of the others."""

    root: Path
    courses: Mapping[str, Course]
    seconds: dict[tuple[str, tuple[str, ...], int], list[float]] = field(default_factory=dict)
    reports: list[Path] = field(default_factory=list)  # one folder for each run

    def turn(self) -> None:
        """Run every combination once: course, processes, size of the class."""
        for kind, course in self.courses.items():
            for options, count in product((DEFAULT, ALONE), (FEW, MANY)):
                to = self.root / f"to{len(self.reports)}"
                ran = grade_class(course.root, self.root / f"class{count}", to, *options)
                self.seconds.setdefault((kind, options, count), []).append(ran.seconds)
                self.reports.append(to / ours.NAME)

    def speed(self, kind: str, jobs: tuple[str, ...]) -> Speed:
        """Return the medians of all turns so far."""
        return Speed(*(statistics.median(self.seconds[kind, jobs, count]) for count in (FEW, MANY)))

    def verdicts(self) -> Verdicts:
        """Return whether each question of each pupil is right, which is the same in every run."""
        found: dict[str, dict[str, bool]] = {}
        for path in (path for folder in self.reports for path in folder.glob("*.json")):
            verdict = right_questions(json.loads(path.read_text())["checks"])
            assert found.setdefault(path.stem, verdict) == verdict, f"two runs differ on {path.stem}"
        return found


def race() -> Iterator[Row]:
    """Yield how many times faster AttnLab is than each other grader, and how many verdicts agree."""
    environment = peers_environment()
    pupils = class_of(MANY)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        mine = _our_side(Path(folder), pupils)
        _say("attn grade")
        mine.turn()
        _say(f"nbgrader autograde, {FEW} and {MANY} submissions")
        theirs, by_nbgrader = _nbgrader(Path(folder), environment, pupils)
        _say("attn grade")
        mine.turn()
        _say(f"otter run, {FOR_OTTER} submissions, then in one process")
        rates, by_otter = _otter(Path(folder), environment, pupils[:FOR_OTTER])
        _say("attn grade")
        mine.turn()
        verdicts = mine.verdicts()
    yield from _rows(mine, theirs, rates)
    yield agreement("AttnLab and what they are", whole(verdicts), {one.name: {WHOLE: one.way.right} for one in pupils})
    yield agreement("AttnLab and nbgrader", verdicts, by_nbgrader)
    yield agreement("AttnLab and otter", verdicts, by_otter)


def _our_side(root: Path, pupils: tuple[Pupil, ...]) -> _Ours:
    for count in (FEW, MANY):
        ours.hand_in(root / f"class{count}", pupils[:count])
    courses = {kind: ours.make_course(root / kind, contracts=kind == PROFILED) for kind in (PLAIN, PROFILED)}
    return _Ours(root, courses)


def _nbgrader(root: Path, environment: Environment, pupils: tuple[Pupil, ...]) -> tuple[Speed, Verdicts]:
    seconds = []
    for count in (1, FEW, MANY):  # the first does not count: it warms all caches
        course = nbgrader.make_course(root / f"nbgrader{count}", environment)
        course.hand_in(pupils[:count])
        seconds.append(course.grade())
    verdicts = course.verdicts()
    assert len(verdicts) == MANY
    return Speed(*seconds[1:]), verdicts


def _otter(root: Path, environment: Environment, pupils: tuple[Pupil, ...]) -> tuple[dict[str, float], Verdicts]:
    assignment = otter.make_assignment(root / "otter", environment)
    assignment.hand_in(pupils)
    assignment.grade(pupils[0])  # does not count, either
    each = statistics.median(assignment.grade(pupil) for pupil in pupils)
    verdicts = assignment.verdicts(pupils)
    together = assignment.grade_in_one_process(pupils)
    return {"otter run": 1 / each, "otter in one process": len(pupils) / together}, verdicts


def _rows(mine: _Ours, theirs: Speed, rates: Mapping[str, float]) -> Iterator[Row]:
    """Yield the speeds of complete commands, by default and on one core, and then the speeds after the start."""
    nbgrader_whole, nbgrader_warm = ("nbgrader", theirs.whole), ("nbgrader once started", theirs.warm)
    for kind in (PLAIN, PROFILED):
        name, speed = f"{MANY} submissions, {kind}", mine.speed(kind, DEFAULT)
        yield quickness(PART, name, speed.whole, nbgrader_whole, PROMISES[kind])
        for peer in rates.items():
            yield quickness(PART, name, speed.whole, peer, OTTER_PROMISES.get((kind, peer[0]), ANY))
        alone = mine.speed(kind, ALONE)
        yield quickness(PART, f"{name}, -j 1", alone.whole, nbgrader_whole)
        yield quickness(PART, f"once started, {kind}", speed.warm, nbgrader_warm)
        yield quickness(PART, f"once started, {kind}, -j 1", alone.warm, nbgrader_warm)


def _say(text: str) -> None:
    print(f"    {text}", file=sys.stderr)
