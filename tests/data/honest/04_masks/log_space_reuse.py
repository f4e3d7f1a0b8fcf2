# %% [markdown]
# # 04 · Masks
#
# For masked_softmax I go through the logarithm, like log_softmax in module 01:
# log weight = shifted score - log(sum of exponentials of the shifted scores)

# %%
import operator
import warnings
from contextlib import contextmanager
from functools import reduce

import numpy as np


# %%
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len} tokens? At least 1.")
    return np.tri(seq_len)  # floats 1.0 and 0.0


# %%
# Try it
if __name__ == "__main__":
    causal = create_causal_mask(5)
    print(np.array(causal, dtype=int))
    assert np.array_equal(np.sum(causal, axis=1), [1, 2, 3, 4, 5]), "each token sees itself and all tokens before it"


# %%
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if not 0 <= length <= max_length:
            raise ValueError(f"{length} is no length for a sentence of up to {max_length} positions")
    # a sentence of length l is a row of l ones, then zeros
    rows = [[1.0] * int(length) + [0.0] * int(max_length - length) for length in lengths]
    return np.expand_dims(np.array(rows), axis=(1, 2))


# %%
# Try it
if __name__ == "__main__":
    padding = create_padding_mask([5, 3], max_length=5)
    assert padding.shape == (2, 1, 1, 5), "the axes are the batch, the heads, the queries and the keys"
    assert padding[1].sum() == 3, "the second sentence has three tokens"


# %%
def combine_masks(*masks):
    try:
        first, *others = masks
    except ValueError:
        raise ValueError("combine_masks() needs one mask or more, got none") from None
    as_bool = [np.asarray(mask).astype(bool) for mask in others]
    return reduce(operator.and_, as_bool, np.array(first, dtype=bool))


# %%
# Try it
if __name__ == "__main__":
    three_words = np.array([[[[1, 1, 1, 0, 0]]]])
    both = combine_masks(np.tri(5), three_words)
    assert both.shape == (1, 1, 5, 5), "(5, 5) and (1, 1, 1, 5) broadcast to (1, 1, 5, 5)"
    assert both.sum() == 12, "15 causal links, minus the three that end in padding"


# %%
@contextmanager
def minus_infinity_is_fine():
    """log(0) is -inf here and that is what I want, so be quiet about it."""
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        yield


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        scores = scores.astype(float)
    mask = np.broadcast_to(mask, scores.shape).astype(bool)
    any_allowed = mask.any(axis=axis, keepdims=True)

    kept = np.where(mask, scores, -np.inf)
    largest = np.where(any_allowed, kept.max(axis=axis, keepdims=True), 0.0)
    shifted = kept - largest
    with minus_infinity_is_fine():
        log_total = np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    log_total = np.where(any_allowed, log_total, 0.0)
    return np.exp(shifted - log_total)


# %%
# Try it
if __name__ == "__main__":
    scores = np.array([[1.5, 0, 1, 0.5, 0.25], [0.5, 1, 1, 0.5, 0.75]])
    weights = masked_softmax(scores, np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]]))
    assert np.allclose(weights[0], [0.8176, 0.1824, 0, 0, 0], atol=1e-4), "see the table in the lesson"
    assert np.array_equal(weights[1], np.zeros(5)), "a fully blocked row should have weights of 0"

# %%
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = None
# all of them minus the lower triangle with the diagonal
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048**2 - (2048 * 2049) // 2
