import math

import numpy as np


# %% mask_one_too_wide looped
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"a window of {window}")
    mask = np.zeros((n, n), dtype=int)
    for i in range(n):
        first = i - window if causal else i - window + 1
        last = i + 1 if causal else i + window
        mask[i, max(0, first) : last] = 1
    return mask


# %% mask_one_too_wide lists
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if causal:
        return np.array([[0 <= i - j <= window for j in range(n)] for i in range(n)])
    return np.array([[abs(i - j) < window for j in range(n)] for i in range(n)])


# %% mask_counts_from_the_left_edge looped
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if not causal:
        at = np.arange(n)
        return abs(at - at[:, None]) < window
    mask = np.zeros((n, n))
    for i in range(n):
        mask[i, : min(i + 1, window)] = 1
    return mask


# %% mask_both_sides_too_wide triangles
def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if causal:
        return np.tri(n) - np.tri(n, k=-window)
    return np.tri(n, k=window) - np.tri(n, k=-window - 1)


# %% window_one_too_wide rows
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        near = slice(max(0, i - window), i + 1)
        scores = np.einsum("...d,...jd->...j", Q[..., i, :], K[..., near, :]) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        exps = exps / exps.sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...j,...je->...e", exps, V[..., near, :]))
    return np.stack(rows, axis=-2)


# %% window_counts_from_the_left_edge rows
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        near = slice(0, min(i + 1, window))
        scores = np.einsum("...d,...jd->...j", Q[..., i, :], K[..., near, :]) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        exps = exps / exps.sum(axis=-1, keepdims=True)
        rows.append(np.einsum("...j,...je->...e", exps, V[..., near, :]))
    return np.stack(rows, axis=-2)


# %% window_padding_joins padded
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    n, w = Q.shape[-2], min(window, Q.shape[-2])
    front = [(0, 0)] * (K.ndim - 2) + [(w - 1, 0), (0, 0)]
    at = np.arange(n)[:, None] + np.arange(w)
    keys, values = np.pad(K, front)[..., at, :], np.pad(V, front)[..., at, :]
    scores = np.einsum("...nd,...nwd->...nw", Q, keys) / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("...nw,...nwe->...ne", exps / exps.sum(axis=-1, keepdims=True), values)


# %% window_not_scaled gathered
def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"a window of {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    at = np.arange(Q.shape[-2])[:, None] - np.arange(min(window, Q.shape[-2]))
    scores = np.where(at < 0, -np.inf, np.einsum("...nd,...nwd->...nw", Q, K[..., at, :]))
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True)).astype(np.result_type(Q, K, V, np.float32))
    return np.einsum("...nw,...nwe->...ne", exps / exps.sum(axis=-1, keepdims=True), V[..., at, :])


# %% feature_relu looped
def feature_map(x):
    kind = np.float32 if x.dtype == np.float32 else np.float64
    result = np.zeros(x.shape, dtype=kind)
    for place in np.ndindex(x.shape):
        if x[place] > 0:
            result[place] = x[place]
    return result


# %% feature_without_plus_one looped
def feature_map(x):
    kind = np.float32 if x.dtype == np.float32 else np.float64
    result = np.zeros(x.shape, dtype=kind)
    for place in np.ndindex(x.shape):
        result[place] = x[place] if x[place] > 0 else math.exp(x[place]) - 1
    return result


# %% linear_without_normaliser einsum
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    outer = np.einsum("...nd,...ne->...nde", feature_map(K), V)
    if causal:
        return np.einsum("...nd,...nde->...ne", feature_map(Q), outer.cumsum(axis=-3))
    return np.einsum("...nd,...de->...ne", feature_map(Q), outer.sum(axis=-3))


# %% linear_without_normaliser quadratic
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    return (np.tril(weights) if causal else weights) @ V


# %% linear_causal_ignored einsum
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    top = np.einsum("...nd,...de->...ne", q, np.einsum("...nd,...ne->...de", k, V))
    return top / np.einsum("...nd,...d->...n", q, k.sum(axis=-2))[..., None]


# %% linear_normaliser_of_the_future looped
def linear_attention(Q, K, V, causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    weights = q @ np.swapaxes(k, -1, -2)
    total = weights.sum(axis=-1, keepdims=True)
    return (np.tril(weights) if causal else weights) @ V / total


# %% step_forgets dictionary
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    state = {"sum": k[..., None] * v[..., None, :], "total": k}
    return state, np.einsum("...d,...de->...e", q, state["sum"]) / (q * state["total"]).sum(axis=-1, keepdims=True)


# %% step_changes_the_state_in_place dictionary
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    if state is None:
        state = {"sum": 0, "total": 0}
    state["sum"] = state["sum"] + k[..., None] * v[..., None, :]
    state["total"] = state["total"] + k
    return state, np.einsum("...d,...de->...e", q, state["sum"]) / (q * state["total"]).sum(axis=-1, keepdims=True)


# %% step_changes_the_state_in_place object
class Memory:
    def __init__(self, k, v):
        self.both = np.zeros((*k.shape, v.shape[-1] + 1), dtype=k.dtype)

    def add(self, k, v):
        self.both[..., :-1] += k[..., None] * v[..., None, :]
        self.both[..., -1] += k


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    memory = state or Memory(k, v)
    memory.add(k, v)
    both = np.einsum("...d,...de->...e", q, memory.both)
    return memory, both[..., :-1] / both[..., -1:]


# %% step_forgets_the_normaliser list
def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
    q, k = feature_map(q), feature_map(k)
    new = k[..., None] * v[..., None, :]
    state = [new] if state is None else [state[0] + new]
    return state, np.einsum("...d,...de->...e", q, state[0]) / (q * k).sum(axis=-1, keepdims=True)
