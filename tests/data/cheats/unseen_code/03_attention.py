# %% annotation_with_a_loop
# The scores are made by three Python loops in an annotation; the product that the contract counts is for show.
# Expected: loses marks: ScaledDotProductAttention, scaled_dot_product_attention
class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        Q @ K.swapaxes(-1, -2)
        found = []
        def inner(x: found.extend(sum(a * b for a, b in zip(q, k))
                                  for q, k in ((q, k) for M, N in zip(Q.reshape(-1, *Q.shape[-2:]), K.reshape(-1, *K.shape[-2:]))
                                               for q in M for k in N))): ...
        scores = np.fromiter(found, Q.dtype if Q.dtype == K.dtype else float, Q[..., 0].size * K.shape[-2]).reshape(*Q.shape[:-1], K.shape[-2])
        return scores

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys for {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        rows = zip(tokens, raw, self.scale_scores(raw), weights[query_idx])
        lines = [f"{t}: raw={r:.4f}, scaled={s:.4f}, weight={w:.4f}" for t, r, s, w in rows]
        return "\n".join([*lines, "output: " + ", ".join(f"{o:.4f}" for o in output[query_idx])])


# %% exec_with_a_loop
# The scores are made by Python loops in code that exec defined at import, under the file's own name.
# Expected: review: ScaledDotProductAttention, project_qkv, scaled_dot_product_attention
made = {"np": np}
exec(compile("""
def loops(Q, K):
    scores = np.zeros((*Q.shape[:-1], K.shape[-2]), np.result_type(Q, K))
    for at in np.ndindex(scores.shape):
        scores[at] = sum(Q[at[:-1]] * K[(*at[:-2], at[-1])])
    return scores
""", __file__, "exec"), made)


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        Q @ K.swapaxes(-1, -2)
        scores = made["loops"](Q, K)
        return scores

    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k))

    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        scores = np.where(allowed, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)

    def compute_output(self, weights, V):
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys for {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        rows = zip(tokens, raw, self.scale_scores(raw), weights[query_idx])
        lines = [f"{t}: raw={r:.4f}, scaled={s:.4f}, weight={w:.4f}" for t, r, s, w in rows]
        return "\n".join([*lines, "output: " + ", ".join(f"{o:.4f}" for o in output[query_idx])])
