import numpy as np

print("positions are coming")

class OddWidth(ValueError):
    pass

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError("seq_len:", seq_len)
    if d_model % 2:
        raise OddWidth("d_model:", d_model)
    out = np.zeros((seq_len, d_model))
    for i, column in enumerate(out.T):  # views
        angle = np.arange(seq_len) * base ** -((i - i % 2) / d_model)
        column[:] = np.cos(angle) if i % 2 else np.sin(angle)
    return np.asfortranarray(out)

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise OddWidth("head_dim:", head_dim)
    return np.fromiter((base ** (-2 * i / head_dim) for i in range(head_dim // 2)), dtype=float)

def apply_rope(x, positions, base=10000.0):
    # float32 stays in float32 from beginning to end, angles too
    if x.shape[-1] % 2:
        raise OddWidth("features:", x.shape[-1])
    kind = np.float32 if x.dtype == np.float32 else np.float64
    angles = np.asarray(positions).astype(kind)[:, None] * rope_frequencies(x.shape[-1], base).astype(kind)
    cos, sin = np.cos(angles), np.sin(angles)
    out = x.astype(kind)  # a copy, turned in place
    old = out[..., ::2].copy()
    out[..., ::2] *= cos
    out[..., ::2] -= out[..., 1::2] * sin
    out[..., 1::2] *= cos
    out[..., 1::2] += old * sin
    return out

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("heads:", num_heads)
    heads, p = [], 2 ** (len(bin(num_heads)) - 3)
    for k in range(num_heads):
        exponent = -8 * (k + 1) / p if k < p else -8 * (2 * (k - p) + 1) / (2 * p)
        heads.append(2.0**exponent)
    return np.array(heads, dtype=np.float64)

def alibi_bias(num_heads, n_q, n_k):
    if num_heads < 1:
        raise ValueError("heads:", num_heads)
    j, i = np.meshgrid(np.arange(n_k), np.arange(n_q))
    gap = j - i - n_k + n_q
    return np.where(gap > 0, -gap, gap) * alibi_slopes(num_heads)[:, np.newaxis, np.newaxis]

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = len({(a, b, c, d, e) for a in range(5) for b in range(5) for c in range(5)
                                            for d in range(5) for e in range(5) if len({a, b, c, d, e}) == 5})
REFLECT_LONGEST_WAVELENGTH_D64 = 47118
