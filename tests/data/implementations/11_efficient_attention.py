# %% token_by_token
# Expected: passes


def sliding_window_attention(Q, K, V, window):
    rows = []
    for i in range(len(Q)):
        near = slice(max(0, i - window + 1), i + 1)
        scores = K[near] @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max())
        rows.append(exps / exps.sum() @ V[near])
    return np.array(rows)


# %% number_by_number
# Expected: passes


def sliding_window_attention(Q, K, V, window):
    q, k, v = Q.tolist(), K.tolist(), V.tolist()
    rows = []
    for i in range(len(q)):
        near = range(max(0, i - window + 1), i + 1)
        scores = [sum(a * b for a, b in zip(q[i], k[j])) / math.sqrt(len(q[i])) for j in near]
        top = max(scores)
        exps = [math.exp(score - top) for score in scores]
        total = sum(exps)
        rows.append([sum(e * v[j][c] for e, j in zip(exps, near)) / total for c in range(len(v[0]))])
    return np.array(rows)


def linear_attention(Q, K, V, causal=False):
    phi = lambda x: x + 1 if x > 0 else math.exp(x)
    q, k, v = ([[phi(x) for x in row] for row in Q.tolist()], [[phi(x) for x in row] for row in K.tolist()], V.tolist())
    state, total = [[0.0] * len(v[0]) for _ in k[0]], [0.0] * len(k[0])

    def take(j):
        for a, feature in enumerate(k[j]):
            total[a] += feature
            for b, value in enumerate(v[j]):
                state[a][b] += feature * value

    rows = []
    if not causal:
        for j in range(len(k)):
            take(j)
    for i, query in enumerate(q):
        if causal:
            take(i)
        below = sum(a * b for a, b in zip(query, total))
        rows.append([sum(a * row[c] for a, row in zip(query, state)) / below for c in range(len(v[0]))])
    return np.array(rows)


# %% strided_view
# Expected: passes


def sliding_window_attention(Q, K, V, window):
    n, w = len(Q), min(window, len(Q))
    view = np.lib.stride_tricks.sliding_window_view
    keys, values = (view(np.pad(x, ((w - 1, 0), (0, 0))), w, axis=0) for x in (K, V))  # (n, d, w)
    scores = np.einsum("nd,ndw->nw", Q, keys) / math.sqrt(Q.shape[1])
    there = np.arange(n)[:, None] + np.arange(w) >= w - 1
    scores = np.where(there, scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("nw,ndw->nd", exps / exps.sum(axis=1, keepdims=True), values)


# %% gathered_by_index
# Expected: passes


def sliding_window_attention(Q, K, V, window):
    at = np.arange(len(Q))[:, None] - np.arange(min(window, len(Q)))
    scores = (K[at] @ Q[:, :, None])[..., 0] / math.sqrt(Q.shape[1])
    scores[at < 0] = -np.inf
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (exps[:, None, :] @ V[at])[:, 0] / exps.sum(axis=1, keepdims=True)


# %% pieces_of_the_window
# Expected: passes


def sliding_window_attention(Q, K, V, window):
    n, w = len(Q), min(window, len(Q))
    pieces = []
    for start in range(0, n, w):
        stop, first = min(start + w, n), max(0, start - w + 1)
        i, j = np.arange(start, stop)[:, None], np.arange(first, stop)
        scores = np.where((j <= i) & (j > i - w), Q[start:stop] @ K[first:stop].T / math.sqrt(Q.shape[1]), -np.inf)
        exps = np.exp(scores - scores.max(axis=1, keepdims=True))
        pieces.append(exps @ V[first:stop] / exps.sum(axis=1, keepdims=True))
    return np.concatenate(pieces)


# %% pieces_of_sixteen
# Expected: passes


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    state, total = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    rows = []
    for start in range(0, len(Q), 16):
        part = slice(start, start + 16)
        inside = np.tril(q[part] @ k[part].T)
        below = q[part] @ total + inside.sum(axis=1)
        rows.append((q[part] @ state + inside @ V[part]) / below[:, None])
        state, total = state + k[part].T @ V[part], total + k[part].sum(axis=0)
    return np.concatenate(rows)


# %% pieces_of_fifty
# Expected: passes


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    state, total = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    rows = []
    for start in range(0, len(Q), 50):
        part = slice(start, start + 50)
        inside = np.tril(q[part] @ k[part].T)
        below = q[part] @ total + inside.sum(axis=1)
        rows.append((q[part] @ state + inside @ V[part]) / below[:, None])
        state, total = state + k[part].T @ V[part], total + k[part].sum(axis=0)
    return np.concatenate(rows)


# %% pieces_of_sixty_four
# Expected: passes


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    state, total = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    rows = []
    for start in range(0, len(Q), 64):
        part = slice(start, start + 64)
        inside = np.tril(q[part] @ k[part].T)
        below = q[part] @ total + inside.sum(axis=1)
        rows.append((q[part] @ state + inside @ V[part]) / below[:, None])
        state, total = state + k[part].T @ V[part], total + k[part].sum(axis=0)
    return np.concatenate(rows)


# %% the_step_in_a_loop
# Expected: passes


def linear_attention(Q, K, V, causal=False):
    if not causal:
        q, k = feature_map(Q), feature_map(K)
        return np.einsum("nd,de->ne", q, np.einsum("nd,ne->de", k, V)) / np.einsum("nd,d->n", q, k.sum(axis=0))[:, None]
    state, rows = None, []
    for q, k, v in zip(Q, K, V):
        state, row = linear_attention_step(state, q, k, v)
        rows.append(row)
    return np.stack(rows)


# %% one_feature_at_a_time
# Expected: passes


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    top, below = np.zeros((len(Q), V.shape[1])), np.zeros((len(Q), 1))
    for feature in range(K.shape[1]):
        column = k[:, feature, None]
        summed = np.cumsum(column * V, axis=0) if causal else (column * V).sum(axis=0)
        total = np.cumsum(column, axis=0) if causal else column.sum(axis=0)
        top += q[:, feature, None] * summed
        below += q[:, feature, None] * total
    return top / below


# %% state_in_a_dictionary
# Expected: passes


def linear_attention_step(state, q, k, v):
    q, k = feature_map(q), feature_map(k)
    old = state or {"sum": np.zeros((len(k), len(v))), "total": np.zeros(len(k))}
    new = {"sum": old["sum"] + np.outer(k, v), "total": old["total"] + k}
    return new, q @ new["sum"] / (q @ new["total"])


# %% state_in_lists
# Expected: passes


def linear_attention_step(state, q, k, v):
    q, k, v = feature_map(q).tolist(), feature_map(k).tolist(), v.tolist()
    old = state if state is not None else [[0.0] * (len(v) + 1) for _ in k]
    new = [[entry + feature * value for entry, value in zip(row, [*v, 1.0])] for row, feature in zip(old, k)]
    sums = [sum(feature * row[c] for feature, row in zip(q, new)) for c in range(len(v) + 1)]
    return new, np.array([number / sums[-1] for number in sums[:-1]])


# %% band_of_slices
# Expected: passes


def sliding_window_mask(n, window, causal=True):
    mask = np.zeros((n, n))
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = 1
    return mask


# %% band_of_two_triangles
# Expected: passes


def sliding_window_mask(n, window, causal=True):
    return np.tril(np.ones((n, n))) - np.tril(np.ones((n, n)), -window)


# %% band_of_indices
# Expected: passes


def sliding_window_mask(n, window, causal=True):
    mask = np.zeros((n, n), dtype=bool)
    for back in range(min(window, n)):
        at = np.arange(back, n)
        mask[at, at - back] = True
    return mask


# %% mask_on_all_scores
# Expected: sliding_window_attention: mul work mem


def sliding_window_attention(Q, K, V, window):
    scores = Q @ K.T / math.sqrt(Q.shape[1])  # <-- here
    scores = np.where(sliding_window_mask(len(Q), window), scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True) @ V


# %% einsum_of_all_pairs
# Expected: sliding_window_attention: mul work mem


def sliding_window_attention(Q, K, V, window):
    scores = np.einsum("id,jd->ij", Q, K) / math.sqrt(Q.shape[1])  # <-- here
    i, j = np.indices(scores.shape)
    scores[(j > i) | (j <= i - window)] = -np.inf
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.einsum("ij,je->ie", exps / exps.sum(axis=1, keepdims=True), V)


# %% broadcast_of_all_pairs
# Expected: sliding_window_attention: mul work mem


def sliding_window_attention(Q, K, V, window):
    scores = (Q[:, None] * K).sum(axis=-1) / math.sqrt(Q.shape[1])  # <-- here
    scores = np.where(sliding_window_mask(len(Q), window), scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True) @ V


# %% all_keys_for_each_token
# Expected: sliding_window_attention: mul work


def sliding_window_attention(Q, K, V, window):
    rows = []
    for i in range(len(Q)):
        scores = K @ Q[i] / math.sqrt(Q.shape[1])  # <-- here
        near = slice(max(0, i - window + 1), i + 1)
        exps = np.exp(scores[near] - scores[near].max())
        rows.append(exps / exps.sum() @ V[near])
    return np.array(rows)


# %% all_tokens_before
# Expected: sliding_window_attention: mul work


def sliding_window_attention(Q, K, V, window):
    rows = []
    for i in range(len(Q)):
        scores = K[: i + 1] @ Q[i] / math.sqrt(Q.shape[1])  # <-- here
        exps = np.exp(scores[-window:] - scores[-window:].max())
        rows.append(exps / exps.sum() @ V[: i + 1][-window:])
    return np.array(rows)


# %% weights_in_a_full_row
# Expected: sliding_window_attention: mul work mem


def sliding_window_attention(Q, K, V, window):
    weights = np.zeros((len(Q), len(K)))  # <-- here
    for i in range(len(Q)):
        near = slice(max(0, i - window + 1), i + 1)
        scores = K[near] @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max())
        weights[i, near] = exps / exps.sum()
    return weights @ V  # <-- here


# %% every_pair_is_asked
# Expected: sliding_window_attention: steps


def sliding_window_attention(Q, K, V, window):
    rows = []
    for i in range(len(Q)):
        near = [j for j in range(len(K)) if i - window < j <= i]  # <-- here
        scores = K[near] @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max())
        rows.append(exps / exps.sum() @ V[near])
    return np.array(rows)


# %% window_found_in_the_mask
# Expected: sliding_window_attention: work mem


def sliding_window_attention(Q, K, V, window):
    at = np.arange(len(Q))
    band = (at <= at[:, None]) & (at > at[:, None] - window)  # <-- here
    rows = []
    for i in range(len(Q)):
        near = slice(max(0, i - window + 1), i + 1)
        scores = K[near] @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max()) * band[i, near]
        rows.append(exps / exps.sum() @ V[near])
    return np.array(rows)


# %% keys_copied_for_each_token
# Expected: sliding_window_attention: work


def sliding_window_attention(Q, K, V, window):
    rows = []
    for i in range(len(Q)):
        near = K.copy()[max(0, i - window + 1) : i + 1]  # <-- here
        scores = near @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max())
        rows.append(exps / exps.sum() @ V[max(0, i - window + 1) : i + 1])
    return np.array(rows)


# %% result_grows_by_concatenation
# Expected: sliding_window_attention: work


def sliding_window_attention(Q, K, V, window):
    result = np.zeros((0, V.shape[1]))
    for i in range(len(Q)):
        near = slice(max(0, i - window + 1), i + 1)
        scores = K[near] @ Q[i] / math.sqrt(Q.shape[1])
        exps = np.exp(scores - scores.max())
        result = np.concatenate([result, (exps / exps.sum() @ V[near])[None]])  # <-- here
    return result


# %% weights_first
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    weights = feature_map(Q) @ feature_map(K).T  # <-- here
    weights = np.tril(weights) if causal else weights
    return weights @ V / weights.sum(axis=1, keepdims=True)


# %% weights_first_by_einsum
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    mask = np.tri(len(Q)) if causal else np.ones((len(Q), len(K)))
    weights = np.einsum("id,jd,ij->ij", q, k, mask)  # <-- here
    return np.einsum("ij,je->ie", weights, V) / np.einsum("ij->i", weights)[:, None]


# %% weights_first_only_if_causal
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    weights = np.tril(q @ k.T)  # <-- here
    return weights @ V / weights.sum(axis=1, keepdims=True)


# %% weights_first_only_if_not_causal
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if causal:
        states = np.cumsum(k[:, :, None] * V[:, None, :], axis=0)
        return (q[:, None] @ states)[:, 0] / (q * np.cumsum(k, axis=0)).sum(axis=1, keepdims=True)
    weights = q @ k.T  # <-- here
    return weights @ V / weights.sum(axis=1, keepdims=True)


# %% a_triangle_times_the_keys
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    sums = np.tri(len(K)) @ (k[:, :, None] * V[:, None, :]).reshape(len(K), -1)  # <-- here
    states = sums.reshape(len(K), K.shape[1], V.shape[1])
    return (q[:, None] @ states)[:, 0] / (q * np.cumsum(k, axis=0)).sum(axis=1, keepdims=True)


# %% one_row_of_weights_at_a_time
# Expected: linear_attention: mul work


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    rows = []
    for i in range(len(Q)):
        last = i + 1 if causal else len(K)
        weights = k[:last] @ q[i]  # <-- here
        rows.append(weights @ V[:last] / weights.sum())
    return np.array(rows)


# %% sums_from_the_beginning
# Expected: linear_attention: mul work


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    rows = []
    for i in range(len(Q)):
        state, total = k[: i + 1].T @ V[: i + 1], k[: i + 1].sum(axis=0)  # <-- here
        rows.append(q[i] @ state / (q[i] @ total))
    return np.array(rows)


# %% pieces_that_grow_with_n
# Expected: linear_attention: mul work mem


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
    size = len(Q) // 2
    state, total = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    rows = []
    for start in range(0, len(Q), size):
        part = slice(start, start + size)
        inside = np.tril(q[part] @ k[part].T)  # <-- here
        below = q[part] @ total + inside.sum(axis=1)
        rows.append((q[part] @ state + inside @ V[part]) / below[:, None])
        state, total = state + k[part].T @ V[part], total + k[part].sum(axis=0)
    return np.concatenate(rows)


# %% state_of_all_keys
# Expected: linear_attention_step: mul work mem


def linear_attention_step(state, q, k, v):
    q, k, v = feature_map(q), feature_map(k)[None], v[None]
    if state is not None:
        k, v = np.vstack([state[0], k]), np.vstack([state[1], v])
    weights = k @ q  # <-- here
    return (k, v), weights @ v / weights.sum()


# %% state_is_a_list_of_tokens
# Expected: linear_attention_step: steps mul work


def linear_attention_step(state, q, k, v):
    tokens = [*(state or []), (feature_map(k), v)]
    top, below = 0, 0
    for key, value in tokens:
        weight = feature_map(q) @ key  # <-- here
        top, below = top + weight * value, below + weight
    return tokens, top / below


# %% one_diagonal_after_another
# Expected: sliding_window_mask: work


def sliding_window_mask(n, window, causal=True):
    mask = np.zeros((n, n))
    for back in range(window):
        mask += np.eye(n, k=-back)  # <-- here
    return mask


# %% shifted_triangles_multiplied
# Expected: sliding_window_mask: work


def sliding_window_mask(n, window, causal=True):
    shift = np.eye(n, k=-1)
    mask, power = np.eye(n), np.eye(n)
    for _ in range(window - 1):
        power = power @ shift
        mask = mask + power  # <-- here
    return mask > 0
