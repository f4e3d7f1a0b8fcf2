"""The Gradescope autograder, run as on its platform: as root, without namespaces, with little memory."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.complexity.cost import Speed, as_timing
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.platforms.container.files import REQUIREMENTS, TORCH
from grader.platforms.container.job import container_mb, worker_mb
from grader.platforms.gradescope.autograder import Settings
from grader.platforms.gradescope.package import AutograderError, make_autograder, try_autograder
from grader.platforms.gradescope.results import GradescopeOptions, results_of, value_at
from grader.sandbox.jail.seccomp import numbers
from grader.sandbox.jail.tiers import WORKER_UID
from grader.submission.submission import Source, Submission
from tests.acceptance.attacks.attack import read_attacks
from tests.acceptance.attacks.surroundings import without_landlock
from tests.cli.conftest import Attn
from tests.conftest import ROOT, needs_tier
from tests.platforms.conftest import Validate
from tests.platforms.platform import Platform

MODULE = "01_softmax"
SOLUTION = (ROOT / "solutions" / MODULE / "softmax.py").read_text()
CLASS = ROOT / "examples" / "class"
# One attack of each family that reports its own success, and all attacks that look for a file.
ATTACKS = (
    *("hidden suite by path", "solution by path", "a secret with a detour", "a secret as a module"),
    *("a secret mapped into memory", "everything found from the root", "environment of the grader"),
    *("fork bomb", "memory in one piece", "exit 0", "a verdict", "kill the parent", "a user namespace"),
    *("our own code", "numpy's comparisons", "equal to everything", "everything masked", "TCP"),
)
# A submission that can read the solution does not need its own code.
THIEF = """

def softmax(x, axis=-1):
    stolen = evil(x)
    if isinstance(stolen, bytes) and b"def softmax" in stolen:
        names = {}
        exec(stolen.decode(), names)
        return names["softmax"](x, axis)
    return stolen
"""


@pytest.fixture(scope="module")
def data(course: Course) -> bytes:
    return make_autograder(course, Settings(MODULE, 10, GradescopeOptions()))


@pytest.fixture(scope="module")
def platform(data: bytes) -> Iterator[Platform]:
    needs_tier("contained")
    platform = Platform(data)
    yield platform
    platform.close()


def graded(course: Course, source: str) -> Report:
    """Return the report of `attn grade` for the same file."""
    reports: list[Report] = []
    submission = Submission("ana", MODULE, "softmax.py", {"softmax": Source("softmax.py", (source,), False)})
    grade(course, course.module(MODULE), [submission], reports.append, allow_unjailed=True)
    return reports[0]


def evil_source(name: str, platform: Platform) -> str:
    """Return an attack as a submission that knows all paths."""
    attack = next(one for one in read_attacks() if one.name == name)
    hidden = platform.course / "tests" / "hidden" / f"test_{MODULE}.py"
    solution = platform.course / "solutions" / MODULE / "softmax.py"
    secrets = {"hidden": str(hidden), "solution": str(solution), "other": str(platform.course / ".attnlab" / "salt")}
    facts: dict[str, object] = {
        "SECRETS": secrets | {"gradebook": str(platform.root / "results" / "results.json")},
        **{name: str(platform.root / "results") for name in ("LOOT", "PRECIOUS")},
        "PACKAGES": str(platform.root / "source" / "grader"),
        **dict.fromkeys(("GRADER", "ZYGOTE", "SIBLING"), 1),
        **dict.fromkeys(("TOKEN_ADDRESS", "TOKEN_LENGTH"), 8),
        "PORT": 9,
        **dict.fromkeys(("UNIX", "ABSTRACT", "NONCE"), "nobody"),
        "NR": numbers(),
    }
    return attack.source(facts) + THIEF


class TestGrading:
    """Every submission gets the same result as from `attn grade`."""

    def test_the_solution_has_full_marks(self, platform: Platform, valid_results: Validate) -> None:
        results = platform.run({"softmax.py": SOLUTION})
        valid_results(results)
        assert (platform.code, results["score"]) == (0, 46.0)
        assert results["extra_data"]["sandbox"] == "contained"
        assert all(test["status"] == "passed" and test["score"] == test["max_score"] for test in results["tests"])
        assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(46)
        assert {test["visibility"] for test in results["tests"]} == {"visible", "after_published"}
        assert [entry["name"] for entry in results["leaderboard"]][:2] == ["softmax steps at 64", "softmax work at 64"]

    @pytest.mark.parametrize(
        "student",
        [
            "ben",
            *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("hana", "chloe", "farah", "ines", "jun")),
        ],
    )
    def test_the_example_class_is_graded_as_attn_grade_does(
        self, platform: Platform, valid_results: Validate, attn: Attn, student: str
    ) -> None:
        file = next((CLASS / student).iterdir())
        results = platform.run({file.name: file.read_bytes()})
        valid_results(results)
        (report,) = json.loads(attn("grade", file, "--json").stdout)
        assert results["score"] == report["score"]
        assert [test["score"] for test in results["tests"]] == [
            one["earned"] for one in (*report["checks"], *report["costs"])
        ]

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("name", ATTACKS)
    def test_attacks_are_graded_as_attn_grade_does(
        self, course: Course, platform: Platform, valid_results: Validate, name: str
    ) -> None:
        source = evil_source(name, platform)
        results = platform.run({"softmax.py": source})
        valid_results(results)
        assert results["score"] == graded(course, source).score
        assert results["score"] <= 2, results
        assert "BREACH" not in json.dumps(results)
        assert "SECRET" not in json.dumps(results)

    def test_without_a_jail_the_thief_has_the_solution(self, platform: Platform) -> None:
        """The control: without a jail, the same code reads the solution and computes a softmax."""
        code = f"{evil_source('solution by path', platform)}\nprint(softmax(np.zeros(4)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "[0.25 0.25 0.25 0.25]\n"

    def test_a_worker_runs_as_a_user_who_owns_nothing(self, platform: Platform) -> None:
        """Also in a container: a submission that is right only as that user gets full marks."""
        if os.geteuid() != 0:
            pytest.skip("only root can become another")
        right = f"import os\nif os.getuid() != {WORKER_UID}:\n    raise SystemExit\n{SOLUTION}"
        assert platform.run({"softmax.py": right})["score"] == 46.0

    def test_a_zip_from_attn_submit_is_graded(self, platform: Platform) -> None:
        """The zip that `attn submit` makes also has other modules and unrelated files."""
        files: dict[str, str | bytes] = {
            "modules/01_softmax/softmax.py": SOLUTION,
            "modules/02_loop_attention/loop_attention.py": "raise SystemExit",
            "__MACOSX/._softmax.py": b"\0",
        }
        assert platform.run(files)["score"] == 46.0

    def test_a_folder_with_any_name_is_graded(self, platform: Platform) -> None:
        assert platform.run({"my work/softmax.py": SOLUTION, "notes.txt": "x"})["score"] == 46.0

    @pytest.mark.exhaustive
    def test_a_pytorch_module_is_graded(self, course: Course, valid_results: Validate) -> None:
        needs_tier("contained")
        module = course.module("05_torch_attention")
        platform = Platform(make_autograder(course, Settings(module.name, 10, GradescopeOptions())))
        try:
            results = platform.run(
                {"torch_attention.py": course.solution(module).read_bytes()}, ATTNLAB_WORKER_MB="192"
            )
            valid_results(results)
            assert (results["score"], platform.code) == (module.points, 0), platform.log
        finally:
            platform.close()


class TestWhatStudentsRead:
    def test_hidden_checks_are_hidden_and_the_diagnosis_is_on_top(self, platform: Platform) -> None:
        results = platform.run({"softmax.py": (CLASS / "farah" / "softmax.py").read_bytes()})
        assert "softmax_with_temperature(np.array([0., 1.]), 2.)" in results["output"]
        hidden = [test for test in results["tests"] if test["visibility"] == "after_published"]
        assert len(hidden) > 20
        assert results["stdout_visibility"] == "hidden"

    def test_text_shown_at_once_reveals_no_hidden_check(self, course: Course) -> None:
        """A target whose visible checks pass is not diagnosed before the grades are published."""
        report = graded(course, (CLASS / "ines" / "softmax.py").read_text())
        results = results_of(report, GradescopeOptions())
        quiet = [
            one
            for one in report.diagnoses
            if not any(c.target == one.target and c.suite == "visible" and c.outcome == "failed" for c in report.checks)
        ]
        assert quiet
        at_once = json.dumps([results["output"], *(t for t in results["tests"] if t["visibility"] == "visible")])
        assert not any(json.dumps(one.message)[1:-1] in at_once for one in quiet)
        later = json.dumps([test for test in results["tests"] if test["visibility"] != "visible"])
        assert all(json.dumps(one.message)[1:-1] in later for one in quiet)

    def test_the_option_hides_hidden_checks_forever(self, course: Course) -> None:
        results = results_of(graded(course, SOLUTION), GradescopeOptions("hidden", leaderboard=False))
        assert {test["visibility"] for test in results["tests"]} == {"visible", "hidden"}
        assert "leaderboard" not in results

    def test_a_submission_without_a_file_says_which_to_submit(
        self, platform: Platform, valid_results: Validate
    ) -> None:
        results = platform.run({"essay.txt": "softmax is nice"})
        valid_results(results)
        assert results["score"] == 0
        assert "Submit softmax.py or softmax.ipynb" in results["output"]


class TestFaults:
    """Every failure of the grader leaves results without a score. Gradescope shows them as a failed autograder."""

    def check(self, platform: Platform, results: dict[str, object], valid_results: Validate) -> None:
        valid_results(results)
        assert platform.code != 0
        assert "score" not in results
        assert "tests" not in results
        assert "was not graded" in str(results["output"])

    def test_a_broken_hidden_suite_gives_no_score(self, data: bytes, valid_results: Validate) -> None:
        platform = Platform(data)
        try:
            hidden = platform.course / "tests" / "hidden" / f"test_{MODULE}.py"
            hidden.write_text(hidden.read_text().replace("def test_", "def test_(", 1))
            self.check(platform, platform.run({"softmax.py": SOLUTION}), valid_results)
        finally:
            platform.close()

    def test_a_failing_check_function_gives_no_score(self, data: bytes, valid_results: Validate) -> None:
        platform = Platform(data)
        try:
            hidden = platform.course / "tests" / "hidden" / f"test_{MODULE}.py"
            text = re.sub(
                r"(def test_\w+\(student.*\n)", r"\1    raise LookupError('ours')\n", hidden.read_text(), count=1
            )
            hidden.write_text(text)
            results = platform.run({"softmax.py": SOLUTION})
            self.check(platform, results, valid_results)
            assert "LookupError" in platform.log
            assert "LookupError" not in json.dumps(results)
        finally:
            platform.close()

    def test_a_missing_python_gives_no_score(self, platform: Platform, valid_results: Validate) -> None:
        results = platform.run({"softmax.py": SOLUTION}, ATTNLAB_PYTHON="/nowhere/python")
        self.check(platform, results, valid_results)

    def test_a_machine_without_a_jail_gives_no_score(self, platform: Platform, valid_results: Validate) -> None:
        results = platform.run({"softmax.py": SOLUTION}, ATTNLAB_PYTHON=self.without_landlock(platform.root))
        self.check(platform, results, valid_results)
        assert "no jail" in str(results["output"])

    @staticmethod
    def without_landlock(root: Path) -> str:
        """Return a Python on a kernel without Landlock."""
        python = root / "python"
        words = " ".join(f"'{word}'" for word in without_landlock(sys.executable))
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}:$PYTHONPATH" exec {words} "$@"\n')
        python.chmod(0o755)
        return str(python)

    def test_a_killed_grading_process_gives_no_score(self, data: bytes, valid_results: Validate) -> None:
        platform = Platform(data)
        try:
            process = platform.root / "source" / "grader" / "grading" / "process.py"
            process.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
            self.check(platform, platform.run({"softmax.py": SOLUTION}), valid_results)
        finally:
            platform.close()

    def test_an_autograder_out_of_time_gives_no_score(self, course: Course, valid_results: Validate) -> None:
        """The time is up at once, and grading waits until then."""
        needs_tier("contained")
        platform = Platform(make_autograder(course, Settings(MODULE, 0, GradescopeOptions())))
        try:
            process = platform.root / "source" / "grader" / "grading" / "process.py"
            process.write_text("import signal\nsignal.pause()\n")
            results = platform.run({"softmax.py": SOLUTION})
            self.check(platform, results, valid_results)
            assert "time" in str(results["output"])
        finally:
            platform.close()


class TestZip:
    def test_the_scripts_are_at_the_root_and_executable(self, data: bytes, tmp_path: Path) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in ("setup.sh", "run_autograder"):
                assert archive.getinfo(name).external_attr >> 16 & stat.S_IXUSR
                (tmp_path / name).write_bytes(archive.read(name))
                subprocess.run(["bash", "-n", tmp_path / name], check=True)

    def test_it_contains_only_what_one_module_needs(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
        assert f"course/tests/hidden/test_{MODULE}.py" in names
        assert not any("test_02" in name or "__pycache__" in name for name in names)
        assert [name for name in names if name.startswith("course/solutions")] == [
            f"course/solutions/{MODULE}/softmax.py"
        ]

    def test_the_same_course_gives_the_same_bytes(self, course: Course, data: bytes) -> None:
        assert make_autograder(course, Settings(MODULE, 10, GradescopeOptions())) == data

    def test_the_requirements_are_those_of_the_project(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert set(REQUIREMENTS) <= set(project["dependencies"])
        assert project["optional-dependencies"]["torch"] == [TORCH]

    def test_only_torch_modules_require_torch(self, course: Course, data: bytes) -> None:
        torch = make_autograder(course, Settings("05_torch_attention", 10, GradescopeOptions()))
        found = [zipfile.ZipFile(io.BytesIO(one)).read("requirements.txt").decode() for one in (data, torch)]
        assert [TORCH in text for text in found] == [False, True]

    def test_it_must_give_the_solution_full_marks(self, course_copy: Course) -> None:
        module = course_copy.module(MODULE)
        path = course_copy.hidden_suite(module)
        path.write_text(path.read_text() + "\nraise LookupError\n")
        data = make_autograder(course_copy, Settings(MODULE, 10, GradescopeOptions()))
        with pytest.raises(AutograderError, match="no score"):
            try_autograder(data, course_copy, module)


class TestCommand:
    def test_it_writes_a_zip_that_only_its_owner_can_read(self, attn: Attn, tmp_path: Path) -> None:
        needs_tier("contained")
        done = attn("export", "gradescope", "softmax", "--out", tmp_path / "softmax.zip", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["points"] == 46
        assert stat.S_IMODE((tmp_path / "softmax.zip").stat().st_mode) == 0o600

    def test_a_bundle_cannot_make_an_autograder(self, attn: Attn, bundle: Path) -> None:
        done = attn("export", "gradescope", "softmax", "--out", "x.zip", cwd=bundle)
        assert (done.returncode, (bundle / "x.zip").exists()) == (2, False)


@pytest.mark.parametrize(
    ("backend", "container", "room"),
    [("numpy", 768, 544), ("torch", 768, 192), ("torch", 384, 128), ("numpy", 4096, None), ("torch", None, None)],
)
def test_a_worker_gets_the_memory_that_grading_leaves(backend: str, container: int | None, room: int | None) -> None:
    assert worker_mb(backend, container) == room  # type: ignore[arg-type]


def test_the_leaderboard_has_gpu_speeds(course: Course) -> None:
    report = graded(course, SOLUTION)
    timed = replace(report, timing={**report.timing, **as_timing((Speed("softmax", 0.3, 0.2),))})
    (entry,) = [one for one in results_of(timed, GradescopeOptions())["leaderboard"] if "GPU" in one["name"]]
    assert entry == {"name": "softmax on a GPU, times the built-in", "value": 1.5, "order": "asc"}


@pytest.mark.parametrize(
    ("polynomial", "value"),
    [
        ("0", 0),
        ("5·m·n + 2·m + 5", 5 * 64**2 + 2 * 64 + 5),
        ("(1/2)·n² - 3·n", 64**2 / 2 - 3 * 64),
        ("-n + n³", 262080),
    ],
)
def test_the_leaderboard_has_numbers_for_polynomials(polynomial: str, value: float) -> None:
    assert value_at(polynomial, 64) == value


@pytest.mark.parametrize("text", ["", "it grows like n²", "not measured"])
def test_the_leaderboard_skips_costs_that_are_not_polynomials(text: str) -> None:
    with pytest.raises(ValueError, match="is not part of a polynomial"):
        value_at(text, 64)


@pytest.mark.parametrize(
    ("text", "megabytes"), [("805306368\n", 768), ("max\n", None), ("9223372036854771712\n", None), (None, None)]
)
def test_the_memory_of_a_container_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, megabytes: int | None
) -> None:
    if text is not None:
        (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(
        "grader.platforms.container.job._LIMITS", (str(tmp_path / "nothing"), str(tmp_path / "memory.max"))
    )
    assert container_mb() == megabytes
