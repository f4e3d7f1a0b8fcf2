"""GitHub Actions: annotations, a summary, an exit status, and the workflow that makes them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
import yaml

from grader.core.report import Report
from grader.course.course import Course
from grader.platforms.github_actions import (
    MOST_ANNOTATIONS,
    MOST_BYTES,
    error_commands,
    exit_status,
    summary,
    workflow_text,
)
from tests.cli.conftest import EXECUTABLE, Attn
from tests.platforms.conftest import Graded

_COMMAND = re.compile(r"::error file=(?P<file>[^,:\s]+),line=(?P<line>\d+),title=(?P<title>[^,:\n]*)::(?P<text>.*)")


@pytest.mark.parametrize(
    ("student", "status", "errors"), [("ana", 0, 0), ("cy", 1, 1), ("zoe", 1, 1), ("dee", 3, 1), ("eve", 3, 1)]
)
def test_a_report_of_every_status_is_shown(graded: Graded, student: str, status: int, errors: int) -> None:
    report = graded.report(student)
    assert exit_status(report) == status
    found = [_COMMAND.fullmatch(line) for line in error_commands(report)]
    assert all(found)
    assert min(len(found), 1) == errors
    assert all(one["file"] == f"modules/01_tiny/{report.file}" for one in found if one)
    assert ("not graded" in summary(report)) == (status == 3)


def test_a_text_cannot_begin_another_command(graded: Graded) -> None:
    """What a student raises is in a message: on a line of its own, GitHub would obey it."""
    report = graded.report("zoe")
    bad = "%0A x\r\n::set-env name=PATH::/tmp\n::error::no"
    (first, *others) = report.diagnoses
    evil = replace(report, diagnoses=(replace(first, message=bad, target="a,b:c\nd"), *others))
    (line, *_) = error_commands(evil)
    match = _COMMAND.fullmatch(line)
    assert match is not None
    assert match["title"] == "a%2Cb%3Ac%0Ad"
    assert match["text"] == "%250A x%0D%0A::set-env name=PATH::/tmp%0A::error::no"


def test_a_text_stays_text_in_the_summary(graded: Graded) -> None:
    report = graded.report("zoe")
    bad = "</pre><img src=x>\n# | **x** `y` [z](http://x) @me"
    checks = tuple(replace(check, property=bad, message=bad) for check in report.checks)
    text = summary(replace(report, checks=checks, diagnoses=()))
    assert "<img" not in text
    assert bad in unescape(text)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(checks) + 1
    assert all(re.fullmatch(r"\|[^|]*\|[^|`*\[\]]*\|[^|]*\|", row) for row in rows)


def test_what_github_would_drop_is_said(graded: Graded) -> None:
    report = graded.report("zoe")
    (first, *_) = report.diagnoses
    many = replace(report, diagnoses=tuple(replace(first, line=number) for number in range(99)))
    found = error_commands(many)
    assert len(found) == MOST_ANNOTATIONS
    assert "::90 more: see the job's summary" in found[-1]
    long = tuple(replace(first, message=f"{number}" + "é" * 60_000) for number in range(99))
    text = summary(replace(report, diagnoses=long))
    assert len(text.encode()) < MOST_BYTES
    assert "The rest is left out" in text


def test_a_mistake_is_marked_at_its_line(graded: Graded) -> None:
    report = graded.report("zoe")
    lines = [one.line for one in report.diagnoses if one.line]
    assert lines
    assert f",line={lines[0]}," in error_commands(report)[0]


def test_the_command_ends_as_the_report_does(attn: Attn, graded: Graded, tmp_path: Path) -> None:
    for student, status in (("ana", 0), ("zoe", 1), ("dee", 3)):
        file = graded.reports / "01_tiny" / f"{student}.json"
        done = attn("export", "github", "result", file, "--summary", tmp_path / "summary.md")
        assert done.returncode == status
        assert bool(done.stdout) == bool(status)
    assert (tmp_path / "summary.md").read_text().count("### 01&#95;tiny: ") == 3
    (tmp_path / "x.json").write_text('{"schema": 1}')
    assert attn("export", "github", "result", tmp_path / "x.json").returncode == 2


class TestWorkflow:
    def test_github_can_run_it(self, course: Course) -> None:
        modules = (course.module("softmax"), course.module("torch_attention"))
        flow = yaml.safe_load(workflow_text(modules))
        assert flow["on"] == ["push", "workflow_dispatch"]
        assert flow["permissions"] == {"contents": "read"}
        (job,) = flow["jobs"].values()
        steps = job["steps"]
        assert all(("uses" in step) != ("run" in step) for step in steps)
        assert [step["name"] for step in steps[-2:]] == ["01_softmax", "05_torch_attention"]
        assert {step["if"] for step in steps[-2:]} == {"${{ !cancelled() }}"}

    def test_its_steps_mark_mistakes_and_fail(self, course: Course, bundle: Path, tmp_path: Path) -> None:
        """The step runs in a bundle, as in GitHub's shell."""
        module = course.module("softmax")
        stub = bundle / "modules" / module.name / "softmax.py"
        solution = course.solution(module).read_text()
        flow = yaml.safe_load(workflow_text([module]))
        (step,) = [one for one in flow["jobs"]["visible-checks"]["steps"] if one.get("name") == "01_softmax"]
        path = f"{Path(EXECUTABLE).parent}:{os.environ['PATH']}"
        given = {"PATH": path, "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        for source, status in ((solution.replace("axis=axis", "axis=0"), 1), (solution, 0)):
            stub.write_text(source)
            words = ["bash", "-e", "-c", step["run"]]
            done = subprocess.run(words, cwd=bundle, env=os.environ | given, stdout=subprocess.PIPE, check=False)
            assert done.returncode == status
            assert done.stdout.decode().count("::error file=modules/01_softmax/softmax.py") == (status and 2)
        assert (tmp_path / "summary").read_text().count("### 01&#95;softmax: ") == 2

    def test_the_command_writes_it(self, attn: Attn, tmp_path: Path) -> None:
        out = tmp_path / ".github" / "workflows" / "checks.yml"
        assert attn("export", "github", "workflow", "softmax", "--out", out).returncode == 0
        assert out.is_file()
        assert attn("export", "github", "workflow", "nothing", "--out", out).returncode == 2


def test_the_wheel_is_that_of_the_bundle() -> None:
    from grader.course.engine import CONSTRAINTS, ENGINES, WHEEL

    assert f"-c {CONSTRAINTS} {WHEEL}\n" in workflow_text([])
    assert f"-c {CONSTRAINTS} attnlab==" in workflow_text([], ENGINES["pinned"])


def test_full_marks_have_no_annotation(graded: Graded) -> None:
    report: Report = graded.report("ana")
    assert error_commands(report) == []
