"""Misconceptions of 01_cache."""

import numpy as np

# %% newest_first
LIKELY = "the newest keys come first"
HINT = "Where is the key of the first token after a second update?"


class KeyCache(KeyCache):
    def update(self, tokens):
        end = self.length + len(tokens)
        self.keys[len(tokens) : end] = self.keys[: self.length].copy()
        self.keys[: len(tokens)] = (tokens @ self.weight)[::-1]
        self.length = end
        return self.keys[:end]


# %% transposed_weight
LIKELY = "the weight is transposed"
HINT = "What shape has the weight?"


class KeyCache(KeyCache):
    def update(self, tokens):
        end = self.length + len(tokens)
        self.keys[self.length : end] = tokens @ self.weight.T
        self.length = end
        return self.keys[:end]


# %% doubles_the_keys
LIKELY = "the keys are twice as large"
HINT = "Try a weight that is the identity."


class KeyCache(KeyCache):
    def update(self, tokens):
        end = self.length + len(tokens)
        self.keys[self.length : end] = 2 * (tokens @ self.weight)
        self.length = end
        return self.keys[:end]


# %% clears_the_tokens
LIKELY = "the caller's tokens are changed"
HINT = "Print the tokens after the call."
VALUES_RIGHT = True


class KeyCache(KeyCache):
    def update(self, tokens):
        end = self.length + len(tokens)
        self.keys[self.length : end] = tokens @ self.weight
        self.length = end
        tokens[:] = 0
        return self.keys[:end]


# %% recomputes
LIKELY = "the keys of all tokens are computed again at each step"
HINT = "What does the cache hold: tokens or keys?"
COSTLY = True


class KeyCache:
    def __init__(self, weight, max_len):
        self.weight = weight
        self.tokens = np.zeros((max_len, weight.shape[0]))
        self.length = 0

    def update(self, tokens):
        end = self.length + len(tokens)
        self.tokens[self.length : end] = tokens
        self.length = end
        return self.tokens[:end] @ self.weight


# %% concatenates
LIKELY = "each step copies the complete cache"
HINT = "What does np.concatenate do with the keys that are there?"
COSTLY = True


class KeyCache:
    def __init__(self, weight, max_len):
        self.weight = weight
        self.keys = np.zeros((0, weight.shape[1]))

    def update(self, tokens):
        self.keys = np.concatenate([self.keys, tokens @ self.weight])
        return self.keys


# %% counts_its_rows
LIKELY = "a loop goes through all rows to find the first free one"
HINT = "Can the cache remember how many there are?"
COSTLY = True


class KeyCache(KeyCache):
    def update(self, tokens):
        end = len(tokens)
        for _ in range(self.length):
            end += 1
        self.keys[self.length : end] = tokens @ self.weight
        self.length = end
        return self.keys[:end]


# %% sums_in_python
LIKELY = "the keys are summed in a loop of Python"
HINT = "An array has a sum."
COSTLY = True


def decode(cache, tokens):
    sums = []
    for token in tokens:
        total = 0.0
        for key in cache.update(token[None]):
            total = total + key
        sums.append(total)
    return np.array(sums)


# %% keeps_every_state
LIKELY = "all keys are kept once for each token"
HINT = "How many rows does your largest array have?"
COSTLY = True


def decode(cache, tokens):
    states = []
    for token in tokens:
        states.append(cache.update(token[None]).copy())
    return np.array([state.sum(axis=0) for state in states])


# %% projects_all_at_each_token
LIKELY = "all tokens are given to a new cache at each token"
HINT = "How often is the first token multiplied by the weight?"
COSTLY = True


def decode(cache, tokens):
    return np.array([np.sum(tokens[:end] @ cache.weight, axis=0) for end in range(1, len(tokens) + 1)])
