# %% [markdown]
# # 10 · Flash attention
#
# Attention keeps a table with one score for each pair of tokens. For long texts that table is far larger than
# everything else. Flash attention computes the same numbers tile by tile, and never has the complete table. You will
# write the step that makes this possible, the *online softmax*, then the forward pass and the backward pass in tiles.
# Work through the three functions in order. After each one, run its *Try it* cell and `attn test flash_attention`.
# The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# ## Build 1: one step of the online softmax
#
# You know the largest score so far and the sum of the exponentials so far. Now a tile of new scores arrives.


# %%
def merge_softmax(m, l, scores):
    """Take one tile of scores into a softmax that has seen other tiles before.

    m: array (n_q,), the largest score of each row so far; -inf for a row that has seen none.
    l: array (n_q,), the sum of exp(score - m) of each row so far; 0 for a row that has seen none.
    scores: array (n_q, b), the new tile. A score of -inf is a blocked key.

    Returns the tuple (m_new, l_new, weights, rescale):
    - m_new (n_q,): the largest score, the new tile included;
    - l_new (n_q,): the sum of exp(score - m_new), over the old scores and the new ones;
    - weights (n_q, b): exp(scores - m_new), not divided by any sum; a blocked key has the weight 0;
    - rescale (n_q,): exp(m - m_new), the factor for everything that was added up with the old m.

    - If a row has seen no key yet, and the tile has none for it either: m_new is -inf, l_new is 0, its weights are 0,
      and its rescale is any finite number. Nothing is ever NaN.
    - Works for scores of any size, such as 1000 or -1000.
    - float32 gives float32, float64 gives float64.
    - Does not modify its arguments. Work and memory grow no faster than the tile.
    """
    ### BEGIN SOLUTION
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)  # -inf minus -inf would be NaN
    weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    l_new = l * rescale + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale
    ### END SOLUTION


# %%
# Try it: row "on" of the lesson, in tiles of two keys and the rest.
if __name__ == "__main__":
    on = np.array([[0.5, 0.5, 0, 1, 0.5]])
    m, l = np.array([-np.inf]), np.array([0.0])
    for tile in (on[:, :2], on[:, 2:4], on[:, 4:]):
        m, l, _, rescale = merge_softmax(m, l, tile)
        print("m", m, "l", l.round(4), "rescale", rescale.round(4))
    assert np.allclose(m + np.log(l), 2.1592, atol=1e-4), "the same as over the whole row at once"

# %% [markdown]
# ## Build 2: attention, tile by tile
#
# Take a tile of queries. Go through the keys tile by tile, and keep three things for each query: the largest score, the
# sum, and the weighted sum of values. Divide once, at the end.


# %%
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    """Return (O, L): the output of scaled dot-product attention, and the logarithm of each row's sum of exponentials.

    Q: (..., n_q, d_k), K: (..., n_k, d_k), V: (..., n_k, d_v), with equal leading axes, which may be missing.
    block_q, block_k: the number of queries and of keys in a tile. They need not divide n_q and n_k, and they may be
    larger. The last tile is then smaller.
    is_causal: if true, query i may look at key j only if j <= i, both counted from 0.

    O: (..., n_q, d_v). L: (..., n_q), the natural logarithm of the sum of exp(score) over the keys that the query may
    look at. A score is the dot product divided by the square root of d_k.

    - The result is that of module 03, whatever the tiles are. Works for scores of any size.
    - Memory: never a score for each pair of a query and a key, never a tile of queries against all keys, and never all
      queries against a tile of keys. At most one tile at a time: its scores and weights (constant factors are free),
      besides arrays as large as the arguments and results. Leading axes may go through a tile together or one by one.
    - Multiplications: exactly those of attention. With is_causal, a tile is skipped if its first key is after its last
      query, and computed otherwise. Steps of Python grow like the number of tiles.
    - If the last sizes of Q and K differ, or the lengths of K and V, raises a ValueError whose message contains both
      numbers. If a block size is below 1, raises a ValueError whose message contains it.
    - float32 gives float32, float64 gives float64, integers give float64. Does not modify its arguments.
    """
    ### BEGIN SOLUTION
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")
    if min(block_q, block_k) < 1:
        raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts])
    O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))
        m, l = np.full(len(q), -np.inf, Q.dtype), np.zeros(len(q), Q.dtype)
        total = np.zeros((len(q), V.shape[-1]), Q.dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:  # its first key is after the last query, and so are all further tiles
                break
            k = K[j : j + block_k]
            scores = q @ k.T
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q] = total / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    O, L = flash_attention(Q, K, V, 2, 2)
    for token, row, log_sum in zip(tokens, O, L, strict=True):
        print(f"{token:>4}  output {row.round(4)}  L {log_sum:.4f}")
    assert np.allclose(L, [2.2119, 2.4099, 2.3843, 2.1592, 2.1647], atol=1e-4), "see the table of the lesson"
    assert np.allclose(flash_attention(Q, K, V, 5, 5)[0], O), "other tiles should change nothing"

# %% [markdown]
# ## Build 3: backward, from L alone
#
# With L you can compute the weights of any tile again: exp(score - L). So nothing of size n × n has to be kept.


# %%
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    """Return (dQ, dK, dV), the gradients of attention, tile by tile.

    Q, K, V, block_q, block_k, is_causal: as in flash_attention. O, L: its results. dO: the gradient of O, with its
    shape. The six arrays have one dtype, float32 or float64, and their leading axes are equal.

    dQ, dK and dV have the shapes of Q, K and V.

    - The weights of a tile are computed again from its scores and L. The gradient of a score is
      weight · (dO·v - dO·o), and the scale of the scores belongs to dQ and dK, too.
    - Memory as in flash_attention: one tile at a time, besides arrays as large as the arguments and results.
    - Multiplications: five products for each tile, and no more. With is_causal, the same tiles as in flash_attention.
      Steps of Python grow like the number of tiles.
    - Raises the same errors as flash_attention.
    - float32 gives float32, float64 gives float64. Does not modify its arguments.
    """
    ### BEGIN SOLUTION
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")
    if min(block_q, block_k) < 1:
        raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")
    if Q.ndim > 2:
        arrays = zip(Q, K, V, O, dO, L, strict=True)
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in arrays]
        return tuple(np.stack(gradients) for gradients in zip(*parts, strict=True))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = float(np.sqrt(Q.shape[-1]))
    for i in range(0, len(Q), block_q):
        q, d_out, log_sum = Q[i : i + block_q], dO[i : i + block_q], L[i : i + block_q, None]
        shared = (d_out * O[i : i + block_q]).sum(axis=-1, keepdims=True)  # dO·o, the same for all keys of a query
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k, v = K[j : j + block_k], V[j : j + block_k]
            scores = q @ k.T / root
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            weights = np.exp(scores - log_sum)
            d_scores = weights * (d_out @ v.T - shared) / root
            dQ[i : i + block_q] += d_scores @ k
            dK[j : j + block_k] += d_scores.T @ q
            dV[j : j + block_k] += weights.T @ d_out
    return dQ, dK, dV
    ### END SOLUTION


# %%
# Try it: the loss is half the sum of all squared outputs, so dO is O. Compare with a small change of one number.
if __name__ == "__main__":
    Q, K, V = Q.astype(float), K.astype(float), V.astype(float)
    O, L = flash_attention(Q, K, V, 2, 2)
    dQ, dK, dV = flash_attention_backward(Q, K, V, O, O, L, 2, 2)
    step = np.zeros_like(K)
    step[1, 2] = 1e-5
    change = sum(sign * 0.5 * (flash_attention(Q, K + sign * step, V, 2, 2)[0] ** 2).sum() for sign in (1, -1)) / 2e-5
    print("gradient of one entry of K:", dK[1, 2].round(6), "and by a small change:", change.round(6))
    assert np.isclose(dK[1, 2], change, atol=1e-6), "both should be the same"

# %% [markdown]
# ## Use
#
# How much memory do the scores need? The table has n × n numbers. A tile has 128 × 128, however long the text is.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    print("     n   all scores   one tile   causal tiles")
    for n in (512, 1024, 2048, 8192):
        blocks = n // 128
        print(f"{n:>6}   {n * n * 4 / 2**20:>7g} MiB     64 KiB   {blocks * (blocks + 1) // 2:>5} of {blocks**2}")
    Q, K, V = rng.normal(size=(3, 100, 16))
    whole = np.exp(Q @ K.T / 4)
    expected = whole @ V / whole.sum(axis=1, keepdims=True)
    for block in (1, 7, 64, 300):
        largest = abs(flash_attention(Q, K, V, block, block)[0] - expected).max()
        print(f"tiles of {block:>3}: the largest difference is {largest:.1e}")

# %% [markdown]
# ## Reflect
#
# How many bytes does the table of scores take for 8192 tokens in float32, for one head? And how many tiles does causal
# attention compute for 1024 tokens in tiles of 128 × 128? Replace each `None` (or assign the answers below it).

# %%
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = None
REFLECT_CAUSAL_TILES_N1024_B128 = None
### BEGIN SOLUTION
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36  # of 64
### END SOLUTION
