import math

import numpy as np

# %% nan_where_nothing_was_seen
# The formulas of the paper, as they are: -inf minus -inf.
# Expected: merge_nan_of_a_blocked_row


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=1))
    weights = np.exp(scores - m_new[:, None])
    rescale = np.exp(m - m_new)
    l_new = rescale * l + weights.sum(axis=1)
    return m_new, l_new, weights, rescale


# %% paper_with_two_factors
# m_tilde and l_tilde of the paper; the weights stay relative to the tile's own maximum.
# Expected: merge_weights_of_the_tile


def merge_softmax(m, l, scores):
    m_tilde = np.max(scores, axis=-1)
    safe = np.where(m_tilde == -np.inf, 0.0, m_tilde).astype(scores.dtype)
    p_tilde = np.exp(scores - safe[:, None])
    l_tilde = np.sum(p_tilde, axis=-1)
    m_new = np.maximum(m, m_tilde)
    top = np.where(m_new == -np.inf, 0.0, m_new).astype(scores.dtype)
    alpha, beta = np.exp(m - top), np.exp(m_tilde - top)
    return m_new, alpha * l + beta * l_tilde, p_tilde, alpha


# %% adds_without_rescale
# l + weights.sum(): the old sum is forgotten to be rescaled.
# Expected: merge_old_sum_not_rescaled


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.amax(scores, axis=-1))
    shift = np.where(np.isfinite(m_new), m_new, 0).astype(scores.dtype)
    weights = np.exp(scores - shift[:, np.newaxis])
    rescale = np.exp(m - shift)
    l_new = l + np.sum(weights, axis=-1)
    return m_new, l_new, weights, rescale


# %% maximum_of_everything
# np.max(scores) without an axis.
# Expected: merge_maximum_of_all_rows


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, np.max(scores)).astype(scores.dtype)
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None]).astype(scores.dtype)
    rescale = np.exp(m - shift)
    return m_new, l * rescale + weights.sum(-1), weights, rescale


# %% nan_to_num
# np.nan_to_num cleans up: a row that has seen nothing gets m_new = the lowest number.
# Expected: merge_lowest_number


def merge_softmax(m, l, scores):
    m_new = np.nan_to_num(np.maximum(m, scores.max(axis=-1)))
    weights = np.exp(scores - m_new[:, None])
    rescale = np.exp(m - m_new)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% columns_kept
# keepdims=True for the maximum and the sum: results of (n_q, 1), and (n_q, n_q) by broadcasting.
# Expected: merge_keeps_an_axis


def merge_softmax(m, l, scores):
    m_new = np.maximum(m[:, None], scores.max(axis=-1, keepdims=True))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift)
    rescale = np.exp(m[:, None] - shift)
    l_new = l[:, None] * rescale + weights.sum(axis=-1, keepdims=True)
    return m_new, l_new, weights, rescale


# %% divided_at_once
# The weights are already probabilities.
# Expected: merge_weights_divided


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    e = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    l_new = l * rescale + e.sum(axis=-1)
    weights = np.divide(e, l_new[:, None], out=np.zeros_like(e), where=l_new[:, None] > 0)
    return m_new, l_new, weights, rescale


# %% accumulator_forgotten
# acc += p @ v, without the factor.
# Expected: accumulator_not_rescaled


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features and K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows and V has {V.shape[-2]}")
    for b in (block_q, block_k):
        if b < 1:
            raise ValueError(f"block size {b}")
    dtype = Q.dtype if Q.dtype in (np.float32, np.float64) else np.float64
    n_q, n_k, d = Q.shape[-2], K.shape[-2], Q.shape[-1]
    O = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=dtype)
    L = np.zeros(Q.shape[:-1], dtype=dtype)
    for lead in np.ndindex(*Q.shape[:-2]):
        for i in range(0, n_q, block_q):
            qi = Q[lead][i : i + block_q].astype(dtype)
            m = np.full(len(qi), -np.inf, dtype=dtype)
            l = np.zeros(len(qi), dtype=dtype)
            acc = np.zeros((len(qi), V.shape[-1]), dtype=dtype)
            for j in range(0, n_k, block_k):
                if is_causal and j > i + len(qi) - 1:
                    continue
                s = (qi @ K[lead][j : j + block_k].T / math.sqrt(d)).astype(dtype)
                if is_causal:
                    rows = np.arange(i, i + s.shape[0])[:, None]
                    cols = np.arange(j, j + s.shape[1])[None, :]
                    s = np.where(cols > rows, -np.inf, s).astype(dtype)
                m, l, p, alpha = merge_softmax(m, l, s)
                acc += p @ V[lead][j : j + block_k]
            O[lead][i : i + block_q] = acc / l[:, None]
            L[lead][i : i + block_q] = m + np.log(l)
    return O, L


# %% two_dimensions_only
# n, d = Q.shape: a batch is not thought of.
# Expected: no name: it only raises


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features and K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows and V has {V.shape[-2]}")
    if block_q < 1 or block_k < 1:
        raise ValueError(f"block sizes must be positive: {block_q}, {block_k}")
    N, d = Q.shape
    M, dv = V.shape
    dtype = np.result_type(Q, np.float32)
    O, L = np.zeros((N, dv), dtype=dtype), np.zeros(N, dtype=dtype)
    for i in range(0, N, block_q):
        q = Q[i : i + block_q]
        m, l = np.full(len(q), -np.inf, dtype), np.zeros(len(q), dtype)
        o = np.zeros((len(q), dv), dtype)
        for j in range(0, M, block_k):
            if is_causal and j >= i + len(q):
                break
            s = (q @ K[j : j + block_k].T / math.sqrt(d)).astype(dtype)
            if is_causal:
                s[np.arange(j, j + s.shape[1])[None] > np.arange(i, i + len(q))[:, None]] = -np.inf
            m, l, p, r = merge_softmax(m, l, s)
            o = o * r[:, None] + p @ V[j : j + block_k]
        O[i : i + block_q] = o / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L


# %% whole_blocks_only
# range(n // block): what does not fill a tile is lost, on both sides.
# Expected: whole_tiles_only or ragged_tile_dropped or ragged_queries_dropped


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features and K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows and V has {V.shape[-2]}")
    if block_q < 1 or block_k < 1:
        raise ValueError(f"block sizes must be positive: {block_q}, {block_k}")
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.array([o for o, _ in outs]), np.array([l for _, l in outs])
    N, d = Q.shape
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    O, L = np.zeros((N, V.shape[1]), dtype), np.zeros(N, dtype)
    Tr, Tc = N // block_q, K.shape[0] // block_k
    for i in range(Tr):
        Qi = Q[i * block_q : (i + 1) * block_q]
        m, l = np.full(block_q, -np.inf, dtype), np.zeros(block_q, dtype)
        acc = np.zeros((block_q, V.shape[1]), dtype)
        for j in range(Tc):
            if is_causal and j * block_k > (i + 1) * block_q - 1:
                break
            Kj, Vj = K[j * block_k : (j + 1) * block_k], V[j * block_k : (j + 1) * block_k]
            S = (Qi @ Kj.T / math.sqrt(d)).astype(dtype)
            if is_causal:
                r, c = np.indices(S.shape)
                S[c + j * block_k > r + i * block_q] = -np.inf
            m, l, P, alpha = merge_softmax(m, l, S)
            acc = acc * alpha[:, None] + P @ Vj
        O[i * block_q : (i + 1) * block_q] = acc / l[:, None]
        L[i * block_q : (i + 1) * block_q] = m + np.log(l)
    return O, L


# %% nothing_checked
# The sizes and the blocks are never looked at.
# Expected: nothing_refused or lengths_not_checked


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    scale = float(1 / np.sqrt(Q.shape[-1]))
    out, lse = np.zeros((Q.shape[0], V.shape[1]), dtype), np.zeros(Q.shape[0], dtype)
    for start in range(0, Q.shape[0], block_q):
        end = min(start + block_q, Q.shape[0])
        m, l = np.full(end - start, -np.inf, dtype), np.zeros(end - start, dtype)
        acc = np.zeros((end - start, V.shape[1]), dtype)
        for k_start in range(0, K.shape[0], block_k):
            k_end = min(k_start + block_k, K.shape[0])
            if is_causal and k_start >= end:
                break
            s = (Q[start:end] @ K[k_start:k_end].T * scale).astype(dtype)
            if is_causal:
                s = np.where(np.arange(start, end)[:, None] >= np.arange(k_start, k_end), s, -np.inf).astype(dtype)
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[k_start:k_end]
        out[start:end] = acc / l[:, None]
        lse[start:end] = m + np.log(l)
    return out, lse


# %% everything_asserted
# assert for the sizes and the blocks.
# Expected: asserts


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    assert Q.shape[-1] == K.shape[-1], f"{Q.shape[-1]} != {K.shape[-1]}"
    assert K.shape[-2] == V.shape[-2], f"{K.shape[-2]} != {V.shape[-2]}"
    assert block_q > 0 and block_k > 0, f"{block_q}, {block_k}"
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    scale = float(1 / np.sqrt(Q.shape[-1]))
    out, lse = np.zeros((Q.shape[0], V.shape[1]), dtype), np.zeros(Q.shape[0], dtype)
    for start in range(0, Q.shape[0], block_q):
        end = min(start + block_q, Q.shape[0])
        m, l = np.full(end - start, -np.inf, dtype), np.zeros(end - start, dtype)
        acc = np.zeros((end - start, V.shape[1]), dtype)
        for k_start in range(0, K.shape[0], block_k):
            k_end = min(k_start + block_k, K.shape[0])
            if is_causal and k_start >= end:
                break
            s = (Q[start:end] @ K[k_start:k_end].T * scale).astype(dtype)
            if is_causal:
                s = np.where(np.arange(start, end)[:, None] >= np.arange(k_start, k_end), s, -np.inf).astype(dtype)
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[k_start:k_end]
        out[start:end] = acc / l[:, None]
        lse[start:end] = m + np.log(l)
    return out, lse


# %% tril_of_the_tile
# np.tril of each tile that is on the diagonal or not.
# Expected: causal_by_the_tile


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    Os, Ls = [], []
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q]
        m, l = np.full(len(q), -np.inf, dtype), np.zeros(len(q), dtype)
        acc = np.zeros((len(q), V.shape[-1]), dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            s = (q @ K[j : j + block_k].T / math.sqrt(Q.shape[-1])).astype(dtype)
            if is_causal:
                s[np.triu(np.ones(s.shape, dtype=bool), k=1)] = -np.inf
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[j : j + block_k]
        Os.append(acc / l[:, None])
        Ls.append(m + np.log(l))
    return np.concatenate(Os), np.concatenate(Ls)


# %% masked_with_minus_1e9
# -1e9 in place of minus infinity: right, as every query sees a key in its first tile. L holds the sum only.
# Expected: log_sum_without_the_maximum


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    Os, Ls = [], []
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q]
        m, l = np.full(len(q), -np.inf, dtype), np.zeros(len(q), dtype)
        acc = np.zeros((len(q), V.shape[-1]), dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            s = (q @ K[j : j + block_k].T / math.sqrt(Q.shape[-1])).astype(dtype)
            if is_causal:
                rows, cols = i + np.arange(s.shape[0]), j + np.arange(s.shape[1])
                s = np.where(cols[None, :] <= rows[:, None], s, -1e9).astype(dtype)
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[j : j + block_k]
        Os.append(acc / l[:, None])
        Ls.append(np.log(l))
    return np.concatenate(Os), np.concatenate(Ls)


# %% integers_kept
# np.zeros_like(Q): integers lose their decimals, or minus infinity does not fit.
# Expected: no name: it only raises


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    O, L = np.zeros((len(Q), V.shape[-1]), dtype=Q.dtype), np.zeros(len(Q), dtype=Q.dtype)
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q]
        m, l = np.full(len(q), -np.inf, dtype=Q.dtype), np.zeros(len(q), dtype=Q.dtype)
        acc = np.zeros((len(q), V.shape[-1]), dtype=Q.dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            s = (q @ K[j : j + block_k].T / math.sqrt(Q.shape[-1])).astype(Q.dtype)
            if is_causal:
                s[j + np.arange(s.shape[1]) > i + np.arange(s.shape[0])[:, None]] = -np.inf
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[j : j + block_k]
        O[i : i + block_q] = acc / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L


# %% always_float64
# np.zeros(...) and np.full(...) without a dtype: float32 becomes float64.
# Expected: upcasts


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        outs = [flash_attention(Q[b], K[b], V[b], block_q, block_k, is_causal) for b in range(Q.shape[0])]
        return np.stack([o for o, _ in outs]), np.stack([l for _, l in outs])
    O, L = np.zeros((len(Q), V.shape[-1])), np.zeros(len(Q))
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q]
        m, l = np.full(len(q), -np.inf), np.zeros(len(q))
        acc = np.zeros((len(q), V.shape[-1]))
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            s = q @ K[j : j + block_k].T / np.sqrt(Q.shape[-1])
            if is_causal:
                s[j + np.arange(s.shape[1]) > i + np.arange(s.shape[0])[:, None]] = -np.inf
            m, l, p, a = merge_softmax(m, l, s)
            acc = a[:, None] * acc + p @ V[j : j + block_k]
        O[i : i + block_q] = acc / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L


# %% delta_of_weights
# The backward pass of module 05 for each tile: (dP * P).sum() of the tile.
# Expected: backward_row_sum_of_the_tile


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        all_ = [
            flash_attention_backward(Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal)
            for b in range(len(Q))
        ]
        return tuple(np.stack(one) for one in zip(*all_, strict=True))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    scale = 1 / math.sqrt(Q.shape[-1])
    for j in range(0, len(K), block_k):
        k, v = K[j : j + block_k], V[j : j + block_k]
        for i in range(0, len(Q), block_q):
            q, do = Q[i : i + block_q], dO[i : i + block_q]
            if is_causal and j > i + len(q) - 1:
                continue
            s = q @ k.T * scale
            if is_causal:
                s[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            p = np.exp(s - L[i : i + block_q, None])
            dp = do @ v.T
            ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True)) * scale
            dV[j : j + block_k] += p.T @ do
            dK[j : j + block_k] += ds.T @ q
            dQ[i : i + block_q] += ds @ k
    return dQ, dK, dV


# %% scale_only_in_the_scores
# dS without the scale.
# Expected: backward_no_scaling_of_the_gradients


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    D = np.sum(dO * O, axis=-1)
    d = Q.shape[-1]
    for lead in np.ndindex(*Q.shape[:-2]):
        for j in range(0, K.shape[-2], block_k):
            k, v = K[lead][j : j + block_k], V[lead][j : j + block_k]
            for i in range(0, Q.shape[-2], block_q):
                q, do = Q[lead][i : i + block_q], dO[lead][i : i + block_q]
                if is_causal and j > i + len(q) - 1:
                    continue
                s = q @ k.T / math.sqrt(d)
                if is_causal:
                    s[j + np.arange(len(k))[None] > i + np.arange(len(q))[:, None]] = -np.inf
                p = np.exp(s - L[lead][i : i + block_q][:, None])
                ds = p * (do @ v.T - D[lead][i : i + block_q][:, None])
                dV[lead][j : j + block_k] += p.T @ do
                dK[lead][j : j + block_k] += ds.T @ q
                dQ[lead][i : i + block_q] += ds @ k
    return dQ, dK, dV


# %% assigned_not_added
# dK and dV are assigned for each tile of queries; the loop over queries is outside.
# Expected: backward_keys_and_values_not_accumulated or backward_keys_not_accumulated or backward_values_not_accumulated


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    D = np.sum(dO * O, axis=-1)
    root = math.sqrt(Q.shape[-1])
    for lead in np.ndindex(*Q.shape[:-2]):
        for i in range(0, Q.shape[-2], block_q):
            q, do = Q[lead][i : i + block_q], dO[lead][i : i + block_q]
            dq = np.zeros_like(q)
            for j in range(0, K.shape[-2], block_k):
                if is_causal and j > i + len(q) - 1:
                    break
                k, v = K[lead][j : j + block_k], V[lead][j : j + block_k]
                s = q @ k.T / root
                if is_causal:
                    s[j + np.arange(len(k))[None] > i + np.arange(len(q))[:, None]] = -np.inf
                p = np.exp(s - L[lead][i : i + block_q][:, None])
                ds = p * (do @ v.T - D[lead][i : i + block_q][:, None]) / root
                dV[lead][j : j + block_k] = p.T @ do
                dK[lead][j : j + block_k] = ds.T @ q
                dq += ds @ k
            dQ[lead][i : i + block_q] = dq
    return dQ, dK, dV


# %% backward_checks_nothing
# The forward pass has checked everything.
# Expected: backward_nothing_refused


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    D = np.sum(dO * O, axis=-1)
    root = math.sqrt(Q.shape[-1])
    for lead in np.ndindex(*Q.shape[:-2]):
        for i in range(0, Q.shape[-2], block_q):
            q, do = Q[lead][i : i + block_q], dO[lead][i : i + block_q]
            for j in range(0, K.shape[-2], block_k):
                if is_causal and j > i + len(q) - 1:
                    break
                k, v = K[lead][j : j + block_k], V[lead][j : j + block_k]
                s = q @ k.T / root
                if is_causal:
                    s[j + np.arange(len(k))[None] > i + np.arange(len(q))[:, None]] = -np.inf
                p = np.exp(s - L[lead][i : i + block_q][:, None])
                ds = p * (do @ v.T - D[lead][i : i + block_q][:, None]) / root
                dV[lead][j : j + block_k] += p.T @ do
                dK[lead][j : j + block_k] += ds.T @ q
                dQ[lead][i : i + block_q] += ds @ k
    return dQ, dK, dV


# %% backward_mask_forgotten
# Tiles above the diagonal are skipped, and nothing is masked in the others.
# Expected: backward_causal_only_whole_tiles


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        all_ = [
            flash_attention_backward(Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal)
            for b in range(len(Q))
        ]
        return tuple(np.stack(one) for one in zip(*all_, strict=True))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    scale = 1 / math.sqrt(Q.shape[-1])
    for i in range(0, len(Q), block_q):
        qs = slice(i, min(i + block_q, len(Q)))
        for j in range(0, len(K), block_k):
            if is_causal and j >= qs.stop:
                break
            ks = slice(j, min(j + block_k, len(K)))
            p = np.exp(Q[qs] @ K[ks].T * scale - L[qs, None])
            dV[ks] += p.T @ dO[qs]
            ds = p * (dO[qs] @ V[ks].T - (dO[qs] * O[qs]).sum(-1)[:, None]) * scale
            dQ[qs] += ds @ K[ks]
            dK[ks] += ds.T @ Q[qs]
    return dQ, dK, dV


# %% backward_two_dimensions
# N, d = Q.shape.
# Expected: no name: it only raises


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    N, d = Q.shape
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = (dO * O).sum(axis=1)
    for i in range(0, N, block_q):
        qs = slice(i, min(i + block_q, N))
        for j in range(0, len(K), block_k):
            if is_causal and j >= qs.stop:
                break
            ks = slice(j, min(j + block_k, len(K)))
            s = Q[qs] @ K[ks].T / math.sqrt(d)
            if is_causal:
                s = np.where(np.arange(ks.start, ks.stop) > np.arange(qs.start, qs.stop)[:, None], -np.inf, s)
            p = np.exp(s - L[qs, None])
            dV[ks] += p.T @ dO[qs]
            ds = p * (dO[qs] @ V[ks].T - delta[qs, None]) / math.sqrt(d)
            dQ[qs] += ds @ K[ks]
            dK[ks] += ds.T @ Q[qs]
    return dQ, dK, dV


# %% keys_without_a_transpose
# dK += ds @ q, which fits for square tiles only.
# Expected: no name: in most calls it only raises


def flash_attention_backward(Q, K, V, O, dO, L, block_q, block_k, is_causal=False):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} != {V.shape[-2]}")
    if block_q <= 0 or block_k <= 0:
        raise ValueError(f"{block_q}, {block_k}")
    if Q.ndim > 2:
        all_ = [
            flash_attention_backward(Q[b], K[b], V[b], O[b], dO[b], L[b], block_q, block_k, is_causal)
            for b in range(len(Q))
        ]
        return tuple(np.stack(one) for one in zip(*all_, strict=True))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    scale = 1 / math.sqrt(Q.shape[-1])
    for i in range(0, len(Q), block_q):
        qs = slice(i, min(i + block_q, len(Q)))
        for j in range(0, len(K), block_k):
            if is_causal and j >= qs.stop:
                break
            ks = slice(j, min(j + block_k, len(K)))
            s = Q[qs] @ K[ks].T * scale
            if is_causal:
                s[np.arange(ks.start, ks.stop) > np.arange(qs.start, qs.stop)[:, None]] = -np.inf
            p = np.exp(s - L[qs, None])
            dV[ks] += p @ dO[qs]
            ds = p * (dO[qs] @ V[ks].T - (dO[qs] * O[qs]).sum(-1)[:, None]) * scale
            dQ[qs] += ds @ K[ks]
            dK[ks] += ds @ Q[qs]
    return dQ, dK, dV
