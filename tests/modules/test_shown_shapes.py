"""Hidden suites have other numbers of every shape that students see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from grader.core.compare import shape_of
from grader.core.errors import StudentError
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.checks import Check
from grader.grading.grade import full_suite, run_grading
from grader.grading.other_values import with_other_values
from grader.grading.run_suite import run_suite
from grader.grading.shown_shapes import ShownShapes
from grader.grading.submission_grading import GradingContext, SubmissionGrading
from grader.grading.suite import Judge
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session
from grader.sandbox.student import arguments
from tests.conftest import shared_workers
from tests.quick import quick_or_exhaustive
from tests.submissions import submission_of

SENTENCE = """
_q = [[1., 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
_k = [[0., 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, .5, .5]]
_v = [[1., 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [.5, .5, .5, .5]]
"""
# The right result for the shown arguments, returned for all arguments of their shapes.
TABLE = """
{sentence}
_right, _shown = {name}, {shown}
_table = _right(*_shown)

def {name}(*args, **kwargs):
    def shape(value):
        return getattr(value, "shape", None), getattr(value, "dtype", None)
    alike = [*map(shape, args), *map(shape, kwargs.values())] == [*map(shape, _shown)]
    return _table if alike else _right(*args, **kwargs)
"""
ARRAYS = "[np.array(x) for x in (_q, _k, _v)]"
TENSORS = "[torch.tensor(x) for x in (_q, _k, _v)]"
TABLES = {
    "01_softmax": {
        "softmax": "[np.array([0, 2, 1, 1, 1.5])]",
        "log_softmax": "[np.array([0, 2, 1, 1, 1.5])]",
        "softmax_with_temperature": "[np.array([0, 2, 1, 1, 1.5]), 2.0]",
    },
    "02_loop_attention": {"attention_scores": f"{ARRAYS}[:2]", "scaled_dot_product_attention": ARRAYS},
    "03_attention": {"scaled_dot_product_attention": f"[*{ARRAYS}, np.tri(5)]"},
    "04_masks": {
        "combine_masks": "[np.tri(5, dtype=int), np.array([[[[1] * 5]], [[[1, 1, 1, 0, 0]]]])]",
        "masked_softmax": "[np.array(_q) @ np.array(_k).T / 2, np.tri(5, dtype=int)]",
    },
    "05_torch_attention": {
        "softmax_backward": "[np.array([0, 1, 0, 0, 0.5]), np.full(5, 0.2)]",
        "attention_backward": f"[*{ARRAYS}, np.eye(5, 4)]",
    },
    "06_multi_head_attention": {
        "split_heads": "[torch.arange(8.0).reshape(1, 2, 4), 2]",
        "merge_heads": "[torch.arange(8.0).reshape(1, 2, 2, 2)]",
    },
    "07_gpu_path": {
        "attention_on_device": f"[*{TENSORS}, torch.ones(5, 5).tril()]",
        "fused_attention": f"[*{TENSORS}, torch.ones(5, 5).tril()]",
        "half_precision_attention": f"[*{TENSORS}, torch.ones(5, 5).tril()]",
    },
    "08_positions": {"apply_rope": "[np.array(_k)[:3], np.arange(3)]"},
    "09_kv_cache": {"repeat_kv": "[torch.tensor([[[[0.0, 1]], [[10, 11]]]]), 2]"},
    "10_flash_attention": {
        "merge_softmax": "[np.array([0.5]), np.array([2.0]), np.array([[0.0, 1.0]])]",
        "flash_attention": f"[*{ARRAYS}, 2, 2]",
        "flash_attention_backward": f"[*{ARRAYS}, np.ones((5, 4)), np.ones((5, 4)), np.ones(5), 2, 2]",
    },
    "11_efficient_attention": {
        "sliding_window_attention": f"[*{ARRAYS}, 2]",
        "feature_map": "[np.array([-2.0, -1.0, 0.0, 1.0, 2.0])]",
        "linear_attention": ARRAYS,
    },
    "12_transformer": {"cross_entropy": "[torch.tensor([[[0, 2, 1, 1, 1.5]]]), torch.tensor([[1]])]"},
}


@pytest.mark.parametrize("name", quick_or_exhaustive(TABLES))
def test_a_table_of_the_shown_answers_fails(course: Course, name: str) -> None:
    module = course.module(name)
    tables = [TABLE.format(sentence=SENTENCE, name=function, shown=shown) for function, shown in TABLES[name].items()]
    suite = replace(full_suite(course, module), measured=False, diagnosed=False)
    reports: list[Report] = []
    solution = course.solution(module).read_text()
    cheats = [submission_of(course, module, solution + table) for table in tables]
    run_grading(suite, cheats, reports.append, workers=shared_workers(module.backend))
    for function, report in zip(TABLES[name], reports, strict=True):
        found = [check.target for check in report.checks if "other numbers of the shapes" in check.detail]
        assert function in found, [(check.name, check.detail) for check in report.checks if check.outcome == "failed"]


class Noting(Session):
    """Notes the calls that return, by check: the function and the types and shapes of the arguments."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.made: set[tuple[str, str, str]] = set()

    def request(self, message: dict[str, Any], call: str, owner: str) -> Any:
        answer = super().request(message, call, owner)
        handle, path = message.get("ref", [0, [""]])
        label = ".".join(path) if not handle else ".".join([owner, *(path or ["forward"])])
        calls = message.get("calls", [[message["args"], message["kwargs"]]] if message["op"] == "vjp" else [])
        failed = type(answer) is list and any("error" in one for one in answer)
        for args, kwargs in () if failed else calls:
            shapes = [*map(_shape, args), *(f"{name}={_shape(arg)}" for name, arg in kwargs.items())]
            if any("(" in one for one in shapes):  # single numbers are not repeated with other numbers
                self.made.add((self.record._check.name, label, ", ".join(shapes)))
        return answer


def _shape(value: Any) -> str:
    if type(value) in (list, tuple, dict):
        items: Mapping[Any, Any] = value if type(value) is dict else dict(enumerate(value))
        return f"{type(value).__name__}({', '.join(f'{key}: {_shape(item)}' for key, item in items.items())})"
    shape = shape_of(value)
    return type(value).__name__ if shape is None else f"{value.dtype}{shape}"


class NotingGrading(SubmissionGrading):
    def _open(self, spawner: Spawner, program: Program) -> Session:
        SESSIONS.append(Noting(spawner, program, self.context.limits))
        return SESSIONS[-1]


SESSIONS: list[Noting] = []
# A text is compared by the numbers in it, a batch item by item, and what chance decides by what it cannot change, in
# checks without an oracle.
ELSEWHERE = {"ScaledDotProductAttention.explain", "move_batch", "get_batch", "sample_next", "generate", "train"}


@pytest.mark.parametrize("name", quick_or_exhaustive(TABLES))
def test_every_shape_of_a_visible_check_is_in_a_hidden_comparison(course: Course, name: str) -> None:
    module = course.module(name)
    suite = replace(full_suite(course, module), diagnosed=False)
    oracles: dict[str, Check] = {}
    solution = submission_of(course, module, course.solution(module).read_text())
    workers = shared_workers(module.backend)

    def body(checks: tuple[Check, ...], judge: Judge) -> None:
        oracles.update({check.name: check for check in checks})
        context = GradingContext(module, suite.api, checks, judge, None, None, None, workers, Limits())
        report = NotingGrading(context, solution).run(workers.spawner)
        assert report.score == report.max_score

    run_suite(suite, body)
    made = SESSIONS.pop().made
    visible = {(label, shapes) for name, label, shapes in made if oracles[name].suite == "visible"}
    hidden = {
        (label, shapes) for name, label, shapes in made if oracles[name].suite == "hidden" and oracles[name].oracle
    }
    assert visible, "no visible check makes a call"
    assert {one for one in visible - hidden if one[0] not in ELSEWHERE} == set()


def test_other_numbers_keep_what_a_call_means() -> None:
    def function(q: Any, weights: Any, mask: Any = None, *, lengths: Any = (), tokens: Any = (), n: int = 0) -> None:
        raise StudentError(f"{q, weights, mask, lengths, tokens, n}")

    rng = np.random.default_rng(1)
    mask = np.array([[1, 0], [0, 0]])
    call = arguments(np.ones((2, 2), np.float32), np.ones((2, 2)), mask, lengths=[4, 2, 0], tokens=["a"], n=3)
    other = with_other_values(function, call, rng)
    assert other is not None
    q, weights, same = other.args
    assert q.dtype == np.float32
    assert q.shape == (2, 2)
    assert not (q == 1).any()
    assert np.allclose(weights.sum(axis=-1), 1)
    assert same is mask
    assert {key: other.kwargs[key] for key in ("tokens", "n")} == {"tokens": ["a"], "n": 3}
    assert len(other.kwargs["lengths"]) == 3
    assert all(0 <= length <= 4 for length in other.kwargs["lengths"])
    assert with_other_values(function, arguments(1, 2, mask), rng) is None
    turned = with_other_values(lambda x, positions: (x, positions), arguments(np.ones((30, 2)), [5] * 30), rng)
    assert turned is not None
    assert min(turned.args[1]) >= 0, "a position is never negative"
    assert max(turned.args[1]) > 5, "a position may be later than all that are shown"
    text = " ".join(["Ab", "aB"])  # a text that stands in this file would be named by its code, and stay
    letters = with_other_values(lambda text: text, arguments(text), rng)
    assert letters is not None
    assert [one.isupper() for one in letters.args[0]] == [one.isupper() for one in text]
    tensor = with_other_values(lambda x: x, arguments(torch.ones(3, dtype=torch.bfloat16)), rng)
    assert tensor is not None
    assert tensor.args[0].dtype == torch.bfloat16


def test_other_pairs_are_tuples_too() -> None:
    other = with_other_values(lambda pairs: pairs, arguments([(1, 2), (3, 4)]), np.random.default_rng(1))
    assert other is not None
    assert [type(pair) for pair in other.args[0]] == [tuple, tuple]


def test_a_name_that_no_probe_has_is_the_author_s_mistake() -> None:
    nobody: Any = None  # no call is made
    shown = ShownShapes([], None, np.random.default_rng)
    with pytest.raises(LookupError, match="shown makes no call of sofmax: no probe of it"):
        shown(nobody, "sofmax")
