"""Mistakes in attention with arrays, as people write them: in one function, or in one method of a right class."""

import math

import numpy as np

# %% scores_k_t
# K.T as on the whiteboard: right for one sentence, wrong for a batch. Plain.
# Expected: k_t_reverses_all_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError("d_k of Q and K differ: %d and %d" % (Q.shape[-1], K.shape[-1]))
        Q = Q.astype(float) if Q.dtype.kind == "i" else Q
        return np.matmul(Q, K.T)


# %% scores_dot_k_t
# np.dot(Q, K.T), the line of most blogs. For a batch both np.dot and K.T are wrong.
# Expected: dot_of_k_t


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} columns, K has {K.shape[-1]}")
        return np.dot(1.0 * Q, K.T)


# %% scores_transpose_without_axes
# np.transpose(K) without axes, from memory of two dimensions.
# Expected: k_t_reverses_all_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        scores = np.matmul(Q, np.transpose(K))
        return scores.astype(np.float64) if scores.dtype.kind == "i" else scores


# %% scores_transpose_021
# K.transpose(0, 2, 1), written for batches: one sentence and heads raise.
# Expected: transposes_three_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        return 1.0 * Q @ K.transpose(0, 2, 1)


# %% scores_transpose_0132
# K.transpose(0, 1, 3, 2), as for (batch, heads, n, d): anything else raises.
# Expected: transposes_four_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        Q = np.asarray(Q) * 1.0
        return Q @ np.transpose(K, (0, 1, 3, 2))


# %% scores_swapaxes_1_2
# np.swapaxes(K, 1, 2): for batches of sentences only.
# Expected: swaps_fixed_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
        return np.matmul(1.0 * Q, np.swapaxes(K, 1, 2))


# %% scores_einsum_of_two_axes
# einsum with two fixed letters: a batch raises.
# Expected: einsum_of_two_axes


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
        return np.einsum("id,jd->ij", 1.0 * Q, K)


# %% scores_einsum_of_batches
# einsum with a batch letter, as in a PyTorch tutorial: one sentence raises.
# Expected: no name: the exception says it


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
        return np.einsum("bqd,bkd->bqk", 1.0 * Q, K)


# %% scores_einsum_of_heads
# einsum with batch and head letters, from a transformer's code.
# Expected: no name: the exception says it


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
        return np.einsum("bhqd,bhkd->bhqk", 1.0 * Q, K)


# %% scores_einsum_wrong_output
# einsum whose output letters are exchanged: row i belongs to key i.
# Expected: q_and_k_swapped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q: {Q.shape[-1]}, K: {K.shape[-1]}")
        return np.einsum("...qd,...kd->...kq", 1.0 * Q, K)


# %% scores_without_transpose
# Q @ K, without any transposition: it fits only if there are as many keys as entries.
# Expected: keys_not_transposed


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]}, K has {K.shape[-1]}")
        return 1.0 * Q @ K


# %% scores_einsum_without_transpose
# The same in einsum: the letters of a plain product.
# Expected: no name: the exception says it, where n_k is not d_k


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
        return np.einsum("...ij,...jk->...ik", 1.0 * Q, K)


# %% scores_inner
# np.inner, which needs no transposition: right for one sentence, all pairs of sentences for a batch.
# Expected: dot_on_batches


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
        return np.inner(1.0 * Q, K)


# %% scores_sum_of_products
# Products and a sum, written with lists for one sentence.
# Expected: no name: the exception says it


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
        return np.array([[float(sum(a * b for a, b in zip(q, k))) for k in K] for q in Q], dtype=(1.0 * Q).dtype)


# %% scores_of_integers
# Only the product: integers stay integers. The most common line of all.
# Expected: scores_of_integers


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        return Q @ np.swapaxes(K, -1, -2)


# %% projection_of_integers
# Three products and nothing else: integers stay integers.
# Expected: projections_of_integers


def project_qkv(X, W_q, W_k, W_v):
    Q = np.dot(X, W_q)
    K = np.dot(X, W_k)
    V = np.dot(X, W_v)
    return Q, K, V


# %% projection_matrix_first
# W @ X, as in textbooks with column vectors.
# Expected: matrices_on_the_left


def project_qkv(X, W_q, W_k, W_v):
    X = X * 1.0
    return W_q @ X, W_k @ X, W_v @ X


# %% projection_to_float64
# np.array(X, dtype=np.float64) to be safe: float32 is lost.
# Expected: projection_upcasts_float32


def project_qkv(X, W_q, W_k, W_v):
    X = np.asarray(X, dtype=np.float64)
    return X.dot(W_q), X.dot(W_k), X.dot(W_v)


# %% scale_np_sqrt
# np.sqrt of a Python number is a float64 that makes float32 scores float64. Plain.
# Expected: scale_upcasts_float32


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        d_k = self.d_k
        return scores / np.sqrt(d_k)


# %% scale_half
# d_k ** 1/2 is half of d_k.
# Expected: divides_by_half_of_d_k


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / (self.d_k**1 / 2)


# %% scale_rows
# The scale from the first axis of the scores, the number of queries.
# Expected: divides_by_sqrt_n_q


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        return scores / math.sqrt(scores.shape[-2])


# %% scale_in_place_operator
# scores /= ... changes the caller's scores, and integers raise.
# Expected: scale_in_place


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        scores /= math.sqrt(self.d_k)
        return scores


# %% weights_whole_array
# e / e.sum() over the whole array, without a maximum, as written for one row.
# Expected: softmax_over_everything


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores
        if mask is not None:
            scores = np.where(mask, scores, -np.inf)
        e = np.exp(scores)
        return e / e.sum()


# %% weights_whole_array_one_maximum
# e / e.sum() with x - x.max(), the softmax of module 01 for a vector.
# Expected: softmax_over_everything


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        x = scaled_scores
        if mask is not None:
            x = np.where(np.asarray(mask) == 1, x, -1e9)
        e = np.exp(x - np.max(x))
        return e / np.sum(e)


# %% weights_whole_sum_only
# The maximum is of each row, the sum is of everything: keepdims and axis are forgotten in one of the two.
# Expected: one_sum_for_all_rows


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(np.array(mask, dtype=bool), scaled_scores, -np.inf)
        top = np.max(scaled_scores, axis=-1, keepdims=True)
        e = np.exp(scaled_scores - np.where(np.isneginf(top), 0, top))
        return e / (e.sum() or 1)


# %% weights_axis_one
# axis=1 written in, as for one sentence.
# Expected: softmax_over_axis_one


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = np.max(s, axis=1, keepdims=True)
        m = np.where(m == -np.inf, 0, m)
        e = np.exp(s - m)
        z = np.sum(e, axis=1, keepdims=True)
        z = np.where(z == 0, 1, z)
        return e / z


# %% weights_axis_one_sum_only
# The maximum along -1, the sum along 1: half of the code was corrected for batches.
# Expected: no name: half of the code is right for batches


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = np.max(s, axis=-1, keepdims=True)
        e = np.exp(s - np.where(m == -np.inf, 0, m))
        z = np.sum(e, axis=1, keepdims=True)
        return np.divide(e, z, out=np.zeros_like(e), where=z != 0)


# %% weights_axis_zero
# axis=0: the columns sum to 1.
# Expected: softmax_over_axis_zero


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = s.max(axis=0)
        e = np.exp(s - np.where(np.isinf(m), 0, m))
        z = e.sum(axis=0)
        return e / np.where(z == 0, 1, z)


# %% weights_keepdims
# keepdims is forgotten in both: square tables are wrong, others raise.
# Expected: keepdims_forgotten_twice


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -1e30, scaled_scores)
        e = np.exp(s - np.max(s, axis=-1))
        return e / np.sum(e, axis=-1)


# %% weights_keepdims_of_the_sum
# keepdims is forgotten in the sum only.
# Expected: keepdims_forgotten


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isinf(m), 0, m))
        z = e.sum(axis=-1)
        z[z == 0] = 1
        return e / z


# %% weights_new_axis_for_two_dimensions
# [:, None] in place of keepdims: right for two dimensions only.
# Expected: new_axis_at_one


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = s.max(axis=-1)[:, None]
        e = np.exp(s - np.where(np.isinf(m), 0, m))
        z = e.sum(axis=-1)[:, None]
        return e / np.where(z == 0, 1, z)


# %% weights_no_maximum
# np.exp without a maximum, and a guard for blocked rows.
# Expected: no_maximum_subtracted


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        e = np.exp(scaled_scores)
        if mask is not None:
            e = np.where(mask == 0, 0, e)
        z = e.sum(-1, keepdims=True)
        return e / np.where(z == 0, 1, z)


# %% weights_no_maximum_nan_rows
# The shortest softmax with a mask: no maximum, and a blocked row is 0/0.
# Expected: no_maximum_and_nan


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        return np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)


# %% weights_no_maximum_minus_1e9
# The same with -1e9: e to the -1e9 is 0, so a blocked row is 0/0 as well.
# Expected: no_maximum_and_nan


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask == 0, -1e9, scaled_scores)
        e = np.exp(scaled_scores)
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_minus_1e9
# np.where(mask == 0, -1e9, scores) and a stable softmax: a blocked row is uniform.
# Expected: blocked_row_uniform


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask == 0, -1e9, scaled_scores)
        e = np.exp(scaled_scores - np.max(scaled_scores, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)


# %% weights_minus_ten_thousand
# -1e4 in place of -1e9, as for half precision: lower scores lose, too.
# Expected: no name: a fill of another size, with consequences of its own


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask == 0, -1e4, scaled_scores)
        e = np.exp(scaled_scores - np.max(scaled_scores, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)


# %% weights_minus_1e9_by_index
# scores[mask == 0] = -1e9, after a copy: a mask that broadcasts raises.
# Expected: mask_as_an_index or blocked_row_uniform


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = 1.0 * scaled_scores
        if mask is not None:
            s[mask == 0] = -1e9
        s = s - s.max(axis=-1, keepdims=True)
        e = np.exp(s)
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_minus_inf_by_index
# scores[mask == 0] = -np.inf in the caller's own array.
# Expected: mask_as_an_index or scores_blocked_in_place


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores[mask == 0] = -np.inf
        m = scaled_scores.max(axis=-1, keepdims=True)
        e = np.exp(scaled_scores - np.where(np.isinf(m), 0, m))
        z = e.sum(axis=-1, keepdims=True)
        return e / np.where(z == 0, 1, z)


# %% weights_finfo_min
# np.finfo(...).min as the fill, as in Hugging Face's code: a blocked row is uniform.
# Expected: blocked_row_uniform


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if scaled_scores.dtype.kind == "f" else scaled_scores.astype(float)
        if mask is not None:
            s = np.where(np.asarray(mask).astype(bool), s, np.finfo(s.dtype).min)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_minus_inf
# -np.inf and a stable softmax without a guard: a blocked row is NaN.
# Expected: blocked_row_nan


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(np.asarray(mask, dtype=bool), scaled_scores, float("-inf"))
        scaled_scores = scaled_scores - np.max(scaled_scores, axis=-1, keepdims=True)
        e = np.exp(scaled_scores)
        return e / np.sum(e, axis=-1, keepdims=True)


# %% weights_added_1e9
# scores + (1 - mask) * -1e9: a blocked row keeps the weights that it has without a mask.
# Expected: blocked_row_unmasked


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores + (1 - np.asarray(mask).astype(scaled_scores.dtype)) * -1e9
        e = np.exp(scaled_scores - scaled_scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


# %% weights_added_1e9_bool_raises
# (1 - mask) without a conversion: a boolean mask raises.
# Expected: blocked_row_unmasked


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores - 1e9 * (1 - mask)
        e = np.exp(scaled_scores - scaled_scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


# %% weights_inverted_added
# scores + mask * -1e9, the line of TensorFlow's tutorial, where 1 means blocked.
# Expected: mask_inverted


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores + (mask * -1e9).astype(scaled_scores.dtype)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_inverted_fill
# np.where(mask, -1e9, scores): the two choices of np.where are exchanged.
# Expected: mask_inverted


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask, -1e9, scaled_scores)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_inverted_minus_inf
# np.where(mask == 1, -np.inf, scores) as for PyTorch's attn_mask.
# Expected: mask_inverted


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask == 1, -np.inf, scaled_scores)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_tilde_where
# np.where(~mask, -1e9, scores): all integers count as true, and floats raise.
# Expected: minus_1e9_by_tilde


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(~mask, -1e9, scaled_scores)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_tilde_index
# scores[~mask] = -np.inf: ~mask of integers is read as row numbers.
# Expected: tilde_as_an_index


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = 1.0 * scaled_scores
        if mask is not None:
            s[~mask] = -np.inf
        m = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isinf(m), 0, m))
        z = e.sum(axis=-1, keepdims=True)
        return e / np.where(z == 0, 1, z)


# %% weights_mask_added
# scores + mask, as PyTorch does with a float mask: 1 or 0 is added to the scores.
# Expected: mask_added


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores + np.asarray(mask).astype(scaled_scores.dtype)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_mask_times_scores
# scores * mask before the softmax.
# Expected: mask_multiplies_scores


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores * (np.asarray(mask) > 0)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% weights_mask_after
# softmax, then weights * mask, and the rows are left as they are.
# Expected: mask_after_softmax


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = w * (mask != 0)
        return w


# %% weights_mask_after_renormalised
# softmax, weights * mask, then divided by their sum again: blocked rows are 0/0, high blocked scores win.
# Expected: blocked_maximum or blocked_row_nan


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = w * (mask != 0)
            w = w / w.sum(axis=-1, keepdims=True)
        return w


# %% weights_epsilon
# + 1e-9 in the sum, so that a blocked row is not 0/0.
# Expected: epsilon_in_the_sum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        m = np.nan_to_num(s.max(axis=-1, keepdims=True), neginf=0.0)
        e = np.exp(s - m)
        return e / (e.sum(axis=-1, keepdims=True) + 1e-9)


# %% weights_epsilon_of_another_size
# The same with 1e-8, as in Adam.
# Expected: epsilon_in_the_sum


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        allowed = 1 if mask is None else (np.asarray(mask) != 0).astype(scaled_scores.dtype)
        s = np.where(allowed, scaled_scores, -np.inf)
        m = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isfinite(m), m, 0))
        return e / (np.sum(e, axis=-1, keepdims=True) + 1e-8)


# %% weights_rounded
# np.round(weights, 4), because the lesson shows four decimals.
# Expected: weights_rounded


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return np.round(super().compute_weights(scaled_scores, mask), 4)


# %% weights_shifted_in_place
# x -= x.max(): the caller's scores change.
# Expected: scores_shifted_in_place


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(mask == 0, -np.inf, scaled_scores)
        m = scaled_scores.max(axis=-1, keepdims=True)
        m[np.isinf(m)] = 0
        scaled_scores -= m
        e = np.exp(scaled_scores)
        z = e.sum(axis=-1, keepdims=True)
        return e / np.where(z == 0, 1, z)


# %% weights_row_by_row_of_a_batch
# [softmax(row) for row in scores], which for a batch are tables, not rows.
# Expected: no name: a loop for one sentence, with a softmax over a table in batches


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        s = scaled_scores if mask is None else np.where(mask == 0, -np.inf, scaled_scores)
        rows = []
        for row in s:
            m = row.max()
            e = np.exp(row - (m if np.isfinite(m) else 0))
            rows.append(e / (e.sum() or 1))
        return np.array(rows)


# %% weights_mask_is_true
# if mask is True: no array is, so the mask is never used.
# Expected: mask_ignored


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is True:
            scaled_scores = np.where(mask, scaled_scores, -np.inf)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% output_dot
# np.dot(weights, V): every sentence of a batch with every other.
# Expected: output_dot_on_batches


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return np.dot(weights, V)


# %% output_rounded
# np.round(output, 4), as printed in the lesson.
# Expected: output_rounded


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return np.round(weights @ V, 4)


# %% output_weights_transposed
# weights.T @ V, because the shapes fit.
# Expected: weights_transposed


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return np.swapaxes(weights, -2, -1) @ V


# %% forward_output_only
# The weights are not returned, as in most blogs.
# Expected: weights_not_returned


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
        self.weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(self.weights, V)


# %% explain_three_decimals
# :.3f in the text.
# Expected: explain_three_decimals


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        scores = self.compute_scores(Q, K)
        scaled = self.scale_scores(scores)
        weights = self.compute_weights(scaled)
        out = self.compute_output(weights, V)
        i = query_idx
        s = f"Query: {tokens[i]}\n"
        for j in range(len(tokens)):
            s += f"  {tokens[j]}: score={scores[i, j]:.3f} scaled={scaled[i, j]:.3f} weight={weights[i, j]:.3f}\n"
        s += "output: " + ", ".join(f"{x:.3f}" for x in out[i])
        return s


# %% function_blog
# The function of most blogs, from memory: np.dot, K.T, np.sqrt, no maximum, -1e9.
# Expected: function_uses_dot_of_k_t or no_maximum_and_nan


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = np.dot(Q, K.T) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask == 0, -1e9, scores)
    weights = np.exp(scores) / np.sum(np.exp(scores), axis=-1, keepdims=True)
    return np.dot(weights, V), weights


# %% function_blog_with_matmul
# The same with @ and a stable softmax.
# Expected: function_uses_k_t or blocked_row_uniform or function_upcasts_float32


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = Q @ K.T / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask == 0, -1e9, scores)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights


# %% function_k_t
# K.T alone: everything else is right.
# Expected: function_uses_k_t


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.T / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask == 0, -np.inf, scores)
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(z == 0, 1, z)
    return weights @ V, weights


# %% function_transpose_021
# K.transpose(0, 2, 1) alone: one sentence raises.
# Expected: function_transposes_three_axes


def scaled_dot_product_attention(Q, K, V, mask=None):
    d = Q.shape[-1]
    scores = np.matmul(Q, K.transpose(0, 2, 1)) / d**0.5
    if mask is not None:
        scores = np.where(mask == 0, -np.inf, scores)
    m = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(z == 0, 1, z)
    return np.matmul(weights, V), weights


# %% function_whole_array
# e / e.sum() in the function.
# Expected: softmax_over_everything


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask == 0, -1e9, scores)
    e = np.exp(scores - scores.max())
    weights = e / e.sum()
    return weights @ V, weights


# %% function_minus_1e9
# -1e9 alone in the function: a blocked row is uniform.
# Expected: blocked_row_uniform


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(K.shape[-1])
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{Q.shape} {K.shape} {V.shape}")
    if mask is not None:
        scores = np.where(mask == 0, -1e9, scores)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


# %% function_nan_rows
# -np.inf alone in the function: a blocked row is NaN.
# Expected: blocked_row_nan


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = np.matmul(Q, K.swapaxes(-2, -1)) / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask == 0, -np.inf, scores)
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    attn = e / np.sum(e, axis=-1, keepdims=True)
    return np.matmul(attn, V), attn


# %% function_no_maximum
# No maximum in the function, and nothing for blocked rows.
# Expected: no_maximum_and_nan


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2)
    scores = scores / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    exp = np.exp(scores)
    attention = exp / exp.sum(axis=-1, keepdims=True)
    return attention @ V, attention


# %% function_axis_one
# axis=1 in the function.
# Expected: softmax_over_axis_one


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    m = scores.max(axis=1, keepdims=True)
    e = np.exp(scores - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=1, keepdims=True)
    w = e / np.where(z == 0, 1, z)
    return w @ V, w


# %% function_epsilon
# + 1e-9 in the function's sum.
# Expected: epsilon_in_the_sum


def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    allowed = np.ones(s.shape) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(allowed, s, -np.inf)
    m = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(m), 0, m))
    w = e / (e.sum(axis=-1, keepdims=True) + 1e-9)
    return w @ V, w


# %% function_rounded
# Both results are rounded to four decimals.
# Expected: function_rounds


def scaled_dot_product_attention(Q, K, V, mask=None):
    output, weights = ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)
    return np.round(output, 4), np.round(weights, 4)


# %% function_np_sqrt
# np.sqrt alone.
# Expected: function_upcasts_float32


def scaled_dot_product_attention(Q, K, V, mask=None):
    s = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask == 0, -np.inf, s)
    m = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=-1, keepdims=True)
    w = e / np.where(z == 0, 1, z)
    return w @ V, w


# %% function_inverted_added
# mask * -1e9 in the function, as in TensorFlow's tutorial.
# Expected: mask_inverted or function_inverts_the_mask


def scaled_dot_product_attention(Q, K, V, mask=None):
    matmul_qk = np.matmul(Q, K.swapaxes(-1, -2))
    scaled_attention_logits = matmul_qk / float(K.shape[-1]) ** 0.5
    if mask is not None:
        scaled_attention_logits = scaled_attention_logits + (mask * -1e9).astype(scaled_attention_logits.dtype)
    e = np.exp(scaled_attention_logits - scaled_attention_logits.max(axis=-1, keepdims=True))
    attention_weights = e / e.sum(axis=-1, keepdims=True)
    return np.matmul(attention_weights, V), attention_weights


# %% function_output_only
# The function returns only the output.
# Expected: function_returns_no_weights


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    output, _ = head.forward(Q, K, V, mask)
    return output


# %% function_axis_one_for_d_k
# d_k = Q.shape[1]: right for one sentence, the number of queries in a batch.
# Expected: function_takes_axis_one_for_d_k


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[1]
    return ScaledDotProductAttention(d_k).forward(Q, K, V, mask)


# %% function_rows_for_d_k
# d_k = len(Q): the number of queries.
# Expected: function_takes_axis_zero_for_d_k


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = len(Q)
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(d_k)
    if mask is not None:
        s = np.where(mask == 0, -np.inf, s)
    m = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=-1, keepdims=True)
    w = e / np.where(z == 0, 1, z)
    return w @ V, w


# %% function_half_of_d_k
# scores / d_k ** (1/2) written without the brackets.
# Expected: divides_by_half_of_d_k


def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ K.swapaxes(-1, -2) / (Q.shape[-1] ** 1 / 2)
    if mask is not None:
        s = np.where(mask == 0, -np.inf, s)
    m = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isinf(m), 0, m))
    z = e.sum(axis=-1, keepdims=True)
    w = e / np.where(z == 0, 1, z)
    return w @ V, w


# %% function_two_dimensions_unpacked
# n, d_k = Q.shape: a batch has more axes.
# Expected: no name: the exception says it


def scaled_dot_product_attention(Q, K, V, mask=None):
    n, d_k = Q.shape
    return ScaledDotProductAttention(d_k).forward(Q, K, V, mask)


# %% function_looped
# A loop over queries and keys with lists, for one sentence; a batch raises.
# Expected: no name: the exception says it


def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = len(Q[0])
    out, ws = [], []
    for i in range(len(Q)):
        s = [float(np.dot(Q[i], K[j])) / math.sqrt(d_k) for j in range(len(K))]
        if mask is not None:
            row = np.broadcast_to(mask, (len(Q), len(K)))[i]
            s = [x if m else -math.inf for x, m in zip(s, row)]
        top = max(s)
        e = [math.exp(x - top) if x > -math.inf else 0.0 for x in s]
        z = sum(e) or 1.0
        w = [x / z for x in e]
        ws.append(w)
        out.append(sum(w[j] * V[j] for j in range(len(V))))
    return np.array(out), np.array(ws)
