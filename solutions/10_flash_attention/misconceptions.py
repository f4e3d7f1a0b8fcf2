"""Misconceptions of 10_flash_attention. Each cell changes part of the solution to make a wrong submission."""

import numpy as np

# %% merge_old_sum_not_rescaled
LIKELY = "the old sum is added without the factor exp(m - m_new)"
HINT = "The old sum was made with the old maximum. What happens to it when a larger score arrives?"
REPLACE = {"l_new = l * rescale + weights.sum(axis=-1)": "l_new = l + weights.sum(axis=-1)"}

# %% merge_old_sum_forgotten
LIKELY = "the new sum has only the weights of the new tile: the old sum is lost"
HINT = "Take the scores 0 and 0 in two tiles. What should the sum be at the end?"
REPLACE = {"l_new = l * rescale + weights.sum(axis=-1)": "l_new = weights.sum(axis=-1)"}

# %% merge_maximum_of_the_tile
LIKELY = "m_new is the largest score of the new tile, also if an older score was larger"
HINT = "The first tile has the score 5, the second has 1. What is the largest score so far?"
REPLACE = {"m_new = np.maximum(m, scores.max(axis=-1))": "m_new = scores.max(axis=-1)"}

# %% merge_maximum_of_all_rows
LIKELY = "one maximum is used for all rows, not one for each row"
HINT = "Try a row with scores near 900 and one with scores near -900. What is left of the low row?"
REPLACE = {"m_new = np.maximum(m, scores.max(axis=-1))": "m_new = np.maximum(m, scores.max())"}

# %% merge_without_a_maximum
LIKELY = "the exponentials are taken of the scores themselves: no maximum is subtracted"
HINT = "What is np.exp(1000)? The weights are exp(scores - m_new)."
REPLACE = {
    "weights = np.exp(scores - shift[:, None])": "weights = np.exp(scores)",
    "return m_new, l_new, weights, rescale": "return m_new, l_new, weights, np.ones_like(rescale)",
}

# %% merge_old_maximum_for_the_weights
LIKELY = "the weights of the new tile are taken with the old maximum, not with the new one"
HINT = "Start with m = -inf. Which number do you subtract from the first tile?"


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m), np.where(np.isneginf(m_new), 0, m_new), m)
    with np.errstate(over="ignore"):
        weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - np.where(np.isneginf(m_new), 0, m_new))
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% merge_weights_of_the_tile
LIKELY = "the weights are exp(score - largest score of the tile), also if an older score is larger"
HINT = "The first tile has the score 5, the second has 1. What is the weight of the second, exp(scores - m_new)?"
REPLACE = {
    "return m_new, l_new, weights, rescale": "top = scores.max(axis=-1)\nweights = np.exp(scores - np.where(np.isneginf(top), 0, top)[:, None])\nreturn m_new, l_new, weights, rescale"
}

# %% merge_rescale_inverted
LIKELY = "rescale is exp(m_new - m), the inverse of the right factor"
HINT = "If a larger score arrives, do the old weights become larger or smaller?"


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None])
    with np.errstate(over="ignore"):
        rescale = np.where(np.isneginf(m), 0, np.exp(shift - np.where(np.isneginf(m), shift, m))).astype(scores.dtype)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% merge_rescale_of_the_sums
LIKELY = "rescale is the quotient of the old and the new sum, not exp(m - m_new)"
HINT = "Which factor turns exp(score - m) into exp(score - m_new)?"
REPLACE = {
    "return m_new, l_new, weights, rescale": "return m_new, l_new, weights, l / np.where(l_new == 0, 1, l_new)",
}

# %% merge_weights_divided
LIKELY = "the weights are already divided by the sum"
HINT = "The sum is not complete before the last tile. When should you divide?"
REPLACE = {
    "return m_new, l_new, weights, rescale": "return m_new, l_new, weights / np.where(l_new == 0, 1, l_new)[:, None], rescale",
}

# %% merge_nan_of_a_blocked_row
LIKELY = "a row that has seen no key gets NaN, because -inf minus -inf is not a number"
HINT = "What is m_new for a row whose scores are all -inf? What do you subtract there?"


def merge_softmax(m, l, scores):
    with np.errstate(invalid="ignore"):
        m_new = np.maximum(m, scores.max(axis=-1))
        weights = np.exp(scores - m_new[:, None])
        rescale = np.exp(m - m_new)
        return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% merge_lowest_number
LIKELY = "a row that has seen no key gets the smallest finite number as m_new, not -inf"
HINT = "What does np.nan_to_num make of -inf? Print m_new for a row that has seen no key."
REPLACE = {
    "return m_new, l_new, weights, rescale": "return np.nan_to_num(m_new, posinf=np.inf), l_new, weights, rescale"
}

# %% merge_nan_made_zero_for_the_row
LIKELY = "a blocked tile sets a row back to nothing, although it has seen keys before"
HINT = "A row has seen keys. Now comes a tile in which all its keys are blocked. What should change?"


def merge_softmax(m, l, scores):
    blocked = np.isneginf(scores).all(axis=-1)
    m_new = np.where(blocked, -np.inf, np.maximum(m, scores.max(axis=-1))).astype(scores.dtype)
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None])
    with np.errstate(over="ignore"):
        rescale = np.where(blocked, 0, np.exp(m - shift)).astype(scores.dtype)
    return m_new, (l * rescale + weights.sum(axis=-1)).astype(scores.dtype), weights, rescale


# %% merge_uniform_where_blocked
LIKELY = "a row that has seen no key gets equal weights for the blocked keys"
HINT = "exp(-inf - (-inf)) should not become 1. What is the weight of a blocked key?"


def merge_softmax(m, l, scores):
    lowest = np.finfo(scores.dtype).min / 4
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.maximum(m_new, lowest)
    weights = np.exp(np.maximum(scores, lowest) - shift[:, None])
    rescale = np.exp(np.maximum(m, lowest) - shift)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% merge_starts_at_zero
LIKELY = "the maximum never goes below 0, so rows with only low scores underflow"
HINT = "Try a tile with the scores -800 and -801. What is the largest of them?"
REPLACE = {"m_new = np.maximum(m, scores.max(axis=-1))": "m_new = np.maximum(np.maximum(m, 0), scores.max(axis=-1))"}

# %% merge_along_the_queries
LIKELY = "the sum is over the queries, not over the keys of each query"
HINT = "The tile is (n_q, b). Along which axis are the keys of one query?"


def merge_softmax(m, l, scores):
    m_new = np.maximum(m, scores.max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    sums = np.resize(weights.sum(axis=0), m.shape)
    return m_new, l * rescale + sums, weights, rescale


# %% merge_keeps_an_axis
LIKELY = "m_new, l_new and rescale are columns, (n_q, 1), not (n_q,)"
HINT = "Print the four shapes. What does keepdims=True, or [:, None], do to them?"
REPLACE = {"return m_new, l_new, weights, rescale": "return m_new[:, None], l_new[:, None], weights, rescale[:, None]"}

# %% merge_returns_another_order
LIKELY = "the four results are in another order: the weights come first"
HINT = "Read the docstring: which of the four results comes first?"
REPLACE = {"return m_new, l_new, weights, rescale": "return weights, m_new, l_new, rescale"}

# %% merge_modifies_the_old_sum
LIKELY = "the caller's array m or l is changed"
HINT = "Print m and l before and after the call."
VALUES_RIGHT = True
REPLACE = {"return m_new, l_new, weights, rescale": "l[:], m[:] = l_new, m_new\nreturn m_new, l_new, weights, rescale"}

# %% merge_modifies_the_scores
LIKELY = "the caller's scores are overwritten with the weights"
HINT = "Which array does your exponential write into?"
VALUES_RIGHT = True
REPLACE = {
    "weights = np.exp(scores - shift[:, None])": "scores -= shift[:, None]\nweights = np.exp(scores)",
}

# %% merge_upcasts
LIKELY = "float32 becomes float64"
HINT = "Print the dtype after each line, for scores of float32."
VALUES_RIGHT = True
REPLACE = {
    "m_new = np.maximum(m, scores.max(axis=-1))": "scores = np.asarray(scores, dtype=float)\nm_new = np.maximum(m, scores.max(axis=-1))"
}

# %% merge_in_a_loop
LIKELY = "the scores of a tile are taken one by one, so the work for a tile grows with its square"
HINT = "How often do you look at the first score of a tile of ten?"
COSTLY = True


def merge_softmax(m, l, scores):
    m_new = m
    for j in range(scores.shape[1]):
        m_new = np.maximum(m_new, scores[:, : j + 1].max(axis=-1))
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% merge_a_table_of_pairs
LIKELY = "all pairs of scores of a row are kept at once, to find the largest"
HINT = "How many numbers does a comparison of each score with each other score need?"
COSTLY = True


def merge_softmax(m, l, scores):
    later = scores[:, :, None] >= scores[:, None, :]
    largest = np.where(later.all(axis=-1), scores, -np.inf).max(axis=-1)
    m_new = np.maximum(m, largest)
    shift = np.where(np.isneginf(m_new), 0, m_new)
    weights = np.exp(scores - shift[:, None])
    rescale = np.exp(m - shift)
    return m_new, l * rescale + weights.sum(axis=-1), weights, rescale


# %% accumulator_not_rescaled
LIKELY = "the weighted sum of values is not multiplied by rescale when a larger score arrives"
HINT = "The sum of weights is rescaled at each tile. What about the sum of values?"
REPLACE = {
    "total = total * rescale[:, None] + weights @ V[j : j + block_k]": "total = total + weights @ V[j : j + block_k]"
}

# %% only_the_last_tile
LIKELY = "the weighted sum of values is overwritten by each tile of keys"
HINT = "Use tiles of one key. Which values does a query get?"
REPLACE = {"total = total * rescale[:, None] + weights @ V[j : j + block_k]": "total = weights @ V[j : j + block_k]"}

# %% divided_in_every_tile
LIKELY = "the weighted sum is divided by the sum of weights in every tile, not once at the end"
HINT = "What happens to the part of the first tile if you divide it three times?"
REPLACE = {
    "total = total * rescale[:, None] + weights @ V[j : j + block_k]": "total = (total * rescale[:, None] + weights @ V[j : j + block_k]) / l[:, None]",
    "O[i : i + block_q] = total / l[:, None]": "O[i : i + block_q] = total",
}

# %% never_divided
LIKELY = "the weighted sum of values is never divided by the sum of weights"
HINT = "What is the output if all values are 1? It should be 1."
REPLACE = {"O[i : i + block_q] = total / l[:, None]": "O[i : i + block_q] = total"}

# %% each_tile_has_its_own_softmax
LIKELY = "each tile of keys gets a softmax of its own, and the outputs are averaged"
HINT = "A tile with one very low score should hardly count. Does it?"


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    if min(block_q, block_k) < 1:
        raise ValueError(f"{block_q} and {block_k}")
    if Q.ndim > 2:
        parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]
        return np.stack([one for one, _ in parts]), np.stack([one for _, one in parts])
    O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for i in range(0, len(Q), block_q):
        q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))
        m, l = np.full(len(q), -np.inf, Q.dtype), np.zeros(len(q), Q.dtype)
        total, count = np.zeros((len(q), V.shape[-1]), Q.dtype), np.zeros((len(q), 1), Q.dtype)
        for j in range(0, len(K), block_k):
            if is_causal and j > i + len(q) - 1:
                break
            k = K[j : j + block_k]
            scores = q @ k.T
            if is_causal:
                scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf
            m, l, weights, _ = merge_softmax(m, l, scores)
            sums = weights.sum(axis=-1, keepdims=True)
            total = total + weights @ V[j : j + block_k] / np.where(sums == 0, 1, sums)
            count = count + (sums > 0)
        O[i : i + block_q], L[i : i + block_q] = total / count, m + np.log(l)
    return O, L


# %% log_sum_without_the_maximum
LIKELY = "L is the logarithm of the rescaled sum: the maximum is not added back"
HINT = "Every exponential was divided by exp(m). What does that do to the logarithm of their sum?"
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = np.log(l)"}

# %% sum_without_the_logarithm
LIKELY = "L holds the sum itself, without its logarithm"
HINT = "For scores near 1000 the sum of exponentials is infinite. Its logarithm is not."
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = np.exp(np.minimum(m, 700)) * l"}

# %% log_sum_is_the_sum
LIKELY = "L is the sum l itself: its logarithm and the maximum are missing"
HINT = "L = m + log l. What is it for a query with one score of 0?"
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = l"}

# %% log_sum_adds_the_sum
LIKELY = "L is m + l: the logarithm of the sum is missing"
HINT = "L = m + log l. What is it for a query with one score of 0?"
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = m + l"}

# %% log_sum_with_log2
LIKELY = "the maximum is added to the logarithm of the sum to base 2"
HINT = "What is your L for two scores of 0? With the natural logarithm it is 0.6931."
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = m + np.log2(l)"}

# %% log_sum_is_the_maximum
LIKELY = "L is only the largest score of each row"
HINT = "What is L for a query with two equal scores of 0? It should be log 2."
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = m"}

# %% log_sum_to_base_two
LIKELY = "L is the logarithm to base 2"
HINT = "What is your L for two scores of 0? With the natural logarithm it is 0.6931."
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = (m + np.log(l)) / float(np.log(2))"}

# %% log_sum_of_unscaled_scores
LIKELY = "L belongs to the scores before they are divided by the square root of d_k"
HINT = "Which scores does L add up: the raw ones or the scaled ones?"
REPLACE = {"L[i : i + block_q] = m + np.log(l)": "L[i : i + block_q] = m * float(np.sqrt(Q.shape[-1])) + np.log(l)"}

# %% no_scaling
LIKELY = "the scores are not divided by the square root of d_k"
HINT = "Compare with module 03: which number are the scores divided by?"
REPLACE = {"q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))": "q = Q[i : i + block_q]"}

# %% divides_by_d_k
LIKELY = "the scores are divided by d_k, not by its square root"
HINT = "For d_k = 4, do you divide by 2 or by 4?"
REPLACE = {"q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))": "q = Q[i : i + block_q] / Q.shape[-1]"}

# %% divides_by_the_width_of_the_values
LIKELY = "the scores are divided by the square root of the width of V, not of Q and K"
HINT = "Try queries and keys of width 4 with values of width 3. Which number belongs to the scores?"
REPLACE = {
    "q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))": "q = Q[i : i + block_q] / float(np.sqrt(V.shape[-1]))"
}

# %% divides_by_the_block
LIKELY = "the scores are divided by the square root of the block size"
HINT = "Should the result change with block_k?"
REPLACE = {"q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))": "q = Q[i : i + block_q] / float(np.sqrt(block_k))"}

# %% ragged_tile_dropped
LIKELY = "keys that do not fill a tile are left out"
HINT = "Try five keys in tiles of two. Which values never appear in the output?"
REPLACE = {"for j in range(0, len(K), block_k):": "for j in range(0, max(len(K) // block_k, 1) * block_k, block_k):"}
IN = "flash_attention"

# %% ragged_tile_padded_with_zeros
LIKELY = "the last tile is filled up with keys of zeros, and these take part in the softmax"
HINT = "A key of zeros has the score 0, and exp(0) is 1. What does it do to the sum?"
IN = "flash_attention"
REPLACE = {
    "if Q.ndim > 2:": """
if Q.ndim == 2 and not is_causal:
    K, V = (np.pad(x, ((0, -len(x) % block_k), (0, 0))) for x in (K, V))
if Q.ndim > 2:"""
}

# %% ragged_queries_dropped
LIKELY = "queries that do not fill a tile are left out: their rows are zeros"
HINT = "Try five queries in tiles of two. What is in the last row of the output?"
IN = "flash_attention"
REPLACE = {
    "O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)": "O, L = np.zeros((len(Q), V.shape[-1]), Q.dtype), np.zeros(len(Q), Q.dtype)",
    "for i in range(0, len(Q), block_q):": "for i in range(0, max(len(Q) // block_q, 1) * block_q, block_q):",
}

# %% whole_tiles_only
LIKELY = "only complete tiles are computed: queries and keys that do not fill a tile are left out"
HINT = "Try five tokens in tiles of two. How many tiles are there, and which rows of the output are still 0?"
IN = "flash_attention"
REPLACE = {
    "O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)": "O, L = np.zeros((len(Q), V.shape[-1]), Q.dtype), np.zeros(len(Q), Q.dtype)",
    "for i in range(0, len(Q), block_q):": "for i in range(0, len(Q) // block_q * block_q, block_q):",
    "for j in range(0, len(K), block_k):": "for j in range(0, len(K) // block_k * block_k, block_k):",
}

# %% causal_ignored
LIKELY = "is_causal is ignored"
HINT = "With is_causal, the first query sees one key. What should its output be?"
IN = "flash_attention"
REPLACE = {"if Q.ndim > 2:": "is_causal = False\nif Q.ndim > 2:"}

# %% causal_by_the_tile
LIKELY = "the causal mask is made from positions in the tile, not in the whole text"
HINT = "The second tile of queries begins at query block_q. May its first query look at key 1?"
IN = "flash_attention"
REPLACE = {
    "scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "scores[np.arange(len(k)) > np.arange(len(q))[:, None]] = -np.inf"
}

# %% causal_only_whole_tiles
LIKELY = "tiles above the diagonal are skipped, but the tiles on the diagonal are not masked"
HINT = "A tile on the diagonal has keys before and after its queries. Which of them must be blocked?"
IN = "flash_attention"
REPLACE = {"if is_causal:\n    scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "pass"}

# %% causal_without_itself
LIKELY = "with is_causal, a query does not see the key at its own position"
HINT = "May query 0 look at key 0? The rule is j <= i."
IN = "flash_attention"
REPLACE = {
    "scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "scores[(j + np.arange(len(k)) >= i + np.arange(len(q))[:, None]) & (i + np.arange(len(q))[:, None] > 0)] = -np.inf"
}

# %% causal_first_query_sees_nothing
LIKELY = "with is_causal, a query does not see the key at its own position, so the first query has no key and its output is NaN"
HINT = "May query 0 look at key 0? The rule is j <= i."
IN = "flash_attention"
REPLACE = {
    "scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "scores[j + np.arange(len(k)) >= i + np.arange(len(q))[:, None]] = -np.inf"
}

# %% causal_from_the_bottom_right
LIKELY = "with is_causal, positions are counted from the last key: query i sees the keys up to n_k - n_q + i"
HINT = "Try two queries and five keys. How many keys does the first query see?"
IN = "flash_attention"
REPLACE = {
    "if is_causal and j > i + len(q) - 1:\n    break": "if is_causal and j > i + len(q) - 1 + max(len(K) - len(Q), 0):\n    break",
    "scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "scores[j + np.arange(len(k)) > max(len(K) - len(Q), 0) + i + np.arange(len(q))[:, None]] = -np.inf",
}

# %% causal_skips_the_diagonal_tile
LIKELY = "with is_causal, tiles are skipped that still have keys for the last queries"
HINT = "A tile is skipped if its first key is after the *last* query of the tile, not after the first."
IN = "flash_attention"
REPLACE = {"if is_causal and j > i + len(q) - 1:": "if is_causal and j > i:"}

# %% batch_first_element
LIKELY = "all elements of a batch get the result of the first"
HINT = "Compare a batch of two with two single calls."
IN = "flash_attention"
REPLACE = {
    "parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]": "parts = [flash_attention(Q[0], K[0], V[0], block_q, block_k, is_causal)] * len(Q)"
}

# %% batch_causal_lost
LIKELY = "is_causal is not passed on for the elements of a batch"
HINT = "Call it with a batch and is_causal=True. Does the first query see only one key?"
IN = "flash_attention"
REPLACE = {
    "parts = [flash_attention(q, k, v, block_q, block_k, is_causal) for q, k, v in zip(Q, K, V, strict=True)]": "parts = [flash_attention(q, k, v, block_q, block_k) for q, k, v in zip(Q, K, V, strict=True)]"
}

# %% returns_log_sums_first
LIKELY = "the results are swapped: L comes first"
HINT = "Which of the two results has the shape of the values?"
IN = "flash_attention"
REPLACE = {
    "return O, L": "return L, O",
    "return np.stack([output for output, _ in parts]), np.stack([log_sum for _, log_sum in parts])": (
        "return tuple(np.stack(one) for one in zip(*parts))"
    ),
}

# %% attention_of_the_keys
LIKELY = "the weights are applied to the keys, not to the values"
HINT = "Which array do the weights mix: K or V?"
IN = "flash_attention"
REPLACE = {
    "total = total * rescale[:, None] + weights @ V[j : j + block_k]": "total = total * rescale[:, None] + np.resize(weights @ K[j : j + block_k], total.shape)"
}

# %% widths_not_checked
LIKELY = "queries and keys of different widths do not raise a ValueError that names both"
HINT = "What does the message of NumPy say? Does it name both widths in a ValueError of yours?"
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")': 'raise ValueError("queries and keys differ")'
}

# %% lengths_not_checked
LIKELY = "different numbers of keys and values do not raise an error: some are left out"
HINT = "Try three keys and four values. Slices beyond the end raise no error."
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'if K.shape[-2] != V.shape[-2]:\n    raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")': "n_k = min(K.shape[-2], V.shape[-2])\nK, V = K[..., :n_k, :], V[..., :n_k, :]"
}

# %% nothing_refused
LIKELY = "flash_attention raises no errors of its own: wrong sizes and block sizes below 1 give a result"
HINT = "Try four keys with seven values, or block_q = -1. Which errors does the docstring ask for?"
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'if K.shape[-2] != V.shape[-2]:\n    raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")': "",
    'if min(block_q, block_k) < 1:\n    raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")': "",
    "O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)": "O, L = np.zeros((len(Q), V.shape[-1]), Q.dtype), np.zeros(len(Q), Q.dtype)",
}

# %% asserts
LIKELY = "wrong sizes raise an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")': 'raise AssertionError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")',
    'raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")': 'raise AssertionError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")',
    'raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")': 'raise AssertionError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")',
}

# %% blocks_not_checked
LIKELY = "a block size below 1 is taken as 1, without an error"
HINT = "What should flash_attention(Q, K, V, 0, 2) do? The docstring says so."
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'if min(block_q, block_k) < 1:\n    raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")': "block_q, block_k = max(block_q, 1), max(block_k, 1)"
}

# %% modifies_the_queries
LIKELY = "the caller's queries are divided by the scale in place"
HINT = "Print Q before and after the call."
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    "O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)": "O, L = np.empty((len(Q), V.shape[-1]), Q.dtype), np.empty(len(Q), Q.dtype)\nQ /= float(np.sqrt(Q.shape[-1]))",
    "q = Q[i : i + block_q] / float(np.sqrt(Q.shape[-1]))": "q = Q[i : i + block_q]",
}

# %% upcasts
LIKELY = "float32 becomes float64"
HINT = "Print O.dtype for arguments of float32. Which line changes it?"
VALUES_RIGHT = True
IN = "flash_attention"
REPLACE = {
    'Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))': "Q, K, V = (np.asarray(x, float) for x in (Q, K, V))"
}

# %% whole_table
LIKELY = "the whole table of scores is computed at once and kept: this is plain attention, not in tiles"
HINT = "How many numbers does `Q @ K.T` have for 8192 tokens? A tile has block_q × block_k."
COSTLY = True


def flash_attention(Q, K, V, block_q, block_k, is_causal=False):
    Q, K, V = (np.asarray(x, None if np.asarray(x).dtype.kind == "f" else float) for x in (Q, K, V))
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    if min(block_q, block_k) < 1:
        raise ValueError(f"{block_q} and {block_k}")
    scores = Q @ np.swapaxes(K, -1, -2) / float(np.sqrt(Q.shape[-1]))
    if is_causal:
        n_q, n_k = scores.shape[-2:]
        scores = np.where(np.arange(n_k) > np.arange(n_q)[:, None], -np.inf, scores).astype(Q.dtype)
    m = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - m)
    l = weights.sum(axis=-1, keepdims=True)
    return weights @ V / l, (m + np.log(l))[..., 0]


# %% all_keys_at_once
LIKELY = "a tile of queries is compared with all keys at once: memory grows with block_q · n_k"
HINT = "You cut the queries into tiles. What about the keys?"
COSTLY = True
IN = "flash_attention"
REPLACE = {
    "for i in range(0, len(Q), block_q):": "block_k = block_k if is_causal else len(K)\nfor i in range(0, len(Q), block_q):"
}

# %% causal_tiles_not_skipped
LIKELY = "with is_causal, the tiles above the diagonal are computed and then masked"
HINT = "How many of 8 × 8 tiles have a key that some query may look at?"
COSTLY = True
IN = "flash_attention"
REPLACE = {"if is_causal and j > i + len(q) - 1:\n    break": "pass"}

# %% query_by_query
LIKELY = "each query is a tile of its own: steps grow with the number of queries"
HINT = "A product of a tile of queries with a tile of keys is one step. How many steps do you make for a tile?"
COSTLY = True
IN = "flash_attention"
REPLACE = {"for i in range(0, len(Q), block_q):": "block_q = 1\nfor i in range(0, len(Q), block_q):"}

# %% scores_computed_twice
LIKELY = "the scores of each tile are computed twice, once for L and once for the output"
HINT = "One pass over the tiles can keep the maximum, the sum and the output."
COSTLY = True
IN = "flash_attention"
REPLACE = {"scores = q @ k.T": "scores = (q @ k.T + q @ k.T) / 2"}

# %% backward_row_sum_missing
LIKELY = "the gradient of the scores misses the term dO·o"
HINT = "The weights of a query sum to 1, so they cannot all grow. Which term takes care of that?"
REPLACE = {"d_scores = weights * (d_out @ v.T - shared) / root": "d_scores = weights * (d_out @ v.T) / root"}

# %% backward_row_sum_of_the_tile
LIKELY = "dO·o is computed from the weights of one tile, not from O"
HINT = "A query's weights sum to 1 over *all* keys. What do they sum to in one tile?"
REPLACE = {
    "d_scores = weights * (d_out @ v.T - shared) / root": "d_weights = d_out @ v.T\nd_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) / root"
}

# %% backward_weights_not_normalised
LIKELY = "the weights are taken relative to the largest score of the tile, not relative to L"
HINT = "exp(score - L) is the weight that the forward pass used. What does another number give?"
REPLACE = {"weights = np.exp(scores - log_sum)": "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))"}

# %% backward_softmax_of_the_tile
LIKELY = "the weights are the softmax of one tile"
HINT = "L is there so that you do not need the other tiles. Where do you use it?"
REPLACE = {
    "weights = np.exp(scores - log_sum)": "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))\nweights = weights / weights.sum(axis=-1, keepdims=True)"
}

# %% backward_no_scaling_of_the_gradients
LIKELY = "dQ and dK are not divided by the square root of d_k"
HINT = "The scores were divided by it. What does the chain rule say?"
REPLACE = {"d_scores = weights * (d_out @ v.T - shared) / root": "d_scores = weights * (d_out @ v.T - shared)"}

# %% backward_queries_not_scaled
LIKELY = "dK is divided by the square root of d_k, but dQ is not"
HINT = "The scores are q·k / √d_k. Where does the root appear in the gradient of q, and where in that of k?"
REPLACE = {"dQ[i : i + block_q] += d_scores @ k": "dQ[i : i + block_q] += d_scores @ k * root"}

# %% backward_keys_not_scaled
LIKELY = "dQ is divided by the square root of d_k, but dK is not"
HINT = "The scores are q·k / √d_k. Where does the root appear in the gradient of q, and where in that of k?"
REPLACE = {"dK[j : j + block_k] += d_scores.T @ q": "dK[j : j + block_k] += d_scores.T @ q * root"}

# %% backward_row_sum_added
LIKELY = "dO·o is added to dO·v, not subtracted"
HINT = "If all values are equal, no score matters, and the gradients of the scores are 0. Are yours?"
REPLACE = {"d_scores = weights * (d_out @ v.T - shared) / root": "d_scores = weights * (d_out @ v.T + shared) / root"}

# %% backward_weights_missing
LIKELY = "the gradient of a score is not multiplied by the weight of its key"
HINT = "A key with the weight 0 changes nothing. What is the gradient of its score?"
REPLACE = {"d_scores = weights * (d_out @ v.T - shared) / root": "d_scores = (d_out @ v.T - shared) / root"}

# %% backward_no_scaling_of_the_scores
LIKELY = "the scores that are computed again are not divided by the square root of d_k"
HINT = "L belongs to the scaled scores. Which scores do you subtract it from?"
REPLACE = {"scores = q @ k.T / root": "with np.errstate(over='ignore'):\n    scores = np.minimum(q @ k.T, 300)"}
IN = "flash_attention_backward"

# %% backward_keys_not_accumulated
LIKELY = "dK is overwritten by each tile of queries, not added up"
HINT = "Every tile of queries has a part in the gradient of a key."
REPLACE = {"dK[j : j + block_k] += d_scores.T @ q": "dK[j : j + block_k] = d_scores.T @ q"}

# %% backward_values_not_accumulated
LIKELY = "dV is overwritten by each tile of queries, not added up"
HINT = "Every tile of queries has a part in the gradient of a value."
REPLACE = {"dV[j : j + block_k] += weights.T @ d_out": "dV[j : j + block_k] = weights.T @ d_out"}

# %% backward_keys_and_values_not_accumulated
LIKELY = "dK and dV are overwritten by each tile of queries, not added up"
HINT = "Every tile of queries has a part in the gradients of a key and of its value."
REPLACE = {
    "dK[j : j + block_k] += d_scores.T @ q": "dK[j : j + block_k] = d_scores.T @ q",
    "dV[j : j + block_k] += weights.T @ d_out": "dV[j : j + block_k] = weights.T @ d_out",
}

# %% backward_queries_not_accumulated
LIKELY = "dQ is overwritten by each tile of keys, not added up"
HINT = "Every tile of keys has a part in the gradient of a query."
REPLACE = {"dQ[i : i + block_q] += d_scores @ k": "dQ[i : i + block_q] = d_scores @ k"}

# %% backward_causal_ignored
LIKELY = "is_causal is ignored in the backward pass"
HINT = "A key after its query has the weight 0. What is its part in dV?"
IN = "flash_attention_backward"
REPLACE = {"if Q.ndim > 2:": "is_causal = False\nif Q.ndim > 2:"}

# %% backward_causal_by_the_tile
LIKELY = "the causal mask of the backward pass is made from positions in the tile"
HINT = "The second tile of queries begins at query block_q. Add the beginning of the tile to both positions."
IN = "flash_attention_backward"
REPLACE = {
    "scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "scores[np.arange(len(k)) > np.arange(len(q))[:, None]] = -np.inf"
}

# %% backward_causal_only_whole_tiles
LIKELY = "in the backward pass, tiles above the diagonal are skipped, but those on the diagonal are not masked"
HINT = "A tile on the diagonal has keys before and after its queries. What are the weights of those after?"
IN = "flash_attention_backward"
REPLACE = {"if is_causal:\n    scores[j + np.arange(len(k)) > i + np.arange(len(q))[:, None]] = -np.inf": "pass"}

# %% backward_dq_with_queries
LIKELY = "dQ is multiplied with Q, and dK with K: they are swapped"
HINT = "A score is q·k. What is its derivative with respect to q?"
REPLACE = {
    "dQ[i : i + block_q] += d_scores @ k": "dQ[i : i + block_q] += d_scores.sum(axis=-1, keepdims=True) * q",
    "dK[j : j + block_k] += d_scores.T @ q": "dK[j : j + block_k] += d_scores.T.sum(axis=-1, keepdims=True) * k",
}

# %% backward_values_from_scores
LIKELY = "dV is made from the gradients of the scores, not from the weights"
HINT = "The output is weights times V. What is its derivative with respect to V?"
REPLACE = {"dV[j : j + block_k] += weights.T @ d_out": "dV[j : j + block_k] += d_scores.T @ d_out"}

# %% backward_returns_another_order
LIKELY = "the gradients are returned in the order dV, dK, dQ"
HINT = "Read the docstring: which gradient comes first?"
REPLACE = {
    "return dQ, dK, dV": "return dV, dK, dQ",
}

# %% backward_ragged_tile_dropped
LIKELY = "keys that do not fill a tile get no gradient"
HINT = "Try five keys in tiles of two. What is the gradient of the last key?"
IN = "flash_attention_backward"
REPLACE = {"for j in range(0, len(K), block_k):": "for j in range(0, max(len(K) // block_k, 1) * block_k, block_k):"}

# %% backward_nothing_refused
LIKELY = "the backward pass raises no errors of its own"
HINT = "What should flash_attention_backward do with a block size of 0? The docstring says so."
VALUES_RIGHT = True
IN = "flash_attention_backward"
REPLACE = {
    'if K.shape[-2] != V.shape[-2]:\n    raise ValueError(f"there are {K.shape[-2]} keys, but {V.shape[-2]} values")': "",
    'if min(block_q, block_k) < 1:\n    raise ValueError(f"a block has at least 1 token: block_q is {block_q}, block_k is {block_k}")': "",
}

# %% backward_widths_not_named
LIKELY = "in the backward pass, the error about different widths does not name both"
HINT = "Read your own message. Which two numbers disagree?"
VALUES_RIGHT = True
IN = "flash_attention_backward"
REPLACE = {
    'raise ValueError(f"queries have {Q.shape[-1]} entries, but keys have {K.shape[-1]}")': 'raise ValueError("queries and keys differ")'
}

# %% backward_modifies_the_gradient
LIKELY = "the caller's dO is changed"
HINT = "Print dO before and after the call."
VALUES_RIGHT = True
IN = "flash_attention_backward"
REPLACE = {
    "root = float(np.sqrt(Q.shape[-1]))": "root = float(np.sqrt(Q.shape[-1]))\ndO *= 2",
    "q, d_out, log_sum = Q[i : i + block_q], dO[i : i + block_q], L[i : i + block_q, None]": "q, d_out, log_sum = Q[i : i + block_q], dO[i : i + block_q] / 2, L[i : i + block_q, None]",
}

# %% backward_upcasts
LIKELY = "the gradients of float32 arrays are float64"
HINT = "Print dQ.dtype for arguments of float32."
VALUES_RIGHT = True
IN = "flash_attention_backward"
REPLACE = {
    "dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)": "dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)"
}

# %% backward_whole_table
LIKELY = "the whole table of weights is computed at once in the backward pass"
HINT = "With L, the weights of one tile are enough at a time."
COSTLY = True
IN = "flash_attention_backward"
REPLACE = {
    "root = float(np.sqrt(Q.shape[-1]))": "root = float(np.sqrt(Q.shape[-1]))\nblock_q, block_k = len(Q), len(K)"
}

# %% backward_all_keys_at_once
LIKELY = "in the backward pass, a tile of queries is compared with all keys at once"
HINT = "You cut the queries into tiles. What about the keys?"
COSTLY = True
IN = "flash_attention_backward"
REPLACE = {
    "root = float(np.sqrt(Q.shape[-1]))": "root = float(np.sqrt(Q.shape[-1]))\nif not is_causal:\n    block_k = len(K)"
}

# %% backward_causal_tiles_not_skipped
LIKELY = "in the backward pass with is_causal, the tiles above the diagonal are computed, too"
HINT = "Which tiles did the forward pass skip? Their weights are all 0."
COSTLY = True
IN = "flash_attention_backward"
REPLACE = {"if is_causal and j > i + len(q) - 1:\n    break": "pass"}

# %% backward_scores_twice
LIKELY = "the backward pass makes a sixth product for each tile: the scores are computed twice"
HINT = "Keep the weights of the tile. All five products can use them."
COSTLY = True
IN = "flash_attention_backward"
REPLACE = {"scores = q @ k.T / root": "scores = (q @ k.T + q @ k.T) / 2 / root"}

# %% backward_query_by_query
LIKELY = "in the backward pass, each query is a tile of its own"
HINT = "How many steps do you make for a tile of 128 queries?"
COSTLY = True
IN = "flash_attention_backward"
REPLACE = {"root = float(np.sqrt(Q.shape[-1]))": "root = float(np.sqrt(Q.shape[-1]))\nblock_q = 1"}

# %% reflect_score_bytes_counts_entries
LIKELY = "this is the number of scores, not the number of bytes"
HINT = "How many bytes does one float32 take?"
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 67108864

# %% reflect_score_bytes_in_float64
LIKELY = "these are the bytes in float64"
HINT = "How many bytes does one float32 take?"
REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32 = 536870912

# %% reflect_all_tiles
LIKELY = "this is the number of all tiles, without is_causal"
HINT = "How many tiles of 8 × 8 are at or below the diagonal?"
REFLECT_CAUSAL_TILES_N1024_B128 = 64

# %% reflect_tiles_below_the_diagonal
LIKELY = "the tiles on the diagonal are not counted, or are counted twice"
HINT = "Count them for 2 × 2 tiles: 3 are computed. Which ones?"
REFLECT_CAUSAL_TILES_N1024_B128 = 28
