import torch
from torch import nn, Tensor
from typing import Optional, Tuple, NamedTuple
import numpy as np


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class Gradients(NamedTuple):
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k: int, dropout: float = 0.0) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout {dropout}")
        self.p = dropout
        self.register_buffer("scale", torch.tensor(float(d_k)).rsqrt(), persistent=False)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"width of q is {q.shape[-1]}, width of k is {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]} keys and {v.shape[-2]} values")
        scores = (q * self.scale) @ k.mT
        if mask is not None:
            blocked = torch.broadcast_to(mask == 0, scores.shape)
            scores[blocked] = float("-inf")
            nobody = blocked.all(dim=-1)
            scores[nobody] = 0.0
            weights = torch.softmax(scores, dim=-1).clone()    # the copy may be written to
            weights[nobody] = 0.0
        else:
            weights = torch.softmax(scores, dim=-1)
        if self.training and self.p:
            keep = (torch.rand(weights.shape, device=weights.device) > self.p).to(weights.dtype)
            weights = weights * keep.div_(1 - self.p)
        return Attended(weights @ v, weights)


def softmax_backward(grad_weights: np.ndarray, weights: np.ndarray) -> np.ndarray:
    grad = grad_weights * np.ones((), dtype=weights.dtype if weights.dtype.kind == "f" else np.float64)
    dots = np.matmul(grad[..., None, :], weights[..., :, None])[..., 0]
    return weights * (grad - dots)


def attention_backward(Q, K, V, grad_output):
    q, k, v, g = (x if x.dtype.kind == "f" else x.astype(np.float64) for x in (Q, K, V, grad_output))
    c = float(1 / np.sqrt(q.shape[-1]))
    logits = c * (q @ k.swapaxes(-2, -1))
    top = np.amax(logits, axis=-1, keepdims=True)
    weights = np.exp(logits - (top + np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))))
    d_logits = softmax_backward(g @ v.swapaxes(-2, -1), weights)
    return Gradients(c * (d_logits @ k), c * (d_logits.swapaxes(-2, -1) @ q), weights.swapaxes(-2, -1) @ g)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875000
