"""The student's bundle: it has the right files, leaks nothing, and the commands of its README work."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from docs.figures.all_figures import FIGURES
from grader.authoring.bundle import BundleError, bundle_leaks, make_bundle
from grader.course.bundle_texts import readme, tasks
from grader.course.course import Course, read_course
from grader.course.course_file import About, read_course_file
from grader.course.engine import WHEEL
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def bundle(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the first module, made as an instructor makes it."""
    return make_bundle(course, course.modules[:1], tmp_path_factory.mktemp("release") / "week1")


def test_a_bundle_has_exactly_the_files_a_student_needs(bundle: Path) -> None:
    files = {str(path.relative_to(bundle)) for path in bundle.rglob("*") if path.is_file()}
    module = "modules/01_softmax"
    names = ["README.md", "checks.py", "golden.json", "hints.toml", "module.toml", "probes.py", "softmax.py"]
    names += ["before-you-start.md", *(f"{name}.svg" for name in FIGURES["01_softmax"])]
    beside = {"README.md", "AGENTS.md", "course.toml", ".vscode/tasks.json", "constraints.txt", WHEEL}
    assert files == {*beside, *(f"{module}/{name}" for name in names)}
    assert read_course(bundle).is_bundle


def test_a_bundle_has_the_names_and_views_of_its_course_and_no_rule_of_a_class(course: Course, bundle: Path) -> None:
    ours, theirs = read_course_file(course.root), read_course_file(bundle)
    assert (theirs.about, theirs.views, theirs.rules) == (ours.about, ours.views, {})
    assert (bundle / "README.md").read_text().startswith(f"# {ours.about.title}\n\n{ours.about.sentence} ")
    assert " ".join((bundle / "AGENTS.md").read_text().split()).count(ours.about.learner) == 1


def test_a_bundle_contains_no_line_of_a_solution_or_hidden_suite(course: Course, bundle: Path) -> None:
    assert list(bundle_leaks(course, bundle)) == []
    secrets = [course.solution(course.modules[0]), course.hidden_suite(course.modules[0])]
    lines = {line.strip() for path in secrets for line in path.read_text().splitlines() if len(line.strip()) >= 40}
    shown = (bundle / "modules" / "01_softmax" / "softmax.py").read_text()
    secret = {line for line in lines if line not in shown}
    assert len(secret) > 50
    with zipfile.ZipFile(bundle / WHEEL) as wheel:
        texts = [wheel.read(name).decode("utf-8", "replace") for name in wheel.namelist()]
    texts += [path.read_text() for path in bundle.rglob("*") if path.is_file() and path.suffix != ".whl"]
    for text in texts:
        assert not {line.strip() for line in text.splitlines()} & secret


def test_the_readme_says_what_torch_modules_need(course: Course) -> None:
    constraints = (ROOT / "constraints.txt").read_text()
    both = readme(About(), course.modules, WHEEL, constraints)
    assert "python -m pip install -c constraints.txt torch\n" in both
    assert "`07_gpu_path`, `09_kv_cache`, `12_transformer` need PyTorch" in both
    assert f"graded with version {re.findall('^torch==(.*)$', constraints, re.MULTILINE)[0]}." in both
    assert "orch" not in readme(About(), course.modules[:1], WHEEL, constraints).replace("torch_attention", "")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("  Look at: softmax.py, near line 147", ("softmax.py", "147")),
        ("  Look at: softmax.py, line 36", ("softmax.py", "36")),
        ("               softmax raised NotImplementedError (softmax.py, line 36)", ("softmax.py", "36")),
        ("  import raised SyntaxError: '(' was never closed (softmax.py, line 4)", ("softmax.py", "4")),
        ("5 of 5 visible checks pass.", None),
    ],
)
def test_the_problem_matcher_finds_the_line(line: str, found: tuple[str, str] | None) -> None:
    (matchers,) = [task["problemMatcher"] for task in json.loads(tasks())["tasks"][:1]]
    patterns = [matcher["pattern"] for matcher in matchers]
    matched = [(one, match) for one in patterns if (match := re.search(one["regexp"], line))]
    assert [(match[one["file"]], match[one["line"]]) for one, match in matched] == ([found] if found else [])


LEAKS = {
    "a solution": lambda course, bundle: shutil.copytree(course.root / "solutions", bundle / "solutions"),
    "a hidden suite": lambda course, bundle: shutil.copytree(course.root / "tests" / "hidden", bundle / "hidden"),
    "a solution under another name": lambda course, bundle: shutil.copy(
        course.solution(course.modules[0]), bundle / "notes.txt"
    ),
    "a hidden suite under another name": lambda course, bundle: shutil.copy(
        course.hidden_suite(course.modules[0]), bundle / "modules" / "extra.md"
    ),
    "a hidden suite with its names changed": lambda course, bundle: (
        bundle / "modules" / "01_softmax" / "checks.py"
    ).write_text(course.hidden_suite(course.modules[0]).read_text().replace("def test_", "def old_test_")),
    "a solution as comments": lambda course, bundle: (bundle / "modules" / "01_softmax" / "checks.py").write_text(
        "\n".join(f"#   {line}" for line in course.solution(course.modules[0]).read_text().splitlines())
    ),
    "a solution in the lesson": lambda course, bundle: (bundle / "modules" / "01_softmax" / "README.md").write_text(
        course.solution(course.modules[0]).read_text()
    ),
    "a solved stub": lambda course, bundle: shutil.copy(
        course.solution(course.modules[0]), bundle / "modules" / "01_softmax" / "softmax.py"
    ),
    "misconceptions": lambda course, bundle: shutil.copy(
        course.root / "solutions" / "01_softmax" / "misconceptions.py", bundle
    ),
    "a register": lambda course, bundle: shutil.copy(
        course.root / "solutions" / "01_softmax" / "register.toml", bundle
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found_by_content(course: Course, bundle: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(bundle, tmp_path / "copy")
    LEAKS[name](course, copy)
    assert list(bundle_leaks(course, copy))


def test_a_wheel_built_from_a_dirty_folder_is_found(course: Course, bundle: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bundle, tmp_path / "copy")
    with zipfile.ZipFile(copy / WHEEL, "a") as wheel:
        wheel.write(course.solution(course.modules[0]), "attnlab-1.0.0.dist-info/METADATA.txt")
    assert any("METADATA.txt contains a line of the solution" in leak for leak in bundle_leaks(course, copy))


def test_a_stub_that_was_edited_is_not_released(course_copy: Course, tmp_path: Path) -> None:
    module = course_copy.modules[0]
    shutil.copy(ROOT / "constraints.txt", course_copy.root)
    shutil.copy(course_copy.solution(module), module.stub)
    with pytest.raises(BundleError, match="is not what the solution generates"):
        make_bundle(course_copy, [module], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_wheel_with_another_file_is_found(course: Course, bundle: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(bundle, tmp_path / "copy")
    with zipfile.ZipFile(copy / WHEEL, "a") as wheel:
        wheel.write(course.solution(course.modules[0]), "grader/softmax.py")
    assert any("grader/softmax.py" in leak for leak in bundle_leaks(course, copy))


@pytest.mark.exhaustive
def test_a_course_that_leaks_makes_no_bundle(tmp_path: Path) -> None:
    root = tmp_path / "course"
    for name in ("modules", "solutions", "tests/hidden", "cli", "grader"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "constraints.txt"):
        shutil.copy(ROOT / name, root)
    leaky = read_course(root)
    solution, checks = leaky.solution(leaky.modules[0]), leaky.modules[0].checks
    solution.write_text(
        solution.read_text().replace(
            "    exps = np.exp(shifted)", "    planted = whole_secret + other_secret\n    exps = np.exp(shifted)"
        )
    )
    checks.write_text(checks.read_text() + "\nplanted = whole_secret + other_secret\n")
    with pytest.raises(BundleError, match="planted = whole_secret"):
        make_bundle(leaky, leaky.modules, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["course"]


def test_a_folder_that_is_not_empty_is_not_changed(course: Course, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(BundleError, match="not empty"):
        make_bundle(course, course.modules, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "precious"
