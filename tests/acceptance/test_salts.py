"""No verdict depends on the course's salt."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from grader.authoring.misconceptions import read_misconceptions
from grader.authoring.proof import keep_proof, read_proof
from grader.course.course import Course
from grader.course.module import Module
from tests.acceptance.salts import SEEN_BY_SOME, compared, differences, differences_from_proof, fixed_salts
from tests.conftest import prove_once
from tests.quick import EVERY_CASE, sampled

SALTS, FEW, EVERY = fixed_salts(8), 2, 2
MANY = SALTS if os.environ.get(EVERY_CASE) else SALTS[:4]
# The later modules take minutes for each salt, and 12 takes eight: only `make test-every` has time for it.
# `python -m tests.acceptance.salts` tries more, with costs. test_honest.py grades right code under another salt.
FIRST = ["01_softmax", "02_loop_attention"]
# One file in the example class never returns, under each salt, several times. A check or a measurement of a right file
# takes milliseconds: with a third of this limit, the modules of FIRST have the same outcomes.
CPU_S = 0.3
LATER = ["02_loop_attention", "03_attention", "04_masks", "05_torch_attention", "06_multi_head_attention"]
LATER += ["07_gpu_path", "08_positions", "09_kv_cache", "10_flash_attention", "11_efficient_attention"]
LONGEST = ["12_transformer"] if os.environ.get(EVERY_CASE) else []


def limited(course: Course, name: str) -> Module:
    """Return a module whose submissions have little CPU time."""
    return replace(course.module(name), cpu_s=CPU_S)


@pytest.mark.exhaustive  # minutes for each module
@pytest.mark.parametrize("name", sampled(FIRST, 2))
def test_every_check_has_the_same_outcome_under_every_salt(course: Course, name: str) -> None:
    assert list(map(str, differences(course, limited(course, name), MANY, costs=False))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sampled(FIRST, 2))
def test_every_cost_has_the_same_outcome_under_two_salts(course: Course, name: str) -> None:
    assert list(map(str, differences(course, limited(course, name), SALTS[:FEW]))) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sampled(LATER, 3) + LONGEST)
def test_every_check_has_the_outcome_of_the_proof_under_another_salt(course: Course, name: str) -> None:
    prove_once(name)
    assert list(map(str, differences_from_proof(course, course.module(name), SALTS, EVERY))) == []


def test_a_difference_from_the_proof_is_found(tiny: Course) -> None:
    (module,) = tiny.modules
    assert differences_from_proof(tiny, module, SALTS) == []
    proof = read_proof(tiny, module)
    assert proof is not None
    ways = {way: {**lost, "tiny_agrees_with_the_oracle": "not_run"} for way, lost in proof.not_passed.items()}
    keep_proof(tiny, replace(proof, not_passed=ways))
    found = differences_from_proof(tiny, module, SALTS)
    assert {one.submission for one in found} == ways.keys()
    assert {one.check for one in found} == {"tiny_agrees_with_the_oracle"}


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


def test_of_what_only_some_checks_see_one_must_fail_under_every_salt() -> None:
    found = {"a": {"ana": {"one": "passed", "two": "failed"}}, "b": {"ana": {"one": "failed", "two": "passed"}}}
    assert len(compared(found)) == 2
    assert compared(found, ["ana"]) == []
    found["c"] = {"ana": {"one": "passed", "two": "passed"}}
    assert [str(one) for one in compared(found, ["ana"])] == ["ana: any check: failed under a, b; none failed under c"]


def test_what_only_some_checks_see_is_a_misconception(course: Course) -> None:
    for name, some in SEEN_BY_SOME.items():
        assert some <= {way.name for way in read_misconceptions(course, course.module(name))}
