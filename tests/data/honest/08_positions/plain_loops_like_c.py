import math
import numpy as np

PI = math.pi


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError("seq_len must be >= 1 but is " + str(seq_len))
    if d_model % 2 != 0:
        raise ValueError("d_model must be even but is " + str(d_model))
    out = np.zeros((seq_len, d_model))
    pos = 0
    while pos < seq_len:
        col = 0
        while col < d_model:
            i = col // 2
            angle = pos * base ** (-2.0 * i / d_model)
            if col % 2 == 0:
                out[pos][col] = math.sin(angle)
            else:
                out[pos][col] = math.cos(angle)
            col = col + 1
        pos = pos + 1
    return out


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2 != 0:
        raise ValueError("head_dim must be even but is " + str(head_dim))
    out = np.zeros(head_dim // 2)
    for i in range(0, head_dim // 2):
        out[i] = base ** (-2.0 * i / head_dim)
    return out


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    n = x.shape[-2]
    if d % 2 != 0:
        raise ValueError("the number of features must be even but is " + str(d))
    freq = rope_frequencies(d, base)
    if x.dtype == np.float32:
        out = np.zeros(x.shape, dtype=np.float32)
    else:
        out = np.zeros(x.shape, dtype=np.float64)
    flat_in = x.reshape(-1, n, d)
    flat_out = out.reshape(-1, n, d)
    for b in range(flat_in.shape[0]):
        for t in range(n):
            for i in range(d // 2):
                angle = float(positions[t]) * freq[i]
                c = math.cos(angle)
                s = math.sin(angle)
                first = flat_in[b, t, 2 * i]
                second = flat_in[b, t, 2 * i + 1]
                flat_out[b, t, 2 * i] = first * c - second * s
                flat_out[b, t, 2 * i + 1] = first * s + second * c
    return out


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("num_heads must be >= 1 but is " + str(num_heads))
    p = 1
    while p * 2 <= num_heads:
        p = p * 2
    out = np.zeros(num_heads)
    for k in range(p):
        out[k] = 2.0 ** (-8.0 * (k + 1) / p)
    k = 0
    for place in range(p, num_heads):
        out[place] = 2.0 ** (-8.0 * (k + 1) / (2 * p))
        k = k + 2
    return out


def alibi_bias(num_heads, n_q, n_k):
    if num_heads < 1:
        raise ValueError("num_heads must be >= 1 but is " + str(num_heads))
    slopes = alibi_slopes(num_heads)
    out = np.zeros((num_heads, n_q, n_k))
    for h in range(num_heads):
        for i in range(n_q):
            for j in range(n_k):
                distance = (n_k - n_q + i) - j
                if distance < 0:
                    distance = -distance
                out[h, i, j] = -slopes[h] * distance
    return out


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117
