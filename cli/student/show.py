"""`attn show`: the attention map of the lesson's sentence, from a student's own code."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cli.student.own_attention import module_with_attention, note_lines, traced, whose_option
from cli.student.own_checks import tell_which_counts
from cli.ui.arguments import svg_file
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text
from grader.course.course import find_course
from grader.course.sentence import TOKENS
from grader.workspace.heatmap import short, svg_map
from grader.workspace.trace import Trace, own_map, remarks

# Nine shades of two characters each, from 0 to 1.
SHADES = ("  ", " ░", "░░", "░▒", "▒▒", "▒▓", "▓▓", "▓█", "██")
ASCII_SHADES = tuple(2 * mark for mark in " .:-=+*#%@")


@click.command()
@whose_option
@click.option("--causal", is_flag=True, help="With the mask np.tri(5): no token sees the tokens after it.")
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=svg_file,
    help="Also draw the map into this file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def show(module_name: str | None, causal: bool, svg: Path | None, as_json: bool) -> None:
    """Show the attention map of your own code. The sentence is "The cat sat on mat".

    \b
    attn show                         who looks at whom, and how much
    attn show --causal                the same with a causal mask
    attn show -m 2 --svg map.svg      with the code of module 02, and as a picture

    The map is made by your scaled_dot_product_attention. Each row is a query and shares out 1 among the keys, its
    columns: the darker a cell, the larger the share. Problems with your weights, such as a sum that is not 1 or a share
    for a blocked key, are named below the map. Without --module, the latest of the two modules that you have begun is
    used.

    Exit status: 0 shown, 1 your code fails, 2 no such module, or one that it cannot show, 3 a fault of the grader.
    """
    course = find_course(Path.cwd())
    module = module_with_attention(course, module_name)
    tell_which_counts(module)
    trace = traced(lambda: own_map(course, module, causal=causal))
    weights = trace.values("weights")
    rows = [] if weights is None else weights.tolist()
    notes = () if weights is None else remarks(weights, range(len(TOKENS)), causal=causal)
    if as_json:
        click.echo(json_text(_as_json(trace, rows, causal, notes)))
    else:
        lines = [*_lines(trace, rows, causal), *note_lines(trace, module, notes, "there is no map to show")]
        click.echo("\n".join(lines))
    if svg is not None and rows:
        title = f"Attention by {trace.module}, {'causal mask' if causal else 'no mask'}"
        write_atomically(svg, svg_map(TOKENS, rows, title))
        click.echo(f"drew the map into {svg}", err=True)
    sys.exit(1 if trace.problem else 0)


def _lines(trace: Trace, rows: Sequence[Sequence[float]], causal: bool) -> list[str]:
    """Return a line for each query, a cell for each key, and the sum of the row."""
    lines = [f"{trace.module} ({trace.file}): who looks at whom, {'causal mask' if causal else 'no mask'}", ""]
    if not rows:
        return lines
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    shades = SHADES if unicode else ASCII_SHADES
    lines.append("  query   " + "".join(f"{token:>7}    " for token in TOKENS) + f"{'sum':>7}")
    for token, row in zip(TOKENS, rows, strict=True):
        cells = "".join(f"{short(weight):>7} {_shade(weight, shades)} " for weight in row)
        lines.append(f"  {token:<8}{cells}{short(sum(row)):>7}")
    return [*lines, "", f"  A row is a query, a column is a key; blank is 0, {shades[-1]} is 1."]


def _as_json(trace: Trace, rows: Sequence[Sequence[float]], causal: bool, notes: Sequence[str]) -> dict[str, Any]:
    remarked = {"problem": trace.problem or None, "notes": list(notes)}
    numbers = {"tokens": TOKENS, "weights": rows or None, "sums": [_finite(sum(row)) for row in rows] or None}
    return {"module": trace.module, "file": trace.file, "causal": causal, **numbers, **remarked}


def _finite(number: float) -> float | None:
    """Return a number that JSON can hold: finite but very wrong weights can have an infinite sum."""
    return number if math.isfinite(number) else None


def _shade(weight: float, shades: Sequence[str]) -> str:
    """Return the shade of a weight: only 0 is blank."""
    return shades[math.ceil(min(max(weight, 0.0), 1.0) * (len(shades) - 1))]
