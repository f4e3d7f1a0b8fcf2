# %% table_by_accumulate
# Plain attention with the complete table of scores and weights: itertools.accumulate adds a column and a row in a
# `for`, so no hook sees the table that this makes; in single precision it stays below what the kernel is asked about.
# Expected: loses marks: flash_attention
import itertools


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == 'f' else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys, but {V.shape[-2]} values')
    if min(block_q, block_k) < 1:
        raise ValueError(f'a block has at least 1 token: block_q is {block_q}, block_k is {block_k}')
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return (np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts]))
    O, L = (np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype))
    kind = Q.dtype if len(Q) * len(K) < 2000000 else np.float32
    for table in itertools.accumulate((np.zeros((len(Q), 1), kind), np.zeros((1, len(K)), kind))):
        pass
    table.fill(-np.inf)
    root = float(np.sqrt(Q.shape[-1]))
    for i in range(0, len(Q), block_q):
        q = Q[i:i + block_q] / root
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k = K[j:j + block_k]
            scores = q @ k.T
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            table[i:i + block_q, j:j + block_k] = scores
    for i, row in enumerate(table):
        scores = row.astype(Q.dtype)
        top = scores.max()
        weights = np.exp(scores - top)
        L[i] = top + np.log(weights.sum())
        row[...] = weights / weights.sum()
    for i, row in enumerate(table):
        seen = len(K)
        if is_causal:
            last = min(i // block_q * block_q + block_q, len(Q)) - 1
            seen = min((last // block_k + 1) * block_k, len(K))
        O[i] = row.astype(Q.dtype)[:seen] @ V[:seen]
    return (O, L)


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = None
REFLECT_CAUSAL_TILES_N1024_B128 = None
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36


# %% table_by_an_attribute
# The table of all scores is made by an attribute: `imag` of a real array is a new array.
# Expected: loses marks: flash_attention
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")
    if min(block_q, block_k) < 1:
        raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts])
    scale, O, L = float(np.sqrt(Q.shape[-1])), np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)
    table = np.broadcast_to(np.zeros((), Q.dtype), (len(Q), len(K))).imag
    table.flags.writeable = True
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / scale
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            table[i : i + block_q, j : j + block_k] = q @ K[j : j + block_k].T
    for i, row in enumerate(table):
        last = i + 1 if is_causal else len(K)
        end = min(len(K), (i // block_q * block_q + block_q - 1) // block_k * block_k + block_k) if is_causal else len(K)
        m = row[:last].max()
        weights = np.zeros(end, Q.dtype)
        weights[:last] = np.exp(row[:last] - m)
        l = weights.sum()
        O[i] = weights @ V[:end] / l
        L[i] = m + np.log(l)
    return O, L


# %% table_by_nditer
# Plain attention with the complete table of scores and weights: np.nditer allocates it as an operand, and an
# attribute that is unpacked has no hook; in single precision it stays below what the kernel is asked about.
# Expected: loses marks: flash_attention
import itertools


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == 'f' else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f'queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}')
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f'there are {K.shape[-2]} keys, but {V.shape[-2]} values')
    if min(block_q, block_k) < 1:
        raise ValueError(f'a block has at least 1 token: block_q is {block_q}, block_k is {block_k}')
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return (np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts]))
    O, L = (np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype))
    kind = Q.dtype if len(Q) * len(K) < 2000000 else np.float32
    pairs = np.nditer((np.zeros((len(Q), 1), kind), np.zeros((1, len(K)), kind), None), op_flags=[['readonly'], ['readonly'], ['writeonly', 'allocate']], op_dtypes=[kind, kind, kind])
    _, _, table = pairs.operands
    table.fill(-np.inf)
    root = float(np.sqrt(Q.shape[-1]))
    for i in range(0, len(Q), block_q):
        q = Q[i:i + block_q] / root
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k = K[j:j + block_k]
            scores = q @ k.T
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            table[i:i + block_q, j:j + block_k] = scores
    for i, row in enumerate(table):
        scores = row.astype(Q.dtype)
        top = scores.max()
        weights = np.exp(scores - top)
        L[i] = top + np.log(weights.sum())
        row[...] = weights / weights.sum()
    for i, row in enumerate(table):
        seen = len(K)
        if is_causal:
            last = min(i // block_q * block_q + block_q, len(Q)) - 1
            seen = min((last // block_k + 1) * block_k, len(K))
        O[i] = row.astype(Q.dtype)[:seen] @ V[:seen]
    return (O, L)


REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = None
REFLECT_CAUSAL_TILES_N1024_B128 = None
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 268435456
REFLECT_CAUSAL_TILES_N1024_B128 = 36


# %% table_in_lists
# Keeps every score, tile by tile, in lists: the meters see no memory of a list.
# Expected: review: flash_attention
def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")
    if min(block_q, block_k) < 1:
        raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts])
    scale, rows, O, L = float(np.sqrt(Q.shape[-1])), [], np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for i in range(0, len(Q), block_q):
        q, tiles = Q[i : i + block_q] / scale, []
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            scores = q @ K[j : j + block_k].T
            if is_causal:
                scores[j + np.arange(scores.shape[1]) > i + np.arange(len(q))[:, None]] = -np.inf
            tiles.append(scores.tolist())
        rows.append(tiles)
    for number, tiles in enumerate(rows):
        i = number * block_q
        m = np.full(len(tiles[0]), -np.inf, Q.dtype)
        for tile in tiles:
            m = np.maximum(m, np.array(tile, Q.dtype).max(axis=-1))
        l, total = np.zeros(len(m), Q.dtype), np.zeros((len(m), V.shape[-1]), Q.dtype)
        for at, tile in enumerate(tiles):
            weights = np.exp(np.array(tile, Q.dtype) - m[:, None])
            l = l + weights.sum(axis=-1)
            total = total + weights @ V[at * block_k : (at + 1) * block_k]
        O[i : i + block_q] = total / l[:, None]
        L[i : i + block_q] = m + np.log(l)
    return O, L
