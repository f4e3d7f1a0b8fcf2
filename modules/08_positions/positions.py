# %% [markdown]
# # 08 · Positions
#
# Attention does not know the order of its tokens. If you shuffle the sentence, every token gets the same output as
# before. This module builds the three usual answers: *add* a signal to the tokens (sinusoidal positions), *turn*
# queries and keys (RoPE), and *lower* the scores of distant tokens (ALiBi).
#
# Positions count from 0. Work through the five functions in order. After each one, run its *Try it* cell and
# `attn test positions`. The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# ## Build 1: add a signal
#
# Each position gets its own vector, which is added to the token at that position. Two neighbouring columns are the sine
# and the cosine of the same angle. The first pair turns fast, the last pair very slowly.


# %%
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    """Return the sinusoidal positions of seq_len tokens, an array (seq_len, d_model) of float64.

    Row pos, column 2i is the sine of pos * base^(-2i/d_model). Column 2i + 1 is the cosine of the same angle. Positions
    count from 0, and so does i. Angles are in radians.

    - If seq_len is below 1, raises a ValueError whose message contains it.
    - If d_model is odd, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the result.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    signal = sinusoidal_positions(5, 4)
    print("The signal of five positions:")
    print(signal.round(4))
    assert np.allclose(signal[0], [0, 1, 0, 1]), "at position 0, every sine is 0 and every cosine is 1"
    assert np.allclose(signal[1], [0.8415, 0.5403, 0.0100, 1.0000], atol=1e-4), "see the table in the lesson"

# %% [markdown]
# ## Build 2: how fast each pair turns
#
# RoPE sees a vector of `head_dim` numbers as `head_dim / 2` pairs. Pair i turns by the angle `position * frequency[i]`.


# %%
def rope_frequencies(head_dim, base=10000.0):
    """Return the frequencies of RoPE, an array (head_dim / 2,) of float64.

    Entry i is base^(-2i/head_dim), for i = 0, 1, ..., head_dim/2 - 1.

    - If head_dim is odd, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the result.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    print("Frequencies for head_dim 4:", rope_frequencies(4))
    print("Frequencies for head_dim 8:", rope_frequencies(8))
    assert np.allclose(rope_frequencies(4), [1, 0.01]), "base^0 is 1, and 10000^(-1/2) is 1/100"

# %% [markdown]
# ## Build 3: turn queries and keys
#
# The pairs are neighbours: `(x0, x1)`, `(x2, x3)` and so on. This layout is called *interleaved*. Other libraries pair
# `x0` with the number in the middle of the vector. The lesson shows both.


# %%
def apply_rope(x, positions, base=10000.0):
    """Return x with every pair of features turned by the angle position * frequency.

    x: array (..., n, d) of floats or of integers, for example queries or keys. Any number of axes may be in front.
    positions: the n positions of the tokens, integers of 0 or more: an array (n,) or a list. They may be in any order,
    with repeats and gaps, and need not begin at 0. They belong to the second to last axis of x.

    Feature 2i and feature 2i + 1 are a pair (a, b). With the angle t = position * base^(-2i/d), in radians, the pair
    becomes (a cos t - b sin t, a sin t + b cos t). Returns an array of the shape of x.

    - float32 gives float32, float64 gives float64, integers give float64.
    - Angles of float64 input are computed in float64, so that the result is right for positions up to 100000. For
      float32 input, angles in float32 are good enough.
    - If d is odd, raises a ValueError whose message contains it.
    - Does not modify x or positions. Loops are allowed. Work and memory grow no faster than the size of x.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    cat = np.array([[0.0, 2.0, 0.0, 1.0]])  # the query of cat, which stands at position 1
    turned = apply_rope(cat, np.array([1]))
    print("cat at position 1:", turned[0].round(4), "length", np.linalg.norm(turned).round(4))
    print("cat at position 0:", apply_rope(cat, [0])[0].round(4), "length", np.linalg.norm(cat).round(4))
    assert np.allclose(turned, [[-1.6829, 1.0806, -0.0100, 1.0000]], atol=1e-4), "see the table in the lesson"
    assert np.allclose(apply_rope(cat, [0]), cat), "position 0 changes nothing"

# %% [markdown]
# ## Build 4: one slope for each head
#
# ALiBi lowers a score by the distance between query and key, times a slope. Every head has its own slope: some heads
# look nearby, others far away.


# %%
def alibi_slopes(num_heads):
    """Return the slopes of ALiBi, an array (num_heads,) of float64.

    If num_heads is a power of two, the slope of head k is 2^(-8(k+1)/num_heads), for k = 0, 1, ..., num_heads - 1.

    Otherwise, let p be the next lower power of two. First come the p slopes for p heads. Then comes every other slope
    for 2p heads, beginning with the first of them (k = 0, 2, 4, ...), until there are num_heads slopes.

    - If num_heads is below 1, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the result.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    print("Slopes for 8 heads:", alibi_slopes(8))
    print("Slopes for 6 heads:", alibi_slopes(6))
    assert np.allclose(alibi_slopes(8)[[0, 7]], [0.5, 0.00390625]), "from 1/2 to 1/256"
    assert len(alibi_slopes(6)) == 6, "four slopes for 4 heads, then two of those for 8 heads"

# %% [markdown]
# ## Build 5: the bias for the scores
#
# The bias is added to the scores before the softmax. It does not block anything: that is still the job of the mask.


# %%
def alibi_bias(num_heads, n_q, n_k):
    """Return the bias of ALiBi, an array (num_heads, n_q, n_k) of float64.

    Entry [h, i, j] is -slope[h] * distance, where distance is the absolute difference of the positions of query i and
    key j. Key j stands at position j. The queries are the last tokens: query i stands at position n_k - n_q + i. The
    same rule holds if n_q is larger than n_k.

    - Blocks nothing: keys after the query get a bias by their distance, too.
    - If num_heads is below 1, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the result.
    """
    raise NotImplementedError


# %%
# Try it
if __name__ == "__main__":
    bias = alibi_bias(8, 5, 5)
    print("The bias of the first of 8 heads:")
    print(bias[0])
    assert bias.shape == (8, 5, 5), "one table for each head"
    assert np.allclose(alibi_bias(8, 1, 5)[0, 0], [-2, -1.5, -1, -0.5, 0]), "a single query is the last token"

# %% [markdown]
# ## Use
#
# First, see the problem. This cell shuffles the sentence. Compare the outputs: which numbers change?

# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])

    def weights_of(scores):
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True)

    for order in ([0, 1, 2, 3, 4], [4, 1, 2, 3, 0]):  # the second is: mat cat sat on The
        output = weights_of(Q[order] @ K[order].T / 2) @ V[order]
        print("Without positions:", " ".join(tokens[i] for i in order))
        for place, token in enumerate(order):
            print(f"{tokens[token]:>4}  {output[place].round(4)}")

# %% [markdown]
# The same with RoPE. Now a token that moves gets another output. Then try `positions + 100`: which numbers change?

# %%
if __name__ == "__main__":
    positions = np.arange(5)
    for order in ([0, 1, 2, 3, 4], [4, 1, 2, 3, 0]):
        turned_q, turned_k = apply_rope(Q[order], positions), apply_rope(K[order], positions)
        weights = weights_of(turned_q @ turned_k.T / 2)
        print("With RoPE:", " ".join(tokens[i] for i in order))
        for place, token in enumerate(order):
            print(f"{tokens[token]:>4}  {weights[place].round(4)}  {(weights @ V[order])[place].round(4)}")

# %% [markdown]
# And ALiBi with a causal mask: the bias is added to the scores, and the mask still blocks the future. Change `head`:
# which heads look far?

# %%
if __name__ == "__main__":
    head = 0
    scores = Q @ K.T / 2 + alibi_bias(8, 5, 5)[head]
    weights = weights_of(np.where(np.tri(5) == 1, scores, -np.inf))
    print(f"Causal attention with ALiBi, slope {alibi_slopes(8)[head]}:")
    for token, row in zip(tokens, weights, strict=True):
        bars = [f"{other} {'#' * round(10 * w):<10}" for other, w in zip(tokens, row, strict=True)]
        print(f"{token:>4}  " + "  ".join(bars))

# %% [markdown]
# ## Reflect
#
# Replace each `None` (or assign the answers below).
#
# How many orders of the five tokens of our sentence give every token the same output as before, if nothing says where
# the tokens stand? The order of the sentence itself counts, too.
#
# After how many positions has the slowest pair of a signal with `d_model` 64 and base 10000 turned once? Round to a
# whole number.

# %%
REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5 = None
REFLECT_LONGEST_WAVELENGTH_D64 = None
# Your answer goes here.
