from math import cos, factorial, floor, log2, pi, sin

import numpy as np


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1: raise ValueError(f"{seq_len=}")
    if d_model % 2: raise ValueError(f"{d_model=}")
    return np.array([[f(pos * w) for w in rope_frequencies(d_model, base) for f in (sin, cos)] for pos in range(seq_len)])


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2: raise ValueError(f"{head_dim=}")
    return np.array([base ** (-i / head_dim) for i in range(0, head_dim, 2)])


def apply_rope(x, positions, base=10000.0):
    if x.ndim > 2:
        return np.array([apply_rope(one, positions, base) for one in x])
    ws = rope_frequencies(x.shape[1], base)
    rows = [
        [v for a, b, w in zip(row[0::2], row[1::2], ws) for v in (a * cos(p * w) - b * sin(p * w), a * sin(p * w) + b * cos(p * w))]
        for row, p in zip(x.tolist(), positions)
    ]
    return np.array(rows, dtype=x.dtype if x.dtype == np.float32 else float)


def alibi_slopes(num_heads):
    if num_heads < 1: raise ValueError(f"{num_heads=}")
    p = 2 ** floor(log2(num_heads))
    return np.array(([2 ** (-8 * k / p) for k in range(1, p + 1)] + [2 ** (-4 * k / p) for k in range(1, 2 * p, 2)])[:num_heads])


def alibi_bias(num_heads, n_q, n_k):
    return np.array([[[-m * abs(n_k - n_q + i - j) for j in range(n_k)] for i in range(n_q)] for m in alibi_slopes(num_heads)])


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = factorial(5)
REFLECT_LONGEST_WAVELENGTH_D64 = int(2 * pi * 10000 ** (62 / 64))
