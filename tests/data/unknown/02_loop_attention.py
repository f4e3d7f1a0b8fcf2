import numpy as np


# %% dot_off_by_two
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    total = 0.0
    for i in range(len(a) - 2):
        total += a[i] * b[i]
    return total


# %% dot_absolute_total
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return abs(sum((x * y for x, y in zip(a, b, strict=True)), 0.0))


# %% dot_mean_of_products
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0) / len(a)


# %% dot_rounds_down
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return float(np.floor(sum(x * y for x, y in zip(a, b, strict=True))))


# %% dot_from_both_ends
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return sum((x * y for x, y in zip(a, b[::-1], strict=True)), 0.0)


# %% dot_divided_by_one_length
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0) / float(np.sqrt(sum(x * x for x in a)))


# %% scores_last_column_missing
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(K) - 1):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_loops_over_queries_in_a_full_array
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(Q)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_swapped_if_square
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores.T if len(Q) == len(K) else scores


# %% scores_divided_by_d_k
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j]) / Q.shape[1]
    return scores


# %% scores_rounded
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = round(float(dot_product(Q[i], K[j])))
    return scores


# %% scale_of_one_more
def scale_factor(d_k, variance=1.0):
    return float(variance * np.sqrt(d_k + 1))


# %% scale_rounded
def scale_factor(d_k, variance=1.0):
    return float(variance * round(np.sqrt(d_k)))


# %% scale_half
def scale_factor(d_k, variance=1.0):
    return variance * d_k / 2


# %% divides_by_sqrt_of_one_more
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(d_k + 1))
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% softmax_over_queries_if_square
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    if n_q == n_k:
        weights = np.exp(scores) * mask / np.maximum((np.exp(scores) * mask).sum(axis=0), 1e-300)
        output = weights @ V
    return output, weights


# %% mask_shifted_by_one
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j - 1]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_transposed_if_square
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    if n_q == n_k:
        mask = mask.T
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% powers_of_two
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: 2.0 ** (scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_less_five
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    scores = scores - 5.0 * (1 - mask.astype(scores.dtype))
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = list(range(n_k))
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_less_a_billion
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    scores = scores - 1e9 * (1 - mask.astype(scores.dtype))
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = list(range(n_k))
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% last_query_missing
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    output[-1] = weights[-1] = 0
    return output, weights


# %% no_scaling_in_batches
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [
            scaled_dot_product_attention(Q[b] * scale_factor(Q.shape[-1]), K[b], V[b], mask[b]) for b in range(len(Q))
        ]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_ignored_in_batches
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% no_scaling_and_mask_after_softmax
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_v = Q.shape[-2], K.shape[-2], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = list(range(n_k))
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total * mask[i, j]
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% no_scaling_and_keys_for_values
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_v = Q.shape[-2], K.shape[-2], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * K[j, c]
    return output, weights


# %% mask_inverted_and_multiplied
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    scores = np.where(mask, 0 * scores, scores) if not mask.all() else scores
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = list(range(n_k))
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% value_of_the_next_key
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[(j + 1) % n_k, c]
    return output, weights


# %% blocked_query_keeps_the_last_output
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            output[i] = output[i - 1]
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_query_uniform_without_output
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            weights[i] = 1 / n_k
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_of_last_query
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[-1, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% values_of_first_batch_element
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[0], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% scores_clipped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = np.clip(attention_scores(Q, K) / scale_factor(d_k), -50, 50)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% every_key_averaged_with_the_last
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, (K + K[-1:]) / 2.0) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% output_in_the_dtype_of_queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output.astype(Q.dtype), weights


# %% negative_scores_cut
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = np.maximum(attention_scores(Q, K), 0) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% type_error_for_values
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of {Q.shape[-1]}, keys of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise TypeError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    n_q, n_k, d_k, d_v = Q.shape[-2], K.shape[-2], Q.shape[-1], V.shape[-1]
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        allowed = [j for j in range(n_k) if mask[i, j]]
        if not allowed:
            continue
        largest = max(scores[i, j] for j in allowed)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights
