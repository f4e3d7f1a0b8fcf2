"""An autograder for another platform is tried on the solution before it is written."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click


def try_on_solution(attempt: Callable[[], object], fault: type[Exception]) -> None:
    """Try an autograder; if it does not work here, say why and what to do, and end the command."""
    click.echo("testing it on the solution ...", err=True)
    try:
        attempt()
    except fault as error:
        click.echo(f"attn: nothing was written: {error}", err=True)
        click.echo("attn: if only this machine cannot run it, --no-try writes it without the test", err=True)
        sys.exit(3)
