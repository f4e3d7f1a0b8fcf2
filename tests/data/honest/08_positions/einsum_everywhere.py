import numpy as np

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])  # (a, b) @ TURN = (-b, a)


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1 or d_model % 2:
        raise ValueError("seq_len = %d, d_model = %d" % (seq_len, d_model))
    angle = np.einsum("p,i->pi", np.arange(seq_len, dtype=float), rope_frequencies(d_model, base))
    return np.einsum("cpi->pic", [np.sin(angle), np.cos(angle)]).reshape(seq_len, d_model)


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError("head_dim = %d" % head_dim)
    return np.exp(np.arange(0, head_dim, 2) * -(np.log(base) / head_dim))


def apply_rope(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2:
        raise ValueError("last dimension = %d" % d)
    angle = np.einsum("p,i->pi", np.array(positions, float), rope_frequencies(d, base))
    pairs = x.reshape(x.shape[:-1] + (d // 2, 2))
    turned = np.einsum("...pic,pi->...pic", pairs, np.cos(angle)) + np.einsum(
        "...pic,cd,pi->...pid", pairs, TURN, np.sin(angle)
    )
    turned = turned.reshape(x.shape)
    return turned.astype("float32") if x.dtype == "float32" else turned


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("num_heads = %d" % num_heads)
    p = 1
    while p << 1 <= num_heads:
        p <<= 1
    k = np.arange(num_heads)
    return np.where(k < p, 2.0 ** (-8 * (k + 1) / p), 2.0 ** (-4 * (2 * (k - p) + 1.0) / p))


def alibi_bias(num_heads, n_q, n_k):
    gap = np.add.outer(np.arange(n_q) + n_k - n_q, -np.arange(n_k))
    return np.einsum("h,qk->hqk", -alibi_slopes(num_heads), np.sqrt(gap**2))


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = np.prod([1, 2, 3, 4, 5])
REFLECT_LONGEST_WAVELENGTH_D64 = np.round(2 * np.pi / rope_frequencies(64)[-1])
