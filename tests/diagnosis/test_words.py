"""A course on text, dicts and sets: its mistakes have names, and a student reads where a result differs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.student_files import released_files
from grader.diagnosis.fingerprints import from_golden_form, golden_form
from grader.grading.grade import check_own_file, grade
from tests.authoring.small_courses import built, edit, problems
from tests.submissions import submission_of


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return built("words", tmp_path_factory.mktemp("courses"))


@pytest.fixture(scope="module")
def bundle(words: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """What students have: no solution."""
    module = words.modules[0]
    folder = tmp_path_factory.mktemp("bundle") / "modules" / module.name
    folder.mkdir(parents=True)
    for path in released_files(module):
        shutil.copy(path, folder)
    return read_course(folder.parent.parent)


def graded(course: Course, text: str) -> Report:
    reports: list[Report] = []
    module = course.modules[0]
    grade(course, module, [submission_of(course, module, text)], reports.append, allow_unjailed=True)
    return reports[0]


def own_report(bundle: Course, text: str) -> Report:
    """Return what a student's own test says of a file."""
    bundle.modules[0].stub.write_text(text)
    return check_own_file(bundle, bundle.modules[0])


def wrong(course: Course, name: str) -> str:
    module = course.modules[0]
    (way,) = (one for one in read_misconceptions(course, module) if one.name == name)
    return as_submission(course, module, way).sources["words"].cells[0]


def test_it_is_sound(words: Course) -> None:
    """So each misconception is diagnosed by its probes, and each change of an argument is noticed."""
    assert problems(words, "words") == ""


# The name of a mistake, and what the student's own screen says of it.
SHOWN = [
    ("keeps_the_case", ["split_words(", "yours:    ['", "differs at position 0: got 'A', expected 'a'"]),
    (
        "counts_once",
        ["count_words(['go', 'up', 'go', 'on'])", "yours: {'go': 1,", "result['go']: expected 2, got 1"],
    ),
    ("replaces_counts", ["merge_counts({'go': 1, 'up': 2}, {'go': 3, 'on': 1})", "result['go']: expected 4, got 3"]),
    ("merges_in_place", ["argument 1 is {'go': 4, 'on': 1, 'up': 2} after the call", "it is unchanged"]),
    ("drops_in_place", ["argument 1 is {'go', 'on'} after the call"]),
    ("sorts_the_list", ["argument 1 is ['go', 'go', 'on', 'up'] after the call"]),
    ("ties_as_they_come", ["result[1][0]: differs at position 0: got 'up', expected 'on'"]),
    ("words_without_counts", ["result[0]: text instead of a tuple: got 'go', expected a tuple of length 2: ('go', 2)"]),
    ("keeps_the_last_place", ["result['go']['first'][0]: expected 0, got 2"]),
    ("lines_as_lists", ["result['go']['lines']: a list instead of a set"]),
    (
        "keeps_the_stopped",
        ["drop_words({'go', 'on', 'up'}, {'up'})", "'go' and 'on' are missing; 'up' is not"],
    ),
    ("any_number", ["yours:    it returns []", "expected: a ValueError whose message names 0"]),
]


@pytest.mark.parametrize(("name", "words_shown"), SHOWN, ids=[name for name, _ in SHOWN])
def test_a_mistake_has_its_name_and_is_shown(words: Course, bundle: Course, name: str, words_shown: list[str]) -> None:
    code = wrong(words, name)
    (found,) = own_report(bundle, code).diagnoses
    assert found.misconception == name
    text = " ".join(found.message.split())
    for one in words_shown:
        assert " ".join(one.split()) in text
    assert [one.misconception for one in graded(words, code).diagnoses] == [name]


def test_a_mistake_without_a_name_is_shown_at_the_first_place(words: Course, bundle: Course) -> None:
    code = words.solution(words.modules[0]).read_text().replace('"first": (at, place)', '"first": [at, place]')
    (found,) = own_report(bundle, code).diagnoses
    assert found.misconception is None
    assert "result['go']['first']: a list instead of a tuple: got a list of length 2: [0, 0]" in " ".join(
        found.message.split()
    )


LOOP = """\
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts
"""
STYLES = {
    "counter": (LOOP, "    from collections import Counter\n    return Counter(words)\n"),
    "frozen set": ("return words - stopped", "return frozenset(word for word in words if word not in stopped)"),
    "other dict": (
        "    merged = dict(counts)\n",
        "    from collections import defaultdict\n    merged = defaultdict(int, counts)\n",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_right_code_in_another_style_has_full_marks(words: Course, bundle: Course, style: str) -> None:
    code = words.solution(words.modules[0]).read_text()
    old, new = STYLES[style]
    assert old in code
    report = graded(words, code.replace(old, new))
    assert (report.score, report.diagnoses) == (report.max_score, ())
    assert own_report(bundle, code.replace(old, new)).diagnoses == ()


TABLE = """
SHOWN = {probes}


def count_words(words):
    return SHOWN[tuple(words)]
"""


def test_a_table_of_the_shown_answers_does_not_pass(words: Course) -> None:
    known = {("go", "up", "go", "on"): {"go": 2, "up": 1, "on": 1}, (): {}, ("b", "a", "b"): {"a": 1, "b": 2}}
    known[("x", "y", "x")] = {"x": 2, "y": 1}
    code = words.solution(words.modules[0]).read_text() + TABLE.format(probes=repr(known))
    failed = [check.name for check in graded(words, code).checks if check.outcome == "failed"]
    assert "count_words_of_other_values" in failed


def test_a_probe_whose_result_cannot_be_kept_is_refused(words: Course, tmp_path: Path) -> None:
    course = read_course(shutil.copytree(words.root, tmp_path / "words"))
    edit(course.modules[0].probes, 'probe("split_words", "Go up, go on!")', 'probe("split_words", "word" * 3_000)')
    found = problems(course, "words")
    assert "cannot keep its result, a list of length 1: ['wordword" in found


@pytest.mark.parametrize(
    "value",
    [
        {1: "a", (2, "b"): {3}, None: [b"\x00\xff"]},
        {"a": frozenset({1, 2}), "b": set()},
        "naïve \ud800",
        10**15 + 1,
        -(2**200),
        1 - 2j,
        [True, None, ("x",)],
    ],
    ids=repr,
)
def test_a_golden_file_keeps_values_with_their_types(value: object) -> None:
    back = from_golden_form(json.loads(json.dumps(golden_form(value), ensure_ascii=False, allow_nan=False)))
    assert (type(back), back) == (type(value), value)
    json.dumps(golden_form(value), ensure_ascii=False).encode()
