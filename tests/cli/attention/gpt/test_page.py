"""The page of a training run: every text in it is escaped, and missing maps are explained."""

from __future__ import annotations

from cli.attention.gpt.page import Maps, gpt_page
from cli.attention.gpt.text import BigramLoss
from cli.attention.gpt.training_run import History, ModelSize, Sample, TrainingRun
from grader.core.report import EarlierModule

HOSTILE = "<script>alert(1)</script>\u202e"
WEIGHTS = [[[[1.0, 0.0], [0.25, 0.75]], [[1.0, 0.0], [1.0, 0.0]]]]


def page(maps: Maps, text: str = "tales.txt") -> str:
    run = TrainingRun(2, 4, 0.01, 0, ModelSize(), text, "", "ab", "transformer", ())
    history = History((3.0, 2.0), (Sample(1, text, 2.5), Sample(2, text, 2.25)))
    builds_on = (EarlierModule("06_multi_head_attention", "fallback", "fails its checks"),)
    return gpt_page(run, "12_transformer", builds_on, 1234, history, BigramLoss(2.5, 2.75), maps)


def test_every_head_has_a_map_with_its_tokens() -> None:
    text = page(Maps("a ", WEIGHTS))
    assert text.count('<table class="heat">') == 2
    assert '<th scope="col">␣</th>' in text
    assert '<td class="h1">25</td><td class="h3">75</td>' in text
    assert "a fallback stands in, because your own fails its checks" in text
    assert "<strong>Loss 2.000; the bigram model has 2.500</strong>" in text


def test_missing_maps_are_explained() -> None:
    text = page(Maps("ab", [], "your GPT has no `blocks`"))
    assert "There are no maps: your GPT has no `blocks`." in text
    assert '<table class="heat">' not in text


def test_text_of_a_model_cannot_become_code() -> None:
    text = page(Maps("<b", WEIGHTS, ""), HOSTILE)
    assert "<script" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text
    assert '<th scope="col">&lt;</th>' in text
