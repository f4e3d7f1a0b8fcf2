"""Which module a file is for, and what is said if that is not clear."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from grader.course.course import Course
from grader.submission.finder import find_submissions
from grader.submission.identity import Identity
from grader.submission.module_names import CONTENT, EXACT, FOLDER, REQUESTED, SIMILAR, ModuleNames
from tests.conftest import write

SOFTMAX = "def softmax(x): ...\ndef log_softmax(x): ...\ndef softmax_with_temperature(x, t): ...\n"
SHARED = "def scaled_dot_product_attention(Q, K, V): ...\n"  # of 02 and 03
HELPER = "def helper(): ...\n"


@pytest.mark.parametrize(
    ("path", "text", "module", "fit"),
    [
        ("ana/softmax.py", "", "01_softmax", EXACT),
        ("ana/01_softmax.ipynb", "", "01_softmax", EXACT),
        ("ana/Softmax.py", "", "01_softmax", SIMILAR),
        ("ana/softmax (1).py", "", "01_softmax", SIMILAR),
        ("ana/softmax(2).py", "", "01_softmax", SIMILAR),
        ("ana/softmax-1.py", "", "01_softmax", SIMILAR),
        ("ana/softmax - Copy.py", "", "01_softmax", SIMILAR),
        ("ana/softmax - Copy (2).py", "", "01_softmax", SIMILAR),
        ("ana/Copy of softmax.py", "", "01_softmax", SIMILAR),
        ("ana/01-Softmax.py", "", "01_softmax", SIMILAR),
        ("ana/Loop Attention.py", "", "02_loop_attention", SIMILAR),
        ("ana/multi-head-attention-3.py", "", "06_multi_head_attention", SIMILAR),
        ("ana/01_softmax/answer.py", HELPER, "01_softmax", FOLDER),
        ("ana/01_softmax/answer.py", SHARED + SOFTMAX, "01_softmax", FOLDER),
        ("ana/hw1.py", SOFTMAX, "01_softmax", CONTENT),
        ("ana/hw1.py", "def softmax(x):\n    broken(\n", "01_softmax", CONTENT),  # the only module with this name
        ("ana/hw1.py", SOFTMAX + HELPER + SHARED, "01_softmax", CONTENT),  # all of 01, a part of others
    ],
)
def test_module_is_found(course: Course, path: str, text: str, module: str, fit: int) -> None:
    guess = ModuleNames(course).guess(PurePosixPath(path), text.encode)
    assert guess.module is not None
    assert (guess.module.name, guess.fit) == (module, fit)


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("ana/hw1.py", HELPER, "defines no function of any module"),
        ("ana/hw1.py", SHARED, "has the functions of 02_loop_attention and 03_attention"),
        ("ana/hw1.ipynb", "no json", "defines no function of any module"),
        ("ana/softmax_final_v2.py", HELPER, "defines no function of any module"),
        (
            "ana/02_loop_attention/hw.py",
            SOFTMAX,
            "is in a folder of 02_loop_attention, but has the functions of 01_softmax",
        ),
    ],
)
def test_unclear_module_is_said_with_the_next_step(course: Course, path: str, text: str, words: str) -> None:
    guess = ModuleNames(course).guess(PurePosixPath(path), text.encode)
    assert guess.module is None
    assert words in guess.problem
    assert guess.problem.endswith("Use --module, or --map")


def test_requested_module_is_for_files_without_a_name(course: Course) -> None:
    names = ModuleNames(course, course.module("masks"))
    assert names.guess(PurePosixPath("ana/hw.py"), HELPER.encode).fit == REQUESTED
    named = names.guess(PurePosixPath("ana/Softmax.py"), HELPER.encode)
    assert named.module is not None
    assert named.module.name == "01_softmax"


def test_helper_beside_graded_work_is_not_skipped_work(course: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/softmax.py": SOFTMAX, "ana/utils.py": HELPER, "ana/part.py": SHARED, "ben/utils.py": HELPER})
    lines = {
        Path(line.path).relative_to(tmp_path).as_posix(): line.fate
        for line in find_submissions(course, [tmp_path]).lines
    }
    assert lines == {
        "ana/softmax.py": "graded",
        "ana/utils.py": "not work",
        "ana/part.py": "skipped",  # it may be ana's work for another module
        "ben/utils.py": "skipped",  # nothing else is from ben
    }


def test_helper_in_the_folder_of_one_student(course: Course, tmp_path: Path) -> None:
    write(tmp_path / "ana", {"softmax.py": SOFTMAX, "utils.py": HELPER, "ben.py": HELPER})

    def resolve(who: Identity) -> str | None:
        return who.label if who.label == "ben" else None

    found = find_submissions(course, [tmp_path / "ana"], resolve=resolve)
    fates = {Path(line.path).name: line.fate for line in found.lines}
    # A file with the name of a person on the roster may be that person's work.
    assert fates == {"softmax.py": "graded", "utils.py": "not work", "ben.py": "skipped"}
