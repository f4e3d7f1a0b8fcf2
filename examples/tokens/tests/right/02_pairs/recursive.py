"""Recursion for the best pair and the training, and runs that are jumped over."""


def count_pairs(ids):
    counts = {}
    i = 0
    while i < len(ids) - 1:
        pair = (ids[i], ids[i + 1])
        run = 1
        if pair[0] == pair[1]:
            while i + run < len(ids) and ids[i + run] == ids[i]:
                run += 1
            counts[pair] = counts.get(pair, 0) + run // 2
            i += run - 1
        else:
            counts[pair] = counts.get(pair, 0) + 1
            i += 1
    return counts


def best_pair(counts, pairs=None):
    pairs = list(counts) if pairs is None else pairs
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    half = len(pairs) // 2
    left, right = best_pair(counts, pairs[:half]), best_pair(counts, pairs[half:])
    if counts[left] == counts[right]:
        return min(left, right)
    return left if counts[left] > counts[right] else right


def merge(ids, pair, new):
    result, i = [], 0
    last = len(ids) - 1
    while i <= last:
        hit = i < last and ids[i] == pair[0] and ids[i + 1] == pair[1]
        result = result if result.append(new if hit else ids[i]) is None else []
        i += 1 + hit
    return result


def train(text, count, ids=None, new=256):
    if ids is None:
        ids = list(text.encode("utf-8"))
    counts = count_pairs(ids)
    pair = best_pair(counts)
    if count == 0 or pair is None or counts[pair] < 2:
        return []
    return [pair] + train(text, count - 1, merge(ids, pair, new), new + 1)


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
