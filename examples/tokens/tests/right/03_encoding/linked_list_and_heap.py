"""A linked list of ids with a heap of pairs, as fast encoders have it: (rank, place) gives both orders at once."""

import heapq
import re

FIRST = 256


def vocabulary(merges):
    tokens = [bytes((i,)) for i in range(FIRST)]
    for pair in merges:
        tokens += [tokens[pair[0]] + tokens[pair[1]]]
    return tokens


def chunks(text: str) -> list[str]:
    return [chunk for chunk in re.split("(?= )", text) if chunk]


class Row:
    def __init__(self, data, ranks):
        self.ids, self.ranks, self.heap = list(data), ranks, []
        self.next = list(range(1, len(data) + 1))
        self.before = list(range(-1, len(data) - 1))
        for place in range(len(data) - 1):
            self.offer(place)

    def offer(self, place):
        end = self.next[place]
        if end < len(self.ids):
            pair = (self.ids[place], self.ids[end])
            if pair in self.ranks:
                heapq.heappush(self.heap, (self.ranks[pair], place, pair))

    def run(self):
        while self.heap:
            rank, place, pair = heapq.heappop(self.heap)
            end = self.next[place]
            if self.ids[place] != pair[0] or end >= len(self.ids) or self.ids[end] != pair[1]:
                continue
            self.ids[place], self.ids[end] = FIRST + rank, None
            self.next[place] = self.next[end]
            if self.next[place] < len(self.ids):
                self.before[self.next[place]] = place
                self.offer(place)
            if self.before[place] >= 0:
                self.offer(self.before[place])
        return [one for one in self.ids if one is not None]


def encode(text, merges):
    ranks = {}
    for rank, pair in enumerate(merges):
        ranks.setdefault(pair, rank)
    ids = []
    for chunk in chunks(text):
        ids += Row(chunk.encode(), ranks).run()
    return ids


def decode(ids, merges):
    tokens = vocabulary(merges)
    wrong = [i for i in ids if i not in range(len(tokens))]
    if wrong:
        raise ValueError(f"not in the vocabulary: {wrong}")
    return b"".join(tokens[i] for i in ids).decode(errors="replace")


REFLECT_MERGES_OF_GPT2 = 50000
REFLECT_LONGEST_TOKEN_OF_10_MERGES = 1 << 10
