"""The screens of `attn gpt`: the progress of a training run, its samples, and what came of it."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from datetime import timedelta

import click

from cli.attention.gpt.loss_curve import final_loss, text_curve
from cli.attention.gpt.text import BigramLoss
from cli.attention.gpt.training_run import History, Sample, TrainingRun
from grader.core.report import EarlierModule
from grader.core.safe_text import printable
from grader.core.times import show_length

BAR = 20


class TrainingLine:
    """The progress of a run: a line that is rewritten in a terminal; in a log, a line for each tenth."""

    def __init__(self, run: TrainingRun, step: int) -> None:
        self.run = run
        self._begun_at = step
        self._started = time.monotonic()
        self._in_place = sys.stderr.isatty()
        self._shown = False

    def show(self, step: int, loss: float) -> None:
        """Show how far the run is."""
        if not self._in_place and step not in self.run.tenths:
            return
        full = BAR * step // self.run.steps
        text = f"[{'#' * full}{'.' * (BAR - full)}] step {step} of {self.run.steps}, loss {loss:.2f}{self._left(step)}"
        click.echo(f"\r\033[K{text[:79]}" if self._in_place else text, err=True, nl=not self._in_place)
        self._shown = self._in_place

    def clear(self) -> None:
        """Remove the line, so that something else can be printed."""
        if self._shown:
            click.echo("\r\033[K", err=True, nl=False)
            self._shown = False

    def _left(self, step: int) -> str:
        made, left = step - self._begun_at, self.run.steps - step
        if made <= 0 or left <= 0:
            return ""
        seconds = left * (time.monotonic() - self._started) / made
        return f", {f'{seconds:.0f} s' if seconds < 90 else show_length(timedelta(seconds=seconds))} left"


def module_lines(own: str, builds_on: Sequence[EarlierModule]) -> list[str]:
    """Return whose each module in the model is."""
    lines = [f"  {own:<26} your own"]
    for one in builds_on:
        whose = "your own" if one.used == "own" else f"a fallback stands in: your own {one.why}"
        lines.append(f"  {one.module:<26} {whose}")
    return lines


def sample_lines(sample: Sample, steps: int) -> list[str]:
    """Return a sample with its step, indented."""
    head = f"After step {sample.step} of {steps} (loss on text it has not seen: {sample.held_out:.2f}), it writes:"
    return [head, *indented(sample.text)]


def indented(text: str) -> list[str]:
    """Return the lines of a text that a model wrote, for the terminal."""
    shown = printable(text).split("\n")
    return [
        line
        for one in shown
        for line in (textwrap.wrap(one, 76, drop_whitespace=True) or [""])
        for line in [f"    {line}"]
    ]


def result_lines(history: History, bigram: BigramLoss) -> list[str]:
    """Return the curve and the losses of a finished run."""
    last, held_out = final_loss(history.losses), history.samples[-1].held_out
    return [
        "Loss of every step. Dashes: the best model that sees one character (bigram).",
        *text_curve(history.losses, bigram.learnt),
        "",
        f"  {'':<28}{'your GPT':>10}{'bigram':>10}",
        f"  {'the text it learnt from':<28}{last:>10.3f}{bigram.learnt:>10.3f}",
        f"  {'the last tenth, never seen':<28}{held_out:>10.3f}{bigram.held_out:>10.3f}",
    ]
