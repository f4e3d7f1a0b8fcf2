"""Texts to learn from, and what a model of pairs of characters makes of them."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cli.attention.gpt.training_run import ModelSize, shortest_text, split

TALES = Path(__file__).parent / "tales.txt"
LARGEST = 20_000_000  # bytes of a text
MOST_CHARACTERS = 2_000  # different ones


class TextError(Exception):
    """A text that a model cannot learn from, in a sentence for the student."""


@dataclass(frozen=True)
class LearningText:
    """A text with its name. A token is one character."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def alphabet(self) -> str:
        """Every character of the text, in order."""
        return "".join(sorted(set(self.text)))

    @cached_property
    def bigram(self) -> BigramLoss:
        """The losses of the model of pairs."""
        return bigram_loss(self.text)


@dataclass(frozen=True)
class BigramLoss:
    """The loss of the best model that sees one character only, counted in the text.

    On the part to learn from, no such model can be better. On the held-out part, every count is one more.
    """

    learnt: float
    held_out: float


def bigram_loss(text: str) -> BigramLoss:
    """Count pairs in the part to learn from, and return the loss on both parts."""
    learnt, held_out = split(text)
    pairs, firsts = Counter(itertools.pairwise(learnt)), Counter(learnt[:-1])
    kinds = len(set(text))
    seen = [-math.log(count / firsts[first]) * count for (first, _), count in pairs.items()]
    unseen = [
        -math.log((pairs[first, then] + 1) / (firsts[first] + kinds)) for first, then in itertools.pairwise(held_out)
    ]
    return BigramLoss(sum(seen) / (len(learnt) - 1), sum(unseen) / len(unseen))


def tales() -> LearningText:
    """Return the text of the course: short tales, written for it."""
    return LearningText(TALES.name, TALES.read_text(encoding="utf-8"))


def read_learning_text(path: Path) -> LearningText:
    """Read a text of the student's; TextError if it is not one."""
    if path.stat().st_size > LARGEST:
        raise TextError(f"{path} has more than {LARGEST // 1_000_000} MB. Take a part of it")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TextError(f"{path} is not UTF-8 text. Save it as UTF-8") from None
    return LearningText(path.name, text.replace("\r\n", "\n").replace("\r", "\n"))


def require_learnable(text: LearningText, size: ModelSize) -> None:
    """Raise a TextError if a text is too short for a model, or has too many different characters."""
    least = shortest_text(size)
    if len(text.text) < least:
        raise TextError(
            f"{text.name} has {len(text.text)} characters. "
            f"A model with a context of {size.context_length} needs at least {least}"
        )
    if len(text.alphabet) > MOST_CHARACTERS:
        raise TextError(f"{text.name} has {len(text.alphabet)} different characters, more than {MOST_CHARACTERS}")
    if len(text.alphabet) < 2:
        raise TextError(f"{text.name} has only one character, again and again")


def require_known(words: str, alphabet: str) -> None:
    """Raise a TextError if some characters are not in the text that a model learnt from."""
    unknown = sorted(set(words) - set(alphabet))
    if unknown:
        shown = " ".join(repr(one) for one in unknown[:8])
        raise TextError(f"the model has never seen {shown}: every character must be in the text that it learnt from")
