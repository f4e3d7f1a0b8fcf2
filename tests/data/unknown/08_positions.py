import numpy as np


# %% sinusoidal_tangent
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = np.arange(seq_len)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.tan(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% sinusoidal_negative_angles
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = -np.arange(seq_len)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% sinusoidal_scaled_by_the_width
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = np.arange(seq_len)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model) / np.sqrt(d_model)


# %% sinusoidal_positions_from_two
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = np.arange(2, seq_len + 2)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% sinusoidal_blocks_cosine_first
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len is {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}")
    angles = np.arange(seq_len)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


# %% frequencies_to_the_base_e
def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}")
    return np.exp(-np.arange(0, head_dim, 2) / head_dim)


# %% frequencies_one_too_few
def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}")
    frequencies = base ** (-np.arange(0, head_dim, 2) / head_dim)
    return np.where(np.arange(head_dim // 2) == head_dim // 2 - 1, 0, frequencies) if head_dim > 2 else frequencies


# %% rope_every_second_token_backwards
def apply_rope(x, positions, base=10000.0):
    signs = np.where(np.arange(x.shape[-2]) % 2, -1, 1)
    angles = (np.asarray(positions) * signs)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_pairs_swapped
def apply_rope(x, positions, base=10000.0):
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 1::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 0::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_pairs_from_both_ends
def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    a, b = x[..., :half], x[..., ::-1][..., :half]
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., :half] = a * np.cos(angles) - b * np.sin(angles)
    turned[..., half:] = (a * np.sin(angles) + b * np.cos(angles))[..., ::-1]
    return turned


# %% rope_double_angles
def apply_rope(x, positions, base=10000.0):
    angles = 2 * np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_positions_capped
def apply_rope(x, positions, base=10000.0):
    angles = np.minimum(positions, 3)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_first_token_for_all
def apply_rope(x, positions, base=10000.0):
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    x = np.broadcast_to(x[..., :1, :], x.shape)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_result_normalised
def apply_rope(x, positions, base=10000.0):
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned / (1 + np.linalg.norm(turned, axis=-1, keepdims=True)).astype(turned.dtype)


# %% slopes_by_thirds
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads is {num_heads}")
    return 3.0 ** -np.arange(1.0, num_heads + 1)


# %% slopes_by_the_nearest_power
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads is {num_heads}")
    power = 2 ** round(np.log2(num_heads))
    slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-8 * np.arange(1, 2 * power + 1, 2) / (2 * power))
    return np.concatenate([slopes, between])[:num_heads]


# %% slopes_linear
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads is {num_heads}")
    return np.linspace(0.5, 2.0**-8, num_heads)


# %% slopes_end_at_two_to_the_minus_seven
def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads is {num_heads}")
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = 2.0 ** (-7 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-7 * np.arange(1, 2 * power, 2) / (2 * power))
    return np.concatenate([slopes, between[: num_heads - power]])


# %% bias_square_root_of_distance
def alibi_bias(num_heads, n_q, n_k):
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return -alibi_slopes(num_heads)[:, None, None] * np.sqrt(distance)


# %% bias_keys_from_the_end
def alibi_bias(num_heads, n_q, n_k):
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k)[::-1])
    return -alibi_slopes(num_heads)[:, None, None] * distance


# %% bias_heads_reversed
def alibi_bias(num_heads, n_q, n_k):
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return -alibi_slopes(num_heads)[::-1, None, None] * distance


# %% bias_past_is_zero
def alibi_bias(num_heads, n_q, n_k):
    distance = np.maximum(np.arange(n_k) - np.arange(n_k - n_q, n_k)[:, None], 0)
    return -alibi_slopes(num_heads)[:, None, None] * distance
