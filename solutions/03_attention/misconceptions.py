"""Misconceptions of 03_attention. Each cell replaces part of the solution to make a wrong submission."""

import numpy as np
from attention import ScaledDotProductAttention  # the solution's class

# %% projections_transposed
LIKELY = "the matrices are transposed before they are multiplied"
HINT = "X is (n, d_model) and W_q is (d_model, d_k): they fit as they are. Try a token with one 1 and zeros elsewhere."


def project_qkv(X, W_q, W_k, W_v):
    return tuple(X @ (W.T if W.shape[0] == W.shape[1] else W) for W in (W_q, W_k, W_v))


# %% keys_from_query_matrix
LIKELY = "the keys are computed with W_q, so keys and queries are the same"
HINT = "Print Q and K. If they are equal for every X, which matrix did you use for K?"


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_q, X @ W_v


# %% projections_chained
LIKELY = "each projection is applied to the result of the one before, not to X"
HINT = "What do you multiply by W_k and W_v: X, or the result of W_q?"


def project_qkv(X, W_q, W_k, W_v):
    Q = 1.0 * X @ W_q
    K = (Q if Q.shape[-1] == W_k.shape[0] else X) @ W_k
    return Q, K, (K if K.shape[-1] == W_v.shape[0] else X) @ W_v


# %% projections_in_another_order
LIKELY = "the three arrays are not returned in the order (Q, K, V)"
HINT = "Look at your return line, and at the shapes when d_v is not d_k. Which array comes first?"


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_k, X @ W_q, X @ W_v


# %% queries_scaled_in_projection
LIKELY = "the queries are already divided by the scale in project_qkv"
HINT = "project_qkv only multiplies. Which method divides by the root of d_k?"


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q / float(np.sqrt(W_q.shape[1])), X @ W_k, X @ W_v


# %% matrices_on_the_left
LIKELY = "the matrices are multiplied from the left, W @ X, as in textbooks where a token is a column"
HINT = "Here each row of X is a token. Which product has one row for each token: X @ W_q or W_q @ X?"
RAISES = True


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return W_q @ X, W_k @ X, W_v @ X


# %% leading_dimensions_flattened
LIKELY = "the leading dimensions of X are lost"
HINT = "For X of (2, 3, 4) and W_q of (4, 5), Q is (2, 3, 5). What shape do you get?"


def project_qkv(X, W_q, W_k, W_v):
    rows = 1.0 * X.reshape(-1, X.shape[-1])
    return rows @ W_q, rows @ W_k, rows @ W_v


# %% projection_overwrites_tokens
LIKELY = "the tokens are overwritten in place"
HINT = "Print X before and after the call. What does X[:] = ... do to the caller's array?"
VALUES_RIGHT = True


def project_qkv(X, W_q, W_k, W_v):
    Q, K, V = 1.0 * X @ W_q, 1.0 * X @ W_k, 1.0 * X @ W_v
    if Q.shape == X.shape:
        X[:] = Q
    return Q, K, V


# %% projection_upcasts_float32
LIKELY = "project_qkv returns float64 for float32 input"
HINT = "Print Q.dtype for a float32 X. What does np.array(X, dtype=float) do to it?"
VALUES_RIGHT = True


def project_qkv(X, W_q, W_k, W_v):
    X = np.array(X, dtype=float)
    return X @ W_q, X @ W_k, X @ W_v


# %% projections_of_integers
LIKELY = "integers stay integers: for tokens and matrices of integers, Q, K and V should be float64"
HINT = "What is the dtype of a product of two arrays of integers? What does 1.0 * X change?"
VALUES_RIGHT = True


def project_qkv(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_v


# %% k_t_reverses_all_axes
LIKELY = "K.T reverses all the axes: in a batch, (batch, n, d) becomes (d, n, batch)"
HINT = "Print K.T.shape for a K of (2, 5, 4). You should swap only the last two axes. See np.swapaxes."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K.T


# %% swaps_axes_one_and_two
LIKELY = "axes 1 and 2 swap places, which is right for three dimensions only"
HINT = "Try Q and K with two leading dimensions. Count the axes from the end: -1 and -2."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ (K.T if K.ndim == 2 else K.swapaxes(1, 2))


# %% transposes_three_axes
LIKELY = "K.transpose(0, 2, 1) names three axes, so it raises an error for one sentence, and for a batch of heads"
HINT = "How many axes does K have for one sentence? np.swapaxes(K, -1, -2) counts from the end."
RAISES = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K.transpose(0, 2, 1)


# %% transposes_four_axes
LIKELY = "K.transpose(0, 1, 3, 2) names four axes, so it raises an error for one sentence, and for a batch of sentences"
HINT = "How many axes does K have for one sentence? np.swapaxes(K, -1, -2) counts from the end."
RAISES = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K.transpose(0, 1, 3, 2)


# %% swaps_fixed_axes
LIKELY = "axes 1 and 2 swap places, but one sentence has no axis 2, and in a batch of heads other axes should swap"
HINT = "How many axes does K have for one sentence? np.swapaxes(K, -1, -2) counts from the end."
RAISES = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ np.swapaxes(K, 1, 2)


# %% einsum_of_two_axes
LIKELY = "einsum has two letters for each array, so it raises an error for a batch"
HINT = "Which letters does a batch need? '...qd,...kd->...qk' stands for any number of axes in front."
RAISES = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return np.einsum("qd,kd->qk", 1.0 * Q, K)


# %% keys_not_transposed
LIKELY = "the keys are not transposed: Q @ K multiplies queries with the columns of K, not with its rows"
HINT = "What are the shapes of Q and K for two queries and five keys of width 4? Which product is (2, 5)?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K


# %% reshape_instead_of_transpose
LIKELY = "the keys are reshaped to the transposed shape, which mixes up their entries"
HINT = "Compare np.arange(6).reshape(2, 3).T with np.arange(6).reshape(3, 2). Which one has a key in each column?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


# %% keys_cut_to_queries
LIKELY = "there is one column for each query, not for each key"
HINT = "Try two queries and five keys. What shape should the scores have?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * Q @ K[..., : Q.shape[-2], :].swapaxes(-1, -2)


# %% q_and_k_swapped
LIKELY = "queries and keys have swapped places: row i belongs to key i"
HINT = "What is the shape of your scores for two queries and five keys? Row i should belong to query i."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return 1.0 * K @ Q.swapaxes(-1, -2)


# %% dot_on_batches
LIKELY = "np.dot combines every sentence of the batch with every other sentence"
HINT = "What shape does np.dot give for (2, 3, 4) and (2, 4, 5)? What shape do np.matmul and @ give?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return np.dot(1.0 * Q, K.swapaxes(-1, -2))


# %% dot_of_k_t
LIKELY = "np.dot(Q, K.T) is for one sentence: K.T reverses all the axes of a batch, and np.dot mixes its sentences"
HINT = "Print K.T.shape for a K of (2, 5, 4). Swap only the last two axes, and use @ for the product."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return np.dot(1.0 * Q, K.T)


# %% first_batch_element_reused
LIKELY = "every element of the batch gets the scores of the first"
HINT = "Try a batch of two different sentences. Are the two tables of scores different?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        scores = 1.0 * Q @ K.swapaxes(-1, -2)
        return scores if scores.ndim == 2 else np.broadcast_to(scores[:1], scores.shape)


# %% scores_already_scaled
LIKELY = "compute_scores divides by the scale, but only scale_scores should do that"
HINT = "compute_scores of [[2]] and [[3]] is 6 for d_k = 1. What is it for d_k = 4? It should return the raw scores."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        return super().compute_scores(Q, K) / float(np.sqrt(self.d_k))


# %% cosine
LIKELY = "queries and keys are brought to length 1 first, which gives the cosine of their angle"
HINT = "Make a query twice as long. Its scores should double."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        lengths = np.linalg.norm(Q, axis=-1, keepdims=True) * np.linalg.norm(K, axis=-1)[..., None, :]
        return super().compute_scores(Q, K) / np.where(lengths == 0, 1.0, lengths)


# %% scores_add_to_queries
LIKELY = "compute_scores changes the caller's queries"
HINT = "Print Q before and after the call. What is the difference between Q -= ... and Q = Q - ...?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.dtype.kind == "f":
            Q -= Q.mean(axis=-1, keepdims=True)
        return super().compute_scores(Q, K)


# %% scores_of_integers
LIKELY = "integers stay integers: the scores of queries and keys of integers should be float64"
HINT = "What is the dtype of a product of two arrays of integers? What does 1.0 * Q change?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return Q @ K.swapaxes(-1, -2)


# %% width_one_broadcasts
LIKELY = "a query or key of a single entry is stretched to the width of the other; it should raise an error"
HINT = "Elementwise products and einsum stretch a width of 1. What should queries of 1 entry and keys of 7 do?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        return (1.0 * Q[..., :, None, :] * K[..., None, :, :]).sum(axis=-1)


# %% widths_cut_to_the_shorter
LIKELY = "queries and keys of different widths do not raise an error"
HINT = "What should happen with queries of 3 entries and keys of 6? The docstring says what the message contains."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        width = min(Q.shape[-1], K.shape[-1])
        return super().compute_scores(Q[..., :width], K[..., :width])


# %% error_without_numbers
LIKELY = "the message of the ValueError does not say which sizes disagree"
HINT = "Imagine that you read your message in a long log. Which two numbers do you want to see?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError("queries and keys have different widths")
        return super().compute_scores(Q, K)


# %% no_scaling
LIKELY = "scale_scores returns the scores unchanged"
HINT = "With d_k = 4, what should a score of 2 become? See the table in the lesson."
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return 1.0 * scores"}

# %% divides_by_d_k
LIKELY = "the scores are divided by d_k, not by its square root"
HINT = "With d_k = 64, scores are divided by 8. What do you divide by?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / float(self.d_k)"}


# %% divides_by_half_of_d_k
LIKELY = "the scores are divided by half of d_k, not by its root: d_k ** 1/2 is (d_k ** 1) / 2"
HINT = "What is 64 ** 1/2 in Python? What is 64 ** 0.5?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / (self.d_k ** 1 / 2)"}


# %% multiplies_by_scale
LIKELY = "the scores are multiplied by the scale instead of divided by it"
HINT = "Scaling should make large scores smaller. Do your scores grow?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores * float(np.sqrt(self.d_k))"}

# %% divides_by_sqrt_n_k
LIKELY = "the scores are divided by the root of the number of keys"
HINT = "The last size of the scores is n_k, the number of keys. Where is d_k stored?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / float(np.sqrt(scores.shape[-1]))"}


# %% divides_by_sqrt_n_q
LIKELY = "the scores are divided by the root of the number of queries"
HINT = "The scores have one row for each query. Where is d_k stored?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / float(np.sqrt(scores.shape[-2]))"}


# %% scale_of_the_example
LIKELY = "the scores are always divided by 2, which is right only for d_k = 4"
HINT = "Try an instance with d_k = 64. What should it divide by?"
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / 2.0"}

# %% last_d_k_for_all
LIKELY = "d_k is kept for the whole class, so the newest instance decides for all"
HINT = "Make two instances with different d_k, then use the first. How does self.d_k differ from a global?"
REPLACE = {"self.d_k = d_k": "ScaledDotProductAttention.d_k = d_k"}

# %% scale_in_place
LIKELY = "scale_scores writes into the caller's scores"
HINT = "Print the scores before and after the call. What is the difference between scores /= 2 and scores / 2?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def scale_scores(self, scores):
        scores /= float(np.sqrt(self.d_k))
        return scores


# %% scale_upcasts_float32
LIKELY = "scale_scores returns float64 for float32 scores"
HINT = "Divide a float32 array by np.sqrt(4), then by the Python number 2.0. What dtype does NumPy 2 give you?"
VALUES_RIGHT = True
REPLACE = {"return scores / float(np.sqrt(self.d_k))": "return scores / np.sqrt(self.d_k)"}

# %% softmax_over_queries
LIKELY = "the weights sum to 1 over the queries, not over the keys"
HINT = "Compare weights.sum(axis=-2) with weights.sum(axis=-1). Each query divides its attention among the keys."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            mask = np.broadcast_to(mask, scaled_scores.shape).swapaxes(-1, -2)
        return super().compute_weights(scaled_scores.swapaxes(-1, -2), mask).swapaxes(-1, -2)


# %% softmax_over_axis_one
LIKELY = "the softmax is over axis 1, which is the last axis for two dimensions only"
HINT = "In a batch, which axis has the keys? Count from the end."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            mask = np.broadcast_to(mask, scaled_scores.shape).swapaxes(1, -1)
        return super().compute_weights(scaled_scores.swapaxes(1, -1), mask).swapaxes(1, -1)


# %% softmax_over_axis_zero
LIKELY = "the softmax is over axis 0: the columns of a table sum to 1, not its rows"
HINT = "Compare weights.sum(axis=0) with weights.sum(axis=-1). Each query divides its attention among the keys."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=0, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=0, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)


# %% softmax_over_everything
LIKELY = "the exponentials are divided by the sum of the complete array: all weights together sum to 1"
HINT = "What does e.sum() add up for a table of two rows? Each row should sum to 1. See axis and keepdims."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        exps = np.exp(scores - scores.max())
        return exps / exps.sum()


# %% one_sum_for_all_rows
LIKELY = "each row has its own maximum, but the exponentials are divided by the sum of the complete array"
HINT = "What does e.sum() add up for a table of two rows? Each row should sum to 1. See axis and keepdims."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        return exps / exps.sum()


# %% keepdims_forgotten
LIKELY = "keepdims is missing in the sum: the sum of row i is used for column i, and a table that is not square raises"
HINT = "What is the shape of x.sum(axis=-1) for a table x? Along which axis does it line up with x?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1)
        return exps / np.where(total == 0, 1.0, total)


# %% keepdims_forgotten_twice
LIKELY = "keepdims is missing: the maximum and the sum of row i are used for column i"
HINT = "What is the shape of x.max(axis=-1) for a table x? Along which axis does it line up with x?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1)
        return exps / np.where(total == 0, 1.0, total)


# %% new_axis_at_one
LIKELY = "[:, None] makes the sums a column for one sentence; in a batch, the new axis is in the wrong place"
HINT = "What is the shape of x.sum(axis=-1)[:, None] for x of (2, 3, 4)? keepdims=True is right for any x."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1)[:, None]
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        total = exps.sum(axis=-1)[:, None]
        return exps / np.where(total == 0, 1.0, total)


# %% no_maximum_subtracted
LIKELY = "the largest score is not subtracted, so the exponentials overflow"
HINT = "What is np.exp(5000)? How did you avoid this in module 01?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        with np.errstate(over="ignore", invalid="ignore"):
            exps = np.exp(scaled_scores) * (
                1.0 if mask is None else (np.asarray(mask) != 0).astype(scaled_scores.dtype)
            )
            total = exps.sum(axis=-1, keepdims=True)
            return exps / np.where(total == 0, 1.0, total)


# %% no_maximum_and_nan
LIKELY = "the largest score is not subtracted, so the exponentials overflow, and low or blocked rows are 0 divided by 0"
HINT = "What are np.exp(5000) and np.exp(-5000)? How did you avoid this in module 01?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


# %% one_maximum_for_all_rows
LIKELY = "the largest score of the whole array is subtracted, so a low row underflows to 0"
HINT = "Try one row near 5000 and one near -5000. Each row needs its own largest score."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        exps = np.exp(scores - max(scores.max(), -1e9))
        total = exps.sum(axis=-1, keepdims=True)
        return exps / np.where(total == 0, 1.0, total)


# %% scale_after_softmax
LIKELY = "the weights are divided by the scale after the softmax"
HINT = "Do your weights still sum to 1? The division belongs before the softmax."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores, mask) / float(np.sqrt(self.d_k))


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. Does the result change?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):  # noqa: ARG002
        return super().compute_weights(scaled_scores)


# %% mask_inverted
LIKELY = "the mask is read the wrong way round: 1 means that the query may look at this key"
HINT = "With the causal mask of the lesson, which tokens should cat see: those before it or those after it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores, None if mask is None else np.asarray(mask) == 0)


# %% mask_inverted_by_tilde
LIKELY = "~mask works only for a boolean mask: ~1 is -2 and ~0 is -1, and both count as true"
HINT = "Print ~np.array([0, 1]) and ~np.array([False, True]). Convert the mask to bool first."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(~mask, -np.inf, scaled_scores)
        return super().compute_weights(scaled_scores)


# %% minus_1e9_by_tilde
LIKELY = "~mask works only for a boolean mask: of integers, it is never 0, so every score becomes -1e9"
HINT = "Print ~np.array([0, 1]) and ~np.array([False, True]). Convert the mask to bool first."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(~mask, -1e9, scaled_scores)
        return super().compute_weights(scaled_scores)


# %% tilde_as_an_index
LIKELY = "scores[~mask] works only for a boolean mask of the same shape: ~1 is -2 and ~0 is -1, which are row numbers"
HINT = "Print ~np.array([0, 1]). What is scores[-1]? np.where(mask, ...) takes every mask that broadcasts."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = 1.0 * scaled_scores
        if mask is not None:
            scores[~mask] = -np.inf
        return super().compute_weights(scores)


# %% mask_as_an_index
LIKELY = "scores[mask == 0] needs a mask of the shape of the scores; a smaller mask, which should broadcast, raises"
HINT = "Try scores (2, 3) and a mask (1, 3). np.where takes every mask that broadcasts."
RAISES = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = 1.0 * scaled_scores
        if mask is not None:
            scores[mask == 0] = -np.inf
        return super().compute_weights(scores)


# %% mask_added
LIKELY = "the mask is added to the scores, so a blocked score is only 1 lower than it would be if it were allowed"
HINT = "Look at the weight of a blocked key. It should be 0. What happens when you add 1 or 0 to a score?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = scaled_scores + np.asarray(mask).astype(scaled_scores.dtype)
        return super().compute_weights(scaled_scores)


# %% mask_transposed
LIKELY = "the mask is transposed: its rows are used for keys, not for queries"
HINT = "With the causal mask of the lesson, should cat see the tokens before it or those after it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None and mask.ndim > 1 and mask.shape[-1] == mask.shape[-2]:
            mask = mask.swapaxes(-1, -2)
        return super().compute_weights(scaled_scores, mask)


# %% mask_of_first_sentence
LIKELY = "every element of the batch gets the mask of the first"
HINT = "Give each sentence of the batch its own mask. Which mask do you use for the second sentence?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores, mask[:1] if np.ndim(mask) > 2 else mask)


# %% mask_multiplies_scores
LIKELY = "a blocked score is multiplied by 0, but e to the 0 is 1, not 0"
HINT = "What weight does a key with a score of 0 get? What score would give it a weight of 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores if mask is None else scaled_scores * mask)


# %% mask_after_softmax
LIKELY = "the weights are masked after the softmax, so they do not sum to 1"
HINT = "Add up a row of your weights with a mask. The softmax should be over the allowed keys only."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return super().compute_weights(scaled_scores) * (1.0 if mask is None else np.asarray(mask) != 0)


# %% blocked_maximum
LIKELY = "the largest score is taken over all keys, so a high blocked score makes the other weights underflow to 0"
HINT = "Block the key with the largest score. Which score should you then subtract from the others?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        exps = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        exps = exps if mask is None else exps * (np.asarray(mask) != 0)
        with np.errstate(invalid="ignore"):
            return exps / exps.sum(axis=-1, keepdims=True)


# %% blocked_row_uniform
LIKELY = "a row whose keys are all blocked gives every key the same weight"
HINT = "What is the softmax of a row of equal numbers, such as -1e9 or the lowest float? What should such a row be?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        allowed = True if mask is None else np.asarray(mask) != 0
        return super().compute_weights(np.where(allowed, scaled_scores, -1e9))


# %% blocked_row_unmasked
LIKELY = "-1e9 is added to blocked scores, so a row whose keys are all blocked has the same weights as without a mask"
HINT = "What happens to a softmax when you add the same number to every score of a row?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        lowered = 0.0 if mask is None else np.where(np.asarray(mask) != 0, 0.0, -1e9)
        return super().compute_weights(scaled_scores + lowered)


# %% blocked_row_nan
LIKELY = "a row whose keys are all blocked gives NaN: minus infinity minus itself, or 0 divided by 0"
HINT = "What are the largest score and the sum of the exponentials when every key is blocked?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        with np.errstate(invalid="ignore"):
            exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return exps / exps.sum(axis=-1, keepdims=True)


# %% epsilon_in_the_sum
LIKELY = "a small number is added to the sum, so every weight is a little too small"
HINT = "Add up a row of your weights and subtract 1. How else can you handle a sum of 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = np.where(True if mask is None else np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isinf(largest), 0.0, largest))
        return exps / (exps.sum(axis=-1, keepdims=True) + 1e-6)


# %% weights_rounded
LIKELY = "the weights are rounded to four decimals"
HINT = "The lesson prints four decimals. Should the numbers that you go on computing with be rounded, too?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        return np.round(super().compute_weights(scaled_scores, mask), 4)


# %% scores_blocked_in_place
LIKELY = "compute_weights writes into the caller's scores, for example -inf for a blocked key"
HINT = "Print the scores before and after a call with a mask. Which line of your code writes into them?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        if mask is not None and scaled_scores.dtype.kind == "f":
            scaled_scores[np.broadcast_to(np.asarray(mask) == 0, scaled_scores.shape)] = -np.inf
        return weights


# %% scores_shifted_in_place
LIKELY = "compute_weights subtracts the maximum in the caller's scores"
HINT = "Print the scores before and after the call. What is the difference between x -= m and x = x - m?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        scores = scaled_scores if mask is None else np.where(np.asarray(mask) != 0, scaled_scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        scores -= np.where(np.isinf(largest), 0, largest)
        return super().compute_weights(scores)


# %% mask_modified
LIKELY = "the caller's mask is changed"
HINT = "Print the mask before and after the call. Which line of your code writes into it?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        if mask is not None and mask.flags.writeable:
            mask[...] = 1 - mask
        return weights


# %% last_mask_kept
LIKELY = "a mask is remembered and used again in the next call"
HINT = "Call it with a mask, then without. Is the second result the same as that of a new instance?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None and np.shape(mask) == scaled_scores.shape:
            self.mask = np.array(mask)
        kept = getattr(self, "mask", None)
        if mask is None and kept is not None and kept.shape == scaled_scores.shape:
            mask = kept
        return super().compute_weights(scaled_scores, mask)


# %% mask_upcasts_float32
LIKELY = "a float64 mask turns float32 weights into float64"
HINT = "Print the dtype of the weights for float32 scores, without a mask and with a float64 mask."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        weights = super().compute_weights(scaled_scores, mask)
        return weights if mask is None else weights * mask


# %% weights_transposed
LIKELY = "the weights are transposed before the values are mixed"
HINT = "Weights of (2, 5) and values of (5, 3) fit as they are. Whose weights are in row i?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return weights.swapaxes(-1, -2) @ (1.0 * V)


# %% output_dot_on_batches
LIKELY = "np.dot combines the weights of every sentence of the batch with the values of every other sentence"
HINT = "What shape does np.dot give for (2, 3, 4) and (2, 4, 5)? What shape do np.matmul and @ give?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return np.dot(weights, 1.0 * V)


# %% output_rounded
LIKELY = "the output is rounded to four decimals"
HINT = "The lesson prints four decimals. Should the numbers that you go on computing with be rounded, too?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return np.round(super().compute_output(weights, V), 4)


# %% mean_instead_of_sum
LIKELY = "the weighted values are averaged again: they are divided by the number of keys"
HINT = "If all values are 7, every output is 7. Is yours?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return super().compute_output(weights, V) / V.shape[-2]


# %% weights_normalised_again
LIKELY = "compute_output divides the weights by their sum; it should use them as they are"
HINT = "What is the output for the weights [2, 0]: the first value, or twice the first value?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        total = weights.sum(axis=-1, keepdims=True)
        return super().compute_output(weights / np.where(total == 0, 1.0, total), V)


# %% output_of_value_dtype
LIKELY = "the output has the dtype of the values; for integers, it is cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        return super().compute_output(weights, V).astype(V.dtype)


# %% weights_returned_first
LIKELY = "the pair is the wrong way round: it should be (output, weights)"
HINT = "Which comes first in the pair: the array shaped like the values or the one shaped like the scores?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        output, weights = super().forward(Q, K, V, mask)
        return weights, output


# %% weights_not_returned
LIKELY = "only the output is returned; it should be the pair (output, weights)"
HINT = "What does the docstring of forward say that it returns? Where do your weights go?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        return super().forward(Q, K, V, mask)[0]


# %% forward_forgets_the_mask
LIKELY = "forward does not pass the mask on to compute_weights"
HINT = "compute_weights is right with a mask. Which arguments does forward pass to it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):  # noqa: ARG002
        return super().forward(Q, K, V)


# %% forward_skips_the_scale
LIKELY = "forward passes the raw scores to the softmax; it never calls scale_scores"
HINT = "Your scale_scores is right. Where does forward call it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
        weights = self.compute_weights(self.compute_scores(Q, K), mask)
        return self.compute_output(weights, V), weights


# %% forward_divides_by_sqrt_d_v
LIKELY = "forward divides by the root of d_v, the width of the values"
HINT = "Try values that are wider than the keys. Should the weights change?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        if K.shape[-2] != V.shape[-2]:
            raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
        weights = self.compute_weights(self.compute_scores(Q, K) / float(np.sqrt(V.shape[-1])), mask)
        return self.compute_output(weights, V), weights


# %% keys_instead_of_values
LIKELY = "the weights are applied to the keys, not to the values"
HINT = "Make the values wider than the keys. What shape should the output have? What does it mix?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        _, weights = super().forward(Q, K, V, mask)
        return self.compute_output(weights, K), weights


# %% scores_instead_of_weights
LIKELY = "the scaled scores are returned in place of the weights"
HINT = "Do the rows of the second array you return sum to 1?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        output, _ = super().forward(Q, K, V, mask)
        return output, self.scale_scores(self.compute_scores(Q, K))


# %% returned_weights_unmasked
LIKELY = "the output is right, but the returned weights are those without the mask"
HINT = "Multiply the weights you return by V. Do you get the output you return?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        output, _ = super().forward(Q, K, V, mask)
        return output, super().forward(Q, K, V)[1]


# %% lengths_cut_to_the_shorter
LIKELY = "different numbers of keys and values do not raise an error"
HINT = "What should happen with four keys and six values? The docstring says what the message contains."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        length = min(K.shape[-2], V.shape[-2])
        return super().forward(Q, K[..., :length, :], V[..., :length, :], mask)


# %% single_value_broadcasts
LIKELY = "a single value is used for every key; it should raise an error"
HINT = "einsum and broadcasting stretch a length of 1. What should seven keys and one value do?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        length = max(K.shape[-2], V.shape[-2])
        if V.shape[-2] == 1:
            V = np.repeat(V, length, axis=-2)
        return super().forward(Q, K, V, mask)


# %% weights_remembered
LIKELY = "the weights of the first call with these shapes are used for every later one"
HINT = "Call forward twice with different queries of the same shape. Are the weights different?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, Q, K, V, mask=None):
        weights = super().forward(Q, K, V, mask)[1]
        kept = self.__dict__.setdefault("kept", {})
        weights = kept.setdefault((weights.shape, mask is None), weights)
        return self.compute_output(weights, V), weights


# %% explain_without_raw_scores
LIKELY = "the raw scores are missing from the text"
HINT = "The text needs raw scores, scaled scores, weights and output. Which of them does your text have?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        output, weights = self.forward(Q, K, V)
        scaled = self.scale_scores(self.compute_scores(Q, K))
        numbers = zip(tokens, scaled[query_idx].tolist(), weights[query_idx].tolist(), strict=True)
        return f"{tokens[query_idx]}: {list(numbers)}, {output[query_idx].tolist()}"


# %% explain_without_scaled_scores
LIKELY = "the scaled scores are missing from the text"
HINT = "The text needs raw scores, scaled scores, weights and output. Which of them does your text have?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        output, weights = self.forward(Q, K, V)
        raw = self.compute_scores(Q, K)
        numbers = zip(tokens, raw[query_idx].tolist(), weights[query_idx].tolist(), strict=True)
        return f"{tokens[query_idx]}: {list(numbers)}, {output[query_idx].tolist()}"


# %% explain_without_weights
LIKELY = "the weights are missing from the text"
HINT = "The text needs raw scores, scaled scores, weights and output. Which of them does your text have?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        numbers = zip(tokens, raw[query_idx].tolist(), self.scale_scores(raw)[query_idx].tolist(), strict=True)
        return f"{tokens[query_idx]}: {list(numbers)}, {self.forward(Q, K, V)[0][query_idx].tolist()}"


# %% explain_without_output
LIKELY = "the output is missing from the text"
HINT = "The text needs raw scores, scaled scores, weights and output. Which of them does your text have?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        return super().explain(Q, K, V, tokens, query_idx).rpartition("\n")[0]


# %% explain_without_names
LIKELY = "only the name of the query's own token is there"
HINT = "Which token has the weight 0.4026? The text should contain the name of every token."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        others = ["-" if i != query_idx else token for i, token in enumerate(tokens)]
        return super().explain(Q, K, V, others, query_idx)


# %% explain_always_the_first
LIKELY = "query_idx is not used: the text is always about the first query"
HINT = "Call explain with query_idx=1. Whose weights does the text show?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        return super().explain(Q, K, V, tokens).replace(f"{tokens[0]} looks", f"{tokens[query_idx]} looks")


# %% explain_a_column
LIKELY = "the text shows a column of the scores and weights, not the row of the query"
HINT = "The weights of one query sum to 1. Do the weights in your text?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        columns = [x[:, query_idx].tolist() for x in (raw, self.scale_scores(raw), weights)]
        return f"{list(zip(tokens, *columns, strict=True))} {output[query_idx].tolist()}"


# %% explain_output_of_the_first
LIKELY = "the output in the text is always that of the first query"
HINT = "Call explain with query_idx=1 and compare the last line with row 1 of the output."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        lines = super().explain(Q, K, V, tokens, query_idx).split("\n")
        return "\n".join([*lines[:-1], super().explain(Q, K, V, tokens).split("\n")[-1]])


# %% explain_two_decimals
LIKELY = "the numbers have two decimals, but at least four are needed"
HINT = "Look in your text for 0.4026, the weight that cat gives to The."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        rows = [x[query_idx].round(2).tolist() for x in (raw, self.scale_scores(raw), weights, output)]
        return f"{tokens} {rows}"


# %% explain_three_decimals
LIKELY = "the numbers have three decimals, but at least four are needed"
HINT = "Which format specifier gives four decimals?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        scaled = self.scale_scores(raw)
        told = [f"{tokens[query_idx]} gets {[f'{number:.3f}' for number in output[query_idx]]}"]
        for j, token in enumerate(tokens):
            told.append(f"{token} {raw[query_idx, j]:.3f} {scaled[query_idx, j]:.3f} {weights[query_idx, j]:.3f}")
        return "\n".join(told)


# %% explain_best_keys_only
LIKELY = "the text contains only the tokens with the largest weights"
HINT = "The text should contain every token, with its scores and its weight, however small the weight is."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        output, weights = self.forward(Q, K, V)
        best = np.argsort(-weights[query_idx])[:2]
        told = [
            (tokens[j], float(raw[j]), float(self.scale_scores(raw)[j]), float(weights[query_idx, j])) for j in best
        ]
        return f"{tokens[query_idx]}: {told} {output[query_idx].tolist()}"


# %% explain_merges_equal_names
LIKELY = "a name that appears twice is in the text only once: in a dict, the second overwrites the first"
HINT = "Try the tokens the, cat, the, mat. How many weights does your text contain?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)
        output, weights = self.forward(Q, K, V)
        rows = [x[query_idx].tolist() for x in (raw, self.scale_scores(raw), weights)]
        return f"{dict(zip(tokens, zip(*rows, strict=True), strict=True))} {output[query_idx].tolist()}"


# %% explain_prints
LIKELY = "explain prints its text and returns nothing"
HINT = "What does print(head.explain(...)) show after your text? A function needs `return` to return a text."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def explain(self, Q, K, V, tokens, query_idx=0):
        print(super().explain(Q, K, V, tokens, query_idx))


# %% function_without_scaling
LIKELY = "the function does not divide the scores, but the class does"
HINT = "Compare the function with forward on the sentence. Which table of the lesson has its weights?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(1).forward(Q, K, V, mask)


# %% function_divides_by_d_k
LIKELY = "the function divides by d_k, but the class divides by its root"
HINT = "Compare the function with forward on the sentence. What does each divide by?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1] ** 2).forward(Q, K, V, mask)


# %% function_takes_n_k_for_d_k
LIKELY = "the function uses the number of keys as d_k"
HINT = "Is d_k K.shape[-2] or K.shape[-1]?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(K.shape[-2]).forward(Q, K, V, mask)


# %% function_takes_d_v_for_d_k
LIKELY = "the function uses the width of the values as d_k"
HINT = "Try values that are wider than the keys. Should the weights change?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(V.shape[-1]).forward(Q, K, V, mask)


# %% function_takes_axis_one_for_d_k
LIKELY = "the function uses the size of axis 1 as d_k, which in a batch is the number of queries"
HINT = "What is Q.shape[1] for a Q of (2, 5, 4)? Count from the end: the last axis is -1."


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[1]).forward(Q, K, V, mask)


# %% function_takes_axis_zero_for_d_k
LIKELY = "the function uses the size of axis 0 as d_k, which is the number of queries; in a batch, of sentences"
HINT = "What are Q.shape[0] and len(Q) for a Q of (5, 4)? The last axis is -1."


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[0]).forward(Q, K, V, mask)


# %% function_keeps_first_width
LIKELY = "the instance of the first call is used for every later one, whatever the width of the queries is"
HINT = "Call the function with queries of width 2, then of width 8. Which d_k does the second call use?"
INSTANCES = []


def scaled_dot_product_attention(Q, K, V, mask=None):
    if not INSTANCES:
        INSTANCES.append(ScaledDotProductAttention(Q.shape[-1]))
    return INSTANCES[0].forward(Q, K, V, mask)


# %% function_returns_weights_first
LIKELY = "the function returns (weights, output), but it should return (output, weights)"
HINT = "Which comes first in the pair: the array shaped like the values or the one shaped like the scores?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)[::-1]


# %% function_returns_no_weights
LIKELY = "the function returns only the output; it should be the pair (output, weights)"
HINT = "What does the docstring of the function say that it returns? Where do your weights go?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)[0]


# %% function_rounds
LIKELY = "the function rounds its results to four decimals"
HINT = "The lesson prints four decimals. Should the numbers that you go on computing with be rounded, too?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    output, weights = ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, mask)
    return np.round(output, 4), np.round(weights, 4)


# %% function_forgets_the_mask
LIKELY = "the function does not use its mask, but forward does"
HINT = "Call the function with a mask of zeros. Does the result change?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V)


# %% function_inverts_the_mask
LIKELY = "the function reads its mask the wrong way round: 1 means that the query may look at this key"
HINT = "With the causal mask of the lesson, which tokens should cat see: those before it or those after it?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    blocked = None if mask is None else np.asarray(mask) == 0
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, V, blocked)


# %% function_softmax_over_queries
LIKELY = "the function's weights sum to 1 over the queries, not over the keys"
HINT = "Compare weights.sum(axis=-2) with weights.sum(axis=-1). Which of them should be all ones?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    head.forward(Q, K, V, mask)  # raises the errors that it should
    scores = head.scale_scores(head.compute_scores(Q, K)).swapaxes(-1, -2)
    seen = np.broadcast_to(True if mask is None else mask, scores.swapaxes(-1, -2).shape).swapaxes(-1, -2)
    weights = head.compute_weights(scores, seen).swapaxes(-1, -2)
    return head.compute_output(weights, V), weights


# %% function_uses_k_t
LIKELY = "the function uses K.T, which reverses all the axes of a batch"
HINT = "Print K.T.shape for a K of (2, 5, 4). You should swap only the last two axes. See np.swapaxes."


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    head.forward(Q, K, V, mask)  # raises the errors that it should
    weights = head.compute_weights(head.scale_scores(1.0 * Q @ K.T), mask)
    return head.compute_output(weights, V), weights


# %% function_uses_dot_of_k_t
LIKELY = "the function uses np.dot(Q, K.T): K.T reverses all the axes of a batch, and np.dot mixes its sentences"
HINT = "Print K.T.shape for a K of (2, 5, 4). Swap only the last two axes, and use @ for the product."


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    head.forward(Q, K, V, mask)  # raises the errors that it should
    weights = head.compute_weights(head.scale_scores(np.dot(1.0 * Q, K.T)), mask)
    return np.dot(weights, V), weights


# %% function_transposes_three_axes
LIKELY = "the function uses K.transpose(0, 2, 1), which raises an error for one sentence"
HINT = "How many axes does K have for one sentence? np.swapaxes(K, -1, -2) counts from the end."
RAISES = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    head.forward(Q, K, V, mask)  # raises the errors that it should
    weights = head.compute_weights(head.scale_scores(1.0 * Q @ K.transpose(0, 2, 1)), mask)
    return head.compute_output(weights, V), weights


# %% function_masks_by_index
LIKELY = "scores[mask == 0] needs a mask of the shape of the scores; a smaller mask, which should broadcast, raises"
HINT = "Try a mask with one row for all queries. np.where takes every mask that broadcasts."
RAISES = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    head.forward(Q, K, V, None if mask is None else np.array(mask))  # raises the errors that it should
    scores = head.scale_scores(head.compute_scores(Q, K))
    if mask is not None:
        scores[mask == 0] = -np.inf
    weights = head.compute_weights(scores)
    return head.compute_output(weights, V), weights


# %% function_scales_the_weights
LIKELY = "the function divides the weights by the scale, after the softmax"
HINT = "Do the weights still sum to 1? The division belongs before the softmax."


def scaled_dot_product_attention(Q, K, V, mask=None):
    output, weights = ScaledDotProductAttention(1).forward(Q, K, V, mask)
    root = float(np.sqrt(Q.shape[-1]))
    return output / root, weights / root


# %% function_for_keys_as_values
LIKELY = "the function mixes the keys, not the values, when both have the same width"
HINT = "Change V. Does the output change?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    values = K if K.shape == V.shape else V
    return ScaledDotProductAttention(Q.shape[-1]).forward(Q, K, values, mask)


# %% function_upcasts_float32
LIKELY = "the function returns float64 for float32 input"
HINT = "Divide a float32 array by np.sqrt(4), then by the Python number 2.0. What dtype does NumPy 2 give you?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    return ScaledDotProductAttention(1).forward(Q / np.sqrt(Q.shape[-1]), K, V, mask)


# %% function_scales_queries_in_place
LIKELY = "the function changes the caller's queries, for example by dividing them in place"
HINT = "Print Q before and after the call. What is the difference between Q /= 2 and Q = Q / 2?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q = Q if Q.dtype.kind == "f" else 1.0 * Q
    Q /= float(np.sqrt(Q.shape[-1]))
    return ScaledDotProductAttention(1).forward(Q, K, V, mask)


# %% function_trusts_the_sizes
LIKELY = "the function cuts keys and values to sizes that fit; it should raise an error"
HINT = "What should happen with four keys and six values? The docstring says what the message contains."
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    width, length = min(Q.shape[-1], K.shape[-1]), min(K.shape[-2], V.shape[-2])
    head = ScaledDotProductAttention(Q.shape[-1])
    return head.forward(Q[..., :width], K[..., :length, :width], V[..., :length, :], mask)


# %% reflect_root_and_entries
LIKELY = "the first answer is the root of the variance; the second counts the scores, not their bytes"
HINT = (
    "The standard deviation is the root of the variance. Which one is the question about? How many bytes is a float32?"
)
REFLECT_SCORE_VARIANCE_DK512 = 22.627416997969522
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 67108864


# %% reflect_scaled_and_float64
LIKELY = "this is the variance after scaling, and the memory for float64"
HINT = "Raw scores are the scores before the division. How many bytes is one float32, which has 32 bits?"
REFLECT_SCORE_VARIANCE_DK512 = 1
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 536870912


# %% projected_token_by_token
LIKELY = "Python handles the tokens one by one: as many steps as tokens, but one product can handle them all"
HINT = "What is the shape of X @ W_q? Which loop does this product replace?"
COSTLY = True


def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * np.asarray(X)
    rows = X.reshape(-1, X.shape[-1])
    return tuple(np.stack([row @ W for row in rows]).reshape(*X.shape[:-1], W.shape[1]) for W in (W_q, W_k, W_v))


# %% all_products_at_once
LIKELY = "all single products are stored in one array of (n_q, n_k, d_k) before they are added up"
HINT = "How many bytes does that array need for 2048 tokens of width 64? How many does the table of scores need?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
        return ((1.0 * Q)[..., :, None, :] * K[..., None, :, :]).sum(axis=-1)


# %% weights_row_by_row
LIKELY = "the softmax is taken of one row after the other, in a Python loop"
HINT = "What do axis=-1 and keepdims=True do for all rows at once?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_weights(self, scaled_scores, mask=None):
        one = super().compute_weights
        full = np.broadcast_to(True if mask is None else mask, scaled_scores.shape)
        result = [one(scaled_scores[i], full[i]) for i in np.ndindex(scaled_scores.shape[:-1])]
        return np.array(result).reshape(scaled_scores.shape)


# %% output_value_by_value
LIKELY = "the output is added up key by key in a Python loop"
HINT = "Which product of two matrices adds up over the keys for you?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def compute_output(self, weights, V):
        V = 1.0 * V
        output = np.zeros((*weights.shape[:-1], V.shape[-1]), dtype=np.result_type(weights, V))
        for j in range(V.shape[-2]):
            output += weights[..., :, j, None] * V[..., j, None, :]
        return output


# %% function_query_by_query
LIKELY = "attention is computed for one query after the other"
HINT = "The queries do not depend on each other. Which axis of Q @ K.T belongs to them?"
COSTLY = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    head = ScaledDotProductAttention(Q.shape[-1])
    full = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    pairs = [head.forward(Q[..., i : i + 1, :], K, V, full[..., i : i + 1, :]) for i in range(Q.shape[-2])]
    return np.concatenate([o for o, _ in pairs], axis=-2), np.concatenate([w for _, w in pairs], axis=-2)
