# %% loops_and_lists
# Expected: passes
import math


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    rows = []
    for pos in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = pos / base ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return np.array(rows)


def rope_frequencies(head_dim, base=10000.0):
    return np.array([base ** (-2 * i / head_dim) for i in range(head_dim // 2)])


def alibi_bias(num_heads, n_q, n_k):
    return np.array(
        [[[-s * abs(n_k - n_q + i - j) for j in range(n_k)] for i in range(n_q)] for s in alibi_slopes(num_heads)]
    )


# %% pair_by_pair
# Expected: passes
import math


def apply_rope(x, positions, base=10000.0):
    out = np.zeros(x.shape)
    frequencies = rope_frequencies(x.shape[-1], base)
    for index in np.ndindex(x.shape[:-1]):
        for i, frequency in enumerate(frequencies):
            angle = positions[index[-1]] * frequency
            a, b = x[index][2 * i], x[index][2 * i + 1]
            out[index][2 * i] = a * math.cos(angle) - b * math.sin(angle)
            out[index][2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return out


# %% complex_turns
# Expected: passes


def apply_rope(x, positions, base=10000.0):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    turns = np.exp(1j * np.outer(positions, rope_frequencies(x.shape[-1], base)))
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * turns
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


# %% small_matrices
# Expected: passes


def apply_rope(x, positions, base=10000.0):
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    turns = np.moveaxis(np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]), (0, 1), (2, 3))
    return np.einsum("npij,...npj->...npi", turns, x.reshape(*x.shape[:-1], -1, 2)).reshape(x.shape)


# %% rotated_copy
# Expected: passes


def apply_rope(x, positions, base=10000.0):
    angles = np.repeat(np.outer(positions, rope_frequencies(x.shape[-1], base)), 2, axis=-1)
    turned = np.empty_like(x)
    turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return x * np.cos(angles) + turned * np.sin(angles)


# %% powers_and_grids
# Expected: passes


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    angles = np.outer(np.arange(seq_len), np.logspace(0, -1, d_model // 2, endpoint=False, base=base))
    return np.stack((np.sin(angles), np.cos(angles)), axis=2).reshape(seq_len, d_model)


def rope_frequencies(head_dim, base=10000.0):
    return np.cumprod(np.r_[1.0, np.full(head_dim // 2 - 1, base ** (-2 / head_dim))])


def alibi_bias(num_heads, n_q, n_k):
    j, i = np.meshgrid(np.arange(n_k), np.arange(n_k - n_q, n_k))
    return -np.einsum("h,qk->hqk", alibi_slopes(num_heads), np.abs(i - j))


# %% turns_as_full_matrices
# Expected: apply_rope: work mem


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = np.outer(positions, rope_frequencies(d, base))
    turns = np.zeros((len(angles), d, d))  # <-- here
    for i in range(d // 2):
        turns[:, 2 * i, 2 * i] = turns[:, 2 * i + 1, 2 * i + 1] = np.cos(angles[:, i])
        turns[:, 2 * i, 2 * i + 1], turns[:, 2 * i + 1, 2 * i] = -np.sin(angles[:, i]), np.sin(angles[:, i])
    return (turns @ x[..., None])[..., 0]


# %% every_token_at_every_position
# Expected: apply_rope: work mem


def apply_rope(x, positions, base=10000.0):
    angles = np.outer(positions, rope_frequencies(x.shape[-1], base))
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    everywhere = pairs[..., :, None, :] * np.exp(1j * angles)  # <-- here
    turned = np.moveaxis(np.diagonal(everywhere, axis1=-3, axis2=-2), -1, -2)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


# %% place_looked_up_in_a_one_hot_table
# Expected: apply_rope: work mem


def apply_rope(x, positions, base=10000.0):
    table = sinusoidal_positions(max(positions) + 1, x.shape[-1], base)
    chosen = np.eye(len(table))[positions] @ table  # <-- here
    sin, cos = chosen[:, 0::2], chosen[:, 1::2]
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


# %% one_turn_after_the_other
# Expected: apply_rope: steps work


def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    cos, sin = np.cos(frequencies), np.sin(frequencies)
    out = np.array(x, dtype=float)
    for place, position in enumerate(positions):
        for _ in range(position):
            a, b = out[..., place, 0::2].copy(), out[..., place, 1::2].copy()
            out[..., place, 0::2], out[..., place, 1::2] = a * cos - b * sin, a * sin + b * cos  # <-- here
    return out


# %% signal_from_all_pairs_of_positions
# Expected: sinusoidal_positions: work mem


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    before = np.tri(seq_len, k=-1)  # <-- here
    angles = before @ np.tile(base ** (-np.arange(0, d_model, 2) / d_model), (seq_len, 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% signal_grown_by_appending
# Expected: sinusoidal_positions: work


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    rates = base ** (-np.arange(0, d_model, 2) / d_model)
    rows = np.zeros((0, d_model))
    for pos in range(seq_len):
        row = np.stack([np.sin(pos * rates), np.cos(pos * rates)], axis=-1).ravel()
        rows = np.concatenate([rows, row[None]])  # <-- here
    return rows


# %% factors_multiplied_again
# Expected: rope_frequencies: steps


def rope_frequencies(head_dim, base=10000.0):
    found = np.ones(head_dim // 2)
    for i in range(head_dim // 2):
        for _ in range(i):  # <-- here
            found[i] = found[i] * base ** (-2 / head_dim)
    return found


# %% last_rows_of_a_square
# Expected: alibi_bias: work mem


def alibi_bias(num_heads, n_q, n_k):
    n = max(n_q, n_k)
    place = np.arange(n_k - n, n_k)
    distance = np.abs(place[:, None] - place)  # <-- here
    return -alibi_slopes(num_heads)[:, None, None] * distance[n - n_q :, n - n_k :]


# %% rates_are_kept
# Expected: passes
import functools


@functools.lru_cache(maxsize=None)
def rates(width, base):
    return tuple(base ** (-2 * i / width) for i in range(width // 2))


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    angles = np.outer(np.arange(seq_len), rates(d_model, base))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% rates_are_kept_by_a_method
# Expected: passes
import functools


class Rates:
    @functools.cache
    def of(self, width, base):
        return tuple(base ** (-2 * i / width) for i in range(width // 2))


RATES = Rates()


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    angles = np.outer(np.arange(seq_len), RATES.of(d_model, base))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)
