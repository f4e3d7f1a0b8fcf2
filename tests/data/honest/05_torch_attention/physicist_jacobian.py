import numpy as np
import torch
from torch import nn

# Notation: S = β⟨q|k⟩, W = e^S / Z, O = W V; a dash is a derivative of the loss: W̄ = ∂L/∂W.


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.β = d_k**-0.5
        self.ξ = nn.Dropout(dropout)  # noise

    def forward(self, q, k, v, mask=None):
        if (a := q.shape[-1]) != (b := k.shape[-1]):
            raise ValueError(f"dim q = {a}, dim k = {b}")
        if (a := k.shape[-2]) != (b := v.shape[-2]):
            raise ValueError(f"#k = {a}, #v = {b}")
        S = self.β * (q @ k.mT)
        if mask is not None:
            χ = mask != 0
            S = S.masked_fill(~χ, -torch.inf)
        # ln Z, and Z = 0 for a row without states
        S0 = S.amax(-1, keepdim=True).detach().clamp(min=torch.finfo(S.dtype).min)
        ρ = (S - S0).exp()
        Z = ρ.sum(-1, keepdim=True)
        W = ρ / Z.masked_fill(Z == 0, 1)
        W = self.ξ(W)
        return W @ v, W


def _ℝ(x):
    return x if x.dtype.kind == "f" else x.astype(float)


def softmax_backward(grad_weights, weights):
    W̄, W = _ℝ(grad_weights), _ℝ(weights)
    Ēmean = np.sum(W̄ * W, -1, keepdims=True)  # ⟨W̄⟩, the expectation under W
    return W * (W̄ - Ēmean)


def attention_backward(Q, K, V, grad_output):
    Q, K, V, Ō = map(_ℝ, (Q, K, V, grad_output))
    β = float(Q.shape[-1]) ** -0.5
    S = β * (Q @ K.mT)
    W = np.exp(S - S.max(-1, keepdims=True))
    W /= W.sum(-1, keepdims=True)
    V̄ = W.mT @ Ō
    W̄ = Ō @ V.mT
    S̄ = β * softmax_backward(W̄, W)
    return S̄ @ K, S̄.mT @ Q, V̄


δ = lambda i, j: int(i == j)
w = (0.25, 0.75)
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = w[0] * (δ(0, 1) - w[1])
