from dataclasses import dataclass
from functools import cached_property
import numpy as np

def float_of(*arrays):
    return np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64

def project_qkv(X, W_q, W_k, W_v):
    dtype = float_of(X, W_q, W_k, W_v)
    flat = X.reshape(-1, X.shape[-1]).astype(dtype)
    return tuple((flat @ W.astype(dtype)).reshape(*X.shape[:-1], -1) for W in (W_q, W_k, W_v))

@dataclass(frozen=True)
class ScaledDotProductAttention:
    d_k: int

    @cached_property
    def root(self):
        return np.sqrt(np.float64(self.d_k))

    def compute_scores(self, Q, K):
        """In float64, whatever comes in, and rounded at the end."""
        if (a := Q.shape[-1]) != (b := K.shape[-1]):
            raise ValueError(f"{a=} {b=}")
        wide = Q.astype(np.float64) @ K.astype(np.float64).swapaxes(-1, -2)
        return wide.astype(float_of(Q, K))

    def scale_scores(self, scores):
        return (scores / self.root).astype(float_of(scores))

    def compute_weights(self, scaled_scores, mask=None):
        x = scaled_scores.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if mask is not None:
                x = x + np.log(np.asarray(mask).astype(bool).astype(float))   # log 0 is -inf
            lse = np.logaddexp.reduce(x, axis=-1, keepdims=True)
            w = np.nan_to_num(np.exp(x - lse), nan=0.0)
        return w.astype(float_of(scaled_scores))

    def compute_output(self, weights, V):
        return (weights.astype(np.float64) @ V.astype(np.float64)).astype(weights.dtype)

    def forward(self, Q, K, V, mask=None):
        if (a := K.shape[-2]) != (b := V.shape[-2]):
            raise ValueError(f"{a=} {b=}")
        w = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(w, V), w

    def explain(self, Q, K, V, tokens, query_idx=0):
        pick = slice(query_idx, query_idx + 1)
        raw = self.compute_scores(Q[pick], K).ravel()
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights[None], V).ravel()
        minus = str.maketrans("-", "\N{MINUS SIGN}")
        cells = lambda xs: "|".join(f"{x:+.5e}".translate(minus) for x in xs)
        return f"|{'|'.join(tokens)}|\n|{cells(raw)}|\n|{cells(scaled)}|\n|{cells(weights)}|\n\noutput|{cells(output)}|"

def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(d_k=Q.shape[-1]).forward(Q, K, V, mask)

REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268435456
