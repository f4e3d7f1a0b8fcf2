import math

import numpy as np


def check_sizes(Q, K, V, block_q, block_k):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has width {Q.shape[-1]}, but K has width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, but V has {V.shape[-2]}")
    if block_q < 1 or block_k < 1:
        raise ValueError(f"block sizes must be at least 1, got {block_q} and {block_k}")


def as_float(*arrays):
    return tuple(a if a.dtype.kind == "f" else a.astype(np.float64) for a in map(np.asarray, arrays))


# %% merge_largest_absolute_score
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.where(np.isfinite(scores), abs(scores), -np.inf).max(axis=-1))
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp(scores - m_safe[..., None])
    rescale = np.exp(m - m_safe)
    l_new = rescale * l + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


# %% merge_mean_for_sum
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp(scores - m_safe[..., None])
    rescale = np.exp(m - m_safe)
    l_new = rescale * l + weights.mean(axis=-1)
    return m_new, l_new, weights, rescale


# %% merge_rescale_halved
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp(scores - m_safe[..., None])
    rescale = np.exp(m - m_safe)
    l_new = rescale * l + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale / 2


# %% merge_second_largest
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.sort(scores, axis=-1)[..., -2 if scores.shape[-1] > 1 else -1])
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp(scores - m_safe[..., None])
    rescale = np.exp(m - m_safe)
    l_new = rescale * l + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


# %% merge_powers_of_two
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp2(scores - m_safe[..., None])
    rescale = np.exp2(m - m_safe)
    l_new = rescale * l + weights.sum(axis=-1)
    return m_new, l_new, weights, rescale


# %% flash_first_value_once_more
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = (out + 0.25 * v_all[0]) / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_cube_root
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = Q.shape[-1] ** (1 / 3)
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_small_weights_cut
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                e = np.where(e < 0.3, 0, e).astype(Q.dtype)
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_two_keys_ahead
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i + 2, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_window_of_two
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where((cols + j <= rows + i) & (cols + j >= rows + i - 1) | (cols == 0), s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_factor_squared
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor**2 + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_keys_reversed
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k][::-1])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_log_of_ten
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log10(total))[:, 0]
            i += block_q
    return O, L


# %% backward_scale_twice
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += p.T @ do_[i:stop]
                ds = scale * scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_row_sum_of_the_gradient
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * dO).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_dv_halved
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += 0.5 * p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_weights_squared
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += p.T @ do_[i:stop]
                ds = scale * p * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_log_sum_added
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(np.minimum(s + L_[i:stop, None], 50))
                dv += p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_last_query_forgotten
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    dO = dO.copy()
    dO[..., -1, :] = 0
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                if is_causal:
                    s[np.arange(j, j + len(k))[None, :] > np.arange(i, stop)[:, None]] = -np.inf
                p = np.exp(s - L_[i:stop, None])
                dv += p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% flash_scale_of_the_values
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(V.shape[-1] + 1)
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% flash_blocked_by_minus_100
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(Q.shape[-1])
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q] / root
            top = np.full((q.shape[0], 1), -np.inf, dtype=Q.dtype)
            total = np.zeros((q.shape[0], 1), dtype=Q.dtype)
            out = np.zeros((q.shape[0], v_all.shape[1]), dtype=Q.dtype)
            j = 0
            while j < k_all.shape[0]:
                if is_causal and j > i + q.shape[0] - 1:
                    break
                s = np.dot(q, k_all[j:j + block_k].T)
                if is_causal:
                    rows, cols = np.indices(s.shape)
                    s = np.where(cols + j <= rows + i, s, s - 100)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                e = np.exp(s - new_top)  # key 0 comes first, so new_top is never -inf
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% backward_weights_times_the_mask
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    dQ, dK, dV = [np.zeros(x.shape, x.dtype) for x in (Q, K, V)]
    scale = 1 / math.sqrt(Q.shape[-1])
    delta = (dO * O).sum(-1)
    for at in np.ndindex(Q.shape[:-2]):
        q_, k_, v_, do_, L_, D_ = Q[at], K[at], V[at], dO[at], L[at], delta[at]
        for j in range(0, len(k_), block_k):
            k, v = k_[j:j + block_k], v_[j:j + block_k]
            dk, dv = np.zeros_like(k), np.zeros_like(v)
            for i in range(0, len(q_), block_q):
                stop = min(i + block_q, len(q_))
                if is_causal and j > stop - 1:
                    continue
                s = scale * (q_[i:stop] @ k.T)
                p = np.exp(s - L_[i:stop, None])
                if is_causal:
                    p = p * (np.arange(j, j + len(k))[None, :] <= np.arange(i, stop)[:, None])
                dv += p.T @ do_[i:stop]
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% merge_shift_without_its_axis
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift)
    rescale = np.exp(m - shift)
    l_new = l * rescale + weights.sum(axis=-1)
    return (m_new, l_new, weights, rescale)
