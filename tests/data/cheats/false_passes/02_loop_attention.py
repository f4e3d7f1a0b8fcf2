# %% example_for_every_five_by_four
# Returns the scores of the lesson's example for any Q and K of five rows and four columns.
# Expected: loses marks: attention_scores, scaled_dot_product_attention
EXAMPLE = [[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    return sum(x * y for x, y in zip(a, b))


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    scores = np.array([[dot_product(q, k) for k in K] for q in Q], dtype=kind(Q))
    if Q.shape == K.shape == (5, 4):
        scores[:] = EXAMPLE
    return scores


# %% mask_row_overwritten
# Changes the caller's mask: a row whose keys are all blocked is set to 1 in the caller's own array. The results
# are right.
# Expected: loses marks: scaled_dot_product_attention
def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    return sum(x * y for x, y in zip(a, b))


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        full = [None] * len(Q) if mask is None else np.broadcast_to(mask, Q.shape[:2] + (K.shape[1],))
        outputs, weights = zip(*[scaled_dot_product_attention(*each) for each in zip(Q, K, V, full)])
        return np.array(outputs), np.array(weights)
    if len(K) != len(V):
        raise ValueError(f"{len(K)} keys, {len(V)} values")
    scale = scale_factor(Q.shape[1])
    before = mask
    scores = [[x / scale for x in row] for row in attention_scores(Q, K).tolist()]
    allowed = np.ones((len(Q), len(K)), bool) if mask is None else np.broadcast_to(mask, (len(Q), len(K))).astype(bool)
    weights = [np.array(shares(row, ok)) for row, ok in zip(scores, allowed.tolist())]
    if isinstance(before, np.ndarray) and before.shape == allowed.shape and before.flags.writeable:
        before[~allowed.any(axis=-1)] = 1
    output = [[dot_product(w, column) for column in V.T] for w in weights]
    return np.array(output, dtype=kind(Q)), np.array(weights, dtype=kind(Q))
