"""Moved modules can still be imported by their old names, which courses and notebooks contain."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from grader.core.old_names import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_old_name_imports_the_same_module(old: str) -> None:
    assert importlib.import_module(old) is importlib.import_module(MOVED[old])


def test_old_name_can_be_imported_first() -> None:
    code = "import grader.nb.late as old, grader.platforms.nbgrader.late_plugin as new\n"
    code += "print(old is new, new.__spec__.name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "grader.platforms.nbgrader.late_plugin"]


def test_unknown_old_name_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("grader.grading_process")
