import functools
import numpy as np


def positive(window):
    if window < 1:
        raise ValueError(f"window={window}")
    return window


def matching(function):
    @functools.wraps(function)
    def checked(Q, K, V, *args, **kwargs):
        (m, d), (n, e), (p, _) = Q.shape[-2:], K.shape[-2:], V.shape[-2:]
        if d != e:
            raise ValueError(f"Q is {(m, d)}, K is {(n, e)}")
        if n != p:
            raise ValueError(f"K is {(n, e)}, V has {p} rows")
        return function(Q, K, V, *args, **kwargs)

    return checked


def sliding_window_mask(n, window, causal=True):
    window = positive(window)
    ones = np.ones((n, n), dtype=bool)
    below = np.triu(ones, 1 - window) & (np.tril(ones) if causal else np.tril(ones, window - 1))
    return below


@matching
def sliding_window_attention(Q, K, V, window):
    n, window = Q.shape[-2], positive(window)
    shifts = range(min(window, n))
    place = np.arange(n)
    scores = np.stack([(Q * np.roll(K, s, axis=-2)).sum(axis=-1) for s in shifts], axis=-1) / Q.shape[-1] ** 0.5
    wrapped = np.stack([place < s for s in shifts], axis=-1)  # what np.roll brought from the end
    scores[..., wrapped] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return sum(weights[..., s, None] * np.roll(V, s, axis=-2) for s in shifts)


def feature_map(x):
    x = np.asarray(x)
    kind = x.dtype.type if x.dtype.kind == "f" else np.float64
    x = x.astype(kind)
    return np.select([x > 0], [x + kind(1)], default=np.exp(np.where(x > 0, kind(0), x)))


def scan(state, tokens):
    for q, k, v in tokens:
        state, out = linear_attention_step(state, q, k, v)
        yield out


@matching
def linear_attention(Q, K, V, causal=False):
    if causal:
        by_token = (np.moveaxis(x, -2, 0) for x in (Q, K, V))
        return np.moveaxis(np.array(list(scan(None, zip(*by_token)))), 0, -2)
    q, k = feature_map(Q), feature_map(K)
    state = np.matmul(np.moveaxis(k, -1, -2), V)
    norm = np.inner(np.moveaxis(k, -1, -2), np.ones(k.shape[-2], dtype=k.dtype))[..., None]
    return np.matmul(q, state) / np.matmul(q, norm)


def linear_attention_step(state, q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape}, k is {k.shape}")
    fq, fk = feature_map(q), feature_map(k)
    new = np.expand_dims(fk, -1) * np.expand_dims(v, -2)

    def ask(query, earlier=state):
        sums, total = (new, fk) if earlier is None else (earlier[0] + new, earlier[1] + fk)
        return (sums, total), (np.expand_dims(query, -1) * sums).sum(-2) / (query * total).sum(-1, keepdims=True)

    return ask(fq)


REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040
