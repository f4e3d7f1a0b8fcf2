"""A class of 200 with ten malicious submissions: in one run, a part of it killed and resumed, and its feedback."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from grader.classroom.class_list import read_class
from grader.classroom.store.files import FileStore
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.pages.feedback_pages import write_feedback
from grader.pages.page_leaks import PageSearch
from grader.submission.submission import Source, Submission
from tests.classroom.poison import HONEST, POISON, write_class
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.pages.made import read_page
from tests.pages.test_feedback import own_lines
from tests.pages.test_hostile import assert_harmless
from tests.waiting import wait_until

pytestmark = pytest.mark.exhaustive  # classes of two hundred
SIZE, EVERY = 200, 3
SOME = len(range(0, SIZE, EVERY))


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of the class, and the kind of each submission."""
    folder = tmp_path_factory.mktemp("class")
    return folder, write_class(folder, SIZE)


@pytest.fixture(scope="module")
def undisturbed(kinds: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of an uninterrupted run."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run(command(kinds[0], out), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return out


def command(folder: Path, out: Path, *more: str) -> list[str]:
    return [EXECUTABLE, "grade", str(folder), "--to", str(out), "--allow-unjailed", *more]


def verdicts(out: Path) -> dict[str, Any]:
    """Return the text of every report, without its timing."""
    found = {}
    for path in sorted((out / "01_softmax").glob("*.json")):
        text = path.read_text()
        timing = json.dumps(json.loads(text)["timing"], indent=1).replace("\n", "\n ")
        assert text.count(timing) == 1
        found[path.stem] = text.replace(timing, "")
    return found


def some_of(folder: Path, to: Path) -> Path:
    """Copy every third submission of a class: three of them are malicious."""
    for one in sorted(folder.iterdir())[::EVERY]:
        shutil.copytree(one, to / one.name)
    return to


def alone(course: Course, source: str) -> Report:
    reports: list[Report] = []
    submission = Submission("x", "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (source,), False)})
    grade(course, course.module("softmax"), [submission], reports.append, allow_unjailed=True)
    return reports[0]


def test_ten_malicious_submissions_do_not_affect_the_others(
    course: Course, kinds: tuple[Path, dict[str, str]], undisturbed: Path
) -> None:
    honest = {kind: alone(course, source).as_json() for kind, source in HONEST.items()}
    assert len({report["score"] for report in honest.values()}) > 2  # otherwise any report would pass
    for name, kind in kinds[1].items():
        data = json.loads((undisturbed / "01_softmax" / f"{name}.json").read_text())
        if kind in POISON:
            assert data["status"] in ("graded", "not_importable"), (kind, data["status"])
            assert data["score"] < data["max_score"], kind
        else:
            assert data | {"submission": "", "timing": ""} == honest[kind] | {"submission": "", "timing": ""}, name
    assert sum(kind in POISON for kind in kinds[1].values()) == 10


def test_a_killed_and_resumed_run_gives_the_same_reports(
    kinds: tuple[Path, dict[str, str]], undisturbed: Path, tmp_path: Path
) -> None:
    part = some_of(kinds[0], tmp_path / "part")
    out = tmp_path / "out"
    running = subprocess.Popen(command(part, out), cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_until("half of them", lambda: len(list((out / "01_softmax").glob("*.json"))) >= SOME // 2, by=running)
        children = psutil.Process(running.pid).children(recursive=True)
    finally:
        running.kill()
        running.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []
    assert not (out / "grades.csv").exists()  # there is no class list of a part of a class
    before = {path.name: path.stat().st_mtime_ns for path in (out / "01_softmax").glob("*.json")}
    done = subprocess.run(command(part, out, "--resume"), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    kept = int(done.stderr.split(f" of {SOME} are in")[0].rsplit("\n", 1)[-1])
    assert kept >= SOME // 2 - 1  # at most one report was written without its journal line
    after = {path.name: path.stat().st_mtime_ns for path in (out / "01_softmax").glob("*.json")}
    assert sum(before[name] == after[name] for name in before) >= kept  # nothing was graded twice
    expected = verdicts(undisturbed)
    assert verdicts(out) == {path.name: expected[path.name] for path in part.iterdir()}
    assert len((out / "grades.csv").read_text().splitlines()) == SOME + 1


def test_no_page_of_its_feedback_leaks_or_runs_anything(course: Course, undisturbed: Path, tmp_path: Path) -> None:
    found = read_class(FileStore(undisturbed))
    made = write_feedback(course, found, tmp_path, unguessable=False)
    assert (len(made.links), made.problems) == (SIZE, ())
    search = PageSearch(course)
    files = {link.id: tmp_path / link.file for link in made.links}
    for mark, report in found.reports():
        text = files[mark.id].read_text()
        assert list(search.leaks(text, report, own_lines(report))) == []
        assert_harmless(read_page(text), text)
