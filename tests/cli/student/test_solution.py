"""`attn solution`, and `attn release --solutions` that publishes one."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.course.module import read_text
from grader.course.reference import is_published_name, reference_code
from tests.cli.conftest import Attn
from tests.conftest import ROOT

SOLUTION = ROOT / "solutions" / "01_softmax" / "softmax.py"
LINE = "shifted = x - x.max(axis=axis, keepdims=True)  # largest score of each slice is now 0"


def complete(attn: Attn, folder: Path, more: str = "") -> None:
    (folder / "modules" / "01_softmax" / "softmax.py").write_text(SOLUTION.read_text() + more)
    assert attn("complete", "softmax", cwd=folder).returncode == 0


@pytest.fixture(scope="module")
def published(attn: Attn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an instructor hands out."""
    folder = tmp_path_factory.mktemp("release") / "solutions1"
    done = attn("release", "--solutions", "softmax", "--to", folder)
    assert done.returncode == 0, done.stderr
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")] == ["published/01_softmax.txt"]
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_a_published_solution_is_taken_and_shown(
    attn: Attn, bundle: Path, published: Path, tmp_path: Path, zipped: bool
) -> None:
    before = attn("solution", "softmax", cwd=bundle)
    assert before.returncode == 2
    assert "first finish it yourself: attn complete softmax" in before.stderr
    assert "is not published yet" in attn("solution", "softmax", "--anyway", cwd=bundle).stderr
    source = Path(shutil.make_archive(str(tmp_path / "week1"), "zip", published)) if zipped else published
    done = attn("update", source, cwd=bundle)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "published/01_softmax.txt: read it with `attn solution 01_softmax`\n"
    assert attn("solution", "softmax", cwd=bundle).returncode == 2  # still: first yourself
    shown = attn("solution", "softmax", "--anyway", "--no-costs", cwd=bundle)
    assert LINE in shown.stdout
    assert attn("status", cwd=bundle).stdout.splitlines()[2].startswith("01_softmax               not started")


@pytest.mark.exhaustive
def test_the_costs_are_compared(attn: Attn, bundle: Path, published: Path) -> None:
    attn("update", published, cwd=bundle)
    slow = (
        "\n\ndef log_softmax(x, axis=-1):\n    return np.log(softmax(x, axis=axis)) * 1.0 if False else _log(x, axis)\n"
    )
    slow = "\n\n_log = log_softmax\n" + slow
    complete(attn, bundle, slow)
    shown = attn("solution", "softmax", cwd=bundle).stdout
    softmax, log_softmax = shown.partition("  softmax\n")[2].split("  log_softmax\n")[:2]
    assert softmax.count(", the same") == 3
    assert "    rounds of Python loops\n      yours      3\n" in log_softmax
    assert "reference  2\n" in log_softmax


def test_a_full_course_shows_it_after_completing(attn: Attn, course_copy: Course) -> None:
    refused = attn("solution", "softmax", "--anyway", cwd=course_copy.root)
    assert refused.returncode == 2
    complete(attn, course_copy.root)
    shown = attn("solution", "softmax", "--no-costs", cwd=course_copy.root).stdout
    assert LINE in shown
    assert "SOLUTION" not in shown


def test_a_bundle_cannot_publish(attn: Attn, bundle: Path, tmp_path: Path) -> None:
    done = attn("release", "--solutions", "softmax", "--to", tmp_path / "out", cwd=bundle)
    assert done.returncode == 3
    assert "it has no solutions to publish" in done.stderr
    assert attn("release", "--solutions", "--bundle", "softmax", "--to", tmp_path / "out").returncode == 2


def test_the_json_names_each_file_once(attn: Attn, tmp_path: Path) -> None:
    done = attn("release", "--solutions", "softmax", "masks", "01", "--json", "--to", tmp_path / "out")
    assert [entry["module"] for entry in json.loads(done.stdout)] == ["01_softmax", "04_masks"]


def test_the_reference_is_code_with_comments(course: Course) -> None:
    for module in course.modules:
        code = reference_code(read_text(course.solution(module)))
        names: dict[str, object] = {}
        if module.backend == "numpy":
            exec(compile(code, module.name, "exec"), names)
            assert set(course.api(module).names) <= names.keys()
        documented = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert [node.name for node in documented if ast.get_docstring(node)] == []
        assert "__main__" not in code
        assert "  # " in code


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("published/01_softmax.txt", True),
        ("published/01_softmax.py", False),
        ("published/../x.txt", False),
        ("published/a/b.txt", False),
        ("modules/01_softmax.txt", False),
    ],
)
def test_only_published_names_are_taken(name: str, expected: bool) -> None:
    assert is_published_name(name) == expected
