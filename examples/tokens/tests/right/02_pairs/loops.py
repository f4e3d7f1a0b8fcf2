"""As a beginner writes it: positions, flags and ifs."""


def count_pairs(ids):
    result = {}
    last_used = {}
    for i in range(len(ids) - 1):
        left = ids[i]
        right = ids[i + 1]
        pair = (left, right)
        if pair not in result:
            result[pair] = 1
            last_used[pair] = i
        elif last_used[pair] != i - 1:
            result[pair] += 1
            last_used[pair] = i
    return result


def best_pair(counts):
    best = None
    best_count = 0
    for pair in counts:
        count = counts[pair]
        if count > best_count:
            best = pair
            best_count = count
        elif count == best_count:
            if pair[0] < best[0] or (pair[0] == best[0] and pair[1] < best[1]):
                best = pair
    return best


def merge(ids, pair, new):
    result = []
    skip = False
    for i in range(len(ids)):
        if skip:
            skip = False
            continue
        if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            result.append(new)
            skip = True
        else:
            result.append(ids[i])
    return result


def train(text, count):
    ids = []
    for byte in text.encode("utf-8"):
        ids.append(byte)
    merges = []
    new = 256
    for _ in range(count):
        counts = count_pairs(ids)
        if counts == {}:
            return merges
        pair = best_pair(counts)
        if counts[pair] == 1:
            return merges
        ids = merge(ids, pair, new)
        merges.append(pair)
        new = new + 1
    return merges


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
