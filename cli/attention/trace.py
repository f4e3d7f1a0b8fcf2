"""The shared example, traced through a student's own attention stage by stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cli.attention.sentences import CAUSAL, TOKENS, K, Q, V
from grader.core.compare import as_float64, describe, shape_of
from grader.core.errors import StudentError, StudentRaisedError
from grader.core.safe_text import one_line
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.load_student import open_student
from grader.sandbox.student import Handle, Student
from grader.submission.fallbacks import own_with_fallbacks
from grader.testing import array_like

SQUARE = (len(TOKENS), len(TOKENS))
ATTENTION = "scaled_dot_product_attention"
ROW_SUM_GAP = 1e-5  # visible errors only; the checks test float64 precision
_FRAME = re.compile(r", line \d+, in (\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Stage:
    """The result of the student's code at one stage: a row for each token."""

    name: str
    made_by: str  # the call, as a student would write it
    values: np.ndarray


@dataclass(frozen=True)
class Trace:
    """The stages that were reached. `problem` says why the later ones were not."""

    module: str
    file: str
    stages: tuple[Stage, ...]
    problem: str = ""

    def values(self, name: str) -> np.ndarray | None:
        """Return the numbers of a stage; None if it was not reached."""
        return next((stage.values for stage in self.stages if stage.name == name), None)


Steps = Callable[[Student], Iterator[Stage]]


def own_trace(course: Course, module: Module) -> Trace:
    """Trace the example through the student's raw scores, scaled scores, weights and output.

    StudentError if the file cannot be loaded. Later failures are in the trace.
    """
    return _trace(course, module, STEPS[module.name])


def own_map(course: Course, module: Module, *, causal: bool) -> Trace:
    """Return only the weights of the student's attention, with a causal mask or without."""

    def steps(student: Student) -> Iterator[Stage]:
        _, weights = _call_attention(student, **({"mask": CAUSAL} if causal else {}))
        yield _weights_stage(weights)

    return _trace(course, module, steps)


def remarks(weights: np.ndarray, queries: Sequence[int], *, causal: bool = False) -> tuple[str, ...]:
    """Return what is wrong with the weights of some queries: negative, not summing to 1, or on a blocked key."""
    found: list[str] = []
    for query in queries:
        row, token = weights[query], TOKENS[query]
        negative = [f"{TOKENS[key]} ({row[key]:.4g})" for key in np.flatnonzero(row < 0)]
        found += [f"{token} has negative weights: {_join(negative)}"] if negative else []
        total = sum(row.tolist())  # NumPy would warn if wrong weights are so large that they overflow
        if not abs(total - 1) <= ROW_SUM_GAP:
            found.append(f"The weights of {token} sum to {total:.7g}, not to 1")
        blocked = [TOKENS[key] for key in np.flatnonzero(row) if causal and not CAUSAL[query, key]]
        found += [f"{token} looks at {_join(blocked)}, which the mask blocks"] if blocked else []
    return tuple(found)


def number_text(number: float) -> str:
    """Return a number with the four decimals of the lessons; a huge one in the same space."""
    return f"{number:.4f}" if abs(number) < 100_000 else f"{number:.3e}"


def _trace(course: Course, module: Module, steps: Steps) -> Trace:
    submission = own_with_fallbacks(course, module)
    if submission.problem:
        raise StudentError(submission.problem)
    stages: list[Stage] = []
    problem = ""
    with open_student(course, module, submission) as student:
        try:
            stages.extend(steps(student))
        except (StudentError, AssertionError) as error:
            problem = one_line(str(error), 400)
    return Trace(module.name, submission.file, tuple(stages), problem)


def _stages_of_02(student: Student) -> Iterator[Stage]:
    """Yield the stages of 02. Its attention function does not return scaled scores, so raw / scale stands for them."""
    raw = _array(call_own("attention_scores", student.attention_scores, Q, K), SQUARE, "result of attention_scores")
    yield Stage("raw", "attention_scores(Q, K)", raw)
    scale = own_scale(student, Q.shape[1])
    with np.errstate(all="ignore"):
        scaled = _array(raw / scale, SQUARE, f"array of scores divided by {scale:.4g}, which is scale_factor(4),")
    yield Stage("scaled", "raw / scale_factor(4)", scaled)
    output, weights = _call_attention(student)
    yield _weights_stage(weights)
    yield Stage("output", f"{ATTENTION}(Q, K, V)[0]", _array(output, V.shape, f"first result (output) of {ATTENTION}"))


def _stages_of_03(student: Student) -> Iterator[Stage]:
    """Yield the stages of 03, one method each. Each method gets the result of the one before."""
    head = call_own("ScaledDotProductAttention", student.ScaledDotProductAttention, Q.shape[1])
    if type(head) is not Handle:
        raise StudentError(f"ScaledDotProductAttention(4) should be an object with methods, got {describe(head)}")
    raw = _array(call_own("compute_scores", head.compute_scores, Q, K), SQUARE, "result of compute_scores")
    yield Stage("raw", "compute_scores(Q, K)", raw)
    scaled = _array(call_own("scale_scores", head.scale_scores, raw), SQUARE, "result of scale_scores")
    yield Stage("scaled", "scale_scores(raw)", scaled)
    weights = _array(call_own("compute_weights", head.compute_weights, scaled), SQUARE, "result of compute_weights")
    yield Stage("weights", "compute_weights(scaled)", weights)
    output = _array(call_own("compute_output", head.compute_output, weights, V), V.shape, "result of compute_output")
    yield Stage("output", "compute_output(weights, V)", output)


STEPS: Mapping[str, Steps] = {"02_loop_attention": _stages_of_02, "03_attention": _stages_of_03}


def call_own(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of the student. A function that is still the stub is reported as not written yet."""
    try:
        return function(*args, **kwargs)
    except StudentRaisedError as error:
        if error.types[0] != "NotImplementedError" or error.message:
            raise
        missing = (_FRAME.findall(error.traceback) or [name])[-1]
        reason = (
            f"{name} is not written yet" if missing == name else f"{name} needs {missing}, which is not written yet"
        )
        raise StudentError(reason) from None


def _call_attention(student: Student, **kwargs: Any) -> tuple[Any, Any]:
    value = call_own(ATTENTION, student.scaled_dot_product_attention, Q, K, V, **kwargs)
    if type(value) is not tuple or len(value) != 2:
        raise StudentError(f"{ATTENTION} should return the pair (output, weights), got {describe(value)}")
    return value


def _weights_stage(value: Any) -> Stage:
    return Stage(
        "weights", f"{ATTENTION}(Q, K, V)[1]", _array(value, SQUARE, f"second result (weights) of {ATTENTION}")
    )


def _array(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    return array_like(value, shape, of=f"The {what}")


def own_scale(student: Student, d_k: int) -> float:
    """Return the scale of the student's module 02 for queries of a width."""
    value = call_own("scale_factor", student.scale_factor, d_k)
    # The shape comes first: converting a wrong result could take gigabytes.
    number = as_float64(value) if shape_of(value) in (None, ()) else None
    if number is None or not np.isfinite(number) or number == 0:
        raise StudentError(f"scale_factor({d_k}) should be a number to divide by, got {describe(value)}")
    return float(number)


def _join(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
