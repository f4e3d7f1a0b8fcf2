import math
import numpy as np

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError("seq_len was %d" % seq_len)
    if d_model % 2 == 1:
        raise ValueError("d_model was %d" % d_model)
    table = []
    for pos in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = pos / math.pow(base, 2 * i / d_model)
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        table.append(row)
    return np.array(table)

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2 == 1:
        raise ValueError("head_dim was %d" % head_dim)
    result = []
    for i in range(head_dim // 2):
        result.append(1.0 / base ** (2 * i / head_dim))
    return np.array(result)

def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2 == 1:
        raise ValueError("x has %d features" % d)
    f = rope_frequencies(d, base)
    out = np.zeros(x.shape, dtype=x.dtype if x.dtype.kind == "f" else float)
    for index in np.ndindex(*x.shape[:-1]):
        p = int(positions[index[-1]])
        for i in range(d // 2):
            c, s = math.cos(p * f[i]), math.sin(p * f[i])
            a, b = x[index][2 * i], x[index][2 * i + 1]
            out[index][2 * i] = a * c - b * s
            out[index][2 * i + 1] = a * s + b * c
    return out

def alibi_slopes(num_heads):
    if num_heads <= 0:
        raise ValueError("num_heads was %d" % num_heads)
    p = 1
    while p * 2 <= num_heads:
        p *= 2
    slopes = [2 ** (-8 * (k + 1) / p) for k in range(p)]
    k = 0
    while len(slopes) < num_heads:
        slopes.append(2 ** (-8 * (k + 1) / (2 * p)))
        k += 2
    return np.array(slopes)

def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    bias = np.zeros((num_heads, n_q, n_k))
    for h in range(num_heads):
        for i in range(n_q):
            for j in range(n_k):
                bias[h][i][j] = -slopes[h] * abs((n_k - n_q + i) - j)
    return bias

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = math.factorial(5)
REFLECT_LONGEST_WAVELENGTH_D64 = round(2 * math.pi / rope_frequencies(64)[-1])
