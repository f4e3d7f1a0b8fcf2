"""The steps of attention, each made by the latest module of the student that has it, else by the course."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, Literal, TypeVar

import numpy as np

from cli.attention.formula import EXPECTED, Case, Stages
from cli.attention.trace import ATTENTION, call_own, own_scale
from grader.core.compare import describe
from grader.core.errors import StudentError
from grader.core.safe_text import one_line
from grader.sandbox.student import Arguments, Student, arguments
from grader.testing import array_like

Step = Literal[
    "scores",
    "scale",
    "weights",
    "output",
    "masked weights",
    "masked output",
    "causal mask",
    "window",
    "sinusoidal",
    "RoPE",
    "heads",
    "masked heads",
]
LARGEST = 1e100  # products of larger numbers overflow
CHUNK = 200  # calls in one request, which has a limit on CPU time
LOOPS, ARRAYS, MASKS, SOFTMAX = "02_loop_attention", "03_attention", "04_masks", "01_softmax"
LAYER, POSITIONS, EFFICIENT = "06_multi_head_attention", "08_positions", "11_efficient_attention"
MODULES = (SOFTMAX, LOOPS, ARRAYS, MASKS, LAYER, POSITIONS, EFFICIENT)


@dataclass(frozen=True)
class Maker:
    """Who makes a step: a call of a student's module, or the course. `problem` says why the student's could not."""

    step: Step
    call: str
    module: str = ""  # empty: the course
    problem: str = ""


Tables = list[np.ndarray]
Made = TypeVar("Made")


@dataclass
class OwnSteps:
    """Makes every step with the student's modules that are open, and notes who made it."""

    students: Mapping[str, Student]  # by module
    attention: str = ""  # the module whose attention is asked: 02 or 03
    makers: dict[Step, Maker] = field(default_factory=dict)

    def is_joint(self, case: Case) -> bool:
        """Whether one function made weights and output of a case, so that no step could be left out."""
        return self.makers["weights" if case.mask is None else "masked weights"].module == LOOPS

    def stages(self, cases: Sequence[Case]) -> list[Stages]:
        """Return the numbers of all cases. With a mask and without are separate steps: code may lack only the first."""
        raw = self._step("scores", cases, {ARRAYS: self._scores_03, LOOPS: self._scores_02}, _course_scores)
        scaled = self._scaled(cases, raw)
        found: dict[int, Stages] = {}
        for masked in (False, True):
            at = [number for number, case in enumerate(cases) if (case.mask is not None) == masked]
            soft = [(cases[number], scaled[number] / cases[number].temperature) for number in at]
            weights, output = self._attention(soft, masked=masked)
            parts = zip(at, weights, output, strict=True)
            found |= {number: Stages(raw[number], scaled[number], *both) for number, *both in parts}
        return [found[number] for number in range(len(cases))]

    def _attention(self, soft: Sequence[tuple[Case, np.ndarray]], *, masked: bool) -> tuple[Tables, Tables]:
        """Return the weights and the output of scores that are divided already."""
        first: Step = "masked weights" if masked else "weights"
        second: Step = "masked output" if masked else "output"
        by = {ARRAYS: self._weights_03, LOOPS: self._weights_02, MASKS: self._weights_04, SOFTMAX: self._weights_01}
        weights = self._step(first, soft, by, _course_weights)
        mixed = [(case, table) for (case, _), table in zip(soft, weights, strict=True)]
        return weights, self._step(second, mixed, {ARRAYS: self._output_03, LOOPS: self._output_02}, _course_output)

    def mask(self, n: int, *, causal: bool, window: int | None) -> np.ndarray | None:
        """Return the mask of a setting, as the student's modules make it; None if nothing is blocked."""
        if window is None and not causal:
            return None
        if window is not None:
            by = {EFFICIENT: lambda: self._one(EFFICIENT, "sliding_window_mask", (n, n), n, window, causal)}
            call = "sliding_window_mask(n, window, causal)"
            return self.first("window", by, {EFFICIENT: call}, lambda: right_mask(n, causal=causal, window=window))
        by = {MASKS: lambda: self._one(MASKS, "create_causal_mask", (n, n), n)}
        call = "create_causal_mask(n)"
        return self.first("causal mask", by, {MASKS: call}, lambda: right_mask(n, causal=True, window=None))

    def sinusoidal(self, n: int, width: int) -> np.ndarray | None:
        """Return the student's sinusoidal positions; None if they cannot be made."""
        by = {POSITIONS: lambda: self._one(POSITIONS, "sinusoidal_positions", (n, width), n, width)}
        return self.first("sinusoidal", by, {POSITIONS: "sinusoidal_positions(n, d)"}, lambda: None)

    def rope(self, x: np.ndarray) -> np.ndarray | None:
        """Return queries or keys that the student's RoPE has turned; None if it cannot."""
        by = {POSITIONS: lambda: self._one(POSITIONS, "apply_rope", x.shape, x, np.arange(len(x)))}
        return self.first("RoPE", by, {POSITIONS: "apply_rope(x, positions)"}, lambda: None)

    def _scaled(self, cases: Sequence[Case], raw: Tables) -> Tables:
        """Return the scaled scores. A setting with a divisor of its own leaves the student's step out."""
        own = [at for at, case in enumerate(cases) if case.divisor is None]
        by = {ARRAYS: self._scaled_03, LOOPS: self._scaled_02}
        scaled_own = self._step("scale", [(cases[at], raw[at]) for at in own], by, _course_scaled)
        found = dict(zip(own, scaled_own, strict=True))
        return [found[at] if at in found else raw[at] / (case.divisor or 1.0) for at, case in enumerate(cases)]

    def _step(
        self, step: Step, inputs: Sequence[Any], by: Mapping[str, Callable[[Sequence[Any]], Tables]], course: Any
    ) -> Tables:
        makers = {name: (lambda make=make: make(inputs)) for name, make in by.items() if self._asked(name)}
        calls = {name: CALLS[step.removeprefix("masked ")][name] for name in makers}
        return self.first(step, makers, calls, lambda: course(inputs))

    def _asked(self, name: str) -> bool:
        return name in self.students and (name not in (LOOPS, ARRAYS) or name == self.attention)

    def first(
        self, step: Step, by: Mapping[str, Callable[[], Made]], calls: Mapping[str, str], course: Callable[[], Made]
    ) -> Made:
        """Return the result of the first module that can make a step. The reasons why others cannot are kept."""
        problems: list[str] = []
        for name, make in by.items():
            if name not in self.students:
                continue
            try:
                found = make()
            except (StudentError, AssertionError) as error:
                problems.append(one_line(str(error), 300))
                continue
            self.makers[step] = Maker(step, calls[name], name, "; ".join(problems))
            return found
        self.makers[step] = Maker(step, "", "", "; ".join(problems))
        return course()

    def _one(self, module: str, name: str, shape: tuple[int, ...], *args: Any) -> np.ndarray:
        value = call_own(name, getattr(self.students[module], name), *args)
        return usable(value, shape, of=f"The result of {name}")

    def _scores_02(self, cases: Sequence[Case]) -> Tables:
        calls = [arguments(case.q, case.k) for case in cases]
        return _tables("attention_scores", self.students[LOOPS].attention_scores, calls, [_square(c) for c in cases])

    def _scores_03(self, cases: Sequence[Case]) -> Tables:
        return self._by_width("compute_scores", cases, [arguments(case.q, case.k) for case in cases], _square)

    def _scaled_02(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        widths = {case.q.shape[1] for case, _ in pairs}
        scales = {width: own_scale(self.students[LOOPS], width) for width in widths}
        with np.errstate(all="ignore"):
            scaled = [raw / scales[case.q.shape[1]] for case, raw in pairs]
        return [usable(one, one.shape, of="The array of scaled scores") for one in scaled]

    def _scaled_03(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        cases = [case for case, _ in pairs]
        return self._by_width("scale_scores", cases, [arguments(raw) for _, raw in pairs], _square)

    def _weights_01(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        """Return softmax of the allowed scores: of the table, or of each row where a mask blocks some."""
        calls: list[Arguments] = []
        places: list[tuple[int, int | None]] = []
        for at, (case, soft) in enumerate(pairs):
            if case.mask is None:
                calls.append(arguments(soft))
                places.append((at, None))
                continue
            for query, row in enumerate(case.allowed):
                if row.any():
                    calls.append(arguments(soft[query, row]))
                    places.append((at, query))
        shapes = [call.args[0].shape for call in calls]
        found = [np.zeros(soft.shape) for _, soft in pairs]
        tables = _tables("softmax", self.students[SOFTMAX].softmax, calls, shapes)
        for (number, place), values in zip(places, tables, strict=True):
            if place is None:
                found[number] = values
            else:
                found[number][place, pairs[number][0].allowed[place]] = values
        return found

    def _weights_02(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        return [
            usable(both[1], _square(case), of="The table of weights")
            for both, (case, _) in zip(self._attend(pairs), pairs, strict=True)
        ]

    def _output_02(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        if any(not self.is_joint(case) for case, _ in pairs):
            raise StudentError(f"{ATTENTION} takes no weights: it makes its own, and they could not be used")
        return [
            usable(both[0], (len(case.q), case.v.shape[1]), of="The output")
            for both, (case, _) in zip(self._attend(pairs), pairs, strict=True)
        ]

    def _attend(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> list[Any]:
        """Call the attention of 02, which has no step for another scale: its queries are multiplied instead."""
        calls = []
        for case, _ in pairs:
            wanted = 1.0 if case.divisor is None else sqrt(case.q.shape[1]) / case.divisor
            factor = wanted / case.temperature
            masked = {} if case.mask is None else {"mask": case.mask}
            calls.append(arguments(case.q if factor == 1 else factor * case.q, case.k, case.v, **masked))
        found = many(ATTENTION, getattr(self.students[LOOPS], ATTENTION), calls)
        for both in found:
            if type(both) is not tuple or len(both) != 2:
                raise StudentError(f"{ATTENTION} should return the pair (output, weights), got {describe(both)}")
        return found

    def _weights_03(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        calls = [arguments(soft) if case.mask is None else arguments(soft, case.mask) for case, soft in pairs]
        return self._by_width("compute_weights", [case for case, _ in pairs], calls, _square)

    def _weights_04(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        calls = [arguments(soft, case.allowed if case.mask is None else case.mask) for case, soft in pairs]
        handle = self.students[MASKS].masked_softmax
        return _tables("masked_softmax", handle, calls, [_square(case) for case, _ in pairs])

    def _output_03(self, pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
        calls = [arguments(weights, case.v) for case, weights in pairs]
        cases = [case for case, _ in pairs]
        return self._by_width("compute_output", cases, calls, lambda case: (len(case.q), case.v.shape[1]))

    def _by_width(
        self, method: str, cases: Sequence[Case], calls: Sequence[Arguments], shape: Callable[[Case], tuple[int, ...]]
    ) -> Tables:
        """Call a method of 03: there is one instance for each width of queries."""
        found: dict[int, np.ndarray] = {}
        for width in sorted({case.q.shape[1] for case in cases}):
            at = [number for number, case in enumerate(cases) if case.q.shape[1] == width]
            head = call_own("ScaledDotProductAttention", self.students[ARRAYS].ScaledDotProductAttention, width)
            tables = _tables(
                method, getattr(head, method), [calls[number] for number in at], [shape(cases[n]) for n in at]
            )
            found |= dict(zip(at, tables, strict=True))
        return [found[number] for number in range(len(cases))]


CALLS: Mapping[str, Mapping[str, str]] = {
    "scores": {ARRAYS: "compute_scores(Q, K)", LOOPS: "attention_scores(Q, K)"},
    "scale": {ARRAYS: "scale_scores(raw)", LOOPS: "raw / scale_factor(d_k)"},
    "weights": {
        LOOPS: f"{ATTENTION}(Q, K, V, mask)[1]",
        ARRAYS: "compute_weights(scaled, mask)",
        MASKS: "masked_softmax(scaled, mask)",
        SOFTMAX: "softmax(scaled)",
    },
    "output": {LOOPS: f"{ATTENTION}(Q, K, V, mask)[0]", ARRAYS: "compute_output(weights, V)"},
}


def right_mask(n: int, *, causal: bool, window: int | None) -> np.ndarray | None:
    """Return the mask that a setting should have; None if nothing is blocked."""
    back = np.subtract.outer(np.arange(n), np.arange(n))  # how far a key is before its query
    near = np.full((n, n), True) if window is None else np.abs(back) < window
    return None if window is None and not causal else near & (back >= 0) if causal else near


def _course_scores(cases: Sequence[Case]) -> Tables:
    return [EXPECTED.stages(case).raw for case in cases]


def _course_scaled(pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
    return [raw / EXPECTED.divisor(case) for case, raw in pairs]


def _course_weights(pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
    return [EXPECTED.weights_of(soft, case.allowed) for case, soft in pairs]


def _course_output(pairs: Sequence[tuple[Case, np.ndarray]]) -> Tables:
    return [np.einsum("qk,kc->qc", weights, case.v) for case, weights in pairs]


def _square(case: Case) -> tuple[int, int]:
    return len(case.q), len(case.k)


def usable(value: Any, shape: tuple[int, ...], *, of: str) -> np.ndarray:
    """Return a result as an array with which the next steps can compute, or fail."""
    table = array_like(value, shape, of=of)
    if np.abs(table).max(initial=0.0) > LARGEST:
        raise StudentError(f"{of} holds numbers beyond {LARGEST:g}")
    return table


def _tables(name: str, handle: Any, calls: Sequence[Arguments], shapes: Sequence[tuple[int, ...]]) -> Tables:
    values = many(name, handle, calls)
    return [usable(one, shape, of=f"The result of {name}") for one, shape in zip(values, shapes, strict=True)]


def many(name: str, handle: Any, calls: Sequence[Arguments]) -> list[Any]:
    """Make many calls, equal ones once, a few hundred in a request."""
    places: dict[tuple[Any, ...], int] = {}
    distinct: list[Arguments] = []
    order = []
    for call in calls:
        key = tuple((np.shape(one), np.asarray(one).tobytes()) for one in (*call.args, *call.kwargs.values()))
        if key not in places:
            places[key] = len(distinct)
            distinct.append(call)
        order.append(places[key])
    values: list[Any] = []
    for start in range(0, len(distinct), CHUNK):
        values += call_own(name, handle.call_many, distinct[start : start + CHUNK])
    return [values[place] for place in order]
