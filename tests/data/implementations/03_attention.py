# %% einsum_everywhere
# Expected: passes


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) / float(np.sqrt(Q.shape[-1]))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.einsum("...ij,...jc->...ic", weights, V), weights


# %% prescaled_queries
# Expected: passes


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.matmul(Q * Q.shape[-1] ** -0.5, np.moveaxis(K, -1, -2))
    weights = ScaledDotProductAttention(1).compute_weights(scores, mask)
    return np.matmul(weights, V), weights


# %% helpers_and_super
# Expected: passes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k):
        super().__init__(d_k)
        self.steps = [self.scale_scores, self.compute_weights]

    def forward(self, Q, K, V, mask=None):
        value = self.compute_scores(Q, K)
        for step in self.steps:
            value = step(value) if step != self.compute_weights else step(value, mask)
        return self.compute_output(value, V), value


# %% fused_projection
# Expected: passes


def project_qkv(X, W_q, W_k, W_v):
    widths = [W_q.shape[1], W_q.shape[1] + W_k.shape[1]]
    return tuple(np.split(X @ np.concatenate([W_q, W_k, W_v], axis=1), widths, axis=-1))


# %% all_pairs_in_three_dimensions
# Expected: scaled_dot_product_attention: mem


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1) / float(np.sqrt(Q.shape[-1]))  # <-- here
    weights = ScaledDotProductAttention(1).compute_weights(scores, mask)
    return weights @ V, weights


# %% one_query_at_a_time
# Expected: scaled_dot_product_attention: steps mul


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    pairs = [head.forward(Q[..., i : i + 1, :], K, V) for i in range(Q.shape[-2])]
    return np.concatenate([o for o, _ in pairs], -2), np.concatenate([w for _, w in pairs], -2)  # <-- here


# %% map_over_rows
# Expected: scaled_dot_product_attention: steps


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.array([list(map(k.dot, q)) for q, k in zip(Q, K)]) / float(np.sqrt(Q.shape[-1]))  # <-- here
    weights = ScaledDotProductAttention(1).compute_weights(scores)
    return weights @ V, weights


# %% scores_made_twice
# Expected: scaled_dot_product_attention: mul


def scaled_dot_product_attention(Q, K, V, mask=None):
    scale = float(np.sqrt(Q.shape[-1]))
    scores = Q @ K.swapaxes(-1, -2) / scale - (Q @ K.swapaxes(-1, -2)).max(axis=-1, keepdims=True) / scale
    weights = ScaledDotProductAttention(1).compute_weights(scores, mask)
    return weights @ V, weights


# %% identity_in_between
# Expected: scaled_dot_product_attention: mul


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / float(np.sqrt(Q.shape[-1]))
    weights = ScaledDotProductAttention(1).compute_weights(scores, mask)
    return weights @ np.eye(K.shape[-2]) @ V, weights


# %% slow_only_for_wide_vectors
# Expected: scaled_dot_product_attention: steps


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] > 100:
        for _ in range(Q.shape[-1]):  # <-- here
            pass
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)
