"""The folder of a training run: its settings, text, code and history. Both sides of the trust boundary read it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from grader.core.json_record import from_json
from grader.core.report import EarlierModule

RUN, TEXT, CODE, CHECKPOINT = "run.json", "text.txt", "code.json", "checkpoint.npz"
LOSSES, NOTES = "losses", "notes"  # arrays of a checkpoint
SCHEMA = 1
TENTHS = 10
Value = TypeVar("Value")


class RunError(Exception):
    """A folder that is not a readable run, in a sentence for the student."""


@dataclass(frozen=True)
class ModelSize:
    """The arguments of GPT after the number of tokens, in their order."""

    context_length: int = 48
    embed_dim: int = 64
    num_layers: int = 2
    num_heads: int = 4
    hidden_dim: int = 128


@dataclass(frozen=True)
class TrainingRun:
    """What decides the weights of a run, together with its text and its code."""

    steps: int
    batch_size: int
    lr: float
    seed: int
    size: ModelSize
    text_name: str
    text_sha256: str
    alphabet: str  # every character of the text; a token is its place
    main: str  # the slug of the module that has the model
    builds_on: tuple[EarlierModule, ...]
    schema: int = SCHEMA

    @property
    def tenths(self) -> tuple[int, ...]:
        """The steps after which a sample is written."""
        return tuple(sorted({max(1, self.steps * part // TENTHS) for part in range(1, TENTHS + 1)}))

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text; every character must be in the alphabet."""
        places = {character: place for place, character in enumerate(self.alphabet)}
        return [places[character] for character in text]

    def letters(self, ids: list[int]) -> str:
        """Return the text of some tokens."""
        return "".join(self.alphabet[number] for number in ids)


@dataclass(frozen=True)
class Sample:
    """What the model wrote after a number of steps, and its loss on the text that it has not seen."""

    step: int
    text: str
    held_out: float


@dataclass(frozen=True)
class History:
    """What a checkpoint says about the steps so far."""

    losses: tuple[float, ...] = ()  # one for each step
    samples: tuple[Sample, ...] = ()

    @property
    def step(self) -> int:
        """The number of steps that were made."""
        return len(self.losses)


def split(text: str) -> tuple[str, str]:
    """Return the part of a text to learn from, and the last tenth, which is held out."""
    end = len(text) - len(text) // TENTHS
    return text[:end], text[end:]


def shortest_text(size: ModelSize) -> int:
    """Return how many characters a text needs, so that the held-out part is longer than the context."""
    return TENTHS * (size.context_length + 2)


def read_run(folder: Path) -> TrainingRun:
    """Return the settings of a run."""
    return _read(folder / RUN, lambda data: from_json(TrainingRun, json.loads(data)))


def read_training_text(folder: Path) -> str:
    """Return the text of a run."""
    return _read(folder / TEXT, lambda data: data.decode("utf-8"))


def read_code(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the sources of a run by slug, as a worker loads them."""
    return _read(folder / CODE, lambda data: {slug: _source(one) for slug, one in json.loads(data).items()})


def code_text(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return sources as the text of their file."""
    shown = {
        slug: {**one, "cells": [cell.decode("utf-8", "replace") for cell in one["cells"]]}
        for slug, one in files.items()
    }
    return json.dumps(shown, indent=1)


def read_history(folder: Path) -> History:
    """Return what the checkpoint says; an empty history if there is none."""
    if not (folder / CHECKPOINT).is_file():
        return History()
    return _read(folder / CHECKPOINT, lambda data: history_of(np.load(io.BytesIO(data), allow_pickle=False)))


def history_of(arrays: Mapping[str, Any]) -> History:
    """Return the history among the arrays of a checkpoint."""
    samples = json.loads(bytes(arrays[NOTES]))
    return History(tuple(arrays[LOSSES].tolist()), tuple(from_json(Sample, one) for one in samples))


def _source(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "cells": [cell.encode("utf-8") for cell in data["cells"]]}


def _read(path: Path, read: Callable[[bytes], Value]) -> Value:
    try:
        return read(path.read_bytes())
    except FileNotFoundError:
        raise RunError(f"{path.parent} has no {path.name}, so it is not a run of `attn gpt`") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile):
        raise RunError(f"{path} is damaged") from None
