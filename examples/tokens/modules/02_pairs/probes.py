"""Probes of 02_pairs: calls that tell its misconceptions apart."""

from grader.diagnosis.probe import probe

BANANA = list(b"banana bandana")

PROBES = [
    probe("count_pairs", [1, 2, 3, 1, 2]),
    probe("count_pairs", [1, 2, 1]),
    probe("count_pairs", [7, 7, 7]),
    probe("count_pairs", [7, 7, 7, 7]),
    probe("count_pairs", [1, 2]),
    probe("count_pairs", [3]),
    probe("count_pairs", []),
    probe("count_pairs", BANANA, said="the lesson's text"),
    probe("best_pair", {(1, 2): 1, (5, 6): 3, (3, 4): 2}),
    probe("best_pair", {(5, 6): 2, (1, 2): 2, (7, 8): 2}),
    probe("best_pair", {(1, 2): 2, (5, 6): 2, (0, 3): 1}),
    probe("best_pair", {(3, 1): 2, (2, 9): 2}),
    probe("best_pair", {(1, 9): 2, (2, 3): 2, (0, 0): 1}),
    probe("best_pair", {(1, 9): 2, (4, 8): 2}),
    probe("best_pair", {(1, 2): 5, (5, 6): 1, (3, 4): 2}),
    probe("best_pair", {}),
    probe("merge", [1, 2, 3, 1, 2], (1, 2), 9),
    probe("merge", [7, 7, 7], (7, 7), 9),
    probe("merge", [2, 1, 3, 2], (1, 2), 9),
    probe("merge", [9, 7, 7], (9, 7), 9),
    probe("merge", [197, 110, 97, 110], (97, 110), 256),
    probe("merge", [1, 2, 3], (1, 2), 9),
    probe("merge", [], (1, 2), 9),
    probe("train", "abab", 1),
    probe("train", "abab", 5),
    probe("train", "abc", 5),
    probe("train", "ababab cab", 5),
    probe("train", "abcab abc", 0),
    probe("train", "banana bandana", 10),
    probe("train", "ABAB ab", 1),
    probe("train", "éé éé", 2),
    probe("train", "a b a b a b", 3),
]
