# %% [markdown]
# # 04 · Masks

# %%
import functools

import numpy as np


# %%
def create_causal_mask(seq_len):
    """Return the causal mask of seq_len tokens, an array (seq_len, seq_len)."""
    if seq_len < 1:
        raise ValueError(f"a mask needs at least one token, got seq_len={seq_len}")
    place = np.arange(seq_len)
    return np.greater_equal.outer(place, place)  # row i (looks) >= column j (is looked at)


# %%
def create_padding_mask(lengths, max_length):
    """Return the padding mask of a batch, an array (batch, 1, 1, max_length)."""
    counts = np.array(lengths)
    wrong = counts[(counts > max_length) | (counts < 0)]
    if wrong.size > 0:
        raise ValueError(f"a length must be between 0 and {max_length} (max_length), but there is {wrong[0]}")
    return np.less.outer(np.arange(max_length), counts).T.reshape(len(counts), 1, 1, max_length)


# %%
def combine_masks(*masks):
    """Return one mask that allows what all the given masks allow."""
    if len(masks) == 0:
        raise ValueError("no masks to combine")
    return functools.reduce(np.logical_and, masks, np.True_)


# %%
def masked_softmax(scores, mask, axis=-1):
    """Return the softmax of the allowed scores along one axis. Blocked entries get the weight 0."""
    scores = np.asarray(scores)
    scores = scores.astype(np.float32 if scores.dtype == np.float32 else np.float64, copy=False)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)

    # The largest allowed score. `initial` is for slices in which nothing is allowed.
    largest = np.max(scores, axis=axis, keepdims=True, where=allowed, initial=-np.inf)
    empty = np.isneginf(largest)
    largest[empty] = 0

    exps = np.exp(np.where(allowed, scores, -np.inf) - largest)
    total = exps.sum(axis=axis, keepdims=True)
    total[empty] = 1
    return exps / total


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    seen = create_causal_mask(5)
    weights = masked_softmax(Q @ K.T / 2, seen)
    for token, row in zip(tokens, weights, strict=True):
        bars = [f"{other} {'#' * round(10 * w):<10}" for other, w in zip(tokens, row, strict=True)]
        print(f"{token:>4}  " + "  ".join(bars))
    padding = create_padding_mask([5, 3], max_length=5)
    print(combine_masks(padding, seen).astype(int))

# %%
# n * n links in total, 1 + 2 + ... + n = n (n + 1) / 2 of them allowed. The rest: n (n - 1) / 2. Check: n = 5 -> 10
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2
