"""The shape of the project: who may import whom, and what start-up may load."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.import_graph import problems, read_graph

# Each package, and the packages of this project it may import.
ALLOWED = {
    "cli": {"cli", "grader"},
    "grader": {"grader"},
    "modules": {"grader", "cli"},  # of cli only the package of their course: see test_engine_knows_no_course.py
    "solutions": set(),
    "tests/hidden": {"grader"},
}
OURS = {"cli", "grader", "modules", "solutions", "tests"}


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add((node.module or "").partition(".")[0])
    return names


ENTRIES = 14  # of grader/: its thirteen packages and __init__.py


def test_every_import_keeps_the_layers() -> None:
    assert list(problems(read_graph())) == []
    assert len([path for path in (ROOT / "grader").iterdir() if path.name != "__pycache__"]) <= ENTRIES


@pytest.mark.parametrize(
    ("importer", "imported", "words"),
    [
        ("grader.core.report", "grader.grading.grade", "core is below grading"),
        ("grader.sandbox.protocol.wire", "grader.sandbox.session", "sandbox.protocol is below sandbox"),
        ("grader.classroom.batch", "grader.workspace.progress", "classroom is below workspace"),
        ("grader.authoring.build", "grader.classroom.roster", "authoring and classroom are kept apart"),
        ("grader.grading.judge", "grader.sandbox.worker.worker", "runs beside student code"),
        ("grader.core.report", "cli.main", "grader/ imports nothing of cli/"),
        ("grader.course.module", "grader.course.course", "circle: "),
    ],
)
def test_a_forbidden_import_is_found(importer: str, imported: str, words: str) -> None:
    graph = dict(read_graph())
    graph[importer] = graph[importer] | {imported}
    assert any(words in problem for problem in problems(graph))


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_go_in_one_direction(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        assert imports(path) & OURS <= ALLOWED[package], path


def test_the_grader_neither_prints_nor_knows_click() -> None:
    for path in (ROOT / "grader").rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert "print" not in calls, path
        assert "click" not in imports(path), path


def test_nothing_of_ours_unpickles() -> None:
    for package in ("cli", "grader"):
        for path in (ROOT / package).rglob("*.py"):
            assert not imports(path) & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path


def test_every_file_says_what_it_is_and_stays_small() -> None:
    for package in ("cli", "grader"):
        for path in (ROOT / package).rglob("*.py"):
            first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
            assert first, f"{path} has no docstring"
            assert len(path.read_text().splitlines()) <= 400, path
