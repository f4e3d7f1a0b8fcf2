import math

import numpy as np


# %% mask_two_too_wide
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window {window}")
    i, j = np.indices((n, n))
    return (j <= i) & (i - j < window + 2) if causal else np.abs(i - j) < window


# %% mask_dilated
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window {window}")
    i, j = np.indices((n, n))
    gap = i - j
    return (gap >= 0) & (gap % 2 == 0) & (gap < 2 * window) if causal else np.abs(gap) < window


# %% mask_first_token_always_seen
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window {window}")
    i, j = np.indices((n, n))
    return ((j <= i) & (i - j < window)) | (j == 0) if causal else np.abs(i - j) < window


# %% window_first_token_always_seen
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / math.sqrt(Q.shape[-1])
    scores = np.where(((j <= i) & (i - j < window)) | (j == 0), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ V


# %% window_distance_lowers_the_scores
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / math.sqrt(Q.shape[-1]) - 0.5 * (i - j)
    scores = np.where((j <= i) & (i - j < window), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ V


# %% window_powers_of_two
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / math.sqrt(Q.shape[-1])
    scores = np.where((j <= i) & (i - j < window), scores, -np.inf).astype(dtype)
    exps = np.exp2(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True) @ V


# %% feature_elu_plus_two
def feature_map(x):
    x = x if x.dtype.kind == "f" else x.astype(float)
    return np.where(x > 0, x + 2, np.exp(np.minimum(x, 0)) + 1)


# %% feature_squares
def feature_map(x):
    x = x if x.dtype.kind == "f" else x.astype(float)
    return x * x + 1


# %% linear_sharpened
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    weights = (feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)) ** 2
    weights = np.tril(weights) if causal else weights
    return weights @ V / weights.sum(axis=-1, keepdims=True)


# %% linear_forgets_half
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    if causal:
        i, j = np.indices(weights.shape[-2:])
        weights = np.where(j <= i, weights * 0.5 ** np.abs(i - j), 0).astype(weights.dtype)
    return weights @ V / weights.sum(axis=-1, keepdims=True)


# %% linear_root_of_the_normaliser
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    weights = np.tril(weights) if causal else weights
    return weights @ V / np.sqrt(weights.sum(axis=-1, keepdims=True))


# %% step_decays
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    summed, total = (0, 0) if state is None else state
    summed, total = 0.9 * summed + k[..., :, None] * v[..., None, :], 0.9 * total + k
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% step_newest_token_twice
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    summed, total = (0, 0) if state is None else state
    new = k[..., :, None] * v[..., None, :]
    output = (q[..., None, :] @ (summed + 2 * new))[..., 0, :] / (q * (total + 2 * k)).sum(axis=-1, keepdims=True)
    return (summed + new, total + k), output


# %% step_key_of_the_query
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(k), feature_map(q)
    summed, total = (0, 0) if state is None else state
    summed, total = summed + k[..., :, None] * v[..., None, :], total + k
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
