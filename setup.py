"""Build the wheel: the engine, the command, and the student's side of the course in this folder.

In a wheel, `cli` and `grader` are in `attnlab/lib/`, because other packages may use these plain names, too. The course
is in `attnlab/lib/cli/course/`, where `attn init` takes it from. An editable install uses the folders as they are here.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PACKAGES = ("cli", "grader")
LIB = "attnlab/lib"
sys.path.insert(0, str(ROOT))

from grader.course.course import read_course  # noqa: E402 - it needs the line before
from grader.course.student_files import carried_files  # noqa: E402


class BuildPy(build_py):
    """Copies the packages, then arranges them."""

    def run(self) -> None:
        built = Path(self.build_lib)
        if not self.editable_mode:
            shutil.rmtree(built, ignore_errors=True)  # what an earlier build left would be in the wheel
        super().run()
        if self.editable_mode:
            return
        for name in PACKAGES:
            (built / LIB).mkdir(parents=True, exist_ok=True)
            (built / name).rename(built / LIB / name)
        (built / "attnlab.pth").write_text(f"{LIB}\n")  # so that `import grader` works in notebooks
        for name, data in (carried_files(read_course(ROOT)) if (ROOT / "modules").is_dir() else {}).items():
            path = built / LIB / "cli" / "course" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


setup(
    packages=[
        "attnlab",
        *find_namespace_packages(include=["cli*", "grader*"], exclude=["cli.installed"]),
    ],
    package_dir={"attnlab": "cli/installed"},
    cmdclass={"build_py": BuildPy},
)
