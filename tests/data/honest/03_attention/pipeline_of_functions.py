import functools
import operator

import numpy as np


def pipe(value, *steps):
    return functools.reduce(lambda x, f: f(x), steps, value)


def floating(f):
    """Decorator: give the function float arrays only. Masks and names are passed on as they are."""

    @functools.wraps(f)
    def inner(*args, **kwargs):
        def convert(a):
            return a.astype(float) if isinstance(a, np.ndarray) and a.dtype.kind in "iu" else a

        return f(*map(convert, args), **{name: convert(a) for name, a in kwargs.items()})

    return inner


@floating
def project_qkv(X, W_q, W_k, W_v):
    return tuple(map(functools.partial(operator.matmul, X), (W_q, W_k, W_v)))


def agree(a, b, /, *, axis):
    if (n := a.shape[axis]) != (m := b.shape[axis]):
        raise ValueError(f"sizes {n} and {m} along axis {axis}")


scores_of = lambda Q, K: Q @ np.moveaxis(K, -1, -2)
divided_by = lambda number: lambda x: x / number
blocked_by = lambda mask: (lambda x: x) if mask is None else lambda x: np.where(np.equal(mask, 0), -np.inf, x).astype(x.dtype)
shifted = lambda x: x - np.nan_to_num(x.max(-1, keepdims=True), neginf=0)
normalised = lambda e: np.divide(e, e.sum(-1, keepdims=True), out=np.zeros_like(e), where=e > 0)


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    @floating
    def compute_scores(self, Q, K):
        agree(Q, K, axis=-1)
        return scores_of(Q, K)

    @floating
    def scale_scores(self, scores):
        return pipe(scores, divided_by(self.d_k**0.5))

    @floating
    def compute_weights(self, scaled_scores, mask=None):
        return pipe(scaled_scores, blocked_by(mask), shifted, np.exp, normalised)

    @floating
    def compute_output(self, weights, V):
        return operator.matmul(weights, V)

    @floating
    def forward(self, Q, K, V, mask=None):
        agree(K, V, axis=-2)
        weights = pipe(
            self.compute_scores(Q, K),
            self.scale_scores,
            functools.partial(self.compute_weights, mask=mask),
        )
        return pipe(weights, lambda w: (self.compute_output(w, V), w))

    @floating
    def explain(self, Q, K, V, tokens, query_idx=0):
        i = query_idx
        scores = self.compute_scores(Q[[i]], K)
        output, weights = self.forward(Q[[i]], K, V)
        columns = zip(tokens, *(a[0].tolist() for a in (scores, self.scale_scores(scores), weights)))
        show = lambda token, *numbers: "\t".join([token, *map("{:.8f}".format, numbers)])
        return "\n".join([*(show(*column) for column in columns), show("=", *output[0].tolist())])


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = functools.reduce(operator.mul, (8192, 8192, 4))
