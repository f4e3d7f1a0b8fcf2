import numpy as np
from functools import partial

arange = partial(np.arange, dtype=np.float64)


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    match (seq_len, d_model % 2):
        case (n, _) if n < 1:
            raise ValueError(f"seq_len: {n}")
        case (_, 1):
            raise ValueError(f"d_model: {d_model}")
    theta = arange(seq_len)[:, None] @ rope_frequencies(d_model, base)[None, :]
    table = np.zeros((d_model, seq_len))
    table[0::2] = np.sin(theta).T
    table[1::2] = np.cos(theta).T
    return table.T


def rope_frequencies(head_dim, base=10000.0):
    if (half := head_dim // 2) * 2 != head_dim:
        raise ValueError(f"head_dim: {head_dim}")
    return np.reciprocal(base ** (arange(half) / half))


def apply_rope(x, positions, base=10000.0):
    *front, n, d = x.shape
    theta = np.array(positions, dtype=np.float64).reshape(n, 1) @ rope_frequencies(d, base).reshape(1, -1)
    rotation = np.empty((n, d // 2, 2, 2))
    rotation[..., 0, 0] = rotation[..., 1, 1] = np.cos(theta)
    rotation[..., 1, 0] = np.sin(theta)
    rotation[..., 0, 1] = -rotation[..., 1, 0]
    turned = rotation @ x.reshape(*front, n, d // 2, 2, 1)
    return turned.reshape(*front, n, d).astype(np.float32 if x.dtype.itemsize == 4 and x.dtype.kind == "f" else np.float64)


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads: {num_heads}")
    exponent = int(num_heads).bit_length() - 1
    p = 2**exponent
    wanted = np.concatenate([2 * arange(1, p + 1), arange(1, 2 * p, 2)])[:num_heads]
    return np.exp2(-4.0 * wanted / p)


def alibi_bias(num_heads, n_q, n_k):
    m = alibi_slopes(num_heads)
    rows = [np.abs(arange(n_k) - p) for p in range(n_k - n_q, n_k)]
    return np.tensordot(-m, np.stack(rows), axes=0)


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47_117
