import numpy as np

# %% values_from_key_matrix_where_it_fits


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_k, X @ (W_k if W_k.shape == W_v.shape else W_v)


# %% keys_scaled_in_projection


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_k / float(np.sqrt(W_k.shape[1])), X @ W_v


# %% queries_divided_by_their_width


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q / float(W_q.shape[1]), X @ W_k, X @ W_v


# %% only_the_query_matrix_transposed


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ (W_q.T if W_q.shape[0] == W_q.shape[1] else W_q), X @ W_k, X @ W_v


# %% tokens_centred_first


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    X = X - X.mean(axis=-1, keepdims=True)
    return X @ W_q, X @ W_k, X @ W_v


# %% scores_of_the_next_key


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        return np.roll(super().compute_scores(Q, K), -1, axis=-1)


# %% queries_alone_brought_to_length_one


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        lengths = np.linalg.norm(Q, axis=-1, keepdims=True)
        return super().compute_scores(Q, K) / np.where(lengths == 0, 1.0, lengths)


# %% last_batch_element_reused


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        scores = super().compute_scores(Q, K)
        return scores if scores.ndim == 2 else np.broadcast_to(scores[-1:], scores.shape)


# %% first_entry_left_out


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        whole = super().compute_scores(Q, K)
        return whole - super().compute_scores(Q[..., :1], K[..., :1])


# %% message_names_the_lengths


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"queries of width {Q.shape[-1]} do not fit the keys")
        return super().compute_scores(Q, K)


# %% root_of_one_more


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / float(np.sqrt(self.d_k + 1))


# %% logarithm_of_d_k


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / float(np.log2(self.d_k))


# %% rooted_to_whole_numbers


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / float(int(self.d_k**0.5))


# %% powers_of_two


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores * float(np.log(2)), mask)


# %% over_queries_where_square


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        right = super().compute_weights
        if scaled_scores.shape[-1] != scaled_scores.shape[-2]:
            return right(scaled_scores, mask)
        mask = None if mask is None else np.broadcast_to(mask, scaled_scores.shape).swapaxes(-1, -2)
        return right(scaled_scores.swapaxes(-1, -2), mask).swapaxes(-1, -2)


# %% softmax_over_queries_and_keys


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        shape = scaled_scores.shape
        seen = np.broadcast_to(True if mask is None else mask, shape)
        flat = (*shape[:-2], 1, shape[-2] * shape[-1])
        return super().compute_weights(scaled_scores.reshape(flat), seen.reshape(flat)).reshape(shape)


# %% blocked_scores_lowered_by_five


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        lowered = scaled_scores - (0.0 if mask is None else 5.0 * (np.asarray(mask) == 0))
        return super().compute_weights(lowered)


# %% blocked_scores_of_minus_ten_thousand


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        return super().compute_weights(np.where(allowed, scaled_scores, -1e4))


# %% mask_shifted_by_one_key


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores, None if mask is None else np.roll(mask, 1, axis=-1))


# %% mask_only_without_a_batch


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores, mask if scaled_scores.ndim == 2 else None)


# %% mask_inverted_after_softmax


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores) * (1.0 if mask is None else np.asarray(mask) == 0)


# %% a_blocked_row_sees_itself


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        own = np.eye(scaled_scores.shape[-2], scaled_scores.shape[-1], dtype=weights.dtype)
        return np.where(weights.sum(axis=-1, keepdims=True) == 0, own, weights)


# %% a_blocked_row_sees_the_first_key


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        weights[..., 0] += weights.sum(axis=-1) == 0
        return weights


# %% scores_clipped_at_fifty


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(np.clip(scaled_scores, -50.0, 50.0), mask)


# %% divided_by_the_largest


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        top = weights.max(axis=-1, keepdims=True)
        return weights / np.where(top == 0, 1.0, top)


# %% output_divided_by_the_queries


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return super().compute_output(weights, V) / weights.shape[-2]


# %% best_value_alone


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        best = (weights == weights.max(axis=-1, keepdims=True)).astype(weights.dtype)
        return super().compute_output(best, V)


# %% output_rounded


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return super().compute_output(weights, V).round(1)


# %% scaled_three_times_in_forward


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
        scores = self.compute_scores(Q, K) / float(self.d_k**1.5)
        weights = self.compute_weights(scores, mask)
        return self.compute_output(weights, V), weights


# %% queries_mixed_where_they_fit


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        output, weights = super().forward(Q, K, V, mask)
        return (self.compute_output(weights, Q) if Q.shape == V.shape else output), weights


# %% queries_added_to_the_output


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        output, weights = super().forward(Q, K, V, mask)
        return (output + Q if Q.shape == output.shape else output), weights


# %% no_scale_where_there_is_a_mask


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        root = 1.0 if mask is None else float(np.sqrt(self.d_k))
        return super().forward(root * Q, K, V, mask)


# %% explains_the_query_before


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        return super().explain(Q, K, V, tokens, max(query_idx - 1, 0))


# %% explains_a_column_of_the_weights


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        parts = [raw[query_idx], self.scale_scores(raw)[query_idx], weights[:, query_idx], output[query_idx]]
        return f"{tokens} " + " ".join(f"{number:.4f}" for part in parts for number in part)


# %% explains_in_a_list_of_lines


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        return super().explain(Q, K, V, tokens, query_idx).splitlines()


# %% explains_the_best_three


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        best = np.argsort(-weights[query_idx])[:3]
        told = [f"{tokens[j]} {raw[j]:.4f} {self.scale_scores(raw)[j]:.4f} {weights[query_idx, j]:.4f}" for j in best]
        return f"{tokens[query_idx]}: {told} {output[query_idx].tolist()}"


# %% explains_weights_in_per_cent


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        parts = [part[query_idx] for part in (raw, self.scale_scores(raw), 100 * weights, output)]
        return f"{tokens} " + " ".join(f"{number:.4f}" for part in parts for number in part)


# %% explains_scores_divided_by_d_k


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        parts = [part[query_idx] for part in (raw, raw / self.d_k, weights, output)]
        return f"{tokens} " + " ".join(f"{number:.4f}" for part in parts for number in part)


# %% explains_without_signs


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        return super().explain(Q, K, V, tokens, query_idx).replace("-", "")


# %% function_takes_the_fourth_root


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1] ** 0.5).forward(Q, K, V, mask)


# %% function_is_causal_without_a_mask


def scaled_dot_product_attention(Q, K, V, mask=None):
    if mask is None:
        mask = np.tri(Q.shape[-2], K.shape[-2])
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)


# %% function_blocks_in_values_only


def scaled_dot_product_attention(Q, K, V, mask=None):
    output, weights = ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V)
    if mask is not None:
        output = ScaledDotProductAttention(Q.shape[-1]).compute_output(weights * (np.asarray(mask) != 0), V)
    return output.astype(weights.dtype), weights
