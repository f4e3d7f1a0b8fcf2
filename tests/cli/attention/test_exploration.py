"""The explorer's numbers: the formulas beside a student's own code, and who makes which step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from cli.attention.exploration import Exploration, Setting, explore
from cli.attention.formula import EXPECTED, WHAT_IF, Case
from cli.attention.sentences import LESSON, MOST_TOKENS, SENTENCES, typed
from cli.attention.trace import own_trace
from grader.authoring.misconceptions import read_misconceptions
from grader.course.course import Course, find_course
from grader.course.golden import read_golden
from grader.diagnosis.fingerprints import outcome_of
from grader.diagnosis.probe import read_probes
from tests.conftest import ROOT
from tests.quick import sample

SOFTMAX, LOOPS, ARRAYS, MASKS = "01_softmax", "02_loop_attention", "03_attention", "04_masks"
LAYER, POSITIONS, EFFICIENT = "06_multi_head_attention", "08_positions", "11_efficient_attention"
QUICK = 3  # of the misconceptions with a formula
Explored = Callable[..., Exploration]


@pytest.fixture
def explored(tmp_path: Path) -> Explored:
    """Explore a bundle in which a student has solved some modules; `more` is code at the end of the last one."""

    def run(*names: str, more: str = "") -> Exploration:
        for name in names:
            shutil.copytree(ROOT / "modules" / name, tmp_path / "modules" / name)
            file = f"{name}/{name[3:]}.py"
            code = (ROOT / "solutions" / file).read_text() + (more if name == names[-1] else "")
            (tmp_path / "modules" / file).write_text(code)
        return explore(find_course(tmp_path), (LESSON,))

    return run


def ways() -> list[object]:
    """Every misconception with a formula; only some of them are in the quick run."""
    here = [(module, name) for module in (LOOPS, ARRAYS) for name in WHAT_IF if f"# %% {name}\n" in source(module)]
    quick = sample(here, QUICK, " ".join, kind=itemgetter(0))
    return [pytest.param(*one, marks=() if one in quick else pytest.mark.exhaustive) for one in here]


def source(module: str) -> str:
    return (ROOT / "solutions" / module / "misconceptions.py").read_text()


@pytest.mark.parametrize(("module", "name"), ways())
def test_a_misconception_is_the_formula_shown_for_it(
    course: Course, explored: Explored, module: str, name: str
) -> None:
    (way,) = (one for one in read_misconceptions(course, course.module(module)) if one.name == name)
    found = explored(module, more=f"\n\n{way.code}")
    assert (found.misconception, found.what_if) == (name, WHAT_IF[name][0])
    wrong = 0
    for view in (view for views in found.views.values() for view in views):
        assert view.what_if is not None
        assert np.allclose(view.yours.weights, view.what_if.weights)
        assert np.allclose(view.yours.output, view.what_if.output)
        wrong += not np.allclose(view.yours.weights, view.expected.weights)
    assert wrong


def test_every_formula_belongs_to_a_misconception() -> None:
    assert all(any(f"# %% {name}\n" in source(module) for module in (LOOPS, ARRAYS)) for name in WHAT_IF)


def test_the_expected_numbers_are_those_of_the_golden_file(course: Course) -> None:
    module = course.module(ARRAYS)
    golden = read_golden(module)
    probes = read_probes(module, golden.api)
    case = Case(LESSON.q, LESSON.k, LESSON.v, np.tri(5))
    stages = EXPECTED.stages(case)
    wanted = {
        "compute_scores": stages.raw,
        "scale_scores": stages.scaled,
        "compute_weights": stages.weights[:4],
    }  # its probe leaves out the last query
    seen = set()
    for number, probe in enumerate(probes):
        method = probe.path.rpartition(".")[2]
        if probe.said == "the shared example" and method in wanted:
            assert np.allclose(np.asarray(outcome_of(golden.probes[number][0]).value), wanted[method])
            seen.add(method)
    assert seen == set(wanted)


def test_a_query_without_keys_gets_no_weights() -> None:
    stages = EXPECTED.stages(Case(LESSON.q, LESSON.k, LESSON.v, np.tri(5, k=-1)))
    assert np.array_equal(stages.weights.sum(axis=1).round(9), [0, 1, 1, 1, 1])
    assert np.array_equal(stages.output[0], np.zeros(LESSON.v.shape[1]))


def test_right_code_has_the_expected_numbers_everywhere(explored: Explored) -> None:
    found = explored(ARRAYS, MASKS, POSITIONS, EFFICIENT)
    assert found.by_course == []
    assert found.positions == ("none", "sinusoidal", "RoPE")
    assert not found.misconception
    for view in (view for views in found.views.values() for view in views):
        for stage in ("raw", "scaled", "weights", "output"):
            assert np.allclose(getattr(view.yours, stage), getattr(view.expected, stage))
    plain, turned = (found.views[Setting(positions=name)][0].yours.weights for name in ("none", "RoPE"))
    assert not np.allclose(plain, turned)


@pytest.mark.exhaustive
def test_two_heads_are_the_layer_of_module_six(explored: Explored) -> None:
    ignoring = "lambda self, query, key=None, value=None, mask=None: kept(self, query, key, value)"
    found = explored(LAYER, more=f"\n\nkept = MultiHeadAttention.forward\nMultiHeadAttention.forward = {ignoring}\n")
    makers = {one.step: one for one in found.makers}
    assert makers["heads"].module == makers["masked heads"].module == LAYER
    assert makers["heads"].call == "MultiHeadAttention(4, 2)(Q, K, V)"
    assert makers["weights"].module == ""  # one head is not made by the layer
    for setting, views in found.views.items():
        blocked = setting.causal or setting.window is not None
        for view in views:
            right = np.allclose(view.yours.weights, view.expected.weights, rtol=1e-9)
            assert right == np.allclose(view.yours.output, view.expected.output, rtol=1e-9)
            assert right == (setting.heads == 1 or not blocked), setting


@pytest.mark.exhaustive
def test_without_a_layer_that_works_the_vectors_are_cut(explored: Explored) -> None:
    found = explored(SOFTMAX, LAYER, more="\n\nMultiHeadAttention.forward = lambda self, *_, **__: None\n")
    makers = {one.step: one for one in found.makers}
    assert (makers["heads"].module, makers["heads"].problem) == (
        "",
        "MultiHeadAttention should return the pair (output, weights), got None",
    )
    assert "heads" not in found.by_course
    for view in found.views[Setting(heads=2)]:
        assert np.allclose(view.yours.weights, view.expected.weights)


def test_loops_have_the_numbers_that_explain_prints(explored: Explored, tmp_path: Path) -> None:
    (view,) = explored(LOOPS).views[Setting()]
    course = find_course(tmp_path)
    trace = own_trace(course, course.module(LOOPS))
    assert [stage.name for stage in trace.stages] == ["raw", "scaled", "weights", "output"]
    assert all(np.array_equal(getattr(view.yours, stage.name), stage.values) for stage in trace.stages)


def test_with_softmax_alone_the_weights_are_yours(explored: Explored) -> None:
    found = explored(SOFTMAX)
    makers = {one.step: one.module for one in found.makers}
    assert makers["weights"] == makers["masked weights"] == SOFTMAX
    assert {step for step, module in makers.items() if not module} >= {"scores", "scale", "output", "causal mask"}
    for setting in (Setting(), Setting(causal=True), Setting(window=2)):
        (view,) = found.views[setting]
        assert np.allclose(view.yours.weights, view.expected.weights)


def test_code_without_masks_is_used_where_there_is_none(explored: Explored) -> None:
    name = "scaled_dot_product_attention"
    found = explored(LOOPS, more=f"\n\nkept = {name}\ndef {name}(Q, K, V):\n    return kept(Q, K, V)\n")
    makers = {one.step: one for one in found.makers}
    assert makers["weights"].module == makers["output"].module == LOOPS
    assert makers["masked weights"].module == ""
    assert "unexpected keyword argument 'mask'" in makers["masked weights"].problem


def test_numbers_that_would_overflow_are_not_used(explored: Explored) -> None:
    found = explored(SOFTMAX, more="\n\ndef softmax(x, axis=-1):\n    return 1e200 + x\n")
    maker = next(one for one in found.makers if one.step == "weights")
    assert (maker.module, maker.problem) == ("", "The result of softmax holds numbers beyond 1e+100")


def test_a_file_that_cannot_be_loaded_is_named(explored: Explored) -> None:
    found = explored(SOFTMAX, LOOPS, more="\nimport nothing_of_the_kind\n")
    assert next(one.problem for one in found.modules if one.problem).startswith("import raised ModuleNotFoundError")
    assert {one.step: one.module for one in found.makers}["weights"] == SOFTMAX


def test_sentences() -> None:
    assert SENTENCES[0] is LESSON
    cat = typed("the CAT purrs")
    assert cat.tokens == ("the", "CAT", "purrs")
    assert np.array_equal(cat.q[:2], LESSON.q[:2])
    assert np.array_equal(cat.k[2], typed("purrs on").k[0])
    assert "purrs are made from the letters" in cat.about
    assert "made from" not in typed("cat on mat").about
    river, money = (
        dict(zip(one.tokens, EXPECTED.stages(Case(one.q, one.k, one.v)).output, strict=True)) for one in SENTENCES[1:]
    )
    assert river["bank"][2] > river["bank"][1]  # water, not money
    assert money["bank"][1] > money["bank"][2]
    for text in ("", "cat", "a " * (MOST_TOKENS + 1)):
        with pytest.raises(ValueError, match="2 to 8 words"):
            typed(text)
    assert "\x1b" not in typed("cat \x1b[2J").text
