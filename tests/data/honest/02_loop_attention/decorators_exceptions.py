# %% [markdown]
# # 02 · Attention in loops
#
# Checks are in decorators, so that the functions below contain only the mathematics.

# %%
import functools
import logging
from contextlib import contextmanager

import numpy as np

log = logging.getLogger(__name__)


# %%
class ShapeMismatch(ValueError):
    """Two sizes that must agree do not."""

    def __init__(self, what, first, second):
        super().__init__(f"{what}: {first} is not {second}")
        self.first, self.second = first, second


def read_only(array):
    """Return a view that raises an error if I write into it by accident. The caller's array stays writeable."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def protected(function):
    """Give the function read-only views of its arrays (everything except None)."""

    @functools.wraps(function)
    def wrapper(*arrays, **named):
        arrays = [x if x is None else read_only(x) for x in arrays]
        named = {name: x if x is None else read_only(x) for name, x in named.items()}
        return function(*arrays, **named)

    return wrapper


def over_the_batch(function):
    """Let a function for one sentence work for a batch of sentences, too."""

    @functools.wraps(function)
    def wrapper(Q, K, V, mask=None):
        if Q.shape[-1] != K.shape[-1]:
            raise ShapeMismatch("width of queries and keys", Q.shape[-1], K.shape[-1])
        if K.shape[-2] != V.shape[-2]:
            raise ShapeMismatch("number of keys and values", K.shape[-2], V.shape[-2])
        shape = (*Q.shape[:-1], K.shape[-2])
        mask = np.broadcast_to(np.True_ if mask is None else mask, shape)
        if Q.ndim == 2:
            return function(Q, K, V, mask)
        log.debug("a batch of %d sentences", len(Q))
        done = [function(*sentence) for sentence in zip(Q, K, V, mask, strict=True)]
        return np.stack([output for output, _ in done]), np.stack([weights for _, weights in done])

    return wrapper


@contextmanager
def no_silent_nan():
    """inf - inf and 0/0 become errors instead of warnings, so I cannot overlook them."""
    with np.errstate(invalid="raise", divide="raise"):
        yield


# %%
@protected
def dot_product(a, b):
    if a.shape[0] != b.shape[0]:
        raise ShapeMismatch("number of entries", a.shape[0], b.shape[0])
    total = 0.0
    for (i,) in np.ndindex(a.shape):
        total += a[i] * b[i]
    return total


# %%
@protected
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ShapeMismatch("width of queries and keys", Q.shape[1], K.shape[1])
    both_single = Q.dtype == np.float32 and K.dtype == np.float32
    scores = np.zeros((Q.shape[0], K.shape[0]), dtype="float32" if both_single else "float64")
    for i, j in np.ndindex(scores.shape):
        scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %%
@functools.cache
def _root(number):
    return float(np.sqrt(number))


def scale_factor(d_k, variance=1.0):
    return variance * _root(d_k)


# %%
@protected
@over_the_batch
def scaled_dot_product_attention(Q, K, V, mask=None):
    raw = attention_scores(Q, K)
    scale = scale_factor(Q.shape[1])
    weights = np.zeros_like(raw)
    output = np.zeros((len(Q), V.shape[1]), dtype=raw.dtype)

    with no_silent_nan():
        for i in range(len(Q)):
            seen = np.flatnonzero(mask[i])
            if len(seen) == 0:
                log.info("query %d sees no key", i)
                continue
            row = raw[i] / scale
            largest = -np.inf
            for j in seen:
                if row[j] > largest:
                    largest = row[j]
            total = 0.0
            for j in seen:
                weights[i, j] = np.exp(row[j] - largest)
                total += weights[i, j]
            for j in seen:
                weights[i, j] /= total
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %%
if __name__ == "__main__":
    logging.basicConfig(level=logging.DEBUG)
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    print(scaled_dot_product_attention(Q, K, V)[1].round(4))
    print(scaled_dot_product_attention(Q, K, V, mask=np.tri(5, k=-1))[1].round(4))  # The sees nothing
    try:
        attention_scores(Q, K[:, :3])
    except ShapeMismatch as error:
        print("as it should be:", error)

# %%
REFLECT_MULTIPLY_ADDS_N512_D64 = 2 * 512**2 * 64
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
