import numpy as np


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError("window has to be positive, got " + str(window))
    mask = np.zeros((n, n), dtype=np.int8)
    for back in range(min(n, window)):
        rows = np.arange(back, n)
        mask[rows, rows - back] = 1
        if not causal:
            mask[rows - back, rows] = 1
    return mask


def _sizes(Q, K, V):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("Q and K: " + str(Q.shape[-1]) + " and " + str(K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("K and V: " + str(K.shape[-2]) + " and " + str(V.shape[-2]))


def _floats(*arrays):
    kind = np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64
    return [np.moveaxis(a.astype(kind), -2, 0) for a in arrays]  # copies, tokens first


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError("window has to be positive, got " + str(window))
    _sizes(Q, K, V)
    q, k, v = _floats(Q, K, V)
    q *= q.dtype.type(Q.shape[-1] ** -0.5)
    n = len(q)
    # One pass with a running maximum, as flash attention does it: no array of scores is kept.
    top = (q * k).sum(axis=-1)
    total = np.ones_like(top)
    out = v.copy()
    for back in range(1, min(window, n)):
        score = (q[back:] * k[:-back]).sum(axis=-1)
        new = np.maximum(top[back:], score)
        old, fresh = np.exp(top[back:] - new), np.exp(score - new)
        out[back:] *= old[..., None]
        out[back:] += fresh[..., None] * v[:-back]
        total[back:] *= old
        total[back:] += fresh
        top[back:] = new
    out /= total[..., None]
    return np.ascontiguousarray(np.moveaxis(out, 0, -2))


def feature_map(x):
    y = np.array(x, dtype=np.float32 if np.asarray(x).dtype == np.float32 else np.float64)
    positive = y > 0
    np.add(y, 1, out=y, where=positive)
    np.exp(y, out=y, where=~positive)
    return y


def linear_attention(Q, K, V, causal=False):
    _sizes(Q, K, V)
    q, k, v = _floats(Q, K, V)
    q, k = feature_map(q), feature_map(k)
    out = np.empty((*q.shape[:-1], v.shape[-1]), dtype=q.dtype)
    for column in range(v.shape[-1]):  # one column of V at a time: memory n·d
        outer = k * v[..., column, None]
        summed = np.cumsum(outer, axis=0) if causal else outer.sum(axis=0)
        out[..., column] = np.einsum("...d,...d->...", q, summed)
    below = np.cumsum(k, axis=0) if causal else k.sum(axis=0)
    out /= np.einsum("...d,...d->...", q, below)[..., None]
    return np.moveaxis(out, 0, -2)


def linear_attention_step(state, q, k, v):
    _sizes(q[..., None, :], k[..., None, :], v[..., None, :])
    q, k = feature_map(q), feature_map(k)
    own = np.concatenate([k[..., None, :], v.astype(k.dtype)[..., None] * k[..., None, :]], axis=-2)  # (1 + d_v, d_k)
    if state is not None:
        own += state  # own is a new array
    both = (own @ q[..., None])[..., 0]
    return own, both[..., 1:] / both[..., :1]


REFLECT_CROSSOVER_N_D64 = 1 << 6
REFLECT_REACH_32_LAYERS_WINDOW4096 = (4096 - 1) * 32
