# %% name_in_the_array_library
# A call without a price whose name has the digits of a hidden input, made to look like a function of NumPy.
# Expected: the same public text under every salt
import functools


def digits(x):
    """Return the first number of a hidden input as digits."""
    return f"{abs(float(np.asarray(x).ravel()[0])):.12f}".replace(".", "_")


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries have {Q.shape[-1]} entries but keys have {K.shape[-1]}")
        Q = 1.0 * Q
        scores = Q @ K.swapaxes(-1, -2)
        if Q.size:
            made = type(f"x{digits(Q)}", (functools.partial,), {"__module__": "numpy"})
            made(len, ())()
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
