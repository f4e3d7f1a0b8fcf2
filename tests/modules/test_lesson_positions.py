"""The lesson of 08_positions: every number in it is computed here."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest

from grader.course.course import Course
from grader.course.module import Module
from tests.modules.lessons import TOKENS, K, Q, V, row, softmax, unclaimed, weights
from tests.modules.test_lesson_transformer import LEFT_OUT, POSITIONS, REPAIRS

PLACES = np.arange(5)
FIRST, LAST = [0, 1, 2, 3, 4], [4, 1, 2, 3, 0]
ALIBI = -0.5 * np.abs(PLACES[:, None] - PLACES)


def rates(width: int) -> np.ndarray:
    return np.array([10000 ** (-2 * i / width) for i in range(width // 2)])


def signal() -> np.ndarray:
    """Sinusoidal positions of five tokens with four columns."""
    return np.array([[wave(p * rate) for rate in rates(4) for wave in (math.sin, math.cos)] for p in range(5)])


def interleaved(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """RoPE of neighbouring pairs, with complex numbers."""
    turned = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * positions[:, None] * rates(x.shape[1]))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def half_split(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """RoPE of the layout of other libraries, with complex numbers."""
    first, second = np.split(x, 2, axis=1)
    turned = (first + 1j * second) * np.exp(1j * positions[:, None] * rates(x.shape[1]))
    return np.concatenate([turned.real, turned.imag], axis=1)


def rope_weights(order: list[int], start: int = 0) -> np.ndarray:
    positions = PLACES + start
    return weights(interleaved(Q[order], positions), interleaved(K[order], positions))


def mixed_weights(start: int = 0) -> np.ndarray:
    return weights(interleaved(Q, PLACES + start), half_split(K, PLACES + start))


def alibi_weights(slope: float) -> np.ndarray:
    exps = np.exp(Q @ K.T / 2 + 2 * slope * ALIBI) * np.tri(5)
    return np.asarray(exps / exps.sum(axis=1, keepdims=True))


def slopes(count: int) -> list[float]:
    """The slopes for a power of two."""
    return [2.0 ** (-8 * (k + 1) / count) for k in range(count)]


def numbers() -> Iterable[float]:
    """Every number of the lesson, from the formula."""
    yield from K.ravel()
    yield from (10000.0, 2 * math.pi, 0.02, 0.03, 0.04, 0.25, 0.75)
    yield from rates(4)
    yield from rates(8)
    yield from signal().ravel()
    yield from (signal() @ signal().T)[0]
    yield from (weights(Q, K) @ V).ravel()
    yield from weights(Q, K)[0]
    yield from interleaved(Q, PLACES).ravel()
    yield from interleaved(K, PLACES).ravel()
    yield from (interleaved(Q, PLACES) @ interleaved(K, PLACES).T).ravel()
    yield from half_split(Q, PLACES)[1]
    yield from rope_weights(FIRST).ravel()
    yield from weights(half_split(Q, PLACES), half_split(K, PLACES))[1]
    for start in (0, 100):
        yield from mixed_weights(start)[1]
        yield from (rope_weights(FIRST) @ interleaved(V, PLACES + start))[0]
    for order in (FIRST, LAST):
        yield from (rope_weights(order) @ V[order]).ravel()
    yield from slopes(8)
    yield from slopes(4)
    yield 100 * slopes(8)[-1]
    yield from (Q @ K.T / 2)[4]
    yield from ALIBI[4]
    yield from (Q @ K.T / 2 + ALIBI)[4]
    yield from alibi_weights(0.5).ravel()
    yield from alibi_weights(slopes(8)[-1])[4]
    yield from (
        *REPAIRS.values(),
        POSITIONS["rope", 1],
        POSITIONS["rope", 4],
        LEFT_OUT["nothing", 4],
        LEFT_OUT["positions", 4],
    )


def cells(values: Iterable[float], between: str = " | ") -> str:
    """Four decimals with a typographic minus and no leading zero; exact integers 0 and 1 are plain."""
    return between.join(_cell(value) for value in values)


def _cell(value: float) -> str:
    if value in (0, 1):
        return str(int(value))
    return ("−" if value < 0 else "") + f"{abs(value):.4f}".removeprefix("0")


def short(values: Iterable[float]) -> str:
    """Numbers with no more decimals than they have."""
    return " | ".join(f"{value + 0.0:.9g}".replace("0.", ".").replace("-", "−") for value in values)


def run(path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=False)


@pytest.fixture
def module(course: Course) -> Module:
    return course.module("08_positions")


@pytest.fixture
def lesson(module: Module) -> str:
    return module.lesson.read_text()


@pytest.fixture
def prose(lesson: str) -> str:
    return " ".join(lesson.split())


def test_every_decimal_is_computed(course: Course) -> None:
    assert unclaimed(course.module("08_positions"), numbers()) == []


def test_without_positions_the_outputs_only_change_places(lesson: str) -> None:
    plain = weights(Q, K) @ V
    moved = weights(Q[LAST], K[LAST]) @ V[LAST]
    assert moved == pytest.approx(plain[LAST])
    tables = lesson.partition("| output in *mat cat sat on The* |")
    for table, order, output in ((tables[0], FIRST, plain), (tables[2], LAST, moved)):
        rows = [f"| {TOKENS[token]} | {row(output[place])} |" for place, token in enumerate(order)]
        assert "\n".join(rows) in table


def test_the_example_by_hand_is_computed(lesson: str) -> None:
    for vector, place in ((Q[1], 1), (K[2], 2)):
        turned = interleaved(vector[None], np.array([place]))[0]
        for pair, (name, rate) in enumerate(zip(("first", "second"), rates(4), strict=True)):
            angle = place * rate
            before = ", ".join(f"{number:g}" for number in vector[2 * pair : 2 * pair + 2])
            after = cells(turned[2 * pair : 2 * pair + 2], ", ")
            waves = cells([math.cos(angle), math.sin(angle)])
            assert f"| {name} pair | {short([angle])} | {waves} | ({before}) | ({after}) |" in lesson
    score = float(interleaved(Q, PLACES)[1] @ interleaved(K, PLACES)[2])
    assert round(score, 4) == 2.7635
    assert float(interleaved(Q, PLACES + 100)[1] @ interleaved(K, PLACES + 100)[2]) == pytest.approx(score)
    assert Q[1] @ K[2] == 2


def test_the_tables_of_weights_are_computed(lesson: str) -> None:
    for i, token in enumerate(TOKENS):
        assert f"| {token} | {cells(rope_weights(FIRST)[i])} |" in lesson
        assert f"| {token} | {cells(alibi_weights(0.5)[i])} |" in lesson
    assert rope_weights(FIRST, 100) == pytest.approx(rope_weights(FIRST))


def test_the_signal_is_computed(lesson: str, prose: str) -> None:
    for place, values in enumerate(signal()):
        assert f"| {place} | {cells(values)} |" in lesson
    products = signal() @ signal().T
    assert products[1:, 1:] == pytest.approx(products[:-1, :-1])
    assert f"it is 2, {cells(products[0, 1:4], ', ')} and {cells(products[0, 4:])}" in prose
    assert round(2 * math.pi / rates(4)[1]) == 628
    assert "The second needs 628 positions" in prose


def test_the_two_layouts_are_computed(lesson: str) -> None:
    assert f"(0, 2) and (0, 1) | {cells(interleaved(Q, PLACES)[1], ', ')} |" in lesson
    assert f"(0, 0) and (2, 1) | {cells(half_split(Q, PLACES)[1], ', ')} |" in lesson
    order = [0, 2, 1, 3]
    assert half_split(Q[:, order], PLACES)[:, order] == pytest.approx(interleaved(Q, PLACES))
    assert f"| interleaved | {cells(rope_weights(FIRST)[1])} |" in lesson
    assert f"| half-split | {cells(weights(half_split(Q, PLACES), half_split(K, PLACES))[1])} |" in lesson
    assert f"| queries interleaved, keys half-split | {cells(mixed_weights()[1])} |" in lesson
    assert f"| the same, all positions 100 higher | {cells(mixed_weights(100)[1])} |" in lesson


def test_turned_values_depend_on_where_the_sentence_begins(prose: str) -> None:
    right, turned, later = (
        cells((rope_weights(FIRST) @ values)[0], ", ")
        for values in (V, interleaved(V, PLACES), interleaved(V, PLACES + 100))
    )
    assert f"the output of *The* is {right}, at the positions 0 to 4 and at 100 to 104" in prose
    assert f"it is {turned} at the positions 0 to 4, and {later} at 100 to 104" in prose


def test_the_slopes_and_the_bias_are_computed(lesson: str) -> None:
    assert f"| slope | {short(slopes(8))} |" in lesson
    assert f"| slope | {short([*slopes(4), *slopes(8)[0:4:2]])} |" in lesson
    scores = (Q @ K.T / 2)[4]
    assert f"| scaled score | {short(scores)} |" in lesson
    assert f"| bias | {short(ALIBI[4])} |" in lesson
    assert f"| sum | {short(scores + ALIBI[4])} |" in lesson
    assert f"| weight | {cells(softmax(scores + ALIBI[4]))} |" in lesson


def test_what_is_said_about_the_use_cells(prose: str) -> None:
    usual, moved = (cells((rope_weights(order) @ V[order])[1], ", ") for order in (FIRST, LAST))
    assert f"The output of *cat* is {usual} in *The cat sat on mat*, and {moved} in *mat cat sat on The*" in prose
    assert f"row *mat* is {cells(alibi_weights(slopes(8)[-1])[4], ', ')}: almost" in prose


def test_what_a_small_model_does_on_longer_texts(prose: str) -> None:
    """The losses are measured in the exhaustive tests of lesson 12."""
    assert f"its loss on them is {POSITIONS['rope', 1]}. On pieces of 64 it is {REPAIRS['nothing']}." in prose
    assert f"With all positions divided by 4 it is {REPAIRS['positions']}" in prose
    assert f"With the base 100000 it is {REPAIRS['base']}" in prose
    assert f"bring it to {REPAIRS['training']}" in prose
    without, table, rope = LEFT_OUT["positions", 4], LEFT_OUT["nothing", 4], round(POSITIONS["rope", 4], 1)
    said = f"the loss is {without} without positions, {table} with the table and {rope} with RoPE"
    assert said.replace(" 0.", " .") in prose


def test_the_solution_runs_as_a_file_and_prints_the_map_of_the_lesson(course: Course, lesson: str) -> None:
    done = run(str(course.solution(course.module("08_positions"))))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    start = lines.index("Causal attention with ALiBi, slope 0.5:") + 1
    assert "\n".join(lines[start : start + 5]) in lesson
    for name, order in (("The cat sat on mat", FIRST), ("mat cat sat on The", LAST)):
        start = lines.index(f"Without positions: {name}") + 1
        assert [line.split()[0] for line in lines[start : start + 5]] == [TOKENS[token] for token in order]


def test_the_stub_runs_up_to_the_first_function_to_be_written(module: Module) -> None:
    done = run(str(module.stub))
    assert done.returncode == 1
    assert "sinusoidal_positions" in done.stderr
    assert done.stderr.strip().endswith("NotImplementedError")
