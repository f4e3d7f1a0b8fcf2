"""First drafts of 02_loop_attention: what is not in a cell is as in the stub."""

import numpy as np

# %% dot_without_refusal
# The dot product is right for equal lengths, and does not compare them
# Expected: dot_product: refusal


def dot_product(a, b):
    total = 0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


# %% scores_transposed
# The first function is right, the table of scores is the wrong way round
# Expected: attention_scores: value


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths {len(a)} and {len(b)} differ")
    s = 0.0
    for x, y in zip(a, b):
        s += x * y
    return s


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    out = np.zeros((len(K), len(Q)), dtype=np.result_type(Q, K) if Q.dtype.kind == "f" else float)
    for i in range(len(K)):
        for j in range(len(Q)):
            out[i, j] = dot_product(K[i], Q[j])
    return out


# %% no_scale_and_no_batch
# A scale that was forgotten in attention; a batch raises an error; scale_factor is right
# Expected: scaled_dot_product_attention: value


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths {len(a)} and {len(b)} differ")
    total = 0.0
    for i in range(len(a)):
        total += float(a[i]) * float(b[i])
    return total


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"widths {Q.shape[-1]} and {K.shape[-1]} differ")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    scores = np.zeros((Q.shape[0], K.shape[0]), dtype=dtype)
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


def scale_factor(d_k, variance=1.0):
    return variance * d_k**0.5


def scaled_dot_product_attention(Q, K, V, mask=None):
    n_q, n_k = Q.shape[0], K.shape[0]
    scores = attention_scores(Q, K)
    weights = np.zeros_like(scores)
    for i in range(n_q):
        m = max(scores[i])
        exps = [np.exp(s - m) for s in scores[i]]
        for j in range(n_k):
            weights[i, j] = exps[j] / sum(exps)
    output = np.zeros((n_q, V.shape[1]), dtype=scores.dtype)
    for i in range(n_q):
        for j in range(n_k):
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% scale_is_the_width
# Scores are not written yet; the scale is d_k and not its root
# Expected: scale_factor: value


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"lengths {len(a)} and {len(b)} differ")
    result = 0.0
    for i in range(len(a)):
        result = result + a[i] * b[i]
    return result


def scale_factor(d_k, variance=1.0):
    return variance * d_k
