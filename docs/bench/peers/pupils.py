"""The class that all three graders get: six of ten pupils are right, in several styles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.bench.peers.assignment import FOLDER, QUESTIONS, functions_of, read_assignment
from grader.course.notebook import split_cells

_CELL = re.compile(r"^# %% (?P<name>\w+)$", re.MULTILINE)
TEN = "RRWRRWRWRW"


@dataclass(frozen=True)
class WrongWay:
    """A way to do the assignment: the three functions, and whether they are right."""

    name: str
    right: bool
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Pupil:
    """One pupil, with an answer to each question."""

    name: str
    way: WrongWay

    @property
    def answers(self) -> dict[str, str]:
        """The pupil's own text. No two pupils hand in the same bytes, so that no cache helps."""
        return {question: f"# {self.name}\n{self.way.answers[question]}" for question in QUESTIONS}


def class_of(count: int) -> tuple[Pupil, ...]:
    """Return this many pupils, always the same."""
    right, wrong = ([way for way in ways() if way.right == truth] for truth in (True, False))
    pupils = []
    for number in range(count):
        tens, place = divmod(number, len(TEN))
        letter = TEN[place]
        turn = tens * TEN.count(letter) + TEN[:place].count(letter)
        of_kind = right if letter == "R" else wrong
        pupils.append(Pupil(f"p{number:04d}", of_kind[turn % len(of_kind)]))
    return tuple(pupils)


@cache
def ways() -> tuple[WrongWay, ...]:
    """Return the solution, every style in right.py, and the wrong ways of wrong.py added to the solution.

    Where only the cost is wrong, the way is right for a grader that does not measure costs.
    """
    solution = _bare(read_assignment().answers())
    unfinished = dict(solution) | {QUESTIONS[-1]: read_assignment().stubs()[QUESTIONS[-1]]}
    laid_over = [(name, "COSTLY = True" in code, code) for name, code in _cells(FOLDER / "wrong.py")]
    return (
        WrongWay("solution", True, solution),
        *(WrongWay(name, True, functions_of(code)) for name, code in _cells(FOLDER / "right.py")),
        *(WrongWay(name, right, solution | functions_of(code)) for name, right, code in laid_over),
        WrongWay("unfinished", False, unfinished),
    )


def _cells(path: Path) -> list[tuple[str, str]]:
    return [(mark["name"], code) for mark, code in split_cells(_CELL, path.read_text())[1]]


def _bare(answers: Mapping[str, str]) -> dict[str, str]:
    """Return answers without the markers of their regions."""
    return {name: re.sub(r"^ *### (BEGIN|END).*\n?", "", text, flags=re.MULTILINE) for name, text in answers.items()}
