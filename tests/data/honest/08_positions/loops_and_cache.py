"""08 positions: plain loops with the math module, and a cache for the frequencies."""

from functools import lru_cache
from itertools import islice
from math import cos, pi, sin

import numpy as np


@lru_cache(maxsize=None)
def _frequencies(width, base):
    """A tuple, so that nobody can change what is in the cache."""
    if width % 2 == 1:
        raise ValueError(f"odd number of features: {width}")
    return tuple(base ** (-2 * i / width) for i in range(width // 2))


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"not enough positions: {seq_len}")
    frequencies = _frequencies(d_model, base)
    table = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i, frequency in enumerate(frequencies):
            angle = pos * frequency
            table[pos, 2 * i] = sin(angle)
            table[pos, 2 * i + 1] = cos(angle)
    return table


def rope_frequencies(head_dim, base=10000.0):
    return np.array(_frequencies(head_dim, base), dtype=np.float64)


def apply_rope(x, positions, base=10000.0):
    frequencies = _frequencies(x.shape[-1], base)
    dtype = x.dtype if x.dtype == np.float32 else np.dtype(np.float64)
    turned = np.empty(x.shape, dtype)

    # cosine and sine of each token and pair, only once for all sentences and heads
    turns = []
    for position in positions:
        position = int(position)
        turns.append([(cos(position * f), sin(position * f)) for f in frequencies])

    for where in np.ndindex(*x.shape[:-1]):  # where = (..., token)
        before, after = x[where], turned[where]  # after is a view: writing into it fills `turned`
        for i, (c, s) in enumerate(turns[where[-1]]):
            a, b = float(before[2 * i]), float(before[2 * i + 1])
            after[2 * i] = a * c - b * s
            after[2 * i + 1] = a * s + b * c
    return turned


def _powers_of_two_slopes(h):
    """Yield the slopes for h heads, where h is a power of two."""
    for k in range(h):
        yield 2.0 ** (-8 * (k + 1) / h)


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"number of heads: {num_heads}")
    lower = 1
    while 2 * lower <= num_heads:
        lower *= 2
    slopes = list(_powers_of_two_slopes(lower))
    slopes.extend(islice(_powers_of_two_slopes(2 * lower), 0, 2 * (num_heads - lower), 2))
    return np.array(slopes)


def alibi_bias(num_heads, n_q, n_k):
    bias = np.zeros((num_heads if num_heads > 0 else 0, n_q, n_k))
    for h, slope in enumerate(alibi_slopes(num_heads)):
        for i in range(n_q):
            position = n_k - n_q + i
            for j in range(n_k):
                bias[h, i, j] = -slope * abs(position - j)
    return bias


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 5 * 4 * 3 * 2 * 1
REFLECT_LONGEST_WAVELENGTH_D64 = int(2 * pi * 10000 ** (62 / 64) + 0.5)


if __name__ == "__main__":
    print(sinusoidal_positions(5, 4).round(4))
    print(rope_frequencies(8))
    print(apply_rope(np.array([[0, 2, 0, 1]]), [1]).round(4))
    print(alibi_slopes(6))
    print(alibi_bias(8, 2, 5)[0])
    print(REFLECT_LONGEST_WAVELENGTH_D64)
