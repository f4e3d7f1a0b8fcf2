"""Agreement: whether two graders give the same verdict on each question of each pupil."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from docs.bench.peers.assignment import QUESTIONS
from docs.bench.row import Limit, Row

PART = "peers: verdicts that agree"
WHOLE = "the whole"

Verdicts = Mapping[str, Mapping[str, bool]]


def right_questions(checks: list[dict[str, Any]]) -> dict[str, bool]:
    """Return which questions are right in a report of AttnLab: all their checks passed. Costs do not count here."""
    outcomes = {question: [one["outcome"] for one in checks if one["target"] == question] for question in QUESTIONS}
    return {question: set(found) == {"passed"} for question, found in outcomes.items()}


def whole(verdicts: Verdicts) -> Verdicts:
    """Return for each pupil whether everything is right."""
    return {pupil: {WHOLE: all(right.values())} for pupil, right in verdicts.items()}


def agreement(name: str, verdicts: Verdicts, others: Verdicts) -> Row:
    """Return the row that compares our verdicts with another grader's, and print where they differ."""
    pairs = [
        (f"{question} of {pupil}", verdicts[pupil][question], there)
        for pupil, right in others.items()
        for question, there in right.items()
    ]
    for which, here, there in pairs:
        if here != there:
            print(f"    DISAGREEMENT ({name}): {which} is {_word(here)}, {_word(there)}", file=sys.stderr)
    same = sum(here == there for _, here, there in pairs)
    return Row(PART, name, same, "in all", len(pairs), same / len(pairs), "", Limit(least=1))


def _word(right: bool) -> str:
    return "right" if right else "wrong"
