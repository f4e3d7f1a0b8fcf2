"""Misconceptions of 11_efficient_attention. Each cell replaces part of the solution to make a wrong submission."""

import math

import numpy as np

# %% mask_one_too_wide
LIKELY = "the causal window is one token too wide"
HINT = "A window of 1 is the token itself and nothing else. How many ones does your mask have then?"
REPLACE = {"return (i - window < j) & (j <= i)": "return (i - window <= j) & (j <= i)"}


# %% mask_one_too_narrow
LIKELY = "the causal window is one token too narrow"
HINT = "A window of 1 is the token itself. Does the token see itself in your mask?"
REPLACE = {"return (i - window < j) & (j <= i)": "return (i - window + 1 < j) & (j <= i)"}


# %% mask_without_the_token_itself
LIKELY = "a token sees the tokens before it, but not itself"
HINT = "What is on the diagonal of your mask? The token itself counts as part of the window."
REPLACE = {"return (i - window < j) & (j <= i)": "return (i - window <= j) & (j < i)"}


# %% mask_counts_from_the_left_edge
LIKELY = "the window does not slide: every token sees the first tokens of the sentence"
HINT = "Which tokens should the last of five see with a window of 2?"
REPLACE = {"return (i - window < j) & (j <= i)": "return (j < window) & (j <= i)"}


# %% mask_looks_ahead
LIKELY = "the window is after the token, not before it"
HINT = "Row i belongs to the token that looks. May it see a token after it?"
REPLACE = {"return (i - window < j) & (j <= i)": "return (i <= j) & (j < i + window)"}


# %% mask_causal_ignored
LIKELY = "the argument `causal` is not used: the window always reaches to both sides"
HINT = "What is different between sliding_window_mask(5, 2) and sliding_window_mask(5, 2, causal=False)?"
REPLACE = {"return (i - window < j) & (j <= i)": "return np.abs(i - j) < window"}


# %% mask_always_causal
LIKELY = "the mask is causal even with causal=False"
HINT = "With causal=False, a token also sees the tokens after it. Is your mask symmetric?"
REPLACE = {"return np.abs(i - j) < window": "return (i - window < j) & (j <= i)"}


# %% mask_causal_inverted
LIKELY = "`causal` is read the wrong way round"
HINT = "What should sliding_window_mask(3, 2)[0] be? May the first token see the second?"
REPLACE = {"if causal:": "if not causal:"}
IN = "sliding_window_mask"


# %% mask_both_sides_too_wide
LIKELY = "with causal=False, the window is one token too wide on each side"
HINT = "Try a window of 1 with causal=False. Each token should see only itself."
REPLACE = {"return np.abs(i - j) < window": "return np.abs(i - j) <= window"}


# %% mask_both_sides_share_the_window
LIKELY = "with causal=False, the window is divided between the two sides"
HINT = "With causal=False, a window of 3 reaches two tokens back and two ahead. How many does your row have?"
REPLACE = {"return np.abs(i - j) < window": "return np.abs(i - j) <= window // 2"}


# %% mask_open_without_causal
LIKELY = "with causal=False, every token sees every token"
HINT = "causal=False opens the window to the other side. It is still a window."
REPLACE = {"return np.abs(i - j) < window": "return np.ones((n, n), dtype=bool)"}


# %% mask_true_is_blocked
LIKELY = "the mask has 1 where a token must not look"
HINT = "In this course, 1 means that a token may look. What should be on the diagonal?"
REPLACE = {
    "return (i - window < j) & (j <= i)": "return (i - window >= j) | (j > i)",
    "return np.abs(i - j) < window": "return np.abs(i - j) >= window",
}


# %% mask_window_ignored
LIKELY = "the argument `window` is not used: this is the plain causal mask"
HINT = "With a window of 2, should the last of five tokens see the first?"
REPLACE = {"return (i - window < j) & (j <= i)": "return j <= i"}


# %% mask_in_blocks
LIKELY = "the sentence is cut into blocks, and no token sees the block before its own"
HINT = "With a window of 2, does the third token see the second? The window slides with every token."
REPLACE = {"return (i - window < j) & (j <= i)": "return (i // window == j // window) & (j <= i)"}


# %% mask_additive
LIKELY = "the mask contains 0 and minus infinity, to be added to the scores, but it should contain 1 and 0"
HINT = "Which two values can a mask of this course contain? Which of them means allowed?"
REPLACE = {
    "return (i - window < j) & (j <= i)": "return np.where((i - window < j) & (j <= i), 0.0, -np.inf)",
    "return np.abs(i - j) < window": "return np.where(np.abs(i - j) < window, 0.0, -np.inf)",
}


# %% mask_list
LIKELY = "the mask is a list of lists, not an array"
HINT = "What is type(sliding_window_mask(3, 2))? Wrap your result in np.array."
REPLACE = {
    "return (i - window < j) & (j <= i)": "return ((i - window < j) & (j <= i)).tolist()",
    "return np.abs(i - j) < window": "return (np.abs(i - j) < window).tolist()",
}


# %% mask_zero_not_refused
LIKELY = "only a negative window raises an error, and a window of 0 blocks everything"
HINT = "What should sliding_window_mask(3, 0) do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True
REPLACE = {"if window < 1:": "if window < 0:"}
IN = "sliding_window_mask"


# %% mask_nothing_refused
LIKELY = "a window below 1 does not raise an error"
HINT = "What should sliding_window_mask(3, 0) do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {"if window < 1:": "if window is None:"}
IN = "sliding_window_mask"


# %% mask_asserts
LIKELY = "a window below 1 raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
IN = "sliding_window_mask"
REPLACE = {
    'raise ValueError(f"window must be at least 1, not {window}")': 'raise AssertionError(f"window must be at least 1, not {window}")',
}

# %% mask_error_without_number
LIKELY = "the message of the ValueError does not say what the window of the mask was"
HINT = "Put the number into the message. It is the first thing that a reader of the error wants to know."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"window must be at least 1, not {window}")': 'raise ValueError("the window is too small")'
}
IN = "sliding_window_mask"


# %% mask_one_diagonal_after_another
LIKELY = "the mask is summed up from complete (n, n) arrays, one for each diagonal: n²·window entries"
HINT = "How many entries does your code write for 1000 tokens and a window of 100? The mask has 1 000 000."
COSTLY = True


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    mask = np.zeros((n, n), dtype=bool)
    for back in range(min(window, n)):
        mask |= np.eye(n, k=-back, dtype=bool)
        if not causal:
            mask |= np.eye(n, k=back, dtype=bool)
    return mask


# %% mask_searched_in_a_list
LIKELY = "for every entry, the code goes through all tokens of the window again"
HINT = "To know whether token i sees token j, you need only i, j and the window."
COSTLY = True


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    ahead = 1 if causal else window
    seen = [list(range(i - window + 1, i + ahead)) for i in range(n)]
    return np.array([[any(k == j for k in tokens) for j in range(n)] for tokens in seen])


# %% mask_keeps_n_cubed
LIKELY = "an array of n³ entries is made for a mask of n²"
HINT = "Print the shape of every array that your code makes. Which of them is larger than the mask?"
COSTLY = True


def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    i, j, k = np.ogrid[:n, :n, :n]
    seen = (i - window < k) & (k <= i) if causal else np.abs(i - k) < window
    return (seen & (j == k)).any(axis=-1)


# %% window_one_too_wide
LIKELY = "each token sees one token too many: window + 1 of them"
HINT = "With a window of 1, a token sees only itself, so the output is V. Is yours?"
REPLACE = {"window = min(window, n)": "window = min(window + 1, n)"}


# %% window_one_too_narrow
LIKELY = "each token sees one token too few: window - 1 of them"
HINT = "With a window of 2, a token sees itself and the one before it. How many weights do you compute for it?"
REPLACE = {"window = min(window, n)": "window = max(min(window, n) - 1, 1)"}


# %% window_without_the_token_itself
LIKELY = "a token sees the tokens before it, but not itself"
HINT = "With a window of 1, a token sees only itself. What does your first row see?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    allowed = (i - window <= j) & (j < i)
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where(allowed, scores, -np.inf).astype(dtype)
    top = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = exps.sum(axis=-1, keepdims=True)
    return (exps / np.where(total == 0, 1, total)) @ V


# %% window_counts_from_the_left_edge
LIKELY = "the window does not slide: every token sees the first tokens of the sentence"
HINT = "Which two tokens should mat see with a window of 2? Change the first token and watch the last row."


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where((j < window) & (j <= i), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_to_both_sides
LIKELY = "the window also reaches to the tokens after it"
HINT = "The window of this function is causal. Change the last token: may the row before it change?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where(np.abs(i - j) < window, scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_looks_ahead
LIKELY = "the window is after the token, not before it"
HINT = "The first token sees only itself. What does your first row see?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where((i <= j) & (j < i + window), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_ignored
LIKELY = "the argument `window` is not used: this is causal attention over all tokens before"
HINT = "With a window of 2, change the first of five tokens. May the last row change?"
REPLACE = {"window = min(window, n)": "window = n"}


# %% window_without_a_mask
LIKELY = "every token sees every token: neither the window nor the order counts"
HINT = "With a window of 1, the output is V. Is yours?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_full_at_the_beginning
LIKELY = "the first tokens see window tokens, too, so they look ahead"
HINT = "The first token sees only itself. What does `K[start : start + window]` contain if start is 0?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        start = max(0, i - window + 1)
        keys, values = K[..., start : start + window, :], V[..., start : start + window, :]
        scores = (keys @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        rows.append((weights[..., None, :] @ values)[..., 0, :])
    return np.stack(rows, axis=-2)


# %% window_in_blocks
LIKELY = "the sentence is cut into blocks, and no token sees the block before its own"
HINT = "With a window of 2, does the third token see the second? The window slides with every token."


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        start = i // window * window
        keys, values = K[..., start : i + 1, :], V[..., start : i + 1, :]
        scores = (keys @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        rows.append((weights[..., None, :] @ values)[..., 0, :])
    return np.stack(rows, axis=-2)


# %% window_wraps_around
LIKELY = "the window wraps around: the first tokens see the last ones (np.roll and negative indices do that)"
HINT = "Change the last token. May the first row change?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    shifts = range(min(window, Q.shape[-2]))
    keys = np.stack([np.roll(K, back, axis=-2) for back in shifts], axis=-2)
    values = np.stack([np.roll(V, back, axis=-2) for back in shifts], axis=-2)
    scores = (keys @ Q[..., None])[..., 0] / math.sqrt(Q.shape[-1])
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return (weights[..., None, :] @ values)[..., 0, :]


# %% window_padding_joins
LIKELY = "positions before the first token count as keys with a score of 0, and take weight from the real ones"
HINT = "The first token sees only itself, so its output is its value. A score of 0 is not a weight of 0."
REPLACE = {
    "scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=dtype)": (
        "scores = np.zeros((*Q.shape[:-1], window), dtype=dtype)"
    )
}


# %% window_padding_minus_1e9
LIKELY = "positions before the first token get a score of -1e9, which is more than a very low real score"
HINT = "Try scores near -1e12. Which entry of the row is the largest then?"
REPLACE = {
    "scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=dtype)": (
        "scores = np.full((*Q.shape[:-1], window), -1e9, dtype=dtype)"
    )
}


# %% window_not_scaled
LIKELY = "the scores are not divided by sqrt(d_k)"
HINT = "Compare with module 03: what happens to the scores before the softmax?"
REPLACE = {"scores = scores / math.sqrt(d_k)": "scores = scores * 1.0"}


# %% window_divided_by_d_k
LIKELY = "the scores are divided by d_k, not by its square root"
HINT = "The keys of the lesson have four numbers. By how much should the scores be divided?"
REPLACE = {"scores = scores / math.sqrt(d_k)": "scores = scores / d_k"}


# %% window_divided_by_the_root_of_the_window
LIKELY = "the scores are divided by the square root of the window, not of d_k"
HINT = "Does the scale change with the window? It should depend only on the length of the vectors."
REPLACE = {"scores = scores / math.sqrt(d_k)": "scores = scores / math.sqrt(window)"}


# %% window_multiplied_by_the_root
LIKELY = "the scores are multiplied by sqrt(d_k), not divided"
HINT = "Should the scale make scores larger or smaller?"
REPLACE = {"scores = scores / math.sqrt(d_k)": "scores = scores * math.sqrt(d_k)"}


# %% window_divided_by_the_root_of_d_v
LIKELY = "the scores are divided by sqrt(d_v), not by sqrt(d_k)"
HINT = "Use values that are longer than the keys. The scores depend only on queries and keys."
REPLACE = {"scores = scores / math.sqrt(d_k)": "scores = scores / math.sqrt(V.shape[-1])"}


# %% window_without_maximum
LIKELY = "nothing is subtracted before the exponential, so large scores overflow"
HINT = "What is np.exp(1000)? And np.exp(1000 - 1000)?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    with np.errstate(all="ignore"):
        for i in range(Q.shape[-2]):
            start = max(0, i - window + 1)
            keys, values = K[..., start : i + 1, :], V[..., start : i + 1, :]
            exps = np.exp((keys @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1]))
            weights = exps / exps.sum(axis=-1, keepdims=True)
            rows.append((weights[..., None, :] @ values)[..., 0, :])
    return np.stack(rows, axis=-2)


# %% window_one_maximum_for_all
LIKELY = "one maximum is subtracted from all rows, so rows with low scores underflow to 0/0"
HINT = "Give one token scores near 3000 and another scores near -3000. Each row needs its own maximum."


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where((i - window < j) & (j <= i), scores, -np.inf).astype(dtype)
    with np.errstate(all="ignore"):
        exps = np.exp(scores - scores.max())
        return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_normalised_over_queries
LIKELY = "the weights are divided by their sum over the queries, not over the keys of one query"
HINT = "The weights of each token sum to 1. Along which axis do you sum?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    scores = np.where((i - window < j) & (j <= i), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return (exps / exps.sum(axis=-2, keepdims=True)) @ V


# %% window_not_normalised
LIKELY = "the exponentials are not divided by their sum"
HINT = "With values that are all 1, every output is 1. Is yours?"
REPLACE = {"weights = exps / exps.sum(axis=-1, keepdims=True)": "weights = exps"}


# %% window_normalised_before_the_mask
LIKELY = "the softmax goes over all tokens, and the window is cut out afterwards without dividing again"
HINT = "With values that are all 1, every output is 1. Is yours?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    i, j = np.indices((Q.shape[-2], Q.shape[-2]))
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / Q.shape[-1] ** 0.5
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.where((i - window < j) & (j <= i), weights, 0).astype(dtype) @ V


# %% window_keys_in_place_of_values
LIKELY = "the weights are applied to K, not to V"
HINT = "Double V. Does your output double?"
REPLACE = {
    "mixtures = np.zeros(V.shape, dtype=dtype)": "mixtures = np.zeros(K.shape, dtype=dtype)",
    "mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., : n - back, :]": (
        "mixtures[..., back:, :] += weights[..., back:, back, None] * K[..., : n - back, :]"
    ),
}


# %% window_values_not_shifted
LIKELY = "the scores belong to the tokens of the window, but the values all come from the token itself"
HINT = "With a window of 2, change the value of a token. Does the next row change?"
REPLACE = {
    "mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., : n - back, :]": (
        "mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., back:, :]"
    )
}


# %% window_values_in_the_wrong_order
LIKELY = "weights and values run in opposite directions: the weight of the newest key meets the oldest value"
HINT = "In row on of the lesson, which of the two weights belongs to the value of sat?"


def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        start = max(0, i - window + 1)
        keys, values = K[..., start : i + 1, :], V[..., start : i + 1, :]
        scores = (keys @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        rows.append((weights[..., None, ::-1] @ values)[..., 0, :])
    return np.stack(rows, axis=-2)


# %% window_returns_a_pair
LIKELY = "the function returns (output, weights), but only the output is asked for"
HINT = "What is the type of your result? This function returns one array."
REPLACE = {"return mixtures": "return mixtures, weights"}


# %% window_first_of_batch
LIKELY = "every sequence of the batch gets the keys of the first"
HINT = "Give two sequences different keys. Which keys does the second one see?"
REPLACE = {
    "Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)": (
        "Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)\n"
        "K = np.broadcast_to(K[:1], K.shape) if K.ndim > 2 else K"
    )
}


# %% window_cut_to_integers
LIKELY = "the output has the dtype of the input; for integers, it is cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"
REPLACE = {"return mixtures": "return mixtures.astype(Q.dtype)"}


# %% window_upcasts_float32
LIKELY = "float32 inputs give a float64 output of the window"
HINT = "Which of your steps turns float32 into float64? np.zeros, np.full and np.float64 numbers all do."
VALUES_RIGHT = True
REPLACE = {"return mixtures": "return mixtures.astype(np.float64)"}


# %% window_modifies_q
LIKELY = "the caller's Q is changed, for example by scaling it in place"
HINT = "Print Q before and after the call. What does Q /= 2 do to the caller's array?"
VALUES_RIGHT = True
REPLACE = {
    "return mixtures": "if Q.dtype.kind == 'f' and Q.flags.writeable:\n    Q /= math.sqrt(d_k)\nreturn mixtures",
}


# %% window_zero_not_refused
LIKELY = "only a negative window raises an error in the attention, and 0 does not"
HINT = "What should a window of 0 do? Compare `< 0` with `< 1`."
VALUES_RIGHT = True
REPLACE = {
    "if window < 1:": "if window < 0:",
    "window = min(window, n)": "window = max(min(window, n), 1)",
}
IN = "sliding_window_attention"


# %% window_nothing_refused
LIKELY = "a window below 1 does not raise an error in the attention"
HINT = "What should a window of 0 do? The docstring names the exception and what its message contains."
VALUES_RIGHT = True
REPLACE = {
    "if window < 1:": "if window is None:",
    "window = min(window, n)": "window = max(min(window, n), 1)",
}
IN = "sliding_window_attention"


# %% window_asserts
LIKELY = "wrong windows and sizes raise an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
IN = "sliding_window_attention"
REPLACE = {
    'raise ValueError(f"window must be at least 1, not {window}")': 'raise AssertionError(f"window must be at least 1, not {window}")',
    'raise ValueError(f"Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}")': 'raise AssertionError(f"Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}")',
    'raise ValueError(f"K has {K.shape[-2]} tokens, but V has {V.shape[-2]}")': 'raise AssertionError(f"K has {K.shape[-2]} tokens, but V has {V.shape[-2]}")',
}

# %% window_error_without_number
LIKELY = "the message of the ValueError does not say what the window of the attention was"
HINT = "Put the number into the message. It is the first thing that a reader of the error wants to know."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"window must be at least 1, not {window}")': 'raise ValueError("the window is too small")'
}
IN = "sliding_window_attention"


# %% window_widths_not_refused
LIKELY = "vectors of Q and K with different lengths raise no error: NumPy broadcasts a length of 1"
HINT = "What does NumPy do with arrays (5, 1) and (5, 4)? Compare the last axes yourself."
VALUES_RIGHT = True
REPLACE = {"if Q.shape[-1] != K.shape[-1]:": "if Q.shape[-1] != K.shape[-1] and 1 not in (Q.shape[-1], K.shape[-1]):"}
IN = "sliding_window_attention"


# %% window_lengths_not_refused
LIKELY = "K and V of different lengths raise no error: the values that are too many are not used"
HINT = "What does your function do with 4 keys and 6 values? The docstring names the exception."
VALUES_RIGHT = True
REPLACE = {
    "if K.shape[-2] != V.shape[-2]:": "if K.shape[-2] > V.shape[-2]:",
    "mixtures = np.zeros(V.shape, dtype=dtype)": "mixtures = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=dtype)",
}
IN = "sliding_window_attention"


# %% window_error_without_sizes
LIKELY = "the message about sizes that do not fit does not name them"
HINT = "Two sizes disagree. Put both into the message."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}")': (
        'raise ValueError("the widths do not fit")'
    ),
    'raise ValueError(f"K has {K.shape[-2]} tokens, but V has {V.shape[-2]}")': (
        'raise ValueError("the lengths do not fit")'
    ),
}
IN = "sliding_window_attention"


# %% window_as_a_mask
LIKELY = "all n² scores are computed, and a mask hides most of them"
HINT = "How many scores does a token need with a window of 4? How many do you compute for 1000 tokens?"
COSTLY = True


def sliding_window_attention(Q, K, V, window):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    dtype = np.result_type(Q, K, V, np.float32)
    scores = (Q @ np.swapaxes(K, -1, -2)).astype(dtype) / math.sqrt(Q.shape[-1])
    scores = np.where(sliding_window_mask(Q.shape[-2], window), scores, -np.inf).astype(dtype)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exps / exps.sum(axis=-1, keepdims=True)) @ V


# %% window_asks_every_pair
LIKELY = "a Python loop goes through all n² pairs and asks for each whether it is in the window"
HINT = "Let the inner loop begin where the window begins, and not at 0."
COSTLY = True


def sliding_window_attention(Q, K, V, window):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} and {V.shape[-2]}")
    rows = []
    for i in range(Q.shape[-2]):
        seen = [j for j in range(K.shape[-2]) if i - window < j <= i]
        keys, values = K[..., seen[0] : i + 1, :], V[..., seen[0] : i + 1, :]
        scores = (keys @ Q[..., i, :, None])[..., 0] / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        rows.append((weights[..., None, :] @ values)[..., 0, :])
    return np.stack(rows, axis=-2)


# %% feature_relu
LIKELY = "this is relu: it is 0 below 0, so a query can have no weights at all"
HINT = "What is the feature of -1? It should be 0.3679, not 0."
REPLACE = {"return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.maximum(x, 0)"}


# %% feature_relu_plus_one
LIKELY = "this is relu plus 1: all numbers below 0 get the same feature"
HINT = "Are the features of -1 and of -3 different?"
REPLACE = {"return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.maximum(x, 0) + 1"}


# %% feature_without_plus_one
LIKELY = "this is elu without the + 1, so features can be negative"
HINT = "What is the feature of 0? It should be 1."
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)"
}


# %% feature_plus_one_on_one_side
LIKELY = "1 is added above 0 only: below 0 it is still elu, which is negative there"
HINT = "Is your function continuous at 0? Try 0.001 and -0.001."
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": (
        "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)) - 1)"
    )
}


# %% feature_line_without_plus_one
LIKELY = "the straight line above 0 begins at 0, not at 1"
HINT = "Is your function continuous at 0? Try 0.001 and -0.001."
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.where(x > 0, x, np.exp(np.minimum(x, 0)))"
}


# %% feature_exponential_everywhere
LIKELY = "this is the exponential on both sides of 0"
HINT = "What is the feature of 2? It should be 3."
REPLACE = {"return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.exp(np.minimum(x, 700))"}


# %% feature_line_everywhere
LIKELY = "this is x + 1 on both sides of 0, which is negative below -1"
HINT = "What is the feature of -2? It should be 0.1353."
REPLACE = {"return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return x + 1"}


# %% feature_sides_swapped
LIKELY = "the two sides are swapped: the line is below 0, the exponential above it"
HINT = "What is the feature of 2? It should be 3."
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": (
        "return np.where(x > 0, np.exp(np.clip(x, 0, 700)), x + 1)"
    )
}


# %% feature_softplus
LIKELY = "this is softplus, the logarithm of 1 + e to the x"
HINT = "What is the feature of 0? It should be 1, and that of 2 should be 3."
REPLACE = {"return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": "return np.logaddexp(x.dtype.type(0), x)"}


# %% feature_sum_of_both_sides
LIKELY = "both sides are computed and multiplied by 0 or 1; for large numbers, 0 times infinity is NaN"
HINT = "Try feature_map of 5000. What is e to the 5000, and what is 0 times that?"


def feature_map(x):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    with np.errstate(all="ignore"):
        return (x > 0) * (x + 1) + (x <= 0) * np.exp(x)


# %% feature_cut_to_integers
LIKELY = "the features of integers are stored as integers, so 0.3679 becomes 0"
HINT = "What is feature_map of the integer -1?"


def feature_map(x):
    x = np.asarray(x)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))).astype(x.dtype)


# %% feature_list
LIKELY = "the features are a list, not an array"
HINT = "What is the type of your result? Wrap it in np.array."
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": (
        "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))).tolist()"
    )
}


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    dtype = np.result_type(Q, K, V, np.float32)
    q, k = (np.array(feature_map(x), dtype=dtype) for x in (Q, K))
    if causal:
        states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)
        return (q[..., None, :] @ states)[..., 0, :] / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)
    return (q @ (np.swapaxes(k, -1, -2) @ V)) / (q * k.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    dtype = np.result_type(q, k, v, np.float32)
    q, k, v = np.array(feature_map(q), dtype=dtype), np.array(feature_map(k), dtype=dtype), np.asarray(v)
    summed, total = (0, 0) if state is None else state
    summed = summed + k[..., :, None] * v[..., None, :]
    total = total + k
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% feature_upcasts_float32
LIKELY = "feature_map gives float64 features for float32 numbers"
HINT = "Which of your steps turns float32 into float64?"
VALUES_RIGHT = True
REPLACE = {
    "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))": (
        "return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))).astype(np.float64)"
    )
}


# %% feature_modifies_input
LIKELY = "the caller's array is changed"
HINT = "Print x before and after the call. What does x[x > 0] += 1 do to the caller's array?"
VALUES_RIGHT = True


def feature_map(x):
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    features = np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    if x.flags.writeable:
        x[...] = features
    return features


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q, k, V = feature_map(np.array(Q)), feature_map(np.array(K)), np.asarray(V)
    if causal:
        states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)
        return (q[..., None, :] @ states)[..., 0, :] / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)
    return (q @ (np.swapaxes(k, -1, -2) @ V)) / (q * k.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = feature_map(np.array(q)), feature_map(np.array(k)), np.asarray(v)
    summed, total = (0, 0) if state is None else state
    summed = summed + k[..., :, None] * v[..., None, :]
    total = total + k
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% linear_without_normaliser
LIKELY = "the output of linear attention is not divided by the sum of the weights"
HINT = "With values that are all 1, every output is 1. Is yours?"
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": "return q @ state",
    "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)": (
        "return (q[..., None, :] @ states)[..., 0, :]"
    ),
}


# %% linear_normalised_over_queries
LIKELY = "the weights are divided by their sum over the queries, not over the keys"
HINT = "The weights of each query sum to 1. Which of q and k do you sum up for the denominator?"
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": (
        "share = (k * q.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)\n"
        "return q @ (np.swapaxes(k, -1, -2) @ (V / share).astype(k.dtype))"
    )
}


# %% linear_divided_by_the_number_of_keys
LIKELY = "the output is divided by the number of keys, not by the sum of the weights"
HINT = "With values that are all 1, every output is 1. Is yours?"
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": "return (q @ state) / k.shape[-2]",
    "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)": (
        "counts = np.arange(1, k.shape[-2] + 1, dtype=q.dtype)[:, None]\n"
        "return (q[..., None, :] @ states)[..., 0, :] / counts"
    ),
}


# %% linear_without_feature_map
LIKELY = "Q, K and V are multiplied as they are: Q(KᵀV), without a feature map and without a denominator"
HINT = "Which function comes before the products? And by what is the result divided?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    Q = Q if Q.dtype.kind == "f" else Q.astype(float)
    if causal:
        return (Q[..., None, :] @ np.cumsum(K[..., :, None] * V[..., None, :], axis=-3))[..., 0, :]
    return Q @ (np.swapaxes(K, -1, -2) @ V)


# %% linear_products_not_mapped
LIKELY = "the feature map is missing: the weights are plain products q·k, which can be negative or sum to 0"
HINT = "Can your weights be negative? Where do you call feature_map?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q = Q if Q.dtype.kind == "f" else Q.astype(float)
    k = K if K.dtype.kind == "f" else K.astype(float)
    with np.errstate(all="ignore"):
        if causal:
            states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)
            return (q[..., None, :] @ states)[..., 0, :] / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)
        return (q @ (np.swapaxes(k, -1, -2) @ V)) / (q * k.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


# %% linear_softmax_features
LIKELY = "softmax takes the place of the feature map, over the features of Q and the tokens of K, with no denominator"
HINT = "That is another kind of linear attention. Here, the weights come from feature_map and are divided by their sum."


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q, k = np.exp(Q - Q.max(axis=-1, keepdims=True)), np.exp(K - K.max(axis=-2, keepdims=True))
    q, k = q / q.sum(axis=-1, keepdims=True), k / k.sum(axis=-2, keepdims=True)
    if causal:
        return (q[..., None, :] @ np.cumsum(k[..., :, None] * V[..., None, :], axis=-3))[..., 0, :]
    return q @ (np.swapaxes(k, -1, -2) @ V)


# %% linear_only_keys_mapped
LIKELY = "the feature map is applied to K, but not to Q"
HINT = "The weight is φ(q)·φ(k). Which of the two does your code map?"
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = np.asarray(Q), feature_map(K), np.asarray(V)\nq = q if q.dtype.kind == 'f' else q.astype(float)"
    )
}


# %% linear_only_queries_mapped
LIKELY = "the feature map is applied to Q, but not to K"
HINT = "The weight is φ(q)·φ(k). Which of the two does your code map?"
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), np.asarray(K), np.asarray(V)\nk = k if k.dtype.kind == 'f' else k.astype(float)"
    )
}


# %% linear_values_mapped
LIKELY = "the feature map is applied to V, too"
HINT = "With a single key, the output is its value. Is yours? Try a value of -1."
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), feature_map(K), feature_map(V)"
    )
}


# %% linear_map_of_the_product
LIKELY = "the feature map is applied to the scores Q Kᵀ, not to Q and K"
HINT = "Which arrays go into feature_map? If it is (n, n), the sums can no longer be reordered."


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    weights = feature_map(Q @ np.swapaxes(K, -1, -2))
    weights = np.tril(weights) if causal else weights
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


# %% linear_is_full_attention
LIKELY = "this is softmax attention: its weights are not those of the feature map"
HINT = "Compare your row The with the lesson. Where does your code use feature_map?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = np.tril(weights) if causal else weights
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


# %% linear_scaled
LIKELY = "the queries are divided by sqrt(d_k) before the feature map"
HINT = "Linear attention has no scale: the docstring says so. What does the scale do inside feature_map?"
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q / math.sqrt(np.shape(Q)[-1])), feature_map(K), np.asarray(V)"
    )
}


# %% linear_adds_epsilon
LIKELY = "a small number is added to the denominator, which counts when the features are small"
HINT = "Try keys of -8: their features are about 0.0003. Features are never 0, so nothing has to be added."
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": (
        "return (q @ state) / ((q * total).sum(axis=-1, keepdims=True) + 1e-6)"
    ),
    "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)": (
        "return (q[..., None, :] @ states)[..., 0, :] / ((q * totals).sum(axis=-1, keepdims=True) + 1e-6)"
    ),
}


# %% linear_causal_ignored
LIKELY = "the argument `causal` is not used: every token sees the future"
HINT = "With causal=True, the first token sees only itself, so its output is its own value. Is yours?"
REPLACE = {"if not causal:": "if causal is not None:"}


# %% linear_always_causal
LIKELY = "the attention is causal even with causal=False"
HINT = "Without causal, the first token sees all keys. Compare row The with the lesson."
REPLACE = {"if not causal:": "if np.shape(Q)[-2] != np.shape(K)[-2]:"}


# %% linear_sums_over_the_wrong_axis
LIKELY = "the cumulative sum of the matrices runs over the features, not over the tokens"
HINT = "The array of outer products is (n, d_k, d_v). Which of its axes are the tokens, counted from the end?"
REPLACE = {
    "states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)": (
        "states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-2)"
    )
}


# %% linear_normaliser_over_the_wrong_axis
LIKELY = "the cumulative sum of the denominator runs over the features, not over the tokens"
HINT = "With causal=True and values that are all 1, every output is 1. Is yours?"
REPLACE = {"totals = np.cumsum(k, axis=-2)": "totals = np.cumsum(k, axis=-1)"}


# %% linear_sums_over_the_batch
LIKELY = "the cumulative sum runs over the first axis, which is the batch if there is one"
HINT = "Try a batch of two sequences. Does the second one change when you change the first?"
REPLACE = {
    "states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)": (
        "states = np.cumsum(k[..., :, None] * V[..., None, :], axis=0)"
    ),
    "totals = np.cumsum(k, axis=-2)": "totals = np.cumsum(k, axis=0)",
}


# %% linear_one_state_for_all_sequences
LIKELY = "all sequences of a batch share one state: their keys and values are summed up together"
HINT = "Try a batch of two sequences, then each alone. Do you get the same?"
REPLACE = {
    "total = k.sum(axis=-2, keepdims=True)": (
        "total = k.sum(axis=-2, keepdims=True)\n"
        "state = state.sum(axis=tuple(range(state.ndim - 2)), keepdims=True) if state.ndim > 2 else state\n"
        "total = total.sum(axis=tuple(range(total.ndim - 2)), keepdims=True) if total.ndim > 2 else total"
    ),
}


# %% linear_normaliser_of_the_future
LIKELY = "with causal=True, the denominator still goes over all keys"
HINT = "With causal=True and values that are all 1, every output is 1. Is yours?"
REPLACE = {"totals = np.cumsum(k, axis=-2)": "totals = np.broadcast_to(k.sum(axis=-2, keepdims=True), k.shape)"}


# %% linear_without_the_token_itself
LIKELY = "with causal=True, a token does not see itself: the sums end one token too early"
HINT = "The first token sees itself, so its output is its own value. What is your first row?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q, k = feature_map(Q), feature_map(K)
    if not causal:
        return (q @ (np.swapaxes(k, -1, -2) @ V)) / (q * k.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)
    outer = k[..., :, None] * V[..., None, :]
    top = (q[..., None, :] @ (np.cumsum(outer, axis=-3) - outer))[..., 0, :]
    total = (q * (np.cumsum(k, axis=-2) - k)).sum(axis=-1, keepdims=True)
    total[..., 0, :] = 1
    return top / total


# %% linear_one_ahead
LIKELY = "with causal=True, each token also sees the next one"
HINT = "With causal=True, change the last token. May the row before it change?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    weights = np.tril(weights, k=1) if causal else weights
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


# %% linear_sums_from_the_end
LIKELY = "with causal=True, the sums run from the last token to the first: each token sees the future"
HINT = "With causal=True, the last token sees everything. Does your first token see everything?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    weights = np.triu(weights) if causal else weights
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


# %% linear_state_transposed
LIKELY = "the state is (d_v, d_k), so it is multiplied from the wrong side; that runs only if the two are equal"
HINT = "φ(K) is (n, d_k) and V is (n, d_v). Which product of them is (d_k, d_v)?"


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q, k = feature_map(Q), feature_map(K)
    if causal:
        states = np.cumsum(V[..., :, None] * k[..., None, :], axis=-3)
        return (q[..., None, :] @ states)[..., 0, :] / (q * np.cumsum(k, axis=-2)).sum(axis=-1, keepdims=True)
    return (q @ (np.swapaxes(V, -1, -2) @ k)) / (q * k.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


# %% linear_first_of_batch
LIKELY = "every sequence of the batch gets the keys of the first"
HINT = "Give two sequences different keys. Which keys does the second one see?"
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)\n"
        "k = np.broadcast_to(k[:1], k.shape) if k.ndim > 2 else k"
    )
}


# %% linear_returns_a_pair
LIKELY = "linear attention returns a pair, but only the output is asked for"
HINT = "What is the type of your result? This function returns one array."
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": (
        "return (q @ state) / (q * total).sum(axis=-1, keepdims=True), state"
    ),
    "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)": (
        "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True), states"
    ),
}


# %% linear_cut_to_integers
LIKELY = "the output of linear attention has the dtype of Q; for integers, it is cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"
REPLACE = {
    "return (q @ state) / (q * total).sum(axis=-1, keepdims=True)": (
        "return ((q @ state) / (q * total).sum(axis=-1, keepdims=True)).astype(np.asarray(Q).dtype)"
    ),
    "return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)": (
        "output = (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)\n"
        "return output.astype(np.asarray(Q).dtype)"
    ),
}


# %% linear_upcasts_float32
LIKELY = "float32 inputs give a float64 output of linear attention"
HINT = "Which of your steps turns float32 into float64? np.zeros, np.ones and np.float64 numbers all do."
VALUES_RIGHT = True
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), feature_map(K), np.asarray(V, dtype=np.float64)"
    )
}


# %% linear_modifies_k
LIKELY = "the caller's K is overwritten with its features"
HINT = "Print K before and after the call. What does K[...] = do to the caller's array?"
VALUES_RIGHT = True
REPLACE = {
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)\n"
        "if K.dtype.kind == 'f' and K.flags.writeable:\n"
        "    K[...] = k"
    )
}


# %% linear_widths_not_refused
LIKELY = "vectors of Q and K with different lengths raise no error, if one of them has a length of 1"
HINT = "What does NumPy do with arrays (5, 1) and (1, 4)? Compare the last axes yourself."
VALUES_RIGHT = True
REPLACE = {
    "if np.shape(Q)[-1] != np.shape(K)[-1]:": (
        "if np.shape(Q)[-1] != np.shape(K)[-1] and 1 not in (np.shape(Q)[-1], np.shape(K)[-1]):"
    ),
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "width = max(np.shape(Q)[-1], np.shape(K)[-1])\n"
        "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)\n"
        "q, k = (np.repeat(x, width // x.shape[-1], axis=-1) for x in (q, k))"
    ),
}


# %% linear_lengths_not_refused
LIKELY = "K and V of different lengths raise no error in linear attention: the values that are too many are not used"
HINT = "What does your function do with 4 keys and 6 values? The docstring names the exception."
VALUES_RIGHT = True
REPLACE = {
    "if np.shape(K)[-2] != np.shape(V)[-2]:": "if np.shape(K)[-2] > np.shape(V)[-2]:",
    "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)": (
        "q, k, V = feature_map(Q), feature_map(K), np.asarray(V)[..., : np.shape(K)[-2], :]"
    ),
}


# %% linear_asserts
LIKELY = "sizes that do not fit raise an AssertionError in linear attention; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
IN = "linear_attention"
REPLACE = {
    'raise ValueError(f"Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}")': 'raise AssertionError(f"Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}")',
    'raise ValueError(f"K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}")': 'raise AssertionError(f"K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}")',
}

# %% linear_error_without_sizes
LIKELY = "the message of linear attention about sizes that do not fit does not name them"
HINT = "Two sizes disagree. Put both into the message."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}")': (
        'raise ValueError("the widths do not fit")'
    ),
    'raise ValueError(f"K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}")': (
        'raise ValueError("the lengths do not fit")'
    ),
}


# %% linear_weights_first
LIKELY = "the n² weights are computed first, so nothing is saved: φ(Q) φ(K)ᵀ, and then times V"
HINT = "A product of three matrices can start on either side. Which order needs no array (n, n)?"
COSTLY = True


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    weights = np.tril(weights) if causal else weights
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


# %% linear_sums_again_for_every_token
LIKELY = "for every token, the keys and values that it sees are summed up again from the beginning"
HINT = "The sum up to token 7 is the sum up to token 6, plus one more. Keep it from token to token."
COSTLY = True


def linear_attention(Q, K, V, causal=False):
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"{np.shape(Q)[-1]} and {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"{np.shape(K)[-2]} and {np.shape(V)[-2]}")
    q, k, V = feature_map(Q), feature_map(K), np.asarray(V)
    rows = []
    for i in range(Q.shape[-2]):
        seen = [j for j in range(K.shape[-2]) if j <= i or not causal]
        state = np.swapaxes(k[..., seen, :], -1, -2) @ V[..., seen, :]
        total = k[..., seen, :].sum(axis=-2)
        rows.append((q[..., i, None, :] @ state)[..., 0, :] / (q[..., i, :] * total).sum(axis=-1, keepdims=True))
    return np.stack(rows, axis=-2)


# %% step_forgets
LIKELY = "the earlier tokens are forgotten: the new state is not the old one plus the new token"
HINT = "Take two steps. Does the second output contain anything of the first value?"
REPLACE = {
    "summed = summed + k[..., :, None] * v[..., None, :]": "summed = k[..., :, None] * v[..., None, :]",
    "total = total + k": "total = k",
}


# %% step_forgets_the_normaliser
LIKELY = "the denominator holds only the last key, while the numerator sums up all of them"
HINT = "With values that are all 1, every output is 1. Is your second output 1?"
REPLACE = {"total = total + k": "total = k"}


# %% step_without_normaliser
LIKELY = "the output of a step is not divided by the sum of the weights"
HINT = "The output of the first token is its own value. Is yours?"
REPLACE = {
    "output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)": (
        "output = (q[..., None, :] @ summed)[..., 0, :]"
    )
}


# %% step_without_feature_map
LIKELY = "a step uses q and k as they are: the feature map is missing"
HINT = "Compare the second output with row cat of causal linear attention. Where do you call feature_map?"


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = (x if x.dtype.kind == "f" else x.astype(float) for x in (q, k, v))
    summed, total = (0, 0) if state is None else state
    summed, total = summed + k[..., :, None] * v[..., None, :], total + k
    with np.errstate(all="ignore"):
        return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% step_only_key_mapped
LIKELY = "in a step, the feature map is applied to k, but not to q"
HINT = "The weight is φ(q)·φ(k). Which of the two does your step map?"
REPLACE = {
    "q, k, v = feature_map(q), feature_map(k), np.asarray(v)": (
        "q, k, v = np.asarray(q), feature_map(k), np.asarray(v)\nq = q if q.dtype.kind == 'f' else q.astype(float)"
    )
}


# %% step_values_mapped
LIKELY = "in a step, the feature map is applied to v, too"
HINT = "The output of the first token is its own value. Is yours? Try a value of -1."
REPLACE = {
    "q, k, v = feature_map(q), feature_map(k), np.asarray(v)": (
        "q, k, v = feature_map(q), feature_map(k), feature_map(v)"
    )
}


# %% step_adds_epsilon
LIKELY = "a small number is added to the denominator of a step, which counts when the features are small"
HINT = "Features of numbers near -8 are about 0.0003. Can the denominator of a step ever be 0?"
REPLACE = {
    "output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)": (
        "output = (q[..., None, :] @ summed)[..., 0, :] / ((q * total).sum(axis=-1, keepdims=True) + 1e-6)"
    )
}

# %% step_without_the_token_itself
LIKELY = "the output is computed before the token is taken into the state, so the token does not see itself"
HINT = "The first token sees itself, so its output is its own value. What is yours?"


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = feature_map(q), feature_map(k), np.asarray(v)
    outer = k[..., :, None] * v[..., None, :]
    if state is None:
        return (outer, k), np.zeros_like(outer[..., 0, :])
    summed, total = state
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (summed + outer, total + k), output


# %% step_scaled
LIKELY = "in a step, q is divided by sqrt(d_k) before the feature map"
HINT = "Linear attention has no scale. What does the scale do inside feature_map?"
REPLACE = {
    "q, k, v = feature_map(q), feature_map(k), np.asarray(v)": (
        "q, k, v = feature_map(q / math.sqrt(np.shape(q)[-1])), feature_map(k), np.asarray(v)"
    )
}


# %% step_changes_the_state_in_place
LIKELY = "the state that is passed in is changed in place, so it cannot be used again"
HINT = "Take two different second steps from the same first state. What does `summed += ...` do to the old state?"


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = feature_map(q), feature_map(k), np.asarray(v)
    outer = k[..., :, None] * v[..., None, :]
    summed, total = (np.zeros_like(outer), np.zeros_like(k)) if state is None else state
    summed += outer
    total += k
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% step_one_state_for_all_calls
LIKELY = "the state is kept in a global variable, so every sequence continues the last one"
HINT = "Begin a second sequence with state=None. Its first output is its own value. Is yours?"
KEPT = {}


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = feature_map(q), feature_map(k), np.asarray(v)
    outer = k[..., :, None] * v[..., None, :]
    kept = KEPT.setdefault((outer.shape, outer.dtype), [0, 0])
    kept[0], kept[1] = kept[0] + outer, kept[1] + k
    summed, total = kept
    return (summed, total), (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)


# %% step_one_state_for_all_sequences
LIKELY = "all sequences of a batch share one state: their keys and values are summed up together"
HINT = "Step a batch of two sequences, then each alone. Do you get the same?"
REPLACE = {
    "summed = summed + k[..., :, None] * v[..., None, :]": (
        "outer = k[..., :, None] * v[..., None, :]\nsummed = summed + outer.sum(axis=tuple(range(outer.ndim - 2)))"
    ),
    "total = total + k": "total = total + k.sum(axis=tuple(range(k.ndim - 1)))",
}


# %% step_output_first
LIKELY = "the step returns (output, state), but the state comes first"
HINT = "Read the first line of the docstring again: in which order does a step return the two?"
REPLACE = {"return (summed, total), output": "return output, (summed, total)"}


# %% step_returns_only_the_output
LIKELY = "the step returns only the output, so the next step knows nothing of it"
HINT = "A step returns two things: (new state, output)."
REPLACE = {"return (summed, total), output": "return output"}


# %% step_output_has_an_extra_axis
LIKELY = "the output of a step has an axis of size 1 too many"
HINT = "Print the shape of the output. For a q of shape (d_k,), it should be (d_v,)."
REPLACE = {
    "output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)": (
        "output = (q[..., None, :] @ summed) / (q * total).sum(axis=-1)[..., None, None]"
    )
}


# %% step_upcasts_float32
LIKELY = "float32 inputs give a float64 output of a step"
HINT = "Which of your steps turns float32 into float64? np.zeros without a dtype does."
VALUES_RIGHT = True
REPLACE = {"return (summed, total), output": "return (summed, total), output.astype(np.float64)"}


# %% step_cut_to_integers
LIKELY = "the output of a step has the dtype of v; for integers, it is cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"
REPLACE = {"return (summed, total), output": "return (summed, total), output.astype(v.dtype)"}


# %% step_modifies_v
LIKELY = "the caller's v is changed"
HINT = "Print v before and after the step. What does v *= do to the caller's array?"
VALUES_RIGHT = True
REPLACE = {
    "return (summed, total), output": (
        "if v.dtype.kind == 'f' and v.flags.writeable:\n    v[...] = output\nreturn (summed, total), output"
    )
}


# %% step_widths_not_refused
LIKELY = "q and k of different lengths raise no error in a step, if one of them has a length of 1"
HINT = "What does NumPy do with arrays (1,) and (4,)? Compare the last axes yourself."
VALUES_RIGHT = True
REPLACE = {
    "if np.shape(q)[-1] != np.shape(k)[-1]:": (
        "if np.shape(q)[-1] != np.shape(k)[-1] and 1 not in (np.shape(q)[-1], np.shape(k)[-1]):"
    ),
    "q, k, v = feature_map(q), feature_map(k), np.asarray(v)": (
        "width = max(np.shape(q)[-1], np.shape(k)[-1])\n"
        "q, k, v = feature_map(q), feature_map(k), np.asarray(v)\n"
        "q, k = (np.repeat(x, width // x.shape[-1], axis=-1) for x in (q, k))"
    ),
}


# %% step_asserts
LIKELY = "q and k of different lengths raise an AssertionError in a step; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
IN = "linear_attention_step"
REPLACE = {
    'raise ValueError(f"q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}")': 'raise AssertionError(f"q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}")',
}

# %% step_error_without_sizes
LIKELY = "the message of a step about q and k does not name their lengths"
HINT = "Two sizes disagree. Put both into the message."
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}")': (
        'raise ValueError("q and k do not fit")'
    )
}


# %% step_keeps_every_token
LIKELY = "the state is a list of all tokens so far, and every step goes through all of them again"
HINT = "Two sums are enough: of φ(k) times v, and of φ(k). Add the new token to them."
COSTLY = True


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    past = (state, feature_map(k), np.asarray(v))
    q, top, bottom = feature_map(q), 0, 0
    while past is not None:
        past, key, value = past
        weight = (q * key).sum(axis=-1, keepdims=True)
        top, bottom = top + weight * value, bottom + weight
    return (state, feature_map(k), np.asarray(v)), top / bottom


# %% step_copies_every_token
LIKELY = "the state holds all tokens in one array, which is copied and multiplied again in every step"
HINT = "Two sums are enough: of φ(k) times v, and of φ(k). Their size does not depend on the number of tokens."
COSTLY = True


def linear_attention_step(state, q, k, v):
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"{np.shape(q)[-1]} and {np.shape(k)[-1]}")
    q, k, v = feature_map(q), feature_map(k)[..., None, :], np.asarray(v)[..., None, :]
    if state is not None:
        k, v = np.concatenate([state[0], k], axis=-2), np.concatenate([state[1], v], axis=-2)
    weights = (k @ q[..., None])[..., 0]
    return (k, v), (weights[..., None, :] @ v)[..., 0, :] / weights.sum(axis=-1, keepdims=True)


# %% reflect_crossover_squared
LIKELY = "this is d², but the two costs are 2·n²·d and 2·n·d²"
HINT = "Set 2·n²·d equal to 2·n·d² and divide both sides by 2·n·d."
REFLECT_CROSSOVER_N_D64 = 4096


# %% reflect_crossover_doubled
LIKELY = "this is twice d: the factor 2 is on both sides"
HINT = "Set 2·n²·d equal to 2·n·d². What is left when you divide by 2·n·d?"
REFLECT_CROSSOVER_N_D64 = 128


# %% reflect_crossover_root
LIKELY = "this is the square root of d"
HINT = "Put your n into 2·n²·d and into 2·n·d². Are they equal?"
REFLECT_CROSSOVER_N_D64 = 8


# %% reflect_reach_counts_the_token_each_time
LIKELY = "this is layers times window, but one token of each window is the token itself"
HINT = "Look at the Use cell: a window of 3 reaches 2 tokens back in one layer, and 4 in two."
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131072


# %% reflect_reach_of_one_layer
LIKELY = "this is the reach of one layer"
HINT = "What a token saw in one layer is part of what it shows in the next. Look at the Use cell."
REFLECT_REACH_32_LAYERS_WINDOW4096 = 4095


# %% reflect_reach_counts_the_token_itself
LIKELY = "this is the number of tokens with the token itself, but the question is how many positions back"
HINT = "In the Use cell, 5 tokens are reached after two layers. How many positions back is the first of them?"
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131041
