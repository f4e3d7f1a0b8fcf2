"""Two tiny courses, a cache and sums in tiles: each is sound, and each goes red for the reasons it was made for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.authoring.build import build_module
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.authoring.soundness import check_module
from grader.core.report import CostResult, Report
from grader.course.course import Course, read_course
from grader.grading.grade import grade
from grader.submission.submission import Source
from tests.conftest import DATA


@pytest.fixture(params=["cache", "tiles"])
def course_of(request: pytest.FixtureRequest, tmp_path: Path) -> Course:
    return copy_of(request.param, tmp_path)


@pytest.fixture
def cache(tmp_path: Path) -> Course:
    return copy_of("cache", tmp_path)


@pytest.fixture
def tiles(tmp_path: Path) -> Course:
    return copy_of("tiles", tmp_path)


def copy_of(name: str, folder: Path) -> Course:
    return read_course(shutil.copytree(DATA / "courses" / name, folder / name))


def problems(course: Course) -> str:
    """Build and check the only module; return its problems as one text."""
    course = read_course(course.root)
    (module,) = course.modules
    build_module(course, module)
    return "\n".join(problem.what for problem in check_module(course, module).problems)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def graded(course: Course, name: str) -> tuple[list[str], dict[str, CostResult]]:
    """Grade a misconception as a submission. Return its lines and the costs that fail, by function and meter."""
    (module,) = course.modules
    (wrong,) = (one for one in read_misconceptions(course, module) if one.name == name)
    submission = as_submission(course, module, wrong)
    reports: list[Report] = []
    grade(course, module, [submission], reports.append, allow_unjailed=True)
    (report,) = reports
    source = submission.sources[module.slug]
    assert isinstance(source, Source)
    lines = "\n".join(source.cells).splitlines()
    return lines, {cost.name: cost for cost in report.costs if cost.verdict == "fail"}


def test_a_tiny_course_is_sound(course_of: Course) -> None:
    assert problems(course_of) == ""


@pytest.mark.parametrize(
    ("course", "name", "cost", "words", "line"),
    [
        ("cache", "recomputes", "KeyCache.update mul", "n·m·d is more than", "return self.tokens[:end] @ self.weight"),
        ("cache", "concatenates", "KeyCache.update work", "n·d is more than m·d", "np.concatenate([self.keys"),
        ("cache", "concatenates", "KeyCache.update mem", "n·d is more than", "np.concatenate([self.keys"),
        ("cache", "recomputes", "decode mul", "n²·m·d is more than", "return self.tokens[:end] @ self.weight"),
        ("tiles", "all_keys_at_once", "tiled_sum mem", "n·b is more than", "scores = Q[i : i + block] @ K.T"),
        ("tiles", "keys_up_to_the_tile", "causal_sum mem", "n·b is more than", "scores = Q[i : i + block] @ K[: i"),
        (
            "tiles",
            "tiles_above_the_diagonal",
            "causal_sum mul",
            "expected (1/2)·n²·d, found 1·n²·d",
            "@ K[j : j + block].T",
        ),
    ],
)
def test_an_expensive_way_fails_its_limit_with_the_line(
    tmp_path: Path, course: str, name: str, cost: str, words: str, line: str
) -> None:
    lines, failed = graded(copy_of(course, tmp_path), name)
    assert words in failed[cost].message
    at = failed[cost].line
    assert at is not None
    assert line in lines[at - 1]


@pytest.mark.exhaustive
def test_a_limit_that_no_misconception_breaks(cache: Course) -> None:
    wrong = cache.solution(cache.modules[0]).with_name("misconceptions.py")
    text = wrong.read_text()
    wrong.write_text(text[: text.index("# %% counts_its_rows")] + text[text.index("# %% sums_in_python") :])
    assert problems(cache) == "no misconception breaks the limit on the steps of KeyCache.update"
    edit(
        cache.modules[0].folder / "module.toml",
        'mem = "m + d"\n',
        'mem = "m + d"\nunguarded = {steps = "no loop comes to mind"}\n',
    )
    assert problems(cache) == ""


@pytest.mark.exhaustive
def test_a_limit_that_is_marked_although_a_misconception_breaks_it(cache: Course) -> None:
    edit(
        cache.modules[0].folder / "module.toml",
        'mem = "m + d"\n',
        'mem = "m + d"\nunguarded = {steps = "no loop comes to mind"}\n',
    )
    assert "steps of KeyCache.update is marked as unguarded, but a misconception breaks it" in problems(cache)


@pytest.mark.exhaustive
def test_a_limit_that_allows_a_size_times_its_tile(tiles: Course) -> None:
    edit(tiles.modules[0].folder / "module.toml", 'mem = "b^2 + b*d + n*d"', 'mem = "b^2 + n*b + n*d"')
    found = problems(tiles)
    assert "the misconception all_keys_at_once says COSTLY, but breaks no contract" in found
    assert "the misconception complete_table says" not in found


@pytest.mark.exhaustive
def test_a_solution_that_raises_on_its_own_contract(cache: Course) -> None:
    build_module(cache, cache.modules[0])
    edit(cache.modules[0].folder / "module.toml", 'args = ["array 1 m"]', 'args = ["array 1 d"]')
    (module,) = read_course(cache.root).modules
    (problem,) = check_module(read_course(cache.root), module).problems
    assert "complexity.KeyCache.update: the solution raises ValueError: " in problem.what
    assert "when it is called with (array 1 d) at n = 2, m = 2, d = 3. Choose other arguments or sizes" in problem.what


def test_a_solution_that_makes_a_forbidden_call_only_in_a_check(tmp_path: Path) -> None:
    """The solution is measured with vectors, and a check calls it with a matrix."""
    course = copy_of("on_top", tmp_path)
    module = course.modules[0]
    rule = 'forbidden = {products = {why = "add it up", functions = ["double"]}}'
    edit(module.folder / "module.toml", "unchanged =", f"{rule}\nunchanged =")
    returned = "    return 2 * np.asarray(x)\n"
    edit(
        course.solution(module),
        returned,
        f"    if np.ndim(x) == 2:\n        return np.tensordot(2.0, x, 0)\n{returned}",
    )
    course = read_course(course.root)
    found = [problem.what for problem in check_module(course, course.modules[0]).problems]
    assert "the solution calls numpy.tensordot, which is forbidden" in found
