"""The bundle of a Classroom 50 autograder: what students have, with a script that runs the visible checks.

Classroom 50 publishes it on a site that needs no login. So it has no hidden checks and no solution, and it is searched
for leaks like the bundle of a student.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.authoring.bundle import make_bundle
from grader.course.course import Course
from grader.course.engine import CONSTRAINTS, WHEEL
from grader.course.module import Module
from grader.platforms.classroom50.autograder import RESULT, SETTINGS
from grader.platforms.github_actions import TORCH_INDEX

ENTRY = "autograder.py"
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,38}")  # of an assignment of Classroom 50
MOST_BYTES = 10 * 1024 * 1024  # its runner fetches no larger bundle


class AutograderError(Exception):
    """A bundle that does not give full marks to the solution, and its output."""


def make_autograder(course: Course, module: Module, to: Path) -> float:
    """Make the bundle in a new folder; return the points of its visible checks, which the solution must get."""
    make_bundle(course, _modules(course, module), to)
    torch = ["torch", "--extra-index-url", TORCH_INDEX] if module.backend == "torch" else []
    settings = {"module": module.name, "packages": ["-c", CONSTRAINTS, *torch, WHEEL]}
    (to / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    (to / ENTRY).write_bytes(Path(__file__).with_name("entry.py").read_bytes())
    return try_autograder(course, module, to)


def try_autograder(course: Course, module: Module, bundle: Path) -> float:
    """Run a copy of a bundle on the solution, as the runner would; return the points, or raise if they are not all."""
    with tempfile.TemporaryDirectory(prefix="attn-") as temporary:
        copy, checkout = Path(temporary, "bundle"), Path(temporary, "checkout")
        shutil.copytree(bundle, copy)
        checkout.mkdir()
        (checkout / module.stub.name).write_bytes(course.solution(module).read_bytes())
        names = ("CLASSROOM", "ASSIGNMENT", "ASSIGNMENT_TYPE", "OWNER", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")
        told = {**dict.fromkeys(names, "trial"), "SUBMISSION_TAG": "submit/trial", "ATTNLAB_PYTHON": sys.executable}
        words = [sys.executable, str(copy / ENTRY)]
        given = {**os.environ, **told}
        done = subprocess.run(words, cwd=checkout, env=given, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = done.stderr.strip().rpartition("\n")[2]
            raise AutograderError(f"it gives the solution of {module.name} no score. {last}")
        result = json.loads((checkout / RESULT).read_text(encoding="utf-8"))
    if result["score"] != result["max-score"]:
        raise AutograderError(f"it gives the solution of {module.name} {result['score']} of {result['max-score']}")
    return sum(float(test["points"]) for test in result["tests"])


def _modules(course: Course, module: Module) -> list[Module]:
    """Return a module, after those whose code it may import from the student."""
    return [*(one for one in course.modules if one.slug in module.fallback), module]
