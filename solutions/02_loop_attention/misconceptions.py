"""Misconceptions of 02_loop_attention. Each cell replaces part of the solution to make a wrong submission."""

import numpy as np
from loop_attention import scale_factor  # the solution: each cell replaces a part

# %% zip_stops_early
LIKELY = "vectors of different lengths do not raise an error: the loop stops at the end of the shorter one"
HINT = (
    "What should dot_product(np.ones(3), np.ones(5)) do? The docstring says which error, and what its message contains."
)
REPLACE = {
    'if len(a) != len(b):\nraise ValueError(f"a has {len(a)} entries but b has {len(b)}")': "",
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": "for x, y in zip(a, b, strict=False):\n    total += x * y",
}

# %% product_of_sums
LIKELY = "every entry of a is multiplied with every entry of b: the result is sum(a) * sum(b)"
HINT = "Try [1, 0] and [0, 1]. The dot product is 0. Which entries should meet?"


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    return sum(a) * sum(b)


# %% cosine
LIKELY = "the dot product is divided by the lengths of the vectors, which gives the cosine of their angle"
HINT = "Try [2, 0] and [3, 0]. The dot product is 6. Do you get 1?"


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total / (np.sqrt(sum(x * x for x in a)) * np.sqrt(sum(y * y for y in b)))


# %% last_entry_missing
LIKELY = "the loop ends one entry too early"
HINT = "Try vectors of length 1. What does range(len(a) - 1) give?"
REPLACE = {
    'raise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (
        'raise ValueError(f"a has length {len(a)}, b has length {len(b)}")'
    ),
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": "for i in range(len(a) - 1):\n    total += a[i] * b[i]",
}

# %% overwritten_total
LIKELY = "the total is overwritten in every step, so only the last product is left"
HINT = "Print the total in each step of the loop. Does it grow?"
REPLACE = {
    'raise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (
        'raise ValueError(f"a has length {len(a)}, b has length {len(b)}")'
    ),
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": "for x, y in zip(a, b, strict=True):\n    total = x * y",
}

# %% dot_product_rounds
LIKELY = "the total is kept as a whole number, which cuts off the fractions"
HINT = "Try [0.5] and [0.5]. What does int() do to the result?"


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return float(int(total))


# %% absolute_products
LIKELY = "the sign of the products is lost"
HINT = "Try [1, 1] and [1, -1]. Vectors at a right angle have a dot product of 0."


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += abs(x * y)
    return total


# %% dot_product_modifies_input
LIKELY = "dot_product writes the products into the caller's vector"
HINT = "Print a before and after the call. What does a *= b do to the caller's array?"
IN = "dot_product"
REPLACE = {
    'raise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (
        'raise ValueError(f"a has length {len(a)}, b has length {len(b)}")'
    ),
    "total = 0.0": "total = 0.0\nproducts = np.asarray(a)",
    "total = total + a[i] * b[i]": "products[i] = products[i] * b[i]\ntotal += products[i]",
}

# %% dot_product_remembers
LIKELY = "the total is stored outside the function and is never reset to 0"
HINT = "Call dot_product twice with the same vectors. What is the total at the start of the second call?"
TOTALS = [0.0]


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    for x, y in zip(a, b, strict=True):
        TOTALS[0] += x * y
    return TOTALS[0]


# %% dot_product_upcasts_float32
LIKELY = "dot_product returns float64 for float32 entries"
HINT = "Print dot_product(a, a).dtype for a float32 a. In NumPy 2, what is np.float64(0) plus a float32?"
VALUES_RIGHT = True


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    total = np.float64(0)
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


# %% dot_product_runs_over_a
LIKELY = "the lengths are not compared: the loop runs over the entries of a, whatever the length of b is"
HINT = (
    "What should dot_product(np.ones(3), np.ones(5)) do? The docstring says which error, and what its message contains."
)
REPLACE = {
    'if len(a) != len(b):\nraise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (""),
}

# %% dot_product_asserts
LIKELY = "an `assert` refuses different lengths; that is an AssertionError, and Python can be told to skip it"
HINT = "Which exception does the docstring ask for? How do you raise it yourself?"
VALUES_RIGHT = True
REPLACE = {
    'if len(a) != len(b):\nraise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (
        'assert len(a) == len(b), f"{len(a)} and {len(b)}"'
    ),
}

# %% dot_product_error_without_lengths
LIKELY = "the message of the ValueError does not say which lengths differ"
HINT = "Imagine that you read your message in a long log. Which two numbers do you want to see?"
VALUES_RIGHT = True
REPLACE = {
    'raise ValueError(f"a has {len(a)} entries but b has {len(b)}")': (
        'raise ValueError("the vectors must have the same length")'
    ),
}

# %% returns_in_the_loop
LIKELY = "only the first product is returned: `return` is inside the loop"
HINT = "How often does your loop run before `return`? How far should that line be indented?"
REPLACE = {
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": ("for i in range(len(a)):\n    return total + a[i] * b[i]"),
}

# %% first_entry_missing
LIKELY = "the first entries are left out: the loop starts at 1"
HINT = "Try vectors of length 1. What is the first index of an array in Python?"
REPLACE = {
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": (
        "for i in range(1, len(a)):\n    total = total + a[i] * b[i]"
    ),
}

# %% products_not_added
LIKELY = "a list of the products is returned; they are not added up"
HINT = "The dot product of two vectors is one number. What is left to do with your products?"
IN = "dot_product"
REPLACE = {
    "total = 0.0": ("total = []"),
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": (
        "for x, y in zip(a, b, strict=True):\n    total.append(x * y)"
    ),
}

# %% products_in_an_array
LIKELY = "an array of the products is returned; they are not added up"
HINT = "The dot product of two vectors is one number. What is left to do with your products?"
REPLACE = {
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": ("total = a * b"),
}

# %% entries_added
LIKELY = "the two entries are added, not multiplied"
HINT = "The dot product of [2] and [3] is 6. What is yours?"
REPLACE = {
    "for i in range(len(a)):\ntotal = total + a[i] * b[i]": (
        "for i in range(len(a)):\n    total = total + a[i] + b[i]"
    ),
}

# %% total_in_an_array
LIKELY = "the total is an array with one entry, not a number"
HINT = "What is np.shape(dot_product(a, b))? For a number it is ()."
IN = "dot_product"
REPLACE = {
    "total = 0.0": ("total = np.zeros(1)"),
}

# %% loops_over_queries_twice
LIKELY = "both loops run over the queries, so there is one column for each query, not for each key"
HINT = "Try two queries and five keys. What shape should the scores have? Which length does the inner loop use?"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(Q)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(Q)):
        for j in range(len(Q)):
            scores[i, j] = dot_product(Q[i], K[j % len(K)])
    return scores


# %% q_and_k_swapped
LIKELY = "queries and keys have swapped places: row i belongs to key i"
HINT = "What is the shape of your scores for two queries and five keys? Row i should belong to query i."


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(K), len(Q)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(K)):
        for j in range(len(Q)):
            scores[i, j] = dot_product(K[i], Q[j])
    return scores


# %% scores_already_scaled
LIKELY = "attention_scores divides by the scale, but it should return the raw scores"
HINT = "attention_scores([[2]], [[3]]) is 6. Which later function divides by the scale?"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores / float(np.sqrt(Q.shape[1]))


# %% widths_not_checked
LIKELY = "different widths of queries and keys do not always raise an error"
HINT = "What should attention_scores do with queries of 3 entries and keys of 6? Read its docstring."
VALUES_RIGHT = True


def attention_scores(Q, K):
    width = min(Q.shape[1], K.shape[1])
    scores = np.zeros((len(Q), len(K)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i, :width], K[j, :width])
    return scores


# %% scores_of_input_dtype
LIKELY = "the scores are stored in an array of the input's dtype, so integers give integers"
HINT = "Print attention_scores(Q, K).dtype for integers. Which dtype do you pass to np.zeros?"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=Q.dtype)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_upcast_float32
LIKELY = "attention_scores returns float64 for float32 input"
HINT = "What is the dtype of np.zeros((n_q, n_k)) if you do not give one?"
VALUES_RIGHT = True


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_cut_to_integers
LIKELY = "the scores are stored in an array of whole numbers, which cuts off the fractions"
HINT = "What happens to 1.5 when you store it in an array of integers?"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=int)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_modify_input
LIKELY = "attention_scores changes the caller's queries"
HINT = "Print Q before and after the call. What does Q[i] -= ... do to the caller's array?"


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = np.zeros((len(Q), len(K)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(Q)):
        Q[i] -= Q[i].min()
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
    return scores


# %% scores_remember
LIKELY = "the scores are kept between calls, and each call adds to them"
HINT = "Call attention_scores twice with the same arrays. Do you create a new array of scores each time?"
KEPT = {}


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    scores = KEPT.get((len(Q), len(K)))
    if scores is None:
        scores = KEPT[len(Q), len(K)] = np.zeros((len(Q), len(K)), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] += dot_product(Q[i], K[j])
    return scores.copy()


# %% scores_in_lists
LIKELY = "lists of lists are returned, not an array"
HINT = "What is type(attention_scores(Q, K))? How do you turn a list of lists into an array?"
IN = "attention_scores"
REPLACE = {
    "return scores": ("return scores.tolist()"),
}

# %% scores_in_one_row
LIKELY = "all scores are in one row; they need a row for each query and a column for each key"
HINT = "What is the shape of your scores for 2 queries and 5 keys? It should be (2, 5)."
IN = "attention_scores"
REPLACE = {
    "return scores": ("return scores.reshape(-1)"),
}

# %% columns_of_keys
LIKELY = "K.T has the keys in its columns, but its rows are taken"
HINT = "Print K[0] and K.T[0]. Which of them is the first key?"
IN = "attention_scores"
REPLACE = {
    "scores[i, j] = dot_product(Q[i], K[j])": ("scores[i, j] = dot_product(Q[i], K.T[j])"),
}

# %% scores_overwritten
LIKELY = "each score is overwritten in every step, so only the last product is left"
HINT = "Try queries and keys of two entries. Does your innermost loop add to the score, or replace it?"
IN = "attention_scores"
REPLACE = {
    "scores[i, j] = dot_product(Q[i], K[j])": ("for d in range(d_k):\n    scores[i, j] = Q[i, d] * K[j, d]"),
}

# %% total_runs_on
LIKELY = "the total is never set back to 0, so each score contains all scores before it"
HINT = "Compare your first score with your second. Where do you set the total to 0, and how often does that line run?"
IN = "attention_scores"
REPLACE = {
    "scores = np.zeros((n_q, n_k), dtype=dtype)": ("scores = np.zeros((n_q, n_k), dtype=dtype)\ntotal = 0.0"),
    "scores[i, j] = dot_product(Q[i], K[j])": ("total = total + dot_product(Q[i], K[j])\nscores[i, j] = total"),
}

# %% scores_error_without_widths
LIKELY = "the message of the ValueError does not say which widths differ"
HINT = "Imagine that you read your message in a long log. Which two numbers do you want to see?"
VALUES_RIGHT = True
IN = "attention_scores"
REPLACE = {
    'raise ValueError(f"queries have {d_q} entries but keys have {d_k}")': (
        'raise ValueError("queries and keys do not fit")'
    ),
}

# %% scale_without_root
LIKELY = "the scale is d_k itself, not its square root"
HINT = "scale_factor(64) should be 8. Variances add up. How do you get a standard deviation from a variance?"
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(variance * d_k)"}

# %% scale_ignores_variance
LIKELY = "the argument `variance` is not used"
HINT = "Compare scale_factor(4) with scale_factor(4, variance=3.0). Are they different?"
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(np.sqrt(d_k))"}

# %% variance_under_the_root
LIKELY = "the square root is taken of the variance, too"
HINT = (
    "The product of two entries has the variance v², and the sum of d_k products has v²·d_k. What is the root of that?"
)
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(np.sqrt(variance * d_k))"}

# %% variance_squared
LIKELY = "this is variance² · √d_k, but the root of v²·d_k contains v only once"
HINT = "Take variance = 3 and d_k = 1. The product of two entries of variance 3 has the variance 9. What is its root?"
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(variance**2 * np.sqrt(d_k))"}

# %% inverse_scale
LIKELY = "this is 1 divided by the scale, but scores are divided by the scale itself"
HINT = "scale_factor(4) should be 2. Do you get 0.5?"
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(1 / (variance * np.sqrt(d_k)))"}

# %% whole_root
LIKELY = "the root is cut to a whole number"
HINT = "What is your scale_factor(2)? It should be 1.4142."
REPLACE = {"return float(variance * np.sqrt(d_k))": "return float(variance * int(np.sqrt(d_k)))"}

# %% scale_divided_by_variance
LIKELY = "this is √d_k divided by the variance, not times the variance"
HINT = "Take d_k = 1. Do the products of larger entries vary more, or less?"
REPLACE = {
    "return float(variance * np.sqrt(d_k))": ("return float(np.sqrt(d_k) / variance)"),
}

# %% scale_is_the_variance
LIKELY = "this is d_k · variance², which is the variance of the dot product; its root is missing"
HINT = "scale_factor(64) should be 8. How do you get a standard deviation from a variance?"
REPLACE = {
    "return float(variance * np.sqrt(d_k))": ("return float(d_k * variance**2)"),
}

# %% scale_rounded
LIKELY = "the scale is rounded to two decimals"
HINT = "Compare your scale_factor(3) with 3 ** 0.5. Round what you print, not what you return."
REPLACE = {
    "return float(variance * np.sqrt(d_k))": ("return round(float(variance * np.sqrt(d_k)), 2)"),
}

# %% no_scaling
LIKELY = "the scores are not divided by the scale before the softmax"
HINT = "Which row of the lesson's tables has your weights: the scaled or the unscaled one? Where should you divide?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K)
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% divides_by_d_k
LIKELY = "the scores are divided by d_k, not by its square root"
HINT = "For d_k = 4, scores are divided by 2. What do you divide by?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(Q.shape[1])
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% divides_by_sqrt_d_v
LIKELY = "the scores are divided by the root of d_v, the width of the values"
HINT = "Try values that are wider than the keys. Should the weights change?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(V.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% divides_by_sqrt_n_k
LIKELY = "the scores are divided by the root of the number of keys"
HINT = "d_k is the width of a key. n_k is the number of keys. Which of them is K.shape[0]?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(len(K)))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% multiplies_by_scale
LIKELY = "the scores are multiplied by the scale instead of divided by it"
HINT = "Scaling should make the weights of the lesson flatter. Do your weights get sharper?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) * float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% softmax_over_queries
LIKELY = "the weights sum to 1 over the queries, not over the keys"
HINT = "Compare weights.sum(axis=0) with weights.sum(axis=1). Each query divides its attention among the keys."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for j in range(len(K)):
        rows = [i for i in range(len(Q)) if seen[i, j]]
        exps = {i: np.exp(scores[i, j] - max(scores[k, j] for k in rows)) for i in rows}
        for i in rows:
            weights[i, j] = exps[i] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% softmax_over_everything
LIKELY = "the weights of all queries together sum to 1"
HINT = "What is weights.sum() for three queries? The weights of each query should sum to 1."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    exps = np.where(seen, np.exp(scores - scores.max()), 0)
    for i in range(len(Q)):
        for j in range(len(K)):
            weights[i, j] = exps[i, j] / max(exps.sum(), 1e-300)
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. Does the result change?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K))]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_inverted
LIKELY = "the mask is read the wrong way round: 1 means that the query may look at this key"
HINT = "With the causal mask of the lesson, which tokens should cat see: those before it or those after it?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(False if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if mask is None or not seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% first_batch_element_reused
LIKELY = "every element of the batch gets the result of the first"
HINT = "Try a batch of two different sentences. Are the two outputs different? Look for an index 0 that should be b."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[0], K[0], V[0], masks[0]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% first_mask_of_batch_reused
LIKELY = "every element of the batch gets the mask of the first"
HINT = "Give each element of the batch its own mask. Which mask do you use for the second element?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[0]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% keys_of_first_batch_element
LIKELY = "the keys of the first element are used for the whole batch"
HINT = "Which K does your loop use for the second element of the batch?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[0], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_multiplies_scores
LIKELY = "a blocked score is multiplied by 0, but e to the 0 is 1, not 0"
HINT = "What weight does a key with a score of 0 get? What score would give it a weight of 0?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    scores = scores * seen
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = list(range(len(K)))
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_after_softmax
LIKELY = "the weights are masked after the softmax, so they do not sum to 1"
HINT = "Add up a row of your weights with a mask. The softmax should be over the allowed keys only."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = list(range(len(K)))
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values()) * seen[i, j]
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_query_uniform
LIKELY = "a query whose keys are all blocked gives every key the same weight"
HINT = "Blocked scores of -1e9 all become 0 when you subtract the largest. What should such a row be?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    scores = np.where(seen, scores, np.asarray(-1e9, dtype=scores.dtype))
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = list(range(len(K)))
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_query_nan
LIKELY = "a query whose keys are all blocked gives NaN: minus infinity minus itself, or 0 divided by 0"
HINT = "What is the sum of the exponentials when every key is blocked? Check for that case before you divide."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        low = [scores[i, j] if seen[i, j] else -np.inf for j in range(len(K))]
        with np.errstate(invalid="ignore"):
            exps = [np.exp(score - max(low)) for score in low]
        weights[i] = [e / sum(exps) for e in exps]
        for j in range(len(K)):
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% blocked_query_mean_output
LIKELY = "the weights of a blocked query are 0, but its output is not"
HINT = "Weights of 0 give an output of 0. What is your output for a query whose keys are all blocked?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
        if not keys:
            output[i] = [sum(V[:, c]) / len(V) for c in range(V.shape[1])]
    return output, weights


# %% blocked_maximum
LIKELY = "the largest score is taken over all keys, so a high blocked score makes the other weights underflow to 0"
HINT = "Block the key with the largest score. Which score should you then subtract from the others?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in range(len(K)))) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / max(sum(exps.values()), 1e-300)
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% fills_a_low_score
LIKELY = "blocked keys get a score of -10000, but an allowed score may be even lower"
HINT = "Try allowed scores of -50000. Which key gets the weight then? Leave blocked keys out of the sum instead."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        filled = [scores[i, j] if seen[i, j] else -1e4 for j in range(len(K))]
        exps = [np.exp(score - max(filled)) for score in filled]
        for j in range(len(K)):
            weights[i, j] = exps[j] / sum(exps) if seen[i, j] else 0
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% no_maximum_subtracted
LIKELY = "the largest score is not subtracted, so the exponentials overflow"
HINT = "Try queries and keys of 100. What is np.exp(5000)? How did you avoid this in module 01?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    np.seterr(over="ignore", invalid="ignore", divide="ignore")
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j]) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% weights_returned_first
LIKELY = "the pair is the wrong way round: it should be (output, weights)"
HINT = "Which comes first in the pair: the array shaped like the values or the one shaped like the scores?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return weights, output


# %% scores_instead_of_weights
LIKELY = "the scores are returned in place of the weights"
HINT = "Do the rows of the second array you return sum to 1?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, scores


# %% keys_instead_of_values
LIKELY = "the weights are applied to the keys, not to the values"
HINT = "Make the values wider than the keys. What shape should the output have? What does it mix?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * K[j, c % K.shape[1]]
    return output, weights


# %% exponentials_not_normalised
LIKELY = "the output is mixed with the exponentials before they are divided by their sum"
HINT = "If all values are 7, every output is 7. Is yours?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += exps[j] * V[j, c]
    return output, weights


# %% values_weighted_by_position
LIKELY = "the values are picked by the index of the query, not by the index of the key"
HINT = "For query i and key j, which row of V do you need?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[i % len(V), c]
    return output, weights


# %% output_of_value_dtype
LIKELY = "the output is stored in an array of the values' dtype; for integers, it is cut to whole numbers"
HINT = "What happens to 0.25 when you store it in an array of integers?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=V.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] = output[i, c] + weights[i, j] * V[j, c]
    return output, weights


# %% attention_widths_not_checked
LIKELY = "different widths of queries and keys do not always raise an error"
HINT = "What should happen with queries of 3 entries and keys of 6? The docstring says what the message contains."
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    width = min(Q.shape[-1], K.shape[-1])
    Q, K = Q[..., :width], K[..., :width]
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% lengths_not_checked
LIKELY = "different numbers of keys and values do not always raise an error"
HINT = "What should happen with four keys and six values? The docstring says what the message contains."
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j % len(V), c]
    return output, weights


# %% error_without_numbers
LIKELY = "the message of the ValueError does not say which sizes disagree"
HINT = "Imagine that you read your message in a long log. Which two numbers do you want to see?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("Q and K do not fit")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("K and V do not fit")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% attention_modifies_input
LIKELY = "the caller's array is changed, for example when it is divided by the scale"
HINT = "Print Q before and after the call. What is the difference between Q /= 2 and Q = Q / 2?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    Q = Q if Q.dtype.kind == "f" else Q.astype(float)
    Q /= float(np.sqrt(Q.shape[1]))
    scores = attention_scores(Q, K)
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_modified
LIKELY = "the caller's mask is changed"
HINT = "Print the mask before and after the call. Which line of your code writes into it?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape).copy()
    if mask is not None and mask.flags.writeable:
        mask[:] = 1
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% last_mask_kept
LIKELY = "a mask is remembered and used again in the next call"
HINT = "Call it with a mask, then without. Is the second result the same as in a new Python session?"
KEPT_MASKS = {}


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    if mask is not None and np.shape(mask) == scores.shape:
        KEPT_MASKS.setdefault(scores.shape, np.array(mask))
    mask = KEPT_MASKS.get(scores.shape, mask)
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% weights_remembered
LIKELY = "the weights of the first call with these shapes are used for every later one"
HINT = "Call it twice with different queries of the same shape. Are the weights different?"
KEPT_WEIGHTS = {}


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, KEPT_WEIGHTS.setdefault(weights.shape, weights)


# %% attention_upcasts_float32
LIKELY = "attention returns float64 for float32 input"
HINT = "Divide a float32 array by np.sqrt(4), then by the Python number 2.0. What dtype does NumPy 2 give you?"
VALUES_RIGHT = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / np.sqrt(Q.shape[1])
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% scale_after_softmax
LIKELY = "the weights are divided by the scale, not the scores"
HINT = "Do your weights still sum to 1? The division belongs before the softmax."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K)
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values()) / np.sqrt(Q.shape[1])
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% uniform_weights
LIKELY = "every key gets the same weight, whatever its score is"
HINT = "Give one key a much larger score. Does its weight grow?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: 1.0 for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% hard_maximum
LIKELY = "all the attention goes to the key with the largest score"
HINT = "Softmax is soft: all weights in the lesson are above 0. Which of your steps picks only one key?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[i, j]]
        exps = {j: float(scores[i, j] == max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_is_true_only
LIKELY = "the mask is compared with `is True`, which is never true for an entry of an array"
HINT = "What is np.array([True])[0] is True? Use the entry itself as the condition."


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [
            scaled_dot_product_attention(Q[b], K[b], V[b], None if mask is None else masks[b]) for b in range(len(Q))
        ]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if mask is None or seen[i, j] is True]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% mask_of_first_query
LIKELY = "every query gets the mask of the first"
HINT = "With the causal mask of the lesson, should cat see more tokens than The? Which row of the mask do you read?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    if Q.ndim == 3:
        masks = np.broadcast_to(True if mask is None else mask, (len(Q), Q.shape[1], K.shape[1]))
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / float(np.sqrt(Q.shape[1]))
    seen = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if seen[0, j]]
        exps = {j: np.exp(scores[i, j] - max(scores[i, k] for k in keys)) for j in keys}
        for j in keys:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% divides_by_sqrt_n_q
LIKELY = "the scores are divided by the root of the number of queries"
HINT = "d_k is the width of a query. n_q is the number of queries. Which of them is Q.shape[0]?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "scores = attention_scores(Q, K) / scale_factor(d_k)": ("scores = attention_scores(Q, K) / float(np.sqrt(n_q))"),
}

# %% maximum_starts_at_0
LIKELY = "the search for the largest score starts at 0, so negative scores have no largest one, and their exponentials underflow"
HINT = "Try scores of -5000 only. Which number do you subtract, and what is np.exp of the rest?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "largest = max(scores[i, j] for j in allowed)": ("largest = max(0.0, *(scores[i, j] for j in allowed))"),
}

# %% maximum_of_all_scores
LIKELY = "all queries share one largest score, so the exponentials of a query with low scores underflow to 0"
HINT = "Try one query with scores near 900 and one with scores near -900. What is np.exp(-1800)?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "largest = max(scores[i, j] for j in allowed)": ("largest = scores.max()"),
}

# %% sum_runs_on
LIKELY = "the sum of the exponentials is never set back to 0, so it contains those of the queries before"
HINT = "Add up the weights of each query. Where do you set the sum to 0, and how often does that line run?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "output = np.zeros((n_q, d_v), dtype=scores.dtype)": (
        "output = np.zeros((n_q, d_v), dtype=scores.dtype)\ntotal = 0.0"
    ),
    "total = 0.0": (""),
}

# %% mask_added
LIKELY = "the mask is added to the scores; a blocked key only loses 1, and still gets a weight"
HINT = "What weight should a key with mask 0 get? What score gives that weight?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))": (
        "mask = np.broadcast_to(0 if mask is None else mask, (*Q.shape[:-1], n_k))"
    ),
    "scores = attention_scores(Q, K) / scale_factor(d_k)": (
        "scores = attention_scores(Q, K) / scale_factor(d_k) + mask.astype(np.float32)"
    ),
    "allowed = [j for j in range(n_k) if mask[i, j]]": ("allowed = list(range(n_k))"),
}

# %% mask_times_minus_1e9
LIKELY = "the mask is read the wrong way round: mask * -1e9 blocks the keys that have a 1"
HINT = "With the causal mask of the lesson, which tokens should cat see: those before it or those after it?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], n_k))": (
        "mask = np.broadcast_to(0 if mask is None else mask, (*Q.shape[:-1], n_k))"
    ),
    "scores = attention_scores(Q, K) / scale_factor(d_k)": (
        "scores = attention_scores(Q, K) / scale_factor(d_k) + mask.astype(float) * -1e9"
    ),
    "allowed = [j for j in range(n_k) if mask[i, j]]": ("allowed = list(range(n_k))"),
}

# %% mask_and_maximum_missing
LIKELY = "the mask is not used, and the largest score is not subtracted before the exponentials"
HINT = "Call it with a mask of zeros. Does the result change? Then try scores of 5000."
IN = "scaled_dot_product_attention"
REPLACE = {
    "allowed = [j for j in range(n_k) if mask[i, j]]": ("allowed = list(range(n_k))"),
    "largest = max(scores[i, j] for j in allowed)": ("largest = 0.0"),
}

# %% output_of_the_last_key
LIKELY = "the output is overwritten for each key, so only the last key is left"
HINT = "If all values are 7, every output is 7. Is yours? Does your loop add to the output, or replace it?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "for j in allowed:\nweights[i, j] = weights[i, j] / total\nfor c in range(d_v):\noutput[i, c] = output[i, c] + weights[i, j] * V[j, c]": (
        "for j in allowed:\n    weights[i, j] = weights[i, j] / total\nfor c in range(d_v):\n    output[i, c] = weights[i, n_k - 1] * V[n_k - 1, c]"
    ),
}

# %% output_as_wide_as_keys
LIKELY = "the output has as many columns as the keys, not as the values"
HINT = "Make the values wider than the keys. What shape should the output have?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "output = np.zeros((n_q, d_v), dtype=scores.dtype)": ("output = np.zeros((n_q, d_k), dtype=scores.dtype)"),
}

# %% attention_epsilon_of_1e_8
LIKELY = "a small number is added to the sum to avoid a division by 0, so the weights do not sum to 1"
HINT = "After you subtract the largest score, how small can the sum be? Which queries need a case of their own?"
IN = "scaled_dot_product_attention"
REPLACE = {
    "weights[i, j] = weights[i, j] / total": "weights[i, j] = weights[i, j] / (total + 1e-8)",
}

# %% weights_rounded_to_4_decimals
LIKELY = "the weights are rounded to 4 decimals before the values are mixed"
HINT = "Add up the weights of a query. Is the sum exactly 1? Round what you print, not what you compute with."
IN = "scaled_dot_product_attention"
REPLACE = {
    "weights[i, j] = weights[i, j] / total": ("weights[i, j] = round(float(weights[i, j] / total), 4)"),
}

# %% returns_output_only
LIKELY = "only the output is returned, without the weights"
HINT = "How many arrays does the docstring ask for, and in which order?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    masks = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    if Q.ndim == 3:
        return np.stack([scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))])
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if masks[i, j]]
        largest = max((scores[i, j] for j in keys), default=0)
        exps = {j: np.exp(scores[i, j] - largest) for j in keys}
        total = sum(exps.values())
        for j in keys:
            weights[i, j] = exps[j] / total
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output


# %% returns_weights_only
LIKELY = "only the weights are returned; the values are not mixed"
HINT = "How many arrays does the docstring ask for, and in which order? What is V for?"


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    masks = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    if Q.ndim == 3:
        return np.stack([scaled_dot_product_attention(Q[b], K[b], V[b], masks[b]) for b in range(len(Q))])
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        keys = [j for j in range(len(K)) if masks[i, j]]
        largest = max((scores[i, j] for j in keys), default=0)
        exps = {j: np.exp(scores[i, j] - largest) for j in keys}
        total = sum(exps.values())
        for j in keys:
            weights[i, j] = exps[j] / total
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return weights


# %% reflect_linear_cost
LIKELY = "the count includes the loop over the queries, but not the loop over the keys inside it"
HINT = "How many pairs of a query and a key are there with 2 tokens, and with 4? Each pair costs d_k + d_v."
REFLECT_MULTIPLY_ADDS_N512_D64 = 65536
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 2


# %% built_in_product
LIKELY = "NumPy computes the product, but this module asks you to write that loop"
HINT = "What does np.dot do with two vectors? Write the multiplications and the additions yourself."
COSTLY = True


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"a has length {len(a)}, b has length {len(b)}")
    return a @ b


# %% all_products_kept
LIKELY = "every single product is kept in an array of three dimensions, but only their sums are needed"
HINT = "How many numbers are in your largest array for 512 tokens of width 64? How many scores are there?"
COSTLY = True


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q has {Q.shape[1]} features, K has {K.shape[1]}")
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    products = np.zeros((len(Q), len(K), Q.shape[1]), dtype=dtype)
    scores = np.zeros((len(Q), len(K)), dtype=dtype)
    for i in range(len(Q)):
        for j in range(len(K)):
            for d in range(Q.shape[1]):
                products[i, j, d] = Q[i, d] * K[j, d]
                scores[i, j] += products[i, j, d]
    return scores


# %% denominator_for_every_weight
LIKELY = "the sum of the exponentials is computed again for every weight of a row, which makes the work cubic"
HINT = "How often does your code compute the sum of one row? How often does that sum change?"
COSTLY = True


def scaled_dot_product_attention(Q, K, V, mask=None):
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has {Q.shape[-1]} features, K has {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} rows, V has {V.shape[-2]}")
    mask = np.broadcast_to(True if mask is None else mask, (*Q.shape[:-1], K.shape[-2]))
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(Q[b], K[b], V[b], mask[b]) for b in range(len(Q))]
        return np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    weights = np.zeros_like(scores)
    output = np.zeros((len(Q), V.shape[1]), dtype=scores.dtype)
    for i in range(len(Q)):
        allowed = [j for j in range(len(K)) if mask[i, j]]
        largest = max((scores[i, j] for j in allowed), default=0)
        exps = {j: np.exp(scores[i, j] - largest) for j in allowed}
        for j in allowed:
            weights[i, j] = exps[j] / sum(exps.values())
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights
