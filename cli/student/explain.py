"""`attn explain` and `attn show`: one's own attention at work on the sentence of the lessons."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.author.dev import chosen
from cli.student.test import tell_which_counts
from cli.ui.arguments import modules_here, svg_file

if TYPE_CHECKING:
    from grader.course.course import Course
    from grader.course.module import Module
    from grader.workspace.trace import Trace

WIDTH = 80
BAR = 30
COLUMNS = ("raw", "scaled", "weights")
# Nine shades of two characters each, from 0 to 1.
SHADES = ("  ", " ░", "░░", "░▒", "▒▒", "▒▓", "▓▓", "▓█", "██")
ASCII_SHADES = tuple(2 * mark for mark in " .:-=+*#%@")

_whose = click.option(
    "--module",
    "-m",
    "module_name",
    metavar="MODULE",
    shell_complete=modules_here,
    help="Whose code: loop_attention or attention.",
)


@click.command()
@click.argument("token")
@_whose
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def explain(token: str, module_name: str | None, as_json: bool) -> None:
    """Follow one token of "The cat sat on mat" through your own attention.

    \b
    attn explain cat                  what cat looks at, and what it gets
    attn explain 2 -m attention       the same token, by module 03

    Your functions are called one after the other with the queries, keys and values of the lesson.

    \b
    raw      its query times the key of every token
    scaled   divided by the square root of 4, which is how wide queries are
    weight   its share of attention: softmax of the scaled scores
    output   the values of all tokens, mixed in these shares

    Where a step is not written yet or fails, the trace ends and says so. Without --module it is the latest of the two
    modules that you have begun. Nothing is compared with the right numbers here: `attn test` does that.

    Exit status: 0 shown to the end, 1 your code fails on the way, 2 no such token or module, 3 a fault of the grader.
    """
    from grader.course.course import find_course
    from grader.workspace.trace import own_trace, remarks

    query = _query(token)
    course = find_course(Path.cwd())
    module = _with_attention(course, module_name)
    tell_which_counts(module)
    trace = _looked(lambda: own_trace(course, module))
    weights = trace.values("weights")
    notes = () if weights is None else remarks(weights, [query])
    if as_json:
        click.echo(json.dumps(_trace_json(trace, query, notes), indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join([*_trace_lines(trace, query), *_note_lines(trace, module, notes, "the trace ends here")]))
    sys.exit(1 if trace.problem else 0)


@click.command()
@_whose
@click.option("--causal", is_flag=True, help="With the mask np.tri(5): no token sees those after it.")
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=svg_file,
    help="Also draw the map into this file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def show(module_name: str | None, causal: bool, svg: Path | None, as_json: bool) -> None:
    """Show the attention map of "The cat sat on mat", by your own scaled_dot_product_attention.

    \b
    attn show                         who looks at whom, and how much
    attn show --causal                the same where no token sees those after it
    attn show -m 2 --svg map.svg      by module 02, with a picture

    Each row is a query and shares out 1 among the keys, its columns: the darker a cell, the larger the share. What is
    amiss in your weights, such as a sum that is not 1 or a share for a blocked key, is said below. Without --module it
    is the latest of the two modules that you have begun.

    Exit status: 0 shown, 1 your code fails, 2 no such module, or one without attention, 3 a fault of the grader.
    """
    from grader.course.course import find_course
    from grader.course.sentence import TOKENS
    from grader.workspace.trace import own_map, remarks

    course = find_course(Path.cwd())
    module = _with_attention(course, module_name)
    tell_which_counts(module)
    trace = _looked(lambda: own_map(course, module, causal=causal))
    weights = trace.values("weights")
    rows = [] if weights is None else weights.tolist()
    notes = () if weights is None else remarks(weights, range(len(TOKENS)), causal=causal)
    if as_json:
        click.echo(json.dumps(_map_json(trace, rows, causal, notes), indent=1, ensure_ascii=False))
    else:
        lines = [*_map_lines(trace, rows, causal), *_note_lines(trace, module, notes, "there is no map to show")]
        click.echo("\n".join(lines))
    if svg is not None and rows:
        _draw(rows, f"Attention by {trace.module}, {'causal mask' if causal else 'no mask'}", svg)
    sys.exit(1 if trace.problem else 0)


def _query(token: str) -> int:
    """Return which token of the sentence is meant, counted from 0."""
    from grader.course.sentence import TOKENS

    for number, name in enumerate(TOKENS):
        if token.casefold() in (name.casefold(), str(number + 1)):
            return number
    known = ", ".join(TOKENS)
    raise click.UsageError(f"there is no token {token!r} in the sentence. Say one of {known}, or 1 to {len(TOKENS)}.")


def _with_attention(course: Course, name: str | None) -> Module:
    """Return the module that was named, else the latest with attention that was begun, else the first with any."""
    from grader.workspace.progress import all_progress
    from grader.workspace.trace import STEPS

    known = " and ".join(STEPS)
    if name is not None:
        module = chosen(course, (name,))[0]
        if module.name not in STEPS:
            raise click.UsageError(f"{module.name} has no attention to look at. Those that have it are {known}.")
        return module
    able = [one for one in all_progress(course) if one.module.name in STEPS]
    if not able:
        raise click.UsageError(f"there is no module with attention here. Those that have it are {known}.")
    begun = [one.module for one in able if one.state != "untouched"]
    return begun[-1] if begun else able[0].module


def _looked(look: Callable[[], Trace]) -> Trace:
    """Return what was seen; a file that cannot even be loaded ends the command."""
    from grader.core.errors import StudentError
    from grader.core.safe_text import printable

    try:
        return look()
    except StudentError as error:
        click.echo(f"Your file could not be loaded: {printable(str(error))}\nMend this first.", err=True)
        sys.exit(1)


def _trace_lines(trace: Trace, query: int) -> list[str]:
    """Return the table of one token: a line for each it looks at, a column for each stage reached, then its output."""
    from grader.course.sentence import TOKENS

    lines = [f"{trace.module} ({trace.file}): what {TOKENS[query]} looks at", ""]
    columns = {name: values[query] for name in COLUMNS if (values := trace.values(name)) is not None}
    if columns:
        lines.append("  token" + "".join(f"  {name.removesuffix('s'):>11}" for name in columns))
    for key, token in enumerate(TOKENS if columns else ()):
        line = f"  {token:<5}" + "".join(f"  {_number(row[key]):>11}" for row in columns.values())
        bar = "#" * round(BAR * min(max(columns["weights"][key], 0.0), 1.0)) if "weights" in columns else ""
        lines.append(f"{line}  {bar}".rstrip())
    if (output := trace.values("output")) is not None:
        lines += ["", f"  output  [{' '.join(map(_number, output[query]))}]"]
    made = [f"  {stage.name.removesuffix('s'):<6}  {stage.made_by}" for stage in trace.stages]
    return [*lines, *(["", *made] if made else [])]


def _map_lines(trace: Trace, rows: Sequence[Sequence[float]], causal: bool) -> list[str]:
    """Return the map: a line for each query, a cell for each key, and the sum of the row."""
    from grader.course.sentence import TOKENS
    from grader.workspace.heatmap import short

    lines = [f"{trace.module} ({trace.file}): who looks at whom, {'causal mask' if causal else 'no mask'}", ""]
    if not rows:
        return lines
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    shades = SHADES if unicode else ASCII_SHADES
    lines.append("  query   " + "".join(f"{token:>7}    " for token in TOKENS) + f"{'sum':>7}")
    for token, row in zip(TOKENS, rows, strict=True):
        cells = "".join(f"{short(weight):>7} {_shade(weight, shades)} " for weight in row)
        lines.append(f"  {token:<8}{cells}{short(sum(row)):>7}")
    return [*lines, "", f"  A row is a query, a column a key; blank is 0, {shades[-1]} is 1."]


def _note_lines(trace: Trace, module: Module, notes: Sequence[str], end: str) -> list[str]:
    """Return what is wrong, in words, and where to read more."""
    told = [*notes, *([f"{trace.problem}: {end}"] if trace.problem else [])]
    lines = [line for text in told for line in _wrapped(f"{text}.", "  ")]
    begin = [] if not told or (trace.problem and not trace.stages) else [""]
    return [*begin, *lines, "", f"  `attn test {module.slug}` says more."] if told else []


def _trace_json(trace: Trace, query: int, notes: Sequence[str]) -> dict[str, Any]:
    from grader.course.sentence import TOKENS

    stages = {stage.name: stage.values[query].tolist() for stage in trace.stages}
    numbers = {name: stages.get(name) for name in (*COLUMNS, "output")}
    told = {"problem": trace.problem or None, "notes": list(notes)}
    return {"module": trace.module, "file": trace.file, "token": TOKENS[query], "tokens": TOKENS, **numbers, **told}


def _map_json(trace: Trace, rows: Sequence[Sequence[float]], causal: bool, notes: Sequence[str]) -> dict[str, Any]:
    from grader.course.sentence import TOKENS

    told = {"problem": trace.problem or None, "notes": list(notes)}
    numbers = {"tokens": TOKENS, "weights": rows or None, "sums": [_finite(sum(row)) for row in rows] or None}
    return {"module": trace.module, "file": trace.file, "causal": causal, **numbers, **told}


def _draw(rows: Sequence[Sequence[float]], title: str, path: Path) -> None:
    from grader.core.atomic_file import write_atomically
    from grader.course.sentence import TOKENS
    from grader.workspace.heatmap import svg_map

    write_atomically(path, svg_map(TOKENS, rows, title))
    click.echo(f"drew the map into {path}", err=True)


def _number(number: float) -> str:
    """Return a number with the four decimals of the lessons; a huge one in as little room."""
    return f"{number:.4f}" if abs(number) < 100_000 else f"{number:.3e}"


def _finite(number: float) -> float | None:
    """Return a number that JSON can hold: finite weights, if wrong enough, have an infinite sum."""
    return number if math.isfinite(number) else None


def _shade(weight: float, shades: Sequence[str]) -> str:
    """Return the shade of a weight: only 0 is blank."""
    return shades[math.ceil(min(max(weight, 0.0), 1.0) * (len(shades) - 1))]


def _wrapped(text: str, first: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=f"{first}  ")
