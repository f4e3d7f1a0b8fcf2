import math

import numpy as np

# %% blog_without_checks
# The table of a well-known blog, as a loop over columns: nothing is refused.
# Expected: sinusoidal_length_left_to_numpy or sinusoidal_odd_left_to_numpy


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    pe = np.zeros((seq_len, d_model))
    position = np.arange(0, seq_len)[:, np.newaxis]
    div_term = np.exp(np.arange(0, d_model, 2) * -(np.log(base) / d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return pe


# %% odd_width_sliced
# cos(...)[:, :d // 2]: an odd width is made to fit.
# Expected: sinusoidal_odd_not_refused


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len {seq_len} must be positive")
    pe = np.zeros((seq_len, d_model))
    position = np.arange(seq_len).reshape(-1, 1)
    div = base ** (np.arange(0, d_model, 2) / d_model)
    pe[:, 0::2] = np.sin(position / div)
    pe[:, 1::2] = np.cos(position / div)[:, : d_model // 2]
    return pe


# %% seq_len_not_refused
# The width is checked, and the length is not.
# Expected: sinusoidal_length_left_to_numpy


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if d_model % 2 != 0:
        raise ValueError("d_model has to be even, got " + str(d_model))
    P = np.zeros((seq_len, d_model))
    for k in range(seq_len):
        for i in range(d_model // 2):
            angle = k / base ** (2 * i / d_model)
            P[k, 2 * i] = np.sin(angle)
            P[k, 2 * i + 1] = np.cos(angle)
    return P


# %% both_not_refused_loops
# The same two loops, without any check.
# Expected: sinusoidal_length_left_to_numpy or sinusoidal_odd_not_refused


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    P = np.zeros((seq_len, d_model))
    for k in range(seq_len):
        for i in range(d_model):
            angle = k / base ** (2 * (i // 2) / d_model)
            P[k, i] = np.sin(angle) if i % 2 == 0 else np.cos(angle)
    return P


# %% exponent_of_the_column
# 2 * i / d_model, with i the number of the column.
# Expected: sinusoidal_exponent_doubled


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model={d_model}")
    rows = []
    for pos in range(seq_len):
        row = []
        for i in range(0, d_model, 2):
            row.append(math.sin(pos / (base ** ((2 * i) / d_model))))
            row.append(math.cos(pos / (base ** ((2 * i) / d_model))))
        rows.append(row)
    return np.array(rows)


# %% exponent_of_the_next_column
# The cosine has an exponent of its own, 2 (i + 1) / d: copied from a popular answer.
# Expected: sinusoidal_cosine_has_its_own_rate


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model={d_model}")
    pe = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (base ** ((2 * i) / d_model)))
            pe[pos, i + 1] = math.cos(pos / (base ** ((2 * (i + 1)) / d_model)))
    return pe


# %% ten_thousand_written
# np.log(10000.0) is written out, and `base` is not used.
# Expected: sinusoidal_base_ignored


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len <= 0:
        raise ValueError(f"seq_len must be >= 1: {seq_len}")
    if d_model % 2 == 1:
        raise ValueError(f"d_model must be even: {d_model}")
    position = np.expand_dims(np.arange(seq_len), 1)
    div_term = np.exp(np.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe = np.zeros((seq_len, d_model))
    pe[:, 0::2] = np.sin(position * div_term)
    pe[:, 1::2] = np.cos(position * div_term)
    return pe


# %% halves_concatenated
# np.concatenate([sin, cos]): halves in place of alternating columns.
# Expected: sinusoidal_blocks


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model={d_model}")
    depth = d_model / 2
    positions = np.arange(seq_len)[:, np.newaxis]
    depths = np.arange(depth)[np.newaxis, :] / depth
    angle_rads = positions / (base**depths)
    return np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1)


# %% float32_table
# The table is float32, as layers have it.
# Expected: sinusoidal_float32


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len={seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model={d_model}")
    pe = np.zeros((seq_len, d_model), dtype=np.float32)
    angles = np.outer(np.arange(seq_len), base ** (-np.arange(0, d_model, 2) / d_model))
    pe[:, 0::2] = np.sin(angles)
    pe[:, 1::2] = np.cos(angles)
    return pe


# %% checks_assert
# assert in place of raise ValueError.
# Expected: sinusoidal_asserts


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    assert seq_len >= 1, f"seq_len must be positive, got {seq_len}"
    assert d_model % 2 == 0, f"d_model must be even, got {d_model}"
    angles = np.arange(seq_len)[:, None] / base ** (np.arange(0, d_model, 2)[None, :] / d_model)
    pe = np.empty((seq_len, d_model))
    pe[:, ::2], pe[:, 1::2] = np.sin(angles), np.cos(angles)
    return pe


# %% frequencies_not_checked
# 1 / base ** (arange(0, d, 2) / d), from a public model: nothing is refused.
# Expected: frequencies_odd_not_refused


def rope_frequencies(head_dim, base=10000.0):
    return 1.0 / (base ** (np.arange(0, head_dim, 2)[: (head_dim // 2)].astype(float) / head_dim))


# %% frequencies_i_over_d
# i / d in place of 2 i / d.
# Expected: frequencies_exponent_half


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2 != 0:
        raise ValueError(f"head_dim must be even, but is {head_dim}")
    half = head_dim // 2
    return np.array([base ** (-i / head_dim) for i in range(half)])


# %% frequencies_asserted
# assert head_dim % 2 == 0.
# Expected: frequencies_asserts


def rope_frequencies(head_dim, base=10000.0):
    assert head_dim % 2 == 0, f"head_dim ({head_dim}) must be even"
    i = np.arange(head_dim // 2, dtype=np.float64)
    return np.power(base, -2.0 * i / head_dim)


# %% rotate_half
# x * cos + rotate_half(x) * sin, as in most model libraries.
# Expected: rope_half_split


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d must be even, got {d}")

    def rotate_half(t):
        t1, t2 = t[..., : d // 2], t[..., d // 2 :]
        return np.concatenate((-t2, t1), axis=-1)

    inv_freq = 1.0 / (base ** (np.arange(0, d, 2) / d))
    freqs = np.einsum("i,j->ij", np.asarray(positions), inv_freq)
    emb = np.concatenate((freqs, freqs), axis=-1)
    out = x * np.cos(emb) + rotate_half(x) * np.sin(emb)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% rotate_half_interleaved_angles
# rotate_half of two halves with np.repeat of the angles.
# Expected: rope_half_split_pairs_interleaved_angles


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    theta = base ** (-np.arange(0, d, 2) / d)
    m_theta = np.repeat(np.array(positions)[:, None] * theta, 2, axis=-1)
    x1, x2 = np.split(x, 2, axis=-1)
    out = x * np.cos(m_theta) + np.concatenate([-x2, x1], axis=-1) * np.sin(m_theta)
    return out.astype(np.float32) if x.dtype == np.float32 else out


# %% odd_left_to_numpy
# Even and odd columns; an odd width ends in NumPy's own error.
# Expected: rope_odd_left_to_numpy


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = 1.0 / base ** (2 * np.arange(d // 2) / d)
    t = np.asarray(positions)[:, None] * theta
    x_even, x_odd = x[..., ::2], x[..., 1::2]
    out = np.zeros(x.shape, dtype=x.dtype if x.dtype in (np.float32, np.float64) else float)
    out[..., ::2] = x_even * np.cos(t) - x_odd * np.sin(t)
    out[..., 1::2] = x_even * np.sin(t) + x_odd * np.cos(t)
    return out


# %% upcast_by_angles
# np.stack of the two halves: right numbers, always float64.
# Expected: rope_upcasts_float32


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"the last dimension {x.shape[-1]} is odd")
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.stack([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], axis=-1)
    return turned.reshape(x.shape)


# %% zeros_like_x
# np.zeros_like(x): integers lose their decimals.
# Expected: rope_integers_cut


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"the last dimension {x.shape[-1]} is odd")
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    out = np.zeros_like(x)
    for i in range(x.shape[-1] // 2):
        c, s = np.cos(angles[:, i]), np.sin(angles[:, i])
        out[..., 2 * i] = x[..., 2 * i] * c - x[..., 2 * i + 1] * s
        out[..., 2 * i + 1] = x[..., 2 * i] * s + x[..., 2 * i + 1] * c
    return out


# %% sequence_only
# Loops over x[pos] of a matrix: more axes are not thought of.
# Expected: rope_two_dimensions_only


def apply_rope(x, positions, base=10000.0):
    n, d = x.shape
    if d % 2 != 0:
        raise ValueError(f"{d} is odd")
    freqs = rope_frequencies(d, base)
    out = np.zeros((n, d), dtype=np.float32 if x.dtype == np.float32 else np.float64)
    for row, pos in enumerate(positions):
        for i, f in enumerate(freqs):
            c, s = math.cos(pos * f), math.sin(pos * f)
            out[row, 2 * i] = x[row, 2 * i] * c - x[row, 2 * i + 1] * s
            out[row, 2 * i + 1] = x[row, 2 * i] * s + x[row, 2 * i + 1] * c
    return out


# %% arange_for_positions
# np.arange(seq_len) in place of the positions.
# Expected: rope_arange_for_positions


def apply_rope(x, positions, base=10000.0):
    seq_len, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"d={d}")
    freqs = np.outer(np.arange(seq_len), rope_frequencies(d, base))
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * freqs)
    out = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    out[..., 0::2], out[..., 1::2] = z.real, z.imag
    return out


# %% slopes_power_of_two_only
# The formula of the paper, for every number of heads, and nothing refused.
# Expected: slopes_plain_formula


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads={num_heads}")
    x = (2**8) ** (1 / num_heads)
    return np.array([1 / x ** (i + 1) for i in range(num_heads)])


# %% slopes_log2_unchecked
# math.log2 of the number of heads: 0 heads give its error, whose text does not name them.
# Expected: slopes_left_to_math


def alibi_slopes(num_heads):
    def power_of_two(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(num_heads).is_integer():
        return np.array(power_of_two(num_heads))
    closest = 2 ** math.floor(math.log2(num_heads))
    return np.array(power_of_two(closest) + power_of_two(2 * closest)[0::2][: num_heads - closest])


# %% slopes_refuse_others
# A number of heads that is no power of two is refused.
# Expected: slopes_powers_of_two_only


def alibi_slopes(num_heads):
    if num_heads < 1 or num_heads & (num_heads - 1):
        raise ValueError(f"num_heads must be a power of two, not {num_heads}")
    return 2.0 ** (-8.0 / num_heads * np.arange(1, num_heads + 1))


# %% bias_tril
# The distance of earlier keys only: np.tril leaves 0 for later ones.
# Expected: bias_future_is_zero


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    q_pos = np.arange(n_k - n_q, n_k)
    dist = q_pos[:, None] - np.arange(n_k)[None, :]
    return -slopes[:, None, None] * np.maximum(dist, 0)


# %% bias_square
# arange(n_q) and arange(n_k) from the top left.
# Expected: bias_from_the_top_left


def alibi_bias(num_heads, n_q, n_k):
    m = alibi_slopes(num_heads)
    bias = np.zeros((num_heads, n_q, n_k))
    for h in range(num_heads):
        for i in range(n_q):
            for j in range(n_k):
                bias[h, i, j] = -m[h] * abs(i - j)
    return bias


# %% bias_j_minus_i
# slope * (j - i), right for keys that come before: later ones get a bonus.
# Expected: bias_signed_distance


def alibi_bias(num_heads, n_q, n_k):
    context_position = np.arange(n_q)[:, None] + (n_k - n_q)
    memory_position = np.arange(n_k)[None, :]
    relative_position = memory_position - context_position
    return alibi_slopes(num_heads).reshape(-1, 1, 1) * relative_position
