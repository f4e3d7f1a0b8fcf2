"""Hidden suite of 01_words."""

from grader.testing import assert_equal, assert_raises, worth

TEXT = "It is here. Where is it?\n It IS there!"


def oracle_counts(words):
    return {word: words.count(word) for word in words}


@worth(2, "words are found between spaces, new lines and signs", target="split_words")
def test_the_words_of_several_lines_are_found(student):
    assert_equal(student.split_words(TEXT), ["it", "is", "here", "where", "is", "it", "it", "is", "there"])


@worth(2, "counts agree with an independent way to count", target="count_words")
def test_counts_agree_with_the_oracle(student, rng):
    words = [str(word) for word in rng.choice(["a", "b", "c"], size=9)]
    counts = student.count_words(words)
    assert_equal(counts, oracle_counts(words))


@worth(1, "the counts of all words add up to their number", target="count_words")
def test_the_counts_add_up(student):
    counts = student.count_words(["x", "y", "x"])
    assert_equal(counts, {"x": 2, "y": 1})


@worth(2, "counts of both dicts are added", target="merge_counts")
def test_merged(student):
    assert_equal(student.merge_counts({"a": 1, "b": 1}, {"b": 2, "c": 3}), {"a": 1, "b": 3, "c": 3})


@worth(1, "the most frequent words come first, then the alphabet decides", target="most_common")
def test_order(student):
    found = student.most_common({"z": 1, "y": 3, "c": 1, "b": 1}, 3)
    assert_equal(found, [("y", 3), ("b", 1), ("c", 1)])


@worth(1, "words with the same count are in the order of the alphabet", target="most_common")
def test_ties(student):  # the other values of `shown` may have none
    assert_equal(student.most_common({"n": 2, "m": 2}, 1), [("m", 2)])


@worth(1, "a number below 1 is refused", target="most_common")
def test_number(student):
    assert_raises(ValueError, lambda: student.most_common({"a": 1}, -1), -1)


@worth(3, "each word has its lines and its first place", target="word_places")
def test_places(student):
    found = student.word_places([["b"], ["a", "b"], ["b", "a"]])
    assert_equal(found, {"b": {"lines": {0, 1, 2}, "first": (0, 0)}, "a": {"lines": {1, 2}, "first": (1, 0)}})


@worth(1, "stopped words are not in the result", target="drop_words")
def test_dropped(student):
    assert_equal(student.drop_words({"a", "b", "c"}, {"c", "d"}), {"a", "b"})


@worth(0.5, "split_words agrees with the reference on other values", target="split_words")
def test_split_words_of_other_values(student, shown):
    shown(student, "split_words")


@worth(0.5, "count_words agrees with the reference on other values", target="count_words")
def test_count_words_of_other_values(student, shown):
    shown(student, "count_words")


@worth(0.5, "merge_counts agrees with the reference on other values", target="merge_counts")
def test_merge_counts_of_other_values(student, shown):
    shown(student, "merge_counts")


@worth(0.5, "most_common agrees with the reference on other values", target="most_common")
def test_most_common_of_other_values(student, shown):
    shown(student, "most_common")


@worth(0.5, "word_places agrees with the reference on other values", target="word_places")
def test_word_places_of_other_values(student, shown):
    shown(student, "word_places")


@worth(0.5, "drop_words agrees with the reference on other values", target="drop_words")
def test_drop_words_of_other_values(student, shown):
    shown(student, "drop_words")
