"""Small training runs for tests: a model of a few hundred parameters on a text of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cli.attention.gpt.process import begin_run
from cli.attention.gpt.text import LearningText
from cli.attention.gpt.training_run import ModelSize, TrainingRun
from cli.attention.trainer.trainer import Trainer
from grader.sandbox.worker.loader import StudentModules
from grader.submission.submission import Source, Submission
from tests.conftest import ROOT

SMALL = ModelSize(8, 8, 1, 2, 16)
TEXT = LearningText("pattern.txt", "the cat sat on the mat. " * 20)
MODEL = (ROOT / "solutions" / "12_transformer" / "transformer.py").read_text()
ATTENTION = (ROOT / "solutions" / "06_multi_head_attention" / "multi_head_attention.py").read_text()
MakeTrainer = Callable[..., Trainer]


def small_run(folder: Path, steps: int = 20, model: str = MODEL) -> TrainingRun:
    """Write a run into a folder, and return its settings."""
    run = TrainingRun(steps, 4, 0.01, 0, SMALL, TEXT.name, TEXT.sha256, TEXT.alphabet, main="transformer", builds_on=())
    sources = {"transformer": model, "multi_head_attention": ATTENTION}
    files = {slug: Source(f"{slug}.py", (text,), notebook=False) for slug, text in sources.items()}
    begin_run(folder, run, TEXT, Submission("you", "12_transformer", "transformer.py", files))
    return run


def trainer_of(folder: Path) -> Trainer:
    """Load the code of a run, as the process does, and return its trainer."""
    from cli.attention.gpt.training_run import read_code

    modules = StudentModules(read_code(folder))
    assert modules.load("transformer") == []
    return Trainer(folder, modules.main)
