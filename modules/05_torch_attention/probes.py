"""Probes of 05_torch_attention: calls that tell its misconceptions apart."""

import numpy as np
import torch

from cli.attention.weights_reading import Weights
from grader.diagnosis.probe import probe

LAYER = "ScaledDotProductAttention.forward"
EXAMPLE = "the shared example"


def floats(*rows):
    """Return rows of numbers as a float32 tensor."""
    return torch.tensor(rows, dtype=torch.float32)


def pattern(*shape, step=5, modulus=7):
    """Return a float64 array of small numbers, each different from its neighbours."""
    return (np.arange(np.prod(shape)) * step % modulus - modulus // 2).reshape(shape) / 2.0


def tensors(*arrays):
    """Return arrays as float32 tensors."""
    return tuple(torch.from_numpy(array).float() for array in arrays)


# The shared example, "The cat sat on mat": one row for each token
CAT_Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1.0]])
CAT_K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
CAT_V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAT = tensors(CAT_Q, CAT_K, CAT_V)

# Queries, keys and values: (q, k, v)
SMALL = (floats([1, 2], [0, -1]), floats([1, 0], [2, 1], [-1, 1]), floats([1], [4], [2]))
WIDE = (floats([1, 0, 2, 1], [0, 3, -1, 0]), floats([1, 1, 0, 2], [0, 0, 0, 0], [2, -1, 1, 0]), floats([1], [0], [5]))
THREE = (
    floats([1, 0, 2], [0, 1, -1]),
    floats([0, 1, 1], [2, 0, -1], [1, 1, 0], [0, 2, 0]),
    floats(*[[i, 1, i * i, 2, 0] for i in range(4)]),
)
SQUARE = tensors(pattern(3, 3), pattern(3, 3, step=4), pattern(3, 3, step=3))
SAME = tensors(pattern(3, 4), pattern(3, 4, step=4), pattern(3, 4, step=3))
BATCH = tensors(pattern(2, 2, 3), pattern(2, 4, 3, step=4), pattern(2, 4, 2, step=3))
CUBE = tensors(pattern(3, 3, 3), pattern(3, 3, 3, step=4), pattern(3, 3, 3, step=3))
HEADS = tensors(pattern(2, 2, 2, 4), pattern(2, 2, 3, 4, step=4), pattern(2, 2, 3, 2, step=3))
FOURS = tensors(pattern(2, 2, 2, 2), pattern(2, 2, 2, 2, step=4), pattern(2, 2, 2, 2, step=3))
ONE_KEY = (floats([1, 2], [3, 4]), floats([1, 1]), floats([7, 8, 9]))
STEEP = (floats([100, 0, 0, 0], [0, -100, 0, 0]), floats([100, 100, 0, 0], [99.96875, 101, 0, 0]), floats([1], [3]))
APART = (floats([200, 0, 0, 0], [-200, 0, 0, 0]), floats([50, 1, 0, 0], [49.984375, 0, 0, 0]), floats([1], [3]))
LOW = (floats([-100, 0, 0, 0]), floats([100, 0, 0, 0], [100.03125, 0, 0, 0], [-100, 0, 0, 0]), floats([1], [3], [50]))
NINE = tensors(pattern(1, 9), pattern(2, 9, step=4), pattern(2, 1, step=3))

HOLES = torch.tensor([[True, False, True], [True, True, False]])
ROW = torch.tensor([1, 0, 1])
NOTHING_LEFT = torch.tensor([[1, 1, 0], [0, 0, 0]])
COLUMN = torch.tensor([[1.0], [0.0], [1.0]])
PADDING = torch.tensor([[[1, 1, 0, 1]], [[0, 1, 1, 0]]])
HEADS_PADDING = torch.tensor([[[[1.0, 1.0, 0.0]]], [[[0.0, 1.0, 1.0]]]])

# Enough weights to see what dropout does: all different, none small
MANY = tensors(
    pattern(2, 16, 4, step=5, modulus=11) / 2,
    pattern(2, 16, 4, step=7, modulus=13) / 2,
    pattern(2, 16, 2, step=3, modulus=5),
)
PUSH = torch.from_numpy(pattern(2, 16, 2, step=4, modulus=9)).float()
MANY_SEEN = torch.from_numpy(np.tri(16) + np.eye(16, k=1))
MANY_SEEN[7] = 0


def weigh(q, k, v, mask=None):
    """Return output and weights in float64 without dropout."""
    scores = q.double() @ k.double().transpose(-1, -2) / q.shape[-1] ** 0.5
    exps = torch.exp(scores) if mask is None else torch.exp(scores) * (mask != 0)
    total = exps.sum(dim=-1, keepdim=True)
    weights = exps / (total + (total == 0))
    return weights @ v.double(), weights


def factor_of(ratios):
    """Return the number that all kept weights were multiplied by, if it is one number."""
    if not ratios.numel():
        return "nothing is kept"
    return round(float(ratios.mean()), 3) if float(ratios.max() - ratios.min()) < 1e-3 else "by various numbers"


def pair_of(value, shapes):
    """Return output and weights in float64, or None if the value is something else."""
    pair = type(value) is tuple and len(value) == 2 and all(type(part) is torch.Tensor for part in value)
    if not pair or [tuple(part.shape) for part in value] != shapes:
        return None
    return [part.detach().double() for part in value]


def told_of(value, plain, values, p):
    """Return the facts about output and weights with dropout that do not depend on which weights were dropped."""
    pair = pair_of(value, [(2, 16, 2), (2, 16, 16)])
    if pair is None:
        return "no pair of output and weights"
    output, weights = pair
    rows = weights.sum(dim=-1)[(weights != 0).any(dim=-1)]
    return told_of_table(weights, plain, p) | {
        "sums": bool((rows - 1).abs().max() < 1e-4) if rows.numel() else None,
        "output": bool((output - weights @ values.double()).abs().max() < 1e-4),
        "output as without": bool((output - plain @ values.double()).abs().max() < 1e-4),
        "zeros in the output": bool((output == 0).double().mean() > 0.1),
    }


def told_of_table(weights, plain, p):
    """Return the facts about a table of weights with dropout that do not depend on chance."""
    kept, there = weights != 0, plain != 0
    share = float((~kept & there).sum() / there.sum())
    shares = {0.0: "nothing", 1.0: "everything"}
    return {
        "dropped": shares.get(share, "as said" if abs(share - p) < 0.1 else "other"),
        "kept": factor_of(weights[kept] / plain[kept]) if kept.any() else "nothing",
        "each on its own": [len({tuple(row) for row in table.tolist()}) > 4 for table in (kept[0], kept[0].T)],
        "each sentence on its own": not torch.equal(kept[0], kept[1]),
    }


def by_unit_values(p):
    """Return a call in training with a different unit vector as each value, so that the output shows the weights."""
    q, k, _ = MANY
    plain, units = weigh(*MANY)[1], torch.eye(16).repeat(2, 1, 1)

    def look(value):
        pair = pair_of(value, [(2, 16, 16), (2, 16, 16)])
        return "no pair of output and weights" if pair is None else told_of_table(pair[0], plain, p)

    said = f"q and k of (2, 16, 4), unit vectors for values, dropout {p}, in training"
    return probe(LAYER, q, k, units, init=(4, p), training=True, said=said, look=look)


def in_training(p, mask=None, training=True):
    """Return a call in training that is compared only by the facts that all right solutions share."""
    plain = weigh(*MANY, mask)[1]
    kwargs = {} if mask is None else {"mask": mask}
    mode = "in training" if training else "after eval()"
    said = f"q, k and v of (2, 16, ...), dropout {p}, {mode}"
    return probe(
        LAYER,
        *MANY,
        init=(4, p),
        training=training,
        kwargs=kwargs,
        said=said,
        look=lambda value: told_of(value, plain, MANY[2], p),
    )


def pushed_in_training(p, on_weights=False):
    """Return the gradients of a call in training, compared with those that follow from its returned weights."""
    plain = weigh(*MANY)[1]
    table = torch.from_numpy(pattern(2, 16, 16, step=5, modulus=9)).float() if on_weights else None

    def look(found):
        weights = found["value"][1].detach().double()
        kept = (weights != 0).double() / (1 - p)
        push = torch.zeros_like(plain) if not on_weights else table.double()
        push = push if on_weights else PUSH.double() @ MANY[2].double().transpose(-1, -2)
        weighed = push * kept * plain
        raw = (weighed - plain * weighed.sum(dim=-1, keepdim=True)) / 2
        expected = [raw @ MANY[1].double(), raw.transpose(-1, -2) @ MANY[0].double()]
        expected.append(None if on_weights else weights.transpose(-1, -2) @ PUSH.double())
        return [
            None if grad is None else bool(right is not None and (grad.double() - right).abs().max() < 1e-3)
            for grad, right in zip(found["grads"], expected, strict=True)
        ]

    cotangent = (None, table) if on_weights else (PUSH, None)
    said = f"gradients of q, k and v of (2, 16, ...), dropout {p}, in training"
    return probe(LAYER, *MANY, init=(4, p), training=True, cotangent=cotangent, look=look, said=said)


def attend(case, *mask, said="", init=(), **more):
    """Return a call of a layer with the right width, in eval mode."""
    q, k = (x.double().numpy() for x in case[:2])
    blocked = mask[0].double().numpy() if mask and mask[0].dim() <= len(case[0].shape) else None
    reads = (
        Weights(q @ k.swapaxes(-1, -2), float(q.shape[-1]) ** 0.5, blocked, 1) if q.shape[-1] == k.shape[-1] else None
    )
    return probe(LAYER, *case, *mask, init=init or (q.shape[-1],), said=said, reads=reads, **more)


def push(case, output=True, weights=False, mask=None, said="", **more):
    """Return the gradients of a layer in eval mode, given a gradient of its output, its weights, or both."""
    q, k, v = case
    shapes = (*q.shape[:-1], v.shape[-1]), (*q.shape[:-1], k.shape[-2])
    on_output, on_weights = tensors(pattern(*shapes[0], step=4, modulus=9), pattern(*shapes[1], step=5, modulus=9))
    cotangent = (on_output if output else None, on_weights if weights else None)
    kwargs = {} if mask is None else {"mask": mask}
    return probe(LAYER, *case, init=(q.shape[-1],), cotangent=cotangent, kwargs=kwargs, said=said, **more)


def finite(found):
    """Return for each gradient whether it is finite, or None if it is missing."""
    return [None if grad is None else bool(grad.isfinite().all()) for grad in found["grads"]]


def refused(q, k, v, *names):
    """Return a call with sizes that disagree."""
    return probe(LAYER, torch.ones(q), torch.ones(k), torch.ones(v), init=(q[-1],), names=names)


# Gradients and weights, for softmax_backward
PAIR = np.array([0.5, 0.5]), np.array([1.0, 0.0])
TRIPLE = np.array([0.25, 0.25, 0.5]), np.array([1.0, -2.0, 3.0])
ROWS = np.array([[0.25, 0.75, 0.0], [0.5, 0.125, 0.375]]), np.array([[1.0, 2.0, 7.0], [-1.0, 0.0, 3.0]])
TABLE = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [0.0, 1.0, 0.0]]), pattern(3, 3)
STACK = np.array([[[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.375, 0.625]]]), pattern(2, 2, 2) + 1
BLOCKED = np.array([[0.0, 0.0, 0.0], [0.25, 0.0, 0.75]]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
SURE = np.array([[0, 1, 0], [1, 0, 0]]), np.array([[3, 1, 2], [1, 5, 4]])
MIXED = np.array([[0.25, 0.5, 0.25]]), np.array([[3, 1, -2]])


def back(case, dtype=None):
    """Return a call of softmax_backward on weights and their gradient."""
    weights, grad = (x if dtype is None else x.astype(dtype) for x in case)
    return probe("softmax_backward", grad, weights)


def backward(q, k, v, grad, said="", dtype=None, **more):
    """Return a call of attention_backward."""
    given = [x if dtype is None else x.astype(dtype) for x in (q, k, v, grad)]
    return probe("attention_backward", *given, said=said, **more)


def two_decimals(found):
    """Return output and weights in the digits that are certain in float32 with scores of thousands."""
    return tuple(torch.round(one, decimals=2) + 0.0 for one in found)


def rounded(found):
    """Return gradients rounded to the digits that are certain with scores of thousands."""
    return tuple(np.round(grad, 6) + 0.0 for grad in found)


def sizes(n_q, n_k, d_k, d_v, *lead):
    """Return Q, K, V and grad_output of these sizes."""
    steps = ((n_q, d_k, 5), (n_k, d_k, 4), (n_k, d_v, 3), (n_q, d_v, 2))
    return tuple(pattern(*lead, rows, columns, step=step) for rows, columns, step in steps)


ONE_ENTRY = np.eye(5, 4, k=1) * np.array([[1.0], [0], [0], [0], [0]])
LARGE = (
    np.array([[200.0, 0, 0, 0], [-200, 0, 0, 0]]),
    np.array([[50.0, 0, 1, 0], [50, 1, 0, 0], [-50, 0, 0, 2]]),
    np.array([[0.0, 1], [8, 1], [3, 5]]),
    np.array([[1.0, 0], [0, 1]]),
)
PROBES = [
    # the layer in eval mode
    attend(SMALL),
    attend(WIDE),
    attend(THREE),
    attend(SQUARE),
    attend(SAME),
    attend(CAT, said=EXAMPLE),
    attend(ONE_KEY),
    attend(BATCH, said="q (2, 2, 3), k (2, 4, 3), v (2, 4, 2)"),
    attend(CUBE, said="q, k and v of (3, 3, 3)"),
    attend(HEADS, said="q (2, 2, 2, 4), k (2, 2, 3, 4), v (2, 2, 3, 2)"),
    attend(FOURS, said="q, k and v of (2, 2, 2, 2)"),
    attend(STEEP, said="scores of 5000 and -5000", look=two_decimals),
    attend(APART, said="scores of 5000 next to scores of -5000", look=two_decimals),
    attend(tuple(x.double() for x in WIDE), said="float64"),
    attend(tuple(x.double() / 3 for x in SAME), said="float64"),
    # with masks
    attend(SMALL, HOLES),
    attend(SMALL, HOLES.int()),
    attend(SMALL, HOLES.float()),
    attend(SMALL, ROW),
    attend(SMALL, ROW.bool()),
    attend(SMALL, torch.ones(2, 3, dtype=torch.bool)),
    attend(SMALL, torch.ones(2, 3)),
    attend(SMALL, NOTHING_LEFT),
    attend(SMALL, NOTHING_LEFT.bool()),
    attend(SMALL, NOTHING_LEFT.float()),
    attend(SMALL, torch.zeros(3)),
    attend(SMALL),  # after masks
    attend(SQUARE, torch.tril(torch.ones(3, 3))),
    attend(SQUARE, COLUMN),
    attend(CAT, torch.tril(torch.ones(5, 5, dtype=torch.bool)), said=f"{EXAMPLE} under the causal mask"),
    attend(BATCH, PADDING, said="q (2, 2, 3), k (2, 4, 3), v (2, 4, 2), a mask (2, 1, 4)"),
    attend(CUBE, torch.tril(torch.ones(3, 3)), said="q, k and v of (3, 3, 3), the causal mask"),
    attend(HEADS, HEADS_PADDING, said="q (2, 2, 2, 4), k (2, 2, 3, 4), a mask (2, 1, 1, 3)"),
    attend(LOW, torch.tensor([1, 1, 0]), said="scores of -5000, and a blocked one of 5000", look=two_decimals),
    attend(tuple(x.double() for x in WIDE), HOLES.float(), said="float64, and a mask of float32"),
    attend(tuple(x.half() for x in SMALL), NOTHING_LEFT, said="float16"),
    # sizes that disagree
    refused((2, 3), (4, 6), (4, 5), 3.0, 6.0),
    refused((2, 1), (4, 7), (4, 5), 1.0, 7.0),
    refused((2, 3), (4, 3), (6, 5), 4.0, 6.0),
    refused((2, 3), (9, 3), (1, 5), 9.0, 1.0),
    refused((2, 2, 3), (2, 4, 8), (2, 4, 5), 3.0, 8.0),
    # gradients
    push(SMALL),
    push(SMALL, output=False, weights=True),
    push(WIDE, weights=True),
    push(SQUARE, output=False, weights=True),
    push(BATCH, said="q (2, 2, 3), k (2, 4, 3), v (2, 4, 2)"),
    push(SMALL, mask=HOLES),
    push(SMALL, output=False, weights=True, mask=HOLES.float()),
    push(SMALL, weights=True, mask=NOTHING_LEFT, look=finite, said="q, k and v under a mask with a row of zeros"),
    push(SMALL, weights=True, mask=NOTHING_LEFT.bool()),
    # with dropout
    in_training(0.5),
    in_training(0.25),
    in_training(0.25, MANY_SEEN),
    in_training(0.75),
    in_training(0.25, training=False),
    in_training(0.5, MANY_SEEN.bool(), training=False),
    in_training(0.0),
    by_unit_values(0.25),
    probe(
        LAYER,
        *MANY,
        init=(4,),
        training=True,
        said="a layer without dropout, in training",
        look=lambda value: told_of(value, weigh(*MANY)[1], MANY[2], 0.0),
    ),
    pushed_in_training(0.5),
    pushed_in_training(0.25),
    pushed_in_training(0.25, on_weights=True),
    attend(NINE),  # the layer that is made last
    # backwards by hand
    back(PAIR),
    back(TRIPLE),
    back(ROWS),
    back(TABLE),
    back(STACK),
    back(BLOCKED),
    back(SURE),
    back(MIXED),
    back(ROWS, np.float32),
    backward(CAT_Q, CAT_K, CAT_V, ONE_ENTRY, EXAMPLE),
    backward(*sizes(1, 2, 1, 1)),
    backward(*sizes(2, 3, 4, 1)),
    backward(*sizes(3, 3, 3, 3)),
    backward(*sizes(3, 3, 2, 4)),
    backward(*sizes(3, 3, 4, 3)),
    backward(*sizes(4, 2, 3, 3)),
    backward(*sizes(2, 3, 4, 2, 2), said="Q (2, 2, 4), K (2, 3, 4), V (2, 3, 2)"),
    backward(*sizes(2, 2, 2, 2, 2), said="Q, K and V of (2, 2, 2)"),
    backward(*sizes(1, 2, 2, 1, 2, 2), said="Q (2, 2, 1, 2), K (2, 2, 2, 2), V (2, 2, 2, 1)"),
    backward(*LARGE, said="scores of 5000 and -5000", look=rounded),
    backward(*sizes(2, 3, 4, 2), dtype=np.float32),
    backward(*(2 * x for x in sizes(2, 3, 2, 2)), dtype=np.int64),
]
