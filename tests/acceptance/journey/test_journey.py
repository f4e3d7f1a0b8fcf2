"""A student's complete journey in a bundle and a real terminal: from the first stub to the graded zip."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader.authoring.bundle import make_bundle
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.authoring.wheel import LIB
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.engine import WHEEL
from grader.course.module import Module
from grader.course.notebook import make_notebook
from grader.grading.grade import grade
from grader.submission.finder import find_submissions
from tests.acceptance.journey.student import MISTAKES, StudentAtWork
from tests.cli.conftest import EXECUTABLE
from tests.quick import sampled

# Found before anything else, by the command and by every worker: Python as it is on other systems.
ELSEWHERE = """
import os, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ("resource", "fcntl"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
for name in ("resource", "fcntl"):
    sys.modules.pop(name, None)
for name in ("fork", "forkpty"):
    delattr(os, name)
"""
USES_MYLAB = "from mylab.softmax import softmax as my_softmax\n"


@pytest.fixture(scope="module")
def released(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of all modules."""
    return make_bundle(course, course.modules, tmp_path_factory.mktemp("released") / "bundle")


@pytest.fixture
def bundle(released: Path, tmp_path: Path) -> Course:
    """A student's own copy of the bundle."""
    return read_course(shutil.copytree(released, tmp_path / "bundle"))


def right_and_wrong(course: Course, module: Module) -> tuple[str, str]:
    """Return a right file of the module, and one with a mistake."""
    (way,) = [one for one in read_misconceptions(course, module) if one.name == MISTAKES[module.name][0]]
    (wrong,) = as_submission(course, module, way).sources[module.slug].cells
    right = course.solution(module).read_text()
    return (USES_MYLAB + right if module.order > 1 else right), wrong


def journey(course: Course, student: StudentAtWork) -> None:
    """Go through all modules of the bundle, hand in, and grade the zip."""
    modules = [course.module(one.name) for one in student.bundle.modules]
    student.runs(shows=["Next: 01_softmax", "(a student's copy)"])
    student.runs("start", "masks", status=2, shows=["locked until 03_attention", "--anyway"])
    slowly = {module.name for module in sampled(student.bundle.modules, 2, lambda one: one.name)}
    for module in student.bundle.modules:
        student.goes_through(module, *right_and_wrong(course, module), quick=module.name not in slowly)
        last = module == student.bundle.modules[-1]
        student.runs("next", shows=["Every module is complete" if last else "read   modules/"])
    student.runs("status", shows=["complete; all"])
    student.runs("submit", "--student", "ana", shows=["ana.zip"])
    handed_in = student.bundle.root / "ana.zip"
    manifest = json.loads(zipfile.ZipFile(handed_in).read("manifest.json"))
    found = find_submissions(course, [handed_in])
    assert [(one.student, one.module) for one in found.submissions] == [("ana", module.name) for module in modules]
    for module in modules:
        reports: list[Report] = []
        theirs = [one for one in found.submissions if one.module == module.name]
        grade(course, module, theirs, reports.append, allow_unjailed=True)
        (report,) = reports
        visible = [check.outcome for check in report.checks if check.suite == "visible"]
        seen = manifest["modules"][module.name]
        assert (visible.count("passed"), len(visible)) == (seen["passed"], seen["total"])
        assert report.score == report.max_score


@pytest.mark.exhaustive  # four minutes
def test_the_journey(course: Course, bundle: Course) -> None:
    student = StudentAtWork(bundle, [EXECUTABLE])
    journey(course, student)
    own = '"module": "06_multi_head_attention",\n   "used": "own"'
    student.runs("gpt", "--steps", "30", "--json", shows=[own, '"bigram"'])


@pytest.mark.exhaustive
def test_a_journey_without_fork_resource_and_fcntl(course: Course, tmp_path: Path) -> None:
    """The unpacked wheel, in a Python without what other systems do not have; then the first module of PyTorch."""
    bundle = read_course(make_bundle(course, course.modules[:5], tmp_path / "bundle"))
    packages = tmp_path / LIB
    with zipfile.ZipFile(bundle.root / WHEEL) as wheel:
        wheel.extractall(tmp_path)
    (packages / "sitecustomize.py").write_text(ELSEWHERE)
    command = [sys.executable, "-c", "from cli.main import main; main()"]
    student = StudentAtWork(bundle, command, {"PYTHONPATH": str(packages), "PATH": ""})
    report = json.loads(student.runs("test", "softmax", "--json", status=1))
    assert report["sandbox"] == "none"
    for module in bundle.modules[:2]:
        student.goes_through(module, *right_and_wrong(course, module))
    torch = bundle.modules[4]
    student.writes(torch, right_and_wrong(course, torch)[0])
    student.runs("test", torch.slug, shows=["9 of 9 visible checks pass."])
    student.runs("submit", "--student", "ana", "--anyway", shows=["ana.zip"])
    handed_in = find_submissions(course, [bundle.root / "ana.zip"]).submissions
    assert [one.module for one in handed_in] == [module.name for module in (*bundle.modules[:2], torch)]


@pytest.mark.exhaustive
def test_a_module_in_a_notebook(course: Course, bundle: Course) -> None:
    student = StudentAtWork(bundle, [EXECUTABLE])
    module = bundle.modules[0]
    student.runs("start", "softmax", "--notebook", shows=["edit   modules/01_softmax/softmax.ipynb"])
    book = nbformat.read(module.notebook, as_version=4)
    client = NotebookClient(book, timeout=600, allow_errors=True, resources={"metadata": {"path": str(module.folder)}})
    client.execute()
    assert any(
        output.get("ename") == "NotImplementedError" for cell in book.cells for output in cell.get("outputs", ())
    )
    nbformat.write(book, module.notebook)
    student.runs("test", "softmax", status=1, shows=["softmax.ipynb", "Write next: softmax", "code cell"])
    right, wrong = right_and_wrong(course, module)
    module.notebook.write_text(make_notebook(wrong, module.slug))
    student.runs("test", "softmax", status=1, shows=["softmax.ipynb counts: it is newer", "(axis_zero)", "code cell"])
    student.runs("hint", "softmax", shows=["hint 1 of 3"])
    done = nbformat.reads(make_notebook(right, module.slug), as_version=4)
    NotebookClient(done, timeout=600, resources={"metadata": {"path": str(module.folder)}}).execute()
    nbformat.write(done, module.notebook)
    student.runs("test", "softmax", shows=["5 of 5 visible checks pass."])
    student.runs("complete", "softmax", shows=["01_softmax is complete", "Unlocked: 02_loop_attention"])
    assert "def softmax(" in (bundle.root / "mylab" / "softmax.py").read_text()
    student.runs("submit", "--student", "ben", shows=["ben.zip"])
    (submission,) = find_submissions(course, [bundle.root / "ben.zip"]).submissions
    reports: list[Report] = []
    grade(course, course.module("softmax"), [submission], reports.append, allow_unjailed=True)
    assert reports[0].score == reports[0].max_score
