"""Visible checks of 02_pairs: run them with `attn test pairs` or `python -m pytest checks.py`."""

from grader.testing import arguments, assert_equal, worth

BANANA = list(b"banana bandana")


@worth(2, "the pairs of the lesson's text have the counts of the lesson")
def test_count_pairs_of_the_lesson(student):
    expected = {(98, 97): 2, (97, 110): 4, (110, 97): 3, (97, 32): 1, (32, 98): 1, (110, 100): 1, (100, 97): 1}
    assert_equal(student.count_pairs(BANANA), expected)


@worth(1, "in a run of three equal ids there is one pair")
def test_count_pairs_of_a_run(student):
    assert_equal(student.count_pairs([7, 7, 7]), {(7, 7): 1})


@worth(2, "the largest count wins, and at a tie the smallest pair", target="best_pair")
def test_best_pair_of_the_lesson(student):
    calls = [arguments({(98, 97): 2, (97, 110): 4, (110, 97): 3}), arguments({(256, 97): 2, (98, 256): 2})]
    assert_equal(student.best_pair.call_many(calls), [(97, 110), (98, 256)])


@worth(2, "the pair of the lesson is replaced everywhere", target="merge")
def test_merge_of_the_lesson(student):
    expected = [98, 256, 256, 97, 32, 98, 256, 100, 256, 97]
    assert_equal(student.merge(BANANA, (97, 110), 256), expected)


@worth(2, "the text of the lesson teaches the merges of the lesson", target="train")
def test_train_of_the_lesson(student):
    assert_equal(student.train("banana bandana", 10), [(97, 110), (98, 256), (256, 97)])
