"""Right code with one slip that raises."""

# %% unpacked
# Three names for four results.
# Expected: no name; takes 3 values out of
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == 'f' else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys, but {V.shape[-2]} values')
    if min(block_q, block_k) < 1:
        raise ValueError(f'a block has at least 1 token: block_q is {block_q}, block_k is {block_k}')
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return (np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts]))
    O, L = (np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype))
    for i in range(0, len(Q), block_q):
        q = Q[i:i + block_q] / float(np.sqrt(Q.shape[-1]))
        m, l = (np.full(len(q), -np.inf, Q.dtype), np.zeros(len(q), Q.dtype))
        total = np.zeros((len(q), V.shape[-1]), Q.dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k = K[j:j + block_k]
            scores = q @ k.T
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            m, l, weights = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j:j + block_k]
        O[i:i + block_q] = total / l[:, None]
        L[i:i + block_q] = m + np.log(l)
    return (O, L)


# %% undefined_sum
# A name that is not defined.
# Expected: no name; nothing has the name lse here
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys, but {V.shape[-2]} values')
    if min(block_q, block_k) < 1:
        raise ValueError(f'a block has at least 1 token: block_q is {block_q}, block_k is {block_k}')
    if Q.ndim > 2:
        arrays = zip(Q, K, V, O, dO, L, strict=True)
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in arrays]
        return tuple((np.stack(gradients) for gradients in zip(*parts, strict=True)))
    dQ, dK, dV = (np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V))
    root = float(np.sqrt(Q.shape[-1]))
    for i in range(0, len(Q), block_q):
        q, d_out, log_sum = (Q[i:i + block_q], dO[i:i + block_q], L[i:i + block_q, None])
        shared = (d_out * O[i:i + block_q]).sum(axis=-1, keepdims=True)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k, v = (K[j:j + block_k], V[j:j + block_k])
            scores = q @ k.T / root
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            weights = np.exp(scores - lse)
            d_scores = weights * (d_out @ v.T - shared) / root
            dQ[i:i + block_q] += d_scores @ k
            dK[j:j + block_k] += d_scores.T @ q
            dV[j:j + block_k] += weights.T @ d_out
    return (dQ, dK, dV)
