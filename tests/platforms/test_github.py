"""GitHub Classroom: results for its reporter, and the workflow that makes them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from grader.course.course import Course
from grader.platforms.github_classroom import runner_result, workflow_text
from tests.cli.conftest import EXECUTABLE, Attn
from tests.platforms.conftest import Graded, Validate


@pytest.mark.parametrize(
    ("student", "status", "points", "score"),
    [
        ("ana", "pass", 10, 10),
        ("cy", "fail", 10, 0),
        ("zoe", "fail", 10, None),
        ("dee", "error", 0, 0),  # out of 0, so that the reporter reports no points
        ("eve", "error", 0, 0),
    ],
)
def test_a_report_of_every_status_is_a_valid_result(
    graded: Graded, valid_runner: Validate, student: str, status: str, points: float, score: float | None
) -> None:
    report = graded.report(student)
    result = runner_result(report)
    valid_runner(result)
    assert (result["status"], result["max_score"]) == (status, points)
    assert sum(test["score"] for test in result["tests"]) == (report.score if score is None else score)


def test_the_results_of_a_class_are_valid(graded: Graded, valid_runner: Validate, tmp_path: Path) -> None:
    done = graded.export("github", "results", graded.reports, "--out", tmp_path / "results")
    assert done.returncode == 3
    files = sorted((tmp_path / "results" / "01_tiny").iterdir())
    assert len(files) == 7
    for path in files:
        valid_runner(json.loads(path.read_text()))
    again = graded.export("github", "results", graded.reports, "--out", tmp_path / "results")
    assert (again.returncode, "already exists" in again.stderr) == (2, True)


def test_a_file_that_is_not_a_report_is_refused(attn: Attn, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"schema": 1}')
    assert attn("export", "github", "result", tmp_path / "x.json").returncode == 2


class TestWorkflow:
    def test_github_can_run_it(self, course: Course) -> None:
        modules = (course.module("softmax"), course.module("torch_attention"))
        flow = yaml.safe_load(workflow_text(modules))
        assert flow["on"] == ["push", "workflow_dispatch"]
        assert flow["permissions"] == {"checks": "write", "actions": "read", "contents": "read"}
        (job,) = flow["jobs"].values()
        # The reporter looks for a check run with exactly this name.
        assert flow["name"] == job["name"] == "Autograding Tests"
        steps = job["steps"]
        assert all(("uses" in step) != ("run" in step) for step in steps)
        ids = [step["id"] for step in steps if "id" in step]
        assert steps[-1]["with"]["runners"].split(",") == ids == ["softmax", "torch_attention"]
        for name in ids:
            assert steps[-1]["env"][f"{name.upper()}_RESULTS"] == f"${{{{ steps.{name}.outputs.result }}}}"

    def test_its_steps_give_the_reporter_valid_results(
        self, course: Course, valid_runner: Validate, bundle: Path, tmp_path: Path
    ) -> None:
        """The step runs in a bundle, as in GitHub's shell. Only the reporter itself is missing."""
        module = course.module("softmax")
        stub = bundle / "modules" / module.name / "softmax.py"
        stub.write_text(course.solution(module).read_text().replace("axis=axis", "axis=0"))
        flow = yaml.safe_load(workflow_text([module]))
        step = next(step for step in flow["jobs"]["run-autograding-tests"]["steps"] if step.get("id") == "softmax")
        output = tmp_path / "output"
        path = f"{Path(EXECUTABLE).parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output)}
        subprocess.run(["bash", "-e", "-c", step["run"]], cwd=bundle, env=environment, check=True)
        key, _, value = output.read_text().strip().partition("=")
        result = json.loads(base64.b64decode(value))
        valid_runner(result)
        assert (key, result["status"]) == ("result", "fail")

    def test_the_command_writes_it(self, attn: Attn, tmp_path: Path) -> None:
        out = tmp_path / ".github" / "workflows" / "classroom.yml"
        assert attn("export", "github", "workflow", "softmax", "--out", out).returncode == 0
        assert out.is_file()
        assert attn("export", "github", "workflow", "nothing", "--out", out).returncode == 2


def test_the_wheel_is_that_of_the_bundle() -> None:
    from grader.course.engine import CONSTRAINTS, ENGINES, WHEEL

    assert f"-c {CONSTRAINTS} {WHEEL}\n" in workflow_text([])
    assert f"-c {CONSTRAINTS} attnlab==" in workflow_text([], ENGINES["pinned"])
