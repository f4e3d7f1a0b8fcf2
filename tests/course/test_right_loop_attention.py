"""Right solutions of 02_loop_attention in very different styles: every one gets full marks."""

from __future__ import annotations

import pytest

from grader.course import Course
from grader.grading import grade
from grader.report import Report
from grader.submission import Source, Submission
from tests.conftest import LIMITS

REFLECT = """
REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
"""

INDICES = """
import numpy as np

def dot_product(a, b):
    n = a.shape[0]
    if n != b.shape[0]:
        raise ValueError("lengths %d and %d" % (n, b.shape[0]))
    total = a.dtype.type(0)
    i = 0
    while i < n:
        total += a[i] * b[i]
        i += 1
    return total

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError("widths %d and %d" % (Q.shape[1], K.shape[1]))
    dtype = Q.dtype if Q.dtype in (np.float32, np.float64) else np.float64
    out = np.empty((Q.shape[0], K.shape[0]), dtype)
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            s = 0
            for d in range(Q.shape[1]):
                s += Q[i, d] * K[j, d]
            out[i, j] = s
    return out

def scale_factor(d_k, variance=1.0):
    return variance * d_k ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("widths %d and %d" % (Q.shape[-1], K.shape[-1]))
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("lengths %d and %d" % (K.shape[-2], V.shape[-2]))
    flat = Q.ndim == 2
    if flat:
        Q, K, V = Q[None], K[None], V[None]
    B, n_q, d_k = Q.shape
    n_k, d_v = V.shape[1:]
    dtype = Q.dtype if Q.dtype in (np.float32, np.float64) else np.float64
    if mask is None:
        mask = np.ones((B, n_q, n_k))
    mask = np.broadcast_to(mask, (B, n_q, n_k))
    weights = np.zeros((B, n_q, n_k), dtype)
    output = np.zeros((B, n_q, d_v), dtype)
    for b in range(B):
        scores = attention_scores(Q[b], K[b])
        for i in range(n_q):
            m = None
            for j in range(n_k):
                scores[i, j] /= scale_factor(d_k)
                if mask[b, i, j] != 0 and (m is None or scores[i, j] > m):
                    m = scores[i, j]
            if m is None:
                continue
            z = 0
            for j in range(n_k):
                if mask[b, i, j] != 0:
                    weights[b, i, j] = np.exp(scores[i, j] - m)
                    z += weights[b, i, j]
            for j in range(n_k):
                weights[b, i, j] /= z
                for c in range(d_v):
                    output[b, i, c] += weights[b, i, j] * V[b, j, c]
    return (output[0], weights[0]) if flat else (output, weights)
"""

COMPREHENSIONS = """
import math
import numpy as np

def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"{len(a)} != {len(b)}")
    return sum(x * y for x, y in zip(a, b))

def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"{Q.shape[-1]} != {K.shape[-1]}")
    return np.array([[dot_product(q, k) for k in K] for q in Q], dtype=_kind(Q))

def scale_factor(d_k, variance=1.0):
    return math.sqrt(d_k) * variance

def _kind(x):
    return x.dtype if x.dtype.kind == "f" else np.float64

def _row(scores, allowed):
    if not any(allowed):
        return [0.0] * len(scores)
    top = max(s for s, ok in zip(scores, allowed) if ok)
    exps = [math.exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed)]
    return [e / sum(exps) for e in exps]

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.ndim == 3:
        full = [None] * len(Q) if mask is None else np.broadcast_to(mask, Q.shape[:2] + (K.shape[1],))
        outputs, weights = zip(*[scaled_dot_product_attention(*each) for each in zip(Q, K, V, full)])
        return np.array(outputs), np.array(weights)
    if len(K) != len(V):
        raise ValueError(f"{len(K)} keys, {len(V)} values")
    s = scale_factor(Q.shape[1])
    scores = [[x / s for x in row] for row in attention_scores(Q, K).tolist()]
    allowed = np.ones((len(Q), len(K)), bool) if mask is None else np.broadcast_to(mask, (len(Q), len(K))).astype(bool)
    weights = [_row(r, ok) for r, ok in zip(scores, allowed.tolist())]
    columns = V.T.tolist()
    output = [[dot_product(w, column) for column in columns] for w in weights]
    return np.array(output, dtype=_kind(Q)), np.array(weights, dtype=_kind(Q))
"""

GENERATORS = """
import numpy as np
from functools import reduce

def dot_product(a, b):
    if np.size(a) != np.size(b):
        raise ValueError("cannot multiply " + str(np.size(a)) + " by " + str(np.size(b)) + " entries")
    def products():
        for i in range(len(a)):
            yield float(a[i]) * float(b[i])
    return reduce(lambda x, y: x + y, products(), 0.0)

def rows(Q, K):
    for q in Q:
        yield tuple(dot_product(q, k) for k in K)

def attention_scores(Q, K):
    if np.shape(Q)[1] != np.shape(K)[1]:
        raise ValueError(f"d_k is {np.shape(Q)[1]} in Q and {np.shape(K)[1]} in K")
    dtype = np.result_type(Q.dtype, K.dtype)
    return np.array(list(rows(Q, K)), dtype=dtype if dtype.kind == "f" else "float64")

def scale_factor(d_k, variance=1.0):
    return np.float64(variance) * np.sqrt(d_k)

def attend(q, K, V, allowed, scale):
    # one pass with a running maximum: what was added so far is scaled down when a larger score comes
    m, z, acc, logits = -np.inf, 0.0, [0.0] * V.shape[1], []
    for k, v, ok in zip(K, V, allowed):
        logits.append(dot_product(q, k) / scale if ok else None)
        if not ok:
            continue
        s = logits[-1]
        new = max(m, s)
        shrink, e = np.exp(m - new), np.exp(s - new)
        z = z * shrink + e
        acc = [x * shrink + e * float(y) for x, y in zip(acc, v)]
        m = new
    if z == 0:
        return [0.0] * V.shape[1], [0.0] * len(K)
    return [x / z for x in acc], [0.0 if s is None else np.exp(s - m) / z for s in logits]

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d_k is {Q.shape[-1]} in Q and {K.shape[-1]} in K")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} and V has {V.shape[-2]} tokens")
    lead = Q.shape[:-2]
    n_q, n_k = Q.shape[-2], K.shape[-2]
    allowed = np.full(lead + (n_q, n_k), True) if mask is None else np.broadcast_to(mask, lead + (n_q, n_k)) != 0
    dtype = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
    output = np.empty(lead + (n_q, V.shape[-1]), dtype)
    weights = np.empty(lead + (n_q, n_k), dtype)
    for where in np.ndindex(lead + (n_q,)):
        b = where[:-1]
        output[where], weights[where] = attend(Q[where], K[b], V[b], allowed[where], scale_factor(Q.shape[-1]))
    return output, weights
"""

CLASSES = """
from __future__ import annotations
from dataclasses import dataclass
import numpy as np

def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"len(a) is {len(a)}, len(b) is {len(b)}")
    return Vector(a).times(Vector(b))

@dataclass
class Vector:
    entries: np.ndarray

    def times(self, other: "Vector"):
        total = 0.0
        for position, entry in enumerate(self.entries):
            total += entry * other.entries[position]
        return total

@dataclass(frozen=True)
class Head:
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    mask: np.ndarray

    def scores(self, i):
        row = attention_scores(self.Q[i : i + 1], self.K)[0]
        return row / row.dtype.type(scale_factor(self.Q.shape[1]))

    def weights(self, i):
        scores = np.where(self.mask[i], self.scores(i), -np.inf)
        if not self.mask[i].any():
            return np.zeros(len(self.K))
        exps = np.exp(scores - scores.max())
        return exps / exps.sum()

    def output(self, weights):
        result = np.zeros(self.V.shape[1])
        for c in range(self.V.shape[1]):
            for j in range(len(self.V)):
                result[c] += weights[j] * self.V[j][c]
        return result

    def run(self):
        weights = [self.weights(i) for i in range(len(self.Q))]
        return np.stack([self.output(row) for row in weights]), np.stack(weights)

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q is {Q.shape[1]} wide, K is {K.shape[1]} wide")
    scores = np.zeros((len(Q), len(K)), dtype=np.promote_types(Q.dtype, np.float32) if Q.dtype.kind == "f" else float)
    for (i, j), _ in np.ndenumerate(scores):
        scores[i, j] = dot_product(Q[i], K[j])
    return scores

def scale_factor(d_k, variance=1.0):
    return (d_k * variance * variance) ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q is {Q.shape[-1]} wide, K is {K.shape[-1]} wide")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K is {K.shape[-2]} long, V is {V.shape[-2]} long")
    kind = Q.dtype if Q.dtype.kind == "f" else np.float64
    shape = (*Q.shape[:-1], K.shape[-2])
    mask = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape).astype(bool)
    if Q.ndim == 2:
        output, weights = Head(Q, K, V, mask).run()
    else:
        heads = [Head(*parts).run() for parts in zip(Q, K, V, mask)]
        output, weights = (np.stack(parts) for parts in zip(*heads))
    return output.astype(kind), weights.astype(kind)
"""

NOISY = """
import sys
import warnings
import numpy as np

print("loading")

def dot_product(a, b):
    assert a.ndim == 1
    if a.size != b.size:
        raise ValueError("sizes", a.size, b.size)
    products = [x * y for x, y in zip(a.tolist(), b.tolist())]
    total = 0.0
    for p in products:
        total += p
    return np.asarray(total, dtype=a.dtype if a.dtype.kind == "f" else float)  # a 0-d array

def attention_scores(Q, K):
    print("scores", Q.shape, K.shape, file=sys.stderr)
    if Q.shape[1] != K.shape[1]:
        raise ValueError("sizes", Q.shape[1], K.shape[1])
    columns = [[float(dot_product(q, k)) for q in Q] for k in K]
    return np.array(columns, dtype=Q.dtype if Q.dtype.kind == "f" else float).T  # not contiguous

def scale_factor(d_k, variance=1.0):
    warnings.warn("computing a root")
    return np.float32(variance).item() * np.sqrt(np.float64(d_k)) if variance in (0.25, 1.0) else variance * d_k ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    class BadSize(ValueError):
        pass
    if Q.shape[-1] != K.shape[-1]:
        raise BadSize(f"{Q.shape[-1]} against {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise BadSize(f"{K.shape[-2]} against {V.shape[-2]}")
    if Q.ndim == 3:
        print("a batch of", len(Q))
        outputs, weights = [], []
        for b in range(len(Q)):
            m = mask
            if mask is not None and np.ndim(mask) == 3:
                m = mask[b if len(mask) > 1 else 0]
            o, w = scaled_dot_product_attention(Q[b], K[b], V[b], m)
            outputs += [o]
            weights += [w]
        return np.stack(outputs, axis=0), np.stack(weights, axis=0)
    kind = Q.dtype if Q.dtype.kind == "f" else np.dtype("float64")
    scores = attention_scores(Q, K).astype(float) / scale_factor(Q.shape[1])
    if mask is not None:
        scores = np.where(np.asarray(mask) == 0, -np.inf, scores)
    W = np.zeros(scores.shape[::-1]).T
    for i, row in enumerate(scores):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            e = np.exp(row - np.max(row))
            W[i] = np.nan_to_num(e / np.sum(e))
    O = np.asfortranarray(np.zeros((Q.shape[0], V.shape[1])))
    for c in range(V.shape[1]):
        for i in range(Q.shape[0]):
            O[i, c] = dot_product(W[i], V[:, c].astype(float))
    return O.astype(kind), W.astype(kind)
"""

PRESCALED = """
import numpy as np

def dot_product(a, b):
    if (n := len(a)) != (m := len(b)):
        raise ValueError(f"{n=} {m=}")
    return a[0] * b[0] if n == 1 else dot_product(a[: n // 2], b[: n // 2]) + dot_product(a[n // 2 :], b[n // 2 :])

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"expected width {Q.shape[1]}, got {K.shape[1]}")
    table = {(i, j): dot_product(q, k) for i, q in enumerate(Q) for j, k in enumerate(K)}
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    return np.fromiter(table.values(), dtype, len(table)).reshape(len(Q), len(K))

def scale_factor(d_k, variance=1.0):
    return float(np.hypot.reduce(np.full(d_k, variance)))

def scaled_dot_product_attention(Q, K, V, mask=None):
    dtype = np.float32 if Q.dtype == np.float32 else np.float64
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"expected width {Q.shape[-1]}, got {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"expected length {K.shape[-2]}, got {V.shape[-2]}")
    allow = np.ones(Q.shape[:-1] + K.shape[-2:-1]) * (1 if mask is None else mask)
    if Q.ndim > 2:
        both = list(map(scaled_dot_product_attention, Q, K, V, allow))
        return np.concatenate([o[None] for o, _ in both]), np.concatenate([w[None] for _, w in both])
    Q = (Q / scale_factor(Q.shape[1])).astype(dtype)
    scores = attention_scores(Q, K)
    scores[allow == 0] = -np.inf
    top = scores.max(axis=1, keepdims=True)
    exps = np.exp(scores - np.where(np.isinf(top), 0, top))
    sums = exps.sum(axis=1, keepdims=True)
    weights = np.divide(exps, sums, out=np.zeros_like(exps), where=sums > 0)
    output = np.zeros((len(Q), V.shape[1]), dtype)
    for i, j in np.ndindex(*weights.shape):
        for c, value in enumerate(V[j]):
            output[i, c] += weights[i, j] * value
    return output, weights
"""

MYLAB = COMPREHENSIONS.replace(
    "def _row(scores, allowed):", "from mylab.softmax import softmax\n\ndef _row(scores, allowed):"
).replace(
    "    top = max(s for s, ok in zip(scores, allowed) if ok)\n"
    "    exps = [math.exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed)]\n"
    "    return [e / sum(exps) for e in exps]\n",
    "    return softmax(np.array([s if ok else -np.inf for s, ok in zip(scores, allowed)])).tolist()\n",
)

VARIANTS = {
    "indices and while": INDICES,
    "comprehensions and lists": COMPREHENSIONS,
    "generators and a running maximum": GENERATORS,
    "classes": CLASSES,
    "prints, warnings and arrays that are not contiguous": NOISY,
    "recursion, prescaled queries and -inf": PRESCALED,
    "the softmax of module 01": MYLAB,
}


def graded(course: Course, source: str) -> Report:
    reports: list[Report] = []
    texts = {"loop_attention": source, "softmax": course.solution(course.module("softmax")).read_text()}
    files = {slug: Source(f"{slug}.py", (text,), False) for slug, text in texts.items()}
    submission = Submission("ana", "02_loop_attention", "loop_attention.py", files)
    grade(course, course.module("loop_attention"), [submission], reports.append, LIMITS, allow_unjailed=True)
    (report,) = reports
    return report


@pytest.mark.parametrize("source", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_right_solution_gets_full_marks(course: Course, source: str) -> None:
    report = graded(course, source + REFLECT)
    assert [(check.name, check.message) for check in report.checks if check.outcome != "passed"] == []
    assert (report.status, report.score) == ("graded", 60.0)


def test_the_variant_with_mylab_uses_it() -> None:
    assert "softmax(np.array(" in MYLAB
