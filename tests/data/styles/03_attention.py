import numpy as np

# %% keys_from_query_matrix vectorised


def project_qkv(X, W_q, W_k, W_v):
    tokens = X if X.dtype.kind == "f" else X.astype(np.float64)
    both = np.matmul(tokens, np.concatenate([W_q, W_v], axis=1))
    made, values = np.split(both, [W_k.shape[1]], axis=-1)
    return made, made.copy(), values


# %% keys_from_query_matrix einsum


def project_qkv(X, W_q, W_k, W_v):  # noqa: ARG001
    tokens = X if X.dtype.kind == "f" else X.astype(np.float64)
    queries = np.einsum("...m,mk->...k", tokens, W_q)
    keys = np.einsum("...m,mk->...k", tokens, W_q)
    values = np.einsum("...m,mk->...k", tokens, W_v)
    return queries, keys, values


# %% keys_from_query_matrix lists


def product_by_hand(X, W):
    dtype = np.float32 if X.dtype == W.dtype == np.float32 else np.float64
    rows, columns = X.reshape(-1, X.shape[-1]).tolist(), list(zip(*W.tolist(), strict=True))
    made = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows]
    return np.array(made, dtype=dtype).reshape(*X.shape[:-1], W.shape[1])


def project_qkv(X, W_q, W_k, W_v):  # noqa: ARG001
    Q = product_by_hand(X, W_q)
    return Q, product_by_hand(X, W_q), product_by_hand(X, W_v)


# %% q_and_k_swapped vectorised


def refuse_widths(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"width {Q.shape[-1]} against width {K.shape[-1]}")


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        refuse_widths(Q, K)
        right = (Q + 0.0) @ np.moveaxis(K, -1, -2)
        return np.moveaxis(right, -1, -2)


# %% q_and_k_swapped einsum


def refuse_widths(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"width {Q.shape[-1]} against width {K.shape[-1]}")


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        refuse_widths(Q, K)
        return np.einsum("...qd,...kd->...kq", Q + 0.0, K)


# %% q_and_k_swapped looped


def refuse_widths(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"width {Q.shape[-1]} against width {K.shape[-1]}")


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        refuse_widths(Q, K)
        Q = Q + 0.0
        table = np.empty((*Q.shape[:-2], K.shape[-2], Q.shape[-2]), dtype=Q.dtype)
        for i in range(K.shape[-2]):
            for j in range(Q.shape[-2]):
                table[..., i, j] = (K[..., i, :] * Q[..., j, :]).sum(axis=-1)
        return table


# %% divides_by_d_k vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        root = float(np.sqrt(self.d_k))
        return scores / root / root


# %% divides_by_d_k looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        scaled = np.zeros(scores.shape, dtype=scores.dtype if scores.dtype.kind == "f" else np.float64)
        for place in np.ndindex(scores.shape):
            scaled[place] = scores[place] / self.d_k
        return scaled


# %% divides_by_d_k lists


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        numbers = [score / self.d_k for score in scores.ravel().tolist()]
        return np.array(numbers, dtype=(scores * 1.0).dtype).reshape(scores.shape)


# %% softmax_over_queries vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        seen = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape).astype(bool)
        top = np.max(scores, axis=-2, keepdims=True, where=seen, initial=-np.inf)
        shifted = scores - np.where(np.isfinite(top), top, 0.0)
        exps = np.where(seen, np.exp(np.where(seen, shifted, 0.0)), 0.0)
        total = exps.sum(axis=-2, keepdims=True)
        return np.divide(exps, total, out=np.zeros_like(exps), where=total > 0)


# %% softmax_over_queries einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        if mask is not None:
            scores = np.where(np.asarray(mask).astype(bool), scores, -np.inf)
        top = np.maximum(np.einsum("...qk->...kq", scores).max(axis=-1), -1e8)
        exps = np.exp(scores - top[..., None, :])
        total = np.einsum("...qk->...k", exps)
        return np.einsum("...qk,...k->...qk", exps, 1 / (total + (total == 0)))


# %% softmax_over_queries looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = 0.0 * scaled_scores
        seen = np.broadcast_to(1 if mask is None else mask, scaled_scores.shape)
        for b in np.ndindex(scaled_scores.shape[:-2]):
            for j in range(scaled_scores.shape[-1]):
                column = [i for i in range(scaled_scores.shape[-2]) if seen[(*b, i, j)]]
                top = max((scaled_scores[(*b, i, j)] for i in column), default=0)
                exps = {i: np.exp(scaled_scores[(*b, i, j)] - top) for i in column}
                for i in column:
                    weights[(*b, i, j)] = exps[i] / sum(exps.values())
        return weights


# %% mask_inverted vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        blocked = np.zeros(scores.shape, dtype=bool)
        if mask is not None:
            blocked |= np.asarray(mask).astype(bool)  # True: may not be seen
        scores[blocked] = -np.inf
        top = scores.max(axis=-1, keepdims=True)
        top[np.isneginf(top)] = 0
        exps = np.exp(scores - top)
        total = exps.sum(axis=-1, keepdims=True)
        total[total == 0] = 1
        return exps / total


# %% mask_inverted looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = np.zeros_like(scaled_scores + 0.0)
        blocked = np.broadcast_to(0 if mask is None else mask, weights.shape)
        for row in np.ndindex(weights.shape[:-1]):
            left = np.flatnonzero(blocked[row] == 0)
            if left.size:
                exps = np.exp(scaled_scores[row][left] - scaled_scores[row][left].max())
                weights[row][left] = exps / exps.sum()
        return weights


# %% mask_inverted lists


def share_out(scores, blocked):
    left = [score for score, off in zip(scores, blocked, strict=True) if not off]
    exps = [0.0 if off else float(np.exp(s - max(left))) for s, off in zip(scores, blocked, strict=True)]
    return [e / sum(exps) if sum(exps) else 0.0 for e in exps]


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        kind, n = (scaled_scores + 0.0).dtype, scaled_scores.shape[-1]
        flags = np.broadcast_to(False if mask is None else mask, scaled_scores.shape).reshape(-1, n).tolist()
        rows = scaled_scores.reshape(-1, n).tolist()
        made = [share_out(row, off) for row, off in zip(rows, flags, strict=True)]
        return np.array(made, dtype=kind).reshape(scaled_scores.shape)


# %% mask_after_softmax vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        exps = np.exp(scores - np.amax(scores, axis=-1, keepdims=True))
        weights = exps / np.sum(exps, axis=-1, keepdims=True)
        return weights if mask is None else np.where(np.asarray(mask, dtype=bool), weights, 0.0)


# %% mask_after_softmax einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        exps = np.exp(scaled_scores - scaled_scores.max(-1)[..., None])
        weights = np.einsum("...k,...->...k", exps, 1.0 / np.einsum("...k->...", exps))
        if mask is None:
            return weights
        return np.einsum("...qk,...qk->...qk", weights, np.broadcast_to(mask, weights.shape).astype(weights.dtype))


# %% mask_after_softmax looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = scaled_scores + 0.0
        keep = np.broadcast_to(True if mask is None else mask, weights.shape)
        for row in np.ndindex(weights.shape[:-1]):
            exps = np.exp(weights[row] - max(weights[row]))
            weights[row] = exps / sum(exps)
            for j, seen in enumerate(keep[row]):
                if not seen:
                    weights[(*row, j)] = 0
        return weights


# %% mask_multiplies_scores vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        if mask is not None:
            scores = np.where(np.asarray(mask) == 0, 0.0, scores)
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exps / exps.sum(axis=-1, keepdims=True)


# %% mask_multiplies_scores einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        if mask is not None:
            scores = np.einsum("...k,...k->...k", scores, np.asarray(mask).astype(scores.dtype))
        scores = scores - scores.max(-1)[..., None]
        return np.exp(scores) / np.einsum("...k->...", np.exp(scores))[..., None]


# %% mask_multiplies_scores lists


def softmax_of(row):
    exps = [float(np.exp(x - max(row))) for x in row]
    return [e / sum(exps) for e in exps]


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        kind, n = (scaled_scores + 0.0).dtype, scaled_scores.shape[-1]
        seen = np.broadcast_to(1 if mask is None else mask, scaled_scores.shape).reshape(-1, n)
        rows = [
            softmax_of([x * bool(m) for x, m in zip(row, keep, strict=True)])
            for row, keep in zip(scaled_scores.reshape(-1, n).tolist(), seen.tolist(), strict=True)
        ]
        return np.array(rows, dtype=kind).reshape(scaled_scores.shape)


# %% blocked_row_nan vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        if mask is not None:
            scores[np.broadcast_to(np.asarray(mask) == 0, scores.shape)] = -np.inf
        with np.errstate(all="ignore"):
            logs = scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)
            return np.exp(logs)


# %% blocked_row_nan looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = np.zeros_like(scaled_scores + 0.0)
        seen = np.broadcast_to(True if mask is None else mask, weights.shape)
        with np.errstate(all="ignore"):
            for row in np.ndindex(weights.shape[:-1]):
                keep = seen[row].astype(bool)
                left = scaled_scores[row][keep]
                weights[row][keep] = np.exp(left - left.max()) if left.size else 0.0
                weights[row] = weights[row] / weights[row].sum()
        return weights


# %% blocked_row_nan einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores + 0.0
        seen = np.ones(1, bool) if mask is None else np.asarray(mask).astype(bool)
        top = np.max(scores, axis=-1, keepdims=True, where=np.broadcast_to(seen, scores.shape), initial=-1e30)
        with np.errstate(all="ignore"):
            exps = np.where(seen, np.exp(np.where(seen, scores - top, 0.0)), 0.0)
            return np.einsum("...k,...->...k", exps, 1 / np.einsum("...k->...", exps))


# %% weights_normalised_again vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        total = weights.sum(axis=-1, keepdims=True)
        mixed = np.matmul(weights, V + 0.0)
        return np.divide(mixed, total, out=np.zeros_like(mixed), where=total != 0)


# %% weights_normalised_again einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        total = np.einsum("...k->...", weights)
        shares = np.einsum("...k,...->...k", weights, 1 / np.where(total == 0, 1.0, total))
        return np.einsum("...qk,...kc->...qc", shares, V + 0.0)


# %% weights_normalised_again looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        output = np.zeros((*weights.shape[:-1], V.shape[-1]), dtype=weights.dtype)
        for row in np.ndindex(weights.shape[:-1]):
            for j, weight in enumerate(weights[row]):
                output[row] += weight * V[(*row[:-1], j)]
            if weights[row].sum():
                output[row] = output[row] / weights[row].sum()
        return output


# %% keys_instead_of_values vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return np.matmul(weights, K.astype(weights.dtype)), weights


# %% keys_instead_of_values einsum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return np.einsum("...qk,...kd->...qd", weights, K), weights


# %% keys_instead_of_values looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        output = np.zeros((*weights.shape[:-1], K.shape[-1]), dtype=weights.dtype)
        for j in range(K.shape[-2]):
            output += weights[..., j, None] * K[..., j, None, :]
        return output, weights


# %% explain_always_the_first vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        table = np.stack([raw[0], scaled[0], weights[0]])
        shown = np.array2string(table, precision=5, suppress_small=True)
        output = np.array2string(self.compute_output(weights, V)[0], precision=5, suppress_small=True)
        return f"What does {tokens[query_idx]} look at? {' '.join(tokens)}\n{shown}\n=> {output}"


# %% explain_always_the_first looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        text = f"query {query_idx}: {tokens[query_idx]}\n"
        output, weights = self.forward(Q[:1], K, V)
        raw = self.compute_scores(Q[:1], K)
        for j, token in enumerate(tokens):
            text += f"{j + 1}. {token}: raw {raw[0, j]:.6f}, scaled {self.scale_scores(raw)[0, j]:.6f}, "
            text += f"weight {weights[0, j]:.6f}\n"
        return text + "output " + " | ".join(f"{number:.6f}" for number in output[0])


# %% explain_always_the_first lists


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        root = self.d_k**0.5
        raw = [sum(a * b for a, b in zip(Q[0].tolist(), key, strict=True)) for key in K.tolist()]
        exps = [float(np.exp(score / root)) for score in raw]
        shares = [e / sum(exps) for e in exps]
        mixed = [sum(w * v for w, v in zip(shares, column, strict=True)) for column in V.T.tolist()]
        parts = {"raw": raw, "scaled": [score / root for score in raw], "weights": shares, "output": mixed}
        lines = [f"{name}: " + ", ".join(f"{number:.4f}" for number in part) for name, part in parts.items()]
        return "\n".join([f"{tokens[query_idx]} of {', '.join(tokens)}", *lines])


# %% explain_without_weights vectorised


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        parts = [raw[query_idx], self.scale_scores(raw)[query_idx], self.forward(Q, K, V)[0][query_idx]]
        shown = [np.array2string(part, formatter={"float_kind": lambda x: f"{x:.5f}"}) for part in parts]
        return f"{tokens[query_idx]} of {tokens}: raw {shown[0]}, scaled {shown[1]}, output {shown[2]}"


# %% explain_without_weights looped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        text = f"## {tokens[query_idx]}\n"
        for token, one, other in zip(tokens, raw, self.scale_scores(raw), strict=True):
            text += f"- {token}: {one:.4f} / {self.d_k**0.5:.4f} = {other:.4f}\n"
        return text + f"gets {self.forward(Q, K, V)[0][query_idx].tolist()}"


# %% explain_without_weights lists


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        query, root = Q[query_idx].tolist(), self.d_k**0.5
        raw = [sum(a * b for a, b in zip(query, key, strict=True)) for key in K.tolist()]
        exps = [float(np.exp(score / root)) for score in raw]
        mixed = [sum(e * v for e, v in zip(exps, column, strict=True)) / sum(exps) for column in V.T.tolist()]
        cells = [f"{token} raw={score:.4f} scaled={score / root:.4f}" for token, score in zip(tokens, raw, strict=True)]
        return "; ".join(cells) + " -> " + " ".join(f"{number:.4f}" for number in mixed)


# %% function_without_scaling vectorised


def refuse_sizes(Q, K, V):
    for one, other in ((Q.shape[-1], K.shape[-1]), (K.shape[-2], V.shape[-2])):
        if one != other:
            raise ValueError(f"{one} does not go with {other}")


def scaled_dot_product_attention(Q, K, V, mask=None):
    refuse_sizes(Q, K, V)
    scores = (Q + 0.0) @ np.swapaxes(K, -1, -2)
    seen = np.ones(1, dtype=bool) if mask is None else np.asarray(mask).astype(bool)
    scores = np.where(seen, scores, -np.inf)
    exps = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), -1e30))
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / (total + (total == 0))
    return weights @ V.astype(weights.dtype), weights


# %% function_without_scaling einsum


def refuse_sizes(Q, K, V):
    for one, other in ((Q.shape[-1], K.shape[-1]), (K.shape[-2], V.shape[-2])):
        if one != other:
            raise ValueError(f"{one} does not go with {other}")


def scaled_dot_product_attention(Q, K, V, mask=None):
    refuse_sizes(Q, K, V)
    head = ScaledDotProductAttention(Q.shape[-1])
    weights = head.compute_weights(np.einsum("...qd,...kd->...qk", Q + 0.0, K), mask)
    return np.einsum("...qk,...kc->...qc", weights, V), weights


# %% function_without_scaling looped


def refuse_sizes(Q, K, V):
    for one, other in ((Q.shape[-1], K.shape[-1]), (K.shape[-2], V.shape[-2])):
        if one != other:
            raise ValueError(f"{one} does not go with {other}")


def scaled_dot_product_attention(Q, K, V, mask=None):
    refuse_sizes(Q, K, V)
    Q, shape = Q + 0.0, (*Q.shape[:-1], K.shape[-2])
    weights, output = np.zeros(shape, dtype=Q.dtype), np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    seen = np.broadcast_to(True if mask is None else mask, shape)
    for row in np.ndindex(shape[:-1]):
        left = [j for j in range(shape[-1]) if seen[(*row, j)]]
        scores = {j: (Q[row] * K[(*row[:-1], j)]).sum() for j in left}
        exps = {j: np.exp(scores[j] - max(scores.values())) for j in left}
        for j in left:
            weights[(*row, j)] = exps[j] / sum(exps.values())
            output[row] += weights[(*row, j)] * V[(*row[:-1], j)]
    return output, weights


# %% divides_by_half_of_d_k division


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / (self.d_k / 2)


# %% explain_three_decimals one_line


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        parts = [part[query_idx] for part in (raw, self.scale_scores(raw), weights, output)]
        return f"{tokens} " + " ".join(f"{number:.3f}" for part in parts for number in part)


# %% divides_by_sqrt_n_q in_the_function


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-2]).forward(Q, K, V, mask)


# %% scale_of_the_example in_the_function


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(4).forward(Q, K, V, mask)


# %% function_returns_no_weights index


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)[0]


# %% divides_by_sqrt_n_q first_axis


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / float(np.sqrt(scores.shape[0]))
