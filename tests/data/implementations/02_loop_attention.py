# %% while_loops
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    total, i = 0.0, 0
    while i < len(a):
        total += a[i] * b[i]
        i += 1
    return total


# %% generator_sum
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    return sum(x * y for x, y in zip(a, b))


# %% reduce_and_operator
# Expected: passes
import functools
import operator


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    return functools.reduce(operator.add, map(operator.mul, a.tolist(), b.tolist()), 0.0)


# %% map_of_lambda
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    return sum(map(lambda pair: pair[0] * pair[1], zip(a, b)))


# %% recursion_by_halves
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    if len(a) == 1:
        return a[0] * b[0]
    half = len(a) // 2
    return dot_product(a[:half], b[:half]) + dot_product(a[half:], b[half:])


# %% recursion_one_by_one
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")

    def rest(i):
        return 0.0 if i == len(a) else a[i] * b[i] + rest(i + 1)

    return rest(0)


# %% dunder_and_accumulate
# Expected: passes
import itertools


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    *_, last = itertools.accumulate(x.__mul__(y) for x, y in zip(a.tolist(), b.tolist()))
    return last


# %% vectorized_product_of_numbers
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    products = np.vectorize(lambda x, y: x * y)(a, b)
    total = 0.0
    for product in products:
        total = total + product
    return total


# %% nested_comprehension_of_scores
# Expected: passes


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"{Q.shape[1]} {K.shape[1]}")
    q, k = Q.tolist(), K.tolist()
    return np.array([[sum(x * y for x, y in zip(a, b)) for b in k] for a in q])


# %% fromfunction_of_scores
# Expected: passes


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"{Q.shape[1]} {K.shape[1]}")
    pick = np.vectorize(lambda i, j: dot_product(Q[int(i)], K[int(j)]), otypes=[float])
    return np.fromfunction(pick, (len(Q), len(K)))


# %% class_with_rows
# Expected: passes


class Rows:
    def __init__(self, matrix):
        self.matrix = matrix

    def __iter__(self):
        for i in range(len(self.matrix)):
            yield self.matrix[i]

    def __matmul__(self, other):
        return np.array([[dot_product(a, b) for b in other] for a in self])


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"{Q.shape[1]} {K.shape[1]}")
    return Rows(Q) @ Rows(K)


# %% matmul_operator
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return Q @ K.T  # <-- here


# %% np_dot
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.dot(a, b)  # <-- here


# %% array_dot
# Expected: dot_product: forbidden


def dot_product(a, b):
    return a.dot(b)  # <-- here


# %% operator_matmul
# Expected: attention_scores: forbidden
import operator


def attention_scores(Q, K):
    return operator.matmul(Q, K.T)  # <-- here


# %% np_einsum
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return np.einsum("id,jd->ij", Q, K)  # <-- here


# %% renamed_matmul
# Expected: attention_scores: forbidden
from numpy import matmul as m


def attention_scores(Q, K):
    return m(Q, K.T)  # <-- here


# %% getattr_of_numpy
# Expected: dot_product: forbidden


def dot_product(a, b):
    return getattr(np, "do" + "t")(a, b)  # <-- here


# %% add_reduce
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.add.reduce(a * b)  # <-- here


# %% sum_of_a_product
# Expected: dot_product: forbidden


def dot_product(a, b):
    return (a * b).sum()  # <-- here


# %% np_inner
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.inner(a, b)  # <-- here


# %% dunder_import
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return __import__("numpy").matmul(Q, K.T)  # <-- here


# %% exec_of_text
# Expected: dot_product: forbidden


def dot_product(a, b):
    names = {"a": a, "b": b}
    exec("c = a @ b", names)  # <-- here
    return names["c"]


# %% vdot
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.vdot(a, b)  # <-- here


# %% tensordot
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return np.tensordot(Q, K, axes=(1, 1))  # <-- here


# %% builtin_sum_of_a_product
# Expected: dot_product: forbidden


def dot_product(a, b):
    return sum(a * b)  # <-- here


# %% product_through_a_partial
# Expected: dot_product: forbidden
from functools import partial


def dot_product(a, b):
    return partial(np.dot, a)(b)  # <-- here


# %% product_through_map
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return np.array([list(map(np.dot, [q] * len(K), K)) for q in Q])  # <-- here


# %% unbound_method
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.ndarray.dot(a, b)  # <-- here


# %% mean_of_a_product
# Expected: dot_product: forbidden


def dot_product(a, b):
    return (a * b).mean() * len(a)  # <-- here


# %% product_summed_by_a_view
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    products = Q[:, None, :] * K[None, :, :]
    return products.reshape(len(Q), len(K), -1).sum(axis=-1)  # <-- here


# %% dummy_loops_beside_matmul
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    for i in range(len(Q)):
        for j in range(len(K)):
            for d in range(Q.shape[1]):
                _ = Q[i, d] * K[j, d]
    return Q @ K.T  # <-- here


# %% denominators_recomputed
# Expected: scaled_dot_product_attention: steps


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    allowed = np.broadcast_to(True if mask is None else mask, (len(Q), len(K)))
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    exps = np.exp(scores - scores.max(axis=1, keepdims=True)) * allowed
    weights = np.zeros_like(exps)
    output = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(len(K)):
            weights[i, j] = exps[i, j] / sum(exps[i, k] for k in range(len(K)))  # <-- here
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% largest_inside_a_comprehension
# Expected: scaled_dot_product_attention: steps
import math


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    allowed = np.broadcast_to(True if mask is None else mask, (len(Q), len(K)))
    output, weights = [], []
    for i, row in enumerate((attention_scores(Q, K) / scale_factor(Q.shape[1])).tolist()):
        exps = [math.exp(s - max(row)) * bool(ok) for s, ok in zip(row, allowed[i])]  # <-- here
        total = sum(exps)
        weights.append([e / total for e in exps])
        output.append([sum(w * v for w, v in zip(weights[-1], V[:, c])) for c in range(V.shape[1])])
    return np.array(output), np.array(weights)


# %% scores_computed_twice_is_fine
# Expected: passes


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    allowed = np.broadcast_to(True if mask is None else mask, (len(Q), len(K)))
    output, weights = np.zeros((len(Q), V.shape[1])), np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        row = [dot_product(q, k) / scale_factor(len(q)) for k in K]
        top = max(row)
        exps = [np.exp(s - top) if ok else 0.0 for s, ok in zip(row, allowed[i])]
        total = sum(exps)
        for j, e in enumerate(exps):
            weights[i, j] = e / total
            for c, v in enumerate(V[j]):
                output[i, c] += weights[i, j] * v
    return output, weights


# %% scores_for_every_output
# Expected: scaled_dot_product_attention: steps smul


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    allowed = np.broadcast_to(True if mask is None else mask, (len(Q), len(K)))

    def weights_of(i):
        row = np.array([dot_product(Q[i], k) for k in K]) / scale_factor(Q.shape[1])
        exps = np.exp(row - row.max()) * allowed[i]
        return exps / exps.sum()

    output = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for c in range(V.shape[1]):
            w = weights_of(i)
            for j in range(len(K)):
                output[i, c] += w[j] * V[j, c]
    return output, np.array([weights_of(i) for i in range(len(Q))])


# %% array_of_all_products
# Expected: attention_scores: mem


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"{Q.shape[1]} {K.shape[1]}")
    products = np.zeros((len(Q), len(K), Q.shape[1]))  # <-- here
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            for d in range(Q.shape[1]):
                products[i, j, d] = Q[i, d] * K[j, d]
                scores[i, j] += products[i, j, d]
    return scores


# %% behaves_for_small_n_only
# Expected: attention_scores: steps


def attention_scores(Q, K):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
            if len(K) > 16:
                for _ in range(len(K)):  # <-- here
                    pass
    return scores


# %% vectorised_for_large_n
# Expected: dot_product: forbidden


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    if len(a) > 20:
        return np.dot(a, b)  # <-- here
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total


# %% logarithms_instead_of_products
# Expected: dot_product: smul


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    total = 0.0
    for p in np.multiply(a, b):
        total += p
    return total


# %% quadratic_membership
# Expected: dot_product: steps


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    seen, total = [], 0.0
    for i in range(len(a)):
        if i not in seen:  # <-- here
            total += a[i] * b[i]
            seen.append(i)
    return total


# %% quadratic_slices
# Expected: dot_product: steps


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    x, y, total = a.tolist(), b.tolist(), 0.0
    while x:
        total += x[0] * y[0]
        x, y = x[1:], y[1:]  # <-- here
    return total


# %% unknown_to_the_meters
# Expected: dot_product: inconclusive


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    products = [x * y for x, y in zip(a.tolist(), b.tolist())]
    return float(np.polynomial.polynomial.polyval(1.0, products))  # <-- here


# %% wrong_values_earn_no_cost
# Expected: dot_product: steps smul work


def dot_product(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total + 1.0


# %% unrolled_by_eight
# Expected: passes


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    t, i, n = 0.0, 0, len(a)
    while i + 8 <= n:
        t += a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3]
        t += a[i + 4] * b[i + 4] + a[i + 5] * b[i + 5] + a[i + 6] * b[i + 6] + a[i + 7] * b[i + 7]
        i += 8
    while i < n:
        t += a[i] * b[i]
        i += 1
    return t


# %% deque_and_defaults
# Expected: passes
import collections


def dot_product(a, b, *, start=0.0):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    waiting = collections.deque(zip(a.tolist(), b.tolist()))
    totals = collections.defaultdict(float)
    totals["sum"] += start
    while waiting:
        x, y = waiting.popleft()
        totals["sum"] += x * y
    return totals["sum"]


# %% popping_from_the_front
# Expected: dot_product: steps


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    x, y, total = a.tolist(), b.tolist(), 0.0
    while x:
        total += x.pop(0) * y.pop(0)  # <-- here
    return total


# %% star_and_rest
# Expected: dot_product: steps


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    x, y, total = a.tolist(), b.tolist(), 0.0
    while x:
        first, *x = x  # <-- here
        second, *y = y
        total += first * second
    return total


# %% row_summed_for_every_weight
# Expected: scaled_dot_product_attention: work


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        pairs = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]
        return np.stack([o for o, _ in pairs]), np.stack([w for _, w in pairs])
    allowed = np.broadcast_to(True if mask is None else mask, (len(Q), len(K)))
    scores = attention_scores(Q, K) / scale_factor(Q.shape[1])
    exps = np.exp(scores - scores.max(axis=1, keepdims=True)) * allowed
    weights, output = np.zeros_like(exps), np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(len(K)):
            weights[i, j] = exps[i, j] / exps[i].sum()  # <-- here
            for c in range(V.shape[1]):
                output[i, c] += weights[i, j] * V[j, c]
    return output, weights


# %% loop_for_show
# Expected: dot_product: smul


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    for i in range(len(a)):
        _ = a[i] * b[i]
    products = a * b  # <-- here
    return (products + 0.0).sum()


# %% products_with_a_jitter
# Expected: dot_product: smul


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    total = 0.0
    if len(a) % 3 == 0:
        total = total * 1.0
    for product in np.multiply(a, b):
        total += product
    return total


# %% slow_where_all_is_large
# Expected: attention_scores: steps


def attention_scores(Q, K):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = dot_product(Q[i], K[j])
            if len(K) > 16 and Q.shape[1] > 16:
                for _ in range(len(K) * len(K)):  # <-- here
                    pass
    return scores


# %% product_by_name
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return np.dot(a=Q, b=K.T)  # <-- here


# %% matrix_class
# Expected: attention_scores: forbidden


def attention_scores(Q, K):
    return np.asarray(np.asmatrix(Q) * np.asmatrix(K).T)  # <-- here


# %% weighted_average
# Expected: dot_product: forbidden


def dot_product(a, b):
    return np.average(a, weights=b) * b.sum()  # <-- here


# %% batch_by_a_sum_of_products
# Expected: scaled_dot_product_attention: forbidden
looped = scaled_dot_product_attention


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 2:
        return looped(Q, K, V, mask)
    scores = (Q[:, :, None] * K[:, None]).sum(-1) / scale_factor(Q.shape[-1])  # <-- here
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True)) * (1 if mask is None else mask)
    weights = exps / exps.sum(axis=-1, keepdims=True)
    return np.stack([np.array([[dot_product(w, v) for v in V[b].T] for w in weights[b]]) for b in range(len(Q))]), weights


# %% looks_at_its_meter
# Expected: dot_product: inconclusive


def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} {len(b)}")
    measured = "attn_meter" in globals()  # <-- here
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total
