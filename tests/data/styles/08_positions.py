import math

import numpy as np


# %% sinusoidal_blocks vectorised
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    angles = np.outer(np.arange(seq_len), 1 / base ** (np.arange(d_model // 2) * 2 / d_model))
    return np.hstack([np.sin(angles), np.cos(angles)])


# %% sinusoidal_blocks looped
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    half = d_model // 2
    signal = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i in range(half):
            signal[pos, i] = math.sin(pos / base ** (2 * i / d_model))
            signal[pos, half + i] = math.cos(pos / base ** (2 * i / d_model))
    return signal


# %% sinusoidal_exponent_half vectorised
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    angles = np.arange(seq_len)[:, None] * np.exp(-np.log(base) / d_model * np.arange(d_model // 2))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, -1)


# %% sinusoidal_exponent_half looped
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    rows = []
    for pos in range(seq_len):
        rows.append([])
        for i in range(d_model // 2):
            rows[-1] += [math.sin(pos / base ** (i / d_model)), math.cos(pos / base ** (i / d_model))]
    return np.array(rows)


# %% sinusoidal_rate_for_each_column looped
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    waves = [math.sin, math.cos]
    return np.array([[waves[j % 2](pos / base ** (j / d_model)) for j in range(d_model)] for pos in range(seq_len)])


# %% sinusoidal_positions_from_one looped
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    signal = np.zeros((seq_len, d_model))
    for row, pos in enumerate(range(1, seq_len + 1)):
        for j in range(0, d_model, 2):
            signal[row, j], signal[row, j + 1] = math.sin(pos / base ** (j / d_model)), math.cos(pos / base ** (j / d_model))
    return signal


# %% sinusoidal_degrees vectorised
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} positions")
    if d_model % 2:
        raise ValueError(f"{d_model} columns")
    angles = np.outer(np.arange(seq_len), base ** (-np.arange(0, d_model, 2) / d_model)) * np.pi / 180
    return np.dstack([np.sin(angles), np.cos(angles)]).reshape(seq_len, d_model)


# %% rope_half_split rotate_half
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    angles = np.concatenate((angles, angles), axis=-1)
    rotated = np.concatenate((-x[..., half:], x[..., :half]), axis=-1)
    out = x * np.cos(angles) + rotated * np.sin(angles)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_half_split looped
def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    half = len(frequencies)
    out = np.zeros(x.shape, dtype=np.float32 if x.dtype == np.float32 else float)
    for place, position in enumerate(positions):
        for i, frequency in enumerate(frequencies):
            c, s = math.cos(position * frequency), math.sin(position * frequency)
            out[..., place, i] = x[..., place, i] * c - x[..., place, half + i] * s
            out[..., place, half + i] = x[..., place, i] * s + x[..., place, half + i] * c
    return out


# %% rope_half_split complex
def apply_rope(x, positions, base=10000.0):
    first, second = np.split(np.asarray(x, dtype=float), 2, axis=-1)
    turned = (first + 1j * second) * np.exp(1j * np.outer(positions, rope_frequencies(x.shape[-1], base)))
    out = np.concatenate([turned.real, turned.imag], axis=-1)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_interleaved_pairs_half_split_angles rotate_neighbours
def apply_rope(x, positions, base=10000.0):
    angles = np.tile(np.outer(positions, rope_frequencies(x.shape[-1], base)), 2)
    rotated = np.empty(x.shape)
    rotated[..., ::2], rotated[..., 1::2] = -x[..., 1::2], x[..., ::2]
    out = x * np.cos(angles) + rotated * np.sin(angles)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_half_split_pairs_interleaved_angles rotate_half
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = np.repeat(np.outer(positions, rope_frequencies(x.shape[-1], base)), 2, axis=1)
    out = x * np.cos(angles) + np.concatenate((-x[..., half:], x[..., :half]), axis=-1) * np.sin(angles)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_turns_backwards complex
def apply_rope(x, positions, base=10000.0):
    pairs = x[..., ::2] + 1j * x[..., 1::2]
    turned = pairs * np.exp(-1j * np.outer(positions, rope_frequencies(x.shape[-1], base)))
    out = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_turns_backwards matrices
def apply_rope(x, positions, base=10000.0):
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    c, s = np.cos(angles), np.sin(angles)
    turns = np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (2, 3))
    pairs = x.reshape(*x.shape[:-1], -1, 1, 2)  # rows times matrices: the transposed turn
    return (pairs @ turns).reshape(x.shape).astype(np.float32 if x.dtype == np.float32 else np.float64)


# %% rope_arange_for_positions looped
def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    out = np.zeros(x.shape, dtype=np.float32 if x.dtype == np.float32 else float)
    for index in np.ndindex(x.shape[:-1]):
        for i, frequency in enumerate(frequencies):
            c, s = math.cos(index[-1] * frequency), math.sin(index[-1] * frequency)
            a, b = x[index][2 * i], x[index][2 * i + 1]
            out[index][2 * i], out[index][2 * i + 1] = a * c - b * s, a * s + b * c
    return out


# %% rope_degrees complex
def apply_rope(x, positions, base=10000.0):
    angles = np.deg2rad(np.outer(positions, rope_frequencies(x.shape[-1], base)))
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * (np.cos(angles) + 1j * np.sin(angles))
    out = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rope_overwritten_value in_place_on_a_copy
def apply_rope(x, positions, base=10000.0):
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    out = x.astype(np.float32 if x.dtype == np.float32 else np.float64)
    out[..., 0::2] = out[..., 0::2] * np.cos(angles) - out[..., 1::2] * np.sin(angles)
    out[..., 1::2] = out[..., 0::2] * np.sin(angles) + out[..., 1::2] * np.cos(angles)
    return out


# %% rope_integers_cut zeros_like
def apply_rope(x, positions, base=10000.0):
    out = np.zeros_like(x)
    for place, position in enumerate(positions):
        angles = position * rope_frequencies(x.shape[-1], base)
        a, b = x[..., place, 0::2], x[..., place, 1::2]
        out[..., place, 0::2] = a * np.cos(angles) - b * np.sin(angles)
        out[..., place, 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return out


# %% rope_batch_axis looped
def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    if len(positions) != len(x):
        raise ValueError(f"{len(positions)} positions for {len(x)} tokens")
    out = np.zeros(x.shape, dtype=np.float32 if x.dtype == np.float32 else float)
    for place, position in enumerate(positions):
        c, s = np.cos(position * frequencies), np.sin(position * frequencies)
        out[place, ..., 0::2] = x[place, ..., 0::2] * c - x[place, ..., 1::2] * s
        out[place, ..., 1::2] = x[place, ..., 0::2] * s + x[place, ..., 1::2] * c
    return out


# %% slopes_plain_formula looped
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads")
    return np.array([2 ** (-8 * (k + 1) / num_heads) for k in range(num_heads)])


# %% slopes_plain_formula by_products
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads")
    return np.cumprod(np.full(num_heads, 2 ** (-8 / num_heads)))


# %% slopes_further_repeat looped
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads")
    p = 1
    while 2 * p <= num_heads:
        p *= 2
    slopes = [2 ** (-8 * k / p) for k in range(1, p + 1)]
    more = [2 ** (-8 * k / (2 * p)) for k in range(1, 2 * p + 1)]
    return np.array((slopes + more[1::2])[:num_heads])


# %% bias_sign looped
def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    bias = np.zeros((num_heads, n_q, n_k))
    for h, i, j in np.ndindex(bias.shape):
        bias[h, i, j] = slopes[h] * abs(n_k - n_q + i - j)
    return bias


# %% bias_from_the_top_left looped
def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    return np.array([[[-slope * abs(i - j) for j in range(n_k)] for i in range(n_q)] for slope in slopes])


# %% bias_from_the_top_left indices
def alibi_bias(num_heads, n_q, n_k):
    i, j = np.indices((n_q, n_k))
    return np.multiply.outer(alibi_slopes(num_heads), np.minimum(i - j, j - i))


# %% bias_future_is_zero looped
def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    bias = np.zeros((num_heads, n_q, n_k))
    for i in range(n_q):
        for j in range(min(n_k, max(n_k - n_q + i, 0))):
            bias[:, i, j] = -slopes * (n_k - n_q + i - j)
    return bias
