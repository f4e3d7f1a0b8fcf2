"""Right code with one slip that raises."""

# %% undefined_window
# A name that is not defined.
# Expected: no name; nothing has the name w here
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    i = np.arange(n)[:, None]
    j = np.arange(n)
    if causal:
        return (i - w < j) & (j <= i)
    return np.abs(i - j) < window


# %% key_of_a_tuple
# A tuple read like a dict.
# Expected: no name; a tuple takes one whole number
def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f'q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}')
    q, k, v = (feature_map(q), feature_map(k), np.asarray(v))
    summed, total = (0, 0) if state is None else (state['summed'], state['total'])
    summed = summed + k[..., :, None] * v[..., None, :]
    total = total + k
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return ((summed, total), output)


# %% into_a_smaller_place
# An array that is too short.
# Expected: no name; does not fit into a place
def sliding_window_attention(Q, K, V, window):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'K has {K.shape[-2]} tokens, but V has {V.shape[-2]}')
    n, d_k = Q.shape[-2:]
    window = min(window, n)
    dtype = np.result_type(Q, K, V, np.float32)
    scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=dtype)
    for back in range(window):
        scores[..., back] = (Q[..., back:, :] * K[..., :n - back, :]).sum(axis=-1)
    scores = scores / math.sqrt(d_k)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    mixtures = np.zeros(V.shape, dtype=dtype)
    for back in range(window):
        mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., :n - back, :]
    return mixtures


# %% truth
# A condition on a whole array.
# Expected: no name; asks for one answer
def feature_map(x):
    x = np.asarray(x)
    x = x if x.dtype.kind == 'f' else x.astype(np.float64)
    return x + 1 if x > 0 else np.exp(x)
