"""A stack that remembers what is new, a sorted list, and a generator that learns."""

from collections import defaultdict
from itertools import islice


def count_pairs(ids):
    counts = defaultdict(int)
    free = True  # whether the id before may still be the left one of a pair of equal ids
    for left, right in zip(ids, ids[1:], strict=False):
        if left == right:
            counts[left, right] += free
            free = not free
        else:
            counts[left, right] += 1
            free = True
    return dict(counts)


def best_pair(counts):
    ranked = sorted(counts.items(), key=lambda item: (-item[1], *item[0]))
    return ranked[0][0] if ranked else None


def merge(ids, pair, new):
    stack, fresh = [], True
    for one in ids:
        if not fresh and stack[-1] == pair[0] and one == pair[1]:
            stack.pop()
            stack.append(new)
            fresh = True
        else:
            stack.append(one)
            fresh = False
    return stack


def learned(text):
    ids = list(bytes(text, "utf-8"))
    new = 256
    while True:
        counts = count_pairs(ids)
        pair = best_pair(counts)
        if counts.get(pair, 0) <= 1:
            return
        yield pair
        ids = merge(ids, pair, new)
        new += 1


def train(text, count):
    return list(islice(learned(text), count))


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
