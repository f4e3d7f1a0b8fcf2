# %% [markdown]
# # 08 · Positions
#
# A pair of features is a complex number, and a turn is a multiplication by $e^{i t}$.

# %%
import math

import numpy as np


# %%
def _even(name, number):
    if number % 2 != 0:
        raise ValueError(f"{name} has to be even, but it is {number}")


def _turns(positions, width, base):
    """Return e^(i * position * frequency) for each position and pair, complex (n, width / 2)."""
    positions = np.asarray(positions, dtype=np.float64)
    return np.exp(1j * np.multiply.outer(positions, rope_frequencies(width, base)))


# %%
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    """Return the sinusoidal positions of seq_len tokens, an array (seq_len, d_model) of float64."""
    if seq_len < 1:
        raise ValueError(f"seq_len has to be 1 or more, but it is {seq_len}")
    _even("d_model", d_model)
    turns = _turns(range(seq_len), d_model, base)
    # sine first: the imaginary part is in column 2i
    return np.stack([turns.imag, turns.real], axis=-1).reshape(seq_len, d_model)


# %%
# Try it
if __name__ == "__main__":
    signal = sinusoidal_positions(5, 4)
    print(signal.round(4))
    assert np.allclose(signal[0], [0, 1, 0, 1]), "at position 0, every sine is 0 and every cosine is 1"
    assert np.allclose(signal[1], [0.8415, 0.5403, 0.0100, 1.0000], atol=1e-4), "see the table in the lesson"


# %%
def rope_frequencies(head_dim, base=10000.0):
    """Return the frequencies of RoPE, an array (head_dim / 2,) of float64."""
    _even("head_dim", head_dim)
    exponents = -2.0 * np.arange(head_dim // 2) / head_dim
    return np.power(float(base), exponents)


# %%
if __name__ == "__main__":
    assert np.allclose(rope_frequencies(4), [1, 0.01]), "base^0 is 1, and 10000^(-1/2) is 1/100"


# %%
def apply_rope(x, positions, base=10000.0):
    """Return x with every pair of features turned by the angle position * frequency."""
    x = np.asarray(x)
    _even("the number of features", x.shape[-1])
    z = x[..., ::2] + 1j * x[..., 1::2]  # (..., n, d/2)
    z = z * _turns(positions, x.shape[-1], base)
    result = np.empty(x.shape, dtype=np.float32 if x.dtype == np.float32 else np.float64)
    result[..., ::2] = z.real
    result[..., 1::2] = z.imag
    return result


# %%
if __name__ == "__main__":
    cat = np.array([[0.0, 2.0, 0.0, 1.0]])
    assert np.allclose(apply_rope(cat, [1]), [[-1.6829, 1.0806, -0.0100, 1.0000]], atol=1e-4), "see the lesson"
    assert np.allclose(apply_rope(cat, [0]), cat), "position 0 changes nothing"
    q, k = np.random.default_rng(0).normal(size=(2, 1, 8))
    scores = [(apply_rope(q, [i]) @ apply_rope(k, [i + 3]).T).item() for i in (0, 10, 5000)]
    print("these should be equal:", scores)


# %%
def alibi_slopes(num_heads):
    """Return the slopes of ALiBi, an array (num_heads,) of float64."""
    if num_heads < 1:
        raise ValueError(f"ALiBi needs at least one head, not {num_heads}")
    p = 2 ** math.floor(math.log2(num_heads))
    if p == num_heads:
        return np.array([2 ** (-8 * (k + 1) / p) for k in range(p)])
    return np.concatenate([alibi_slopes(p), alibi_slopes(2 * p)[::2][: num_heads - p]])


# %%
def alibi_bias(num_heads, n_q, n_k):
    """Return the bias of ALiBi, an array (num_heads, n_q, n_k) of float64."""
    slopes = alibi_slopes(num_heads)
    queries = np.arange(n_q) + (n_k - n_q)
    keys = np.arange(n_k)
    distance = np.abs(np.subtract.outer(queries, keys))
    return np.einsum("h,qk->hqk", -slopes, distance)


# %%
if __name__ == "__main__":
    assert alibi_bias(8, 5, 5).shape == (8, 5, 5), "one table for each head"
    assert np.allclose(alibi_bias(8, 1, 5)[0, 0], [-2, -1.5, -1, -0.5, 0]), "a single query is the last token"

# %%
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = math.factorial(5)
REFLECT_LONGEST_WAVELENGTH_D64 = round(2 * math.pi / float(rope_frequencies(64)[-1]))
