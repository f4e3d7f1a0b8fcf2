# %% [markdown]
# # 01 · Sums in tiles
#
# A table of n × n products can be too large to keep. A tile of it never is.

# %%
import numpy as np


# %%
def tiled_sum(Q, K, block):
    """Return the sum of (q·k)² over all keys k, for each query q, in tiles of at most block × block products.

    Q, K: arrays of shape (n, d). block: an integer above 0, which need not divide n. Returns an array of shape (n,).
    Q and K are not modified.
    """
    ### BEGIN SOLUTION
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, len(K), block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(scores**2, axis=1)
    return sums
    ### END SOLUTION


# %%
def causal_sum(Q, K, block):
    """Return the same sums, with only the keys up to the query's own position. Tiles above the diagonal are left out.

    Q and K are not modified.
    """
    ### BEGIN SOLUTION
    sums = np.zeros(len(Q))
    for i in range(0, len(Q), block):
        for j in range(0, i + 1, block):
            scores = Q[i : i + block] @ K[j : j + block].T
            sums[i : i + block] += np.sum(np.tril(scores, i - j) ** 2, axis=1)
    return sums
    ### END SOLUTION
