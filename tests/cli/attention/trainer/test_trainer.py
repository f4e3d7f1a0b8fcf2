"""Training goes on from a checkpoint as if it had never stopped, and says what is wrong with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cli.attention.gpt import training_run  # noqa: E402
from cli.attention.gpt.process import BEFORE  # noqa: E402
from cli.attention.gpt.training_run import CHECKPOINT, CODE, RUN, RunError, read_code, read_history  # noqa: E402
from cli.attention.trainer.__main__ import _words  # noqa: E402
from cli.attention.trainer.trainer import (  # noqa: E402
    Trainer,
    TrainingError,
    Writing,
    attention_maps,
    train,
)
from grader.sandbox.worker.loader import StudentModules  # noqa: E402
from tests.cli.attention.trainer.runs import MODEL, TEXT, small_run, trainer_of  # noqa: E402


def finish(folder: Path, stop_at: int = 0) -> list[str]:
    """Train until the end, or until a stop after some step. Return the names of the events."""
    events: list[str] = []
    trainer = trainer_of(folder)
    train(trainer, lambda event, **_: events.append(event), lambda: trainer.step == stop_at)
    return events


def arrays(folder: Path) -> dict[str, Any]:
    with np.load(folder / CHECKPOINT, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.exhaustive  # two training runs
def test_a_stopped_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    small_run(tmp_path / "whole")
    finish(tmp_path / "whole")
    small_run(tmp_path / "parts")
    for step in (3, 4, 11, 0):
        finish(tmp_path / "parts", stop_at=step)
        assert read_history(tmp_path / "parts").step == (step or 20)
    whole, parts = arrays(tmp_path / "whole"), arrays(tmp_path / "parts")
    assert any(name.startswith("model/") for name in whole)
    assert any(name.startswith("optimizer/") for name in whole)
    assert same(whole, parts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("lost", ["draws", "optimizer/0/exp_avg", "model/head.weight"])
def test_without_a_part_of_the_checkpoint_the_weights_would_differ(tmp_path: Path, lost: str) -> None:
    """The comparison above can fail: each part of a checkpoint matters."""
    small_run(tmp_path / "whole")
    finish(tmp_path / "whole")
    small_run(tmp_path / "parts")
    before = trainer_of(tmp_path / "parts")
    before.save()
    first = arrays(tmp_path / "parts") | {"optimizer/0/exp_avg": np.zeros((len(TEXT.alphabet), 8), dtype=np.float32)}
    finish(tmp_path / "parts", stop_at=5)
    np.savez(tmp_path / "parts" / CHECKPOINT, **(arrays(tmp_path / "parts") | {lost: first[lost]}))
    finish(tmp_path / "parts")
    assert not same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))


def test_samples_come_after_each_tenth_and_do_not_change_the_training(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    events = finish(tmp_path)
    history = read_history(tmp_path)
    assert [sample.step for sample in history.samples] == list(run.tenths) == list(range(2, 21, 2))
    assert events.count("sample") == 10
    assert all(sample.text.startswith("t") and len(sample.text) == 121 for sample in history.samples)
    trainer = _fresh(tmp_path / "bare")
    assert [trainer.make_step() for _ in range(20)] == list(history.losses)


def _fresh(folder: Path) -> Trainer:
    small_run(folder)
    return trainer_of(folder)


@pytest.mark.exhaustive
def test_the_model_learns_and_writes(tmp_path: Path) -> None:
    small_run(tmp_path, steps=200)
    finish(tmp_path)
    history = read_history(tmp_path)
    assert history.losses[-1] < TEXT.bigram.learnt < history.losses[0]
    trainer = trainer_of(tmp_path)
    how = Writing("the", 20, 0.5, None, None, 0)
    assert trainer.write(how) == trainer.write(how)
    assert trainer.write(how).startswith("the")
    assert len(trainer.write(how)) == 23


def test_every_head_has_a_causal_map_of_rows_that_sum_to_one(tmp_path: Path) -> None:
    trainer = _fresh(tmp_path)
    maps, why = attention_maps(trainer.model, torch.tensor(trainer.run.ids("the cat")))
    assert why == ""
    weights = np.array(maps)
    assert weights.shape == (1, 2, 7, 7)
    assert np.allclose(weights.sum(axis=-1), 1, atol=1e-3)
    assert (np.triu(weights, 1) == 0).all()


def test_without_weights_it_is_said_why(tmp_path: Path) -> None:
    changed = MODEL.replace(
        "attended, _ = self.attention(self.norm1(x), mask=mask)",
        "attended, _ = self.attention.forward(self.norm1(x), mask=mask)",
    )
    assert changed != MODEL
    small_run(tmp_path, model=changed)
    trainer = trainer_of(tmp_path)
    maps, why = attention_maps(trainer.model, torch.tensor(trainer.run.ids("the cat")))
    assert maps == []
    assert "does not return (output, weights)" in why


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return self.head(self.norm(x))", "return self.head(self.norm(x))[:, -1]", "should have the shape (4, 8, "),
        ("return (log_sums - chosen).mean()", "return log_sums - chosen", "cross_entropy should have the shape ()"),
        (
            "return (log_sums - chosen).mean()",
            "return (log_sums - chosen).mean() * math.nan",
            "the loss is nan in step 1",
        ),
        ("return pieces[:, :-1], pieces[:, 1:]", "return pieces[:, 1:], pieces[:, :-2]", "the targets of get_batch"),
        ("return (log_sums - chosen).mean()", "return 1.0", "should be a tensor of shape (), not float"),
    ],
)
def test_a_wrong_model_gets_a_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in MODEL
    small_run(tmp_path, model=MODEL.replace(old, new))
    with pytest.raises(TrainingError) as raised:
        trainer_of(tmp_path).make_step()
    assert said in str(raised.value)


def test_a_module_without_the_functions_gets_a_sentence(tmp_path: Path) -> None:
    small_run(tmp_path, model="def GPT():\n    pass\n")
    with pytest.raises(TrainingError, match="does not define get_batch and cross_entropy and generate"):
        trainer_of(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half of a file", b"no zip at all"])
def test_a_damaged_checkpoint_is_said_to_be_damaged(tmp_path: Path, content: bytes) -> None:
    small_run(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        read_history(tmp_path)
    with pytest.raises(RunError, match="damaged"):
        trainer_of(tmp_path)


def test_a_new_run_keeps_every_file_of_the_one_before(tmp_path: Path) -> None:
    small_run(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"weights")
    files = {name: (tmp_path / name).read_bytes() for name in (RUN, training_run.TEXT, CODE, CHECKPOINT)}
    small_run(tmp_path, steps=30)
    assert {path.name: path.read_bytes() for path in (tmp_path / BEFORE).iterdir()} == files


def test_the_function_that_is_not_written_is_named_and_not_its_caller(tmp_path: Path) -> None:
    code = "def inner():\n    raise NotImplementedError\n\n\ndef outer():\n    inner()\n"
    small_run(tmp_path, model=code)
    modules = StudentModules(read_code(tmp_path))
    assert modules.load("transformer") == []
    with pytest.raises(NotImplementedError) as raised:
        modules.main.outer()
    assert _words(raised.value, modules) == "inner in transformer.py is not written yet (line 2)"
