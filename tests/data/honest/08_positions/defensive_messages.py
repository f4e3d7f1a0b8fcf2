import numpy as np


def _check_int(value, name):
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    return int(value)


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    """As asked, with checks of everything."""
    seq_len, d_model = _check_int(seq_len, "seq_len"), _check_int(d_model, "d_model")
    if seq_len < 1:
        raise ValueError(f"sinusoidal_positions: seq_len must be positive (got {seq_len}, d_model {d_model})")
    if d_model % 2 or d_model < 2:
        raise ValueError(f"sinusoidal_positions: d_model must be an even number of 2 or more, and {d_model} is not")
    if base <= 0:
        raise ValueError(f"base must be positive, not {base}")
    freqs = rope_frequencies(d_model, base)
    result = np.full((seq_len, d_model), np.nan)
    for pos in range(seq_len):
        result[pos, 0::2] = np.sin(pos * freqs)
        result[pos, 1::2] = np.cos(pos * freqs)
    assert np.isfinite(result).all()
    return result


def rope_frequencies(head_dim, base=10000.0):
    head_dim = _check_int(head_dim, "head_dim")
    if head_dim % 2 or head_dim < 2:
        raise ValueError(f"rope_frequencies: head_dim must be an even number of 2 or more, and {head_dim} is not")
    exponents = np.arange(0, head_dim, 2).astype(np.float64) / head_dim
    result = 1.0 / np.power(float(base), exponents)
    assert result.shape == (head_dim // 2,) and result[0] == 1.0
    return result


def apply_rope(x, positions, base=10000.0):
    x = np.asarray(x)
    positions = np.asarray(positions)
    if x.ndim < 2:
        raise ValueError(f"x needs two dimensions or more, it has {x.ndim}")
    if x.shape[-1] % 2:
        raise ValueError(f"apply_rope: {x.shape[-1]} features cannot be paired")
    if positions.ndim != 1 or len(positions) != x.shape[-2]:
        raise ValueError(f"{positions.shape} positions for {x.shape[-2]} tokens")
    if not np.issubdtype(positions.dtype, np.integer):
        raise TypeError("positions must be integers")
    if (positions < 0).any():
        raise ValueError(f"position {positions.min()} is negative")
    out_dtype = np.float32 if x.dtype == np.float32 else np.float64
    angles = positions.astype(np.float64)[:, None] * rope_frequencies(x.shape[-1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    work = x.astype(np.float64)
    out = np.empty_like(work)
    out[..., 0::2] = work[..., 0::2] * cos - work[..., 1::2] * sin
    out[..., 1::2] = work[..., 0::2] * sin + work[..., 1::2] * cos
    assert out.shape == x.shape
    return out.astype(out_dtype)


def alibi_slopes(num_heads):
    num_heads = _check_int(num_heads, "num_heads")
    if num_heads < 1:
        raise ValueError(f"alibi_slopes: num_heads must be at least 1, not {num_heads}")
    closest_power_of_2 = 2 ** int(np.floor(np.log2(num_heads)))
    base = 2.0 ** (-(2.0 ** -(np.log2(closest_power_of_2) - 3)))
    slopes = np.power(base, np.arange(1, 1 + closest_power_of_2))
    if closest_power_of_2 != num_heads:
        extra_base = 2.0 ** (-(2.0 ** -(np.log2(2 * closest_power_of_2) - 3)))
        remaining = min(closest_power_of_2, num_heads - closest_power_of_2)
        slopes = np.concatenate([slopes, np.power(extra_base, np.arange(1, 1 + 2 * remaining, 2))])
    assert len(slopes) == num_heads
    return slopes


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    n_q, n_k = _check_int(n_q, "n_q"), _check_int(n_k, "n_k")
    query_positions = np.arange(n_k - n_q, n_k)
    key_positions = np.arange(n_k)
    relative = key_positions[None, :] - query_positions[:, None]
    bias = -np.abs(relative)[None] * slopes[:, None, None]
    assert bias.shape == (num_heads, n_q, n_k)
    return bias


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 120
REFLECT_LONGEST_WAVELENGTH_D64 = 47117
