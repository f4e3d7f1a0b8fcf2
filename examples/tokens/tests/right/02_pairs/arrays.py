"""NumPy for the counts of neighbours, plain Python for the rest."""

import numpy as np


def count_pairs(ids):
    array = np.array(ids, dtype=int)
    counts = {}
    for left, right in np.stack([array[:-1], array[1:]], axis=1).tolist() if len(ids) > 1 else []:
        if left != right:
            counts[(left, right)] = counts.get((left, right), 0) + 1
    run = 0
    for at, one in enumerate(ids):
        run = run + 1 if at and ids[at - 1] == one else 1
        if run % 2 == 0:
            counts[(one, one)] = counts.get((one, one), 0) + 1
    return counts


def best_pair(counts):
    pairs = sorted(counts)
    return max(pairs, key=lambda pair: counts[pair]) if pairs else None


def merge(ids, pair, new):
    merged = []
    previous = None  # an id that waits for its right neighbour
    for one in ids:
        if previous is None:
            previous = one
        elif (previous, one) == pair:
            merged.append(new)
            previous = None
        else:
            merged.append(previous)
            previous = one
    return merged if previous is None else merged + [previous]


def train(text, count):
    ids = np.array([*text.encode()], dtype=int).tolist()
    merges = []
    for _ in range(count):
        counts = count_pairs(ids)
        if not counts or max(counts.values()) == 1:
            break
        merges.append(best_pair(counts))
        ids = merge(ids, merges[-1], 255 + len(merges))
    return merges


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
