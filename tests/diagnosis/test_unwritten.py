"""A function is judged by itself: others of the file that are not written yet do not hide its mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import read_text
from grader.grading.grade import full_suite
from tests.diagnosis.graded import graded, names
from tests.submissions import submission_of

OWN_SOFTMAX = """
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    x = np.asarray(x) * float(temperature)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
CALLS_SOFTMAX = """
def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    return softmax(np.asarray(x) * float(temperature), axis=axis)
"""
OWN_SCORES = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"the sizes {Q.shape[-1]}, {K.shape[-1]}, {K.shape[-2]} and {V.shape[-2]} do not fit")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[1]))
        pairs = [scaled_dot_product_attention(*one) for one in zip(Q, K, V, masks)]
        return np.stack([one for one, _ in pairs]), np.stack([one for _, one in pairs])
    weights = np.zeros((len(Q), len(K)), np.result_type(Q, K, np.float32) if Q.dtype.kind == "f" else float)
    output = np.zeros((len(Q), V.shape[1]), weights.dtype)
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask) != 0, weights.shape)
    for i in range(len(Q)):
        scores = {j: sum(a * b for a, b in zip(Q[i], K[j])) for j in range(len(K)) if allowed[i, j]}
        total = sum(np.exp(score - max(scores.values())) for score in scores.values())
        for j in scores:
            weights[i, j] = np.exp(scores[j] - max(scores.values())) / total
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights
"""
ONE_METHOD = """
class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k):
        self.d_k = d_k

    def scale_scores(self, scores):
        return scores / self.d_k
"""


def alone(course: Course, name: str, code: str) -> Report:
    """Grade the stub of a module with this code after it."""
    module = course.module(name)
    text = f"{read_text(module.stub)}\n\n{code}"
    (report,) = graded(replace(full_suite(course, module), measured=False), [submission_of(course, module, text)])
    return report


@pytest.mark.parametrize(
    ("module", "code", "name"),
    [
        ("01_softmax", OWN_SOFTMAX, "multiplies_by_temperature"),
        ("02_loop_attention", OWN_SCORES, "no_scaling"),
        ("03_attention", ONE_METHOD, "divides_by_d_k"),
    ],
    ids=["a softmax of its own", "scores of its own", "a method whose class is not finished"],
)
def test_a_function_that_calls_no_unwritten_one_is_named(course: Course, module: str, code: str, name: str) -> None:
    assert names(alone(course, module, code)) == [name]


def test_a_function_that_calls_an_unwritten_one_is_told_so(course: Course) -> None:
    said = {one.function: one.message for one in alone(course, "01_softmax", CALLS_SOFTMAX).diagnoses}
    assert said["softmax"].startswith("softmax is not written yet\n")
    told = " ".join(said["softmax_with_temperature"].split())
    assert told.startswith("softmax_with_temperature calls softmax, which is not written yet Next: write softmax first")


def test_a_function_that_is_written_in_part_is_told_which_part_is_not(course: Course) -> None:
    code = """
def softmax(x, axis=-1):
    if x.ndim > 1:
        raise NotImplementedError
    e = np.exp(x - x.max())
    return e / e.sum()
"""
    (said,) = (one.message for one in alone(course, "01_softmax", code).diagnoses if one.function == "softmax")
    assert "is not written yet\n" not in said
    assert "it raises NotImplementedError, in line" in said
    assert "In words: softmax is not written yet, or not this part of it." in said
