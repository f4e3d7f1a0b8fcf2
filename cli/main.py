"""The `attn` command. Each command imports what it needs when it runs, so that --help is quick."""

from __future__ import annotations

import sys

import click

from cli.dev import dev
from cli.grade import grade

EXIT_FAULT = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="attnlab", prog_name="attn")
def attn() -> None:
    """Build attention piece by piece, and have every piece checked.

    \b
    Grade one file, or a whole class:
      attn grade softmax.py
      attn grade submissions/ --module 01_softmax
    """


attn.add_command(grade)
attn.add_command(dev)


def main() -> None:
    """Run `attn`; a mistake in the course is ours (exit 3), never the student's (exit 1)."""
    from grader.module import CourseError

    try:
        attn(prog_name="attn")
    except CourseError as error:
        click.echo(f"attn: {error}", err=True)
        sys.exit(EXIT_FAULT)
