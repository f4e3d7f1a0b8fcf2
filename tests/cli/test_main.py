"""The command table: `attn --help` and the Tab key import no command, and the table agrees with the commands."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from cli.author.command_reference import commands
from cli.main import COMMANDS, attn
from grader.course.course_file import read_course_file
from tests.conftest import ROOT

# Runs `attn` and then prints what must not have been imported: heavy libraries, the grader, and every command.
SCRIPT = """
import sys
from cli.main import run
run()
heavy = {"numpy", "torch", "pytest", "_pytest", "psutil", "nbformat"}
commands = ("grader", "cli.student.", "cli.instructor.", "cli.author.", "cli.attention")
light = {"grader", "grader.course", "grader.course.course_file", "grader.course.module"}  # to read `course.toml`
light |= {"grader.core", "grader.core.old_names"}
print([name for name in sys.modules if name in heavy or name.startswith(commands) and name not in light])
"""


def imported(*arguments: str, **env: str) -> str:
    """Return the last line of the script: the names of modules that should not be there."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **env},
    )
    return done.stdout.splitlines()[-1]


def test_help_imports_no_command() -> None:
    assert imported("--help") == "[]"
    assert imported("--commands") == "[]"


def test_help_fits_a_small_terminal_and_says_how_to_see_every_command() -> None:
    shown = CliRunner().invoke(attn, ["--help"]).output
    assert len(shown.splitlines()) <= 24
    assert "attn --commands" in shown
    everything = CliRunner().invoke(attn, ["--commands"]).output
    assert [name for name in COMMANDS if f"\n  {name} " not in everything] == []
    assert [line for line in everything.splitlines() if len(line) > 80] == []


def test_completion_of_commands_imports_no_command() -> None:
    typed = {"COMP_WORDS": "attn ", "COMP_CWORD": "1", "_ATTN_COMPLETE": "bash_complete"}
    assert imported(**typed) == "[]"


VIEWS = {view.name: (view.module, view.help) for view in read_course_file(ROOT).views}


@pytest.mark.parametrize("name", COMMANDS | VIEWS)
def test_the_table_has_the_first_sentence_of_the_command(name: str) -> None:
    module, text = (COMMANDS | VIEWS)[name]
    command = attn.get_command(click.Context(attn), name)
    assert command is not None
    assert command.help is not None
    words = " ".join(inspect.cleandoc(command.help).split())
    assert f"{words} ".startswith(f"{text} "), module
    assert len(f"  gradebook  {text}") <= 80


def test_help_fits_into_a_narrow_terminal() -> None:
    """A wider command stands alone on its line; it could not be copied from two lines."""
    for path, command, context in commands(attn, click.Context(attn, info_name="attn", terminal_width=80)):
        for line in command.get_help(context).splitlines():
            assert len(line) <= 80 or "  " not in line.strip(), f"{path}: {line}"


def test_an_unknown_command_is_not_found() -> None:
    assert attn.get_command(click.Context(attn), "tset") is None
