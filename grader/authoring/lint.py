"""Lint: what ruff says about the files of a module, by the settings of the course."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from grader.authoring.soundness_rules import Problem
from grader.course.course import Course
from grader.course.module import Module

MISSING = "ruff is not installed, so the style of the files was not checked: python -m pip install ruff"


def is_linted(course: Course) -> bool:
    """Whether the course has settings for ruff."""
    try:
        settings = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "ruff" in settings.get("tool", {})


def has_ruff() -> bool:
    """Whether ruff can run here."""
    return importlib.util.find_spec("ruff") is not None


def lint_problems(course: Course, module: Module) -> Iterator[Problem]:
    """Yield what ruff finds in the Python files of a module that an author wrote."""
    folders = (module.folder, course.solution(module).parent)
    files = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    suites = (course.hidden_suite(module), course.gpu_suite(module))
    files += [path for path in suites if path is not None and path.is_file()]
    names = [path.relative_to(course.root).as_posix() for path in files]
    for one in json.loads(_ruff(course.root, "check", "--output-format=json", *names).stdout or "[]"):
        place = f"{Path(one['filename']).relative_to(course.root.resolve()).as_posix()}, line {one['location']['row']}"
        yield Problem(f"{place}: {one['message']} ({one['code'] or 'syntax'})", "Fix that line")
    for name in names:  # one by one: what ruff prints differs between its versions
        if _ruff(course.root, "format", "--check", name).returncode == 1:
            yield Problem(f"{name} is not formatted", f"Run: ruff format {name}")


def _ruff(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ruff", *arguments, "--force-exclude", "--no-cache"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
