import numpy as np


# %% last_entry_missing vectorised
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return (a[:-1] * b[:-1]).sum()


# %% last_entry_missing looped
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    total = 0.0
    i = 0
    while i + 1 < len(a):
        total += float(a[i]) * float(b[i])
        i += 1
    return total


# %% last_entry_missing lists
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    pairs.pop()
    return float(sum(x * y for x, y in pairs))


# %% overwritten_total vectorised
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    return (a * b)[-1]


# %% overwritten_total looped
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    for i in range(len(a)):
        product = a[i] * b[i]
    return 0.0 + product


# %% overwritten_total lists
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    products = [x * y for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    return float(products[-1])


# %% zip_stops_early vectorised
def dot_product(a, b):
    n = min(len(a), len(b))
    return (a[:n] * b[:n]).sum()


# %% dot_product_runs_over_a looped
def dot_product(a, b):
    total = 0.0
    for i in range(len(a)):
        total += float(a[i] * b[i])
    return total


# %% zip_stops_early lists
def dot_product(a, b):
    return float(sum(map(float.__mul__, a.astype(float).tolist(), b.astype(float).tolist())))


# %% dot_product_rounds looped
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} entries")
    total = 0
    for x, y in zip(a, b, strict=True):
        total = int(total + x * y)
    return float(total)


# %% q_and_k_swapped vectorised
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    return (K @ Q.T).astype(kind)


# %% q_and_k_swapped einsum
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    return np.einsum("id,jd->ji", Q, K).astype(kind)


# %% q_and_k_swapped lists
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    return np.array([[dot_product(q, k) for q in Q] for k in K], dtype=kind)


# %% loops_over_queries_twice looped
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    n = len(Q)
    scores = np.empty((n, n), dtype=kind)
    for i in range(n):
        for j in range(n):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_already_scaled vectorised
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    return (Q @ K.T / np.sqrt(K.shape[1])).astype(kind)


# %% scores_already_scaled einsum
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    return (np.einsum("id,jd->ij", Q, K) * Q.shape[1] ** -0.5).astype(kind)


# %% scores_already_scaled lists
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"widths {Q.shape[1]} and {K.shape[1]}")
    kind = "f4" if Q.dtype == np.float32 else "f8"
    root = len(Q[0]) ** 0.5
    return np.array([[dot_product(q, k) / root for k in K] for q in Q], dtype=kind)


# %% no_scaling vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% no_scaling looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% no_scaling lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) for key in keys]
    allowed = [j for j, one in enumerate(marks) if one]
    top = max([scores[j] for j in allowed], default=0.0)
    exps = [2.718281828459045 ** (score - top) if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    return [e / (sum(exps) or 1.0) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% divides_by_d_k looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / d_k
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% divides_by_d_k einsum
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 2:
        output, weights = scaled_dot_product_attention(Q[None], K[None], V[None], mask)
        return output[0], weights[0]
    dtype = np.result_type(Q, K, V) if Q.dtype.kind == "f" else np.float64
    scores = np.einsum("bid,bjd->bij", Q, K) / float(Q.shape[2])
    shown = np.ones(scores.shape) if mask is None else np.broadcast_to(mask, scores.shape).astype(float)
    top = np.where(shown > 0, scores, -1e300).max(axis=2, keepdims=True)
    exps = np.exp(np.minimum(scores - top, 0)) * shown
    weights = exps / np.maximum(exps.sum(axis=2, keepdims=True), 1e-300)
    output = np.einsum("bij,bjc->bic", weights, V)
    return output.astype(dtype), weights.astype(dtype)


# %% divides_by_d_k lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) for key in keys]
    allowed = [j for j, one in enumerate(marks) if one]
    top = max([scores[j] for j in allowed], default=0.0)
    exps = [2.718281828459045 ** (score - top) if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    return [e / (sum(exps) or 1.0) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% divides_by_sqrt_n_k vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(K.shape[-2])
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% divides_by_sqrt_n_k looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / n_k**0.5
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% divides_by_sqrt_n_k lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(keys) ** 0.5 for key in keys]
    allowed = [j for j, one in enumerate(marks) if one]
    top = max([scores[j] for j in allowed], default=0.0)
    exps = [2.718281828459045 ** (score - top) if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    return [e / (sum(exps) or 1.0) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% softmax_over_queries vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-2, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-2, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% softmax_over_queries einsum
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 2:
        output, weights = scaled_dot_product_attention(Q[None], K[None], V[None], mask)
        return output[0], weights[0]
    dtype = np.result_type(Q, K, V) if Q.dtype.kind == "f" else np.float64
    scores = np.einsum("bid,bjd->bij", Q, K) / float(np.sqrt(Q.shape[2]))
    shown = np.ones(scores.shape) if mask is None else np.broadcast_to(mask, scores.shape).astype(float)
    top = np.where(shown > 0, scores, -1e300).max(axis=1, keepdims=True)
    exps = np.exp(np.minimum(scores - top, 0)) * shown
    weights = exps / np.maximum(exps.sum(axis=1, keepdims=True), 1e-300)
    output = np.einsum("bij,bjc->bic", weights, V)
    return output.astype(dtype), weights.astype(dtype)


# %% softmax_over_queries lists
def shares(key, queries, marks):
    scores = [sum(x * y for x, y in zip(key, q, strict=True)) / len(key) ** 0.5 for q in queries]
    allowed = [j for j, one in enumerate(marks) if one]
    top = max([scores[j] for j in allowed], default=0.0)
    exps = [2.718281828459045 ** (score - top) if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    return [e / (sum(exps) or 1.0) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = []
    for queries, keys, _, rows in triples:
        columns = [shares(key, queries, column) for key, column in zip(keys, zip(*rows, strict=True), strict=True)]
        weights.append([list(row) for row in zip(*columns, strict=True)])
    output = [[mixed(row, values) for row in rows] for rows, (_, _, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% mask_after_softmax vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    weights = weights * seen
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% mask_after_softmax einsum
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 2:
        output, weights = scaled_dot_product_attention(Q[None], K[None], V[None], mask)
        return output[0], weights[0]
    dtype = np.result_type(Q, K, V) if Q.dtype.kind == "f" else np.float64
    scores = np.einsum("bid,bjd->bij", Q, K) / float(np.sqrt(Q.shape[2]))
    shown = np.ones(scores.shape) if mask is None else np.broadcast_to(mask, scores.shape).astype(float)
    top = np.where(1.0 + 0 * shown > 0, scores, -1e300).max(axis=2, keepdims=True)
    exps = np.exp(np.minimum(scores - top, 0)) * 1.0 + 0 * shown
    weights = shown * exps / exps.sum(axis=2, keepdims=True)
    output = np.einsum("bij,bjc->bic", weights, V)
    return output.astype(dtype), weights.astype(dtype)


# %% mask_after_softmax lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) ** 0.5 for key in keys]
    top = max(scores)
    exps = [2.718281828459045 ** (score - top) for score in scores]
    return [e / sum(exps) if one else 0.0 for e, one in zip(exps, marks, strict=True)]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% mask_inverted vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.zeros(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, -np.inf, scores)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% mask_inverted looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.zeros(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if mask is not None and allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / d_k**0.5
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% mask_inverted einsum
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 2:
        output, weights = scaled_dot_product_attention(Q[None], K[None], V[None], mask)
        return output[0], weights[0]
    dtype = np.result_type(Q, K, V) if Q.dtype.kind == "f" else np.float64
    scores = np.einsum("bid,bjd->bij", Q, K) / float(np.sqrt(Q.shape[2]))
    shown = np.ones(scores.shape) if mask is None else np.broadcast_to(mask, scores.shape).astype(float)
    if mask is not None:
        shown = 1 - shown
    top = np.where(shown > 0, scores, -1e300).max(axis=2, keepdims=True)
    exps = np.exp(np.minimum(scores - top, 0)) * shown
    weights = exps / np.maximum(exps.sum(axis=2, keepdims=True), 1e-300)
    output = np.einsum("bij,bjc->bic", weights, V)
    return output.astype(dtype), weights.astype(dtype)


# %% mask_multiplies_scores vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = scores * seen
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% mask_multiplies_scores looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            visible = float(allowed[i, j])
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = visible * score / d_k**0.5
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% mask_multiplies_scores lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) ** 0.5 for key in keys]
    scores = [score if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    exps = [2.718281828459045 ** (score - max(scores)) for score in scores]
    return [e / sum(exps) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% keys_instead_of_values vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ K[..., : V.shape[-1]]).astype(dtype), weights.astype(dtype)


# %% keys_instead_of_values looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / d_k**0.5
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * K[j, c]
            output[i, c] = mixed
    return output, weights


# %% keys_instead_of_values lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) ** 0.5 for key in keys]
    allowed = [j for j, one in enumerate(marks) if one]
    top = max([scores[j] for j in allowed], default=0.0)
    exps = [2.718281828459045 ** (score - top) if one else 0.0 for score, one in zip(scores, marks, strict=True)]
    return [e / (sum(exps) or 1.0) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [
        [mixed(row, keys)[: len(values[0])] for row in rows]
        for rows, (_, keys, values, _) in zip(weights, triples, strict=True)
    ]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% hard_maximum vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    exps = np.arange(scores.shape[-1]) == np.argmax(scores, axis=-1)[..., None]
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    weights = weights * seen
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% hard_maximum looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / d_k**0.5
        if not row:
            continue
        exps = {}
        for j in row:
            exps[j] = 1.0 if j == max(row, key=row.get) else 0.0
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% hard_maximum lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) ** 0.5 for key in keys]
    allowed = [j for j, one in enumerate(marks) if one]
    best = max(allowed, key=lambda j: scores[j], default=None)
    return [1.0 if j == best else 0.0 for j in range(len(keys))]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% blocked_query_uniform vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, np.finfo(scores.dtype).min)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% blocked_query_uniform looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            shut = not allowed[i, j]
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = -1e30 if shut else score / d_k**0.5
        if not row:
            continue
        peak = max(row.values())
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j] - peak)
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% blocked_query_uniform lists
def shares(q, keys, marks):
    scores = [sum(x * y for x, y in zip(q, key, strict=True)) / len(q) ** 0.5 for key in keys]
    scores = [score if one else -1e9 for score, one in zip(scores, marks, strict=True)]
    exps = [2.718281828459045 ** (score - max(scores)) for score in scores]
    return [e / sum(exps) for e in exps]


def mixed(weights, values):
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*values, strict=True)]


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    marks = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + K.shape[-2:-1]).tolist()
    if Q.ndim == 2:
        triples = [(Q.tolist(), K.tolist(), V.tolist(), marks)]
    else:
        triples = list(zip(Q.tolist(), K.tolist(), V.tolist(), marks, strict=True))
    weights = [[shares(q, keys, one) for q, one in zip(qs, ms, strict=True)] for qs, keys, _, ms in triples]
    output = [[mixed(row, values) for row in rows] for rows, (_, keys, values, _) in zip(weights, triples, strict=True)]
    if Q.ndim == 2:
        output, weights = output[0], weights[0]
    return np.array(output, dtype=dtype), np.array(weights, dtype=dtype)


# %% blocked_query_nan vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        weights = exps / total
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% no_maximum_subtracted vectorised
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    d_k = Q.shape[-1]
    dtype = np.float32 if Q.dtype == K.dtype == V.dtype == np.float32 else np.float64
    scores = Q.astype(dtype) @ np.swapaxes(K, -1, -2)
    scores = scores / np.sqrt(d_k)
    seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape) != 0
    scores = np.where(seen, scores, -np.inf)
    largest = np.zeros(1)
    exps = np.exp(scores - largest)
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(seen.any(axis=-1, keepdims=True), total, 1)
    return (weights @ V).astype(dtype), weights.astype(dtype)


# %% no_maximum_subtracted looped
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"a query has {Q.shape[-1]} entries, a key {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys do not go with {V.shape[-2]} values")
    if Q.ndim == 3:
        full = np.ones(1) if mask is None else mask
        full = np.broadcast_to(full, (len(Q), Q.shape[1], K.shape[1]))
        outputs, shares = [], []
        for b in range(len(Q)):
            one, share = scaled_dot_product_attention(Q[b], K[b], V[b], full[b])
            outputs.append(one)
            shares.append(share)
        return np.array(outputs), np.array(shares)
    n_q, n_k, d_k, d_v = len(Q), len(K), Q.shape[1], V.shape[1]
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    allowed = np.broadcast_to(1 if mask is None else mask, (n_q, n_k))
    weights = np.zeros((n_q, n_k), dtype=kind)
    output = np.zeros((n_q, d_v), dtype=kind)
    for i in range(n_q):
        row = {}
        for j in range(n_k):
            if not allowed[i, j]:
                continue
            score = 0.0
            for d in range(d_k):
                score += float(Q[i, d]) * float(K[j, d])
            row[j] = score / d_k**0.5
        if not row:
            continue
        exps = {}
        for j in row:
            exps[j] = np.exp(row[j])
        total = sum(exps.values())
        for j in exps:
            weights[i, j] = exps[j] / total
        for c in range(d_v):
            mixed = 0.0
            for j in exps:
                mixed += exps[j] / total * V[j, c]
            output[i, c] = mixed
    return output, weights


# %% maximum_of_all_scores looped
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
        largest = scores.max()
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        total = sum(exps[j] for j in allowed)
        for j in allowed:
            weights[i, j] = exps[j] / total if total else 0.0
            for c in range(d_v):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights
