"""Classroom 50: a bundle with visible checks only, and a result in whole numbers that loses no mark."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course.course import Course, read_course
from grader.course.notebook import make_notebook
from grader.platforms.classroom50.autograder import SETTINGS, take_work
from grader.platforms.classroom50.package import ENTRY, MOST_BYTES, make_autograder
from grader.platforms.classroom50.result import release_body, result_of, scale_of, whole
from tests.cli.conftest import Attn
from tests.conftest import ROOT
from tests.platforms.conftest import Graded
from tests.platforms.platform_rules import classroom50_problems

SOLUTION = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
TOLD = {
    "CLASSROOM": "cs",
    "ASSIGNMENT": "softmax",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "ana",
    "SUBMISSION_TAG": "submit/2026-10-01T10-00-00Z-abcdef0",
    "COMMIT_URL": "https://x/commit/1",
    "RELEASE_URL": "https://x/releases/1",
    "REVIEW_URL": "https://x/compare/1",
}


class TestWholeNumbers:
    @pytest.mark.parametrize(
        ("points", "scale"),
        [((2, 1.0), 1), ((), 1), ((2.2, 0.4, 1), 10), ((0.25, 1), 100), ((0.1 + 0.2,), 10), ((1 / 3, 1), 1000)],
    )
    def test_the_scale_makes_every_check_whole(self, points: tuple[float, ...], scale: int) -> None:
        assert scale_of(points) == scale

    @pytest.mark.parametrize(
        ("points", "scale", "number"), [(36.7, 10, 367), (0.0, 10, 0), (1 / 3, 1000, 334), (0.1 + 0.2, 10, 3)]
    )
    def test_no_mark_is_lost(self, points: float, scale: int, number: int) -> None:
        assert whole(points, scale) == number
        assert number / scale >= points - 1e-6

    def test_tenths_of_a_point_are_in_the_result(self, graded: Graded) -> None:
        report = graded.report("zoe")
        checks = tuple(
            replace(check, points=0.7, earned=0.7 if check.outcome == "passed" else 0.0) for check in report.checks
        )
        earned = math.fsum(check.earned or 0.0 for check in checks)
        report = replace(report, checks=checks, costs=(), score=round(earned, 6), max_score=round(0.7 * len(checks), 6))
        result = result_of(report, TOLD)
        assert list(classroom50_problems(result)) == []
        assert (result["score"], result["max-score"]) == (round(earned * 10), 7 * len(checks))
        assert [test["points"] for test in result["tests"]] == [check.earned for check in checks]
        assert f"points are shown times 10: {result['score']} of {7 * len(checks)}" in release_body(report, result)


class TestResults:
    @pytest.mark.parametrize("student", ["ana", "ben", "cy", "zoe"])
    def test_a_report_is_valid(self, graded: Graded, student: str) -> None:
        report = graded.report(student)
        result = result_of(report, TOLD)
        assert list(classroom50_problems(result)) == []
        scale = scale_of(check.points for check in report.checks)
        assert (result["score"], result["max-score"]) == (report.score and report.score * scale, 10 * scale)
        assert "only" in release_body(report, result)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"score": 0.5}, "whole"),
            ({"score": 11}, "whole"),
            ({"owner": ""}, "owner is empty"),
            ({"more": 1}, "more is not known"),
            ({"submission": "x"}, "no submission"),
            ({"max-score": 99}, "not the sum"),
            ({"tests": [{"test-name": "", "passed": 1, "score": 10, "max-score": 10}]}, "no name"),
        ],
    )
    def test_the_rules_can_fail(self, graded: Graded, change: dict[str, Any], words: str) -> None:
        result = result_of(graded.report("ana"), TOLD) | change
        assert any(words in problem for problem in classroom50_problems(result))


class TestWork:
    """A clone says nothing about which of two files is newer."""

    @pytest.mark.parametrize(
        ("files", "counts"),
        [
            ({}, ("stub",)),
            ({"modules/01_softmax/softmax.py": "own"}, ("own",)),
            ({"softmax.py": "own"}, ("own",)),
            ({"modules/01_softmax/softmax.py": "stub", "modules/01_softmax/softmax.ipynb": "book"}, ("book",)),
            ({"modules/01_softmax/softmax.py": "own", "modules/01_softmax/softmax.ipynb": "book"}, ("own",)),
            ({"modules/01_softmax/softmax.py": "stub", "softmax.py": "own"}, ("own",)),
        ],
    )
    def test_the_changed_file_counts(
        self, bundle: Path, tmp_path: Path, files: dict[str, str], counts: tuple[str, ...]
    ) -> None:
        ours = Path(shutil.copytree(bundle, tmp_path / "bundle"))
        course = read_course(ours)
        module = course.module("softmax")
        texts = {"stub": module.stub.read_text(), "own": SOLUTION, "book": make_notebook(SOLUTION, "softmax")}
        for name, content in files.items():
            path = tmp_path / "checkout" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = texts[content]
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        take_work(module, ours, tmp_path / "checkout", required=True)
        found = [path.read_text() for path in (module.stub, module.notebook) if path.is_file()]
        assert found == [texts[name] for name in counts]


@pytest.fixture(scope="module")
def made(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("classroom50") / "softmax"
    assert make_autograder(course, course.module("softmax"), to) == 6
    return to


@pytest.mark.exhaustive
class TestBundle:
    def run(self, made: Path, root: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run it in a checkout as their runner does: a fresh copy of the bundle, the student's folder as cwd."""
        bundle = Path(shutil.copytree(made, root / "bundle"))
        for name, text in files.items():
            (root / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "checkout" / name).write_text(text)
        given = os.environ | TOLD | {"ATTNLAB_PYTHON": sys.executable}
        words = [sys.executable, str(bundle / ENTRY)]
        return subprocess.run(words, cwd=root / "checkout", env=given, capture_output=True, text=True, check=False)

    def test_nothing_in_it_is_secret(self, made: Path) -> None:
        names = {path.relative_to(made).as_posix() for path in made.rglob("*")}
        assert {ENTRY, SETTINGS, "constraints.txt", "modules/01_softmax/checks.py"} <= names
        assert not any("hidden" in name or "solutions" in name or ".attnlab" in name for name in names)
        assert sum(path.stat().st_size for path in made.rglob("*") if path.is_file()) < MOST_BYTES

    def test_the_checks_are_those_of_the_bundle(self, made: Path, tmp_path: Path) -> None:
        """A student can change everything in the checkout: checks, the grader, the result."""
        wrong = SOLUTION.replace("axis=axis", "axis=0")
        files = {"modules/01_softmax/softmax.py": wrong, "modules/01_softmax/checks.py": "", "result.json": "{}"}
        done = self.run(made, tmp_path, files | {"grader/__init__.py": "raise SystemExit(0)"})
        assert done.returncode == 0, done.stderr
        assert "::error file=modules/01_softmax/softmax.py" in done.stdout
        result = json.loads((tmp_path / "checkout" / "result.json").read_text())
        assert list(classroom50_problems(result)) == []
        assert 0 < result["score"] < result["max-score"] == 6

    def test_a_fault_of_the_grader_leaves_no_result(self, made: Path, tmp_path: Path) -> None:
        broken = Path(shutil.copytree(made, tmp_path / "broken"))
        checks = broken / "modules" / "01_softmax" / "checks.py"
        checks.write_text(checks.read_text().replace("def test_", "def test_(", 1))
        done = self.run(broken, tmp_path, {"softmax.py": SOLUTION})
        assert done.returncode != 0
        assert not (tmp_path / "checkout" / "result.json").exists()


def test_a_name_that_is_no_assignment_is_refused(attn: Attn, tmp_path: Path) -> None:
    done = attn("export", "classroom50", "softmax", "--out", tmp_path / "Soft_Max")
    assert (done.returncode, (tmp_path / "Soft_Max").exists()) == (2, False)
    assert "small letters" in done.stderr


def test_a_bundle_cannot_make_an_autograder(attn: Attn, bundle: Path) -> None:
    done = attn("export", "classroom50", "softmax", "--out", "softmax", cwd=bundle)
    assert (done.returncode, (bundle / "softmax").exists()) == (2, False)
