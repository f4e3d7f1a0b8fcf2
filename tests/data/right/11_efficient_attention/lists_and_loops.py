import math
import numpy as np

def sliding_window_mask(n, window, causal=True):
    if window < 1:
        raise ValueError("window = %d" % window)
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            near = i - j if causal else abs(i - j)
            row.append(1 if 0 <= near < window else 0)
        rows.append(row)
    return np.array(rows)

def check(a, b, c, d):
    if a != b:
        raise ValueError("widths %d and %d" % (a, b))
    if c != d:
        raise ValueError("lengths %d and %d" % (c, d))

def one_sequence(Q, K, V, window):
    out = []
    for i in range(len(Q)):
        first = max(0, i - window + 1)
        scores = []
        for j in range(first, i + 1):
            total = 0.0
            for a, b in zip(Q[i], K[j]):
                total += a * b
            scores.append(total / math.sqrt(len(Q[i])))
        top = max(scores)
        exps = [math.exp(s - top) for s in scores]
        norm = sum(exps)
        row = [0.0] * len(V[0])
        for e, j in zip(exps, range(first, i + 1)):
            for c in range(len(row)):
                row[c] += e / norm * V[j][c]
        out.append(row)
    return out

def kind_of(*arrays):
    return np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64

def each(function, *arrays):
    lead = arrays[0].shape[:-2]
    flat = [a.reshape(-1, *a.shape[-2:]).tolist() for a in arrays]
    results = np.array([function(*parts) for parts in zip(*flat)], dtype=kind_of(*arrays))
    return results.reshape(*lead, *results.shape[1:])

def sliding_window_attention(Q, K, V, window):
    if window < 1:
        raise ValueError("window = %d" % window)
    check(Q.shape[-1], K.shape[-1], K.shape[-2], V.shape[-2])
    return each(lambda q, k, v: one_sequence(q, k, v, window), Q, K, V)

def phi(x):
    return x + 1.0 if x > 0 else math.exp(x)

def feature_map(x):
    kind = kind_of(x)
    return np.array([phi(number) for number in x.ravel().tolist()], dtype=kind).reshape(x.shape)

def add_token(matrix, total, k, v):
    for a, feature in enumerate(k):
        total[a] += feature
        for b, number in enumerate(v):
            matrix[a][b] += feature * number

def read_out(matrix, total, q):
    bottom = sum(f * t for f, t in zip(q, total))
    return [sum(f * matrix[a][b] for a, f in enumerate(q)) / bottom for b in range(len(matrix[0]))]

def linear_sequence(Q, K, V, causal):
    matrix, total = [[0.0] * len(V[0]) for _ in K[0]], [0.0] * len(K[0])
    rows = []
    if not causal:
        for k, v in zip(K, V):
            add_token(matrix, total, [phi(x) for x in k], v)
    for i, q in enumerate(Q):
        if causal:
            add_token(matrix, total, [phi(x) for x in K[i]], V[i])
        rows.append(read_out(matrix, total, [phi(x) for x in q]))
    return rows

def linear_attention(Q, K, V, causal=False):
    check(Q.shape[-1], K.shape[-1], K.shape[-2], V.shape[-2])
    return each(lambda q, k, v: linear_sequence(q, k, v, causal), Q, K, V)

def linear_attention_step(state, q, k, v):
    check(q.shape[-1], k.shape[-1], 0, 0)
    lead = q.shape[:-1]
    q2, k2, v2 = (x.reshape(-1, x.shape[-1]).tolist() for x in (q, k, v))
    new, outputs = [], []
    for b in range(len(q2)):
        if state is None:
            matrix, total = [[0.0] * len(v2[b]) for _ in k2[b]], [0.0] * len(k2[b])
        else:
            matrix, total = [list(row) for row in state[b][0]], list(state[b][1])
        add_token(matrix, total, [phi(x) for x in k2[b]], v2[b])
        outputs.append(read_out(matrix, total, [phi(x) for x in q2[b]]))
        new.append((matrix, total))
    return new, np.array(outputs, dtype=kind_of(q, k, v)).reshape(*lead, -1)

REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 32 * 4095
