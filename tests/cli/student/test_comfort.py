"""Small things around the loop: `attn open`, the Tab key, mistyped commands, `attn status`, and files being saved."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.main import _reordered
from cli.student.settling import BROKEN_SECONDS, QUIET_SECONDS, Settling, is_whole
from tests.acceptance.journey.terminal import Terminal
from tests.cli.conftest import EXECUTABLE, Attn
from tests.conftest import ROOT

SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"


def run(bundle: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [EXECUTABLE, *arguments], cwd=bundle, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )


def test_open_starts_the_editor_with_lesson_and_file(bundle: Path) -> None:
    done = run(bundle, "open", "softmax", VISUAL="", EDITOR="echo -n")
    folder = bundle / "modules" / "01_softmax"
    assert (done.returncode, done.stdout) == (0, f"{folder / 'README.md'} {folder / 'softmax.py'}")


def test_open_without_an_editor_prints_the_paths(bundle: Path) -> None:
    done = run(bundle, "open", VISUAL="", EDITOR="", PATH="/nowhere")
    assert done.returncode == 0
    assert "  modules/01_softmax/README.md\n  modules/01_softmax/softmax.py\n" in done.stdout
    assert "no_such_editor cannot be started" in run(bundle, "open", VISUAL="no_such_editor").stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("tset", "test or reset"), ("complet", "complete or completion"), ("hnit", "init or hint")]
)
def test_a_mistyped_command_gets_a_suggestion(attn: Attn, typed: str, meant: str) -> None:
    done = attn(typed, "softmax")
    assert done.returncode == 2
    assert f"there is no command {typed!r}. Did you mean {meant}?" in done.stderr


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("--json status", "status --json"),
        ("--case rows test softmax --all", "test --case rows softmax --all"),
        ("test softmax --plain", "--plain test softmax"),
        ("--plain --json status", "--plain status --json"),
        ("--version", "--version"),
        ("--help test", "--help test"),
        ("explain test", "explain test"),
        ("grade -- --plain", "grade -- --plain"),
        ("", ""),
    ],
)
def test_options_come_before_or_after_the_command(typed: str, read: str) -> None:
    assert _reordered(typed.split()) == read.split()


@pytest.mark.parametrize(
    ("typed", "found"),
    [("attn explain c", ["cat"]), ("attn profile softm", ["softmax"]), ("attn profile softmax log", ["log_softmax"])],
)
def test_the_tab_key_knows_tokens_and_functions(bundle: Path, typed: str, found: list[str]) -> None:
    count = str(len(typed.split()) - 1)
    shown = run(bundle, COMP_WORDS=typed, COMP_CWORD=count, _ATTN_COMPLETE="bash_complete").stdout
    assert [line.split(",")[1] for line in shown.splitlines() if line] == found


@pytest.mark.parametrize(("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_the_tab_key_is_set_up_once(tmp_path: Path, shell: str, start: str) -> None:
    (tmp_path / start).write_text("alias ll='ls -l'")  # without a line end
    for _ in range(2):
        done = run(tmp_path, "completion", "--install", HOME=str(tmp_path), SHELL=f"/bin/{shell}")
        assert done.returncode == 0, done.stderr
    script = tmp_path / ".config" / "attnlab" / f"completion.{shell}"
    assert (tmp_path / start).read_text() == (
        f'alias ll=\'ls -l\'\n[ -f "{script}" ] && . "{script}"  # Tab completion for attn\n'
    )
    assert "_ATTN_COMPLETE" in script.read_text()


def test_the_tab_key_in_fish_and_in_an_unknown_shell(tmp_path: Path) -> None:
    assert run(tmp_path, "completion", "fish", "--install", HOME=str(tmp_path)).returncode == 0
    assert "attn" in (tmp_path / ".config" / "fish" / "completions" / "attn.fish").read_text()
    done = run(tmp_path, "completion", SHELL="/bin/tcsh")
    assert done.returncode == 2
    assert "Name one: bash, zsh, fish" in done.stderr


def test_status_shows_a_bar_points_and_reflect(attn: Attn, bundle: Path) -> None:
    shutil.copy(SOLUTION, bundle / "modules" / "01_softmax")
    assert "Reflect 2 of 2" in attn("status", cwd=bundle).stdout
    attn("test", "softmax", cwd=bundle)
    below = " " * 25
    shown = f"{below}########## 6 of 46 points\n{below}49 of 49 properties, Reflect 2 of 2 answered\n"
    assert shown in attn("status", cwd=bundle).stdout
    path = bundle / "modules" / "01_softmax" / "softmax.py"
    path.write_text(path.read_text() + "\nREFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88\n\ndef log_softmax(x): return x\n")
    assert "Reflect 2 of 2" in attn("status", cwd=bundle).stdout
    stub = (ROOT / "modules" / "01_softmax" / "softmax.py").read_text()
    path.write_text(stub + "\n")
    attn("test", "softmax", cwd=bundle)
    shown = f"{below}---------- 0 of 46 points\n{below}0 of 49 properties, Reflect 0 of 2 answered\n"
    assert shown in attn("status", cwd=bundle).stdout


def test_a_file_is_checked_when_it_has_been_quiet() -> None:
    settling = Settling()
    assert not settling.is_quiet("a", 10.0, whole=True)
    assert not settling.is_quiet("b", 10.0 + QUIET_SECONDS, whole=True)  # it changed again
    assert settling.is_quiet("b", 10.0 + 3 * QUIET_SECONDS, whole=True)
    assert not settling.is_quiet("c", 20.0, whole=False)
    assert not settling.is_quiet("c", 20.0 + QUIET_SECONDS, whole=False)  # half a file: wait for the rest
    assert settling.is_quiet("c", 20.0 + 2 * BROKEN_SECONDS, whole=False)  # a mistake of the student's: show it


@pytest.mark.parametrize(
    ("name", "text", "whole"),
    [
        ("a.py", "x = 1\n", True),
        ("a.py", "", False),
        ("a.py", "def f(x):\n    return (x +", False),
        ("a.ipynb", "{}", True),
        ("a.ipynb", '{"cells": [', False),
    ],
)
def test_half_a_file_is_not_whole(tmp_path: Path, name: str, text: str, whole: bool) -> None:
    (tmp_path / name).write_text(text)
    assert is_whole(tmp_path / name) == whole


def test_watch_completes_a_module(bundle: Path) -> None:
    shutil.copy(SOLUTION, bundle / "modules" / "01_softmax")
    terminal = Terminal([EXECUTABLE, "watch", "softmax"], bundle)
    terminal.expect("5 of 5 visible checks pass.")
    terminal.expect("Keys: c complete")
    terminal.type("c")
    terminal.expect("01_softmax is complete and in your package")
    terminal.expect("Keys:")
    terminal.type("q")
    assert terminal.finish() == 0
    assert (bundle / "mylab" / "softmax.py").is_file()
