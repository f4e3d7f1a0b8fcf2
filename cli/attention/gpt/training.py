"""A training run on the screen: what the process says, until it ends or is stopped."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from cli.attention.gpt.loss_curve import LossCurve, final_loss, svg_curve
from cli.attention.gpt.process import TrainingProcess
from cli.attention.gpt.screens import TrainingLine, module_lines, result_lines, sample_lines
from cli.attention.gpt.text import BigramLoss, bigram_loss
from cli.attention.gpt.training_run import (
    CHECKPOINT,
    History,
    Sample,
    TrainingRun,
    read_history,
    read_run,
    read_training_text,
)
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text, to_json
from grader.core.report import EarlierModule
from grader.core.safe_text import printable
from grader.course.module import Module

CURVE = "loss.svg"
FAILED, FAULT, INTERRUPTED = 1, 3, 130


@dataclass
class _Heard:
    """What the process has said."""

    last: dict[str, Any] = field(default_factory=dict)
    ready: dict[str, Any] = field(default_factory=dict)
    maps: dict[str, Any] = field(default_factory=dict)


def train(folder: Path, module: Module, sentence: str, page: str, *, as_json: bool) -> int:
    """Train until the last step, or until Ctrl-C. Return the exit status."""
    run = read_run(folder)
    bigram = bigram_loss(read_training_text(folder))
    heard = _Heard()
    stopped: list[int] = []
    with TrainingProcess(folder, {"do": "train", "sentence": sentence}) as process, _interrupted(process, stopped):
        for event in _shown(process.events(), run, module, as_json=as_json):
            heard.last = event
            if event["event"] in ("ready", "maps"):
                setattr(heard, event["event"], event)
    history = read_history(folder)
    if stopped and heard.last.get("event") in ("done", "ready", "progress", "sample"):
        click.echo(
            f"\nattn: stopped and saved at step {history.step} of {run.steps}. {_how_to_resume(folder)}", err=True
        )
        return INTERRUPTED
    if heard.last.get("event") != "done":
        require_no_problem(heard.last, process, history if history.step else None, _how_to_resume(folder))
        return FAULT
    _finish(folder, run, module, history, bigram, heard, sentence, page, as_json=as_json)
    return 0


def require_no_problem(
    last: dict[str, Any], process: TrainingProcess, history: History | None = None, resume: str = ""
) -> None:
    """End the command, with a sentence, if the last thing that a process said is not a result."""
    kept = f" Saved is step {history.step}: nothing before it is lost. {resume}" if history else ""
    event, text = last.get("event"), printable(str(last.get("text", "")))
    if event == "problem":
        after = f"Fix this, then run `attn gpt{' --again' if history else ''}`."
        click.echo(f"\n{text[:1].upper()}{text[1:]}.\n`attn test transformer` says more. {after}", err=True)
        sys.exit(FAILED)
    if event == "unusable":
        raise click.UsageError(text)
    if event == "fault":
        click.echo(f"{text}\nattn: this is a fault of the grader, not of your code. Please report it.{kept}", err=True)
        sys.exit(FAULT)
    if event not in ("text", "done"):
        click.echo(f"\nattn: the training process {process.ending()}.{kept}", err=True)
        sys.exit(FAULT)


def _shown(
    events: Iterator[dict[str, Any]], run: TrainingRun, module: Module, *, as_json: bool
) -> Iterator[dict[str, Any]]:
    """Pass events on, and show them."""
    line = TrainingLine(run, 0)
    for event in events:
        match event["event"]:
            case "ready":
                line = TrainingLine(run, event["step"])
                if not as_json:
                    click.echo(_begin_text(run, module, event))
            case "progress":
                line.show(event["step"], event["losses"][-1])
            case "sample" if not as_json:
                line.clear()
                sample = Sample(event["step"], str(event["text"]), event["held_out"])
                click.echo("\n".join([*sample_lines(sample, run.steps), ""]))
        yield event
    line.clear()


def used_modules(run: TrainingRun, loaded: list[str]) -> tuple[EarlierModule, ...]:
    """Return the earlier modules that the model really imports: a student may have written everything in one file."""
    return tuple(one for one in run.builds_on if one.module.partition("_")[2] in loaded)


def _begin_text(run: TrainingRun, module: Module, ready: dict[str, Any]) -> str:
    size = run.size
    lines = [
        f"A GPT with {ready['parameters']:,} parameters: {_counted(size.num_layers, 'block')} with "
        f"{_counted(size.num_heads, 'head')},",
        f"{size.embed_dim} features, a context of {size.context_length} characters.",
        *module_lines(module.name, used_modules(run, ready["modules"])),
        f"It learns from {printable(run.text_name)} for {run.steps} steps. Ctrl-C stops it, and nothing is lost.",
    ]
    return "\n".join([*lines, *([f"It goes on after step {ready['step']}."] if ready["step"] else []), ""])


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _finish(
    folder: Path,
    run: TrainingRun,
    module: Module,
    history: History,
    bigram: BigramLoss,
    heard: _Heard,
    sentence: str,
    page: str,
    *,
    as_json: bool,
) -> None:
    """Write the page and the curve, and print what came of the run."""
    from cli.attention.gpt.page import Maps, gpt_page  # only now: the training has begun long ago

    builds_on = used_modules(run, heard.ready["modules"])
    curve = LossCurve(history.losses, bigram.learnt)
    write_atomically(folder / CURVE, svg_curve(curve, f"Loss of {run.steps} steps on {run.text_name}"))
    maps = Maps(sentence, heard.maps["maps"], heard.maps["why"])
    parameters = heard.ready["parameters"]
    write_atomically(folder / page, gpt_page(run, module.name, builds_on, parameters, history, bigram, maps))
    files = {"page": str(folder / page), "curve": str(folder / CURVE), "checkpoint": str(folder / CHECKPOINT)}
    if not as_json:
        click.echo("\n".join([*result_lines(history, bigram), "", f"wrote {folder / page} and {CURVE} beside it"]))
        click.echo(
            'Next: attn gpt --write "Once"' if "Once" in read_training_text(folder) else "Next: attn gpt --write TEXT"
        )
        return
    found = {
        "steps": run.steps,
        "parameters": parameters,
        "modules": [{"module": module.name, "used": "own", "why": ""}, *map(to_json, builds_on)],
        "loss": final_loss(history.losses),
        "held_out": history.samples[-1].held_out,
        "bigram": to_json(bigram),
        "samples": [to_json(one) for one in history.samples],
        "files": files,
    }
    click.echo(json_text(found))


def _how_to_resume(folder: Path) -> str:
    to = "" if folder.name == "gpt" else f" --to {folder}"
    return f"`attn gpt --resume{to}` goes on from there."


@contextmanager
def _interrupted(process: TrainingProcess, stopped: list[int]) -> Iterator[None]:
    """Let Ctrl-C stop the process after its step; a second one ends it at once. Both keep the last checkpoint."""

    def stop(number: int, _: object) -> None:
        if stopped:
            process.kill()
        stopped.append(number)
        process.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
