"""Probes of 01_words: small texts and dicts."""

from grader.diagnosis.probe import probe

PROBES = [
    probe("split_words", "Go up, go on!"),
    probe("split_words", "a  b\nA."),
    probe("count_words", ["go", "up", "go", "on"]),
    probe("count_words", []),
    probe("merge_counts", {"go": 1, "up": 2}, {"go": 3, "on": 1}),
    probe("most_common", {"up": 1, "on": 1, "go": 2, "to": 1}, 3),
    probe("most_common", {"up": 1}, 0, names=(0,)),
    probe("word_places", [["go", "up"], ["on"], ["go", "on"]]),
    probe("drop_words", {"go", "up", "on"}, {"up"}),
]
