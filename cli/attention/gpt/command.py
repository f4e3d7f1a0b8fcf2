"""`attn gpt`: train the student's own GPT, and let it write."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cli.attention.gpt import training
from cli.attention.gpt.process import TrainingProcess, begin_run, changed_files, gpt_module, model_sources, write_run
from cli.attention.gpt.screens import indented
from cli.attention.gpt.text import (
    LearningText,
    TextError,
    read_learning_text,
    require_known,
    require_learnable,
    tales,
)
from cli.attention.gpt.training_run import (
    CHECKPOINT,
    RUN,
    ModelSize,
    RunError,
    TrainingRun,
    read_history,
    read_run,
    read_training_text,
)
from cli.student.own_checks import run_checks, save_progress
from cli.ui.here import course_here
from cli.ui.page_file import page_file
from grader.core.json_record import json_text
from grader.core.safe_text import printable
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.load_student import require_backend
from grader.grading.stand_in import fault_in
from grader.submission.fallbacks import own_with_fallbacks

FOLDER = "gpt"
PAGE = "gpt.html"
STEPS, BATCH, RATE = 1000, 12, 0.003
SENTENCE = "The old woman lit the lamp"
LONGEST_SENTENCE = 40
_SIZE = ModelSize()
_count = click.IntRange(min=1)


@click.command()
@click.option(
    "--text",
    "text_file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Learn from this text (UTF-8); else from the course's tales.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in the folder, from its last checkpoint.")
@click.option("--again", is_flag=True, help="Begin a new run in the folder; the old one is kept in before/ in it.")
@click.option("--write", "prompt", metavar="TEXT", help="Continue this text with the last checkpoint; train nothing.")
@click.option(
    "--sentence", help=f"Show the attention maps of this sentence on the page, at most {LONGEST_SENTENCE} characters."
)
@click.option("--steps", type=_count, help=f"Steps of training in all; {STEPS} unless told. With --resume: more steps.")
@click.option("--batch", type=_count, help=f"Pieces of text in a step; {BATCH} unless told.")
@click.option(
    "--lr", type=click.FloatRange(min=0, min_open=True), help=f"The learning rate of AdamW; {RATE} unless told."
)
@click.option("--context", type=_count, help=f"Characters that the model sees; {_SIZE.context_length} unless told.")
@click.option(
    "--width", type=_count, help=f"Features of a token (the network has twice as many); {_SIZE.embed_dim} unless told."
)
@click.option("--layers", type=_count, help=f"Blocks; {_SIZE.num_layers} unless told.")
@click.option("--heads", type=_count, help=f"Heads of each attention; {_SIZE.num_heads} unless told.")
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**31),
    help="Decides the first weights and all batches; with --write, the text. 0 unless told.",
)
@click.option(
    "--length", type=_count, default=300, show_default=True, help="With --write: the number of new characters."
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, min_open=True),
    default=0.8,
    show_default=True,
    help="With --write: below 1 is careful, above 1 is daring.",
)
@click.option("--top-k", type=_count, help="With --write: choose among this many characters only.")
@click.option(
    "--top-p",
    type=click.FloatRange(min=0, max=1, min_open=True),
    help="With --write: choose among the most likely ones that make up this share.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The folder of the run; else {FOLDER}/ in the course.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def gpt(
    text_file: Path | None, resume: bool, again: bool, prompt: str | None, folder: Path | None, **given: Any
) -> None:
    """Train your own GPT of module 12, and let it write.

    \b
    attn gpt                          train on the course's tales, some minutes
    attn gpt --resume                 go on after Ctrl-C, a crash or a power cut
    attn gpt --write "Once"           continue a text with what it has learnt
    attn gpt --text my.txt --to my    learn from your own text, in another folder
    attn gpt --resume --steps 3000    train the same model for longer

    The model is built only from your code: your GPT with your attention from module 06, your get_batch, cross_entropy
    and generate. If your own attention is missing or fails its checks, the fallback of module 12 stands in, and the
    screen says so. The loop around them is the course's, so that it can stop and go on: AdamW with a constant learning
    rate. A token is one character. The last tenth of the text is never learnt.

    After each tenth of the steps the model writes a sample. Every hundredth is saved: Ctrl-C loses nothing, a crash
    at most a hundredth, and the weights in the end are the same, bit for bit. The folder then has gpt.html with the
    loss, the samples and the attention maps of every head, loss.svg, and checkpoint.npz. A run keeps the text and the
    code that it began with.

    Exit status: 0 done, 1 your code fails, 2 a mistake in the command line, a text or a folder, 3 a fault of the
    grader or a killed process, 130 stopped with Ctrl-C.
    """
    if resume + again + (prompt is not None) > 1:
        raise click.UsageError("--resume, --again and --write exclude each other")
    course = course_here()
    module = gpt_module(course)
    require_backend(module)
    folder = folder or course.root / FOLDER
    if folder.is_dir():
        page_file(folder / PAGE)
    try:
        if prompt is not None:
            _write(folder, prompt, given)
            return
        text = read_learning_text(text_file) if text_file else None
        if resume:
            _require_same(folder, text, given)
            _tell_changes(course, folder)
        else:
            _begin(course, module, folder, text or tales(), given, again=again)
        run = read_run(folder)
        sentence = _sentence(given["sentence"], run, read_training_text(folder))
    except (TextError, RunError) as error:
        raise click.UsageError(str(error)) from None
    sys.exit(training.train(folder, module, sentence, PAGE, as_json=given["as_json"]))


def _begin(
    course: Course, module: Module, folder: Path, text: LearningText, given: dict[str, Any], *, again: bool
) -> None:
    """Write a new run into a folder that has none, or one without a checkpoint."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / RUN).is_file():
        raise RunError(f"{folder} has other files in it. Choose another folder with --to")
    if (folder / CHECKPOINT).is_file() and not again:
        before, step = read_run(folder), read_history(folder).step
        end = "`attn gpt --write TEXT` lets it write" if step == before.steps else "`attn gpt --resume` goes on with it"
        raise RunError(
            f"{folder} has a run at step {step} of {before.steps}. {end}, `attn gpt --again` begins a new one"
        )
    size = _size(given)
    require_learnable(text, size)
    run = TrainingRun(
        steps=given["steps"] or STEPS,
        batch_size=given["batch"] or BATCH,
        lr=given["lr"] or RATE,
        seed=given["seed"] or 0,
        size=size,
        text_name=text.name,
        text_sha256=text.sha256,
        alphabet=text.alphabet,
        main=module.slug,
        builds_on=(),
    )
    _sentence(given["sentence"], run, text.text)
    submission = model_sources(course, module, _faults(course, module))
    if submission.problem:
        click.echo(f"Your file could not be read: {printable(submission.problem)}\nFix this first.", err=True)
        sys.exit(1)
    begin_run(folder, run, text, submission)


def _size(given: dict[str, Any]) -> ModelSize:
    width = given["width"] or _SIZE.embed_dim
    size = ModelSize(
        given["context"] or _SIZE.context_length,
        width,
        given["layers"] or _SIZE.num_layers,
        given["heads"] or _SIZE.num_heads,
        2 * width,
    )
    if size.embed_dim % size.num_heads:
        raise click.UsageError(f"--width {size.embed_dim} cannot be cut into {size.num_heads} heads of the same width")
    return size


def _faults(course: Course, module: Module) -> dict[str, str]:
    """Run the visible checks of the student's own earlier modules. Return what is wrong, by slug."""
    faults = {}
    for one in own_with_fallbacks(course, module).builds_on:
        earlier = next((other for other in course.modules if other.name == one.module), None)
        if one.used != "own" or earlier is None:
            continue
        click.echo(f"checking your {earlier.name} ...", err=True)
        report = run_checks(course, earlier)
        save_progress(course, earlier, report)
        if why := fault_in(report):
            faults[earlier.slug] = why
    return faults


def _require_same(folder: Path, text: LearningText | None, given: dict[str, Any]) -> None:
    """Accept only what does not change a run that goes on: more steps."""
    run, step = read_run(folder), read_history(folder).step
    if not step:
        raise RunError(f"{folder} has no checkpoint yet. Begin with `attn gpt`, without --resume")
    if text is not None and text.sha256 != run.text_sha256:
        raise TextError(
            f"{text.name} is not the text that this run learns from ({run.text_name}), or it has changed. "
            "Leave --text out to go on, or begin another run with --to"
        )
    fixed = {"batch": run.batch_size, "lr": run.lr, "seed": run.seed}
    fixed |= {"context": run.size.context_length, "width": run.size.embed_dim}
    fixed |= {"layers": run.size.num_layers, "heads": run.size.num_heads}
    for name, value in fixed.items():
        if given[name] is not None and given[name] != value:
            raise RunError(f"this run has --{name} {value}, and keeps it. Begin another run with --to")
    if given["steps"] is not None and given["steps"] != run.steps:
        if given["steps"] < step:
            raise RunError(f"this run has made {step} steps already, more than {given['steps']}")
        write_run(folder, replace(run, steps=given["steps"]))


def _tell_changes(course: Course, folder: Path) -> None:
    if changed := changed_files(course, folder):
        names = " and ".join(map(printable, changed))
        click.echo(f"attn: {names} changed since this run began. It goes on with the code of then", err=True)


def _sentence(wish: str | None, run: TrainingRun, text: str) -> str:
    """Return the sentence of the attention maps: one that the model can read at once."""
    longest = min(LONGEST_SENTENCE, run.size.context_length)
    usual = SENTENCE if set(SENTENCE) <= set(run.alphabet) else text
    sentence = usual[: min(longest, len(SENTENCE))] if wish is None else wish
    if not 1 <= len(sentence) <= longest:
        raise TextError(f"--sentence has {len(sentence)} characters. The maps need 1 to {longest}")
    require_known(sentence, run.alphabet)
    return sentence


def _write(folder: Path, prompt: str, given: dict[str, Any]) -> None:
    """Continue a text with the last checkpoint."""
    run, step = read_run(folder), read_history(folder).step
    if not step:
        raise RunError(f"{folder} has no checkpoint yet. Train with `attn gpt` first")
    if not prompt:
        raise TextError("--write needs at least one character to begin with")
    require_known(prompt, run.alphabet)
    how = {name: given[name] for name in ("length", "temperature", "top_k", "top_p")}
    job = {"do": "write", "how": {"prompt": prompt, "seed": given["seed"] or 0, **how}}
    with TrainingProcess(folder, job) as process:
        events = list(process.events())
    training.require_no_problem(events[-1] if events else {}, process)
    written = str(events[-1]["text"])
    if given["as_json"]:
        click.echo(json_text({"step": step, "prompt": prompt, "text": written}))
        return
    if step < run.steps:
        click.echo(f"attn: the model is at step {step} of {run.steps}", err=True)
    click.echo("\n".join(line[4:] for line in indented(written)))
