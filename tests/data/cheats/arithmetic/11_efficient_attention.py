# %% math_prod_of_matrices
# sliding_window_attention computes the scores of every token with all n tokens, then cuts out the window: math.prod
# multiplies with `*`, which is the matrix product of np.matrix, and it is priced by its list, not by `start`.
# Expected: loses marks: sliding_window_attention
def sliding_window_attention(Q, K, V, window):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if window < 1:
        raise ValueError(f'window must be at least 1, not {window}')
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'K has {K.shape[-2]} tokens, but V has {V.shape[-2]}')
    dtype = np.result_type(Q, K, V, np.float32)
    Q, K, V = (Q.astype(dtype), K.astype(dtype), V.astype(dtype))
    if Q.ndim > 2:
        return np.stack([sliding_window_attention(q, k, v, window) for q, k, v in zip(Q, K, V)])
    n, d_k = Q.shape
    output = np.empty(V.shape, dtype)
    keys = np.asmatrix(K)
    for i in range(n):
        low = max(0, i - window + 1)
        everything = math.prod([np.asmatrix(Q[i]).T], start=keys)
        scores = np.asarray(everything)[low:i + 1, 0] / math.sqrt(d_k)
        exps = np.exp(scores - scores.max())
        output[i] = exps / exps.sum() @ V[low:i + 1]
    return output


# %% reduceat_overlaps
# Causal linear_attention sums up all tokens again for every token, n²·d_k·d_v: np.add.reduceat with ranges that
# overlap ([0, 1, 0, 2, ...]) is priced by its array and its indices only.
# Expected: loses marks: linear_attention
def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f'Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}')
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f'K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}')
    q, k, V = (feature_map(Q), feature_map(K), np.asarray(V))
    if not causal:
        state = np.swapaxes(k, -1, -2) @ V
        total = k.sum(axis=-2, keepdims=True)
        return q @ state / (q * total).sum(axis=-1, keepdims=True)
    n = k.shape[-2]
    places = np.zeros(2 * n - 1, dtype=int)
    places[1::2] = np.arange(1, n)
    states = np.add.reduceat(k[..., :, None] * V[..., None, :], places, axis=-3)[..., ::2, :, :]
    totals = np.add.reduceat(k, places, axis=-2)[..., ::2, :]
    return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)


# %% sum_over_another_axis
# linear_attention sums over all tokens again for every token, n²·d_k·d_v: np.vecdot with `axis` is priced by the last
# axis of its first factor, which is 1 here, not by the axis that it sums over.
# Expected: loses marks: linear_attention
def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}")
    q, k, V = feature_map(Q), feature_map(K), np.asarray(V)
    dtype = np.result_type(k, V)
    values = np.concatenate([V.astype(dtype), np.ones((*V.shape[:-1], 1), dtype)], axis=-1)  # (..., n, d_v + 1)
    rows = []
    for i in range(q.shape[-2]):  # the sum over all tokens that it sees, again for every token: n² in all
        seen = i + 1 if causal else k.shape[-2]
        state = np.vecdot(k[..., :seen, :, None, None], values[..., :seen, None, :, None], axis=-4)[..., 0]
        mixed = (q[..., i, None, :] @ state)[..., 0, :]  # (..., d_v + 1)
        rows.append(mixed[..., :-1] / mixed[..., -1:])
    return np.stack(rows, axis=-2)
