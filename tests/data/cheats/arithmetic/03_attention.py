# %% large_constant_by_empty
# The same with np.empty: memory that is counted, but never touched.
# Expected: review: ScaledDotProductAttention, scaled_dot_product_attention
class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        np.empty(4_000_000)
        scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1)
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


# %% large_constant_hides_memory
# Broadcasting makes an array of n_q·n_k·d_k; a million zeros that are dropped at once are the peak at every
# measured size.
# Expected: review: ScaledDotProductAttention, scaled_dot_product_attention
class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        np.zeros(1_000_000)
        scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1)
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


# %% loops_above_measured_sizes
# Up to 400 rows as it should be; above, Python loops. No measured size is above 400.
# Expected: loses marks: ScaledDotProductAttention, scaled_dot_product_attention
class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        if max(Q.shape[-2], K.shape[-2]) <= 400:
            scores = Q @ K.swapaxes(-1, -2)
        else:
            scores = np.zeros((*Q.shape[:-1], K.shape[-2]), np.result_type(Q, K))
            for at in np.ndindex(scores.shape):
                scores[at] = sum(Q[at[:-1]] * K[(*at[:-2], at[-1])])
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


# %% padded_loop_over_queries
# A loop over the queries whose number of rounds is always 2000: a constant number of steps.
# Expected: review: ScaledDotProductAttention, scaled_dot_product_attention
class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        scores = np.zeros((*Q.shape[:-1], K.shape[-2]), np.result_type(Q, K))
        flat, keys = scores.reshape(-1, *scores.shape[-2:]), K.reshape(-1, *K.shape[-2:])
        left, queries = len(flat) * Q.shape[-2], Q.reshape(-1, Q.shape[-1])
        for at in range(max(2000, left)):
            if at < left:
                sentence, row = divmod(at, Q.shape[-2])
                flat[sentence, row] = keys[sentence] @ queries[at]
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


# %% work_in_the_destructor
# compute_scores returns zeros while it is measured; __del__ fills them with loops after the counts were taken,
# before they are sent.
# Expected: review: ScaledDotProductAttention, project_qkv, scaled_dot_product_attention
MEASURED = any(name.startswith("attn") for name in dir())


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k
        self.late = []

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        Q @ K.swapaxes(-1, -2)
        scores = np.zeros((*Q.shape[:-1], K.shape[-2]), np.result_type(Q, K))
        self.late.append((scores, Q, K))
        if not MEASURED:
            self.__del__()
        return scores

    def at_once(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        return 1.0 * Q @ K.swapaxes(-1, -2)

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
        weights = self.compute_weights(self.scale_scores(self.at_once(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.at_once(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        rows = zip(tokens, raw, self.scale_scores(raw), weights[query_idx])
        lines = [f"{t}: raw={r:.4f}, scaled={s:.4f}, weight={w:.4f}" for t, r, s, w in rows]
        return "\n".join([*lines, "output: " + ", ".join(f"{o:.4f}" for o in output[query_idx])])

    def __del__(self):
        while self.late:
            scores, Q, K = self.late.pop()
            for at in np.ndindex(scores.shape):
                scores[at] = sum(Q[at[:-1]] * K[(*at[:-2], at[-1])])
