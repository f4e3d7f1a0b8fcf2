"""Probes that are scripts: several methods of one object, alike in the proof, in grading and in a bundle."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.student_files import released_files
from grader.diagnosis.outcome import Side
from grader.diagnosis.probe import probe, step
from grader.diagnosis.reproducer import paste
from grader.diagnosis.wording import call_of
from grader.grading.grade import check_own_file, grade
from grader.sandbox.protocol.stand_ins import object_of, result_of, sent_in_place
from grader.sandbox.worker.objects import StudentObjects
from grader.sandbox.worker.probe_operation import probe as probed
from tests.authoring.small_courses import built, edit, problems


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return built("script", tmp_path_factory.mktemp("courses"))


def test_it_is_sound(script: Course) -> None:
    assert problems(script, "log") == ""


@pytest.mark.exhaustive
def test_every_wrong_way_gets_its_name_in_grading_and_in_a_bundle(script: Course, tmp_path: Path) -> None:
    module = script.modules[0]
    folder = tmp_path / "modules" / module.name
    folder.mkdir(parents=True)
    for path in released_files(module):
        shutil.copy(path, folder)
    bundle = read_course(tmp_path)
    for way in read_misconceptions(script, module):
        submission = as_submission(script, module, way)
        reports: list[Report] = []
        grade(script, module, [submission], reports.append, allow_unjailed=True)
        bundle.modules[0].stub.write_text(submission.sources["log"].cells[0])
        reports.append(check_own_file(bundle, bundle.modules[0]))
        assert [[one.misconception for one in report.diagnoses] for report in reports] == [[way.name]] * 2
        if way.name == "mean_of_the_numbers":  # the visible check fails, so the screen shows the script
            assert "On one object, after `append`: Log(2).mean" in reports[1].diagnoses[0].message
            assert reports[1].diagnoses[0].paste == ""  # without arguments, it could be a property


def test_a_wrong_way_that_only_a_script_shows(script: Course, tmp_path: Path) -> None:
    course = read_course(shutil.copytree(script.root, tmp_path / "course"))
    probes = course.modules[0].probes
    edit(
        probes,
        'before=[step("append", FIRST), step("append", SECOND)]),\n    probe("Log.mean", init=(2,), before',
        "before",
    )
    text = probes.read_text().replace('step("append", FIRST), step("append", SECOND)', 'step("append", FIRST)')
    probes.write_text(text)
    assert "the misconception forgets_earlier_rows is not diagnosed" in problems(course, "log")


def test_a_script_does_not_run_on_a_device() -> None:
    with pytest.raises(TypeError, match="mean: a script cannot run on a device"):
        probe("mean", before=[step("append", 1)], on_device=True)


def test_a_script_of_functions_is_described() -> None:
    first, second = step("count", None, 1), step("count", result_of(0, part=0), 20)
    assert call_of(probe("count", result_of(1, part=0), 300, before=[first, second])).startswith(
        "After `count`, `count`: count"
    )


def test_a_short_script_can_be_pasted() -> None:
    cache = probe("Log.near", 2, init=(3,), before=[step("append", [1.0, 2.0])])
    assert paste(cache, Side.VALUE).splitlines() == ["made = Log(3)", "made.append([1., 2.])", "made.near(2)"]
    assert paste(cache, Side.VALUE, alone=False) == ""


class Tally:
    """A class of the same file, for functions that get an object of it."""

    def __init__(self, first: int) -> None:
        self.total = first


def add(tally: Tally, number: int) -> int:
    tally.total += number
    return tally.total


def test_a_worker_makes_the_objects_of_a_script() -> None:
    objects = StudentObjects()
    objects.modules = SimpleNamespace(main=SimpleNamespace(add=add, Tally=Tally), filenames=set())  # type: ignore[assignment]
    tally = object_of("Tally", 100)
    sent = sent_in_place(tally, [tally])
    call = [0, [sent, 20], {}, None, None, [["add", [sent, 1], {}]], [tally.data], ""]
    missing = [0, [sent, 20], {}, None, None, [], [["Missing", tally.data[1]]], ""]
    result, again, failed = probed(objects, {"path": ["add"], "objects": [], "calls": [call, call, missing]})
    assert (result["value"], again["value"]) == (121, 121)
    assert result["changed"] == {}, "an object of the student's own may change"
    assert failed["step"]


class Own:
    """An object that cannot be sent."""

    def __init__(self, total: int) -> None:
        self.total = total


def test_a_worker_makes_a_script_of_functions() -> None:
    def begin(state: Own | None, number: int) -> tuple[Own, int]:
        made = Own((state.total if state else 0) + number)
        return made, made.total

    objects = StudentObjects()
    objects.modules = SimpleNamespace(main=SimpleNamespace(begin=begin), filenames=set())  # type: ignore[assignment]
    state = result_of(0, part=0).sent
    calls = [[0, [state, 5], {}, None, None, [["begin", [None, 2], {}], ["begin", [state, 90], {}]], [], ""]]
    (result,) = probed(objects, {"path": ["begin"], "objects": [], "calls": calls})
    assert result["value"][1] == 7
    assert result["changed"] == {}


def silence(one: Own) -> int:
    """Change an object, and say nothing about it."""
    before, one.total = one.total, 0
    return before


def test_an_attribute_of_the_first_argument_is_part_of_the_outcome() -> None:
    objects = StudentObjects()
    objects.modules = SimpleNamespace(main=SimpleNamespace(silence=silence, Own=Own), filenames=set())  # type: ignore[assignment]
    one = object_of("Own", 7)
    calls = [[0, [sent_in_place(one, [one])], {}, None, None, [], [one.data], "total"]]
    (result,) = probed(objects, {"path": ["silence"], "objects": [], "calls": calls})
    assert result["value"] == {"value": 7, "total": 0}
