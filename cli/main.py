"""The `attn` command. Each command imports what it needs when it runs, so that --help is quick."""

from __future__ import annotations

import sys

import click

from cli.dev import dev
from cli.grade import grade
from cli.release import release
from cli.student import status, test, where_am_i

EXIT_FAULT = 3


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="attnlab", prog_name="attn")
@click.pass_context
def attn(context: click.Context) -> None:
    """Build attention piece by piece, and have every piece checked.

    \b
    Students:
      attn                       where am I, and what comes next?
      attn test softmax          run the visible checks on my file
    Instructors:
      attn grade class/ -m 1     grade a class by the hidden checks too
      attn release --bundle softmax --to week1
    Authors:
      attn dev new rope          begin a module
      attn dev check             prove the course sound
    """
    if context.invoked_subcommand is None:
        where_am_i()


for command in (status, test, grade, release, dev):
    attn.add_command(command)


def main() -> None:
    """Run `attn`; a mistake in the course is ours (exit 3), never the student's (exit 1)."""
    from grader.module import CourseError

    try:
        attn(prog_name="attn")
    except CourseError as error:
        click.echo(f"attn: {error}", err=True)
        sys.exit(EXIT_FAULT)
