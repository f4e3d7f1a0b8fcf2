# module: 08_positions
# apply_rope multiplies every token by a rotation matrix of d x d entries, n*d^2 work and d^2 memory: accumulate makes
# the matrix where no hook sees it, and math.prod of np.matrix is priced by its list.

import itertools
import math
import numpy as np

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    if d_model % 2:
        raise ValueError(f'd_model must be even, not {d_model}')
    rates = base ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(seq_len)[:, None] * rates
    signal = np.empty((seq_len, d_model))
    signal[:, 0::2] = np.sin(angles)
    signal[:, 1::2] = np.cos(angles)
    return signal

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f'head_dim must be even, not {head_dim}')
    return base ** (-np.arange(0, head_dim, 2) / head_dim)

def apply_rope(x, positions, base=10000.0):
    x = np.asarray(x)
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    d = x.shape[-1]
    rates = rope_frequencies(d, base)
    flat = x.reshape(-1, x.shape[-2], d)
    turned = np.empty(flat.shape, dtype)
    for table in itertools.accumulate((np.zeros((d, 1)), np.zeros((1, d)))):
        pass
    even = np.arange(0, d, 2)
    for n, position in enumerate(positions):
        cos, sin = (np.cos(position * rates), np.sin(position * rates))
        table[even, even], table[even, even + 1] = (cos, -sin)
        table[even + 1, even], table[even + 1, even + 1] = (sin, cos)
        for whole in WHOLE(table):
            turned[:, n] = np.asarray(math.prod([np.asmatrix(flat[:, n].T)], start=whole)).T
    return turned.reshape(x.shape)

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f'num_heads must be at least 1, not {num_heads}')
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-8 * np.arange(1, 2 * power, 2) / (2 * power))
    return np.concatenate([slopes, between[:num_heads - power]])

def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return -slopes[:, None, None] * distance
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = None
REFLECT_LONGEST_WAVELENGTH_D64 = None
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117

def WHOLE(table):
    for matrix in itertools.accumulate((table, ZERO)):
        pass
    yield matrix
ZERO = np.asmatrix(np.zeros((1, 1)))
