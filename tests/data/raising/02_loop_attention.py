"""Right code with one slip that raises."""

# %% len_of_a_number
# A loop over a number.
# Expected: no name; an int has no entries to go through
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f'a has {len(a)} entries but b has {len(b)}')
    total = 0.0
    for i in len(a):
        total = total + a[i] * b[i]
    return total


# %% one_place_too_far
# A loop that goes one place too far.
# Expected: no name; out of bounds
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f'a has {len(a)} entries but b has {len(b)}')
    total = 0.0
    for i in range(len(a) + 1):
        total = total + a[i] * b[i]
    return total


# %% self_in_a_function
# A parameter too many.
# Expected: no name; does not take the arguments of this call
def attention_scores(self, Q, K):
    Q, K = (np.asarray(Q), np.asarray(K))
    n_q, d_q = Q.shape
    n_k, d_k = K.shape
    if d_q != d_k:
        raise ValueError(f'queries have {d_q} entries but keys have {d_k}')
    dtype = np.float32 if Q.dtype == K.dtype == np.float32 else np.float64
    scores = np.zeros((n_q, n_k), dtype=dtype)
    for i in range(n_q):
        for j in range(n_k):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% not_imported
# Math is not imported.
# Expected: no name; nothing has the name math here
def scale_factor(d_k, variance=1.0):
    return float(variance * math.sqrt(d_k))


# %% called_array
# Round brackets for square ones.
# Expected: no name; round brackets behind an array
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
    n_q, n_k, d_k, d_v = (Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1])
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        output = np.stack([output for output, _ in pairs])
        weights = np.stack([weights for _, weights in pairs])
        return (output, weights)
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max((scores[i, j] for j in allowed))
        total = 0.0
        for j in allowed:
            weights[i, j] = np.exp(scores(i, j) - largest)
            total = total + weights[i, j]
        for j in allowed:
            weights[i, j] = weights[i, j] / total
            for c in range(d_v):
                output[i, c] = output[i, c] + weights[i, j] * V[j, c]
    return (output, weights)


# %% value_comes_later
# A sum that is never begun.
# Expected: no name; no value yet
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = (np.asarray(Q), np.asarray(K), np.asarray(V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys but {V.shape[-2]} values')
    n_q, n_k, d_k, d_v = (Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1])
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        output = np.stack([output for output, _ in pairs])
        weights = np.stack([weights for _, weights in pairs])
        return (output, weights)
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max((scores[i, j] for j in allowed))
        for j in allowed:
            weights[i, j] = np.exp(scores[i, j] - largest)
            total = total + weights[i, j]
        for j in allowed:
            weights[i, j] = weights[i, j] / total
            for c in range(d_v):
                output[i, c] = output[i, c] + weights[i, j] * V[j, c]
    return (output, weights)
