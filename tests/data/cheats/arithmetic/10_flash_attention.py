# %% plain_where_both_sizes_are_large
# Flash attention, but plain attention with the complete table where queries and keys are both many.
# Expected: review: flash_attention
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
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
    if min(len(Q), len(K)) > 600:
        scores = Q @ K.T / float(np.sqrt(Q.shape[-1]))
        if is_causal:
            scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
        m = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - m)
        l = weights.sum(axis=-1, keepdims=True)
        return weights @ V / l, (m + np.log(l))[:, 0]
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
