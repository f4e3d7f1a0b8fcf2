"""Arguments of measured calls: every kind is made as it is described, and sizes can be expressions."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.complexity.arguments import ARGUMENT_KINDS, argument, require_argument, script_argument, size_of
from grader.sandbox.protocol.script import EACH, GIVEN, LAST, OBJECT

NAMES = {"b": 2, "n": 3, "d": 4, "v": 7}


def made(spec: str) -> Any:
    require_argument(spec, NAMES, ("cache",))
    return argument(spec, NAMES, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("text", "value"),
    [("n", 3), ("5", 5), ("2*d", 8), ("n+1", 4), ("2*n+d-1", 9), ("d/2", 2), ("d/2/2*n", 3), ("n-n", 0)],
)
def test_a_size_can_be_an_expression(text: str, value: int) -> None:
    assert size_of(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [("n/2", "n/2 is not a whole number at n = 3"), ("n-d", "n-d is negative at n = 3, d = 4"), ("n/0", "n/0 is not")],
)
def test_an_expression_without_a_size_is_named(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        size_of(text, NAMES)


def test_arrays_have_the_shapes_that_are_asked_for() -> None:
    assert made("array n 2*d").shape == (3, 8)
    assert made("array 1 d").dtype == np.float64
    assert made("positive n d").min() >= 1
    assert made("mask n n").all()
    tensor, mask = made("tensor b n d"), made("tensormask n")
    assert (tuple(tensor.shape), tensor.dtype) == ((2, 3, 4), torch.float32)
    assert mask.dtype == torch.bool


def test_ids_are_below_their_bound_and_use_all_of_it() -> None:
    ids = made("ids b 50*n below v")
    assert (ids.shape, ids.dtype.kind) == ((2, 150), "i")
    assert (ids.min(), ids.max()) == (0, 6)
    assert (np.diff(ids) < 0).any()
    tensor = made("tensorids b n below 5")
    assert (tuple(tensor.shape), tensor.dtype) == ((2, 3), torch.int64)


def test_positions_are_sorted_unless_it_is_said() -> None:
    assert made("positions n").tolist() == [0, 1, 2]
    assert made("positions n from 2*d").tolist() == [8, 9, 10]
    assert made("tensorpositions n from n").tolist() == [3, 4, 5]
    shuffled = made("positions 20 unsorted")
    assert sorted(shuffled) == list(range(20)) != shuffled.tolist()


def test_plain_values() -> None:
    assert made("lengths b n") == [2, 2]
    assert (made("size 2*n"), made("value -1e-5"), made("value 2")) == (6, -1e-5, 2.0)
    assert (made("none"), made("true"), made("false"), made("is_causal=true")) == (None, True, False, True)


def test_a_literal_is_the_value_that_is_written() -> None:
    assert made("literal [(97, 98), (256,  99)]") == [(97, 98), (256, 99)]
    assert made("literal 'two  words'") == "two  words"
    assert made("table=literal {'a': [1.5, None],\n  'b': {True}}") == {"a": [1.5, None], "b": {True}}
    assert made("literal '( ' times 2*n") == "( " * 6
    assert made("literal [1, 2] times n") == [1, 2, 1, 2, 1, 2]
    assert made("literal 'a times n'") == "a times n"
    first, second = made("literal [[1]]"), made("literal [[1]]")
    first[0].append(2)
    assert second == [[1]]


@pytest.mark.parametrize(
    "spec", ["literal", "literal n", "literal [1, 2", "literal open('x')", "literal [...]", "literal 5 times n"]
)
def test_only_a_value_that_can_be_sent_is_a_literal(spec: str) -> None:
    with pytest.raises(ValueError, match="write literal VALUE"):
        made(spec)


def test_pairs_are_different_tuples() -> None:
    pairs = made("pairs 10*n below v")
    assert len(set(pairs)) == 30
    assert {type(pair) for pair in pairs} == {tuple}
    assert {number for pair in pairs for number in pair} == set(range(7))
    assert pairs != sorted(pairs)
    with pytest.raises(ValueError, match="there are only 9 different pairs below 3"):
        made("pairs 10 below 3")


def test_containers_have_the_sizes_that_are_asked_for() -> None:
    assert sorted(made("list n")) == [0, 1, 2]
    assert collections.Counter(made("list 20 below d")) == {0: 5, 1: 5, 2: 5, 3: 5}
    assert sorted(made("tuple n")) == [0, 1, 2]
    assert type(made("tuple n below 2")) is tuple
    text, words = made("text 2*v below v"), made("words 50*n below v")
    assert collections.Counter(collections.Counter(text).values()) == {2: 7}
    assert (len(words), len(set(words)), {len(word) for word in words}) == (150, 7, {4})
    assert len(set(made("text 60"))) == 60
    assert len(set(made("words 5000"))) == 5000
    assert len(made("sentence v below n").split(" ")) == 7
    assert len(made("sentence v below n")) == 5 * 7 - 1
    assert sorted(made("dict n").values()) == [0, 1, 2]
    assert made("text n-3") == made("sentence n-3") == ""


def test_repeated_calls_get_numbers_of_their_own() -> None:
    rng = np.random.default_rng(0)
    kind, stack = script_argument("array 1 d", NAMES, rng, 5)
    assert (kind, stack.shape) == (EACH, (5, 1, 4))
    assert len(np.unique(stack)) == 20
    assert script_argument("positions 1 from step", NAMES, rng, 3)[1].tolist() == [[0], [1], [2]]
    assert script_argument("size step", NAMES, rng, 3) == (EACH, [0, 1, 2])
    assert script_argument("flag step", NAMES, rng, 2) == (EACH, [False, True])
    assert [len(one) for one in script_argument("array step+1 d", NAMES, rng, 3)[1]] == [1, 2, 3]
    assert script_argument("size n", NAMES, rng, None) == (GIVEN, 3)
    assert script_argument("object cache", NAMES, rng, 3) == (OBJECT, "cache")
    assert [script_argument(spec, NAMES, rng, 3) for spec in ("last", "last 0")] == [(LAST, None), (LAST, 0)]


def test_every_kind_has_an_example_here() -> None:
    """Every kind of the reference is made by a test above."""
    text = Path(__file__).read_text()
    assert [kind for kind in ARGUMENT_KINDS if f'"{kind} ' not in text and f'"{kind}"' not in text] == []
