"""Answers under Reflect that grading accepts, too: the neighbours of the right one, tried by the hidden suite.

A question says "round to a whole number", and a student cuts off instead. If the hidden suite gives full points for it,
`attn complete` must not call it wrong.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grader.course.answers import DIGITS, is_number
from grader.course.api import REFLECT
from grader.course.loading import load_python

Check = Callable[[SimpleNamespace], object]


def accepted_answers(suite: Path, answers: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return, for each question, the right answer and those of its neighbours that a hidden suite accepts."""
    checks = _checks(suite)
    found: dict[str, list[Any]] = {name: [value] for name, value in answers.items()}
    if not checks or not _passes(checks, answers):
        return found
    for name, value in answers.items():
        found[name] += [near for near in _neighbours(value) if _passes(checks, {**answers, name: near})]
    return found


def _checks(suite: Path) -> list[Check]:
    """Return the checks that look at answers and at nothing else."""
    name = f"_reflect_{suite.stem}"
    names = vars(load_python(suite, name, verb="collected", missing="Write the hidden suite", fix="Fix the suite"))
    return [
        one
        for key, one in names.items()
        if key.startswith("test_")
        and getattr(vars(one).get("worth"), "target", None) == REFLECT
        and list(inspect.signature(one).parameters) == ["student"]
    ]


def _neighbours(value: Any) -> list[Any]:
    """Return the numbers beside one, in its last digit."""
    if not is_number(value) or not math.isfinite(value) or value == 0:
        return []
    if value == round(value):
        return [value - 1, value + 1]
    step = 10.0 ** (math.floor(math.log10(abs(value))) - DIGITS + 1)
    return [value - step, value + step]


def _passes(checks: list[Check], answers: Mapping[str, Any]) -> bool:
    """Whether every check accepts some answers."""
    student = SimpleNamespace(**answers)
    try:
        for check in checks:
            check(student)
    except Exception:  # noqa: BLE001 - an answer that is not accepted, or a check that needs more than answers
        return False
    return True
