"""The `attn` command. Each command imports what it needs when it runs, so that --help is quick."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import traceback

import click

from cli.ui.colour import register_fallback, wants_colour

EXIT_USAGE = 2
EXIT_FAULT = 3
EXIT_INTERRUPTED = 130  # as every shell has it


# Each command is imported when it is asked for: a student waits for every file that is read.
COMMANDS = {
    "cli.student.start": ("start", "complete", "next"),
    "cli.student.test": ("status", "test", "hint"),
    "cli.student.watch": ("watch",),
    "cli.student.profile": ("profile",),
    "cli.student.explain": ("explain", "show"),
    "cli.student.submit": ("reset", "submit", "update"),
    "cli.instructor.grade": ("grade",),
    "cli.instructor.stats": ("stats",),
    "cli.instructor.doctor": ("doctor",),
    "cli.instructor.release": ("release",),
    "cli.instructor.course": ("course",),
    "cli.instructor.gradebook": ("gradebook",),
    "cli.instructor.export": ("export",),
    "cli.author.dev": ("dev",),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(name for names in COMMANDS.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        for module, names in COMMANDS.items():
            if cmd_name in names:
                found = vars(importlib.import_module(module)).values()
                return next(one for one in found if isinstance(one, click.Command) and one.name == cmd_name)
        return None


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="attnlab", prog_name="attn")
@click.option("--plain", is_flag=True, help="No colours and no clearing of the screen; NO_COLOR does the same.")
@click.pass_context
def attn(context: click.Context, plain: bool) -> None:
    """Build attention piece by piece, and have every piece checked.

    \b
    Students:
      attn                       where am I, and what comes next?
      attn start softmax         begin a module (--notebook: as a notebook)
      attn test softmax          run the visible checks on my file
      attn watch softmax         run them whenever I save
      attn hint softmax          one more hint about the first thing that fails
      attn profile softmax       what does my code cost, and where?
      attn explain cat           what does one token look at, by my own code?
      attn show --svg map.svg    the attention map of the lesson's sentence
      attn complete softmax      checks and costs; then it is in my package
      attn next                  begin the next module
      attn reset softmax         begin again; what I have is kept in a backup
      attn submit                test everything and make the zip to hand in
      attn update week2.zip      take new lessons and modules; my work is kept
    Instructors:
      attn doctor                how well is other people's code jailed here?
      attn grade class/ -m 1     grade a class by the hidden checks too
      attn stats reports         what does the class fail at, and believe?
      attn release --bundle softmax --to week1
      attn course init ../attention             a course for nbgrader
      attn release softmax --to ../attention    an assignment in it
      attn gradebook sync reports --course ../attention
      attn export canvas reports --out grades.csv
    Authors:
      attn dev new rope          begin a module
      attn dev check             prove the course sound
    """
    context.color = wants_colour(plain=plain)
    if context.invoked_subcommand is None:
        from cli.student.test import where_am_i

        where_am_i()


def main() -> None:
    """Run `attn`, and leave at once when it is done: to take all its modules down again takes Python a while."""
    code = run()
    with contextlib.suppress(OSError, ValueError):  # nobody is listening any more
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def run() -> int:
    """Run `attn`; whatever goes wrong that is not a student's doing or a wrong command ends with status 3."""
    from grader.course.module import CourseError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character shows its number
            stream.reconfigure(errors=register_fallback())
    try:
        attn.main(prog_name="attn", standalone_mode=False)
        return 0
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0 if left.code is None else EXIT_FAULT
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("attn: interrupted; what was written is whole", err=True)
        return EXIT_INTERRUPTED
    except (CourseError, OSError) as error:
        click.echo(f"attn: {error}", err=True)
        return EXIT_USAGE if isinstance(error, CourseError) and error.usage else EXIT_FAULT
    except Exception:  # noqa: BLE001 - a fault of ours must never look like a failing submission (status 1)
        click.echo(traceback.format_exc(), err=True)
        click.echo("attn: this is a fault of the grader, not of a submission. Please report it.", err=True)
    return EXIT_FAULT
