import numpy as np
import math

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1: raise ValueError(f"seq_len {seq_len}")
    if d_model % 2: raise ValueError(f"d_model {d_model}")
    a = np.arange(seq_len)[:, None] / base ** (2 * np.arange(d_model // 2) / d_model)
    out = np.zeros((seq_len, d_model)); out[:, ::2] = np.sin(a); out[:, 1::2] = np.cos(a)
    return out

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2: raise ValueError(f"head_dim {head_dim}")
    return 1.0 / base ** (2 * np.arange(head_dim // 2) / head_dim)

def apply_rope(x, positions, base=10000.0):
    f = rope_frequencies(x.shape[-1], base)
    t = np.asarray(positions)[:, None] * f
    y = np.stack([x[..., ::2] * np.cos(t) - x[..., 1::2] * np.sin(t), x[..., ::2] * np.sin(t) + x[..., 1::2] * np.cos(t)], -1)
    return y.reshape(x.shape).astype(x.dtype if x.dtype.kind == "f" else float)

def alibi_slopes(num_heads):
    if num_heads < 1: raise ValueError(f"{num_heads} heads")
    p = 2 ** int(math.log2(num_heads))
    s = [2 ** (-8 * (k + 1) / p) for k in range(p)]
    e = [2 ** (-8 * (k + 1) / (2 * p)) for k in range(2 * p)][::2]
    return np.array((s + e)[:num_heads])

def alibi_bias(num_heads, n_q, n_k):
    s = alibi_slopes(num_heads)
    d = np.abs(np.arange(n_k)[None] - np.arange(n_q)[:, None] - (n_k - n_q))
    return -s[:, None, None] * d

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117

cache = {}
def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    f = rope_frequencies(d, base)
    rows = []
    for p in positions:
        key = (int(p), d, base)
        if key not in cache:
            cache[key] = np.exp(1j * (int(p) * f))
        rows.append(cache[key])
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.array(rows)
    return np.stack([z.real, z.imag], -1).reshape(x.shape).astype(x.dtype if x.dtype.kind == "f" else float)
