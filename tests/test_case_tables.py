"""Every case of tests/data/ is in the table of its family, with a verdict."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.case_tables import written
from tests.cases import FAMILIES, FOLDER, cases

OTHERS = {"cheat_bases", "courses"}  # no submissions


def test_the_tables_are_true() -> None:
    wrong = [path for path, text in written() if (FOLDER / path).read_text(encoding="utf-8") != text]
    assert wrong == [], "python -m tests.case_tables writes them"


def test_every_folder_is_a_family() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == FAMILIES.keys() | OTHERS


@pytest.mark.parametrize("family", FAMILIES)
def test_every_case_has_a_name_of_its_own_and_a_verdict(family: str) -> None:
    found = cases(family)
    assert found
    twice = [name for name, count in Counter((case.group, case.name) for case in found).items() if count > 1]
    assert twice == []
    assert [case.name for case in found if not case.expected] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_no_submission_has_two_names(family: str) -> None:
    names: dict[tuple[str, ...], list[str]] = {}
    for case in cases(family):
        code = case.cells if case.notebook else (ast.dump(ast.parse(case.code)),)
        names.setdefault((case.module, *code), []).append(case.name)
    assert [same for same in names.values() if len(same) > 1] == []


def test_every_small_course_is_in_the_table_of_courses() -> None:
    text = (FOLDER / "courses" / "README.md").read_text(encoding="utf-8")
    assert [
        path.name for path in (FOLDER / "courses").iterdir() if path.is_dir() and f"| {path.name} |" not in text
    ] == []
