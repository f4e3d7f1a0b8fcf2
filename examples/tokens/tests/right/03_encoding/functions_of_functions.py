"""Recursion, regular expressions and reduce; the table of ranks is asked with try."""

import functools
import re

SINGLES = tuple(bytes([byte]) for byte in range(256))


def vocabulary(merges):
    return functools.reduce(lambda tokens, pair: tokens + [tokens[pair[0]] + tokens[pair[1]]], merges, list(SINGLES))


def chunks(text):
    return [match.group() for match in re.finditer(r"\ [^\ ]*|[^\ ]+", text)]


def encode(text, merges):
    rank_of = {tuple(pair): rank for rank, pair in enumerate(merges)}.__getitem__

    def rank(pair):
        try:
            return rank_of(pair)
        except KeyError:
            return float("inf")

    def solve(row):
        if len(row) < 2:
            return row
        best = min(map(rank, zip(row[:-1], row[1:])))
        return row if best == float("inf") else solve(join(row, merges[best], 256 + best))

    def join(row, pair, new):
        place = next((i for i in range(len(row) - 1) if (row[i], row[i + 1]) == pair), None)
        return row if place is None else row[:place] + [new] + join(row[place + 2 :], pair, new)

    return [number for chunk in chunks(text) for number in solve(list(chunk.encode()))]


def decode(ids, merges):
    table = vocabulary(merges)
    for number in ids:
        assert_known(number, len(table))
    return b"".join([table[number] for number in ids]).decode(encoding="utf-8", errors="replace")


def assert_known(number, count):
    if number not in range(count):
        raise ValueError(f"id {number}: the vocabulary has only {count} tokens")


REFLECT_MERGES_OF_GPT2 = 50000
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 1024
