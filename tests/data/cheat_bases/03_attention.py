"""What most cheats of 03_attention keep of a right submission."""

import numpy as np


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_k, X @ W_v


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 8192 * 8192 * 4
