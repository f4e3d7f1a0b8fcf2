"""Probes of 06_multi_head_attention: calls that tell its misconceptions apart."""

import numpy as np
import torch

from grader.diagnosis.probe import probe

FORWARD = "MultiHeadAttention.forward"
EXAMPLE = "the token The of the shared example, with projections that are the identity"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
RNG = np.random.default_rng(606)


def floats(*rows):
    """Return rows of numbers as a float32 tensor."""
    return torch.tensor(rows, dtype=torch.float32)


def counted(*shape):
    """Return the numbers 0, 1, 2, ... in this shape."""
    return torch.arange(float(np.prod(shape))).reshape(shape)


def eighths(*shape, size=12):
    """Return numbers between -size/8 and size/8 that float32 holds exactly, the same in every run."""
    return torch.from_numpy(RNG.integers(-size, size + 1, size=shape)).float() / 8


def plain(embed_dim):
    """Return parameters for projections that are the identity."""
    weights = {f"{name}.weight": torch.eye(embed_dim) for name in PROJECTIONS}
    return weights | {f"{name}.bias": torch.zeros(embed_dim) for name in PROJECTIONS}


def mixed(embed_dim):
    """Return parameters that are all different."""
    weights = {f"{name}.weight": eighths(embed_dim, embed_dim, size=8) for name in PROJECTIONS}
    return weights | {f"{name}.bias": eighths(embed_dim, size=8) for name in PROJECTIONS}


# The shared example, "The cat sat on mat", as a batch of one
SENTENCE_Q = floats([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
SENTENCE_K = floats([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
SENTENCE_V = floats([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])

PLAIN_TWO, PLAIN_FOUR, PLAIN_EIGHT, PLAIN_ONE = plain(2), plain(4), plain(8), plain(1)
TWO, FOUR, SIX = mixed(2), mixed(4), mixed(6)
BIASED = plain(2) | {"out_proj.bias": floats(1, -2)}

PAIR, TRIO = eighths(1, 2, 2), eighths(1, 3, 2)
PAIR_V = eighths(1, 2, 2)
TRIO_V = eighths(1, 3, 2)
QUERY, KEY, VALUE = eighths(1, 2, 4), eighths(1, 3, 4), eighths(1, 3, 4)
EVEN_K, EVEN_V = eighths(1, 2, 4), eighths(1, 2, 4)
BATCH, BATCH_K = eighths(2, 2, 2), eighths(2, 3, 2)
THREE = eighths(3, 2, 2)
WIDE_Q, WIDE_K = eighths(1, 1, 8, size=16), eighths(1, 2, 8, size=16)
SIX_Q, SIX_K = eighths(1, 2, 6), eighths(1, 2, 6)
FOUR_KEYS = eighths(1, 4, 8, size=16)  # as many as a head is wide: a scale of the number of keys is right here

GAP = torch.tensor([[1, 0, 1], [0, 1, 1]])
NO_SECOND = torch.tensor([[1, 1, 0], [0, 0, 0]])
CAUSAL = torch.tensor([[1, 0], [1, 1]])
BY_SENTENCE = torch.tensor([[[1, 0, 1], [1, 1, 0]], [[0, 1, 1], [0, 0, 1]]])
SQUARE_MASKS = torch.tensor([[[1, 0], [1, 1]], [[0, 1], [1, 0]]])
BY_HEAD = torch.tensor([[[[1, 0, 1], [1, 1, 0]], [[0, 1, 1], [0, 0, 1]]]])
BY_KEY = torch.tensor([[[[1, 1, 0]]], [[[0, 1, 1]]]])
ONE_HEAD_BLOCKED = torch.tensor([[[[1, 1, 1], [1, 1, 0]], [[0, 0, 0], [0, 0, 0]]]])

PAIR_COT, QUERY_COT = floats([[1, 2], [-1, 3]]), floats([[1, 2, 0, -1], [-1, 3, 1, 0]])
SHARES_COT = floats([[[1, 0, 2], [0, -1, 1]], [[2, 1, 0], [-1, 0, 3]]])


def forward(*args, state, heads=2, **kwargs):
    """Return a probe of the forward method of a layer with these parameters."""
    return probe(FORWARD, *args, init=(len(state["q_proj.bias"]), heads), state=state, **kwargs)


def layers_of(result):
    """Describe the parameters of a layer of width 2: how many there are of each shape, their names, their gradients."""
    known = {f"{name}.{part}": shape for name in PROJECTIONS for part, shape in (("weight", (2, 2)), ("bias", (2,)))}
    found = result["parameters"]
    if any(grad is not None and 6 in grad.shape for grad in found.values()):
        return {"weights": "three in one"}
    shapes = [known.get(name) if grad is None else tuple(grad.shape) for name, grad in found.items()]
    missing, others = known.keys() - found.keys(), found.keys() - known.keys()
    return {
        "weights": f"{shapes.count((2, 2))} of 4",
        "biases": f"{shapes.count((2,))} of 4",
        "names": "others" if missing and others else f"without {', '.join(sorted(missing))}" if missing else "all",
        "further parameters": len(shapes) - shapes.count((2, 2)) - shapes.count((2,)),
        "learning": ", ".join(sorted(name for name in known if found.get(name) is not None)) if not others else "",
    }


def kinds(result):
    """Return the types in a result."""
    return ", ".join(type(part).__name__ for part in result) if type(result) is tuple else "no tuple"


def evenness(result):
    """Describe weights that should all be equal."""
    if type(result) is not tuple or len(result) != 2:
        return "no pair"
    weights = result[1]
    if type(weights) is not torch.Tensor:
        return f"{type(weights).__name__} in place of weights"
    share = 1 / weights.shape[-1]
    return {
        "dropped": "some" if bool((weights == 0).any()) else "none",
        "others": "even" if bool(((weights - share).abs() < 1e-5)[weights != 0].all()) else "larger",
    }


def arrived(result):
    """Return for each gradient whether it is missing, finite or NaN."""
    named = dict(zip(("query", "key", "value"), result["grads"], strict=False)) | result["parameters"]
    return {
        name: "no gradient" if grad is None else "a gradient" if bool(grad.isfinite().all()) else "NaN"
        for name, grad in named.items()
    }


def reached(result):
    """Return whether gradients from the weights alone reach queries and keys."""
    return {"gradients of the weights": ["cut" if grad is None else "there" for grad in result["grads"][:2]]}


PROBES = [
    probe("split_heads", counted(1, 2, 4), 2),
    probe("split_heads", counted(1, 2, 6), 3),
    probe("split_heads", counted(2, 2, 4), 2),
    probe("split_heads", counted(1, 4, 6), 2),
    probe("split_heads", counted(2, 3, 4), 4),
    probe("split_heads", counted(2, 2, 3), 1),
    probe("split_heads", counted(1, 3, 2).double(), 2),
    probe("split_heads", eighths(1, 2, 4), 2, cotangent=counted(1, 2, 2, 2)),
    probe("split_heads", torch.ones(1, 2, 6), 4, names=(6, 4)),
    probe("split_heads", torch.ones(1, 2, 3), 5, names=(3, 5)),
    probe("merge_heads", counted(1, 2, 2, 2)),
    probe("merge_heads", counted(1, 3, 2, 2)),
    probe("merge_heads", counted(2, 2, 3, 2)),
    probe("merge_heads", counted(2, 4, 2, 1)),
    probe("merge_heads", counted(2, 1, 2, 3)),
    probe("merge_heads", counted(1, 2, 3, 1).double()),
    probe("merge_heads", eighths(1, 2, 2, 2), cotangent=counted(1, 2, 4)),
    # Parameters and errors
    probe(FORWARD, PAIR, init=(2, 1), cotangent=(PAIR_COT, None), look=layers_of, said="its parameters"),
    # tokens of a third width: only the constructor can raise an error that names these two numbers
    probe(FORWARD, torch.ones(1, 2, 7), init=(6, 4), names=(6, 4)),
    probe(FORWARD, torch.ones(1, 2, 7), init=(3, 5), names=(3, 5)),
    forward(torch.ones(1, 2, 4), torch.ones(1, 3, 4), torch.ones(1, 5, 4), state=PLAIN_FOUR, names=(3, 5)),
    forward(torch.ones(1, 2, 4), torch.ones(1, 4, 4), torch.ones(1, 1, 4), state=PLAIN_FOUR, names=(4, 1)),
    # Self and cross
    forward(PAIR, state=PLAIN_TWO),
    forward(PAIR, state=TWO, heads=1),
    forward(QUERY, state=FOUR),
    forward(QUERY, KEY, state=FOUR),
    forward(QUERY, KEY, VALUE, state=FOUR),
    forward(QUERY, EVEN_K, state=FOUR),
    forward(QUERY, EVEN_K, EVEN_V, state=FOUR),
    forward(QUERY[:, :1], KEY, VALUE, state=FOUR, heads=4),
    forward(WIDE_Q, WIDE_K, state=PLAIN_EIGHT),
    forward(WIDE_Q, WIDE_K, state=PLAIN_EIGHT, heads=4),
    forward(WIDE_Q, FOUR_KEYS, state=PLAIN_EIGHT),
    forward(SIX_Q, SIX_K, state=SIX, heads=3),
    forward(BATCH, state=TWO),
    forward(SENTENCE_Q[:, :1], SENTENCE_K, SENTENCE_V, state=PLAIN_FOUR, said=EXAMPLE),
    # Masks
    forward(PAIR, TRIO, TRIO_V, GAP, state=PLAIN_TWO),
    forward(PAIR, TRIO, TRIO_V, state=PLAIN_TWO),
    forward(QUERY, KEY, VALUE, GAP.bool(), state=FOUR),
    forward(QUERY, KEY, VALUE, GAP.float(), state=FOUR),
    forward(PAIR, state=TWO, kwargs={"mask": CAUSAL}),
    forward(BATCH, state=TWO, kwargs={"mask": CAUSAL}),
    forward(BATCH, BATCH_K, state=TWO, kwargs={"mask": BY_SENTENCE}),
    forward(BATCH, BATCH_K, state=TWO, kwargs={"mask": BY_SENTENCE.float()}),
    forward(BATCH, state=TWO, kwargs={"mask": SQUARE_MASKS}),
    forward(BATCH, state=TWO, heads=1, kwargs={"mask": SQUARE_MASKS}),
    forward(THREE, state=TWO, kwargs={"mask": torch.cat([SQUARE_MASKS, SQUARE_MASKS[:1]])}),
    forward(PAIR, TRIO, state=TWO, kwargs={"mask": GAP[None]}),
    forward(PAIR, TRIO, TRIO_V, BY_HEAD, state=TWO),
    forward(BATCH, BATCH_K, state=TWO, kwargs={"mask": BY_KEY}),
    forward(PAIR, TRIO, TRIO_V, NO_SECOND, state=BIASED),
    forward(BATCH, BATCH_K, BATCH_K, torch.stack([NO_SECOND, GAP]), state=TWO),
    forward(PAIR, TRIO, TRIO_V, ONE_HEAD_BLOCKED, state=TWO),
    forward(PAIR, TRIO, TRIO_V, torch.zeros(2, 3, dtype=torch.bool), state=BIASED),
    # Large scores
    forward(floats([[1]]), floats([[300], [299]]), floats([[1], [0]]), state=PLAIN_ONE, heads=1),
    forward(
        floats([[1]]), floats([[1], [0], [900]]), floats([[1], [0], [5]]), floats([1, 1, 0]), state=PLAIN_ONE, heads=1
    ),
    forward(
        floats([[1]]),
        floats([[-2e10], [-4e10], [0]]),
        floats([[1], [0], [5]]),
        floats([1, 1, 0]),
        state=PLAIN_ONE,
        heads=1,
    ),
    # Gradients
    forward(PAIR, TRIO, TRIO_V, state=TWO, cotangent=(PAIR_COT, None), look=arrived),
    forward(PAIR, state=TWO, cotangent=(PAIR_COT, None)),
    forward(PAIR, TRIO, state=TWO, cotangent=(None, SHARES_COT), look=reached),
    forward(PAIR, TRIO, TRIO_V, state=TWO, cotangent=(PAIR_COT, None), look=arrived, kwargs={"mask": NO_SECOND}),
    forward(PAIR, TRIO, TRIO_V, state=TWO, cotangent=(PAIR_COT, None), look=arrived, kwargs={"mask": GAP}),
    # Modes
    forward(QUERY, KEY, VALUE, state=FOUR, training=True, look=kinds),
    forward(torch.zeros(1, 2, 2), torch.zeros(1, 40, 2), state=PLAIN_TWO, training=True, look=evenness, said="40 keys"),
    forward(torch.zeros(1, 2, 2), torch.zeros(1, 40, 2), state=PLAIN_TWO, look=evenness, said="40 keys"),
]
