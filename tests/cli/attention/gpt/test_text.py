"""Texts for `attn gpt`: the loss of the model of pairs, the tales of the course, and the loss curve."""

from __future__ import annotations

import math
import string
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.attention.gpt.loss_curve import LossCurve, final_loss, pieces, svg_curve, text_curve
from cli.attention.gpt.text import (
    LearningText,
    TextError,
    bigram_loss,
    read_learning_text,
    require_known,
    require_learnable,
    tales,
)
from cli.attention.gpt.training_run import ModelSize, shortest_text, split


def test_pairs_that_always_follow_each_other_cost_nothing() -> None:
    assert bigram_loss("ab" * 50).learnt == 0


def test_the_loss_of_pairs_by_hand() -> None:
    """After a comes b or c, each half of the time; after b and c always a: half of all pairs cost ln 2."""
    text = "abac" * 25
    learnt, held_out = split(text)
    assert (len(learnt), len(held_out)) == (90, 10)
    found = bigram_loss(text)
    assert found.learnt == pytest.approx((23 * math.log(45 / 23) + 22 * math.log(45 / 22)) / 89)
    # The held-out part is acabacabac. Every count of three characters is one more.
    after_a = 3 * -math.log(23 / 48) + 2 * -math.log(24 / 48)
    assert found.held_out == pytest.approx((after_a + 4 * -math.log(23 / 25)) / 9)


def test_the_tales_have_all_that_an_english_prompt_needs() -> None:
    text = tales()
    assert set(string.ascii_lowercase) - set(text.alphabet) <= {"z"}
    assert text.text.isascii()
    require_known("Once there was", text.alphabet)
    require_learnable(text, ModelSize())
    assert 1.5 < text.bigram.learnt < text.bigram.held_out < math.log(len(text.alphabet))


def test_a_text_is_read_as_people_save_it(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree")
    assert read_learning_text(path).text == "one\ntwo\nthree"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TextError, match="is not UTF-8 text"):
        read_learning_text(path)


def test_a_text_must_be_longer_than_the_context() -> None:
    size = ModelSize(8, 8, 1, 2, 16)
    enough = LearningText("t", "ab" * (shortest_text(size) // 2))
    require_learnable(enough, size)
    assert len(split(enough.text)[1]) > size.context_length + 1
    with pytest.raises(TextError, match="t has 99 characters"):
        require_learnable(LearningText("t", enough.text[:-1]), size)
    with pytest.raises(TextError, match="only one character"):
        require_learnable(LearningText("t", "a" * 200), size)
    with pytest.raises(TextError, match="never seen 'z'"):
        require_known("abz", "ab")


@pytest.mark.parametrize("count", [1, 2, 59, 60, 61, 1000])
def test_a_curve_of_any_length_can_be_drawn(count: int) -> None:
    losses = [4.0 - 3.0 * number / count for number in range(count)]
    assert sum(pieces(losses)) / len(pieces(losses)) == pytest.approx(sum(losses) / count, rel=0.02)
    lines = text_curve(losses, 2.0)
    assert sum("*" in line for line in lines) >= 1
    assert any("-----" in line or count < 5 for line in lines[:-2])
    assert all(len(line) <= 80 for line in lines)
    drawn = ElementTree.fromstring(svg_curve(LossCurve(tuple(losses), 2.0), "a <title>"))
    assert drawn.tag.endswith("svg")
    assert final_loss(losses) <= losses[0]
