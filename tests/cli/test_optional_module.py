"""A module that needs a GPU, on a machine without one: it is not run, it says so, and it is in no total."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.author.syllabus import syllabus
from cli.main import attn
from grader.course.course import Course, read_course
from grader.course.module import CourseError, read_module
from grader.grading.grade import grade
from grader.grading.workers import NoGpuError
from grader.submission.submission import Source, Submission
from tests.conftest import ROOT

NAME = "13_triton_flash"
USERS = (
    "cli.student.own_checks",
    "grader.authoring.gpu_trials",
    "grader.authoring.proof",
    "grader.grading.grade",
    "grader.sandbox.jail.view",
)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in USERS:
        monkeypatch.setattr(f"{name}.gpu_devices", tuple)
    monkeypatch.chdir(ROOT)


def run(*words: str) -> Result:
    return CliRunner().invoke(attn, words)


def test_course_lists_only_what_everybody_can_run(course: Course) -> None:
    assert [module.name for module in course.optional] == [NAME]
    assert NAME not in {module.name for module in course.modules}
    assert course.module("triton_flash") == course.module("13") == course.optional[0]


def test_syllabus_has_it_in_no_total(course: Course) -> None:
    assert NAME not in syllabus(course)


def test_start_says_that_it_needs_a_gpu() -> None:
    result = run("start", "triton_flash", "--anyway")
    assert result.exit_code == 0
    assert "It needs an NVIDIA GPU and Triton. This machine has none, so its checks are not run." in result.output


def test_own_checks_are_not_run() -> None:
    result = run("test", "triton_flash")
    assert result.exit_code == 2
    assert f"{NAME}: not run: it needs an NVIDIA GPU, and this machine has none" in result.output


def test_status_shows_it_as_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("01_softmax", NAME):
        shutil.copytree(ROOT / "modules" / name, tmp_path / "modules" / name)
    monkeypatch.chdir(tmp_path)
    assert f"{NAME}          not started; optional, needs a GPU" in run("status").output
    assert [one["module"] for one in json.loads(run("status", "--json").output)] == ["01_softmax"]


def test_grade_asks_for_the_gpu_and_for_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = f"solutions/{NAME}/triton_flash.py"
    result = run("grade", solution, "-m", NAME)
    assert result.exit_code == 2
    assert f"{NAME}: not run: it needs a GPU. Add --device cuda" in result.output
    monkeypatch.setattr("cli.instructor.grade_options.gpu_devices", lambda: ("/dev/null",))
    result = run("grade", solution, "-m", NAME, "--device", "cuda")
    assert result.exit_code == 2
    assert "cannot be jailed" in result.output


def test_grading_without_a_gpu_blames_nobody(course: Course) -> None:
    module = course.module(NAME)
    source = Source("triton_flash.py", (course.solution(module).read_text(),), False)
    submission = Submission("ana", NAME, source.file, {module.slug: source})
    with pytest.raises(NoGpuError, match="not run"):
        grade(course, module, [submission], lambda _: None, allow_unjailed=True, gpu=True)


def test_dev_check_says_that_nothing_was_run() -> None:
    result = run("dev", "check", NAME)
    assert result.exit_code == 0, result.output
    assert f"{NAME}: not run: this module needs an NVIDIA GPU" in result.output
    assert "sound" not in result.output


def test_assignment_for_nbgrader_is_refused(tmp_path: Path) -> None:
    result = run("release", NAME, "--to", str(tmp_path / "course"))
    assert result.exit_code == 2
    assert "Release it with --bundle" in result.output


def test_needs_must_be_cuda(tmp_path: Path) -> None:
    folder = tmp_path / "modules" / "01_kernel"
    folder.mkdir(parents=True)
    text = 'title = "A"\norder = 1\nminutes = 1\nrequires = []\nbackend = "torch"\npoints = 1\nneeds = "tpu"\n'
    (folder / "module.toml").write_text(text)
    with pytest.raises(CourseError, match='must be "cuda"'):
        read_module(folder)
    (folder / "module.toml").write_text(text.replace("tpu", "cuda"))
    assert read_course(tmp_path).modules == ()


def test_nothing_else_imports_triton() -> None:
    own = {ROOT / "solutions" / NAME / "triton_flash.py", ROOT / "modules" / NAME / "triton_flash.py"}
    for folder in ("cli", "grader", "modules", "solutions", "tests"):
        for path in set((ROOT / folder).rglob("*.py")) - own:
            if "triton" in (text := path.read_text(encoding="utf-8", errors="replace")) and "data" not in path.parts:
                assert not imports_triton(text), path


def imports_triton(text: str) -> bool:
    nodes = list(ast.walk(ast.parse(text)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return any(name.split(".")[0] == "triton" for name in names)
