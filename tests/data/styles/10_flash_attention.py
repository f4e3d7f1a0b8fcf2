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


# %% merge_old_sum_not_rescaled one_block
def merge_softmax(m, l, scores):
    # put the old maximum in front as one more column, so one exp does everything
    both = np.concatenate([m[..., None], scores], axis=-1)
    m_new = both.max(axis=-1)
    ref = np.where(np.isfinite(m_new), m_new, np.zeros_like(m_new))
    e = np.exp(both - ref[..., None])
    rescale, weights = e[..., 0], e[..., 1:]
    return m_new, l + weights.sum(-1), weights, rescale


# %% merge_old_sum_forgotten one_block
def merge_softmax(m, l, scores):
    # put the old maximum in front as one more column, so one exp does everything
    both = np.concatenate([m[..., None], scores], axis=-1)
    m_new = both.max(axis=-1)
    ref = np.where(np.isfinite(m_new), m_new, np.zeros_like(m_new))
    e = np.exp(both - ref[..., None])
    rescale, weights = e[..., 0], e[..., 1:]
    return m_new, weights.sum(-1), weights, rescale


# %% merge_maximum_of_the_tile columns
def merge_softmax(m, l, scores):
    """-inf rows are handled separately"""
    top = scores.max(axis=-1)
    m_new = top.copy()
    shift = m_new.copy()
    shift[np.isneginf(shift)] = 0
    p = np.exp(scores - shift[..., None])
    a = np.exp(m - shift)
    return (m_new, a * l + np.einsum("...b->...", p), p, a)


# %% merge_without_a_maximum plain
def merge_softmax(m, l, scores):
    e = np.exp(scores)
    top = np.maximum(m, np.max(scores, axis=1))
    factor = np.exp(m - np.where(top == -np.inf, 0, top))
    return top, l * factor + e.sum(axis=1), e, np.ones(len(m), dtype=m.dtype)


# %% merge_weights_divided quotient
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    # a row that has seen nothing yet: avoid -inf - (-inf)
    m_safe = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    weights = np.exp(scores - m_safe[..., None])
    rescale = np.exp(m - m_safe)
    l_new = rescale * l + weights.sum(axis=-1)
    share = weights / np.where(l_new > 0, l_new, 1)[:, None]
    return m_new, l_new, share.astype(scores.dtype), rescale


# %% merge_nan_of_a_blocked_row short
def merge_softmax(m, l, scores):
    with np.errstate(all="ignore"):
        both = np.column_stack([m, scores])
        top = both.max(axis=1)
        e = np.exp(both - top.reshape(-1, 1))
    return top, l * e[:, 0] + e[:, 1:].sum(axis=1), e[:, 1:], e[:, 0]


# %% merge_starts_at_zero columns
def merge_softmax(m, l, scores):
    """-inf rows are handled separately"""
    top = scores.max(axis=-1)
    m_new = np.maximum(np.where(m > top, m, top), 0)
    shift = m_new.copy()
    shift[np.isneginf(shift)] = 0
    p = np.exp(scores - shift[..., None])
    a = np.exp(m - shift)
    return (m_new, a * l + np.einsum("...b->...", p), p, a)


# %% merge_returns_another_order lowest_float
def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1, initial=-np.inf))
    shift = np.maximum(m_new, np.finfo(scores.dtype).min)
    weights = np.exp(scores - np.expand_dims(shift, -1))
    rescale = np.exp(m - shift)
    l_new = l * rescale
    l_new += weights.sum(axis=-1)
    return weights, m_new, l_new, rescale


# %% accumulator_not_rescaled written_out
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
                out = out + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% only_the_last_tile written_out
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
                out = np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% never_divided object
class OnlineSoftmax:
    def __init__(self, rows, width, dtype):
        self.m = np.full(rows, -np.inf, dtype=dtype)
        self.l = np.zeros(rows, dtype=dtype)
        self.values = np.zeros((rows, width), dtype=dtype)

    def add(self, scores, v):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.values = self.values * rescale[:, None] + weights @ v

    @property
    def output(self):
        return self.values

    @property
    def log_sum(self):
        return self.m + np.log(self.l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim >= 3:
        O, L = [], []
        for q, k, v in zip(Q, K, V):
            o, log_sum = flash_attention(q, k, v, block_q, block_k, is_causal)
            O.append(o)
            L.append(log_sum)
        return np.array(O), np.array(L)
    n_q, n_k = len(Q), len(K)
    tiles_q, tiles_k = math.ceil(n_q / block_q), math.ceil(n_k / block_k)
    O, L = np.empty((n_q, V.shape[1]), Q.dtype), np.empty((n_q,), Q.dtype)
    for a in range(tiles_q):
        first_q, last_q = a * block_q, min((a + 1) * block_q, n_q) - 1
        state = OnlineSoftmax(last_q - first_q + 1, V.shape[1], Q.dtype)
        for b in range(tiles_k):
            first_k, last_k = b * block_k, min((b + 1) * block_k, n_k) - 1
            if is_causal and first_k > last_q:
                break
            s = Q[first_q:last_q + 1] @ K[first_k:last_k + 1].T / Q.shape[1] ** 0.5
            if is_causal and last_k > first_q:  # only these tiles touch the diagonal
                future = np.arange(first_k, last_k + 1)[None] > np.arange(first_q, last_q + 1)[:, None]
                s = np.ma.filled(np.ma.array(s, mask=future), -np.inf)
            state.add(s, V[first_k:last_k + 1])
        O[first_q:last_q + 1] = state.output
        L[first_q:last_q + 1] = state.log_sum
    return O, L


# %% log_sum_without_the_maximum object
class OnlineSoftmax:
    def __init__(self, rows, width, dtype):
        self.m = np.full(rows, -np.inf, dtype=dtype)
        self.l = np.zeros(rows, dtype=dtype)
        self.values = np.zeros((rows, width), dtype=dtype)

    def add(self, scores, v):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.values = self.values * rescale[:, None] + weights @ v

    @property
    def output(self):
        return self.values / self.l[:, None]

    @property
    def log_sum(self):
        return np.log(self.l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim >= 3:
        O, L = [], []
        for q, k, v in zip(Q, K, V):
            o, log_sum = flash_attention(q, k, v, block_q, block_k, is_causal)
            O.append(o)
            L.append(log_sum)
        return np.array(O), np.array(L)
    n_q, n_k = len(Q), len(K)
    tiles_q, tiles_k = math.ceil(n_q / block_q), math.ceil(n_k / block_k)
    O, L = np.empty((n_q, V.shape[1]), Q.dtype), np.empty((n_q,), Q.dtype)
    for a in range(tiles_q):
        first_q, last_q = a * block_q, min((a + 1) * block_q, n_q) - 1
        state = OnlineSoftmax(last_q - first_q + 1, V.shape[1], Q.dtype)
        for b in range(tiles_k):
            first_k, last_k = b * block_k, min((b + 1) * block_k, n_k) - 1
            if is_causal and first_k > last_q:
                break
            s = Q[first_q:last_q + 1] @ K[first_k:last_k + 1].T / Q.shape[1] ** 0.5
            if is_causal and last_k > first_q:  # only these tiles touch the diagonal
                future = np.arange(first_k, last_k + 1)[None] > np.arange(first_q, last_q + 1)[:, None]
                s = np.ma.filled(np.ma.array(s, mask=future), -np.inf)
            state.add(s, V[first_k:last_k + 1])
        O[first_q:last_q + 1] = state.output
        L[first_q:last_q + 1] = state.log_sum
    return O, L


# %% log_sum_is_the_maximum normalised
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        O = np.empty(Q.shape[:-1] + V.shape[-1:], Q.dtype)
        L = np.empty(Q.shape[:-1], Q.dtype)
        for b in range(len(Q)):
            O[b], L[b] = flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal)
        return O, L
    O = np.zeros((Q.shape[0], V.shape[1]), Q.dtype)
    m, l = np.full(Q.shape[0], -np.inf, Q.dtype), np.zeros(Q.shape[0], Q.dtype)
    for i in range(0, Q.shape[0], block_q):
        rows = slice(i, min(i + block_q, Q.shape[0]))
        for j in range(0, K.shape[0], block_k):
            cols = slice(j, min(j + block_k, K.shape[0]))
            if is_causal and cols.start > rows.stop - 1:
                continue
            S = Q[rows] @ K[cols].T * (1 / math.sqrt(Q.shape[1]))
            if is_causal:
                S[np.arange(cols.start, cols.stop)[None, :] > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
            m_new, l_new, P, r = merge_softmax(m[rows], l[rows], S)
            O[rows] = ((l[rows] * r)[:, None] * O[rows] + P @ V[cols]) / l_new[:, None]
            m[rows], l[rows] = m_new, l_new
    return O, m


# %% no_scaling written_out
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    for index in np.ndindex(Q.shape[:-2]):
        q_all, k_all, v_all = Q[index], K[index], V[index]
        i = 0
        while i < q_all.shape[0]:
            q = q_all[i:i + block_q]
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


# %% divides_by_d_k object
class OnlineSoftmax:
    def __init__(self, rows, width, dtype):
        self.m = np.full(rows, -np.inf, dtype=dtype)
        self.l = np.zeros(rows, dtype=dtype)
        self.values = np.zeros((rows, width), dtype=dtype)

    def add(self, scores, v):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.values = self.values * rescale[:, None] + weights @ v

    @property
    def output(self):
        return self.values / self.l[:, None]

    @property
    def log_sum(self):
        return self.m + np.log(self.l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim >= 3:
        O, L = [], []
        for q, k, v in zip(Q, K, V):
            o, log_sum = flash_attention(q, k, v, block_q, block_k, is_causal)
            O.append(o)
            L.append(log_sum)
        return np.array(O), np.array(L)
    n_q, n_k = len(Q), len(K)
    tiles_q, tiles_k = math.ceil(n_q / block_q), math.ceil(n_k / block_k)
    O, L = np.empty((n_q, V.shape[1]), Q.dtype), np.empty((n_q,), Q.dtype)
    for a in range(tiles_q):
        first_q, last_q = a * block_q, min((a + 1) * block_q, n_q) - 1
        state = OnlineSoftmax(last_q - first_q + 1, V.shape[1], Q.dtype)
        for b in range(tiles_k):
            first_k, last_k = b * block_k, min((b + 1) * block_k, n_k) - 1
            if is_causal and first_k > last_q:
                break
            s = Q[first_q:last_q + 1] @ K[first_k:last_k + 1].T / Q.shape[1]
            if is_causal and last_k > first_q:  # only these tiles touch the diagonal
                future = np.arange(first_k, last_k + 1)[None] > np.arange(first_q, last_q + 1)[:, None]
                s = np.ma.filled(np.ma.array(s, mask=future), -np.inf)
            state.add(s, V[first_k:last_k + 1])
        O[first_q:last_q + 1] = state.output
        L[first_q:last_q + 1] = state.log_sum
    return O, L


# %% causal_ignored normalised
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim > 2:
        O = np.empty(Q.shape[:-1] + V.shape[-1:], Q.dtype)
        L = np.empty(Q.shape[:-1], Q.dtype)
        for b in range(len(Q)):
            O[b], L[b] = flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal)
        return O, L
    is_causal = 0
    O = np.zeros((Q.shape[0], V.shape[1]), Q.dtype)
    m, l = np.full(Q.shape[0], -np.inf, Q.dtype), np.zeros(Q.shape[0], Q.dtype)
    for i in range(0, Q.shape[0], block_q):
        rows = slice(i, min(i + block_q, Q.shape[0]))
        for j in range(0, K.shape[0], block_k):
            cols = slice(j, min(j + block_k, K.shape[0]))
            if is_causal and cols.start > rows.stop - 1:
                continue
            S = Q[rows] @ K[cols].T * (1 / math.sqrt(Q.shape[1]))
            if is_causal:
                S[np.arange(cols.start, cols.stop)[None, :] > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
            m_new, l_new, P, r = merge_softmax(m[rows], l[rows], S)
            O[rows] = ((l[rows] * r)[:, None] * O[rows] + P @ V[cols]) / l_new[:, None]
            m[rows], l[rows] = m_new, l_new
    return O, m + np.log(l)


# %% causal_by_the_tile written_out
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
                    s = np.where(cols <= rows, s, -np.inf).astype(Q.dtype)
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


# %% causal_only_whole_tiles object
class OnlineSoftmax:
    def __init__(self, rows, width, dtype):
        self.m = np.full(rows, -np.inf, dtype=dtype)
        self.l = np.zeros(rows, dtype=dtype)
        self.values = np.zeros((rows, width), dtype=dtype)

    def add(self, scores, v):
        self.m, self.l, weights, rescale = merge_softmax(self.m, self.l, scores)
        self.values = self.values * rescale[:, None] + weights @ v

    @property
    def output(self):
        return self.values / self.l[:, None]

    @property
    def log_sum(self):
        return self.m + np.log(self.l)


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    if Q.ndim >= 3:
        O, L = [], []
        for q, k, v in zip(Q, K, V):
            o, log_sum = flash_attention(q, k, v, block_q, block_k, is_causal)
            O.append(o)
            L.append(log_sum)
        return np.array(O), np.array(L)
    n_q, n_k = len(Q), len(K)
    tiles_q, tiles_k = math.ceil(n_q / block_q), math.ceil(n_k / block_k)
    O, L = np.empty((n_q, V.shape[1]), Q.dtype), np.empty((n_q,), Q.dtype)
    for a in range(tiles_q):
        first_q, last_q = a * block_q, min((a + 1) * block_q, n_q) - 1
        state = OnlineSoftmax(last_q - first_q + 1, V.shape[1], Q.dtype)
        for b in range(tiles_k):
            first_k, last_k = b * block_k, min((b + 1) * block_k, n_k) - 1
            if is_causal and first_k > last_q:
                break
            s = Q[first_q:last_q + 1] @ K[first_k:last_k + 1].T / Q.shape[1] ** 0.5
            if False:
                future = np.arange(first_k, last_k + 1)[None] > np.arange(first_q, last_q + 1)[:, None]
                s = np.ma.filled(np.ma.array(s, mask=future), -np.inf)
            state.add(s, V[first_k:last_k + 1])
        O[first_q:last_q + 1] = state.output
        L[first_q:last_q + 1] = state.log_sum
    return O, L


# %% returns_log_sums_first written_out
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
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return L, O


# %% backward_row_sum_missing keys_outside
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
                ds = scale * p * (do_[i:stop] @ v.T)
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_no_scaling_of_the_gradients keys_outside
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
                ds = p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_keys_not_accumulated loops
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return np.stack(dQ), np.stack(dK), np.stack(dV)
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P, i - j)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dQ[i:i2] + dS @ K[j:j2]
            dK[j:j2] = dS.T @ Q[i:i2]
            dV[j:j2] = dV[j:j2] + P.T @ dO[i:i2]
            j = j2
        i = i2
    return dQ, dK, dV


# %% backward_values_not_accumulated loops
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return np.stack(dQ), np.stack(dK), np.stack(dV)
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P, i - j)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dQ[i:i2] + dS @ K[j:j2]
            dK[j:j2] = dK[j:j2] + dS.T @ Q[i:i2]
            dV[j:j2] = P.T @ dO[i:i2]
            j = j2
        i = i2
    return dQ, dK, dV


# %% backward_queries_not_accumulated loops
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return np.stack(dQ), np.stack(dK), np.stack(dV)
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P, i - j)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dS @ K[j:j2]
            dK[j:j2] = dK[j:j2] + dS.T @ Q[i:i2]
            dV[j:j2] = dV[j:j2] + P.T @ dO[i:i2]
            j = j2
        i = i2
    return dQ, dK, dV


# %% backward_causal_by_the_tile loops
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return np.stack(dQ), np.stack(dK), np.stack(dV)
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dQ[i:i2] + dS @ K[j:j2]
            dK[j:j2] = dK[j:j2] + dS.T @ Q[i:i2]
            dV[j:j2] = dV[j:j2] + P.T @ dO[i:i2]
            j = j2
        i = i2
    return dQ, dK, dV


# %% backward_values_from_scores keys_outside
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
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dv += ds.T @ do_[i:stop]
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_returns_another_order loops
def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    check_sizes(Q, K, V, block_q, block_k)
    if len(Q.shape) > 2:
        dQ, dK, dV = [], [], []
        for b in range(Q.shape[0]):
            a, c, e = flash_attention_backward(
                Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal=is_causal)
            dQ.append(a)
            dK.append(c)
            dV.append(e)
        return tuple(map(np.stack, (dQ, dK, dV)))
    n_q, n_k = Q.shape[0], K.shape[0]
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = Q * 0, K * 0, V * 0
    i = 0
    while i < n_q:
        i2 = min(n_q, i + block_q)
        D = np.sum(O[i:i2] * dO[i:i2], axis=1).reshape(i2 - i, 1)
        j = 0
        while j < n_k:
            j2 = min(n_k, j + block_k)
            if is_causal and j > i2 - 1:
                break
            P = np.exp(Q[i:i2] @ K[j:j2].T / root - L[i:i2].reshape(i2 - i, 1))
            if is_causal:
                P = np.tril(P, i - j)
            dS = P * (dO[i:i2] @ V[j:j2].T - D) / root
            dQ[i:i2] = dQ[i:i2] + dS @ K[j:j2]
            dK[j:j2] = dK[j:j2] + dS.T @ Q[i:i2]
            dV[j:j2] = dV[j:j2] + P.T @ dO[i:i2]
            j = j2
        i = i2
    return dV, dK, dQ


# %% divides_by_the_width_of_the_values written_out
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = as_float(Q, K, V)
    check_sizes(Q, K, V, block_q, block_k)
    O = np.zeros(Q.shape[:-1] + V.shape[-1:], dtype=Q.dtype)
    L = np.zeros(Q.shape[:-1], dtype=Q.dtype)
    root = math.sqrt(V.shape[-1])
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


# %% backward_row_sum_added keys_outside
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
                ds = scale * p * (do_[i:stop] @ v.T + D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% log_sum_is_the_sum written_out
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
            L[index][i:i + block_q] = total[:, 0]
            i += block_q
    return O, L


# %% log_sum_adds_the_sum written_out
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
            L[index][i:i + block_q] = (top + total)[:, 0]
            i += block_q
    return O, L


# %% log_sum_with_log2 written_out
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
            L[index][i:i + block_q] = top[:, 0] + np.log2(total[:, 0])
            i += block_q
    return O, L


# %% causal_first_query_sees_nothing written_out
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
                    s = np.where(cols + j < rows + i, s, -np.inf).astype(Q.dtype)
                new_top = np.maximum(top, s.max(axis=1, keepdims=True))
                safe = np.where(new_top == -np.inf, np.zeros_like(new_top), new_top)
                e = np.exp(s - safe)
                factor = np.exp(top - safe)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L


# %% backward_queries_not_scaled keys_outside
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
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k / scale
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_keys_not_scaled keys_outside
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
                ds = scale * p * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop] / scale
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% backward_weights_missing keys_outside
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
                ds = scale * (do_[i:stop] @ v.T - D_[i:stop, None])
                dk += ds.T @ q_[i:stop]
                dQ[at][i:stop] += ds @ k
            dK[at][j:j + block_k], dV[at][j:j + block_k] = dk, dv
    return dQ, dK, dV


# %% merge_starts_at_zero written_out
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
            top = np.zeros((q.shape[0], 1), dtype=Q.dtype)
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
                e = np.exp(s - new_top)
                factor = np.exp(top - new_top)
                total = total * factor + e.sum(axis=1, keepdims=True)
                out = out * factor + np.dot(e, v_all[j:j + block_k])
                top = new_top
                j += block_k
            O[index][i:i + block_q] = out / total
            L[index][i:i + block_q] = (top + np.log(total))[:, 0]
            i += block_q
    return O, L
