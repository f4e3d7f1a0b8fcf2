import math

import numpy as np


# %% zip_in_a_generator
# sum(...) over zip(...), as in a first course on Python.
# Expected: zip_stops_early
def dot_product(a, b):
    return sum(x * y for x, y in zip(a, b))


# %% loop_over_the_first
# range(len(a)), and nothing is compared.
# Expected: dot_product_runs_over_a
def dot_product(a, b):
    result = 0
    for i in range(len(a)):
        result += a[i] * b[i]
    return result


# %% assertion
# assert, in place of an exception.
# Expected: dot_product_asserts
def dot_product(a, b):
    assert len(a) == len(b), f"length mismatch: {len(a)} vs {len(b)}"
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


# %% strict_zip
# zip(..., strict=True) refuses, but names no lengths.
# Expected: dot_product_error_without_lengths
def dot_product(a, b):
    return sum([x * y for x, y in zip(a, b, strict=True)])


# %% message_without_lengths
# The message says only that something is wrong.
# Expected: dot_product_error_without_lengths
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError("Vectors must have the same length")
    res = 0.0
    for i in range(len(a)):
        res += a[i] * b[i]
    return res


# %% return_in_the_loop
# return is indented too far.
# Expected: returns_in_the_loop
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
        return total


# %% counts_from_one
# range(1, n), as in a language whose arrays begin at 1.
# Expected: first_entry_missing
def dot_product(a, b):
    n = len(a)
    if n != len(b):
        raise ValueError(f"lengths {n} and {len(b)} differ")
    acc = 0.0
    for i in range(1, n):
        acc += a[i] * b[i]
    return acc


# %% products_in_a_list
# The products are collected, and never added up.
# Expected: products_not_added
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError("lengths: %d, %d" % (len(a), len(b)))
    products = []
    for x, y in zip(a, b):
        products.append(x * y)
    return products


# %% array_of_products
# a * b, and nothing is added up.
# Expected: products_in_an_array
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)}")
    return np.multiply(a, b)


# %% two_loops
# One loop in the other: every entry of a meets every entry of b.
# Expected: product_of_sums
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths differ: {len(a)} and {len(b)}")
    total = 0.0
    for x in a:
        for y in b:
            total += x * y
    return total


# %% sums_of_entries
# a[i] + b[i].
# Expected: entries_added
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths differ: {len(a)} and {len(b)}")
    total = 0.0
    for i in range(len(a)):
        total += a[i] + b[i]
    return total


# %% array_of_one
# The total is an array of length 1.
# Expected: total_in_an_array
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths differ: {len(a)} and {len(b)}")
    c = np.zeros(1)
    for i in range(len(a)):
        c += a[i] * b[i]
    return c


# %% three_loops
# Three loops over np.zeros((n, m)), without a check.
# Expected: widths_not_checked or scores_upcast_float32 or attention_upcasts_float32
def attention_scores(Q, K):
    n, m, d = Q.shape[0], K.shape[0], Q.shape[1]
    S = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(d):
                S[i, j] += Q[i, k] * K[j, k]
    return S


# %% three_loops_over_the_width_of_keys
# The same, with the width of the keys.
# Expected: widths_not_checked or scores_upcast_float32
def attention_scores(Q, K):
    n_k, d_k = K.shape
    out = np.zeros((len(Q), n_k), dtype=Q.dtype if np.issubdtype(Q.dtype, np.floating) else float)
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            s = 0
            for d in range(min(d_k, len(q))):
                s += q[d] * k[d]
            out[i, j] = s
    return out


# %% list_of_lists
# A list of lists comes back.
# Expected: scores_in_lists
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    return [[float(dot_product(q, k)) for k in K] for q in Q]


# %% array_of_lists
# np.array of lists: integers stay integers.
# Expected: scores_of_input_dtype
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    return np.array([[sum(q[t] * k[t] for t in range(len(q))) for k in K] for q in Q])


# %% transposed_keys
# The rows of K.T, as in the formula QK^T.
# Expected: columns_of_keys
def attention_scores(Q, K):
    KT = K.T
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    scores = np.zeros((Q.shape[0], K.shape[0]))
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            scores[i][j] = dot_product(Q[i], KT[j])
    return scores


# %% square_table
# n, d = Q.shape, and a table of n times n.
# Expected: loops_over_queries_twice or scores_upcast_float32
def attention_scores(Q, K):
    n, d = Q.shape
    if d != K.shape[1]:
        raise ValueError(f"d is {d}, but K has {K.shape[1]}")
    scores = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% last_product_only
# = where += belongs, in the innermost loop.
# Expected: scores_overwritten
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=np.result_type(Q, K, np.float32))
    for i in range(len(Q)):
        for j in range(len(K)):
            for d in range(Q.shape[1]):
                scores[i, j] = Q[i, d] * K[j, d]
    return scores


# %% total_never_reset
# The total is set to 0 before the loops, not inside them.
# Expected: total_runs_on
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)))
    total = 0.0
    for i in range(len(Q)):
        for j in range(len(K)):
            for d in range(Q.shape[1]):
                total += Q[i, d] * K[j, d]
            scores[i, j] = total
    return scores


# %% scaled_here
# The scale is in the first function already.
# Expected: scores_already_scaled
def attention_scores(Q, K):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"{d_k} vs {K.shape[-1]}")
    scores = np.zeros((Q.shape[0], K.shape[0]))
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            scores[i, j] = dot_product(Q[i], K[j]) / math.sqrt(d_k)
    return scores


# %% shapes_in_words
# The message has no sizes.
# Expected: scores_error_without_widths
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError("dimension mismatch between Q and K")
    scores = np.zeros((len(Q), len(K)), dtype=np.float32 if Q.dtype == K.dtype == np.float32 else np.float64)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% flat_list
# All scores in one row.
# Expected: scores_in_one_row
def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} columns, K has {K.shape[1]}")
    scores = []
    for q in Q:
        for k in K:
            scores.append(dot_product(q, k))
    return np.array(scores)


# %% factor_for_multiplying
# 1 / sqrt(d_k), as a factor to multiply by; variance is not used.
# Expected: inverse_scale or scale_ignores_variance
def scale_factor(d_k, variance=1.0):
    return 1.0 / math.sqrt(d_k)


# %% only_the_root
# d_k ** 0.5.
# Expected: scale_ignores_variance
def scale_factor(d_k, variance=1.0):
    return d_k**0.5


# %% divided_by_variance
# sqrt(d_k) / variance.
# Expected: scale_divided_by_variance or attention_upcasts_float32
def scale_factor(d_k, variance=1.0):
    return np.sqrt(d_k) / variance


# %% root_of_the_product
# sqrt(d_k * variance).
# Expected: variance_under_the_root
def scale_factor(d_k, variance=1.0):
    return math.sqrt(d_k * variance)


# %% variance_of_the_sum
# The variance of the dot product, without the root.
# Expected: scale_is_the_variance or scale_without_root or variance_squared
def scale_factor(d_k, variance=1.0):
    return d_k * variance**2


# %% root_of_d_k_rounded
# round(..., 2).
# Expected: scale_rounded
def scale_factor(d_k, variance=1.0):
    return round(variance * math.sqrt(d_k), 2)


# %% no_scale
# Straight from the scores to exp, in loops, without a mask.
# Expected: no_scaling or mask_ignored
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        parts = [
            scaled_dot_product_attention(Q[b], K[b], V[b], None if mask is None else np.broadcast_to(mask, (len(Q), Q.shape[1], K.shape[1]))[b])
            for b in range(len(Q))
        ]
        return np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
    if len(K) != len(V):
        raise ValueError(f"{len(K)} keys, {len(V)} values")
    scores = attention_scores(Q, K)
    weights = np.zeros(scores.shape)
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        row = np.exp(scores[i] - max(scores[i]))
        if mask is not None:
            row = row * (np.broadcast_to(mask, scores.shape)[i] != 0)
        s = sum(row)
        for j in range(len(K)):
            weights[i, j] = row[j] / s if s else 0
            for c in range(V.shape[1]):
                out[i, c] += weights[i, j] * V[j, c]
    return out, weights


# %% first_version
# What a student writes first: no mask, no batch, no maximum, nothing refused.
# Expected: mask_and_maximum_missing or mask_ignored or no_maximum_subtracted or attention_upcasts_float32
def scaled_dot_product_attention(Q, K, V, mask=None):
    n_q, d_k = Q.shape
    n_k, d_v = V.shape
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros((n_q, n_k))
    for i in range(n_q):
        total = 0
        for j in range(n_k):
            weights[i, j] = np.exp(scores[i, j])
            total += weights[i, j]
        for j in range(n_k):
            weights[i, j] /= total
    output = np.zeros((n_q, d_v))
    for i in range(n_q):
        for c in range(d_v):
            for j in range(n_k):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% softmax_of_the_table
# exp(scores) / exp(scores).sum(): one sum for the table.
# Expected: softmax_over_everything
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k: {Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n_k: {K.shape[-2]} and {V.shape[-2]}")
    if Q.ndim == 3:
        full = np.broadcast_to(1 if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
        both = [scaled_dot_product_attention(q, k, v, m) for q, k, v, m in zip(Q, K, V, full)]
        return np.stack([b[0] for b in both]), np.stack([b[1] for b in both])
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    allowed = np.broadcast_to(1 if mask is None else mask, scores.shape) != 0
    scores = np.where(allowed, scores, -np.inf)
    exp_scores = np.exp(scores - np.max(scores))
    weights = exp_scores / np.sum(exp_scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=weights.dtype)
    for i in range(len(Q)):
        for j in range(len(K)):
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% columns_divided
# np.sum(..., axis=0).
# Expected: softmax_over_queries
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k: {Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n_k: {K.shape[-2]} and {V.shape[-2]}")
    if Q.ndim == 3:
        full = np.broadcast_to(1 if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
        both = [scaled_dot_product_attention(q, k, v, m) for q, k, v, m in zip(Q, K, V, full)]
        return np.stack([b[0] for b in both]), np.stack([b[1] for b in both])
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    allowed = np.broadcast_to(1 if mask is None else mask, scores.shape) != 0
    e = np.exp(np.where(allowed, scores - np.max(scores, axis=0), -np.inf))
    total = e.sum(axis=0)
    weights = e / np.where(total == 0, 1, total)
    output = np.zeros((len(Q), V.shape[1]), dtype=weights.dtype)
    for i in range(len(Q)):
        for c in range(V.shape[1]):
            output[i, c] = sum(weights[i, j] * V[j, c] for j in range(len(K)))
    return output, weights


# %% shape_zero
# d_k is taken from K.shape[0].
# Expected: divides_by_sqrt_n_k
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q {Q.shape}, K {K.shape}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K {K.shape}, V {V.shape}")
    if Q.ndim == 3:
        if mask is not None:
            mask = np.broadcast_to(mask, (Q.shape[0], Q.shape[1], K.shape[1]))
        outs, ws = [], []
        for b in range(Q.shape[0]):
            o, w = scaled_dot_product_attention(Q[b], K[b], V[b], None if mask is None else mask[b])
            outs.append(o)
            ws.append(w)
        return np.array(outs), np.array(ws)
    d_k = K.shape[0]
    scores = attention_scores(Q, K) / float(np.sqrt(d_k))
    return _mix(scores, V, mask)


def _mix(scores, V, mask):
    """Softmax and mix the values, in loops."""
    n_q, n_k = scores.shape
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, V.shape[1]), dtype=scores.dtype)
    if mask is not None:
        mask = np.broadcast_to(mask, scores.shape)
    for i in range(n_q):
        ok = [mask is None or mask[i, j] != 0 for j in range(n_k)]
        if not any(ok):
            continue
        m = max(scores[i, j] for j in range(n_k) if ok[j])
        z = 0.0
        for j in range(n_k):
            if ok[j]:
                weights[i, j] = np.exp(scores[i, j] - m)
                z += weights[i, j]
        for j in range(n_k):
            weights[i, j] /= z
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% shape_zero_of_queries
# d_k is taken from Q.shape[0].
# Expected: divides_by_sqrt_n_q
def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q {Q.shape}, K {K.shape}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K {K.shape}, V {V.shape}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    d_k = Q.shape[0]
    scores = attention_scores(Q, K) / float(d_k) ** 0.5
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% numpy_root
# np.sqrt makes a float64 of float32.
# Expected: attention_upcasts_float32
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / np.sqrt(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% maximum_from_zero
# The search for the maximum starts at 0, as in C.
# Expected: maximum_starts_at_0
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        biggest = 0
        for j in range(len(K)):
            if full[i, j] and scores[i, j] > biggest:
                biggest = scores[i, j]
        z = 0.0
        for j in range(len(K)):
            if full[i, j]:
                weights[i, j] = np.exp(scores[i, j] - biggest)
                z += weights[i, j]
        for j in range(len(K)):
            weights[i, j] = weights[i, j] / z if z > 0 else 0
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% one_maximum
# np.max(scores): one maximum for all queries.
# Expected: maximum_of_all_scores
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    exps = np.exp(scores - np.max(scores)) * (full != 0)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        z = 0.0
        for j in range(len(K)):
            z += exps[i, j]
        if z == 0:
            continue
        for j in range(len(K)):
            weights[i, j] = exps[i, j] / z
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% sum_never_reset
# The sum of the exponentials is set to 0 before the loop over the queries.
# Expected: sum_runs_on
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    denominator = 0.0
    for i in range(len(Q)):
        allowed = [j for j in range(len(K)) if full[i, j]]
        if not allowed:
            continue
        m = max(scores[i, j] for j in allowed)
        for j in allowed:
            weights[i, j] = np.exp(scores[i, j] - m)
            denominator += weights[i, j]
        for j in allowed:
            weights[i, j] /= denominator
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% minus_1e9
# Blocked scores are -1e9; a query without an allowed key gets the mean of the values.
# Expected: blocked_query_uniform
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(1 if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    for i in range(len(Q)):
        for j in range(len(K)):
            if full[i, j] == 0:
                scores[i, j] = -1e9
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        m = max(scores[i])
        e = [math.exp(s - m) for s in scores[i]]
        z = sum(e)
        for j in range(len(K)):
            weights[i, j] = e[j] / z
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% minus_infinity
# Blocked scores are -inf; a query without an allowed key gives NaN.
# Expected: blocked_query_nan
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = np.where(full, attention_scores(Q, K) / scale_factor(d_k), -np.inf)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        e = np.exp(scores[i] - scores[i].max())
        row = e / e.sum()
        weights[i] = row
        for c in range(V.shape[1]):
            for j in range(len(K)):
                output[i, c] += row[j] * V[j, c]
    return output, weights


# %% mask_added
# scores + mask, as PyTorch does with a mask of floats.
# Expected: mask_added
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    if Q.ndim == 3:
        full = np.broadcast_to(0 if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    if mask is not None:
        scores = scores + mask
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        m = max(scores[i])
        e = [np.exp(s - m) for s in scores[i]]
        for j in range(len(K)):
            weights[i, j] = e[j] / sum(e)
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_times_minus_1e9
# scores += mask * -1e9, where 1 means blocked, as in a well-known tutorial.
# Expected: mask_inverted or mask_times_minus_1e9
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    if Q.ndim == 3:
        full = np.broadcast_to(0 if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    if mask is not None:
        scores += mask * -1e9
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        m = max(scores[i])
        e = [np.exp(s - m) for s in scores[i]]
        for j in range(len(K)):
            weights[i, j] = e[j] / sum(e)
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% only_the_output
# The output comes back, without the weights.
# Expected: returns_output_only
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        return np.stack([scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                for c in range(V.shape[1]):
                    output[i, c] += exps[j] / z * V[j, c]
    return output


# %% only_the_weights
# The weights come back: V is not used.
# Expected: returns_weights_only
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        return np.stack([scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights = np.zeros_like(scores)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            z = sum(np.exp(scores[i, j] - m) for j in seen)
            for j in seen:
                weights[i, j] = np.exp(scores[i, j] - m) / z
    return weights


# %% weights_first
# return weights, output.
# Expected: weights_returned_first
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return weights, output


# %% last_value_only
# = where += belongs, in the loop over the keys.
# Expected: output_of_the_last_key
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
        for j in range(len(K)):
            for c in range(V.shape[1]):
                output[i, c] = weights[i, j] * V[j, c]
    return output, weights


# %% width_of_keys
# The output has the width of the keys: d_v is taken to be d_k.
# Expected: output_as_wide_as_keys
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros(Q.shape, dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% weights_rounded
# The weights are rounded to four decimals, as in the lesson.
# Expected: weights_rounded_to_4_decimals
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = round(exps[j] / z, 4)
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% epsilon_in_the_sum
# 1e-8 is added to the sum, against a division by 0.
# Expected: attention_epsilon_of_1e_8
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K and V do not match: {K.shape[-2]}, {V.shape[-2]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        m = max((scores[i, j] for j in range(len(K)) if full[i, j]), default=0)
        e = [math.exp(scores[i, j] - m) if full[i, j] else 0.0 for j in range(len(K))]
        z = sum(e) + 1e-8
        for j in range(len(K)):
            weights[i, j] = e[j] / z
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% lengths_not_compared
# range(len(K)): further values are left out without a word.
# Expected: lengths_not_checked
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    if d_k != K.shape[-1]:
        raise ValueError(f"Q and K do not match: {d_k}, {K.shape[-1]}")
    full = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], full[b]) for b in range(len(Q))]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        seen = [j for j in range(len(K)) if full[i, j]]
        if seen:
            m = max(scores[i, j] for j in seen)
            exps = {j: np.exp(scores[i, j] - m) for j in seen}
            z = sum(exps.values())
            for j in seen:
                weights[i, j] = exps[j] / z
                for c in range(V.shape[1]):
                    output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% own_loops_without_the_scale
# Everything in one function, in loops, and the scale is forgotten.
# Expected: no_scaling
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k differs: {Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n_k differs: {K.shape[-2]} != {V.shape[-2]}")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    mask = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        out, wts = zip(*(scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))))
        return np.stack(out), np.stack(wts)
    out, wts = np.zeros((len(Q), V.shape[1]), dtype), np.zeros((len(Q), len(K)), dtype)
    for i in range(len(Q)):
        s = []
        for j in range(len(K)):
            s.append(sum(float(Q[i, t]) * float(K[j, t]) for t in range(Q.shape[1])))
        keys = [j for j in range(len(K)) if mask[i, j]]
        if not keys:
            continue
        top = max(s[j] for j in keys)
        z = sum(math.exp(s[j] - top) for j in keys)
        for j in keys:
            wts[i, j] = math.exp(s[j] - top) / z
            for c in range(V.shape[1]):
                out[i, c] += wts[i, j] * V[j, c]
    return out, wts


# %% own_loops_with_d_k
# Everything in one function, and the scores are divided by d_k.
# Expected: divides_by_d_k
def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k differs: {Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n_k differs: {K.shape[-2]} != {V.shape[-2]}")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    mask = np.broadcast_to(True if mask is None else mask, Q.shape[:-1] + (K.shape[-2],))
    if Q.ndim == 3:
        out, wts = zip(*(scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))))
        return np.stack(out), np.stack(wts)
    d_k = Q.shape[1]
    out, wts = np.zeros((len(Q), V.shape[1]), dtype), np.zeros((len(Q), len(K)), dtype)
    for i in range(len(Q)):
        s = [sum(float(Q[i, t]) * float(K[j, t]) for t in range(d_k)) / d_k for j in range(len(K))]
        keys = [j for j in range(len(K)) if mask[i, j]]
        if not keys:
            continue
        top = max(s[j] for j in keys)
        z = sum(math.exp(s[j] - top) for j in keys)
        for j in keys:
            wts[i, j] = math.exp(s[j] - top) / z
            for c in range(V.shape[1]):
                out[i, c] += wts[i, j] * V[j, c]
    return out, wts


# %% no_batch
# Two dimensions only: n_q, d_k = Q.shape.
# Expected: no name: the exception says it, with its line
def scaled_dot_product_attention(Q, K, V, mask=None):
    n_q, d_k = Q.shape
    if d_k != K.shape[1]:
        raise ValueError(f"d_k differs: {d_k} != {K.shape[1]}")
    if len(K) != len(V):
        raise ValueError(f"n_k differs: {len(K)} != {len(V)}")
    mask = np.broadcast_to(True if mask is None else mask, (n_q, len(K)))
    scores = attention_scores(Q, K) / scale_factor(d_k)
    weights, output = np.zeros_like(scores), np.zeros((n_q, V.shape[1]), dtype=scores.dtype)
    for i in range(n_q):
        keys = [j for j in range(len(K)) if mask[i, j]]
        if not keys:
            continue
        top = max(scores[i, j] for j in keys)
        z = sum(np.exp(scores[i, j] - top) for j in keys)
        for j in keys:
            weights[i, j] = np.exp(scores[i, j] - top) / z
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights
