"""The page of a training run: the loss, the samples, and the attention maps of every head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cli.attention import TEMPLATES
from cli.attention.gpt.loss_curve import LossCurve, final_loss
from cli.attention.gpt.text import BigramLoss
from cli.attention.gpt.training_run import History, TrainingRun
from grader.core.report import EarlierModule
from grader.core.versions import environment
from grader.pages.heat_map import LEVELS, HeatCell
from grader.pages.rendering import render

SPACE, LINE_END = "␣", "⏎"  # so that every key has something to see


@dataclass(frozen=True)
class Maps:
    """The weights of a sentence (layer, head, query, key), or why there are none."""

    sentence: str
    weights: Sequence[Sequence[Sequence[Sequence[float]]]]
    why: str = ""


@dataclass(frozen=True)
class HeadMap:
    """The map of one head, with a name for each row and column."""

    title: str
    tokens: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


def gpt_page(
    run: TrainingRun,
    module: str,
    builds_on: Sequence[EarlierModule],
    parameters: int,
    history: History,
    bigram: BigramLoss,
    maps: Maps,
) -> str:
    """Return the page of a finished run."""
    return render(
        "gpt.html",
        folder=TEMPLATES,
        title=f"A GPT after {history.step} steps",
        run=run,
        module=module,
        builds_on=builds_on,
        parameters=f"{parameters:,}",
        history=history,
        loss=f"{final_loss(history.losses):.3f}",
        held_out=f"{history.samples[-1].held_out:.3f}",
        bigram=bigram,
        curve=LossCurve(history.losses, bigram.learnt),
        sentence=maps.sentence,
        heads=head_maps(maps),
        why=maps.why,
        made_with=f"AttnLab, torch {environment()['torch']}",
    )


def head_maps(maps: Maps) -> tuple[HeadMap, ...]:
    """Return a map for each head. Numbers are percent; a weight that is rounded to 0 has no number."""
    tokens = tuple({" ": SPACE, "\n": LINE_END}.get(one, one) for one in maps.sentence)
    return tuple(
        HeadMap(
            f"Block {layer}, head {number}",
            tokens,
            tuple((token, tuple(map(_cell, row))) for token, row in zip(tokens, head, strict=True)),
        )
        for layer, heads in enumerate(maps.weights, 1)
        for number, head in enumerate(heads, 1)
    )


def _cell(weight: float) -> HeatCell:
    percent = round(100 * weight)
    level = min(LEVELS, max(-LEVELS, round(LEVELS * weight)))
    return HeatCell(str(percent) if percent else "", level or int(percent > 2), differs=False)
