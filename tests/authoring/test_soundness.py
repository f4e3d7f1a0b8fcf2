"""`attn dev check` finds no problem in the course, and names the cause of every problem that an author can make."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.authoring.build import build_module, new_module
from grader.authoring.golden_file import golden_text
from grader.authoring.misconceptions import read_misconceptions
from grader.authoring.proof import changed_since_proof
from grader.authoring.soundness import check_module, check_modules
from grader.authoring.trials import TrialRoom
from grader.course.course import Course, read_course
from grader.course.module import CourseError
from tests.conftest import prove_once
from tests.quick import QUICK

HIDDEN_TEST = '\n\n@worth({points}, "{name}")\ndef test_{name}(student, rng):\n    {body}\n'
# Wrong only for arrays of shape (3, 4), which only the oracle check uses.
ONLY_ORACLE = """

# %% shape_bound
LIKELY = "matrices of three rows are halved"
HINT = "Compare with the lesson."


def tiny(x):
    return np.asarray(x) / 2 if np.shape(x) == (3, 4) else 2 * np.asarray(x)
"""
UNCAUGHT = """

# %% harmless
LIKELY = "the sum is taken instead of the double"
HINT = "They are the same."


def tiny(x):
    return np.asarray(x) + np.asarray(x)
"""

# The wrong ways that the curriculum lists, by their names in the course.
LISTED = {
    "01_softmax": """no_max_subtraction global_max axis_zero whole_array ignores_axis keepdims_forgotten modifies_input
        divides_by_raw_sum multiplies_by_temperature log_of_softmax upcasts_float32""",
    "02_loop_attention": """no_scaling divides_by_d_k divides_by_sqrt_d_v divides_by_sqrt_n_k multiplies_by_scale
        softmax_over_queries loops_over_queries_twice q_and_k_swapped mask_ignored mask_inverted
        first_batch_element_reused""",
    "03_attention": """no_scaling divides_by_d_k forward_divides_by_sqrt_d_v divides_by_sqrt_n_k multiplies_by_scale
        softmax_over_queries keys_cut_to_queries q_and_k_swapped mask_ignored mask_inverted first_batch_element_reused
        k_t_reverses_all_axes weights_returned_first scale_after_softmax keys_instead_of_values projections_transposed
        function_without_scaling function_divides_by_d_k function_takes_d_v_for_d_k function_takes_n_k_for_d_k
        function_softmax_over_queries function_forgets_the_mask function_inverts_the_mask function_uses_k_t
        function_returns_weights_first function_scales_the_weights function_for_keys_as_values""",
    "04_masks": """causal_diagonal_excluded causal_upper_triangle causal_true_is_blocked padding_true_is_blocked
        softmax_true_is_blocked padding_two_dimensions padding_one_too_many padding_one_too_few combines_with_or
        mask_after_softmax mask_multiplies_scores adds_minus_1e9 fills_minus_1e9 blocked_row_nan""",
    "05_torch_attention": """in_place_on_the_weights in_place_division in_place_dropout weights_cut_from_q_and_k
        cut_when_masked weights_returned_detached output_cut_from_weights keys_cut_off values_cut_off
        everything_under_no_grad dropout_in_eval dropout_on_scores softmax_over_queries softmax_over_dim_one
        softmax_over_dim_zero no_row_sum attention_without_row_sum grad_k_not_transposed scale_missing""",
    "06_multi_head_attention": """split_without_transpose merge_without_transposing scale_of_the_whole_width
        first_heads_weights_for_all output_projection_missing query_projection_for_keys one_layer_for_queries_and_keys
        value_from_query value_defaults_to_query mask_over_the_wrong_axis mask_in_the_first_head merge_averages
        heads_averaged""",
    "07_gpu_path": """mask_left_on_the_cpu mask_made_on_the_cpu scale_made_on_the_cpu softmax_on_the_cpu
        results_on_the_cpu largest_score_read through_numpy hard_coded_cuda mask_to_hard_coded_cuda
        causal_dropped_with_a_mask convention_inverted mask_of_numbers_added every_mask_added scaled_after_the_product
        never_scaled_in_half output_left_in_half""",
    "08_positions": """rope_half_split rope_written_in_halves rope_interleaved_pairs_half_split_angles
        rope_half_split_pairs_interleaved_angles rope_turns_backwards rope_arange_for_positions rope_positions_from_one
        sinusoidal_positions_from_one rope_degrees sinusoidal_degrees sinusoidal_blocks sinusoidal_exponent_half
        frequencies_exponent_half rope_frequency_exponent_half rope_batch_axis rope_tokens_before_heads bias_sign
        bias_from_the_top_left slopes_plain_formula slopes_begin_at_one""",
    "09_kv_cache": """decode_recomputes decode_gives_all_tokens_so_far concatenates mask_from_the_top_left
        does_not_see_itself returns_every_slot writes_at_slot_zero values_not_kept one_memory_for_all_caches
        one_length_for_all_caches tokens_kept_in_the_layer repeats_in_turn repeats_the_average reset_does_nothing
        scale_of_the_whole_width last_cache_is_used_again""",
    "10_flash_attention": """accumulator_not_rescaled merge_old_sum_not_rescaled divided_in_every_tile
        merge_nan_of_a_blocked_row merge_nan_made_zero_for_the_row ragged_tile_dropped ragged_tile_padded_with_zeros
        causal_by_the_tile log_sum_without_the_maximum sum_without_the_logarithm whole_table all_keys_at_once
        causal_tiles_not_skipped backward_row_sum_missing backward_weights_not_normalised
        backward_no_scaling_of_the_gradients
        backward_no_scaling_of_the_scores backward_keys_not_accumulated backward_values_not_accumulated""",
    "11_efficient_attention": """window_as_a_mask linear_weights_first mask_one_too_wide mask_one_too_narrow
        window_one_too_wide window_one_too_narrow mask_counts_from_the_left_edge window_counts_from_the_left_edge
        linear_without_normaliser step_without_normaliser linear_normalised_over_queries linear_without_feature_map
        linear_softmax_features linear_sums_over_the_wrong_axis linear_causal_ignored linear_one_state_for_all_sequences
        step_one_state_for_all_sequences step_one_state_for_all_calls step_changes_the_state_in_place""",
    "12_transformer": """norm_eps_outside_the_root norm_subtracts_the_mean block_post_norm block_without_first_residual
        block_without_second_residual block_shares_one_norm network_gate_and_up_swapped model_without_mask
        batch_targets_not_shifted loss_of_a_softmax loss_is_a_sum model_without_positions model_positions_from_one
        generate_without_cropping sample_top_k_keeps_ties sample_top_p_drops_the_last sample_temperature_multiplied
        train_gradients_add_up train_in_eval_mode generate_in_train_mode""",
}


def problems(course: Course) -> str:
    """Return all problems of the only module, as one text."""
    result = check_module(course, course.modules[0])
    return "\n".join(f"{problem.what} | {problem.fix}" for problem in result.problems)


def add_hidden(course: Course, name: str, body: str) -> Course:
    """Add a check worth one point to the hidden suite, and correct the total."""
    module = course.modules[0]
    suite = course.hidden_suite(module)
    suite.write_text(suite.read_text() + HIDDEN_TEST.format(points=1, name=name, body=body))
    return repointed(course, 11)


def repointed(course: Course, points: int) -> Course:
    edit(course.modules[0].folder / "module.toml", "points = 10", f"points = {points}")
    return read_course(course.root)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def misconceptions_of(course: Course) -> Path:
    return course.solution(course.modules[0]).with_name("misconceptions.py")


def assert_sound(course: Course, names: Sequence[str]) -> None:
    prove_once(*names)
    proved = check_modules(course, [course.module(name) for name in names])
    assert {result.module.name: result.problems for result in proved} == dict.fromkeys(names, ())


def test_a_module_is_sound(course: Course) -> None:
    assert_sound(course, QUICK[:1])


@pytest.mark.exhaustive
def test_the_course_is_sound(course: Course) -> None:
    assert_sound(course, [module.name for module in course.modules])


def test_a_stub_edited_by_hand(tiny: Course) -> None:
    edit(tiny.modules[0].stub, "raise NotImplementedError", "pass")
    assert "tiny.py is not what the solution generates | Run `attn dev build`" in problems(tiny)


def test_a_hidden_check_that_calls_the_student_and_asserts_nothing(tiny: Course) -> None:
    assert "nothing fails for no misconception" in problems(add_hidden(tiny, "nothing", "student.tiny(np.ones(3))"))


def test_a_hidden_check_that_does_not_even_call_the_student(tiny: Course) -> None:
    found = problems(add_hidden(tiny, "less", "assert rng is not None"))
    assert "the untouched stub passes less" in found
    assert "less fails for no misconception" in found


def test_a_hidden_check_that_fails_only_for_what_is_not_implemented(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    code = "# %% undone\nLIKELY = 'a'\nHINT = 'b'\n\n\ndef tiny(x):\n    raise NotImplementedError\n"
    path.write_text(f"{path.read_text()}\n\n{code}")
    assert "nothing fails for no misconception" in problems(add_hidden(tiny, "nothing", "student.tiny(np.ones(3))"))


def test_a_hidden_check_that_fails_only_where_a_wrong_way_raises(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    body = "    if np.ndim(x) == 1:\n        raise KeyError\n    return x\n"
    code = f"# %% fussy\nLIKELY = 'a'\nHINT = 'b'\n\n\ndef tiny(x):\n{body}"
    path.write_text(f"{path.read_text()}\n\n{code}")
    assert "nothing fails for no misconception" in problems(add_hidden(tiny, "nothing", "student.tiny(np.ones(3))"))


def test_a_check_that_was_held_back_has_not_failed(tiny: Course) -> None:
    suite = tiny.hidden_suite(tiny.modules[0])
    text = suite.read_text().replace(
        'sum of the doubles")', 'sum of the doubles", needs="tiny_agrees_with_the_oracle")'
    )
    suite.write_text(text)
    path = misconceptions_of(tiny)
    path.write_text(path.read_text() + ONLY_ORACLE)
    found = problems(tiny)
    assert "shape_bound is caught only by oracle comparisons" in found
    assert "tiny_is_linear fails for no misconception" in found


def test_a_check_is_tried_again_where_one_that_it_needs_is() -> None:
    """Otherwise it would pass as it does for the solution, where students have it held back."""
    room: Any = object.__new__(TrialRoom)
    needs = {"first": None, "second": "first", "other": None}
    room._context = SimpleNamespace(checks=[SimpleNamespace(name=name, needs=one) for name, one in needs.items()])
    room.reach = SimpleNamespace(from_names=frozenset)
    asked = {"first": ["f"], "second": ["g"], "other": ["g"]}
    reference = SimpleNamespace(checks={name: SimpleNamespace(asked=names) for name, names in asked.items()})
    assert room._skipped(frozenset({"f"}), reference).affected == {"first", "second"}


def test_an_oracle_is_recognised_behind_a_helper(tiny: Course) -> None:
    suite = tiny.hidden_suite(tiny.modules[0])
    edit(suite, "    assert_close(student.tiny(x), oracle_tiny(x))\n", "    agrees(student, x)\n")
    edit(
        suite, "@worth(4,", "def agrees(student, x):\n    assert_close(student.tiny(x), oracle_tiny(x))\n\n\n@worth(4,"
    )
    path = misconceptions_of(tiny)
    path.write_text(path.read_text() + ONLY_ORACLE)
    assert "shape_bound is caught only by oracle comparisons" in problems(tiny)


@pytest.mark.parametrize("body", ["raise NotImplementedError", "return nq.ones(3)", "return undefined"])
def test_a_misconception_that_only_raises(tiny: Course, body: str) -> None:
    path = misconceptions_of(tiny)
    path.write_text(f"{path.read_text()}\n\n# %% raises\nLIKELY = 'a'\nHINT = 'b'\n\n\ndef tiny(x):\n    {body}\n")
    assert "the misconception raises never returns a wrong result, it only raises" in problems(tiny)


def test_a_misconception_may_refuse_what_is_right(tiny: Course) -> None:
    """Strict decoding, for example, raises for half a character, and that is the mistake."""
    path = misconceptions_of(tiny)
    refuses = "raise UnicodeDecodeError('utf-8', b'', 0, 1, 'no text')"
    path.write_text(f"{path.read_text()}\n\n# %% raises\nLIKELY = 'a'\nHINT = 'b'\n\n\ndef tiny(x):\n    {refuses}\n")
    assert "only raises" not in problems(tiny)


def test_a_function_and_a_constant_without_checks(tiny: Course) -> None:
    solution = tiny.solution(tiny.modules[0])
    extra = "\n\ndef more(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\n\n\nREFLECT_COST = None\n"
    solution.write_text(solution.read_text() + extra)
    found = problems(tiny)
    assert "no hidden check examines more" in found
    assert "no hidden check examines reflect" in found
    assert "no misconception gives a wrong answer for REFLECT_COST" in found


def test_a_check_that_depends_on_chance(tiny: Course) -> None:
    body = "x = rng.normal(size=1); assert_close(student.tiny(x), 2 * x); assert rng.random() < 0.02"
    assert "the solution fails lucky with other random inputs" in problems(add_hidden(tiny, "lucky", body))


def test_a_misconception_no_check_catches(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    path.write_text(path.read_text() + UNCAUGHT)
    assert "the misconception harmless gets full marks: no check catches it" in problems(tiny)


def test_a_misconception_only_the_oracle_catches(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    path.write_text(path.read_text() + ONLY_ORACLE)
    assert "shape_bound is caught only by oracle comparisons: tiny_agrees_with_the_oracle" in problems(tiny)


def test_a_misconception_caught_once(tiny: Course) -> None:
    edit(misconceptions_of(tiny), "VALUES_RIGHT = True\n", "")
    assert "modifies_input is caught by one check only: tiny_leaves_its_arguments" in problems(tiny)


def test_a_misconception_that_calls_its_wrong_values_right(tiny: Course) -> None:
    edit(misconceptions_of(tiny), "# %% squares\n", "# %% squares\nVALUES_RIGHT = True\n")
    assert "squares says VALUES_RIGHT, but fails an oracle comparison" in problems(tiny)


def test_a_misconception_that_only_raises_says_so(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    edit(path, "# %% squares\n", "# %% squares\nRAISES = True\n")
    assert "squares says RAISES, but returns a wrong result, too" in problems(tiny)


def test_an_empty_suite(tiny: Course) -> None:
    tiny.hidden_suite(tiny.modules[0]).write_text('"""Nothing yet."""\n')
    assert "test_01_tiny.py: contains no checks" in problems(tiny)


def test_no_suite(tiny: Course) -> None:
    tiny.hidden_suite(tiny.modules[0]).unlink()
    assert "test_01_tiny.py: is missing" in problems(tiny)


def test_unbalanced_markers(tiny: Course) -> None:
    edit(tiny.solution(tiny.modules[0]), "    ### END SOLUTION\n", "")
    assert "tiny.py: line 16: ### BEGIN SOLUTION without an ### END SOLUTION after it" in problems(tiny)


def test_a_solution_that_fails_its_own_suite(tiny: Course) -> None:
    edit(tiny.solution(tiny.modules[0]), "return 2 *", "return 3 *")
    assert "the solution fails tiny_of_three" in problems(tiny)


def test_a_solution_that_does_not_import(tiny: Course) -> None:
    edit(tiny.solution(tiny.modules[0]), "import numpy as np", "import numpy as np, nothing_like_it")
    assert "No module named 'nothing_like_it'" in problems(tiny)


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1}\n'])
def test_a_stale_golden_file(tiny: Course, text: str) -> None:
    tiny.modules[0].golden.write_text(text)
    assert problems(tiny) == "golden.json is stale | Run `attn dev build`"


def test_a_golden_file_that_is_stale_after_another_change(tiny: Course) -> None:
    edit(misconceptions_of(tiny), "the values are squared", "the values are squared by mistake")
    assert problems(tiny) == "golden.json is stale | Run `attn dev build`"


def test_no_lesson(tiny: Course) -> None:
    tiny.modules[0].lesson.unlink()
    assert "there is no lesson" in problems(tiny)


def test_no_misconceptions(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    path.write_text('"""None known."""\n')
    assert "there are no misconceptions" in problems(tiny)
    path.unlink()
    assert "misconceptions.py: is missing" in problems(tiny)


def test_a_check_that_crashes_for_a_strange_result(tiny: Course) -> None:
    found = problems(add_hidden(tiny, "trips", "assert student.tiny(np.ones(3)).sum() == 6"))
    assert "trips crashes for a student returning None: the check itself failed with AttributeError" in found


def test_checks_that_do_not_look_at_the_result(tiny: Course) -> None:
    suite = tiny.hidden_suite(tiny.modules[0])
    edit(suite, "assert_close(student.tiny(x), oracle_tiny(x))", "assert student.tiny(x) is not oracle_tiny")
    edit(suite, "assert_close(both, array_like", "str(both); (lambda *_: 0)(both, array_like")
    edit(suite, "array_like(one, x.shape) + array_like(other, y.shape)", "one, other")
    edit(suite, 'shown(student, "tiny")', "str(shown)")
    assert "a student returning None gets 8 points" in problems(tiny)


def test_points_out_of_proportion(tiny: Course) -> None:
    edit(tiny.modules[0].checks, "@worth(2,", "@worth(5,")
    assert "the visible checks: worth 5 of 13, more than 20%" in problems(repointed(tiny, 13))


def test_dtype_and_reflect_out_of_proportion(tiny: Course) -> None:
    suite = tiny.hidden_suite(tiny.modules[0])
    edit(suite, "tiny_is_linear", "tiny_dtype")
    edit(suite, '"it agrees with an independent formula on random arrays")', '"it agrees", target="reflect")')
    solution = tiny.solution(tiny.modules[0])
    solution.write_text(solution.read_text() + "\n\nREFLECT_X = None\n")
    build_module(tiny, tiny.modules[0])
    found = problems(tiny)
    assert "tiny_dtype: worth 3 of 6, more than 5%" in found
    assert "reflect: worth 4 of 10, more than 10%" in found


def test_a_check_that_contains_a_line_of_the_solution(tiny: Course) -> None:
    solution, checks = tiny.solution(tiny.modules[0]), tiny.modules[0].checks
    lines = "    doubled = np.add(x, x)\n    return np.asarray(doubled)\n"
    solution.write_text(solution.read_text().replace("    return 2 * np.asarray(x)\n", lines))
    checks.write_text(checks.read_text() + "\n\ndef helper(x):\n" + lines)
    assert "checks.py contains a line of the solution of 01_tiny: 'doubled = np.add(x, x)'" in problems(tiny)


def test_a_visible_file_that_contains_a_hidden_check(tiny: Course) -> None:
    lesson = tiny.modules[0].lesson
    lesson.write_text(lesson.read_text() + tiny.hidden_suite(tiny.modules[0]).read_text().replace("def ", "def my_"))
    assert "README.md contains a part of the hidden suite of 01_tiny" in problems(tiny)


class TestNewModule:
    """`attn dev new` makes a sound module after the last one."""

    def test_a_new_module_comes_last_and_is_sound(self, course_copy: Course) -> None:
        new_module(course_copy, "rope", "Rotary {positions}")
        course = read_course(course_copy.root)
        rope = course.module("rope")
        number = max(module.order for module in course_copy.all_modules) + 1
        assert (rope.name, rope.title) == (f"{number:02d}_rope", "Rotary {positions}")
        build_module(course, rope)
        assert check_module(course, rope).problems == ()

    def test_any_title_is_allowed(self, course_copy: Course) -> None:
        new_module(course_copy, "quoted", 'He said "hi" \\ and left')
        assert read_course(course_copy.root).module("quoted").title == 'He said "hi" \\ and left'

    @pytest.mark.parametrize("slug", ["Rope", "../rope", "1rope", "", "softmax", "class"])
    def test_a_bad_name_is_refused_and_nothing_is_written(self, course_copy: Course, slug: str) -> None:
        before = sorted(course_copy.root.rglob("*"))
        with pytest.raises(CourseError):
            new_module(course_copy, slug, "x")
        assert sorted(course_copy.root.rglob("*")) == before


class TestMisconceptions:
    """The file of known wrong ways is data, and says what is wrong with itself."""

    @pytest.mark.parametrize(
        ("cell", "words"),
        [
            ("# %% axis_zero\nLIKELY = 'a'\nHINT = 'b'\nx = 1\n", "appears twice"),
            ("# %% other\nHINT = 'b'\nx = 1\n", "LIKELY is missing"),
            ("# %% other\nLIKELY = 'a'\nx = 1\n", "HINT is missing"),
            ("# %% other\nLIKELY = 'a'\nHINT = 'b'\n", "redefines nothing"),
            ("# %% Not_Small\nLIKELY = 'a'\nHINT = 'b'\nx = 1\n", "is not a valid name"),
            ("# %% other\nLIKELY = 3\nHINT = 'b'\nx = 1\n", "LIKELY must be a str"),
            ("# %% other\nLIKELY = f()\nHINT = 'b'\nx = 1\n", "malformed"),
            ("# %% other\nLIKELY = 'a'\nHINT = 'b'\ndef f(:\n", "invalid syntax"),
        ],
    )
    def test_mistakes_are_named(self, course_copy: Course, cell: str, words: str) -> None:
        module = course_copy.modules[0]
        path = course_copy.solution(module).with_name("misconceptions.py")
        path.write_text(f"{path.read_text()}\n\n{cell}")
        with pytest.raises(CourseError, match=words):
            read_misconceptions(course_copy, module)

    @pytest.mark.parametrize("module", LISTED)
    def test_every_listed_wrong_way_of_the_curriculum_is_there(self, course: Course, module: str) -> None:
        names = {wrong.name for wrong in read_misconceptions(course, course.module(module))}
        assert names >= set(LISTED[module].split())

    def test_every_module_has_its_list(self, course: Course) -> None:
        assert set(LISTED) == {module.name for module in course.modules}


def test_a_golden_file_keeps_half_a_character() -> None:
    """A lone surrogate is a text in Python, and has no UTF-8."""
    data = {"text": {"\ud800": "é\udfff"}}
    written = golden_text(data).encode()
    assert b"\\ud800" in written
    assert json.loads(written) == data


def test_the_golden_file_has_the_points_and_names_no_hidden_check(course: Course) -> None:
    document = json.loads(course.module("softmax").golden.read_text())
    assert sum(sum(points.values()) for points in document["targets"].values()) == pytest.approx(46)
    hidden = course.hidden_suite(course.module("softmax")).read_text()
    for wrong in document["misconceptions"].values():
        assert all(f"def test_{name}(" not in hidden for name in wrong["fails"])


CONTRACT = """
[complexity.tiny]
args = ["array n"]
sizes = {n = [2, 1]}
large = [{n = 40}]
points = COST
steps = "1"
work = "LIMIT"
unguarded = {work = "a list comprehension does the same work in more steps"}
"""
SLOW = """

# %% one_by_one
LIKELY = "the entries are doubled one by one"
HINT = "An array can be doubled as a whole."
COSTLY = True


def tiny(x):
    return np.array([2 * one for one in np.asarray(x).ravel().tolist()]).reshape(np.shape(x))
"""


class TestContracts:
    def with_contract(self, tiny: Course, limit: str = "n", cost: float = 2, wrong: str = SLOW) -> str:
        path = tiny.modules[0].folder / "module.toml"
        text = path.read_text().replace("points = 10", f"points = {10 + cost}")
        path.write_text(text + CONTRACT.replace("LIMIT", limit).replace("COST", str(cost)))
        misconceptions = misconceptions_of(tiny)
        misconceptions.write_text(misconceptions.read_text() + wrong)
        course = read_course(tiny.root)
        build_module(course, course.modules[0])
        return problems(course)

    def test_a_contract_that_can_be_kept_and_broken_is_sound(self, tiny: Course) -> None:
        assert self.with_contract(tiny) == ""

    def test_a_contract_that_nothing_breaks(self, tiny: Course) -> None:
        assert "nothing breaks the contract of tiny" in self.with_contract(tiny, wrong="")

    def test_a_contract_that_the_solution_breaks(self, tiny: Course) -> None:
        assert "the solution breaks the contract of tiny: work" in self.with_contract(tiny, limit="1")

    def test_a_costly_way_that_costs_nothing(self, tiny: Course) -> None:
        cheap = SLOW.replace(
            "np.array([2 * one for one in np.asarray(x).ravel().tolist()]).reshape(np.shape(x))", "x + x"
        )
        found = self.with_contract(tiny, wrong=cheap)
        assert "one_by_one says COSTLY, but breaks no contract" in found

    def test_a_costly_way_that_is_wrong(self, tiny: Course) -> None:
        found = self.with_contract(tiny, wrong=SLOW.replace("2 * one", "3 * one"))
        assert "one_by_one says COSTLY, but fails" in found

    def test_costs_worth_too_much(self, tiny: Course) -> None:
        assert "the costs: worth 4 of 14, more than 20%" in self.with_contract(tiny, cost=4)

    def test_a_stub_that_earns_a_cost(self, tiny: Course) -> None:
        given = "    if np.ndim(x) == 1:\n        return 2 * np.asarray(x)\n    ### BEGIN SOLUTION\n"
        edit(tiny.solution(tiny.modules[0]), "    ### BEGIN SOLUTION\n", given)
        assert "the untouched stub earns points for the steps of tiny" in self.with_contract(tiny)

    def test_the_golden_file_has_the_costs_of_the_reference(self, course: Course) -> None:
        for module in course.modules:
            golden = json.loads(module.golden.read_text())
            assert set(golden["costs"]) == set(module.complexity), module.name


ALIKE = """

# %% cubes
LIKELY = "the values are cubed"
HINT = "Try 2."


def tiny(x):
    return np.asarray(x) ** 3
"""


def test_a_misconception_that_no_probe_tells_apart(tiny: Course) -> None:
    path = misconceptions_of(tiny)
    path.write_text(path.read_text() + ALIKE)
    assert "is not diagnosed" not in problems(tiny)
    probes = tiny.modules[0].probes
    probes.write_text(probes.read_text().replace("[3.0]", "[1.0]").replace("[[1.0, -1.0], [0.5, 4.0]]", "[0.0]"))
    found = problems(tiny)
    assert "the misconception cubes is not diagnosed | Add a probe that tells it apart from the others" in found
    assert "the misconception squares is not diagnosed" in found


def test_probes_that_are_not_valid(tiny: Course) -> None:
    probes = tiny.modules[0].probes
    edit(probes, 'probe("tiny", np.array([3.0]))', 'probe("twice", np.array([3.0]))')
    assert "probes.py: twice: is not a name that the module asks for. Use one of tiny" in problems(tiny)
    probes.write_text("PROBES = [1]\n")
    assert "probes.py: PROBES: is not a list of probes" in problems(tiny)
    probes.write_text("1 / 0\n")
    assert "probes.py: cannot be run: ZeroDivisionError" in problems(tiny)
    probes.unlink()
    assert "probes.py: is missing" in problems(tiny)


def test_hints_that_are_missing_or_useless(tiny: Course) -> None:
    hints = tiny.modules[0].hints
    edit(hints, "[tiny]", "[other]")
    found = problems(tiny)
    assert "there are no hints for tiny | Write its nudge, pointer and worked step" in found
    assert "hints.toml has hints for other, which is not asked for" in found
    edit(hints, 'pointer = "It is one line."', "")
    assert "hints.toml: other: needs nudge, pointer, worked" in problems(tiny)
    hints.write_text("[tiny\n")
    assert "hints.toml: is not TOML" in problems(tiny)


def test_a_golden_file_of_another_machine_is_fresh(tiny: Course) -> None:
    golden = tiny.modules[0].golden
    document = json.loads(golden.read_text())
    outcome = document["probes"][0][0]["value"]
    outcome["array"][0] += 1e-5  # float32 in another order
    golden.write_text(json.dumps(document))
    assert problems(tiny) == ""
    outcome["array"][0] += 1e-3
    golden.write_text(json.dumps(document))
    assert problems(tiny) == "golden.json is stale | Run `attn dev build`"


def test_checks_that_changed_after_their_proof_are_named(course_copy: Course) -> None:
    module = course_copy.module("softmax")
    hidden = course_copy.hidden_suite(module)
    proved = module.golden.stat().st_mtime
    for path in (hidden, module.checks, module.probes, module.folder / "module.toml", course_copy.solution(module)):
        os.utime(path, (proved + 10, proved + 10))  # as a clone or a copy writes them
    assert changed_since_proof(course_copy, module) is None
    os.utime(hidden, (proved + 1000, proved + 1000))
    assert changed_since_proof(course_copy, module) == hidden
