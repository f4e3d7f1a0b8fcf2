"""Probes of 11_efficient_attention: the calls that tell its misconceptions apart."""

import numpy as np

from grader.diagnosis.probe import probe, step
from grader.sandbox.protocol.stand_ins import result_of

# The shared example, "The cat sat on mat".
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SENTENCE = "the shared example"

# Small arrays. In the second group, queries, keys and values have different lengths.
QS, KS, VS = (np.array(x) for x in ([[1.0], [2.0], [-1.0]], [[0.5], [1.0], [2.0]], [[1.0], [2.0], [4.0]]))
QM = np.array([[1.0, -2.0], [0.5, 1.5], [-1.0, 0.0], [2.0, 1.0]])
KM = np.array([[0.0, 1.0], [-1.5, 0.5], [1.0, 1.0], [2.0, -0.5]])
VM = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [-2.0, 1.0, 2.0]])
BATCH = [np.stack([x, 1.5 - x[::-1]]) for x in (QM, KM, VM)]  # (2, 4, ...)
INTEGERS = [np.array(x) for x in ([[1, 0], [2, -1], [0, 3]], [[1, 1], [0, 2], [-1, 0]], [[1, 3], [4, 0], [2, 5]])]
SINGLES = [x.astype(np.float32) for x in (QM, KM, VM)]
LOW = [np.full((3, 1), -1e12), np.array([[1.0], [2.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])]
HIGH = [np.array([[1000.0], [1000.0], [-2000.0]]), np.array([[1.0], [1.001], [1.0]]), np.array([[1.0], [2.0], [4.0]])]
SMALL = [QM - 8, KM - 8, VM]


def masked(*args, **more):
    """Return a probe of sliding_window_mask, whose mask may have any dtype."""
    return probe("sliding_window_mask", *args, any_dtype=True, **more)


def windowed(*args, **more):
    return probe("sliding_window_attention", *args, **more)


def linear(*args, **more):
    return probe("linear_attention", *args, **more)


def output(pair):
    """Return the output of a step: the state may have any form."""
    return pair[1] if type(pair) in (tuple, list) and len(pair) == 2 else "not a pair"


def accepted(_value):
    """Return the same text for any result of arguments that should raise an error."""
    return "not refused"


def stepped(*tokens, branch=None, said="", **more):
    """Return a probe of the last of several steps; `branch` is the number of the step that it continues."""
    name = "linear_attention_step"
    before = [step(name, None if i == 0 else result_of(i - 1, part=0), *token) for i, token in enumerate(tokens[:-1])]
    last = len(before) - 1 if branch is None else branch
    state = result_of(last, part=0) if before and last >= 0 else None
    return probe(name, state, *tokens[-1], before=before, look=output, said=said, **more)


def tokens_of(arrays):
    return [tuple(x[..., i, :].copy() for x in arrays) for i in range(arrays[0].shape[-2])]


SMALL_TOKENS, TOKENS, TWO = tokens_of([QS, KS, VS]), tokens_of([QM, KM, VM]), tokens_of(BATCH)
WORDS = tokens_of([Q, K, V])

PROBES = [
    masked(3, 1),
    masked(3, 2),
    masked(1, 1),
    masked(4, 3),
    masked(5, 2),
    masked(6, 3),
    masked(3, 7),
    masked(3, 1, kwargs={"causal": False}),
    masked(4, 2, kwargs={"causal": False}),
    masked(6, 3, kwargs={"causal": False}),
    masked(7, 4, False),
    masked(3, 9, False),
    masked(3, 0, names=(0.0,)),
    masked(4, -1, names=(-1.0,)),
    masked(2, -6, False, names=(-6.0,)),
    windowed(QS, KS, VS, 1),
    windowed(QS, KS, VS, 2),
    windowed(QS, KS, VS, 3),
    windowed(QS, KS, VS, 8),
    windowed(QM, KM, VM, 1),
    windowed(QM, KM, VM, 2),
    windowed(QM, KM, VM, 3),
    windowed(QM, KM, np.ones((4, 2)), 2),
    windowed(QM, KM, VM[:, :2], 3),
    windowed(QM, KM, VM[:, :2], 4),
    windowed(Q, K, V, 2, said=SENTENCE),
    windowed(Q, K, V, 3, said=SENTENCE),
    windowed(*BATCH, 2, said="a batch of two sequences of four tokens"),
    windowed(*INTEGERS, 2),
    windowed(*SINGLES, 2),
    windowed(*LOW, 2),
    windowed(*HIGH, 2),
    windowed(QM[:1], KM[:1], VM[:1], 3),
    windowed(QS, KS, VS, 0, names=(0.0,), look=accepted),
    windowed(QM, KM, VM, -3, names=(-3.0,), look=accepted),
    windowed(QM, VM, VM, 2, names=(2.0, 3.0), look=accepted),
    windowed(QS, np.ones((3, 4)), VS, 2, names=(1.0, 4.0), look=accepted),
    windowed(QS, KS, np.ones((5, 1)), 2, names=(3.0, 5.0), look=accepted),
    windowed(QM, KM, np.ones((2, 1)), 2, names=(4.0, 2.0), look=accepted),
    probe("feature_map", np.array([-2.0, -1.0, 0.0, 1.0, 2.0])),
    probe("feature_map", np.array([0.5])),
    probe("feature_map", np.array([-0.5, -3.0])),
    probe("feature_map", np.array([0.0])),
    probe("feature_map", np.array([5000.0, -5000.0])),
    probe("feature_map", np.array([[1.0, -1.0], [0.25, 3.0]])),
    probe("feature_map", np.array([-2, 0, 3])),
    probe("feature_map", np.array([[-1.5, 2.5]], dtype=np.float32)),
    linear(QS, KS, VS),
    linear(QM, KM, VM),
    linear(QM[:2], KM, VM),
    linear(QM, KM[:3], VM[:3]),
    linear(QM, KM[:1], VM[:1]),
    linear(QM, KM, VM[:, :2]),
    linear(QM, KM, np.ones((4, 1))),
    linear(Q, K, V, said=SENTENCE),
    linear(*BATCH, said="a batch of two sequences of four tokens"),
    linear(*INTEGERS),
    linear(*SINGLES),
    linear(*SMALL),
    linear(QS, KS, VS, kwargs={"causal": True}),
    linear(QM, KM, VM, kwargs={"causal": True}),
    linear(QM, KM, VM[:, :2], kwargs={"causal": True}),
    linear(QM, KM, np.ones((4, 1)), kwargs={"causal": True}),
    linear(QM[:1], KM[:1], VM[:1], kwargs={"causal": True}),
    linear(QM[:2], KM[:2], VM[:2], kwargs={"causal": True}),
    linear(Q, K, V, kwargs={"causal": True}, said=SENTENCE),
    linear(*BATCH, kwargs={"causal": True}, said="a batch of two sequences of four tokens"),
    linear(*INTEGERS, kwargs={"causal": True}),
    linear(*SINGLES, kwargs={"causal": True}),
    linear(*SMALL, kwargs={"causal": True}),
    linear(QM, VM, VM, names=(2.0, 3.0), look=accepted),
    linear(QS, np.ones((3, 4)), VS, names=(1.0, 4.0), look=accepted),
    linear(QM, np.ones((4, 1)), VM, kwargs={"causal": True}, names=(2.0, 1.0), look=accepted),
    linear(QS, KS, np.ones((5, 1)), names=(3.0, 5.0), look=accepted),
    linear(QM, KM, np.ones((2, 1)), kwargs={"causal": True}, names=(4.0, 2.0), look=accepted),
    stepped(SMALL_TOKENS[0]),
    stepped(TOKENS[1]),
    stepped(TOKENS[3]),
    stepped(*SMALL_TOKENS[:2], said="the second of two tokens"),
    stepped(*SMALL_TOKENS, said="the third of three tokens"),
    stepped(*TOKENS[:2], said="the second of two tokens"),
    stepped(*TOKENS[:3], said="the third of three tokens"),
    stepped(*TOKENS, said="the last of four tokens"),
    stepped(*TOKENS[:3], branch=0, said="another second token, after the same first one"),
    stepped(*TOKENS[:3], branch=-1, said="the first token of another sequence"),
    stepped(*[(q[:1], k[:1], np.ones(2)) for q, k, _ in TOKENS[:2]], said="the second of two tokens, with values of 1"),
    stepped(*WORDS[:2], said="the shared example, token cat"),
    stepped(*WORDS[:3], said="the shared example, token sat"),
    stepped(TWO[0], said="the first tokens of two sequences"),
    stepped(*TWO[:2], said="the second tokens of two sequences"),
    stepped(*tokens_of(INTEGERS)[:2], said="the second of two tokens of integers"),
    stepped(tokens_of(SINGLES)[0]),
    stepped(*tokens_of(SINGLES)[:2], said="the second of two tokens in float32"),
    stepped(*tokens_of(SMALL)[:2], said="the second of two tokens with entries near -8"),
    probe("linear_attention_step", None, QM[0], VM[0], VM[0], names=(2.0, 3.0), look=accepted),
    probe("linear_attention_step", None, QS[0], np.ones(4), VS[0], names=(1.0, 4.0), look=accepted),
]
