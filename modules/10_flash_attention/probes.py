"""Probes of 10_flash_attention: the calls that tell its misconceptions apart."""

import numpy as np

from grader.diagnosis.probe import probe

NEW, NONE = np.array([-np.inf, -np.inf]), np.array([0.0, 0.0])
TILE = np.array([[0.0, 1.0], [2.0, -1.0]])
WIDE = np.array([[0.5, 3.0, 1.0], [-2.0, 0.0, 1.5]])
BLOCKED = np.array([[-np.inf, -np.inf], [0.0, 1.0]])
HALF = np.array([[-np.inf, 2.0], [1.0, -np.inf]])
LOW = np.array([[-800.0, -801.0], [-900.0, -899.0]])
HIGH = np.array([[900.0, 901.0], [-900.0, -902.0]])

Q = np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
PAIR_Q, PAIR_K, PAIR_V = np.array([[1.0], [-2.0]]), np.array([[0.5], [2.0]]), np.array([[1.0, 3.0], [2.0, 4.0]])
MANY_K, MANY_V = np.array([[0.5], [2.0], [-1.0], [1.0]]), np.array([[1.0], [2.0], [4.0], [-8.0]])
BATCH = [np.stack([x, x[::-1] + 0.5]) for x in (Q, K, V)]
SMALL_BATCH = [np.stack([x, x * 2 + 1]) for x in (PAIR_Q, PAIR_K, PAIR_V)]
FOUR = [x[None] for x in SMALL_BATCH]


def weights_of(q, k, causal=False):
    """Return the weights of attention, and the logarithms of their sums."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.arange(k.shape[-2]) > np.arange(q.shape[-2])[:, None], -np.inf, scores)
    top = scores.max(axis=-1, keepdims=True)
    sums = np.exp(scores - top).sum(axis=-1, keepdims=True)
    return np.exp(scores - top) / sums, (top + np.log(sums))[..., 0]


def backward(q, k, v, d_out, block_q, block_k, causal=False, said="", dtype=float):
    """Return a probe of the backward pass with the right O and L."""
    weights, log_sums = weights_of(q, k, causal)
    arrays = [np.asarray(x, dtype) for x in (q, k, v, weights @ v, d_out, log_sums)]
    return probe("flash_attention_backward", *arrays, block_q, block_k, *([True] if causal else []), said=said)


def merged(m, total, scores, **more):
    """Return a probe of merge_softmax; the factor of a row that has seen nothing may be any finite number."""
    return probe(
        "merge_softmax", m, total, scores, look=_seen if np.isneginf(scores).all(axis=-1).any() else None, **more
    )


def _seen(value):
    if type(value) is not tuple or len(value) != 4 or not all(isinstance(one, np.ndarray) for one in value):
        return {"four arrays": False}
    m, total, weights, rescale = value
    finite = bool(np.isfinite(rescale).all()) if rescale.dtype.kind == "f" else False
    shapes = [one.shape for one in value]
    same = {
        "four arrays": True,
        "shapes": str(shapes),
        "m_new": [float(one) for one in m.ravel()],
        "l_new": [float(one) for one in total.ravel()],
        "weights": [float(one) for one in weights.ravel()],
        "rescale is finite": finite,
    }
    if m.shape == rescale.shape:
        same["rescale"] = [
            float(factor) for factor, top in zip(rescale.ravel(), m.ravel(), strict=True) if np.isfinite(top)
        ]
    return same


PROBES = [
    merged(NEW, NONE, TILE),
    merged(np.array([0.5, 0.0]), np.array([2.0, 1.0]), TILE),
    merged(np.array([5.0, -3.0]), np.array([1.5, 2.0]), TILE),
    merged(np.array([1.0, 2.0]), np.array([1.0, 1.25]), WIDE),
    merged(np.array([0.5]), np.array([2.0]), np.array([[0.0, 1.0]])),
    merged(np.array([1.0]), np.array([1.0]), np.array([[1.0]])),
    merged(NEW, NONE, LOW),
    merged(NEW, NONE, HIGH),
    merged(np.array([898.0, -901.0]), np.array([3.0, 1.5]), HIGH),
    merged(np.array([-820.0, -890.0]), np.array([1.5, 2.5]), LOW),
    merged(NEW, NONE, HALF),
    merged(np.array([1.0, -np.inf]), np.array([1.5, 0.0]), HALF),
    merged(NEW, NONE, np.full((2, 2), -np.inf)),
    merged(NEW, NONE, BLOCKED),
    merged(np.array([1.0, 0.5]), np.array([1.5, 2.0]), BLOCKED),
    merged(np.array([3.0, -np.inf]), np.array([2.0, 0.0]), np.full((2, 3), -np.inf)),
    merged(np.array([1.0, 2.0], np.float32), np.array([1.0, 1.25], np.float32), WIDE.astype(np.float32)),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 1, 1),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 2, 2),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 1, 2),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 2, 1, True),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 1, 1, True),
    probe("flash_attention", PAIR_Q, MANY_K, MANY_V, 1, 3),
    probe("flash_attention", PAIR_Q, MANY_K, MANY_V, 2, 2, True),
    probe("flash_attention", PAIR_Q, MANY_K, MANY_V, 1, 1, True),
    probe("flash_attention", MANY_K, PAIR_Q, PAIR_V, 3, 1, True),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 9, 7),
    probe("flash_attention", Q, K, V, 2, 2, said="the shared example in tiles of 2 × 2"),
    probe("flash_attention", Q, K, V, 5, 5, said="the shared example in one tile"),
    probe("flash_attention", Q, K, V, 3, 2, said="the shared example in tiles of 3 × 2"),
    probe("flash_attention", Q, K, V, 2, 3, True, said="the shared example, causal, in tiles of 2 × 3"),
    probe("flash_attention", Q, K, V, 3, 1, True, said="the shared example, causal, in tiles of 3 × 1"),
    probe("flash_attention", Q, K, V, 5, 5, True, said="the shared example, causal, in one tile"),
    probe("flash_attention", Q * 600, K * 600, V, 2, 2, said="the shared example with very large scores"),
    probe(
        "flash_attention", Q * 600, K * 600, V, 2, 2, True, said="the shared example, causal, with very large scores"
    ),
    probe("flash_attention", PAIR_Q, PAIR_K - 900, PAIR_V, 1, 1, said="very low and very high scores"),
    probe("flash_attention", *BATCH, 2, 2, said="a batch of two sentences"),
    probe("flash_attention", *BATCH, 2, 2, True, said="a batch of two sentences, causal"),
    probe("flash_attention", *SMALL_BATCH, 1, 1),
    probe("flash_attention", *FOUR, 1, 2, True, said="arrays of four dimensions, causal"),
    probe("flash_attention", *(x.astype(np.float32) for x in (PAIR_Q, PAIR_K, PAIR_V)), 1, 1),
    probe("flash_attention", np.array([[1, 2]]), np.array([[0, 1], [2, 1]]), np.array([[1], [3]]), 1, 1),
    probe("flash_attention", np.ones((2, 3)), np.ones((2, 5)), np.ones((2, 1)), 1, 1, names=(3.0, 5.0)),
    probe("flash_attention", np.ones((2, 3)), np.ones((4, 3)), np.ones((7, 1)), 2, 2, names=(4.0, 7.0)),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, -3, 2, names=(-3.0,)),
    probe("flash_attention", PAIR_Q, PAIR_K, PAIR_V, 2, -4, names=(-4.0,)),
    backward(PAIR_Q, PAIR_K, PAIR_V, np.array([[1.0, 0.0], [0.0, 2.0]]), 1, 1),
    backward(PAIR_Q, PAIR_K, PAIR_V, np.array([[1.0, 0.0], [0.0, 2.0]]), 2, 2),
    backward(PAIR_Q, PAIR_K, PAIR_V, np.array([[1.0, -1.0], [0.5, 2.0]]), 1, 1, True),
    backward(PAIR_Q, MANY_K, MANY_V, np.array([[1.0], [2.0]]), 1, 3),
    backward(PAIR_Q, MANY_K, MANY_V, np.array([[1.0], [2.0]]), 2, 1, True),
    backward(Q, K, V, np.eye(5, 4), 2, 2, said="the shared example in tiles of 2 × 2"),
    backward(Q, K, V, np.eye(5, 4)[::-1] + 0.5, 3, 2, True, said="the shared example, causal, in tiles of 3 × 2"),
    backward(Q, K, V, np.eye(5, 4), 9, 9, said="the shared example in one tile"),
    backward(
        Q * 40, K * 40, V, np.eye(5, 4) + 0.5, 2, 2, True, said="the shared example, causal, with very large scores"
    ),
    backward(*BATCH, BATCH[2] - 0.5, 2, 3, said="a batch of two sentences"),
    backward(*BATCH, BATCH[2] - 0.5, 2, 2, True, said="a batch of two sentences, causal"),
    backward(PAIR_Q, PAIR_K, PAIR_V, np.array([[1.0, 0.0], [0.0, 2.0]]), 1, 1, dtype=np.float32),
    probe(
        "flash_attention_backward",
        *(np.ones((2, 3)), np.ones((2, 5)), np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), np.ones(2), 1, 1),
        names=(3.0, 5.0),
    ),
    probe(
        "flash_attention_backward",
        *(np.ones((2, 3)), np.ones((4, 3)), np.ones((7, 1)), np.ones((2, 1)), np.ones((2, 1)), np.ones(2), 1, 1),
        names=(4.0, 7.0),
    ),
    probe(
        "flash_attention_backward",
        *(PAIR_Q, PAIR_K, PAIR_V, PAIR_V, PAIR_V, np.ones(2), -3, 2),
        names=(-3.0,),
    ),
]
