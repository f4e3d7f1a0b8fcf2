import numpy as np

from mylab.masks import create_causal_mask, masked_softmax
from mylab.softmax import softmax


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window: {window}")
    causal_mask = np.asarray(create_causal_mask(n), dtype=bool)
    near = causal_mask & ~np.tril(np.ones((n, n), dtype=bool), -window)
    return near if causal else near | near.T


def _check(Q, K, V):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k: {Q.shape[-1]}, {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n: {K.shape[-2]}, {V.shape[-2]}")


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window: {window}")
    _check(Q, K, V)
    n = Q.shape[-2]
    window = min(n, window)
    places = np.arange(n)[:, None] - np.arange(window)  # (n, window), negative where there is no token
    keys, values = K[..., places, :], V[..., places, :]  # (..., n, window, d)
    scores = (keys @ Q[..., None]).squeeze(-1) / float(np.sqrt(Q.shape[-1]))
    weights = masked_softmax(scores, places >= 0)
    return (weights[..., None, :] @ values).squeeze(-2)


def feature_map(x):
    x = np.asarray(x)
    y = np.array(x, dtype=np.result_type(x, np.float32), copy=True)
    return np.piecewise(y, [y > 0], [lambda t: t + 1, np.exp])


def linear_attention(Q, K, V, causal=False):
    _check(Q, K, V)
    if causal:
        state, rows = None, []
        for i in range(Q.shape[-2]):
            state, row = linear_attention_step(state, Q[..., i, :], K[..., i, :], V[..., i, :])
            rows.append(row)
        return np.stack(rows, axis=-2)
    q, k = feature_map(Q), feature_map(K)
    return (q @ (k.swapaxes(-1, -2) @ V)) / (q @ k.sum(axis=-2)[..., None])


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"d_k: {q.shape[-1]}, {k.shape[-1]}")
    fq, fk = feature_map(q), feature_map(k)
    if state is None:
        state = [np.zeros((), dtype=fk.dtype), np.zeros((), dtype=fk.dtype)]
    state = [state[0] + fk[..., None] * v[..., None, :], state[1] + fk]
    numerator = (fq[..., None, :] @ state[0]).squeeze(-2)
    denominator = (fq[..., None, :] @ state[1][..., None]).squeeze(-1)
    return state, numerator / denominator


assert abs(float(softmax(np.array([0.0, 0.0]))[0]) - 0.5) < 1e-9
REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040
