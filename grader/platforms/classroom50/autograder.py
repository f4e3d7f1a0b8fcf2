"""The autograder of Classroom 50: runs the visible checks on a student's repository and writes result.json.

`entry.py` starts it in the student's checkout. Checks and grader are those of the bundle, never those of the checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.core.json_record import json_text
from grader.course.course import read_course
from grader.course.module import Module
from grader.grading.grade import check_own_file
from grader.platforms.classroom50.result import release_body, result_of
from grader.platforms.github_actions import error_commands

SETTINGS = "classroom50.json"
RESULT, BODY = "result.json", "release-body.md"


def main(bundle: Path, checkout: Path) -> int:
    """Check the work in a checkout; return 0 if it has a score, and 3 if not: the runner then publishes none."""
    course = read_course(bundle)
    module = course.module(json.loads((bundle / SETTINGS).read_text(encoding="utf-8"))["module"])
    for other in course.modules:
        take_work(other, bundle, checkout, required=other == module)
    report = check_own_file(course, module)
    sys.stdout.writelines(f"{line}\n" for line in error_commands(report))  # GitHub shows them
    if report.score is None:
        return 3
    result = result_of(report, os.environ)
    write_atomically(checkout / BODY, release_body(report, result))
    write_atomically(checkout / RESULT, json_text(result, allow_nan=False) + "\n")
    return 0


def take_work(module: Module, bundle: Path, checkout: Path, *, required: bool) -> None:
    """Put a student's file of a module in place of the bundle's stub.

    It is where the bundle has it, or at the top of the checkout. A clone does not say which of two files is newer: if
    there is a notebook too, the script counts unless it is still the stub.
    """
    stub = module.stub.read_bytes()
    places = [checkout / module.folder.relative_to(bundle), checkout]
    names = (module.stub.name, module.notebook.name)
    found = [path for place in places for name in names if (path := _file(place, name))]
    changed = [path for path in found if path.read_bytes() != stub]
    if not found and required:
        return  # the stub stays: nothing is written yet
    module.stub.unlink()  # an earlier module that is not there has a stand-in
    for path in (changed or found)[:1]:
        shutil.copyfile(path, module.folder / path.name)


def _file(place: Path, name: str) -> Path | None:
    path = place / name
    return path if path.is_file() and not path.is_symlink() else None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path.cwd()))
