import numpy as np

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1 or d_model % 2:
        raise ValueError(f"bad sizes: seq_len {seq_len}, d_model {d_model}")
    angles = np.arange(seq_len).reshape(-1, 1) / base ** (np.arange(d_model // 2) * 2 / d_model)
    halves = np.hstack([np.sin(angles), np.cos(angles)])
    return halves[:, np.arange(d_model).reshape(2, -1).T.ravel()]

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim {head_dim}")
    return np.logspace(0, -1, head_dim // 2, endpoint=False, base=base)

def apply_rope(x, positions, base=10000.0):
    # goes to the half-split layout, turns there as other libraries do, and comes back
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"the last dimension is {d}")
    to_halves = np.r_[0:d:2, 1:d:2]
    back = np.argsort(to_halves)
    y = x[..., to_halves]
    angles = np.asarray(positions)[:, None] * rope_frequencies(d, base)[None]
    angles = np.concatenate([angles, angles], axis=-1)
    swapped = np.concatenate([-y[..., d // 2 :], y[..., : d // 2]], axis=-1)
    turned = y * np.cos(angles) + swapped * np.sin(angles)
    return turned[..., back].astype(np.result_type(x.dtype, np.float32) if x.dtype.kind == "f" else np.float64)

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(num_heads)
    p = 1 << (num_heads.bit_length() - 1)
    of = lambda h: np.exp2(-8.0 / h * np.arange(1, h + 1))
    return np.r_[of(p), of(2 * p)[::2][: num_heads - p]]

def alibi_bias(num_heads, n_q, n_k):
    # a distance is the larger difference of the two: one is the negative of the other
    gap = np.arange(n_k - n_q, n_k).reshape(-1, 1) - np.arange(n_k)
    rows = np.maximum(gap, -gap)
    return alibi_slopes(num_heads).reshape(-1, 1, 1) * rows * -1.0

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120.0
REFLECT_LONGEST_WAVELENGTH_D64 = np.float64(47117)
