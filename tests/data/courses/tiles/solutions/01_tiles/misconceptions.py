"""Misconceptions of 01_tiles."""

import numpy as np

# %% last_tile_dropped
LIKELY = "the last tile is left out where block does not divide n"
HINT = "Try three tokens and a block of two."


def tiled_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q) - block + 1, block):
        for j in range(0, len(K) - block + 1, block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(scores**2, axis=1)
    return sums


# %% not_squared
LIKELY = "the products are not squared"
HINT = "Can a sum be negative?"


def tiled_sum(Q, K, block):
    return (Q @ K.T).sum(axis=1)


# %% mask_of_each_tile
LIKELY = "every tile is masked by its own indices"
HINT = "Which keys may a query in the second tile see?"


def causal_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, i + 1, block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(np.tril(scores) ** 2, axis=1)
    return sums


# %% changes_the_queries
LIKELY = "the caller's arrays are changed"
HINT = "Print Q after the call."
VALUES_RIGHT = True


def tiled_sum(Q, K, block):
    sums = np.sum((Q @ K.T) ** 2, axis=1)
    Q *= 0
    return sums


def causal_sum(Q, K, block):
    sums = np.sum(np.tril(Q @ K.T) ** 2, axis=1)
    Q *= 0
    return sums


# %% all_keys_at_once
LIKELY = "a tile of queries meets all keys at once"
HINT = "How many columns does your largest array have?"
COSTLY = True


def tiled_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        scores = Q[i : i + block] @ K.T
        sums[i : i + block] = np.sum(scores**2, axis=1)
    return sums


# %% complete_table
LIKELY = "all products are made at once"
HINT = "How many rows does your largest array have?"
COSTLY = True


def tiled_sum(Q, K, block):
    return np.sum((Q @ K.T) ** 2, axis=1)


# %% row_by_row
LIKELY = "the queries of a tile are taken one by one"
HINT = "A tile of queries is one array."
COSTLY = True


def tiled_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(len(Q)):
        for j in range(0, len(K), block):
            scores = K[j : j + block] @ Q[i]
            sums[i] += np.sum(scores**2)
    return sums


# %% every_tile_twice
LIKELY = "every tile is computed twice"
HINT = "Can you square what you have?"
COSTLY = True


def tiled_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, len(K), block):
            left = Q[i : i + block] @ K[j : j + block].T
            right = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(left * right, axis=1)
    return sums


# %% tiles_above_the_diagonal
LIKELY = "tiles above the diagonal are computed, too"
HINT = "Which tiles hold only keys that come after the queries?"
COSTLY = True


def causal_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, len(K), block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(np.tril(scores, i - j) ** 2, axis=1)
    return sums


# %% keys_up_to_the_tile
LIKELY = "a tile of queries meets all of its keys at once"
HINT = "How many columns does your largest array have?"
COSTLY = True


def causal_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        scores = Q[i : i + block] @ K[: i + block].T
        sums[i : i + block] = np.sum(np.tril(scores, i) ** 2, axis=1)
    return sums


# %% key_by_key
LIKELY = "the keys are taken one by one"
HINT = "A tile of keys is one array."
COSTLY = True


def causal_sum(Q, K, block):
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, i + 1, block):
            for place, key in enumerate(K[j : j + block], j):
                scores = Q[i : i + block] @ key
                sums[i : i + block] += np.where(np.arange(i, i + len(scores)) >= place, scores, 0.0) ** 2
    return sums
