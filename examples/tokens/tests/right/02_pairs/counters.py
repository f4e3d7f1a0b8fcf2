"""Counter, groupby, max with a key of negative numbers."""

from collections import Counter
from itertools import groupby, pairwise


def count_pairs(ids):
    counts = Counter((a, b) for a, b in pairwise(ids) if a != b)
    for one, run in groupby(ids):
        length = sum(1 for _ in run)
        if length > 1:
            counts[one, one] += length // 2
    return counts


def best_pair(counts):
    if not counts:
        return None
    most = max(counts.values())
    return min(pair for pair, count in counts.items() if count == most)


def merge(ids, pair, new):
    out = []
    it = iter(range(len(ids)))
    for i in it:
        if tuple(ids[i : i + 2]) == tuple(pair):
            out.append(new)
            next(it, None)
        else:
            out.append(ids[i])
    return out


def train(text, count):
    ids, merges = [*text.encode()], []
    for new in range(256, 256 + count):
        best = best_pair(counts := count_pairs(ids))
        if not best or counts[best] < 2:
            break
        merges += [best]
        ids = merge(ids, best, new)
    return merges


REFLECT_LENGTH_AFTER_1_MERGE = 500 - 20
REFLECT_LENGTH_AFTER_10_MERGES = 500 - 10 * 20
