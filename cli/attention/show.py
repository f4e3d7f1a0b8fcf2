"""`attn show`: the attention map of the lesson's sentence, from a student's own code."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import click

from cli.attention.own_attention import module_with_attention, note_lines, traced, whose_option
from cli.attention.sentences import TOKENS
from cli.attention.trace import Trace, own_map, remarks
from cli.student.own_checks import tell_which_counts
from cli.ui.arguments import svg_file
from cli.ui.here import course_here
from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text

# Nine shades of two characters each, from 0 to 1.
SHADES = ("  ", " ░", "░░", "░▒", "▒▒", "▒▓", "▓▓", "▓█", "██")
ASCII_SHADES = tuple(2 * mark for mark in " .:-=+*#%@")
# The picture: white is 0, dark blue is 1, and every number is in its cell and in the description.
CELL, LEFT, TOP, MARGIN = 72, 96, 96, 24
LIGHT, DARK = (255, 255, 255), (8, 48, 107)
WHITE_TEXT_FROM = 0.6  # from here on, white text is easier to read than black


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
    course = course_here()
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
        write_atomically(svg, _svg_map(TOKENS, rows, title))
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
        cells = "".join(f"{_short(weight):>7} {_shade(weight, shades)} " for weight in row)
        lines.append(f"  {token:<8}{cells}{_short(sum(row)):>7}")
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


def _svg_map(names: Sequence[str], weights: Sequence[Sequence[float]], title: str) -> str:
    """Return a heat map of square weights: rows are queries, columns are keys, white is 0, dark blue is 1."""
    width, height = LEFT + CELL * len(names) + MARGIN, TOP + CELL * len(names) + MARGIN
    half_cell = CELL // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="title desc" font-family="sans-serif" font-size="15" text-anchor="middle">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(_described(names, weights))}</desc>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{MARGIN}" y="32" font-size="17" text-anchor="start">{escape(title)}</text>',
        f'<text x="{LEFT + CELL * len(names) / 2:g}" y="58" fill="#555">keys</text>',
        f'<text x="{MARGIN}" y="{TOP - 12}" fill="#555" text-anchor="start">queries</text>',
    ]
    for number, name in enumerate(names):
        place = CELL * number + half_cell
        parts.append(f'<text x="{LEFT + place}" y="{TOP - 12}">{escape(name)}</text>')
        parts.append(f'<text x="{LEFT - 12}" y="{TOP + place + 5}" text-anchor="end">{escape(name)}</text>')
    for i, row in enumerate(weights):
        for j, weight in enumerate(row):
            parts += _cell(LEFT + CELL * j, TOP + CELL * i, weight)
    return "\n".join([*parts, "</svg>", ""])


def _short(weight: float) -> str:
    """Return a weight with two decimals. Numbers too large for a weight are shortened to seven characters at most."""
    return f"{weight:.2f}" if abs(weight) < 1000 else f"{weight:.0e}"


def _cell(x: int, y: int, weight: float) -> list[str]:
    share = min(max(weight, 0.0), 1.0)
    red, green, blue = (round(light + share * (dark - light)) for light, dark in zip(LIGHT, DARK, strict=True))
    ink = "white" if share >= WHITE_TEXT_FROM else "black"
    return [
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="rgb({red},{green},{blue})" stroke="#ccc"/>',
        f'<text x="{x + CELL // 2}" y="{y + CELL // 2 + 5}" fill="{ink}">{_short(weight)}</text>',
    ]


def _described(names: Sequence[str], weights: Sequence[Sequence[float]]) -> str:
    rows = [
        f"{query} looks at " + ", ".join(f"{key} {_short(weight)}" for key, weight in zip(names, row, strict=True))
        for query, row in zip(names, weights, strict=True)
    ]
    return f"Each query's weights for every key. {'; '.join(rows)}."
