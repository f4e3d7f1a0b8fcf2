# %% table_in_one_product
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    scores = Q @ K.T / Q.shape[1] ** 0.5  # <-- here
    if is_causal:
        scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ V / total, (scores.max(axis=1, keepdims=True) + np.log(total))[:, 0]


# %% table_by_einsum
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    scores = np.einsum("qd,kd->qk", Q, K) / Q.shape[1] ** 0.5  # <-- here
    if is_causal:
        scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ V / total, (scores.max(axis=1, keepdims=True) + np.log(total))[:, 0]


# %% table_by_broadcasting
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    scores = (Q[:, None, :] * K[None, :, :]).sum(axis=-1) / Q.shape[1] ** 0.5  # <-- here
    if is_causal:
        scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ V / total, (scores.max(axis=1, keepdims=True) + np.log(total))[:, 0]


# %% table_filled_tile_by_tile
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    scores = np.full((len(Q), len(K)), -np.inf)  # <-- here
    for i in range(0, len(Q), block_q):
        for j in range(0, len(K), block_k):
            scores[i : i + block_q, j : j + block_k] = Q[i : i + block_q] @ K[j : j + block_k].T / Q.shape[1] ** 0.5
    if is_causal:
        scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ V / total, (scores.max(axis=1, keepdims=True) + np.log(total))[:, 0]


# %% table_filled_where_it_is_seen
# Expected: flash_attention: mem; flash_attention (causal): mem mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    scores = np.full((len(Q), len(K)), -np.inf)
    for i in range(0, len(Q), block_q):
        for j in range(0, len(K), block_k):
            if not is_causal or j <= min(i + block_q, len(Q)) - 1:
                scores[i : i + block_q, j : j + block_k] = Q[i : i + block_q] @ K[j : j + block_k].T / Q.shape[1] ** 0.5
    if is_causal:
        scores[np.arange(len(K)) > np.arange(len(Q))[:, None]] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ V / total, (scores.max(axis=1, keepdims=True) + np.log(total))[:, 0]


# %% tiles_kept_in_a_list
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    kept = []
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            kept.append(scores)
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% tiles_kept_in_a_dictionary
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    kept = {}
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            kept[i, j] = scores
            m, l, weights, rescale = merge_softmax(m, l, kept[i, j])
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% mask_of_all_pairs
# Expected: flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    later = np.triu(np.ones((len(Q), len(K)), dtype=bool), 1) if is_causal else None  # <-- here
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[later[i : i + block_q, j : j + block_k]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% positions_of_all_pairs
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    gap = np.subtract.outer(np.arange(len(Q)), np.arange(len(K)))  # <-- here
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[gap[i : i + block_q, j : j + block_k] < 0] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% bias_of_all_pairs
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    bias = np.where(np.arange(len(K)) > np.arange(len(Q))[:, None], -np.inf, 0) if is_causal else np.zeros((len(Q), len(K)))
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T + bias[i : i + block_q, j : j + block_k]
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% all_keys_at_once
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        scores = Q[i : i + block_q] @ K.T / Q.shape[1] ** 0.5  # <-- here
        if is_causal:
            scores[np.arange(len(K)) > i + np.arange(len(scores))[:, None]] = -np.inf
        m = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - m)
        l = weights.sum(axis=1, keepdims=True)
        O[i : i + block_q], L[i : i + block_q] = weights @ V / l, (m + np.log(l))[:, 0]
    return O, L


# %% all_keys_by_einsum
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        scores = np.einsum("qd,kd->qk", Q[i : i + block_q], K) / Q.shape[1] ** 0.5  # <-- here
        if is_causal:
            scores[np.arange(len(K)) > i + np.arange(len(scores))[:, None]] = -np.inf
        m = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - m)
        l = weights.sum(axis=1, keepdims=True)
        O[i : i + block_q], L[i : i + block_q] = weights @ V / l, (m + np.log(l))[:, 0]
    return O, L


# %% keys_up_to_the_last_query_at_once
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        seen = min(i + block_q, len(Q), len(K)) if is_causal else len(K)
        scores = Q[i : i + block_q] @ K[:seen].T / Q.shape[1] ** 0.5
        if is_causal:
            scores[np.arange(seen) > i + np.arange(len(scores))[:, None]] = -np.inf
        m = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - m)
        l = weights.sum(axis=1, keepdims=True)
        O[i : i + block_q], L[i : i + block_q] = weights @ V[:seen] / l, (m + np.log(l))[:, 0]
    return O, L


# %% tiles_joined_before_the_softmax
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q, tiles = Q[i : i + block_q] / Q.shape[1] ** 0.5, []
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            tiles.append(q @ K[j : j + block_k].T)
        scores = np.concatenate(tiles, axis=1)  # <-- here
        if is_causal:
            scores[np.arange(scores.shape[1]) > i + np.arange(len(q))[:, None]] = -np.inf
        m = scores.max(axis=1)
        weights = np.exp(scores - m[:, None])
        l = weights.sum(axis=1)
        O[i : i + block_q] = weights @ V[: scores.shape[1]] / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L


# %% row_of_scores_as_a_buffer
# Expected: flash_attention: mem; flash_attention (causal): mem mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    row = np.full((min(block_q, len(Q)), len(K)), -np.inf)
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        row[:] = -np.inf
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            row[: len(q), j : j + block_k] = q @ K[j : j + block_k].T
        scores = row[: len(q)]
        if is_causal:
            scores[np.arange(len(K)) > i + np.arange(len(q))[:, None]] = -np.inf
        m = scores.max(axis=1)
        weights = np.exp(scores - m[:, None])
        l = weights.sum(axis=1)
        O[i : i + block_q], L[i : i + block_q] = weights @ V / l[:, None], m + np.log(l)
    return O, L


# %% all_queries_at_once
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    m, l, total = np.full(len(Q), -np.inf), np.zeros(len(Q)), np.zeros((len(Q), V.shape[1]))
    for j in range(0, len(K), block_k):
        scores = Q @ K[j : j + block_k].T / Q.shape[1] ** 0.5
        if is_causal:
            scores[j + np.arange(scores.shape[1]) > np.arange(len(Q))[:, None]] = -np.inf
        m, l, weights, rescale = merge_softmax(m, l, scores)
        total = total * rescale[:, None] + weights @ V[j : j + block_k]
    return total / l[:, None], m + np.log(l)


# %% later_queries_at_once
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    m, l, total = np.full(len(Q), -np.inf), np.zeros(len(Q)), np.zeros((len(Q), V.shape[1]))
    for j in range(0, len(K), block_k):
        first = j // block_q * block_q if is_causal else 0
        if first >= len(Q):
            break
        scores = Q[first:] @ K[j : j + block_k].T / Q.shape[1] ** 0.5
        if is_causal:
            scores[j + np.arange(scores.shape[1]) > np.arange(first, len(Q))[:, None]] = -np.inf
        m[first:], l[first:], weights, rescale = merge_softmax(m[first:], l[first:], scores)
        total[first:] = total[first:] * rescale[:, None] + weights @ V[j : j + block_k]
    return total / l[:, None], m + np.log(l)


# %% all_tiles_of_queries_together
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    n, d = Q.shape
    pad = -n % block_q
    tiles = np.pad(Q, ((0, pad), (0, 0))).reshape(-1, block_q, d) / d**0.5
    m = np.full(tiles.shape[:2], -np.inf)
    l, total = np.zeros(m.shape), np.zeros((*m.shape, V.shape[1]))
    at = np.arange(n + pad).reshape(-1, block_q, 1)
    for j in range(0, len(K), block_k):
        scores = tiles @ K[j : j + block_k].T  # <-- here
        if is_causal:
            scores = np.where(j + np.arange(scores.shape[-1]) > at, -np.inf, scores)
        top = np.maximum(m, scores.max(axis=-1))
        weights, rescale = np.exp(scores - top[..., None]), np.exp(m - top)
        m, l = top, l * rescale + weights.sum(axis=-1)
        total = total * rescale[..., None] + weights @ V[j : j + block_k]
    return (total / l[..., None]).reshape(-1, V.shape[1])[:n], (m + np.log(l)).ravel()[:n]


# %% all_tiles_of_keys_together
# Expected: flash_attention: mem; flash_attention (causal): mul mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    d, pad = Q.shape[1], -len(K) % block_k
    keys, values = (np.pad(x, ((0, pad), (0, 0))).reshape(-1, block_k, x.shape[1]) for x in (K, V))
    at = np.arange(len(K) + pad).reshape(-1, 1, block_k)
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / d**0.5
        scores = q @ np.swapaxes(keys, 1, 2)  # <-- here
        last = i + np.arange(len(q))[:, None] if is_causal else len(K) - 1
        scores = np.where(at > np.minimum(last, len(K) - 1), -np.inf, scores)
        m = scores.max(axis=(0, 2))
        weights = np.exp(scores - m[:, None])
        l = weights.sum(axis=(0, 2))
        O[i : i + block_q], L[i : i + block_q] = (weights @ values).sum(axis=0) / l[:, None], m + np.log(l)
    return O, L


# %% keys_copied_for_every_tile
# Expected: flash_attention: mem; flash_attention (causal): mem


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    copies = np.stack([K] * (-(-len(Q) // block_q)))  # <-- here
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ copies[i // block_q, j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% masked_not_skipped
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            scores = q @ K[j : j + block_k].T  # <-- here
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% skipped_after_the_product
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            scores = q @ K[j : j + block_k].T  # <-- here
            if is_causal and j > i + len(q) - 1:
                continue
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% one_tile_too_many
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q):
                break
            scores = q @ K[j : j + block_k].T  # <-- here
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% skipped_where_all_is_masked
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            scores = q @ K[j : j + block_k].T  # <-- here
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            if np.isneginf(scores).all():
                break
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% skipped_by_the_number_of_queries
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > len(Q) - 1:
                break
            scores = q @ K[j : j + block_k].T  # <-- here
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% masked_by_adding
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores = scores + np.where(np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None], -np.inf, 0)
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% keys_outside_not_skipped
# Expected: flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    m, l, total = np.full(len(Q), -np.inf), np.zeros(len(Q)), np.zeros((len(Q), V.shape[1]))
    for j in range(0, len(K), block_k):
        for i in range(0, len(Q), block_q):
            rows = slice(i, min(i + block_q, len(Q)))
            scores = Q[rows] @ K[j : j + block_k].T / Q.shape[1] ** 0.5  # <-- here
            if is_causal:
                scores[j + np.arange(scores.shape[1]) > np.arange(i, rows.stop)[:, None]] = -np.inf
            m[rows], l[rows], weights, rescale = merge_softmax(m[rows], l[rows], scores)
            total[rows] = total[rows] * rescale[:, None] + weights @ V[j : j + block_k]
    return total / l[:, None], m + np.log(l)


# %% two_passes
# Expected: flash_attention: mul; flash_attention (causal): mul


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        tiles = [j for j in range(0, len(K), block_k) if not is_causal or j < i + len(q)]

        def scores_of(j):
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[j + np.arange(scores.shape[1]) > i + np.arange(len(q))[:, None]] = -np.inf
            return scores

        m, l = np.full(len(q), -np.inf), np.zeros(len(q))
        for j in tiles:
            m, l, _, _ = merge_softmax(m, l, scores_of(j))
        L[i : i + block_q] = m + np.log(l)
        for j in tiles:
            O[i : i + block_q] += np.exp(scores_of(j) - L[i : i + block_q, None]) @ V[j : j + block_k]
    return O, L


# %% query_by_query
# Expected: flash_attention: steps


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    block_q = 1 if not is_causal else block_q
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% row_by_row_in_a_tile
# Expected: flash_attention: steps


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            for row in range(len(q)):
                one = slice(row, row + 1)
                m[one], l[one], weights, rescale = merge_softmax(m[one], l[one], scores[one])
                total[one] = total[one] * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% key_by_key
# Expected: flash_attention: mul steps


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention(*one, block_q, block_k, is_causal) for one in zip(Q, K, V)]
        return np.stack([o for o, _ in parts]), np.stack([l for _, l in parts])
    block_k = 1 if not is_causal else block_k
    O, L = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / Q.shape[1] ** 0.5
        m, l, total = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), V.shape[1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[np.arange(j, j + scores.shape[1]) > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, weights, rescale = merge_softmax(m, l, scores)
            total = total * rescale[:, None] + weights @ V[j : j + block_k]
        O[i : i + block_q], L[i : i + block_q] = total / l[:, None], m + np.log(l)
    return O, L


# %% backward_table
# Expected: flash_attention_backward: mem; flash_attention_backward (causal): mul mem


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in zip(Q, K, V, O, dO, L)]
        return tuple(np.stack(one) for one in zip(*parts))
    root = Q.shape[1] ** 0.5
    weights = np.exp(Q @ K.T / root - L[:, None])  # <-- here
    if is_causal:
        weights = np.tril(weights)
    d_scores = weights * (dO @ V.T - (dO * O).sum(axis=1, keepdims=True)) / root
    return d_scores @ K, d_scores.T @ Q, weights.T @ dO


# %% backward_all_keys_at_once
# Expected: flash_attention_backward: mem; flash_attention_backward (causal): mul mem


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in zip(Q, K, V, O, dO, L)]
        return tuple(np.stack(one) for one in zip(*parts))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = Q.shape[1] ** 0.5
    for i in range(0, len(Q), block_q):
        q, g = Q[i : i + block_q], dO[i : i + block_q]
        weights = np.exp(q @ K.T / root - L[i : i + block_q, None])  # <-- here
        if is_causal:
            weights = np.tril(weights, i)
        d_scores = weights * (g @ V.T - (g * O[i : i + block_q]).sum(axis=1, keepdims=True)) / root
        dQ[i : i + block_q] = d_scores @ K
        dK += d_scores.T @ q
        dV += weights.T @ g
    return dQ, dK, dV


# %% backward_all_queries_at_once
# Expected: flash_attention_backward: mem; flash_attention_backward (causal): mul mem


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in zip(Q, K, V, O, dO, L)]
        return tuple(np.stack(one) for one in zip(*parts))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = Q.shape[1] ** 0.5
    shared = (dO * O).sum(axis=1, keepdims=True)
    for j in range(0, len(K), block_k):
        k, v = K[j : j + block_k], V[j : j + block_k]
        weights = np.exp(Q @ k.T / root - L[:, None])  # <-- here
        if is_causal:
            weights = np.tril(weights, -j)
        d_scores = weights * (dO @ v.T - shared) / root
        dQ += d_scores @ k
        dK[j : j + block_k], dV[j : j + block_k] = d_scores.T @ Q, weights.T @ dO
    return dQ, dK, dV


# %% backward_gradients_of_the_scores_kept
# Expected: flash_attention_backward: mem; flash_attention_backward (causal): mem mul


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in zip(Q, K, V, O, dO, L)]
        return tuple(np.stack(one) for one in zip(*parts))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    table = np.zeros((len(Q), len(K)))  # <-- here
    root = Q.shape[1] ** 0.5
    for i in range(0, len(Q), block_q):
        rows = slice(i, min(i + block_q, len(Q)))
        shared = (dO[rows] * O[rows]).sum(axis=1, keepdims=True)
        for j in range(0, len(K), block_k):
            cols = slice(j, min(j + block_k, len(K)))
            if is_causal and j > rows.stop - 1:
                break
            scores = Q[rows] @ K[cols].T / root
            if is_causal:
                scores[np.arange(j, cols.stop) > np.arange(i, rows.stop)[:, None]] = -np.inf
            weights = np.exp(scores - L[rows, None])
            d_scores = weights * (dO[rows] @ V[cols].T - shared) / root
            dQ[rows] += d_scores @ K[cols]
            table[rows, cols] = d_scores
            dV[cols] += weights.T @ dO[rows]
    dK = table.T @ Q
    return dQ, dK, dV


# %% backward_parts_stacked
# Expected: flash_attention_backward: mem; flash_attention_backward (causal): mem


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        parts = [flash_attention_backward(*one, block_q, block_k, is_causal) for one in zip(Q, K, V, O, dO, L)]
        return tuple(np.stack(one) for one in zip(*parts))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    parts = np.zeros((-(-len(Q) // block_q), *K.shape))  # <-- here
    root = Q.shape[1] ** 0.5
    for i in range(0, len(Q), block_q):
        rows = slice(i, min(i + block_q, len(Q)))
        shared = (dO[rows] * O[rows]).sum(axis=1, keepdims=True)
        for j in range(0, len(K), block_k):
            cols = slice(j, min(j + block_k, len(K)))
            if is_causal and j > rows.stop - 1:
                break
            scores = Q[rows] @ K[cols].T / root
            if is_causal:
                scores[np.arange(j, cols.stop) > np.arange(i, rows.stop)[:, None]] = -np.inf
            weights = np.exp(scores - L[rows, None])
            d_scores = weights * (dO[rows] @ V[cols].T - shared) / root
            dQ[rows] += d_scores @ K[cols]
            parts[i // block_q, cols] = d_scores.T @ Q[rows]
            dV[cols] += weights.T @ dO[rows]
    dK = parts.sum(axis=0)
    return dQ, dK, dV
