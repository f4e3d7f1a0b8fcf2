"""Totals: what the marks of a student add up to, by the rules in `course.toml`, and why."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from grader.classroom.class_list import ClassList
from grader.classroom.marks import MISSING, NO_REPORT, Mark
from grader.classroom.roster import normalize_name

Missing = Literal["zero", "left out"]
# "open" has no score yet; "several" has several lines in the class list, of which none is chosen.
Fate = Literal["counts", "extra", "missing", "excused", "dropped", "skipped", "open", "several"]
_WORDS: dict[Fate, str] = {
    "missing": "missing",
    "excused": "excused",
    "dropped": "dropped",
    "skipped": "skipped: not counted",
    "open": "not graded: not counted",
    "several": "there several times: not counted",
}
_NUMBER = re.compile(r"\d+(?=_)")


@dataclass(frozen=True)
class TotalRules:
    """How marks are added up. Without a rule, every module counts its points, and missing work counts 0."""

    missing: Missing = "zero"
    drop: int = 0  # how many of the lowest results do not count
    excused: tuple[tuple[str, str], ...] = ()  # student and module; an empty module stands for all
    weights: Mapping[str, float] = field(default_factory=dict)  # points that a module counts, if not its own
    extra: tuple[str, ...] = ()  # modules that can only add points

    def excuses(self, names: Iterable[str], module: str) -> bool:
        """Whether a student need not hand in a module."""
        mine = {normalize_name(name) for name in names if name}
        return any(normalize_name(who) in mine and what in ("", module) for who, what in self.excused)


@dataclass(frozen=True)
class Part:
    """What one module adds to the total of a student: points earned, and points possible."""

    module: str
    fate: Fate
    earned: float = 0.0
    of: float = 0.0


@dataclass(frozen=True)
class Total:
    """The total of one student, and what each module adds to it. `earned` and `of` are None if nothing counts."""

    parts: tuple[Part, ...]

    @property
    def earned(self) -> float | None:
        """The points of all that counts."""
        return self._sum(part.earned for part in self.parts)

    @property
    def of(self) -> float | None:
        """The points possible in all that counts."""
        return self._sum(part.of for part in self.parts)

    @property
    def is_open(self) -> bool:
        """Whether a module has no score yet, so that the total is not final."""
        return any(part.fate in ("open", "skipped", "several") for part in self.parts)

    @property
    def note(self) -> str:
        """What is special, such as `01 is missing`; empty if every module counts."""
        notes = []
        for fate, words in _WORDS.items():
            modules = [_short(part.module) for part in self.parts if part.fate == fate]
            if modules:
                notes.append(f"{_listed(modules)} {'is' if len(modules) == 1 else 'are'} {words}")
        return "; ".join(notes)

    def __str__(self) -> str:
        """Return the total as a student reads it: `69 of 115; 01 is missing`."""
        points = "no total yet" if self.earned is None else f"{self.earned:g} of {self.of:g}"
        return "; ".join(filter(None, (points, self.note)))

    def _sum(self, points: Iterable[float]) -> float | None:
        """Return a sum, or None if nothing counts. What does not count has no points."""
        counts = any(part.fate in ("counts", "extra") or part.of for part in self.parts)
        return round(sum(points), 6) if counts else None


def totals_of(found: ClassList, rules: TotalRules) -> dict[str, Total]:
    """Return the total of each student of a class by id, in the order of the class list."""
    of_all: dict[str, list[Mark]] = {}
    for mark in found.marks:
        of_all.setdefault(mark.id, []).append(mark)
    modules = found.modules
    return {
        who: student_total(marks, modules, rules, [name for mark in marks for name in found.real_names(mark)])
        for who, marks in of_all.items()
    }


def student_total(
    marks: Sequence[Mark], modules: Mapping[str, float], rules: TotalRules, names: Collection[str]
) -> Total:
    """Return the total of the student with these names. `modules` has the points possible in each module."""
    parts = []
    for module, most in sorted(modules.items()):
        mine = [mark for mark in marks if mark.module == module]
        part = _part(module, mine, most, rules)
        parts.append(Part(module, "excused") if rules.excuses(names, module) else part)
    return Total(_without_lowest(parts, rules.drop))


def unknown_names(marks: Iterable[Mark], rules: TotalRules) -> list[str]:
    """Return who is excused, but is not in the class. A typing error would be ignored."""
    known = {normalize_name(name) for mark in marks for name in (mark.id, mark.submission) if name}
    return sorted({who for who, _ in rules.excused if normalize_name(who) not in known})


def _part(module: str, marks: Sequence[Mark], most: float, rules: TotalRules) -> Part:
    weight = rules.weights.get(module, most)
    is_extra = module in rules.extra
    if len(marks) > 1:
        return Part(module, "several")
    mark = marks[0] if marks else None
    if mark is not None and mark.final is not None:
        earned = mark.final * weight / most if most else 0.0
        return Part(module, "extra", earned) if is_extra else Part(module, "counts", earned, weight)
    if mark is not None and mark.status != MISSING:
        return Part(module, "skipped" if mark.status in NO_REPORT else "open")
    return Part(module, "missing", 0.0, 0.0 if is_extra or rules.missing == "left out" else weight)


def _without_lowest(parts: Sequence[Part], drop: int) -> tuple[Part, ...]:
    """Return the parts, the lowest of those that count as dropped. One of them always stays.

    The lowest is that with the smallest share of its points. Of several, the one that weighs the most is dropped: that
    is best for the student.
    """
    counting = [part for part in parts if part.of]
    lowest = sorted(counting, key=lambda part: (part.earned / part.of, -part.of, part.module))
    dropped = lowest[: max(0, min(drop, len(counting) - 1))]
    return tuple(replace(part, fate="dropped", earned=0.0, of=0.0) if part in dropped else part for part in parts)


def _short(module: str) -> str:
    """Return the number of a module, if its name begins with one."""
    number = _NUMBER.match(module)
    return number[0] if number else module


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
