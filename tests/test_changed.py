"""`make check` runs the tests that can notice a change, the nearest first."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.changed import OF_DATA, OF_MODULE, SECONDS, SLOW, changed_files, chosen, data_tests, distances, seconds
from tests.conftest import DATA, ROOT


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("grader/core/compare.py", "tests/core/test_compare.py"),
        ("cli/student/hint.py", "tests/cli/student/test_hint.py"),
        ("tests/core/test_compare.py", "tests/core/test_compare.py"),
        ("tests/quick.py", "tests/diagnosis/test_pairs.py"),
        ("grader/pages/templates/report.html", "tests/pages/test_report_page.py"),
        ("tests/data/styles/01_softmax.py", "tests/diagnosis/test_styles.py"),
        ("modules/04_masks/README.md", "tests/modules/test_lesson_masks.py"),
        ("solutions/04_masks/masks.py", "tests/modules/test_claims.py"),
        ("docs/student.md", "tests/acceptance/docs/test_blocks.py"),
    ],
)
def test_a_change_is_noticed(changed: str, test: str) -> None:
    assert test in chosen([changed]).run


def test_a_hidden_suite_has_the_tests_of_its_module() -> None:
    name = "tests/modules/test_shown_shapes.py::test_a_table_of_the_shown_answers_fails[06_multi_head_attention]"
    assert name in data_tests("tests/hidden/test_06_multi_head_attention.py")
    assert name in chosen(["tests/hidden/test_06_multi_head_attention.py"]).run


def test_the_nearest_come_first_and_fit_into_the_time() -> None:
    choice = chosen(["grader/core/report.py"])
    far = distances(["grader/core/report.py"])
    assert choice.run[0] == "tests/core/test_report.py"
    assert sum(map(seconds, choice.run)) <= SECONDS
    assert choice.left, "every part of the grader makes or reads reports"
    assert far[choice.run[0]] == 0 < far[choice.left[-1]]


def test_one_file_is_run_even_if_it_takes_long() -> None:
    assert chosen(["tests/sandbox/jail/test_jail.py"]).run[0] == "tests/sandbox/jail/test_jail.py"


def test_nothing_changed_needs_nothing() -> None:
    assert chosen([]).run == ()


def test_all_data_has_tests() -> None:
    tables = data_tests("tests/data/README.md")
    for path in DATA.iterdir():
        if path.name not in ("__pycache__", "README.md"):
            own = data_tests(f"tests/data/{path.name}/x.py")
            assert own > tables, f"tests/changed.py has no tests of {path.name}"
    named = [test for tests in (*OF_DATA.values(), OF_MODULE) for test in tests if "{slug}" not in test]
    missing = [test for test in (*named, *SLOW) if not (ROOT / test.partition("::")[0]).is_file()]
    assert missing == [], "tests/changed.py names files that are gone"


def test_git_says_what_changed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    git("init", "-q")
    (tmp_path / "kept.py").write_text("1\n")
    (tmp_path / "edited.py").write_text("1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    assert changed_files("HEAD", tmp_path) == []
    (tmp_path / "edited.py").write_text("2\n")
    (tmp_path / "new.py").write_text("1\n")
    assert changed_files("HEAD", tmp_path) == ["edited.py", "new.py"]
