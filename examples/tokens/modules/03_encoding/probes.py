"""Probes of 03_encoding: calls that tell its misconceptions apart."""

from grader.diagnosis.probe import probe

MERGES = [(116, 104), (32, 256), (105, 110), (257, 101), (257, 258)]  # those of the lesson
OVERLAP = [(98, 99), (97, 98), (257, 99)]
INSIDE = [(98, 99), (97, 256), (97, 98)]
A = 97


def new_tokens(tokens):
    """Return the merged entries and two of the single bytes: 256 entries are long to read."""
    if type(tokens) is not list:
        return f"a {type(tokens).__name__}, and not a list"
    return len(tokens), tokens[97:98], tokens[233:234], tokens[256:]


PROBES = [
    probe("vocabulary", MERGES, look=new_tokens),
    probe("vocabulary", [], look=new_tokens),
    probe("vocabulary", [(195, 169), (256, 104)], look=new_tokens),
    probe("chunks", "that thing"),
    probe("chunks", "a  b"),
    probe("chunks", "one\ntwo three"),
    probe("chunks", " a"),
    probe("chunks", ""),
    probe("encode", "that thing", MERGES),
    probe("encode", "abc", OVERLAP),
    probe("encode", "abc", INSIDE),
    probe("encode", "abc", [(97, 98), (98, 99)]),
    probe("encode", "aaa", [(A, A)]),
    probe("encode", "aaaa", [(A, A), (256, 256)]),
    probe("encode", "abcab", [(A, 98), (256, 99)]),
    probe("encode", "ab ab", [(A, 98)]),
    probe("encode", "a b", [(A, 32)]),
    probe("encode", "hié", []),
    probe("encode", "a", MERGES),
    probe("encode", "", MERGES),
    probe("decode", [256, 97, 116, 260, 103], MERGES),
    probe("decode", [195, 169], MERGES),
    probe("decode", [104, 195], []),
    probe("decode", [105, 105], []),
    probe("decode", [9999], MERGES, names=(9999,)),
    probe("decode", [261], MERGES, names=(261,)),
    probe("decode", [-1], MERGES, names=(-1,)),
    probe("decode", [], MERGES),
]
