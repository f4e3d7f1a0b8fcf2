"""Dask on one machine: what it costs beside the local pool, and how the command grows with the class."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.bench.command import ATTN
from docs.bench.cpu_time import CpuTime, cpu_time
from docs.bench.peers.course import NAME, SLUG, hand_in, make_course
from docs.bench.peers.pupils import class_of
from docs.bench.row import Limit, Row, costs
from grader.grading.pool import usable_cores

PART = "many machines: Dask on this one"
CLASS = 1000  # enough that the start of Dask, about four seconds of CPU time, does not decide
FEW, MANY = 1000, 20_000
OVERHEAD, LINEAR = 1.15, 1.1
CONSTANT = 1.15  # of the memory of the command: what grows with the class is on disk
FOUND = 3000  # bytes for each file until all files are found
UNIVERSITY, CORES = 100_000, 200


def cluster() -> Iterator[Row]:
    """Yield the overhead of Dask, the growth of the command, and what that means for a university."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        root = Path(folder)
        course = make_course(root / "course", contracts=False)
        group = hand_in(root / "class", class_of(CLASS))
        local, dask = _grade(course.root, group, root / "local"), _grade(course.root, group, root / "dask", dask=True)
        yield costs(
            PART, f"CPU time of each of {CLASS}", dask.cpu / CLASS, ("local pool", local.cpu / CLASS), most=OVERHEAD
        )
        yield costs(PART, "on the clock", dask.seconds / CLASS, ("local pool", local.seconds / CLASS))
        few, many = (_unreadable(course.root, root, count) for count in (FEW, MANY))
        found = [_found(course.root, root, count) for count in (FEW, MANY)]
    yield from _growth(few, many)
    each = (found[1] - found[0]) / (MANY - FEW)
    yield Row(PART, "memory to find each further file", each, "allowed", FOUND, each / FOUND, "B", Limit(most=1))
    yield from _university(dask, few, many)


def _growth(few: CpuTime, many: CpuTime) -> Iterator[Row]:
    """Files that are not text have a report at once, so this is the cost of everything else."""
    yield costs(
        PART,
        f"all processes, each of {MANY} unreadable files",
        many.cpu / MANY,
        (f"of {FEW}", few.cpu / FEW),
        most=LINEAR,
    )
    yield costs(PART, "the command alone", many.own_cpu / MANY, (f"of {FEW}", few.own_cpu / FEW), most=LINEAR)
    ratio = many.memory / few.memory
    limit = Limit(most=CONSTANT)
    yield Row(PART, f"memory of the command at {MANY}", many.memory, f"at {FEW}", few.memory, ratio, "B", limit)


def _university(dask: CpuTime, few: CpuTime, many: CpuTime) -> Iterator[Row]:
    """Calculate, from these figures, how long a university takes."""
    command = (many.own_cpu - few.own_cpu) / (MANY - FEW) * UNIVERSITY
    workers = dask.cpu / CLASS * UNIVERSITY / CORES
    yield Row(
        PART,
        f"calculated: the command, {UNIVERSITY} submissions",
        command,
        f"its {CORES} cores",
        workers,
        command / workers,
        "s",
        Limit(),
    )


def _grade(course: Path, group: Path, to: Path, *, dask: bool = False) -> CpuTime:
    print(f"    {group.name}: {'Dask' if dask else 'the local pool'}", file=sys.stderr)
    options = ["--cluster", "local"] if dask else []
    return cpu_time([ATTN, "grade", str(group), "--to", str(to), "-j", str(usable_cores()), *options], course)


def _unreadable(course: Path, root: Path, count: int) -> CpuTime:
    """Grade files that are not text."""
    group = _folder(root, count)
    for number in range(count):
        file = group / f"s{number:05d}" / NAME / f"{SLUG}.py"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"\xff\xfe\n")
    return _grade(course, group, root / f"to{count}", dask=True)


def _found(course: Path, root: Path, count: int) -> int:
    """Return the memory of the command that finds the same files and grades nothing."""
    return cpu_time([ATTN, "grade", str(_folder(root, count)), "--dry-run"], course).memory


def _folder(root: Path, count: int) -> Path:
    return root / f"unreadable{count}"
