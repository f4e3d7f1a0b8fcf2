"""The growth of costs with the class: `attn grade` for 10, 100 and 1 000 submissions of the same kind, in the jail."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from docs.bench.command import Ran, grade_class
from docs.bench.peers.course import hand_in, make_course
from docs.bench.peers.pupils import class_of
from docs.bench.row import ANY, Limit, Row, costs

PART = "growth of `attn grade`, profiles and all"
FEW, SOME, MANY = 10, 100, 1000
# The sizes take turns, so that a busy moment affects all of them. The largest class runs once: it is its own average.
TURNS = (FEW, SOME, FEW, SOME, FEW, MANY, FEW, SOME, FEW)
LINEAR, FLAT = 1.1, 1.15


def growth() -> Iterator[Row]:
    """Yield the time and memory of a submission in a large class, compared with a small one."""
    runs: dict[int, list[Ran]] = {FEW: [], SOME: [], MANY: []}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        root = Path(folder)
        course = make_course(root / "course", contracts=True)
        classes = {count: hand_in(root / f"class{count}", class_of(count)) for count in runs}
        for number, count in enumerate(TURNS):
            print(f"    {count} submissions", file=sys.stderr)
            runs[count].append(grade_class(course.root, classes[count], root / f"to{number}", watched=True))
    yield from _rows(runs)


def _rows(runs: Mapping[int, list[Ran]]) -> Iterator[Row]:
    few, some, many = (statistics.median(run.seconds for run in runs[count]) for count in (FEW, SOME, MANY))
    yield costs(PART, f"each of {MANY}", many / MANY, (f"each of {FEW}", few / FEW), most=LINEAR)
    # The small class includes the start of the command. So also compare the cost of each further submission.
    later, earlier = (many - some) / (MANY - SOME), (some - few) / (SOME - FEW)
    yield costs(PART, f"each one more, {SOME} to {MANY}", later, (f"from {FEW} to {SOME}", earlier), most=LINEAR)
    yield _memory("memory of the grader", runs, "grader", Limit(most=FLAT))
    yield _memory("and of its zygotes and workers", runs, "everything", ANY)


def _memory(name: str, runs: Mapping[int, list[Ran]], whose: str, limit: Limit) -> Row:
    few, many = (statistics.median(getattr(run.peak, whose) for run in runs[count]) for count in (FEW, MANY))
    return Row(PART, f"{name} at {MANY}", many, f"at {FEW}", few, many / few, "B", limit)
