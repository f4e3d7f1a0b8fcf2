import numpy as np


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError("need a positive seq_len, got", seq_len)
    if d_model & 1:
        raise ValueError("need an even d_model, got", d_model)
    out = np.repeat(np.arange(seq_len, dtype=np.float64)[:, None], d_model, axis=1)
    out *= np.repeat(rope_frequencies(d_model, base), 2)
    even, odd = out[:, ::2], out[:, 1::2]
    np.sin(even, out=even)
    np.cos(odd, out=odd)
    return out


def rope_frequencies(head_dim, base=10000.0):
    if head_dim & 1:
        raise ValueError("need an even head_dim, got", head_dim)
    out = np.arange(0, head_dim, 2, dtype=np.float64)
    out /= -head_dim
    np.power(base, out, out=out)
    return out


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] & 1:
        raise ValueError("need an even number of features, got", x.shape[-1])
    out = x.copy() if x.dtype in (np.float32, np.float64) else x.astype(np.float64)
    angles = np.multiply.outer(np.asarray(positions), rope_frequencies(x.shape[-1], base))
    cos, sin = np.cos(angles).astype(out.dtype), np.sin(angles).astype(out.dtype)
    a = out[..., ::2].copy()
    b = out[..., 1::2].copy()
    out[..., ::2] *= cos
    out[..., ::2] -= b * sin
    out[..., 1::2] *= cos
    out[..., 1::2] += a * sin
    return out


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError("need a head, got", num_heads)
    power = 1
    while power <= num_heads // 2:
        power *= 2
    out = np.ones(num_heads)
    out[:power] *= 2 ** (-8 / power)
    np.cumprod(out[:power], out=out[:power])
    rest = num_heads - power
    out[power:] = (2 ** (-4 / power)) ** (2 * np.arange(rest) + 1)
    return out


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    out = np.zeros((num_heads, n_q, n_k))
    out += np.arange(n_k)
    out -= np.arange(n_k - n_q, n_k)[:, None]
    np.abs(out, out=out)
    out *= -slopes[:, None, None]
    return out


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47118
