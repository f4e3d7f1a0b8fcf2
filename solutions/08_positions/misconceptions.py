"""Misconceptions of 08_positions. Each cell changes part of the solution to make a wrong submission."""

import numpy as np

# %% sinusoidal_blocks
LIKELY = "all sines come first and then all cosines, but they should alternate column by column"
HINT = "Print position 0 for d_model 4. It should be 0 1 0 1."
REPLACE = {
    "signal[:, 0::2] = np.sin(angles)": "signal[:, : d_model // 2] = np.sin(angles)",
    "signal[:, 1::2] = np.cos(angles)": "signal[:, d_model // 2 :] = np.cos(angles)",
}

# %% sinusoidal_cosine_first
LIKELY = "the cosine is in the even columns and the sine in the odd ones"
HINT = "Columns count from 0, and 0 is even. What is the sine of 0?"
REPLACE = {
    "signal[:, 0::2] = np.sin(angles)": "signal[:, 0::2] = np.cos(angles)",
    "signal[:, 1::2] = np.cos(angles)": "signal[:, 1::2] = np.sin(angles)",
}

# %% sinusoidal_only_sines
LIKELY = "every column is a sine, but the odd columns should be cosines"
HINT = "What should be in the odd columns of position 0? The cosine of 0 is 1."
REPLACE = {"signal[:, 1::2] = np.cos(angles)": "signal[:, 1::2] = np.sin(angles)"}

# %% sinusoidal_exponent_half
LIKELY = "the exponent is i/d_model, but it should be 2i/d_model, where i counts pairs of columns"
HINT = "For d_model 4, the second pair should turn by 1/100 for each position. What does yours turn by?"
REPLACE = {
    "rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = base ** (-np.arange(d_model // 2) / d_model)"
}

# %% sinusoidal_exponent_doubled
LIKELY = "the exponent is too large by a factor of 2: the number of the column already is 2i"
HINT = "For d_model 4, the second pair should turn by 1/100 for each position. What does yours turn by?"
REPLACE = {
    "rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = base ** (-2 * np.arange(0, d_model, 2) / d_model)"
}

# %% sinusoidal_rate_for_each_column
LIKELY = "every column has a rate of its own, but columns 2i and 2i + 1 should share one"
HINT = "Which angle belongs to column 0, and which to column 1? It should be the same one."
REPLACE = {
    "rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = base ** (-np.arange(d_model) / d_model)",
    "signal[:, 0::2] = np.sin(angles)": "signal[:, 0::2] = np.sin(angles[:, 0::2])",
    "signal[:, 1::2] = np.cos(angles)": "signal[:, 1::2] = np.cos(angles[:, 1::2])",
}

# %% sinusoidal_last_rate_is_one_over_base
LIKELY = "the rates are spread so that the last one is 1/base, but the exponent should be 2i/d_model"
HINT = "For d_model 4, the exponents are 0 and 2/4. Which do you have?"
REPLACE = {"rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = base ** -np.linspace(0, 1, d_model // 2)"}

# %% sinusoidal_rates_rise
LIKELY = "the sign of the exponent is missing: later pairs turn faster, but they should turn slower"
HINT = "For d_model 4, does the second pair turn by 100 or by 1/100 for each position?"
REPLACE = {
    "rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = base ** (np.arange(0, d_model, 2) / d_model)"
}

# %% sinusoidal_one_rate
LIKELY = "all pairs have the same rate"
HINT = "Print position 1 for d_model 4. The second pair should hardly have moved from 0 1."
REPLACE = {"rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = np.ones(d_model // 2)"}

# %% sinusoidal_positions_from_one
LIKELY = "positions count from 1, but they should count from 0"
HINT = "What is the first row? At position 0, every sine is 0."
REPLACE = {"angles = np.arange(seq_len)[:, None] * rates": "angles = np.arange(1, seq_len + 1)[:, None] * rates"}

# %% sinusoidal_degrees
LIKELY = "the angles are taken as degrees, but they should be radians"
HINT = "At position 1, the first pair should be sin(1) and cos(1): .8415 and .5403."
REPLACE = {"angles = np.arange(seq_len)[:, None] * rates": "angles = np.radians(np.arange(seq_len)[:, None] * rates)"}

# %% sinusoidal_full_turns
LIKELY = "the angles are multiplied by 2 pi"
HINT = "At position 1, the first pair should be sin(1) and cos(1), not a full turn."
REPLACE = {"angles = np.arange(seq_len)[:, None] * rates": "angles = 2 * np.pi * np.arange(seq_len)[:, None] * rates"}

# %% sinusoidal_positions_scaled
LIKELY = "positions are divided by seq_len, so that a row depends on the length of the sequence"
HINT = "Compare the second row for 5 and for 50 tokens. It should be the same."
REPLACE = {"angles = np.arange(seq_len)[:, None] * rates": "angles = np.arange(seq_len)[:, None] / seq_len * rates"}

# %% sinusoidal_backwards
LIKELY = "positions count from the end of the sequence"
HINT = "Which row is 0 1 0 1? It should be the first."
REPLACE = {"angles = np.arange(seq_len)[:, None] * rates": "angles = np.arange(seq_len)[::-1, None] * rates"}

# %% sinusoidal_base_ignored
LIKELY = "the argument `base` of sinusoidal_positions is not used"
HINT = "Call it with base=100. Does the second pair change?"
REPLACE = {
    "rates = base ** (-np.arange(0, d_model, 2) / d_model)": "rates = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)"
}

# %% sinusoidal_transposed
LIKELY = "the signal has the shape (d_model, seq_len): rows and columns are swapped"
HINT = "Print sinusoidal_positions(5, 4).shape. There should be one row for each position."
REPLACE = {"return signal": "return signal.T"}

# %% sinusoidal_list
LIKELY = "the signal is a list of lists, not an array"
HINT = "What is type(sinusoidal_positions(2, 4))? Wrap your result in np.array."
REPLACE = {"return signal": "return signal.tolist()"}

# %% sinusoidal_float32
LIKELY = "the signal, or something before it, is rounded to float32"
HINT = "What is sinusoidal_positions(2, 4).dtype? It should be float64, and so should everything before."
REPLACE = {
    "angles = np.arange(seq_len)[:, None] * rates": "angles = np.arange(seq_len)[:, None] * rates.astype(np.float32)",
    "signal = np.empty((seq_len, d_model))": "signal = np.empty((seq_len, d_model), dtype=np.float32)",
}

# %% sinusoidal_remembered
LIKELY = "the first signal is kept and returned again, even if base or the sizes are others"
HINT = "Call it with base=100 after a call with base=10000. Do you get a new signal?"


_signals = {}


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, not {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    if (seq_len, d_model) not in _signals:
        angles = np.arange(seq_len)[:, None] * base ** (-np.arange(0, d_model, 2) / d_model)
        _signals[seq_len, d_model] = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)
    return _signals[seq_len, d_model].copy()


# %% sinusoidal_length_not_refused
LIKELY = "a seq_len below 1 does not raise an error in sinusoidal_positions"
HINT = "What should sinusoidal_positions(0, 4) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    'if seq_len < 1:\nraise ValueError(f"seq_len must be at least 1, not {seq_len}")': "seq_len = max(seq_len, 0)"
}

# %% sinusoidal_zero_not_refused
LIKELY = "only a negative seq_len raises an error, and 0 gives an empty signal"
HINT = "What should sinusoidal_positions(0, 4) do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True
REPLACE = {"if seq_len < 1:": "if seq_len < 0:"}

# %% sinusoidal_length_error_without_number
LIKELY = "the message of the ValueError does not say what seq_len was"
HINT = "Put the number into the message. It is the first thing that a reader of the error wants to know."
VALUES_RIGHT = True
REPLACE = {'raise ValueError(f"seq_len must be at least 1, not {seq_len}")': 'raise ValueError("seq_len is too small")'}

# %% sinusoidal_odd_not_refused
LIKELY = "an odd d_model does not raise an error: the last column has no partner"
HINT = "What should sinusoidal_positions(2, 5) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    'if d_model % 2:\nraise ValueError(f"d_model must be even, not {d_model}")': "",
    "signal[:, 1::2] = np.cos(angles)": "signal[:, 1::2] = np.cos(angles)[:, : d_model // 2]",
}

# %% sinusoidal_odd_left_to_numpy
LIKELY = "d_model is not checked: for an odd one, NumPy complains about shapes and does not name it"
HINT = "Which message does sinusoidal_positions(2, 5) give? It should contain 5."
VALUES_RIGHT = True
REPLACE = {'if d_model % 2:\nraise ValueError(f"d_model must be even, not {d_model}")': ""}

# %% sinusoidal_odd_error_without_number
LIKELY = "the message of the ValueError does not say what d_model was"
HINT = "Put the number into the message."
VALUES_RIGHT = True
REPLACE = {'raise ValueError(f"d_model must be even, not {d_model}")': 'raise ValueError("d_model must be even")'}

# %% frequencies_exponent_half
LIKELY = "the exponent is i/head_dim, but it should be 2i/head_dim"
HINT = "For head_dim 4, the frequencies should be 1 and 1/100. What are yours?"
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": "return base ** (-np.arange(head_dim // 2) / head_dim)"
}

# %% frequencies_exponent_doubled
LIKELY = "the exponent is too large by a factor of 2: np.arange(0, head_dim, 2) already is 2i"
HINT = "For head_dim 4, the frequencies should be 1 and 1/100. What are yours?"
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return base ** (-2 * np.arange(0, head_dim, 2) / head_dim)"
    )
}

# %% frequencies_rise
LIKELY = "the sign of the exponent is missing: the frequencies rise, but they should fall"
HINT = "For head_dim 4, is the second frequency 100 or 1/100?"
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": "return base ** (np.arange(0, head_dim, 2) / head_dim)"
}

# %% frequencies_from_one
LIKELY = "i counts from 1, so that the first frequency is not 1"
HINT = "What is base^0? It should be the first frequency."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return base ** (-np.arange(2, head_dim + 1, 2) / head_dim)"
    )
}

# %% frequencies_last_is_one_over_base
LIKELY = "the frequencies are spread so that the last one is 1/base, but the exponent should be 2i/head_dim"
HINT = "For head_dim 4, the exponents are 0 and 2/4. Which do you have?"
REPLACE = {"return base ** (-np.arange(0, head_dim, 2) / head_dim)": "return base ** -np.linspace(0, 1, head_dim // 2)"}

# %% frequencies_reversed
LIKELY = "the frequencies are in the wrong order: the first pair should turn fastest"
HINT = "What is the first frequency? It should be 1."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return base ** (-np.arange(0, head_dim, 2)[::-1] / head_dim)"
    )
}

# %% frequencies_for_each_feature
LIKELY = "there is a frequency for each feature, but there should be one for each pair: head_dim / 2 of them"
HINT = "Print rope_frequencies(4).shape. It should be (2,)."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return np.repeat(base ** (-np.arange(0, head_dim, 2) / head_dim), 2)"
    ),
}


def apply_rope(x, positions, base=10000.0):
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)[0::2]
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% frequencies_are_wavelengths
LIKELY = "these are wavelengths, 2 pi divided by the frequency"
HINT = "For head_dim 4, the frequencies should be 1 and 1/100."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return 2 * np.pi * base ** (np.arange(0, head_dim, 2) / head_dim)"
    )
}

# %% frequencies_base_ignored
LIKELY = "the argument `base` of rope_frequencies is not used"
HINT = "Call it with base=100. Does the second frequency change?"
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return 10000.0 ** (-np.arange(0, head_dim, 2) / head_dim)"
    )
}

# %% frequencies_list
LIKELY = "the frequencies are a list, not an array"
HINT = "What is type(rope_frequencies(4))? Wrap your result in np.array."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return [base ** (-i / head_dim) for i in range(0, head_dim, 2)]"
    )
}

# %% frequencies_float32
LIKELY = "the frequencies are rounded to float32"
HINT = "What is rope_frequencies(4).dtype? It should be float64."
REPLACE = {
    "return base ** (-np.arange(0, head_dim, 2) / head_dim)": (
        "return np.float32(base) ** (-np.arange(0, head_dim, 2, dtype=np.float32) / np.float32(head_dim))"
    )
}

# %% frequencies_odd_not_refused
LIKELY = "an odd head_dim does not raise an error"
HINT = "What should rope_frequencies(5) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {'if head_dim % 2:\nraise ValueError(f"head_dim must be even, not {head_dim}")': ""}


def apply_rope(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"{x.shape[-1]} features")
    angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% frequencies_odd_error_without_number
LIKELY = "the message of the ValueError does not say what head_dim was"
HINT = "Put the number into the message."
VALUES_RIGHT = True
REPLACE = {'raise ValueError(f"head_dim must be even, not {head_dim}")': 'raise ValueError("head_dim must be even")'}

# %% rope_half_split
LIKELY = "feature i is paired with feature i + d/2, as in other libraries, but pairs should be neighbours"
HINT = "Turn [1, 0, 0, 0] at position 1. Which of the four numbers should change?"
REPLACE = {
    "a, b = x[..., 0::2], x[..., 1::2]": "a, b = np.split(x, 2, axis=-1)",
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., : x.shape[-1] // 2] = a * cos - b * sin",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., x.shape[-1] // 2 :] = a * sin + b * cos",
}

# %% rope_written_in_halves
LIKELY = "neighbouring pairs are turned, but the results are written as two halves, not back to their places"
HINT = "At position 0 nothing should change. Do your features come back in their old order?"
REPLACE = {
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., : x.shape[-1] // 2] = a * cos - b * sin",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., x.shape[-1] // 2 :] = a * sin + b * cos",
}

# %% rope_interleaved_pairs_half_split_angles
LIKELY = "pairs are neighbours, but the angles are laid out for two halves: the numbers of a pair get different angles"
HINT = "Which angles do features 0 and 1 get in your code? It should be the same one."
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": (
        "angles = np.concatenate([angles, angles], axis=-1)\ncos, sin = np.cos(angles), np.sin(angles)"
    ),
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., 0::2] = a * cos[:, 0::2] - b * sin[:, 0::2]",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., 1::2] = a * sin[:, 1::2] + b * cos[:, 1::2]",
}

# %% rope_half_split_pairs_interleaved_angles
LIKELY = "feature i is paired with feature i + d/2, but the angles are laid out for neighbouring pairs"
HINT = (
    "Is the length of each pair the same after the turn? In your code, the two numbers of a pair get different angles."
)
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": (
        "angles = np.repeat(angles, 2, axis=-1)\nh = x.shape[-1] // 2\ncos, sin = np.cos(angles), np.sin(angles)"
    ),
    "a, b = x[..., 0::2], x[..., 1::2]": "a, b = x[..., :h], x[..., h:]",
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., :h] = a * cos[:, :h] - b * sin[:, :h]",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., h:] = a * sin[:, h:] + b * cos[:, h:]",
}

# %% rope_turns_backwards
LIKELY = "the pairs are turned the wrong way: the sign of the sines is swapped"
HINT = "Turn [1, 0] at position 1. The second number should be sin(1), which is above 0."
REPLACE = {
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., 0::2] = a * cos + b * sin",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., 1::2] = b * cos - a * sin",
}

# %% rope_minus_forgotten
LIKELY = "both sines are added: one of them needs a minus, or the pair gets longer or shorter"
HINT = "Compare the length of a pair before and after."
REPLACE = {"turned[..., 0::2] = a * cos - b * sin": "turned[..., 0::2] = a * cos + b * sin"}

# %% rope_sine_and_cosine_swapped
LIKELY = "sine and cosine are swapped"
HINT = "At position 0, the cosine is 1 and the sine is 0. Does your x stay the same there?"
REPLACE = {"cos, sin = np.cos(angles), np.sin(angles)": "sin, cos = np.cos(angles), np.sin(angles)"}

# %% rope_only_scaled_by_cosine
LIKELY = "each feature is multiplied by the cosine, and the sine of its partner is missing"
HINT = "Compare the length of a pair before and after. Both numbers of the new pair need both numbers of the old one."
REPLACE = {
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., 0::2] = a * cos",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., 1::2] = b * cos",
}

# %% rope_overwritten_value
LIKELY = "the second number of a pair is computed from the new first number, but it needs the old one"
HINT = "When you compute b, has a already been overwritten? Keep the old pair until both new numbers are there."
REPLACE = {"turned[..., 1::2] = a * sin + b * cos": "turned[..., 1::2] = turned[..., 0::2] * sin + b * cos"}

# %% rope_adds_a_signal
LIKELY = "the sine and the cosine are added to x, but RoPE turns pairs"
HINT = "A vector of zeros should stay zeros."
REPLACE = {
    "turned[..., 0::2] = a * cos - b * sin": "turned[..., 0::2] = a + sin",
    "turned[..., 1::2] = a * sin + b * cos": "turned[..., 1::2] = b + cos",
}

# %% rope_arange_for_positions
LIKELY = "the argument `positions` is not used: tokens are numbered from 0"
HINT = "Turn one token at position 5. Does anything change?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.arange(x.shape[-2])[:, None] * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_positions_from_one
LIKELY = "1 is added to every position"
HINT = "What does position 0 do to a vector? It should change nothing."
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = (np.asarray(positions)[:, None] + 1) * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_positions_from_the_first
LIKELY = "the first position is subtracted from all, so that every call begins at 0"
HINT = "Turn one token at position 5. Does anything change? A cache needs that."
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = (np.asarray(positions)[:, None] - positions[0]) * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_starts_at_the_first_position
LIKELY = "only the first position is used, and the tokens after it are numbered in order"
HINT = "Try the positions [4, 4, 0]. Which position does your third token get?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = (positions[0] + np.arange(len(positions)))[:, None] * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_positions_sorted
LIKELY = "the positions are sorted, so that tokens get the positions of others"
HINT = "Try the positions [3, 0]. Which token should stay as it is?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.sort(positions)[:, None] * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_positions_reversed
LIKELY = "the tokens get the positions in reverse order"
HINT = "Try the positions [0, 3]. Which token should stay as it is?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.asarray(positions)[::-1, None] * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_last_position_for_all
LIKELY = "all tokens are turned by the same position, the last one"
HINT = "Try the positions [0, 3]. The first token should stay as it is."
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.full((x.shape[-2], 1), positions[-1]) * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_positions_wrap
LIKELY = "positions are taken modulo the number of tokens"
HINT = "Turn one token at position 5. Does anything change?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = (np.asarray(positions)[:, None] % x.shape[-2]) * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_degrees
LIKELY = "the angles are taken as degrees, but they should be radians"
HINT = "Turn [1, 0] at position 1. You should get cos(1) and sin(1): .5403 and .8415."
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": "cos, sin = np.cos(np.radians(angles)), np.sin(np.radians(angles))"
}

# %% rope_full_turns
LIKELY = "the angles are multiplied by 2 pi"
HINT = "Turn [1, 0] at position 1. You should get cos(1) and sin(1), not a full turn."
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": "cos, sin = np.cos(2 * np.pi * angles), np.sin(2 * np.pi * angles)"
}

# %% rope_half_angles
LIKELY = "the angles are half as large as they should be"
HINT = "Turn [1, 0] at position 1. You should get cos(1) and sin(1): .5403 and .8415."
REPLACE = {"cos, sin = np.cos(angles), np.sin(angles)": "cos, sin = np.cos(angles / 2), np.sin(angles / 2)"}

# %% rope_one_frequency
LIKELY = "all pairs turn equally fast"
HINT = "Turn [1, 0, 1, 0] at position 1. The second pair should hardly move."
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.asarray(positions)[:, None] * np.ones_like(rope_frequencies(x.shape[-1], base))"
    )
}

# %% rope_only_first_pair
LIKELY = "only the first pair is turned"
HINT = "Turn [1, 0, 1, 0] at position 100. Does the second pair move?"
REPLACE = {"cos, sin = np.cos(angles), np.sin(angles)": "angles[:, 1:] = 0\ncos, sin = np.cos(angles), np.sin(angles)"}

# %% rope_frequency_exponent_half
LIKELY = "apply_rope has frequencies of its own, with the exponent i/d in place of 2i/d"
HINT = "Compare your angles at position 1 with rope_frequencies(d). They should be equal."
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "rope_frequencies(x.shape[-1])\n"
        "angles = np.asarray(positions)[:, None] * base ** (-np.arange(x.shape[-1] // 2) / x.shape[-1])"
    )
}

# %% rope_base_ignored
LIKELY = "the argument `base` of apply_rope is not used"
HINT = "Call it with base=100. Does the second pair change?"
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1])"
    )
}

# %% rope_batch_axis
LIKELY = "the positions are applied to the first axis, the batch, but they belong to the second to last one"
HINT = "Turn a batch of two equal sentences. Should the two results differ?"
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": (
        "angles = angles.reshape(len(angles), *[1] * (x.ndim - 2), -1)\ncos, sin = np.cos(angles), np.sin(angles)"
    )
}

# %% rope_tokens_before_heads
LIKELY = "with four dimensions, the positions are applied to axis 1, as if x were (batch, tokens, heads, features)"
HINT = "Which axis has the tokens? In this course, it is always the second to last one."
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": (
        "angles = angles[:, None] if x.ndim == 4 else angles\ncos, sin = np.cos(angles), np.sin(angles)"
    )
}

# %% rope_positions_repeated_over_the_batch
LIKELY = (
    "for a batch, each position is repeated for several rows in a row, but the list should start again for each one"
)
HINT = "Compare np.repeat([0, 1], 2) with np.tile([0, 1], 2). Which one gives the positions of two sentences?"


def apply_rope(x, positions, base=10000.0):
    width = x.shape[-1]
    flat = x.reshape(-1, width)
    places = np.repeat(np.asarray(positions), len(flat) // len(positions))
    angles = places[:, None] * rope_frequencies(width, base)
    turned = np.empty(flat.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[:, 0::2] = flat[:, 0::2] * np.cos(angles) - flat[:, 1::2] * np.sin(angles)
    turned[:, 1::2] = flat[:, 0::2] * np.sin(angles) + flat[:, 1::2] * np.cos(angles)
    return turned.reshape(x.shape)


# %% rope_first_of_batch
LIKELY = "only the first element of a batch is turned, and the others get its values"
HINT = "Turn a batch of two different sentences. Are the results different?"
REPLACE = {
    "a, b = x[..., 0::2], x[..., 1::2]": (
        "x = np.broadcast_to(x[:1], x.shape) if x.ndim > 2 else x\na, b = x[..., 0::2], x[..., 1::2]"
    )
}

# %% rope_angles_in_float32
LIKELY = "the angles are computed in float32, which is too coarse for float64 input"
HINT = "Compare with angles in float64 at position 99999. Which digits of position * frequency are left in float32?"
REPLACE = {
    "cos, sin = np.cos(angles), np.sin(angles)": (
        "angles = angles.astype(np.float32).astype(np.float64)\ncos, sin = np.cos(angles), np.sin(angles)"
    )
}

# %% rope_everything_in_float32
LIKELY = "something is rounded to float32 on the way, although x is float64"
HINT = "Print the dtype of the angles, of their cosines and of the result for float64 input. Which one is float32?"
REPLACE = {
    "turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)": (
        "turned = np.empty(x.shape, dtype=np.float32)"
    )
}

# %% rope_upcasts_float32
LIKELY = "float32 becomes float64, because the angles are float64"
HINT = "What is the dtype of a float32 array times a float64 array?"
VALUES_RIGHT = True
REPLACE = {
    "turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)": (
        "turned = np.empty(x.shape)"
    )
}

# %% rope_integers_cut
LIKELY = "the result has the dtype of x, so that integers lose what is behind the decimal point"
HINT = "Turn an array of integers. What is the dtype of np.empty_like(x)?"
REPLACE = {
    "turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)": (
        "turned = np.empty_like(x)"
    )
}

# %% rope_list
LIKELY = "the result is a list, not an array"
HINT = "What is the type of your result? Wrap it in np.array."
REPLACE = {"return turned": "return turned.tolist()"}

# %% rope_modifies_x
LIKELY = "the turned numbers are written into x, which belongs to the caller"
HINT = "Print x before and after the call. Make a new array for the result."
VALUES_RIGHT = True
REPLACE = {"return turned": 'if x.dtype.kind == "f":\n    x[...] = turned\nreturn turned'}

# %% rope_modifies_positions
LIKELY = "the caller's positions are changed, for example by sorting them in place"
HINT = "Print positions before and after the call."
VALUES_RIGHT = True
REPLACE = {"return turned": "positions.sort()\nreturn turned"}

# %% rope_remembers_positions
LIKELY = "the angles of an earlier call are used again, although the positions are others"
HINT = "Call it twice with different positions. Are the angles computed again?"


_angles = {}


def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    key = len(positions), x.shape[-1], base
    angles = _angles.setdefault(key, np.asarray(positions)[:, None] * frequencies)
    turned = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    turned[..., 0::2] = x[..., 0::2] * np.cos(angles) - x[..., 1::2] * np.sin(angles)
    turned[..., 1::2] = x[..., 0::2] * np.sin(angles) + x[..., 1::2] * np.cos(angles)
    return turned


# %% rope_odd_keeps_the_last
LIKELY = "an odd number of features does not raise an error: the last one stays as it is"
HINT = "What should apply_rope do with 3 features? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "if x.shape[-1] % 2:\n"
        "    return np.concatenate([apply_rope(x[..., :-1], positions, base), x[..., -1:]], axis=-1)\n"
        "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)"
    )
}

# %% rope_odd_left_to_numpy
LIKELY = "the message for an odd number of features does not contain it: perhaps NumPy complains about shapes"
HINT = "Which message does apply_rope give for 5 features? It should contain 5."
VALUES_RIGHT = True
REPLACE = {
    "angles = np.asarray(positions)[:, None] * rope_frequencies(x.shape[-1], base)": (
        "width = x.shape[-1]\nangles = np.asarray(positions)[:, None] * base ** (-np.arange(0, width, 2) / width)"
    )
}

# %% slopes_plain_formula
LIKELY = "the formula for powers of two is used for every number of heads"
HINT = "Compare your slopes for 6 heads with the lesson. The first four are those of 4 heads."
REPLACE = {
    "power = 2 ** (num_heads.bit_length() - 1)": "power = num_heads",
}

# %% slopes_begin_at_one
LIKELY = "the slope of the first head is 1: k + 1 is missing in the exponent"
HINT = "The first of 8 slopes should be .5, and the last .00390625."
REPLACE = {"slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)": "slopes = 2.0 ** (-8 * np.arange(power) / power)"}

# %% slopes_without_eight
LIKELY = "the 8 is missing in the exponent, so that the last slope is .5"
HINT = "The last of 8 slopes should be .00390625, which is 2^(-8)."
REPLACE = {
    "slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)": "slopes = 2.0 ** (-np.arange(1, power + 1) / power)",
    "between = 2.0 ** (-8 * np.arange(1, 2 * power, 2) / (2 * power))": (
        "between = 2.0 ** (-np.arange(1, 2 * power, 2) / (2 * power))"
    ),
}

# %% slopes_always_halve
LIKELY = "each slope is half of the one before, whatever the number of heads is"
HINT = "That is right for 8 heads. For 4 heads, the last slope should still be 2^(-8)."


def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, not {num_heads}")
    return 0.5 ** np.arange(1.0, num_heads + 1)


# %% slopes_grow
LIKELY = "the sign of the exponent is missing: the slopes are above 1"
HINT = "The first of 8 slopes should be .5. What is yours?"
REPLACE = {
    "slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)": "slopes = 2.0 ** (8 * np.arange(1, power + 1) / power)",
    "between = 2.0 ** (-8 * np.arange(1, 2 * power, 2) / (2 * power))": (
        "between = 2.0 ** (8 * np.arange(1, 2 * power, 2) / (2 * power))"
    ),
}

# %% slopes_negative
LIKELY = "the slopes are below 0, but the minus belongs to the bias"
HINT = "The first of 8 slopes should be .5. What is yours?"
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return -np.concatenate([slopes, between[: num_heads - power]])"
    )
}


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return slopes[:, None, None] * distance


# %% slopes_reversed
LIKELY = "the slopes for a power of two are in reverse order: the first head should have the steepest"
HINT = "The first of 8 slopes should be .5. What is yours?"
REPLACE = {
    "slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)": ("slopes = 2.0 ** (-8 * np.arange(power, 0, -1) / power)")
}

# %% slopes_sorted
LIKELY = "the slopes are sorted, but the further slopes should come after those of the lower power of two"
HINT = "Compare your slopes for 6 heads with the lesson. Which comes first?"
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return np.sort(np.concatenate([slopes, between[: num_heads - power]]))[::-1]"
    )
}

# %% slopes_further_first
LIKELY = "the further slopes come before those of the lower power of two"
HINT = "Compare your slopes for 6 heads with the lesson. Which comes first?"
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return np.concatenate([between[: num_heads - power], slopes])"
    )
}

# %% slopes_of_the_higher_power
LIKELY = "the first slopes of the next higher power of two are taken"
HINT = "For 6 heads, the first four slopes should be those of 4 heads, not of 8."
REPLACE = {
    "power = 2 ** (num_heads.bit_length() - 1)": ("power = 2 ** (num_heads - 1).bit_length()"),
    "return np.concatenate([slopes, between[: num_heads - power]])": "return slopes[:num_heads]",
}

# %% slopes_further_not_skipped
LIKELY = "the further slopes are the first of 2p heads, one after the other, but every second should be left out"
HINT = "For 6 heads, which slopes of 8 heads are not among those of 4 heads?"
REPLACE = {
    "between = 2.0 ** (-8 * np.arange(1, 2 * power, 2) / (2 * power))": (
        "between = 2.0 ** (-8 * np.arange(1, 2 * power) / (2 * power))"
    ),
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return np.concatenate([slopes, between])[:num_heads]"
    ),
}

# %% slopes_further_repeat
LIKELY = "the further slopes are the second, fourth ... of 2p heads, which are those that p heads already have"
HINT = "For 6 heads, are two of your slopes the same? Begin with the first slope of 8 heads."
REPLACE = {
    "between = 2.0 ** (-8 * np.arange(1, 2 * power, 2) / (2 * power))": (
        "between = 2.0 ** (-8 * np.arange(2, 2 * power + 1, 2) / (2 * power))"
    )
}

# %% slopes_further_from_the_end
LIKELY = "the further slopes are the last ones of 2p heads, but they should begin with the first"
HINT = "For 6 heads, slope 4 should be .5, the first slope of 8 heads."
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return np.concatenate([slopes, between[::-1][: num_heads - power]])"
    )
}

# %% slopes_list
LIKELY = "the slopes are a list, not an array"
HINT = "What is type(alibi_slopes(8))? Wrap your result in np.array."
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return [*slopes.tolist(), *between[: num_heads - power].tolist()]"
    )
}


def alibi_bias(num_heads, n_q, n_k):
    slopes = np.array(alibi_slopes(num_heads))
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return -slopes[:, None, None] * distance


# %% slopes_float32
LIKELY = "the slopes are rounded to float32"
HINT = "What is alibi_slopes(8).dtype? It should be float64."
REPLACE = {
    "return np.concatenate([slopes, between[: num_heads - power]])": (
        "return np.concatenate([slopes, between[: num_heads - power]]).astype(np.float32)"
    )
}

# %% slopes_no_heads_not_refused
LIKELY = "fewer than one head do not raise an error in alibi_slopes"
HINT = "What should alibi_slopes(0) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"num_heads must be at least 1, not {num_heads}")': "return np.zeros(0)",
}

# %% slopes_zero_not_refused
LIKELY = "only a negative num_heads raises an error, and 0 gives no slopes"
HINT = "What should alibi_slopes(0) do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True
REPLACE = {
    "if num_heads < 1:": "if num_heads == 0:\n    return np.zeros(0)\nif num_heads < 0:",
}

# %% slopes_error_without_number
LIKELY = "the message of the ValueError does not say what num_heads was"
HINT = "Put the number into the message."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"num_heads must be at least 1, not {num_heads}")': 'raise ValueError("num_heads is too small")'
}

# %% bias_sign
LIKELY = "the bias rises with the distance: the minus is missing"
HINT = "Should a distant key get a higher or a lower score?"
REPLACE = {"return -slopes[:, None, None] * distance": "return slopes[:, None, None] * distance"}

# %% bias_from_the_top_left
LIKELY = "query i is taken to stand at position i, but the queries are the last tokens"
HINT = "With one query and five keys, the query is the last token. Which key should have the bias 0?"
REPLACE = {
    "distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))": (
        "distance = np.abs(np.arange(n_q)[:, None] - np.arange(n_k))"
    )
}

# %% bias_offset_never_negative
LIKELY = "with more queries than keys, the first query is taken to stand at position 0, not before it"
HINT = "With 4 queries and 2 keys, the last query stands at position 1. Count back: where does the first one stand?"
REPLACE = {
    "distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))": (
        "distance = np.abs(max(n_k - n_q, 0) + np.arange(n_q)[:, None] - np.arange(n_k))"
    )
}

# %% bias_signed_distance
LIKELY = "the distance has a sign, so that keys after the query get a bias above 0"
HINT = "Print the bias of the first query. Is it below 0 for all keys but the first? Take the absolute value."
REPLACE = {
    "distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))": (
        "distance = np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k)"
    )
}

# %% bias_future_is_zero
LIKELY = "keys after the query have the bias 0, but they should have one by their distance, too"
HINT = "Print the bias of the first query. Distance is absolute."
REPLACE = {
    "distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))": (
        "distance = np.maximum(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k), 0)"
    )
}

# %% bias_blocks_the_future
LIKELY = "keys after the query are blocked with minus infinity, but that is the job of the mask"
HINT = "The bias contains only finite numbers. Keys after the query get one by their distance."
REPLACE = {
    "return -slopes[:, None, None] * distance": (
        "later = np.arange(n_k) > np.arange(n_k - n_q, n_k)[:, None]\n"
        "return np.where(later, -np.inf, -slopes[:, None, None] * distance)"
    )
}

# %% bias_by_key_only
LIKELY = "the bias is the slope times the position of the key: the position of the query is not used"
HINT = "Which entries should be 0? Those where a query meets its own key."
REPLACE = {
    "return -slopes[:, None, None] * distance": (
        "return slopes[:, None, None] * np.broadcast_to(np.arange(n_k), (n_q, n_k))"
    )
}

# %% bias_distance_from_one
LIKELY = "the distance of a token to itself is 1, but it should be 0"
HINT = "What is the bias where a query meets its own key?"
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes[:, None, None] * (distance + 1)"}

# %% bias_distance_squared
LIKELY = "the distance is squared"
HINT = "The bias at distance 2 should be twice the bias at distance 1."
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes[:, None, None] * distance**2"}

# %% bias_relative_distance
LIKELY = "the distance is divided by the number of keys"
HINT = "The bias at distance 1 should be the slope, for any number of keys."
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes[:, None, None] * distance / n_k"}

# %% bias_one_slope
LIKELY = "all heads have the slope of the first"
HINT = "Print the bias of the second head. Does it differ from that of the first?"
REPLACE = {"return -slopes[:, None, None] * distance": "return -np.full((num_heads, 1, 1), slopes[0]) * distance"}

# %% bias_no_slope
LIKELY = "the slopes are not used: the bias is minus the distance"
HINT = "The bias at distance 1 should be the slope of the head, with a minus."
REPLACE = {"return -slopes[:, None, None] * distance": "return -np.ones_like(slopes)[:, None, None] * distance"}

# %% bias_heads_last
LIKELY = "the axis of the heads is the last one, but it should be the first"
HINT = "Print alibi_bias(8, 5, 5).shape. It should be (8, 5, 5)."
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes * distance[:, :, None]"}

# %% bias_queries_and_keys_swapped
LIKELY = "queries and keys are swapped: the shape is (heads, n_k, n_q)"
HINT = "Print alibi_bias(2, 1, 5).shape. It should be (2, 1, 5)."
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes[:, None, None] * distance.T"}

# %% bias_one_batch_axis_too_many
LIKELY = "there is an axis of size 1 for the batch in front, but the shape should be (heads, n_q, n_k)"
HINT = "Print alibi_bias(8, 5, 5).shape. It broadcasts without the extra axis, too."
REPLACE = {"return -slopes[:, None, None] * distance": "return -slopes[None, :, None, None] * distance"}

# %% bias_list
LIKELY = "the bias is a nested list, not an array"
HINT = "What is type(alibi_bias(1, 2, 2))? Wrap your result in np.array."
REPLACE = {"return -slopes[:, None, None] * distance": "return (-slopes[:, None, None] * distance).tolist()"}

# %% bias_float32
LIKELY = "the bias is rounded to float32"
HINT = "What is alibi_bias(1, 2, 2).dtype? It should be float64."
REPLACE = {
    "return -slopes[:, None, None] * distance": ("return (-slopes[:, None, None] * distance).astype(np.float32)")
}

# %% bias_remembered
LIKELY = "the bias of the first call is returned again, although the number of queries or keys is another"
HINT = "Call it with 5 queries, then with 1. Do you get a new bias?"


_biases = {}


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    distance = np.abs(np.arange(n_k - n_q, n_k)[:, None] - np.arange(n_k))
    return _biases.setdefault(num_heads, -slopes[:, None, None] * distance)


# %% bias_no_heads_not_refused
LIKELY = "fewer than one head do not raise an error in alibi_bias"
HINT = "What should alibi_bias(0, 2, 3) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    "slopes = alibi_slopes(num_heads)": "slopes = alibi_slopes(num_heads) if num_heads > 0 else np.zeros(0)",
}

# %% bias_negative_heads_left_to_numpy
LIKELY = "the bias is created before num_heads is checked, and NumPy's error for a negative one does not name it"
HINT = "What does the message of alibi_bias(-5, 2, 3) say? Check num_heads, or call alibi_slopes, first."
VALUES_RIGHT = True
REPLACE = {
    "slopes = alibi_slopes(num_heads)": "bias = np.empty((num_heads, n_q, n_k))\nslopes = alibi_slopes(num_heads)",
}

# %% reflect_orders_as_pairs
LIKELY = "this is the number of pairs of five tokens, not of their orders"
HINT = "How many tokens can stand first? How many are left for the second place?"

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 25

# %% reflect_orders_only_one
LIKELY = "more than one order gives every token the same output"
HINT = "Shuffle the sentence in the first Use cell. Which outputs change?"

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 1

# %% reflect_orders_without_the_first
LIKELY = "the order of the sentence itself is not counted"
HINT = "The order of the sentence itself counts, too."

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 119

# %% reflect_wavelength_without_turn
LIKELY = "this is 1 divided by the slowest frequency: the factor 2 pi is missing"
HINT = "How large is the angle of a full turn, in radians?"

REFLECT_LONGEST_WAVELENGTH_D64 = 7499

# %% reflect_wavelength_of_the_base
LIKELY = "this is 2 pi times base: the exponent of the last pair is 62/64, not 1"
HINT = "Which i has the last of 32 pairs? Put it into 2i/d_model."

REFLECT_LONGEST_WAVELENGTH_D64 = 62832

# %% sinusoidal_by_products_of_matrices
LIKELY = "a matrix of d_model x d_model is made for each position"
HINT = "Broadcasting multiplies each position with each rate without a matrix."
COSTLY = True


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model {d_model}")
    rates = base ** (-np.arange(0, d_model, 2) / d_model)
    angles = (np.arange(seq_len)[:, None, None] * np.diag(rates)).sum(axis=1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(seq_len, d_model)


# %% sinusoidal_counts_up_to_each_position
LIKELY = "the angle of each position is added up from 0, step by step"
HINT = "The angle of position 100 is 100 times the rate. You do not need the 99 positions before it."
COSTLY = True


def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len {seq_len}")
    if d_model % 2:
        raise ValueError(f"d_model {d_model}")
    signal = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for j in range(0, d_model, 2):
            rate = base ** (-j / d_model)
            angle = 0.0
            for _ in range(pos):
                angle += rate
            signal[pos, j] = np.sin(angle)
            signal[pos, j + 1] = np.cos(angle)
    return signal


# %% frequencies_by_repeated_products
LIKELY = "each frequency is computed again from the first, one product at a time"
HINT = "Each frequency is the one before times the same factor. Or use a power."
COSTLY = True


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim {head_dim}")
    factor = base ** (-2 / head_dim)
    found = np.ones(head_dim // 2)
    for i in range(head_dim // 2):
        for _ in range(i):
            found[i] *= factor
    return found


# %% frequencies_by_a_triangle
LIKELY = "a table of head_dim/2 x head_dim/2 factors is made and multiplied along its rows"
HINT = "One power for each entry is enough."
COSTLY = True


def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"head_dim {head_dim}")
    half = head_dim // 2
    return np.prod(np.where(np.tri(half, k=-1) == 1, base ** (-2 / head_dim), 1.0), axis=1)


# %% rope_by_matrices
LIKELY = "a complete d x d matrix is made for each position, although all but d/2 small blocks of it are 0"
HINT = "Each feature needs only its partner. Multiply by cosine and sine, feature by feature."
COSTLY = True


def apply_rope(x, positions, base=10000.0):
    width = x.shape[-1]
    angles = np.asarray(positions)[:, None] * rope_frequencies(width, base)
    even = np.arange(0, width, 2)
    turns = np.zeros((len(angles), width, width))
    turns[:, even, even] = turns[:, even + 1, even + 1] = np.cos(angles)
    turns[:, even, even + 1] = -np.sin(angles)
    turns[:, even + 1, even] = np.sin(angles)
    turned = np.einsum("nij,...nj->...ni", turns, x)
    return turned.astype(np.float32 if x.dtype == np.float32 else np.float64)


# %% rope_by_matrices_in_loops
LIKELY = "each new feature is a sum over all old features, in a loop, although only two of them count"
HINT = "Each feature needs only its partner."
COSTLY = True


def apply_rope(x, positions, base=10000.0):
    width = x.shape[-1]
    frequencies = rope_frequencies(width, base)
    turned = np.zeros(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    for at in np.ndindex(x.shape):
        angle = positions[at[-2]] * frequencies[at[-1] // 2]
        for j in range(width):
            if j == at[-1]:
                turned[at] += x[(*at[:-1], j)] * np.cos(angle)
            elif j // 2 == at[-1] // 2:
                turned[at] += x[(*at[:-1], j)] * np.sin(angle) * (1 if j < at[-1] else -1)
    return turned


# %% bias_distances_one_by_one
LIKELY = "each distance is counted step by step in a loop over the keys"
HINT = "A distance is the absolute difference of two positions."
COSTLY = True


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    distance = np.zeros((n_q, n_k))
    for i in range(n_q):
        place = n_k - n_q + i
        for j in range(n_k):
            for between in range(min(place, j), max(place, j)):
                distance[i, j] += between <= n_k
    return -slopes[:, None, None] * distance


# %% bias_cut_from_a_square
LIKELY = "the table for all positions is made first, and then its last rows are cut out"
HINT = "One query that looks at 4000 keys needs 4000 distances, not 16 million."
COSTLY = True


def alibi_bias(num_heads, n_q, n_k):
    slopes = alibi_slopes(num_heads)
    longest = max(n_q, n_k)
    square = np.abs(np.arange(n_k - longest, n_k)[:, None] - np.arange(n_k - longest, n_k))
    return -slopes[:, None, None] * square[-n_q:, -n_k:]
