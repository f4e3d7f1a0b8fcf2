"""Fixtures for the tests of exports: a graded class with every status, and the JSON schemas."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.core.report import Report, report_from
from grader.course.course import Course
from grader.course.notebook import make_notebook
from tests.cli.conftest import EXECUTABLE, attn, bundle
from tests.conftest import ROOT, write

__all__ = ["attn", "bundle"]

HERE = Path(__file__).parent
Validate = Callable[[Any], None]

RIGHT = "def tiny(x):\n    return x + x\n"
FORMULA = "=cmd|' /C calc'!A0"
# A check that raises for one student (dee) and kills the grading process for another (eve).
STUMBLE = """
    answer = student.tiny(np.array([7.0]))
    if np.all(np.asarray(answer) == -1.0):
        raise LookupError("ours")
    if np.all(np.asarray(answer) == -2.0):
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
"""
ROSTER = "\n".join(
    [
        "Student,ID,SIS User ID,SIS Login ID,Section",
        "    Points Possible,,,,",
        '"Åström-Ünal, Ana 李",101,S-1,ana,Mon',
        '"O\'Ben, ""B""",102,S-2,ben,Mon',
        *(f"{name},{103 + i},S-{3 + i},{name.lower()},Tue" for i, name in enumerate(("Cy", "Dee", "Eve", "Fay"))),
        f'"{FORMULA}",107,S-7,gil,Tue',
        "",
    ]
)
TIMES = "id,submitted\n" + "".join(f"{who},2026-09-30T12:00Z\n" for who in ("ana", "cy", "dee", "eve", "gil", "zoe"))


@dataclass(frozen=True)
class Graded:
    """A graded class: ana right, ben late, cy not Python, dee a grader fault, eve a killed process, fay missing."""

    course: Path
    folder: Path  # the submissions
    reports: Path
    roster: Path

    def report(self, student: str) -> Report:
        return report_from(json.loads((self.reports / "01_tiny" / f"{student}.json").read_text()))

    def export(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run `attn export` in the course."""
        command = [EXECUTABLE, "export", *map(str, arguments)]
        return subprocess.run(command, cwd=self.course, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def graded(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """A class of eight: seven submitted, and one of them is not on the roster."""
    root = tmp_path_factory.mktemp("graded")
    course = Path(shutil.copytree(built.root, root / "course"))
    hidden = course / "tests" / "hidden" / "test_01_tiny.py"
    signature = "def test_tiny_is_linear(student, rng):\n"
    assert signature in hidden.read_text()
    hidden.write_text(hidden.read_text().replace(signature, signature + STUMBLE))
    stub = (course / "modules" / "01_tiny" / "tiny.py").read_text()
    own = "%matplotlib inline\nimport numpy as np\n!pip list\n\n" + RIGHT
    answered = make_notebook(f"{stub}\n# %%\n{own}\n# %%\n%%bash\nls\n", "tiny")
    folder = write(
        root / "class",
        {
            "ana/tiny.py": RIGHT,
            "ben/tiny.py": RIGHT,
            "cy/tiny.py": "def tiny(:\n",
            "dee/tiny.py": "def tiny(x):\n    return x * 0 - 1.0\n",
            "eve/tiny.py": "def tiny(x):\n    return x * 0 - 2.0\n",
            "gil/tiny.ipynb": answered,
            "zoe/tiny.py": "def tiny(x):\n    return x ** 2\n",
        },
    )
    write(root, {"roster.csv": ROSTER, "times.csv": TIMES + "ben,2026-10-02T12:00Z\n"})
    command = [EXECUTABLE, "grade", folder, "--to", root / "reports", "--roster", root / "roster.csv"]
    command += ["--due", "2026-10-01T12:00Z", "--late-penalty", "10%/day", "--times", root / "times.csv"]
    words = [*map(str, command), "--allow-unjailed", "-j", "1"]
    done = subprocess.run(words, cwd=course, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    return Graded(course, folder, root / "reports", root / "roster.csv")


def validator(path: Path) -> Validate:
    """Return a function that validates data by a JSON Schema, after a check of the schema itself."""
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validate: Validate = jsonschema.Draft202012Validator(schema).validate
    return validate


@pytest.fixture(scope="session")
def valid_results() -> Validate:
    return validator(HERE / "results.schema.json")


@pytest.fixture(scope="session")
def valid_report() -> Validate:
    return validator(ROOT / "docs" / "report.schema.json")
