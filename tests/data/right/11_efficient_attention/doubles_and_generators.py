"""Everything in float64, rounded at the end; recursion over leading axes; a generator as the recurrence."""
import itertools
import numpy as np

def _kind(*arrays):
    return np.result_type(*(a.dtype for a in arrays), np.float32)

def sliding_window_mask(n, window, causal=True):
    if window < 1: raise ValueError(f'{window} < 1')
    place = range(n)
    flat = (float(0 <= i - j < window or (not causal and 0 <= j - i < window)) for i, j in itertools.product(place, place))
    return np.fromiter(flat, dtype=float, count=n * n).reshape(n, n)

def _fit(Q, K, V):
    for a, b in ((Q.shape[-1], K.shape[-1]), (K.shape[-2], V.shape[-2])):
        if a != b: raise ValueError(f'{a} does not fit {b}')

def sliding_window_attention(Q, K, V, window):
    if window < 1: raise ValueError(f'{window} < 1')
    _fit(Q, K, V)
    if Q.ndim > 2:
        return np.stack([sliding_window_attention(*one, window) for one in zip(Q, K, V)])
    rows = []
    for i, q in enumerate(Q.astype(float)):
        lo = max(i - window + 1, 0)
        s = K[lo:i + 1].astype(float) @ q / len(q) ** .5
        log_total = np.logaddexp.reduce(s)
        rows.append(np.exp(s - log_total) @ V[lo:i + 1])
    return np.array(rows).astype(_kind(Q, K, V))

def feature_map(x):
    y = np.asarray(x, dtype=float)
    elu = np.where(y > 0, y, np.exp(np.clip(y, None, 0)) - 1)
    return (elu + 1).astype(_kind(np.asarray(x)))

def _recurrence(tokens):
    state = None
    for q, k, v in tokens:
        state, out = linear_attention_step(state, q, k, v)
        yield out

def linear_attention(Q, K, V, causal=False):
    _fit(Q, K, V)
    if Q.ndim > 2:
        return np.stack([linear_attention(*one, causal=causal) for one in zip(Q, K, V)])
    if causal is True:
        return np.array(list(_recurrence(zip(Q, K, V)))).astype(_kind(Q, K, V))
    q, k = (feature_map(x.astype(float)) for x in (Q, K))
    return ((q @ (k.T @ V)) / (q @ k.sum(0))[:, None]).astype(_kind(Q, K, V))

def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]: raise ValueError(f'{q.shape[-1]} does not fit {k.shape[-1]}')
    f, g = (feature_map(x.astype(float)) for x in (q, k))
    S, z, count = state if state else (0., 0., 0)
    S, z = S + g[..., :, None] * v[..., None, :], z + g
    out = np.einsum('...d,...de->...e', f, S) / np.einsum('...d,...d->...', f, z)[..., None]
    return (S, z, count + 1), out.astype(_kind(q, k, v))

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040
