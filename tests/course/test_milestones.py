"""Milestones: what a complete module unlocks, and the code that a student can then run."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.course.module import CourseError, Module, read_module
from tests.conftest import ROOT

WIDTH = 78  # of a line of code: `attn complete` indents it by two
RUN_ALL = """\
import contextlib, io, json, sys
said = {}
for name, code in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    said[name] = printed.getvalue()
print(json.dumps(said))
"""


def snippets(course: Course) -> dict[str, str]:
    return {one.name: one.milestone.code for one in course.modules if one.milestone and not one.milestone.is_command}


def built_before(course: Course, module: Module) -> set[str]:
    """Return the slugs of a module and of all that it builds on: these are in `mylab` when it is complete."""
    return {module.slug}.union(*(built_before(course, course.module(name)) for name in module.requires))


def test_every_module_has_a_milestone_that_fits_on_a_screen(course: Course) -> None:
    for module in course.modules:
        assert module.milestone is not None, module.name
        assert [line for line in module.milestone.code.splitlines() if len(line) > WIDTH or not line] == []


def test_the_code_uses_only_what_is_complete(course: Course) -> None:
    for name, code in snippets(course).items():
        module = course.module(name)
        found = {node.module for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)}
        used = {path.removeprefix("mylab.") for path in found if path and path.startswith("mylab.")}
        assert module.slug in used, f"{name} does not use its own module"
        assert used <= built_before(course, module), name


@pytest.mark.exhaustive
def test_the_code_works_with_the_solutions(course: Course, tmp_path: Path) -> None:
    (tmp_path / "mylab").mkdir()
    (tmp_path / "mylab" / "__init__.py").touch()
    for module in course.modules:
        shutil.copy(ROOT / "solutions" / module.name / f"{module.slug}.py", tmp_path / "mylab")
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=json.dumps(snippets(course)),
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert all(said.values()), said
    assert "0.66524096" in said["01_softmax"]
    assert re.search("the (cat|sat|mat)", said["12_transformer"])  # the model begins with random numbers


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('{unlocks = "x"}', "must have unlocks and try"),
        ('{unlocks = "x", try = " "}', "must have unlocks and try"),
        ('{unlocks = "x", try = "print("}', r"milestone\.try: is not Python"),
        (f'{{unlocks = "{"x" * 46}", try = "print()"}}', r"milestone\.unlocks: has 46 characters"),
        ('"x"', "must be a table"),
    ],
)
def test_a_wrong_milestone_is_a_mistake_in_the_course(tiny: Course, written: str, problem: str) -> None:
    (module,) = tiny.modules
    file = module.folder / "module.toml"
    file.write_text(f"milestone = {written}\n{file.read_text()}")
    with pytest.raises(CourseError, match=problem):
        read_module(module.folder)
