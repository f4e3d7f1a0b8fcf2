"""`attn explain`: one token of the lesson's sentence, followed through a student's own code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from cli.attention.own_attention import module_with_attention, note_lines, traced, whose_option
from cli.attention.sentences import TOKENS
from cli.attention.trace import Trace, number_text, own_trace, remarks
from cli.student.own_checks import tell_which_counts
from cli.ui.here import course_here
from grader.core.json_record import json_text

BAR = 30
COLUMNS = ("raw", "scaled", "weights")


def _tokens(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the tokens of the sentence that begin as typed."""
    del context, parameter
    return [token for token in TOKENS if token.casefold().startswith(incomplete.casefold())]


@click.command()
@click.argument("token", shell_complete=_tokens)
@whose_option
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def explain(token: str, module_name: str | None, as_json: bool) -> None:
    """Follow one token through your own attention. The sentence is "The cat sat on mat".

    \b
    attn explain cat                  what cat looks at, and what it gets
    attn explain 2 -m attention       the same token, with the code of module 03

    Your functions are called one after another with the queries, keys and values of the lesson.

    \b
    raw      its query times the key of every token
    scaled   divided by the square root of 4, the width of a query
    weight   its share of attention: softmax of the scaled scores
    output   the values of all tokens, mixed in these shares

    Where a step is not written yet or fails, the trace ends and says so. Without --module, the latest of the two
    modules that you have begun is used. Your numbers are not compared with the right ones here: `attn test` does that.

    Exit status: 0 shown to the end, 1 your code fails on the way, 2 no such token or module, 3 a fault of the grader.
    """
    query = _query(token)
    course = course_here()
    module = module_with_attention(course, module_name)
    tell_which_counts(module)
    trace = traced(lambda: own_trace(course, module))
    weights = trace.values("weights")
    notes = () if weights is None else remarks(weights, [query])
    if as_json:
        click.echo(json_text(_as_json(trace, query, notes)))
    else:
        click.echo("\n".join([*_lines(trace, query), *note_lines(trace, module, notes, "the trace ends here")]))
    sys.exit(1 if trace.problem else 0)


def _query(token: str) -> int:
    """Return which token of the sentence is meant, counted from 0."""
    for number, name in enumerate(TOKENS):
        if token.casefold() in (name.casefold(), str(number + 1)):
            return number
    known = ", ".join(TOKENS)
    raise click.UsageError(f"there is no token {token!r} in the sentence. Use one of {known}, or 1 to {len(TOKENS)}.")


def _lines(trace: Trace, query: int) -> list[str]:
    """Return a line for each token it looks at, a column for each stage reached, then its output."""
    lines = [f"{trace.module} ({trace.file}): what {TOKENS[query]} looks at", ""]
    columns = {name: values[query] for name in COLUMNS if (values := trace.values(name)) is not None}
    if columns:
        lines.append("  token" + "".join(f"  {name.removesuffix('s'):>11}" for name in columns))
    for key, token in enumerate(TOKENS if columns else ()):
        line = f"  {token:<5}" + "".join(f"  {number_text(row[key]):>11}" for row in columns.values())
        bar = "#" * round(BAR * min(max(columns["weights"][key], 0.0), 1.0)) if "weights" in columns else ""
        lines.append(f"{line}  {bar}".rstrip())
    if (output := trace.values("output")) is not None:
        lines += ["", f"  output  [{' '.join(map(number_text, output[query]))}]"]
    made = [f"  {stage.name.removesuffix('s'):<6}  {stage.made_by}" for stage in trace.stages]
    return [*lines, *(["", *made] if made else [])]


def _as_json(trace: Trace, query: int, notes: Sequence[str]) -> dict[str, Any]:
    stages = {stage.name: stage.values[query].tolist() for stage in trace.stages}
    numbers = {name: stages.get(name) for name in (*COLUMNS, "output")}
    remarked = {"problem": trace.problem or None, "notes": list(notes)}
    return {"module": trace.module, "file": trace.file, "token": TOKENS[query], "tokens": TOKENS, **numbers, **remarked}
