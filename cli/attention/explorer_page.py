"""The explorer: one page with a student's own numbers under every setting, and the first setting as plain tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.attention import TEMPLATES
from cli.attention.exploration import LAYERS, SCALES, TEMPERATURES, WINDOWS, Exploration, Setting
from cli.attention.explorer_tables import STAGES, Pool, Table, shaded
from cli.attention.own_steps import Maker, Step
from cli.attention.scaling_table import Scaling
from grader.core.report import Diagnosis
from grader.pages.paragraphs import paragraphs_of
from grader.pages.rendering import render

# Each step with its name on the page.
_STEPS: dict[Step, str] = {
    "scores": "scores",
    "scale": "scaled scores",
    "causal mask": "causal mask",
    "window": "window",
    "weights": "weights",
    "output": "output",
    "masked weights": "weights with a mask",
    "masked output": "output with a mask",
    "sinusoidal": "sinusoidal positions",
    "RoPE": "RoPE",
    "heads": "two heads",
    "masked heads": "two heads with a mask",
}
# Where a step that is not the student's yet comes from.
_ATTENTION = "until you begin 02_loop_attention or 03_attention"
_FROM: dict[Step, str] = {
    **dict.fromkeys(_STEPS, _ATTENTION),
    "weights": "until you begin 01_softmax",
    "masked weights": "until you begin 01_softmax",
    "causal mask": "until you begin 04_masks",
    "window": "until you begin 11_efficient_attention",
    "sinusoidal": "until you begin 08_positions",
    "RoPE": "until you begin 08_positions",
    "heads": "until you begin 06_multi_head_attention",
    "masked heads": "until you begin 06_multi_head_attention",
}
# Each stage: its title, what it is, and the steps that make it.
_STAGES: dict[str, tuple[str, str, tuple[Step, ...]]] = {
    "raw": ("Scores", "each query times each key", ("scores",)),
    "scaled": ("Scaled scores", "divided by the scale", ("scale",)),
    "masked": (
        "Masked scores",
        "divided by the temperature; blocked keys are out",
        ("scale", "causal mask", "window"),
    ),
    "weights": ("Weights", "softmax of each row: who looks at whom, and how much", ("weights",)),
    "output": ("Output", "the values of all tokens, mixed by these weights", ("output",)),
}
_MASKED: dict[Step, Step] = {"weights": "masked weights", "output": "masked output"}
_WITH_WHAT_IF = ("weights", "output")  # these are also what a layer with several heads makes


@dataclass(frozen=True)
class How:
    """What decides who makes a stage: whether there is a mask, and whether there are two heads."""

    masked: bool = False
    two: bool = False


_HOW = tuple(tuple(How(masked, two) for masked in (False, True)) for two in (False, True))


@dataclass(frozen=True)
class StepRow:
    """A line about one step: who makes it."""

    step: str
    whose: str
    by: str
    note: str


@dataclass(frozen=True)
class Told:
    """What a diagnosis says about one function."""

    module: str
    slug: str
    target: str
    misconception: str
    likely: str


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
    no_positions: str
    problems: tuple[str, ...]
    told: tuple[Told, ...]
    stages: tuple[StagePart, ...]
    scaling: Scaling


def explorer_page(found: Exploration, scaling: Scaling) -> str:
    """Return the page."""
    pool = Pool()
    views = {setting: [pool.view(head) for head in heads] for setting, heads in found.views.items()}
    makers = {one.step: one for one in found.makers}
    page = ExplorerPage(
        sentences=tuple(one.text for one in found.sentences),
        about=found.sentences[0].about,
        tokens=found.sentences[0].tokens,
        positions=found.positions,
        scales=SCALES,
        temperatures=tuple(f"{one:g}" for one in TEMPERATURES),
        windows=tuple("all" if one is None else str(one) for one in WINDOWS),
        steps=tuple(_step(words, makers[step]) for step, words in _STEPS.items()),
        no_positions=_no_positions(found),
        problems=tuple(f"{one.name} ({one.file}): {one.problem}" for one in found.modules if one.problem),
        told=tuple(_told(one.name, said) for one in found.modules for said in one.diagnoses if said.misconception),
        stages=tuple(_first_stages(found, pool, views[Setting()][0])),
        scaling=scaling,
    )
    data: dict[str, Any] = {
        "sentences": [{"tokens": one.tokens, "about": one.about} for one in found.sentences],
        "sizes": [len(found.sentences), len(found.positions), 2, 2, len(WINDOWS), len(SCALES), len(TEMPERATURES)],
        # by heads (one, two), then without a mask and with one
        "own": [[[_is_own(makers, name, how) for name in STAGES] for how in hows] for hows in _HOW],
        "by": [[[_made_by(makers, name, how) for name in STAGES] for how in hows] for hows in _HOW],
        "whatIf": _what_if(found),
        "pool": list(pool.places),
        "views": list(views.values()),
        "scaling": {"header": scaling.header, "rows": scaling.rows},
    }
    return render(
        "explorer.html", script="explorer.js", folder=TEMPLATES, title="Attention explorer", page=page, data=data
    )


def _first_stages(found: Exploration, pool: Pool, view: list[int]) -> Iterator[StagePart]:
    """Yield the stages of the first setting, as the script would show them."""
    makers = {one.step: one for one in found.makers}
    tokens = found.sentences[0].tokens
    for at, name in enumerate(STAGES):
        title, about, _ = _STAGES[name]
        own = _is_own(makers, name, How())
        places = [("Yours" if own else "The course's", view[at])]
        if own and (name == "weights" or view[at] != view[5 + at]):
            places.append(("Expected", view[5 + at]))
        if found.what_if and name in _WITH_WHAT_IF:
            places.append((_what_if(found), view[10 + _WITH_WHAT_IF.index(name)]))
        expected = pool.read(view[5 + at])
        columns = tuple(str(number) for number, _ in enumerate(expected[0], 1)) if name == "output" else tokens
        tables = shaded([(caption, pool.read(place)) for caption, place in places], expected, columns)
        yield StagePart(name, title, about, _made_by(makers, name, How()), tuple(tables))


def _makers_of(makers: dict[Step, Maker], stage: str, how: How) -> list[Maker]:
    """Return who makes a stage. With a mask, other code may make it; with two heads, a layer does, if there is one."""
    layer = makers["masked heads" if how.masked else "heads"]
    if how.two and layer.module and stage in _WITH_WHAT_IF:
        return [layer]
    return [makers[_MASKED.get(step, step) if how.masked else step] for step in _STAGES[stage][2]]


def _is_own(makers: dict[Step, Maker], stage: str, how: How) -> bool:
    return any(one.module for one in _makers_of(makers, stage, how))


def _made_by(makers: dict[Step, Maker], stage: str, how: How) -> str:
    made = [
        f"{one.module}: {one.call}" if one.module else f"the course: {_STEPS[one.step]}"
        for one in _makers_of(makers, stage, how)
    ]
    return "; ".join(made)


def _what_if(found: Exploration) -> str:
    return f"What {found.what_if} would give" if found.what_if else ""


def _step(words: str, maker: Maker) -> StepRow:
    if maker.module:
        return StepRow(words, "yours", f"{maker.module}: {maker.call}", maker.problem)
    whose = "not there" if maker.step in ("sinusoidal", "RoPE", *LAYERS) else "the course's"
    return StepRow(words, whose, "yours cannot be used" if maker.problem else _FROM[maker.step], maker.problem)


def _no_positions(found: Exploration) -> str:
    """Return why there are no positions to choose; empty if there are some."""
    if len(found.positions) > 1:
        return ""
    problems = [one.problem for one in found.makers if one.step in ("sinusoidal", "RoPE") and one.problem]
    return problems[0] if problems else "it is not begun"


def _told(module: str, diagnosis: Diagnosis) -> Told:
    parts = paragraphs_of(diagnosis.message, diagnosis.gap.call if diagnosis.gap else "")
    likely = next((one.text for one in parts if one.label == "Likely"), "")
    name = diagnosis.misconception or ""
    return Told(module, module.partition("_")[2], diagnosis.target, name, likely.removesuffix(f" ({name})"))
