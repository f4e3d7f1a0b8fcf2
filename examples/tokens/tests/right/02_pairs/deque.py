"""A queue that is emptied from the left, and a heap that is asked for one pair."""

import heapq
from collections import deque


def count_pairs(ids):
    counts, position, used = {}, 1, -1
    while position < len(ids):
        pair = ids[position - 1], ids[position]
        overlaps = used == position - 1 and pair == (ids[position - 2], ids[position - 1])
        if not overlaps:
            counts.setdefault(pair, 0)
            counts[pair] += 1
            used = position
        position += 1
    return counts


def best_pair(counts):
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    return heapq.heappop(heap)[1] if heap else None


def merge(ids, pair, new):
    left, right = pair
    queue = deque(ids)
    merged = []
    while queue:
        one = queue.popleft()
        if one == left and queue and queue[0] == right:
            queue.popleft()
            one = new
        merged.append(one)
    return merged


class Trainer:
    def __init__(self, text):
        self.ids = list(text.encode("utf-8"))
        self.merges = []

    def step(self):
        counts = count_pairs(self.ids)
        if max(counts.values(), default=0) < 2:
            return False
        pair = best_pair(counts)
        self.ids = merge(self.ids, pair, 256 + len(self.merges))
        self.merges.append(pair)
        return True


def train(text, count):
    trainer = Trainer(text)
    while len(trainer.merges) < count and trainer.step():
        pass
    return trainer.merges


REFLECT_LENGTH_AFTER_1_MERGE = 480
REFLECT_LENGTH_AFTER_10_MERGES = 300
