"""A student's GPT, and the steps that train it. The loop is ours, so that it can stop and go on anywhere.

The student's own are the model, `get_batch`, `cross_entropy` and `generate`. Their `train` makes its optimizer inside,
so it could not go on from a checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from cli.attention.gpt.training_run import (
    CHECKPOINT,
    History,
    RunError,
    Sample,
    TrainingRun,
    read_run,
    read_training_text,
    split,
)
from cli.attention.trainer import checkpoint

NEEDED = ("GPT", "get_batch", "cross_entropy", "generate")
SAMPLE_CHARACTERS = 120
SAMPLE_TEMPERATURE = 0.8
MOST_WINDOWS = 64  # of the held-out text
Maps = list[list[list[list[float]]]]  # layer, head, query, key


class TrainingError(Exception):
    """Something about the student's code that stops the training, in a sentence for them."""


@dataclass(frozen=True)
class Writing:
    """How to continue a text."""

    prompt: str
    length: int
    temperature: float
    top_k: int | None
    top_p: float | None
    seed: int


class Trainer:
    """The model of a run with its optimizer. It begins at the run's last checkpoint, if there is one."""

    def __init__(self, folder: Path, names: ModuleType) -> None:
        missing = [name for name in NEEDED if not callable(getattr(names, name, None))]
        if missing:
            raise TrainingError(f"your module does not define {' and '.join(missing)}")
        self._names: Any = names
        self._path = folder / CHECKPOINT
        self.run: TrainingRun = read_run(folder)
        learnt, held_out = split(read_training_text(folder))
        self._data, self._held_out = torch.tensor(self.run.ids(learnt)), torch.tensor(self.run.ids(held_out))
        torch.manual_seed(self.run.seed)
        self._draws = torch.Generator().manual_seed(self.run.seed)
        self.model = self._new_model()
        self._optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.run.lr)
        self.losses: list[float] = []
        self.samples: list[Sample] = []
        if self._path.is_file():
            history = checkpoint.restore(self._path, self.model, self._optimizer, self._draws)
            self.losses, self.samples = list(history.losses), list(history.samples)

    @property
    def step(self) -> int:
        """The number of steps that were made."""
        return len(self.losses)

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum(one.numel() for one in self.model.parameters())

    def make_step(self) -> float:
        """Make one step of AdamW, and return the loss of its batch before it."""
        self.model.train()
        shape = (self.run.batch_size, self.run.size.context_length)
        inputs, targets = self._names.get_batch(self._data, *shape, self._draws)
        for name, batch in (("inputs", inputs), ("targets", targets)):
            _require_shape(f"the {name} of get_batch", batch, shape)
        loss = self._loss(inputs, targets)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        value = float(loss.item())
        if not math.isfinite(value):
            raise TrainingError(f"the loss is {value} in step {self.step + 1}, so the model cannot learn from it")
        self.losses.append(value)
        return value

    def sample(self) -> Sample:
        """Write a sample, and measure the loss on the held-out text. The training is the same with and without."""
        with torch.random.fork_rng(devices=[]):
            start = self.run.letters(self._data[:1].tolist())
            how = Writing(start, SAMPLE_CHARACTERS, SAMPLE_TEMPERATURE, None, None, self.run.seed + self.step)
            found = Sample(self.step, self.write(how), self._held_out_loss())
        self.samples.append(found)
        return found

    def save(self) -> None:
        """Write a checkpoint."""
        history = History(tuple(self.losses), tuple(self.samples))
        checkpoint.save(self._path, self.model, self._optimizer, self._draws, history)

    def write(self, how: Writing) -> str:
        """Return the prompt and what the student's generate adds to it."""
        given = torch.tensor([self.run.ids(how.prompt)])
        draws = torch.Generator().manual_seed(how.seed)
        written = self._names.generate(self.model, given, how.length, how.temperature, how.top_k, how.top_p, draws)
        _require_shape("the result of generate", written, (1, given.shape[1] + how.length))
        ids = written[0].tolist()
        if not all(isinstance(one, int) and 0 <= one < len(self.run.alphabet) for one in ids):
            raise TrainingError("the result of generate has numbers that are no tokens")
        return self.run.letters(ids)

    def _new_model(self) -> Any:
        size = self.run.size
        model = self._names.GPT(
            len(self.run.alphabet),
            size.context_length,
            size.embed_dim,
            size.num_layers,
            size.num_heads,
            size.hidden_dim,
        )
        if not isinstance(model, torch.nn.Module) or not any(True for _ in model.parameters()):
            raise TrainingError("your GPT is not an nn.Module with parameters")
        return model

    def _loss(self, inputs: torch.Tensor, targets: torch.Tensor) -> Any:
        logits = self.model(inputs)
        _require_shape("the result of your GPT", logits, (*inputs.shape, len(self.run.alphabet)))
        loss = self._names.cross_entropy(logits, targets)
        _require_shape("the result of cross_entropy", loss, ())
        return loss

    def _held_out_loss(self) -> float:
        length = self.run.size.context_length
        starts = range(0, len(self._held_out) - length, length)[:MOST_WINDOWS]
        pieces = torch.stack([self._held_out[start : start + length + 1] for start in starts])
        self.model.eval()
        with torch.no_grad():
            return float(self._loss(pieces[:, :-1], pieces[:, 1:]).item())


def _require_shape(what: str, value: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(value, torch.Tensor):
        raise TrainingError(f"{what} should be a tensor of shape {shape}, not {type(value).__name__}")
    if tuple(value.shape) != shape:
        raise TrainingError(f"{what} should have the shape {shape}, not {tuple(value.shape)}")


def train(trainer: Trainer, tell: Callable[..., None], is_stopped: Callable[[], bool]) -> None:
    """Make all steps that are left, or stop after the current one. Every hundredth of the steps is saved."""
    run = trainer.run
    if trainer.step > run.steps:
        raise RunError(f"the checkpoint is at step {trainer.step}, after the last step {run.steps}")
    every = max(1, run.steps // 100)
    losses: list[float] = []
    while trainer.step < run.steps:
        losses.append(trainer.make_step())
        step, stopped = trainer.step, is_stopped()
        sample = trainer.sample() if step in run.tenths else None
        if sample or stopped or step % every == 0:
            trainer.save()
            tell("progress", step=step, losses=losses)
            losses = []
        if sample:
            tell("sample", step=step, text=sample.text, held_out=sample.held_out)
        if stopped:
            return


def attention_maps(model: Any, ids: torch.Tensor) -> tuple[Maps, str]:
    """Return the weights that the attention of each block returns beside its output, or why there are none.

    Module 06 promises (output, weights), with weights (B, H, N, N). A hook reads them while the model runs.
    """
    found: list[Any] = []
    blocks = list(getattr(model, "blocks", ()))
    parts: list[Any] = [getattr(block, "attention", None) for block in blocks]
    if not parts or not all(isinstance(part, torch.nn.Module) for part in parts):
        return [], "your GPT has no `blocks` with an `attention` in each"
    handles = [part.register_forward_hook(lambda _part, _given, result: found.append(result)) for part in parts]
    try:
        with torch.no_grad():
            model(ids.unsqueeze(0))
    finally:
        for handle in handles:
            handle.remove()
    weights: list[Any] = [result[1] if isinstance(result, tuple) and len(result) == 2 else None for result in found]
    if len(weights) != len(parts) or not all(_are_weights(one, len(ids)) for one in weights):
        return [], "the attention of your blocks does not return (output, weights) with weights of (B, H, N, N)"
    return [[_rounded(head) for head in one[0]] for one in weights], ""


def _are_weights(value: Any, length: int) -> bool:
    if not isinstance(value, torch.Tensor) or value.dim() != 4:
        return False
    return value.shape[0] == 1 and tuple(value.shape[2:]) == (length, length) and bool(torch.isfinite(value).all())


def _rounded(head: torch.Tensor) -> list[list[float]]:
    return [[round(weight, 4) for weight in row] for row in head.tolist()]
