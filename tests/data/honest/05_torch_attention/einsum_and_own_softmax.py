import numpy as np
import torch as th
from torch import nn

SCORES = "...qd,...kd->...qk"
MIX = "...qk,...kv->...qv"


def th_softmax(x, allowed):
    """Softmax over the last axis. Blocked entries have no part in it."""
    if allowed is not None:
        x = th.where(allowed, x, x.new_tensor(float("-inf")))
    top = x.amax(dim=-1, keepdim=True)
    top = th.where(top.isinf(), th.zeros_like(top), top).detach()  # any constant gives the same result
    e = th.exp(x - top)
    total = e.sum(dim=-1, keepdim=True)
    return e / th.where(total == 0, th.ones_like(total), total)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = d_k**-0.5
        self.p = dropout

    def extra_repr(self):
        return f"scale={self.scale:.4f}, dropout={self.p}"

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"{q.size(-1)} features in q, {k.size(-1)} in k")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"{k.size(-2)} keys, {v.size(-2)} values")
        scores = th.einsum(SCORES, q * self.scale, k)
        weights = th_softmax(scores, None if mask is None else mask.bool())
        weights = nn.functional.dropout(weights, self.p, training=self.training)
        return th.einsum(MIX, weights, v), weights


def _float(*arrays):
    return [a.astype(np.result_type(a, np.float32) if a.dtype.kind == "f" else np.float64) for a in arrays]


def softmax_backward(grad_weights, weights):
    g, w = _float(grad_weights, weights)
    return w * g - w * np.einsum("...n,...n->...", g, w)[..., None]


def attention_backward(Q, K, V, grad_output):
    Q, K, V, dO = _float(Q, K, V, grad_output)
    s = float(Q.shape[-1]) ** -0.5
    S = np.einsum(SCORES, Q, K) * s
    W = np.exp(S - S.max(-1, keepdims=True))
    W = W / W.sum(-1, keepdims=True)
    dV = np.einsum("...qk,...qv->...kv", W, dO)
    dW = np.einsum("...qv,...kv->...qk", dO, V)
    dS = softmax_backward(dW, W)
    dQ = np.einsum("...qk,...kd->...qd", dS, K) * s
    dK = np.einsum("...qk,...qd->...kd", dS, Q) * s
    return dQ, dK, dV


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
