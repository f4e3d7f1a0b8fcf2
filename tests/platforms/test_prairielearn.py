"""PrairieLearn's external grader: a job folder in, results.json out, as its container runs it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.course.course import Course
from grader.platforms.container.job import NO_JAIL, Failure
from grader.platforms.prairielearn import results as results_file
from grader.platforms.prairielearn.autograder import Settings
from grader.platforms.prairielearn.package import QuestionError, make_job, question_files, try_question
from grader.platforms.prairielearn.results import HIDDEN, HiddenChecks, failed, results_of, results_text, write_results
from tests.acceptance.attacks.surroundings import command, without_landlock, without_namespaces
from tests.cli.conftest import Attn
from tests.conftest import ROOT, needs_tier
from tests.platforms.conftest import Graded
from tests.platforms.platform_rules import prairielearn_problems

MODULE = "01_softmax"
SOLUTION = (ROOT / "solutions" / MODULE / "softmax.py").read_text()
CLASS = ROOT / "examples" / "class"


@pytest.fixture(scope="module")
def files(course: Course) -> dict[str, bytes]:
    return question_files(course, Settings(MODULE, 5, "summed"), "me/attnlab")


class Job:
    """One grading job: root, no namespaces, the folders of /grade."""

    def __init__(self, files: dict[str, bytes], handed_in: dict[str, str]) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="attnlab-job-"))  # /tmp is open for every user, as / is in a container
        make_job(files, {name: text.encode() for name, text in handed_in.items()}, self.root)

    def run(self, **environment: str) -> dict[str, Any]:
        """Run it; return what PrairieLearn reads, and keep the exit status and the log."""
        words = without_namespaces(str(self.root / "tests" / "run.sh"))
        words = command("root in an open home", *words) if os.geteuid() == 0 else words
        given = {"ATTNLAB_JOB": str(self.root), "ATTNLAB_PYTHON": sys.executable, **environment}
        done = subprocess.run(words, cwd=ROOT, env=os.environ | given, capture_output=True, text=True, check=False)
        self.code, self.log = done.returncode, done.stdout + done.stderr
        text = (self.root / "results" / "results.json").read_text()
        assert list(prairielearn_problems(text)) == []
        data: dict[str, Any] = json.loads(text)
        return data


@pytest.fixture
def job(files: dict[str, bytes], request: pytest.FixtureRequest) -> Iterator[Job]:
    """A job for the solution, or for what the test gives."""
    needs_tier("contained")
    made = Job(files, getattr(request, "param", {"softmax.py": SOLUTION}))
    yield made
    shutil.rmtree(made.root)


class TestGrading:
    def test_the_solution_has_a_score_of_one(self, job: Job) -> None:
        results = job.run()
        assert (job.code, results["gradable"], results["score"]) == (0, True, 1.0)
        assert sum(test["max_points"] for test in results["tests"]) == pytest.approx(46)
        assert results["attnlab"]["sandbox"] == "contained"

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("student", ["ben", "emil", "farah", "goran", "ines", "jun"])
    def test_the_example_class_is_graded_as_attn_grade_does(
        self, files: dict[str, bytes], attn: Attn, student: str
    ) -> None:
        needs_tier("contained")
        file = next((CLASS / student).iterdir())
        made = Job(files, {file.name: file.read_text()})
        results = made.run()
        shutil.rmtree(made.root)
        (report,) = json.loads(attn("grade", file, "--json").stdout)
        assert results["score"] * 46 == pytest.approx(report["score"], abs=1e-9)
        assert sum(test["points"] for test in results["tests"]) == pytest.approx(report["score"])

    @pytest.mark.exhaustive
    def test_student_code_reads_neither_the_solution_nor_the_results(self, files: dict[str, bytes]) -> None:
        """What it prints at import would be in the log; what it returns would be right."""
        needs_tier("contained")
        made = Job(files, {})
        paths = [str(made.root / name) for name in ("tests/course", "results", "student", "data")]
        names = [f"tests/course/{one}" for one in (f"tests/hidden/test_{MODULE}.py", f"solutions/{MODULE}/softmax.py")]
        names += ["tests/course/.attnlab/salt", "tests/autograder.json", "data/data.json", "results/results.json"]
        thief = (
            f"import os\nfound = []\nfor path in {[str(made.root / name) for name in names]}:\n"
            "    try:\n        found.append(open(path).read())\n    except OSError:\n        pass\n"
            f"for path in {paths}:\n"
            "    try:\n        found.append(os.listdir(path))\n    except OSError:\n        pass\n"
            "    try:\n        open(path + '/x', 'w')\n        found.append(path)\n    except OSError:\n        pass\n"
            "assert not found, found\n"
        )
        (made.root / "student" / "softmax.py").write_text(thief + SOLUTION)
        results = made.run()
        assert results.get("score") == 1.0, results
        shutil.rmtree(made.root)


class TestFaults:
    """A fault of the grader leaves results that change no points; the container ends with 0, so that they are read."""

    def check(self, job: Job, results: dict[str, Any]) -> None:
        assert (job.code, results["gradable"], "score" in results) == (0, False, False)
        assert "was not graded" in results["format_errors"][0]

    def test_a_missing_python_is_not_gradable(self, job: Job) -> None:
        self.check(job, job.run(ATTNLAB_PYTHON="/nowhere/python"))

    def test_a_killed_autograder_is_not_gradable(self, job: Job) -> None:
        process = job.root / "tests" / "grader" / "platforms" / "prairielearn" / "autograder.py"
        process.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
        self.check(job, job.run())
        assert "137" in job.log

    def test_a_full_disk_is_not_gradable(self, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
        """The results that were there before stay: nothing is half written."""
        job.run(ATTNLAB_PYTHON="/nowhere/python")
        path = job.root / "results" / "results.json"
        before = path.read_text()

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_results(path, {"gradable": True, "score": 1.0})
        assert [one.name for one in path.parent.iterdir()] == ["results.json"]
        assert path.read_text() == before

    @pytest.mark.exhaustive
    def test_a_machine_without_a_jail_is_not_gradable(self, job: Job) -> None:
        python = job.root / "python"
        words = " ".join(f"'{word}'" for word in without_landlock(sys.executable))
        python.write_text(f'#!/bin/sh\ncd {ROOT}\nPYTHONPATH="{ROOT}:$PYTHONPATH" exec {words} "$@"\n')
        python.chmod(0o755)
        results = job.run(ATTNLAB_PYTHON=str(python))
        self.check(job, results)
        assert NO_JAIL in results["format_errors"][0]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize(
        "job", [{}, {"softmax.py/x": "1"}, {"softmax.py": "\0" * 99}, {"a.txt": "x"}], indirect=True
    )
    def test_work_that_cannot_be_loaded_costs_no_attempt(self, job: Job) -> None:
        results = job.run()
        assert (job.code, results["gradable"]) == (0, False)
        assert "costs you no attempt" in results["format_errors"][0]


class TestResults:
    @pytest.mark.parametrize("student", ["ana", "zoe"])
    @pytest.mark.parametrize("hidden", ["summed", "shown"])
    def test_a_report_is_valid(self, graded: Graded, student: str, hidden: HiddenChecks) -> None:
        report = graded.report(student)
        data = results_of(report, hidden)
        assert list(prairielearn_problems(results_text(data))) == []
        assert report.score is not None
        assert data["score"] == report.score / report.max_score
        assert sum(test["points"] for test in data["tests"]) == pytest.approx(report.score)
        assert (("hidden checks" in data["tests"][-1]["name"]), len(data["tests"]) == len(report.checks)) == (
            (True, False) if hidden == "summed" else (False, True)
        )

    def test_work_that_is_not_python_costs_no_attempt(self, graded: Graded) -> None:
        data = results_of(graded.report("cy"), "summed")
        assert list(prairielearn_problems(results_text(data))) == []
        assert data["gradable"] is False

    def test_summed_says_nothing_about_a_hidden_check(self, graded: Graded) -> None:
        report = graded.report("zoe")
        hidden = {check.property for check in report.checks if check.suite == "hidden"}
        summed, shown = (results_text(results_of(report, way)) for way in HIDDEN)
        assert all(one in shown and one not in summed for one in hidden)

    def test_results_that_are_too_large_keep_their_score(self, graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
        data = results_of(graded.report("zoe"), "shown")
        data["tests"] = [one | {"message": "x" * 300_000} for one in data["tests"]]
        text = results_text(data)
        assert list(prairielearn_problems(text)) == []
        assert json.loads(text)["score"] == data["score"]
        assert results_file.SHORTENED in text
        monkeypatch.setattr(results_file, "MOST_BYTES", 60)
        assert json.loads(results_text(data)) == {"gradable": True, "score": data["score"]}

    def test_a_failure_has_a_reason(self) -> None:
        assert list(prairielearn_problems(results_text(failed(Failure("no_jail", "because"))))) == []

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            ({"score": 46}, "from 0 to 1"),
            ({"gradable": False}, "without a reason"),
            ({"score": 1, "tests": [{"name": "a", "points": 1}]}, "no points"),
            ({"score": 1, "tests": [{"name": 1, "points": 1, "max_points": 1}]}, "a text"),
            ({"score": 1, "output": "x" * 2**20}, "larger"),
        ],
    )
    def test_the_rules_can_fail(self, data: dict[str, Any], words: str) -> None:
        assert any(words in problem for problem in prairielearn_problems(json.dumps(data)))


class TestQuestion:
    def test_prairielearn_finds_what_it_needs(self, files: dict[str, bytes], course: Course) -> None:
        info = json.loads(files["info.json"])
        assert {"uuid", "title", "topic", "type"} <= set(info)
        assert info["gradingMethod"] == "External"
        grading = info["externalGradingOptions"]
        assert grading == {"image": "me/attnlab", "entrypoint": "/grade/tests/run.sh", "timeout": 300}
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", info["uuid"])
        assert files == question_files(course, Settings(MODULE, 5, "summed"), "me/attnlab")

    def test_only_tests_hold_a_secret(self, files: dict[str, bytes]) -> None:
        """Students read the page and the client files, and anybody the image."""
        outside = b"\n".join(data for name, data in files.items() if not name.startswith("tests/"))
        assert b"np.max(x, axis=axis" not in outside
        assert not any("hidden" in name for name in files if not name.startswith("tests/"))
        assert f"tests/course/tests/hidden/test_{MODULE}.py" in files

    def test_it_must_give_the_solution_full_marks(self, files: dict[str, bytes], course: Course) -> None:
        needs_tier("contained")
        hidden = f"tests/course/tests/hidden/test_{MODULE}.py"
        broken = files | {hidden: files[hidden] + b"\nraise LookupError\n"}
        with pytest.raises(QuestionError, match="no score"):
            try_question(broken, course, course.module(MODULE))

    def test_the_command_writes_a_folder_that_only_its_owner_can_read(self, attn: Attn, tmp_path: Path) -> None:
        to = tmp_path / "questions" / "softmax"
        words = ("export", "prairielearn", "softmax", "--out", to, "--image", "me/attnlab", "--no-try")
        done = attn(*words)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE(to.stat().st_mode) == 0o700
        assert os.access(to / "tests" / "run.sh", os.X_OK)
        assert attn(*words).returncode == 2  # it is there already

    def test_a_bundle_cannot_make_a_question(self, attn: Attn, bundle: Path) -> None:
        done = attn("export", "prairielearn", "softmax", "--out", "x", "--image", "me/attnlab", cwd=bundle)
        assert (done.returncode, (bundle / "x").exists()) == (2, False)
