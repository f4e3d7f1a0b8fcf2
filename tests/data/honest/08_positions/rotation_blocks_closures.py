# %% [markdown]
# # 08 · Positions
#
# A turn of one pair is a small matrix, 2 by 2. I make one for every token and pair, (n, d/2, 2, 2), and let einsum
# multiply. (A complete d by d matrix for each token would be nearly all zeros.)

# %%
from dataclasses import dataclass

import numpy as np


# %%
class BadSize(ValueError):
    """A number of tokens, features or heads that makes no sense."""


def at_least_one(name):
    """Return a function that checks a size called `name`."""

    def check(size):
        if size < 1:
            raise BadSize(f"{name}={size} is below 1")
        return size

    return check


def even(name):
    def check(size):
        if size & 1:
            raise BadSize(f"{name}={size} is odd, but features come in pairs")
        return size

    return check


# %%
@dataclass(frozen=True)
class Clock:
    """The hands of the lesson: pair i turns by base^(-2i/d) for each position."""

    width: int
    base: float = 10000.0

    @property
    def speeds(self):
        pairs = np.arange(self.width // 2, dtype=float)
        return 1.0 / self.base ** (2.0 * pairs / self.width)

    def angles(self, positions):
        """(n, d/2), always in float64"""
        return np.asarray(positions, dtype=float).reshape(-1, 1) * self.speeds


# %%
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    at_least_one("seq_len")(seq_len)
    angles = Clock(even("d_model")(d_model), base).angles(np.arange(seq_len))
    doubled = np.repeat(angles, 2, axis=1)  # both columns of a pair have the same angle
    column = np.arange(d_model)
    return np.where(column % 2 == 0, np.sin(doubled), np.cos(doubled))


# %%
def rope_frequencies(head_dim, base=10000.0):
    return Clock(even("head_dim")(head_dim), base).speeds


# %%
def apply_rope(x, positions, base=10000.0):
    x = np.asarray(x)
    *front, n, d = x.shape
    t = Clock(even("d")(d), base).angles(positions)  # (n, d/2)
    turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # (2, 2, n, d/2)
    pairs = x.reshape(*front, n, d // 2, 2)
    turned = np.einsum("ijnp,...npj->...npi", turn, pairs)
    return turned.reshape(x.shape).astype(np.float32 if x.dtype == np.float32 else np.float64)


# %%
if __name__ == "__main__":
    cat = np.array([[0.0, 2.0, 0.0, 1.0]])
    turned = apply_rope(cat, np.array([1]))
    print("cat at position 1:", turned[0].round(4), "length", np.linalg.norm(turned).round(4))
    assert np.allclose(turned, [[-1.6829, 1.0806, -0.0100, 1.0000]], atol=1e-4), "see the table in the lesson"


# %%
def alibi_slopes(num_heads):
    at_least_one("num_heads")(num_heads)
    slopes_for = lambda heads: np.exp2(-8.0 * np.arange(1, heads + 1) / heads)
    lower = 1 << (int(num_heads).bit_length() - 1)
    missing = num_heads - lower
    return np.append(slopes_for(lower), slopes_for(2 * lower)[: 2 * missing : 2])


# %%
def alibi_bias(num_heads, n_q, n_k):
    slope = alibi_slopes(num_heads).reshape(-1, 1, 1)
    query, key = np.ogrid[n_k - n_q : n_k, 0:n_k]
    return -slope * np.abs(query - key)


# %%
if __name__ == "__main__":
    print(alibi_bias(8, 5, 5)[0])
    assert np.allclose(alibi_slopes(6), [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125])
    assert np.allclose(alibi_bias(8, 1, 5)[0, 0], [-2, -1.5, -1, -0.5, 0]), "a single query is the last token"

# %%
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117
