"""Lines about files: what became of each file that was found, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from grader.submission.identity import Identity

Fate = Literal["graded", "not counted", "skipped", "not work"]
FATES: tuple[Fate, ...] = ("graded", "not counted", "skipped", "not work")


@dataclass(frozen=True)
class FileLine:
    """What became of one file.

    A skipped file may be a student's work, so a person must look at it. `attempt` is its label if several are graded.
    """

    fate: Fate
    path: str
    reason: str = ""
    who: tuple[Identity, ...] = ()
    module: str = ""
    handed_in: float | None = None
    late: bool = False  # by the platform's own mark
    attempt: str = ""


def one_each(lines: Iterable[FileLine]) -> tuple[FileLine, ...]:
    """Return one line for each file: a group's file has one for each member. Graded comes first."""
    found: dict[str, FileLine] = {}
    for line in lines:
        before = found.get(line.path)
        if before is None:
            found[line.path] = line
            continue
        first, second = sorted((before, line), key=lambda one: FATES.index(one.fate))
        more = tuple(who for who in second.who if who not in first.who) if first.fate == second.fate else ()
        found[line.path] = replace(first, who=(*first.who, *more))
    return tuple(found.values())
