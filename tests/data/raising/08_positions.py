"""Right code with one slip that raises."""

# %% shapes
# An axis is missing.
# Expected: no name; fit
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    if d_model % 2:
        raise ValueError(f'd_model must be even, not {d_model}')
    rates = base ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.arange(seq_len) * rates
    signal = np.empty((seq_len, d_model))
    signal[:, 0::2] = np.sin(angles)
    signal[:, 1::2] = np.cos(angles)
    return signal


# %% undefined_base
# A name out of another text.
# Expected: no name; nothing has the name theta here
def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f'head_dim must be even, not {head_dim}')
    return theta ** (-np.arange(0, head_dim, 2) / head_dim)


# %% list_minus
# Positions may be a list.
# Expected: no name; a list takes one place
def apply_rope(x, positions, base=10000.0):
    angles = positions[:, None] * rope_frequencies(x.shape[-1], base)
    cos, sin = (np.cos(angles), np.sin(angles))
    a, b = (x[..., 0::2], x[..., 1::2])
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = a * cos - b * sin
    turned[..., 1::2] = a * sin + b * cos
    return turned


# %% slopes_not_called
# The brackets of a call are missing.
# Expected: no name; Are the round brackets of a call missing?
def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return -slopes[:, None, None] * distance
