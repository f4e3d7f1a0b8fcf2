import functools
import itertools
import numpy as np

@functools.lru_cache(maxsize=None)
def rates(width, base):
    return tuple(base ** (-2 * i / width) for i in range(width // 2))

def even(number, name):
    if number % 2 != 0:
        raise ValueError(f"{name}: {number} is odd")
    return number

def sinusoidal_positions(seq_len, d_model, base=10000.0):
    if seq_len < 1:
        raise ValueError(f"seq_len: {seq_len} < 1")
    angles = np.outer(np.arange(seq_len), rates(even(d_model, "d_model"), base))
    signal = np.zeros((seq_len, d_model // 2, 2))
    np.sin(angles, out=signal[..., 0])
    np.cos(angles, out=signal[..., 1])
    return signal.reshape(seq_len, -1)

def rope_frequencies(head_dim, base=10000.0):
    return np.array(rates(even(head_dim, "head_dim"), base))

def apply_rope(x, positions, base=10000.0):
    # the signal of module part 1 already holds every sine and cosine: look the rows up
    table = sinusoidal_positions(max(positions) + 1, even(x.shape[-1], "features"), base)
    sin, cos = table[positions, 0::2], table[positions, 1::2]
    y = np.swapaxes(x.reshape(*x.shape[:-1], -1, 2), -1, -2).astype(np.float64)  # (..., n, 2, d/2)
    first, second = y[..., 0, :], y[..., 1, :]
    out = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(x.shape)
    return np.asarray(out, dtype=np.float32 if x.dtype == np.float32 else np.float64)

def alibi_slopes(num_heads):
    if num_heads < 1:
        raise ValueError(f"num_heads: {num_heads} < 1")
    p = max(itertools.takewhile(lambda n: n <= num_heads, (2**e for e in itertools.count())))
    all_of = lambda h: (2 ** (-8 * k / h) for k in range(1, h + 1))
    both = itertools.chain(all_of(p), itertools.islice(all_of(2 * p), 0, None, 2))
    return np.array(list(itertools.islice(both, num_heads)))

def alibi_bias(num_heads, n_q, n_k):
    rows = np.array([-np.abs(np.arange(n_k) - place) for place in range(n_k - n_q, n_k)])
    return alibi_slopes(num_heads)[:, None, None] * rows

REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = len(list(itertools.permutations(range(5))))
REFLECT_LONGEST_WAVELENGTH_D64 = 2 * np.pi / rope_frequencies(64)[-1]
