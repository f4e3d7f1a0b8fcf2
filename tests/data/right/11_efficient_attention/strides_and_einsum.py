import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def sliding_window_mask(n, window, causal=True):
    if not window >= 1:
        raise ValueError(f"got window={window}")
    band = np.tri(n) - np.tri(n, k=-window)
    return band if causal else np.maximum(band, band.T)


def _agree(name, a, b):
    if a != b:
        raise ValueError(f"{name}: {a} != {b}")


def sliding_window_attention(Q, K, V, window):
    if not window >= 1:
        raise ValueError(f"got window={window}")
    _agree("width of Q and K", Q.shape[-1], K.shape[-1])
    _agree("length of K and V", K.shape[-2], V.shape[-2])
    n = Q.shape[-2]
    w = min(window, n)
    front = [(0, 0)] * (K.ndim - 2) + [(w - 1, 0), (0, 0)]
    keys = sliding_window_view(np.pad(K, front), w, axis=-2)  # (..., n, d_k, w)
    values = sliding_window_view(np.pad(V, front), w, axis=-2)  # (..., n, d_v, w)
    scores = np.einsum("...nd,...ndw->...nw", Q, keys) * (1.0 / Q.shape[-1] ** 0.5)
    exists = sliding_window_view(np.pad(np.ones(n, dtype=bool), (w - 1, 0)), w)
    scores = np.where(exists, scores, -np.inf)
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    return np.einsum("...nw,...ndw->...nd", weights / weights.sum(axis=-1, keepdims=True), values)


def feature_map(x):
    x = np.asarray(x)
    x = x.astype(np.float32 if x.dtype == np.float32 else np.float64)
    return np.exp(np.minimum(x, 0)) + np.maximum(x, 0)


def linear_attention(Q, K, V, causal=False):
    _agree("width of Q and K", Q.shape[-1], K.shape[-1])
    _agree("length of K and V", K.shape[-2], V.shape[-2])
    q, k = feature_map(Q), feature_map(K)
    if causal:
        kv = np.einsum("...nd,...ne->...nde", k, V).cumsum(axis=-3)
        return np.einsum("...nd,...nde->...ne", q, kv) / np.einsum("...nd,...nd->...n", q, k.cumsum(axis=-2))[..., None]
    kv = np.einsum("...nd,...ne->...de", k, V)
    return np.einsum("...nd,...de->...ne", q, kv) / np.einsum("...nd,...d->...n", q, k.sum(axis=-2))[..., None]


def linear_attention_step(state, q, k, v):
    _agree("width of q and k", q.shape[-1], k.shape[-1])
    q, k = feature_map(q), feature_map(k)
    kv, z = np.einsum("...d,...e->...de", k, v), k
    if state is not None:
        kv, z = state["kv"] + kv, state["z"] + z
    return {"kv": kv, "z": z}, np.einsum("...d,...de->...e", q, kv) / np.einsum("...d,...d->...", q, z)[..., None]


REFLECT_CROSSOVER_N_D64 = 2 * 64**2 // (2 * 64)
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131_040
