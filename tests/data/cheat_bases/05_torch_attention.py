"""What most cheats of 05_torch_attention keep of a right submission."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def softmax_backward(grad_weights, weights):
    g, w = np.asarray(grad_weights), np.asarray(weights)
    result = w * (g - (g * w).sum(axis=-1, keepdims=True))
    return result if result.dtype.kind == "f" else result.astype(np.float64)


def attention_backward(Q, K, V, grad_output):
    Q, K, V, dO = (x if x.dtype.kind == "f" else x.astype(np.float64) for x in (Q, K, V, grad_output))
    scale = float(Q.shape[-1] ** -0.5)
    S = Q @ K.swapaxes(-1, -2) * scale
    P = np.exp(S - S.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    dS = softmax_backward(dO @ V.swapaxes(-1, -2), P) * scale
    return dS @ K, dS.swapaxes(-1, -2) @ Q, P.swapaxes(-1, -2) @ dO


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.25 * 0.75
