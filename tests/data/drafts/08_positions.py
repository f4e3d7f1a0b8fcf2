"""First drafts of 08_positions: what is not in a cell is as in the stub."""

import numpy as np

# %% exponent_without_the_two
# The frequency of column i instead of pair i, and no refusals
# Expected: sinusoidal_positions: value


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    out = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i in range(d_model):
            angle = pos / base ** (i / d_model)
            out[pos, i] = np.sin(angle) if i % 2 == 0 else np.cos(angle)
    return out


# %% halves_instead_of_pairs
# RoPE as in Llama: the first half with the second; signal and frequencies are right, slopes not written
# Expected: apply_rope: value


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = np.arange(seq_len)[:, None] * rope_frequencies(d_model, base)
    out = np.empty((seq_len, d_model))
    out[:, 0::2] = np.sin(angles)
    out[:, 1::2] = np.cos(angles)
    return out


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}")
    return base ** (-2 * np.arange(head_dim // 2) / head_dim)


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


# %% slopes_of_powers_only
# The slopes ignore what is not a power of two; the bias is not written, and the first three are not begun
# Expected: alibi_slopes: value


def alibi_slopes(num_heads):
    return np.array([2 ** (-8 * (k + 1) / num_heads) for k in range(num_heads)])
