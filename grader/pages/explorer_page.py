"""The explorer: one page with a student's own numbers under every setting, and the first setting as plain tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.report import Diagnosis
from grader.pages.heat_map import LEVELS
from grader.pages.paragraphs import paragraphs_of
from grader.pages.rendering import render
from grader.pages.scaling_table import Scaling
from grader.workspace.exploration import SCALES, TEMPERATURES, WINDOWS, Exploration, Setting, View
from grader.workspace.formula import Case, Stages
from grader.workspace.trace import number_text

# Names as the page has them, what each is, and the step that makes it.
STAGES = (
    ("raw", "Scores", "each query times each key", "scores"),
    ("scaled", "Scaled scores", "divided by the scale", "scale"),
    ("masked", "Masked scores", "divided by the temperature; blocked keys are out", "scale"),
    ("weights", "Weights", "softmax of each row: who looks at whom, and how much", "weights"),
    ("output", "Output", "the values of all tokens, mixed by these weights", "output"),
)
BLOCKED = "blocked"
_STEPS = {
    "scores": "scores",
    "scale": "scaled scores",
    "weights": "weights",
    "output": "output",
    "causal mask": "causal mask",
    "window": "window",
    "sinusoidal": "sinusoidal positions",
    "RoPE": "RoPE",
}
_SAME = {"rtol": 1e-6, "atol": 1e-9}
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StepRow:
    """A line about one step: who makes it."""

    step: str
    own: bool
    by: str
    note: str


@dataclass(frozen=True)
class Told:
    """What a diagnosis says about one function."""

    module: str
    target: str
    misconception: str
    likely: str
    slug: str


@dataclass(frozen=True)
class Cell:
    """A number, its shade, and whether it is not as expected."""

    text: str
    level: int
    off: bool


@dataclass(frozen=True)
class Table:
    """One map: a row for each query."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class StagePart:
    """One stage with its maps beside each other."""

    name: str
    title: str
    about: str
    by: str
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class ExplorerPage:
    """Everything that the template shows without a script."""

    sentences: tuple[str, ...]
    about: str
    tokens: tuple[str, ...]
    positions: tuple[str, ...]
    scales: tuple[str, ...]
    temperatures: tuple[str, ...]
    windows: tuple[str, ...]
    steps: tuple[StepRow, ...]
    problems: tuple[str, ...]
    told: tuple[Told, ...]
    stages: tuple[StagePart, ...]
    scaling: Scaling


def explorer_page(found: Exploration, scaling: Scaling) -> str:
    """Return the page."""
    data = _Data(found)
    page = ExplorerPage(
        sentences=tuple(one.text for one in found.sentences),
        about=found.sentences[0].about,
        tokens=found.sentences[0].tokens,
        positions=found.positions,
        scales=SCALES,
        temperatures=tuple(f"{one:g}" for one in TEMPERATURES),
        windows=tuple("all" if one is None else str(one) for one in WINDOWS),
        steps=tuple(_steps(found)),
        problems=tuple(f"{one.name} ({one.file}): {one.problem}" for one in found.modules if one.problem),
        told=tuple(_told(one.name, diagnosis) for one in found.modules for diagnosis in one.diagnoses if diagnosis.misconception),
        stages=tuple(data.first_stages()),
        scaling=scaling,
    )
    title = "Attention explorer"
    return render("explorer.html", script="explorer.js", title=title, page=page, data=data.as_json(scaling))


class _Data:
    """The numbers of all settings. Equal tables are kept once."""

    def __init__(self, found: Exploration) -> None:
        self.found = found
        self.own = {one.step: bool(one.module) for one in found.makers}
        self._pool: dict[str, int] = {}
        self.views = [[self._view(view) for view in views] for views in found.views.values()]

    def as_json(self, scaling: Scaling) -> dict[str, Any]:
        """Return what the script reads."""
        found = self.found
        return {
            "sentences": [{"tokens": one.tokens, "about": one.about} for one in found.sentences],
            "sizes": [len(found.sentences), len(found.positions), 2, 2, len(WINDOWS), len(SCALES), len(TEMPERATURES)],
            "own": [self.own.get(step, False) for *_, step in STAGES],
            "whatIf": self._what_if_title() if found.what_if else "",
            "pool": list(self._pool),
            "views": self.views,
            "scaling": scaling.as_json(),
        }

    def first_stages(self) -> Iterator[StagePart]:
        """Yield the stages of the first setting, as the script would show them."""
        (view,) = self.views[list(self.found.views).index(Setting())]
        tables = list(self._pool)
        makers = {one.step: one for one in self.found.makers}
        tokens = self.found.sentences[0].tokens
        for at, (name, title, about, step) in enumerate(STAGES):
            own = self.own.get(step, False)
            shown = [("Yours" if own else "The course's", view[at])]
            if own and (name == "weights" or view[at] != view[5 + at]):
                shown.append(("Expected", view[5 + at]))
            if name in ("weights", "output") and len(view) > 10:
                shown.append((self._what_if_title(), view[10 + (name == "output")]))
            read = [(caption, _read(tables[place])) for caption, place in shown]
            expected = _read(tables[view[5 + at]])
            by = f"{makers[step].call}, {makers[step].module}" if own else "the course"
            yield StagePart(name, title, about, by, tuple(_tables(read, expected, tokens, name)))

    def _what_if_title(self) -> str:
        return f"What {self.found.what_if} would give"

    def _view(self, view: View) -> list[int]:
        """Return the places of the tables: five stages of the student, five expected, two of a misconception."""
        yours = _texts(view.yours, view.asked)
        near = [*_near(view.yours, view.expected, view.asked, view.right)]
        expected = [
            tuple(
                tuple(mine if same else text for mine, text, same in zip(*cells, strict=True))
                for cells in zip(own, right, alike, strict=True)
            )
            for own, right, alike in zip(yours, _texts(view.expected, view.right), near, strict=True)
        ]
        other = _texts(view.what_if, view.right)[3:] if view.what_if else []
        return [self._place(rows) for rows in (*yours, *expected, *other)]

    def _place(self, rows: Rows) -> int:
        return self._pool.setdefault(";".join(" ".join(row) for row in rows), len(self._pool))


def _texts(stages: Stages, case: Case) -> list[Rows]:
    """Return the five tables of a case as texts."""
    masked = stages.scaled / case.temperature
    blocked = tuple(
        tuple(number_text(one) if open_ else BLOCKED for one, open_ in zip(row, which, strict=True))
        for row, which in zip(masked.tolist(), case.allowed.tolist(), strict=True)
    )
    tables = [_rows(one) for one in (stages.raw, stages.scaled, stages.weights, stages.output)]
    return [*tables[:2], blocked, *tables[2:]]


def _rows(table: np.ndarray) -> Rows:
    return tuple(tuple(map(number_text, row)) for row in table.tolist())


def _near(yours: Stages, expected: Stages, asked: Case, right: Case) -> Iterator[list[list[bool]]]:
    """Yield where the numbers of each stage are equal but for rounding, which could show in the last decimal."""
    yield np.isclose(yours.raw, expected.raw, **_SAME).tolist()
    yield np.isclose(yours.scaled, expected.scaled, **_SAME).tolist()
    yield (np.isclose(yours.scaled, expected.scaled, **_SAME) & (asked.allowed == right.allowed)).tolist()
    yield np.isclose(yours.weights, expected.weights, **_SAME).tolist()
    yield np.isclose(yours.output, expected.output, **_SAME).tolist()


def _read(text: str) -> Rows:
    return tuple(tuple(row.split(" ")) for row in text.split(";"))


def _tables(
    shown: Sequence[tuple[str, Rows]], expected: Rows, tokens: tuple[str, ...], name: str
) -> Iterator[Table]:
    """Yield the maps of a stage. They share one scale, so that equal shades are equal numbers."""
    most = max((abs(_number(text)) for _, rows in shown for row in rows for text in row), default=0.0)
    columns = tuple(str(at + 1) for at in range(len(expected[0]))) if name == "output" else tokens
    for title, rows in shown:
        cells = tuple(
            tuple(
                Cell(text, round(LEVELS * _number(text) / most) if most else 0, text != right)
                for text, right in zip(row, wanted, strict=True)
            )
            for row, wanted in zip(rows, expected, strict=True)
        )
        yield Table(title, columns, cells)


def _number(text: str) -> float:
    return 0.0 if text == BLOCKED else float(text)


def _steps(found: Exploration) -> Iterator[StepRow]:
    """Yield who makes each step, in the order of the page."""
    makers = {one.step: one for one in found.makers}
    for step, words in _STEPS.items():
        if (maker := makers.get(step)) is None:  # type: ignore[call-overload]
            continue
        by = f"{maker.module}: {maker.call}" if maker.module else "the course, until you have written it"
        yield StepRow(words, bool(maker.module), by, maker.problem)


def _told(module: str, diagnosis: Diagnosis) -> Told:
    gap = diagnosis.gap
    parts = paragraphs_of(diagnosis.message, gap.call if gap else "")
    likely = next((one.text for one in parts if one.label == "Likely"), "")
    return Told(module, diagnosis.target, diagnosis.misconception or "", likely, module.partition("_")[2])
