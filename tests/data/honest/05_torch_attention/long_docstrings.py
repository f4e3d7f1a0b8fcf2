"""Scaled dot-product attention as a PyTorch module, plus manual gradients in NumPy.

The implementation favours clarity over brevity. Each step of the computation lives in its own small method, so that
it can be read, tested and replaced on its own.
"""

import logging
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

__all__ = ["ScaledDotProductAttention", "softmax_backward", "attention_backward"]

log = logging.getLogger("torch_attention")


class ScaledDotProductAttention(nn.Module):
    """Scaled Dot-Product Attention.

    Computes ``softmax(Q K^T / sqrt(d_k)) V`` with an optional mask and dropout on the attention weights.

    Args:
        d_k: The dimensionality of queries and keys.
        dropout: The dropout probability for the attention weights. Defaults to 0.0.

    Example:
        >>> attention = ScaledDotProductAttention(d_k=4)
        >>> output, weights = attention(torch.zeros(2, 4), torch.zeros(3, 4), torch.ones(3, 5))
        >>> output.shape, weights.shape
        (torch.Size([2, 5]), torch.Size([2, 3]))
    """

    def __init__(self, d_k: int, dropout: float = 0.0):
        super().__init__()
        self.d_k = d_k
        self.scale_factor = 1.0 / math.sqrt(d_k)
        self.attention_dropout = nn.Dropout(p=dropout)
        log.debug("created %r", self)

    def _validate_inputs(self, q, k, v):
        """Validate that the shapes of the inputs are compatible.

        Raises:
            ValueError: If the widths of ``q`` and ``k`` or the lengths of ``k`` and ``v`` differ.
        """
        if q.size(-1) != k.size(-1):
            raise ValueError(f"Expected q and k to have the same last dimension, got {q.size(-1)} and {k.size(-1)}.")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"Expected k and v to have the same length, got {k.size(-2)} and {v.size(-2)}.")

    def _compute_scores(self, q, k):
        """Compute the scaled attention scores."""
        return torch.matmul(q, k.transpose(-2, -1)) * self.scale_factor

    def _compute_weights(self, scores, mask):
        """Compute the attention weights, taking the mask into account.

        Fully masked rows would lead to NaN values in the softmax. They are handled by replacing their scores with
        zeros before the softmax, and their weights with zeros after it.
        """
        if mask is None:
            return F.softmax(scores, dim=-1)
        is_blocked = mask.to(device=scores.device) == 0
        is_fully_blocked = is_blocked.all(dim=-1, keepdim=True)
        scores = scores.masked_fill(is_blocked & ~is_fully_blocked, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        return weights.masked_fill(is_blocked, 0.0)

    def forward(self, q, k, v, mask=None):
        """Apply attention.

        Args:
            q: Queries of shape ``(..., n_q, d_k)``.
            k: Keys of shape ``(..., n_k, d_k)``.
            v: Values of shape ``(..., n_k, d_v)``.
            mask: Optional mask. Nonzero entries are attended to.

        Returns:
            A tuple ``(output, weights)``.
        """
        self._validate_inputs(q, k, v)
        scores = self._compute_scores(q, k)
        weights = self._compute_weights(scores, mask)
        weights = self.attention_dropout(weights)
        output = torch.matmul(weights, v)
        return output, weights


def _ensure_float(array: np.ndarray) -> np.ndarray:
    """Convert integer arrays to float64 and leave floating point arrays alone."""
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def _softmax(scores: np.ndarray) -> np.ndarray:
    """Compute a numerically stable softmax over the last axis."""
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)


def softmax_backward(grad_weights, weights):
    """Backpropagate through a softmax over the last axis."""
    grad_weights = _ensure_float(np.asarray(grad_weights))
    weights = _ensure_float(np.asarray(weights))
    weighted_sum = np.sum(grad_weights * weights, axis=-1, keepdims=True)
    return weights * (grad_weights - weighted_sum)


def attention_backward(Q, K, V, grad_output):
    """Backpropagate through scaled dot-product attention."""
    # Ensure floating point inputs.
    Q, K, V = _ensure_float(Q), _ensure_float(K), _ensure_float(V)
    grad_output = _ensure_float(grad_output)

    # Recompute the forward pass.
    scale_factor = 1.0 / math.sqrt(Q.shape[-1])
    weights = _softmax(np.matmul(Q, np.swapaxes(K, -2, -1)) * scale_factor)

    # Backpropagate through output = weights @ V.
    grad_V = np.matmul(np.swapaxes(weights, -2, -1), grad_output)
    grad_weights = np.matmul(grad_output, np.swapaxes(V, -2, -1))

    # Backpropagate through the softmax and the scaling.
    grad_scores = softmax_backward(grad_weights, weights) * scale_factor

    # Backpropagate through scores = Q @ K^T.
    grad_Q = np.matmul(grad_scores, K)
    grad_K = np.matmul(np.swapaxes(grad_scores, -2, -1), Q)

    return grad_Q, grad_K, grad_V


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    attention = ScaledDotProductAttention(d_k=8, dropout=0.1)
    log.info("output: %s", attention(torch.randn(2, 5, 8), torch.randn(2, 7, 8), torch.randn(2, 7, 3))[0].shape)

REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
