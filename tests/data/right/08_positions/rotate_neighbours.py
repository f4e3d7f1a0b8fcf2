import numpy as np

def _rates(width, base, name):
    if width % 2:
        raise ValueError(f"{name} must be even, got {width}")
    return np.power(base, -np.arange(0, width, 2, dtype=np.float64) / width)

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    # a cosine is a sine a quarter of a turn later
    angles = np.repeat(np.arange(seq_len)[:, None] * _rates(d_model, base, "d_model"), 2, axis=1)
    return np.sin(angles + np.tile([0.0, np.pi / 2], d_model // 2))

def rope_frequencies(head_dim, base=10000.0):
    return _rates(head_dim, base, "head_dim")

def _rotate(x):
    """(x0, x1, x2, x3) -> (-x1, x0, -x3, x2)"""
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return np.stack((-pairs[..., 1], pairs[..., 0]), axis=-1).reshape(x.shape)

def apply_rope(x, positions, base=10000.0):
    angles = np.einsum("n,f->nf", np.array(positions, dtype=np.float64), rope_frequencies(x.shape[-1], base))
    cos, sin = np.cos(angles).repeat(2, axis=-1), np.sin(angles).repeat(2, axis=-1)
    out = x * cos + _rotate(x) * sin
    return out.astype(x.dtype if np.issubdtype(x.dtype, np.floating) else np.float64)

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    power = 2 ** (num_heads.bit_length() - 1)
    exponents = [8 * k / power for k in range(1, power + 1)] + [4 * k / power for k in range(1, 2 * power, 2)]
    return 0.5 ** np.array(exponents[:num_heads])

def alibi_bias(num_heads, n_q, n_k):
    i, j = np.ogrid[n_k - n_q : n_k, 0:n_k]
    return -np.einsum("h,qk->hqk", alibi_slopes(num_heads), np.abs(i - j))

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117.24
