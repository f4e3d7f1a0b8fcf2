"""Several heads at once, made by the student's layer of module 06."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from cli.attention.formula import Case
from cli.attention.own_steps import LAYER, OwnSteps, Step, many, usable
from cli.attention.trace import call_own
from grader.core.compare import describe
from grader.core.errors import StudentError
from grader.sandbox.student import Arguments, arguments

NAME = "MultiHeadAttention"
_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
Heads = list[tuple[np.ndarray, np.ndarray]]  # weights and output of each head


def own_heads(steps: OwnSteps, groups: Sequence[Sequence[Case]]) -> list[Heads | None]:
    """Return what the student's layer makes of each group of heads; None where it cannot, or is not begun.

    With a mask and without are separate steps: code may lack only the first.
    """
    found: list[Heads | None] = [None] * len(groups)
    for masked in (False, True):
        at = [number for number, group in enumerate(groups) if (group[0].mask is not None) == masked]
        asked = [groups[number] for number in at]
        step: Step = "masked heads" if masked else "heads"
        call = f"{NAME}({_width(asked[0])}, {len(asked[0])})(Q, K, V{', mask' if masked else ''})"
        by = {LAYER: partial(_attend, steps, asked)}
        made = steps.first(step, by, {LAYER: call}, partial(_nothing, len(at)))
        for number, heads in zip(at, made, strict=True):
            found[number] = heads
    return found


def _nothing(groups: int) -> list[Heads | None]:
    return [None] * groups


def _attend(steps: OwnSteps, groups: Sequence[Sequence[Case]]) -> list[Heads | None]:
    """Call a layer whose projections change nothing, so that its heads get the vectors of the cases."""
    import torch  # not at the top: the other modules of the explorer need no torch

    width = _width(groups[0])
    state = {f"{name}.weight": torch.eye(width) for name in _PROJECTIONS}
    state |= {f"{name}.bias": torch.zeros(width) for name in _PROJECTIONS}
    layer = steps.students[LAYER].MultiHeadAttention.made(width, len(groups[0]), state=state)
    call_own(NAME, lambda: layer.double())  # in float32, right numbers could be off in the last decimal
    values = many(NAME, layer, [_arguments(group) for group in groups])
    return [_split(value, group) for value, group in zip(values, groups, strict=True)]


def _arguments(group: Sequence[Case]) -> Arguments:
    """Return the vectors of all heads side by side. For another scale or temperature, the queries are multiplied."""
    import torch

    case = group[0]
    wanted = 1.0 if case.divisor is None else sqrt(case.q.shape[1]) / case.divisor
    q, k, v = (np.concatenate([getattr(one, name) for one in group], axis=1)[None] for name in "qkv")
    masked = {} if case.mask is None else {"mask": torch.tensor(case.mask)}
    return arguments(torch.tensor(wanted / case.temperature * q), torch.tensor(k), torch.tensor(v), **masked)


def _split(value: Any, group: Sequence[Case]) -> Heads:
    if type(value) is not tuple or len(value) != 2:
        raise StudentError(f"{NAME} should return the pair (output, weights), got {describe(value)}")
    n, keys = len(group[0].q), len(group[0].k)
    output = usable(value[0], (1, n, _width(group)), of=f"The output of {NAME}")[0]
    weights = usable(value[1], (1, len(group), n, keys), of=f"The array of weights of {NAME}")[0]
    return list(zip(weights, np.split(output, len(group), axis=1), strict=True))


def _width(group: Sequence[Case]) -> int:
    return sum(case.v.shape[1] for case in group)
