import cmath
import numpy as np
from mylab.masks import create_causal_mask

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"{seq_len} tokens")
    frequencies = rope_frequencies(d_model, base)
    # every position is the one before, turned once more: a product of complex numbers
    step = np.cos(frequencies) + 1j * np.sin(frequencies)
    places, now = [], np.ones_like(step)
    for _ in range(seq_len):
        places.append(now)
        now = now * step
    wheel = np.array(places)
    return np.moveaxis(np.array([wheel.imag, wheel.real]), 0, -1).reshape(seq_len, d_model)

def rope_frequencies(head_dim, base=10000.0):
    if head_dim % 2:
        raise ValueError(f"{head_dim} is odd")
    return (1 / base) ** np.linspace(0, 1, head_dim // 2, endpoint=False)

def apply_rope(x, positions, base=10000.0):
    frequencies = rope_frequencies(x.shape[-1], base)
    tokens = []
    for place, position in enumerate(positions):
        wheel = np.array([cmath.exp(1j * float(position) * f) for f in frequencies])
        token = x[..., place, 0::2] * wheel + 1j * x[..., place, 1::2] * wheel
        tokens.append(np.stack([token.real, token.imag], -1).reshape(*x.shape[:-2], -1))
    return np.stack(tokens, axis=-2).astype(x.dtype if x.dtype in (np.float32, np.float64) else np.float64)

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"{num_heads} heads are too few")
    if num_heads & (num_heads - 1) == 0:
        return 2.0 ** (np.arange(-8, -8 * num_heads - 1, -8) / num_heads)
    lower = alibi_slopes(2 ** int(np.log2(num_heads)))
    higher = alibi_slopes(2 * len(lower))
    missing = np.arange(num_heads - len(lower))
    return np.hstack((lower, higher[2 * missing]))

def alibi_bias(num_heads, n_q, n_k):
    # with a triangle of ones, running sums give the distances
    slopes = alibi_slopes(num_heads)
    place = np.arange(n_k)[None, :] - np.arange(n_q)[:, None]
    return -np.abs(place - (n_k - n_q)) * slopes[:, None, None]

assert create_causal_mask(1).sum() == 1
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = 2 * 3 * 4 * 5
REFLECT_LONGEST_WAVELENGTH_D64 = 47116
