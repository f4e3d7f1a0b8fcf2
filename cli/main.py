"""The `attn` command and the table of its commands."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from cli.ui.colour import register_fallback, wants_colour
from cli.ui.here import remember
from cli.views import course_file_problem, import_view, is_in_course, name_first_module, overview, views_here

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXIT_USAGE = 2
EXIT_FAULT = 3
EXIT_INTERRUPTED = 130  # as in every shell

# Each command, the file that holds it, and its line in `attn --help`. The help texts are here so that `attn --help`
# and shell completion import no command. Each file can then import what it needs at its top.
COMMANDS = {
    # students
    "init": ("cli.student.init", "Make a folder to work in, from the course of this package."),
    "status": ("cli.student.status", "Show how far you are with every module."),
    "start": ("cli.student.start", "Begin a module: what to read, what to edit, what to run."),
    "next": ("cli.student.start", "Begin the first module that is not complete yet."),
    "open": ("cli.student.open", "Open the lesson and your file in your editor."),
    "test": ("cli.student.test", "Run the visible checks on your own file."),
    "watch": ("cli.student.watch", "Run the visible checks whenever you save."),
    "hint": ("cli.student.hint", "Get one hint about the first thing that fails."),
    "report": ("cli.student.report", "Write a page about your own file."),
    "profile": ("cli.student.profile", "Count what your code does, and show how that grows."),
    "complete": ("cli.student.complete", "Finish a module and add it to your package `mylab`."),
    "solution": (
        "cli.student.solution",
        "Show the reference of a completed module beside your costs.",
    ),
    "reset": ("cli.student.reset", "Put the original stub of a module back."),
    "update": ("cli.student.update", "Take new lessons and modules from a newer bundle."),
    "submit": ("cli.student.submit", "Test your modules and put them into one zip to hand in."),
    "completion": ("cli.student.completion", "Set up the Tab key: it completes commands and modules."),
    # instructors
    "grade": ("cli.instructor.grade", "Grade submissions with the visible and the hidden checks."),
    "stats": ("cli.instructor.stats", "Sum up the reports of a class."),
    "review": ("cli.instructor.review", "List what grading could not decide, and decide it."),
    "dashboard": ("cli.instructor.dashboard", "Write a page about a class."),
    "feedback": ("cli.instructor.feedback", "Write a feedback page for each student and module."),
    "mark": ("cli.instructor.mark", "Give points or a comment by hand."),
    "doctor": ("cli.instructor.doctor", "Show how well this machine jails other people's code."),
    "release": ("cli.instructor.release", "Make what students receive, without solutions and hidden suites."),
    "course": ("cli.author.course", "Make a course of your own, or a course directory for nbgrader."),
    "gradebook": ("cli.instructor.nbgrader", "Write grades into nbgrader's gradebook (for instructors)."),
    "export": ("cli.instructor.export", "Export grades to other platforms (for instructors)."),
    "store": ("cli.instructor.store", "Keep results in a PostgreSQL database (for instructors)."),
    "cluster": ("cli.instructor.cluster", "Grade on several machines (for instructors)."),
    # authors
    "dev": ("cli.author.dev", "Write and maintain modules (for course authors)."),
}


# Every command by example, for `attn --commands`.
EXAMPLES = """\
Students:
  attn init course           a new folder to work in
  attn                       where am I, and what comes next?
  attn start warm_up         begin a module (--notebook: as a notebook)
  attn open warm_up          open the lesson and my file in my editor
  attn test warm_up          run the visible checks on my file
  attn watch warm_up         run them whenever I save
  attn hint warm_up          one more hint about the first thing that fails
  attn report warm_up        a page about my file, to read or print
  attn profile warm_up       what does my code cost, and where?
  attn complete warm_up      finish a module and add it to my package
  attn solution warm_up      read the reference, once mine is complete
  {views}
  attn next                  begin the next module
  attn reset warm_up         begin again; a backup of my work is kept
  attn submit                test everything and make the zip to hand in
  attn update week2.zip      take new lessons and modules; my work is kept
  attn completion --install  let the Tab key complete commands and modules
Instructors:
  attn doctor                how well is other people's code jailed here?
  attn grade class/ -m 1     grade a class, hidden checks included
  attn stats reports         which checks fail, which misconceptions?
  attn review reports        what could not be decided? decide it
  attn dashboard reports --to class.html    a page about the class
  attn feedback reports --to pages          a page for each student
  attn mark ana 1 --points 9 --because "right idea"    points by hand
  attn release --bundle warm_up --to week1
  attn course init ../classroom             a course for nbgrader
  attn release warm_up --to ../classroom    an assignment in it
  attn gradebook sync reports --nbgrader ../classroom
  attn export canvas reports --out grades.csv
  attn store check           results in a database, for many graders
Authors:
  attn course new signals    a course of my own, on any subject
  attn dev new sorting       begin a module
  attn dev check             prove that the course is sound
"""
PLAIN = "--plain"
COURSE = "--course"
OWN_OPTIONS = (PLAIN, COURSE, "--commands", "--version", "-h", "--help")


class _Commands(click.Group):
    """The commands of the table and of the course; a command is imported only when it runs or shows its own help."""

    @property
    def help(self) -> str | None:
        """The docstring of `attn`, with what the course here adds to it."""
        return None if self._help is None else overview(inspect.cleandoc(self._help))

    @help.setter
    def help(self, text: str | None) -> None:
        self._help = text

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_lines_of_help())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name in COMMANDS:
            found = vars(importlib.import_module(COMMANDS[cmd_name][0])).values()
            command = next(one for one in found if isinstance(one, click.Command) and one.name == cmd_name)
        elif (view := views_here(COMMANDS).get(cmd_name)) is not None:
            command = import_view(view)
        else:
            return None
        name_first_module(command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept options before and after the command: `attn --json status`, `attn test --plain`."""
        return super().parse_args(ctx, _reordered(args))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and args[0] not in _lines():
            ctx.fail(f"there is no command {args[0]!r}.{_suggestion(args[0])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Leave the commands to `attn --commands`, so that the help fits a terminal."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        lines = _lines_of_help()
        options = click.Command.shell_complete(self, ctx, incomplete)
        names = [name for name in sorted(lines) if name.startswith(incomplete)]
        return [*(CompletionItem(name, help=lines[name]) for name in names), *options]


def _lines() -> dict[str, str]:
    """Return the line of every command in `attn --help`, those of the course here included."""
    views = views_here(COMMANDS).values()
    return {name: text for name, (_, text) in COMMANDS.items()} | {view.name: view.help for view in views}


def _lines_of_help() -> dict[str, str]:
    """Return the same lines; without those of the course if its file is broken, so that help never ends in an error."""
    return {name: text for name, (_, text) in COMMANDS.items()} if course_file_problem(COMMANDS) else _lines()


def _reordered(args: list[str]) -> list[str]:
    """Put the options of `attn` itself before the command, and those of the command behind it."""
    end = args.index("--") if "--" in args else len(args)
    plain = [arg for arg in args[:end] if arg == PLAIN]
    course, rest = _course_option([arg for arg in args[:end] if arg != PLAIN])
    if rest[:1] == ["help"]:  # `attn help test`, as people type it
        rest = [*rest[1:], "--help"]
    if rest and rest[0].startswith("-") and rest[0] not in OWN_OPTIONS:
        at = next((number for number, arg in enumerate(rest) if arg in COMMANDS or arg in _lines_of_help()), 0)
        rest = [rest[at], *rest[:at], *rest[at + 1 :]]
    return [*plain[:1], *course, *rest, *args[end:]]


def _course_option(args: list[str]) -> tuple[list[str], list[str]]:
    """Return `--course DIR`, wherever it stands, and the other arguments."""
    for number, arg in enumerate(args):
        if arg == COURSE or arg.startswith(f"{COURSE}="):
            after = number + (2 if arg == COURSE else 1)
            return args[number:after], args[:number] + args[after:]
    return [], args


def _suggestion(typed: str) -> str:
    import difflib  # only for a command that does not exist

    close = difflib.get_close_matches(typed.lower(), _lines(), n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(close)}?" if close else " `attn --commands` lists them."
    return hint if is_in_course() else f"{hint} A course can have more: run this in its folder."


def _show_commands(context: click.Context, option: click.Parameter, value: object) -> None:
    """Print every command: what to type for what, and then the list."""
    del option
    if not value:
        return
    formatter = context.make_formatter()
    formatter.write(overview(EXAMPLES))
    lines = _lines_of_help()
    with formatter.section("Commands"):
        formatter.write_dl([(name, lines[name]) for name in sorted(lines)])
    if problem := course_file_problem(COMMANDS):
        formatter.write_paragraph()
        formatter.write_text(f"The commands of this course are not listed. {problem}")
    click.echo(formatter.getvalue().rstrip("\n"))
    context.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="attnlab", prog_name="attn")
@click.option(
    "--commands", is_flag=True, is_eager=True, expose_value=False, callback=_show_commands, help="Show every command."
)
@click.option("--plain", is_flag=True, help="No colours, no clearing of the screen, as with NO_COLOR.")
@click.option(
    COURSE,
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    is_eager=True,  # before --help, which names the first module of the course
    expose_value=False,
    callback=remember,
    help="The course to act on, if it is not the one around me.",
)
@click.pass_context
def attn(context: click.Context, plain: bool) -> None:
    """{sentence}

    \b
    attn init course           a new folder to work in
    attn                       where am I, and what comes next?
    attn start warm_up         begin a module
    attn test warm_up          run the visible checks on my file
    attn watch warm_up         run them whenever I save
    attn hint warm_up          one more hint about the first thing that fails
    attn profile warm_up       what does my code cost, and where?
    attn complete warm_up      finish a module and add it to my package
    attn next                  begin the next module
    attn submit                test everything and make the zip to hand in

    Everything else, to teach and to write courses too: attn --commands
    """
    context.color = wants_colour(plain=plain)
    if context.invoked_subcommand is None:
        from cli.student.status import where_am_i  # here, so that `attn --help` does not import it

        where_am_i()


def main() -> None:
    """Run `attn` and exit at once: Python would take a while to unload all modules."""
    _end_orderly()
    code = run()
    with contextlib.suppress(OSError, ValueError):  # the reader of a pipe may have gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def run() -> int:
    """Run `attn` and return its exit status; 3 is for what neither the student nor the command line caused."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets a replacement
            stream.reconfigure(errors=register_fallback())
    try:
        attn.main(prog_name="attn", standalone_mode=False)
        return 0
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0 if left.code is None else EXIT_FAULT
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(_visible(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _report_interrupt()
    except Exception as error:  # noqa: BLE001 - a fault of ours must never look like a failing submission (status 1)
        # Before 3.12, Python turns a Ctrl-C in the body of a class, which an import runs, into a RuntimeError.
        return _report_interrupt() if isinstance(error.__cause__, KeyboardInterrupt) else _report_failure(error)


def _end_orderly() -> None:
    """Let a lost terminal or a `kill` end the command as Ctrl-C does: files of students and clusters are removed."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is ignored
            signal.signal(number, _leave)


def _leave(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _report_interrupt() -> int:
    click.echo("attn: interrupted; every file written is complete", err=True)
    return EXIT_INTERRUPTED


def _report_failure(error: Exception) -> int:
    """Print what went wrong and return the exit status."""
    from cli.ui.system_faults import system_sentence  # both here, so that `attn --help` does not import them
    from grader.classroom.store import StoreError
    from grader.course.module import CourseError

    if isinstance(error, CourseError | OSError | StoreError):
        text = system_sentence(error) if isinstance(error, OSError) else str(error)
        with contextlib.suppress(OSError):  # standard error may be full or closed itself
            click.echo(f"attn: {_visible(text)}", err=True)
        return EXIT_USAGE if isinstance(error, CourseError) and error.usage else EXIT_FAULT
    click.echo(_visible("".join(traceback.format_exception(error))), err=True)
    click.echo("attn: this is a fault of the grader, not of a submission. Please report it.", err=True)
    return EXIT_FAULT


def _visible(text: str) -> str:
    """Return an error message that is safe to print: it can name files of students."""
    from grader.core.safe_text import visible  # here, so that `attn --help` does not import it

    return visible(text)
