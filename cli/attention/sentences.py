"""The sentences of the explorer: the one of the lessons, two about a bank, and any that a student types."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.core.safe_text import one_line

# The sentence of the lessons, with a query, a key and a value for each token.
TOKENS = ("The", "cat", "sat", "on", "mat")
# Floats, as in the checks: integer inputs have checks of their own.
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAUSAL = np.tri(len(TOKENS))  # a token sees itself and the tokens before it
MOST_TOKENS = 8  # a wider map does not fit beside another one
LONGEST_TOKEN = 14
WIDTH = 4


@dataclass(frozen=True)
class Sentence:
    """Tokens with a query, a key and a value each. `about` says where these vectors come from."""

    tokens: tuple[str, ...]
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    about: str

    @property
    def text(self) -> str:
        """The tokens with spaces between them."""
        return " ".join(self.tokens)


Vectors = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
LESSON = Sentence(TOKENS, Q, K, V, "The vectors are those of the lessons.")
# Four features that a reader can follow: grammar, money, water, action. *bank* asks for money and for water.
_BANK: Mapping[str, Vectors] = {
    "a": ((1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)),
    "bank": ((0, 2, 2, 0), (0, 0.5, 0.5, 0), (0, 0.5, 0.5, 0)),
    "lends": ((0, 1, 0, 1), (0, 1, 0, 1), (0, 0, 0, 1)),
    "money": ((0, 1, 0, 0), (0, 2, 0, 0), (0, 1, 0, 0)),
    "river": ((0, 0, 1, 0), (0, 0, 2, 0), (0, 0, 1, 0)),
    "floods": ((0, 0, 1, 1), (0, 0, 1, 1), (0, 0, 0, 1)),
}
_ABOUT_BANK = (
    "The four features of a vector stand for grammar, money, water and action. They were chosen by hand: bank asks for "
    "money and for water, and its output shows which of the two it found."
)
_LESSON_WORDS: Mapping[str, Vectors] = {
    token.casefold(): (tuple(q), tuple(k), tuple(v))
    for token, q, k, v in zip(TOKENS, Q.tolist(), K.tolist(), V.tolist(), strict=True)
}
_KNOWN = {**_BANK, **_LESSON_WORDS}


def typed(text: str) -> Sentence:
    """Return a sentence that a student typed. ValueError if it has no word, or too many."""
    tokens = tuple(one_line(word, LONGEST_TOKEN) for word in text.split())
    if not 2 <= len(tokens) <= MOST_TOKENS:
        raise ValueError(f"a sentence has 2 to {MOST_TOKENS} words, this one has {len(tokens)}")
    new = sorted({token for token in tokens if token.casefold() not in _KNOWN})
    about = "The vectors of these words are those of the other sentences."
    if new:
        about = (
            f"The vectors of {', '.join(new)} are made from the letters and mean nothing: a trained model has learned "
            "vectors, the explorer has not."
        )
    return _of(tokens, about)


def _of(tokens: tuple[str, ...], about: str) -> Sentence:
    vectors = [_KNOWN.get(token.casefold()) or _from_letters(token.casefold()) for token in tokens]
    q, k, v = (np.array([one[part] for one in vectors], dtype=float) for part in range(3))
    return Sentence(tokens, q, k, v, about)


def _from_letters(word: str) -> Vectors:
    """Return three vectors for a word, the same on every machine: numbers from 0 to 2 in steps of a half."""
    digits = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
    parts = [tuple(byte % 5 / 2 for byte in digits[WIDTH * part : WIDTH * (part + 1)]) for part in range(3)]
    return parts[0], parts[1], parts[2]


SENTENCES = (
    LESSON,
    _of(("A", "river", "bank", "floods"), _ABOUT_BANK),
    _of(("A", "bank", "lends", "money"), _ABOUT_BANK),
)
