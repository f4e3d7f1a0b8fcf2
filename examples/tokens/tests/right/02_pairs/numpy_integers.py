"""NumPy integers everywhere: they are integers, too."""

import numpy as np


def count_pairs(ids):
    a = np.asarray(ids)
    c = {}
    b = None
    for p in zip(a[:-1], a[1:]):
        if p == b:
            b = None
        else:
            c[p] = c.get(p, 0) + np.int64(1)
            b = p
    return c


def best_pair(counts):
    if not counts:
        return None
    return sorted(counts, key=lambda p: (-counts[p], p))[0]


def merge(ids, pair, new):
    ids = np.asarray(ids)
    out = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train(text, count):
    ids = np.array(list(text.encode()))
    m = []
    for i in range(count):
        c = count_pairs(ids)
        p = best_pair(c)
        if p is None or c[p] < 2:
            break
        ids = merge(ids, p, 256 + i)
        m.append(p)
    return m


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
