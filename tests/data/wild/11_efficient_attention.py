import math

import numpy as np

# %% loop_from_i_minus_window
# range(max(0, i - window), i + 1): one token too many.
# Expected: mask_one_too_wide


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window must be positive, got {window}")
    mask = np.zeros((n, n))
    for i in range(n):
        if causal:
            for j in range(max(0, i - window), i + 1):
                mask[i, j] = 1
        else:
            for j in range(max(0, i - window + 1), min(n, i + window)):
                mask[i, j] = 1
    return mask


# %% less_or_equal
# abs(i - j) <= window on both branches.
# Expected: mask_one_too_wide or mask_both_sides_too_wide


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window must be positive, got {window}")
    idx = np.arange(n)
    diff = idx[:, None] - idx[None, :]
    if causal:
        return (diff >= 0) & (diff <= window)
    return np.abs(diff) <= window


# %% half_on_each_side
# window // 2 on each side, as in a well-known long model.
# Expected: mask_both_sides_share_the_window


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError("window is {}".format(window))
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    if causal:
        return ((j <= i) & (j > i - window)).astype(int)
    half = window // 2
    return (np.abs(i - j) <= half).astype(int)


# %% two_triangles_unchecked
# np.tril times np.triu; nothing is refused.
# Expected: mask_nothing_refused


def sliding_window_mask(n, window, causal=True):
    ones = np.ones((n, n), dtype=bool)
    if causal:
        return np.tril(ones) & np.triu(ones, -(window - 1))
    return np.tril(ones, window - 1) & np.triu(ones, -(window - 1))


# %% mask_with_an_assert
# assert window >= 1.
# Expected: mask_asserts


def sliding_window_mask(n, window, causal=True):
    assert window >= 1, f"window must be at least 1, got {window}"
    i = np.arange(n).reshape(n, 1)
    j = np.arange(n).reshape(1, n)
    return (j <= i) & (i - j < window) if causal else abs(i - j) < window


# %% minus_infinity_mask
# 0 and -inf, ready to be added.
# Expected: mask_additive


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window {window} < 1")
    i, j = np.ogrid[:n, :n]
    allowed = (i - window < j) & (j <= i) if causal else np.abs(i - j) < window
    return np.where(allowed, 0.0, -np.inf)


# %% window_from_i_minus_window
# K[max(0, i - window) : i + 1] for each token.
# Expected: window_one_too_wide


def sliding_window_attention(Q, K, V, window):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window={window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    out = np.zeros(V.shape, dtype=np.result_type(Q, np.float32))
    for i in range(Q.shape[-2]):
        start = max(0, i - window)
        k, v = K[..., start : i + 1, :], V[..., start : i + 1, :]
        s = (Q[..., i : i + 1, :] @ np.swapaxes(k, -1, -2)) / math.sqrt(Q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        out[..., i : i + 1, :] = (p / p.sum(-1, keepdims=True)) @ v
    return out


# %% bare_exponential
# np.exp(s) / np.sum(np.exp(s)), for one sequence at a time.
# Expected: window_without_maximum


def sliding_window_attention(Q, K, V, window):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window={window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    n, d_k = Q.shape[-2:]
    out = np.zeros(V.shape, dtype=np.result_type(Q, np.float32))
    for b in np.ndindex(Q.shape[:-2]):
        for i in range(n):
            lo = max(0, i - window + 1)
            scores = K[b][lo : i + 1] @ Q[b][i] / np.sqrt(d_k)
            weights = np.exp(scores) / np.sum(np.exp(scores))
            out[b][i] = weights @ V[b][lo : i + 1]
    return out


# %% negative_start
# K[i - window + 1 : i + 1], also where that begins below 0.
# Expected: no name: it only raises


def sliding_window_attention(Q, K, V, window):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window={window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    out = np.zeros(V.shape, dtype=np.result_type(Q, np.float32))
    for i in range(Q.shape[-2]):
        k, v = K[..., i - window + 1 : i + 1, :], V[..., i - window + 1 : i + 1, :]
        s = np.einsum("...d,...kd->...k", Q[..., i, :], k) / math.sqrt(Q.shape[-1])
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        out[..., i, :] = np.einsum("...k,...kd->...d", p / p.sum(axis=-1, keepdims=True), v)
    return out


# %% output_like_v
# np.zeros_like(V) and np.empty_like: integers are cut.
# Expected: window_cut_to_integers


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window={window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    out = np.zeros_like(V)
    for i in range(Q.shape[-2]):
        w = slice(max(0, i + 1 - window), i + 1)
        s = (K[..., w, :] @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        e = np.exp(s - np.max(s, axis=-1, keepdims=True))
        e /= e.sum(axis=-1, keepdims=True)
        out[..., i, :] = (e[..., None] * V[..., w, :]).sum(axis=-2)
    return out


# %% default_zeros
# np.zeros(shape) for the output: always float64.
# Expected: window_upcasts_float32


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window={window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K: {K.shape[-2]}, V: {V.shape[-2]}")
    out = np.zeros(V.shape)
    for i in range(Q.shape[-2]):
        w = slice(max(0, i + 1 - window), i + 1)
        s = (K[..., w, :] @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        e = np.exp(s - np.max(s, axis=-1, keepdims=True))
        out[..., i, :] = ((e / e.sum(axis=-1, keepdims=True))[..., None] * V[..., w, :]).sum(axis=-2)
    return out


# %% window_asserted
# assert for the window and the sizes.
# Expected: window_asserts


def sliding_window_attention(Q, K, V, window):
    assert window >= 1, f"window must be >= 1, got {window}"
    assert Q.shape[-1] == K.shape[-1], f"d_k differs: {Q.shape[-1]} vs {K.shape[-1]}"
    assert K.shape[-2] == V.shape[-2], f"n differs: {K.shape[-2]} vs {V.shape[-2]}"
    out = np.zeros(V.shape, dtype=np.result_type(Q, np.float32))
    for i in range(Q.shape[-2]):
        w = slice(max(0, i + 1 - window), i + 1)
        s = (K[..., w, :] @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        e = np.exp(s - np.max(s, axis=-1, keepdims=True))
        out[..., i, :] = ((e / e.sum(axis=-1, keepdims=True))[..., None] * V[..., w, :]).sum(axis=-2)
    return out


# %% window_unchecked
# Nothing is looked at.
# Expected: no name: which errors NumPy raises depends on the style


def sliding_window_attention(Q, K, V, window):
    out = np.zeros(V.shape, dtype=np.result_type(Q, np.float32))
    for i in range(Q.shape[-2]):
        start = max(0, i - window + 1)
        s = np.einsum("...d,...kd->...k", Q[..., i, :], K[..., start : i + 1, :]) / math.sqrt(Q.shape[-1])
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p = p / p.sum(axis=-1, keepdims=True)
        out[..., i, :] = np.einsum("...k,...kd->...d", p, V[..., start : i + 1, :])
    return out


# %% elu_of_pytorch
# elu as PyTorch has it; the + 1 is forgotten.
# Expected: feature_without_plus_one


def feature_map(x):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


# %% maximum_plus_one
# np.maximum(x, 0) + 1.
# Expected: feature_relu_plus_one


def feature_map(x):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(float)
    return np.maximum(x, 0) + 1


# %% filled_where
# zeros_like, and two masks: integers stay integers.
# Expected: feature_cut_to_integers


def feature_map(x):
    out = np.zeros_like(x)
    out[x > 0] = x[x > 0] + 1
    out[x <= 0] = np.exp(x[x <= 0])
    return out


# %% epsilon_of_the_paper
# / (z + 1e-6), as in the published code.
# Expected: linear_adds_epsilon


def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    eps = 1e-6
    q, k = feature_map(Q), feature_map(K)
    if causal:
        kv = np.cumsum(np.einsum("...nd,...nm->...ndm", k, V), axis=-3)
        z = 1 / (np.einsum("...nd,...nd->...n", q, np.cumsum(k, axis=-2)) + eps)
        return np.einsum("...nd,...ndm,...n->...nm", q, kv, z)
    kv = np.einsum("...nd,...nm->...dm", k, V)
    z = 1 / (np.einsum("...nd,...d->...n", q, k.sum(axis=-2)) + eps)
    return np.einsum("...nd,...dm,...n->...nm", q, kv, z)


# %% no_denominator
# phi(Q) (phi(K)^T V), and no normaliser.
# Expected: linear_without_normaliser


def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    if causal:
        kv = np.cumsum(k[..., None] * np.asarray(V)[..., None, :], axis=-3)
        return np.matmul(q[..., None, :], kv).squeeze(-2)
    return q @ (np.swapaxes(k, -1, -2) @ V)


# %% scaled_as_always
# Q / sqrt(d), as in every attention before.
# Expected: linear_scaled


def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q / math.sqrt(Q.shape[-1])), feature_map(K)
    if causal:
        kv, z = np.cumsum(k[..., None] * V[..., None, :], axis=-3), np.cumsum(k, axis=-2)
        return np.einsum("...nd,...nde->...ne", q, kv) / np.sum(q * z, axis=-1)[..., None]
    return q @ (k.swapaxes(-1, -2) @ V) / (q @ k.sum(axis=-2)[..., None])


# %% causal_not_written
# The argument is there, and nothing reads it.
# Expected: linear_causal_ignored


def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    numerator = q @ (np.swapaxes(k, -2, -1) @ V)
    denominator = q @ k.sum(axis=-2, keepdims=True).swapaxes(-2, -1)
    return numerator / denominator


# %% transpose_of_a_batch
# k.T and axis=0: for one sequence only.
# Expected: no name: it only raises


def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return (q @ (k.T @ V)) / (q @ k.sum(axis=0))[:, None]
    n, d = q.shape
    S, z, out = np.zeros((d, V.shape[1])), np.zeros(d), []
    for i in range(n):
        S, z = S + np.outer(k[i], V[i]), z + k[i]
        out.append(q[i] @ S / (q[i] @ z))
    return np.array(out, dtype=q.dtype)


# %% linear_unchecked
# Nothing is looked at; einsum and matmul raise errors of their own.
# Expected: linear_widths_not_refused or linear_lengths_not_refused


def linear_attention(Q, K, V, causal=False):
    q, k = feature_map(Q), feature_map(K)
    if causal:
        S = np.cumsum(np.einsum("...nd,...ne->...nde", k, V), axis=-3)
        return np.einsum("...nd,...nde->...ne", q, S) / np.einsum("...nd,...nd->...n", q, np.cumsum(k, -2))[..., None]
    S = np.einsum("...nd,...ne->...de", k, V)
    return np.einsum("...nd,...de->...ne", q, S) / np.einsum("...nd,...d->...n", q, k.sum(axis=-2))[..., None]


# %% state_in_place
# S += and z += on the arrays of the state.
# Expected: step_changes_the_state_in_place


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    if state is None:
        state = (np.zeros((*k.shape, v.shape[-1]), dtype=k.dtype), np.zeros(k.shape, dtype=k.dtype))
    S, z = state
    S += k[..., :, None] * v[..., None, :]
    z += k
    return (S, z), np.einsum("...d,...de->...e", q, S) / np.sum(q * z, axis=-1, keepdims=True)


# %% outer
# np.outer, which flattens a batch.
# Expected: no name: it only raises


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    S, z = (0, 0) if state is None else state
    S = S + np.outer(k, v)
    z = z + k
    return (S, z), q @ S / (q @ z)


# %% step_with_epsilon
# + 1e-6 in the denominator of a step.
# Expected: step_adds_epsilon


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    S, z = (0, 0) if state is None else state
    S = S + np.einsum("...d,...e->...de", k, v)
    z = z + k
    den = np.einsum("...d,...d->...", q, z)[..., None] + 1e-6
    return (S, z), np.einsum("...d,...de->...e", q, S) / den


# %% output_then_state
# return out, state.
# Expected: step_output_first


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    phi_q, phi_k = feature_map(q), feature_map(k)
    S, z = state if state is not None else (0, 0)
    S = S + phi_k[..., None] * np.asarray(v)[..., None, :]
    z = z + phi_k
    out = (phi_q[..., None] * S).sum(axis=-2) / (phi_q * z).sum(axis=-1, keepdims=True)
    return out, (S, z)


# %% read_then_write
# The output is read from the old state, which needs a guess for the first token.
# Expected: no name: rare, as the first token needs a case of its own


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    phi_q, phi_k = feature_map(q), feature_map(k)
    v = np.asarray(v)
    new = phi_k[..., None] * v[..., None, :]
    if state is None:
        return (new, phi_k), v.astype(phi_q.dtype)
    S, z = state
    out = (phi_q[..., None] * S).sum(axis=-2) / (phi_q * z).sum(axis=-1, keepdims=True)
    return (S + new, z + phi_k), out


# %% state_of_default_zeros
# np.zeros((d_k, d_v)) for the first state: float64 from then on.
# Expected: step_upcasts_float32


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    S, z = (np.zeros((k.shape[-1], v.shape[-1])), np.zeros(k.shape[-1])) if state is None else state
    S = S + k[..., :, None] * v[..., None, :]
    z = z + k
    return (S, z), (q[..., None, :] @ S)[..., 0, :] / (q * z).sum(axis=-1, keepdims=True)


# %% linear_asserted
# assert for the sizes.
# Expected: linear_asserts


def linear_attention(Q, K, V, causal=False):
    assert Q.shape[-1] == K.shape[-1], f"Q and K have different widths: {Q.shape[-1]}, {K.shape[-1]}"
    assert K.shape[-2] == V.shape[-2], f"K and V have different lengths: {K.shape[-2]}, {V.shape[-2]}"
    q, k = feature_map(Q), feature_map(K)
    if causal:
        S = np.cumsum(np.einsum("...nd,...ne->...nde", k, V), axis=-3)
        return np.einsum("...nd,...nde->...ne", q, S) / np.einsum("...nd,...nd->...n", q, np.cumsum(k, -2))[..., None]
    S = np.einsum("...nd,...ne->...de", k, V)
    return np.einsum("...nd,...de->...ne", q, S) / np.einsum("...nd,...d->...n", q, k.sum(axis=-2))[..., None]


# %% step_asserted
# assert for the widths of a step.
# Expected: step_asserts


def linear_attention_step(state, q, k, v):
    assert q.shape[-1] == k.shape[-1], f"{q.shape[-1]} != {k.shape[-1]}"
    q, k = feature_map(q), feature_map(k)
    S, z = (0, 0) if state is None else state
    S, z = S + k[..., :, None] * v[..., None, :], z + k
    return (S, z), (q[..., None, :] @ S)[..., 0, :] / (q * z).sum(axis=-1, keepdims=True)
