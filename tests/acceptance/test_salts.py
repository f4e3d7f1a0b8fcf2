"""No verdict depends on the course's salt."""

from __future__ import annotations

import pytest

from grader.course.course import Course
from tests.acceptance.graded_files import grade_files, lost_marks
from tests.acceptance.salts import compared, differences, fixed_salts, share
from tests.conftest import DATA

SALTS, FEW = fixed_salts(8), 2
# The later modules take minutes for each salt: `python -m tests.acceptance.salts` tries more, with costs.
FIRST = ["01_softmax", "02_loop_attention"]
LATER = ["03_attention", "04_masks", "05_torch_attention", "06_multi_head_attention", "07_gpu_path"]
LATER += ["08_positions", "09_kv_cache", "10_flash_attention", "11_efficient_attention"]
LAST = "12_transformer"  # it trains models: 147 misconceptions take 20 minutes for each salt


@pytest.mark.exhaustive  # minutes for each module
@pytest.mark.parametrize("name", FIRST)
def test_every_check_has_the_same_outcome_under_every_salt(course: Course, name: str) -> None:
    assert list(map(str, differences(course, course.module(name), SALTS, costs=False))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FIRST)
def test_every_cost_has_the_same_outcome_under_two_salts(course: Course, name: str) -> None:
    assert list(map(str, differences(course, course.module(name), SALTS[:FEW]))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LATER)
def test_every_check_has_the_same_outcome_under_the_first_salt_and_another(course: Course, name: str) -> None:
    assert list(map(str, differences(course, course.module(name), SALTS, costs=False, spread=True))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*FIRST, *LATER, LAST])
def test_right_code_has_full_marks_under_another_salt(course: Course, name: str) -> None:
    paths = [*(DATA / "right" / name).iterdir(), *(DATA / "honest" / name).iterdir()]
    reports = grade_files(course, course.module(name), paths, salt=SALTS[0], measured=False)
    assert lost_marks(reports) == {}
    assert len(reports) == len(paths)


def test_each_misconception_is_graded_under_the_first_salt_and_one_other() -> None:
    shares = [share(range(10), number, 4) for number in range(4)]
    assert list(shares[0]) == list(range(10))
    assert sorted(way for one in shares[1:] for way in one) == list(range(10))


def test_an_input_that_is_degenerate_by_chance_is_found(tiny: Course) -> None:
    suite = tiny.hidden_suite(tiny.modules[0])
    draw = "x = rng.normal(size=(3, 4))"
    assert draw in suite.read_text()
    text = suite.read_text().replace(draw, "x = rng.integers(0, 4, size=1)")  # 0 + 0 is 0², 2 + 2 is 2²
    suite.write_text("\n".join(line for line in text.split("\n") if "shown(" not in line))
    found = {(one.submission, one.check): one for one in differences(tiny, tiny.modules[0], SALTS, costs=False)}
    assert found["squares", "tiny_agrees_with_the_oracle"].salts.keys() == {"passed", "failed"}


def test_outcomes_are_compared_by_submission_and_check() -> None:
    found = {
        "a": {"ana": {"one": "passed", "two": "failed"}, "ben": {"one": "passed"}},
        "b": {"ana": {"one": "passed", "two": "passed"}, "ben": {"one": "passed"}},
        "c": {"ana": {"one": "passed", "two": "failed"}, "ben": {"one": "passed"}},
    }
    assert [str(one) for one in compared(found)] == ["ana: two: failed under a, c; passed under b"]
