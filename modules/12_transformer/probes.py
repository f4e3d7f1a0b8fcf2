"""Probes of 12_transformer: calls that tell its misconceptions apart.

Where chance decides, a probe looks only at what chance cannot change: which tokens come at all, or about how often.
"""

import numpy as np
import torch

from grader.diagnosis.probe import probe
from grader.sandbox.protocol.stand_ins import object_of
from grader.testing import generator

RNG = np.random.default_rng(1212)
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
WITHOUT_NORM = {"norm": ("Dropout", 1.0)}  # in train mode, such a model has logits of 0


def eighths(*shape, size=12):
    """Return numbers between -size/8 and size/8 that float32 holds exactly, the same in every run."""
    return torch.from_numpy(RNG.integers(-size, size + 1, size=shape)).float() / 8


def block_state(width, hidden):
    """Return parameters of a block that are all different."""
    state = {f"norm{number}.weight": 1 + eighths(width, size=4) for number in (1, 2)}
    for name in PROJECTIONS:
        state[f"attention.{name}.weight"], state[f"attention.{name}.bias"] = (
            eighths(width, width, size=8),
            eighths(width),
        )
    for name in ("gate", "up"):
        state[f"feed_forward.{name}.weight"] = eighths(hidden, width)
    return state | {"feed_forward.down.weight": eighths(width, hidden)}


def model_state(vocab, context, width, layers, hidden):
    """Return parameters of a model that are all different."""
    state = {
        "token_embedding.weight": eighths(vocab, width, size=24),
        "position_embedding.weight": eighths(context, width, size=24),
    }
    for layer in range(layers):
        state |= {f"blocks.{layer}.{name}": one for name, one in block_state(width, hidden).items()}
    return state | {"norm.weight": 1 + eighths(width, size=4), "head.weight": eighths(vocab, width, size=16)}


NORM, NETWORK, BLOCK, MODEL = "RMSNorm.forward", "FeedForward.forward", "TransformerBlock.forward", "GPT.forward"
TOKENS = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1]])  # The and cat
SQUARE = eighths(3, 3)
WEIGHT_TWO, WEIGHT_THREE = {"weight": torch.tensor([2.0, -0.5])}, {"weight": torch.tensor([1.0, 3.0, -2.0])}
NETWORK_STATE = {"gate.weight": eighths(3, 2), "up.weight": eighths(3, 2), "down.weight": eighths(2, 3)}
TWO_TOKENS = torch.tensor([[[2.0, 1.0], [-1.0, 0.5]]])
BLOCK_STATE = block_state(4, 3)
X, X2 = eighths(1, 3, 4, size=24), eighths(2, 2, 4, size=24)
CAUSAL = torch.ones(3, 3).tril()
SIZES = (5, 4, 4, 2, 2, 6)
STATE = model_state(5, 4, 4, 2, 6)
FULL, SHORT, PAIR = torch.tensor([[0, 3, 1, 4]]), torch.tensor([[2, 2]]), torch.tensor([[0, 1, 2], [4, 4, 3]])
CALM = {
    name: one if "norm" in name or "embedding" in name else one / 4 for name, one in STATE.items()
}  # little rounding
SURE = STATE | {"head.weight": 20 * STATE["head.weight"]}  # the most likely token is almost certain
PIECE = torch.tensor([0, 3, 1, 4, 2])  # with a context of 4, it has only one piece
COURSES = ([4.2262, 3.177, 2.845, 2.393, 1.745], [4.2262, 4.173, 4.119])  # of Adam, on PIECE with lr = 0.05 and 0.001
PATTERN = torch.tensor([0, 1, 2, 3, 4, 4, 3, 2, 1, 0])
LOGITS = torch.tensor([[[0.0, 2.0, 1.0], [1.0, -1.0, 0.5]], [[2.0, 0.0, 0.0], [-0.5, 1.5, 3.0]]])
AFTER_THE = torch.tensor([[[0.0, 2.0, 1.0, 1.0, 1.5]]])
CHANCES = torch.tensor([0.1, 0.5, 0.3, 0.07, 0.03]).log()


def many(*logits, count=400):
    """Return the same logits in many rows."""
    return torch.tensor(logits, dtype=torch.float32).expand(count, -1).clone()


def names_of(result):
    """Return the names of the parameters, and of those that no gradient reaches."""
    found = result["parameters"]
    return {
        "parameters": ", ".join(sorted(found)) or "none",
        "not learning": ", ".join(sorted(name for name, grad in found.items() if grad is None)) or "none",
    }


def size_of(result):
    """Describe the size of the first logits."""
    return "very large" if float(result.detach().abs().max()) > 8 else "small"


def pieces_of(result):
    """Describe a batch of the numbers 0, 1, 2 …: its rows, and where they begin."""
    inputs, targets = result
    steps, ahead = inputs - inputs[:, :1], targets - inputs
    starts, counts = inputs[:, 0].unique(return_counts=True)
    torch.manual_seed(0)
    unseeded = torch.randint(6, (len(inputs),))
    return {
        "rows": "pieces" if bool((steps == torch.arange(inputs.shape[1])).all()) else "not pieces",
        "targets ahead by": sorted(set(ahead.flatten().tolist())),
        "starts": starts.tolist(),
        "order": "as in the data" if torch.equal(inputs[:, 0], torch.arange(len(inputs)) % 6) else "mixed",
        "each start": "equally often" if len(counts) > 1 and bool((counts == counts[0]).all()) else "by chance",
        "drawn": "without the generator" if torch.equal(inputs[:, 0], unseeded) else "with it, or not at all",
    }


def often(result):
    """Say about how often each token was drawn."""
    shares = torch.bincount(result.flatten(), minlength=5).float() / result.numel()
    words = ("never", "rarely", "about half", "mostly", "always")
    places = [0 if s == 0 else 4 if s == 1 else 1 if s < 0.25 else 2 if s < 0.75 else 3 for s in shares.tolist()]
    return {"shape": list(result.shape), "tokens": [words[place] for place in places]}


def kinds_of(result):
    """Return how many different tokens were drawn, and their type."""
    return {"different tokens": len(result.unique()), "dtype": str(result.dtype)}


def source_of(result):
    """Say whether the draws are those of a generator that was not passed on."""
    torch.manual_seed(0)
    unseeded = torch.multinomial(torch.full((len(result), 50), 0.02), 1).flatten()
    return "without the generator" if torch.equal(result.flatten(), unseeded) else "with it, or not at all"


def text_source_of(result):
    """Say the same of the last column of a text."""
    return source_of(result[:, -1])


def constancy_of(losses):
    """Say whether all losses are the same."""
    return "all the same" if max(losses) - min(losses) < 1e-6 else "different"


def course_of(losses):
    """Return how losses fall. Adam and AdamW, with any betas and a usual decay, give the same.

    Of other losses only the first three count: later ones of a wrong model can depend on the machine's rounding.
    """
    for course in COURSES:
        if len(course) == len(losses) and all(
            abs(yours - one) <= 1e-4 + 0.15 * (course[0] - one) for yours, one in zip(losses, course, strict=True)
        ):
            return f"{len(course)} losses, from {course[0]:.2f} to about {course[-1]:.1f}"
    return f"{len(losses)} losses: " + ", ".join(f"{one:.1f}" for one in losses[:3])


def types_of(losses):
    """Return the types in a list of losses."""
    return sorted({type(one).__name__ for one in losses})


def last_often(result):
    """Say about how often each token is the last one of a text."""
    return often(result[:, -1])


def mixing_of(answer):
    """Return the result on a GPU, and the calls with tensors of two devices. What is made on the CPU may be moved."""
    return answer["value"], [call for kind, call in answer["findings"] if kind == "mixed_devices"]


def model(state=STATE, **more):
    """Return an argument that is the student's model with these parameters."""
    return object_of("GPT", *SIZES, state=state, **more)


def forward(path, *args, init, state, **more):
    return probe(path, *args, init=init, state=state, **more)


PROBES = [
    # RMSNorm
    probe(
        NORM, torch.tensor([[1.0, 2.0, 2.0]]), init=(3,), cotangent=torch.ones(1, 3), look=names_of, said="parameters"
    ),
    probe(NORM, TOKENS, init=(4,)),
    forward(NORM, torch.tensor([[3.0, 4.0], [1.0, -7.0]]), init=(2, 0.0), state=WEIGHT_TWO),
    forward(NORM, torch.tensor([[1.0, -1.0], [2.0, 0.0]]), init=(2, 3.0), state=WEIGHT_TWO),
    forward(NORM, torch.tensor([[0.0, 0.0], [0.0, 0.0]]), init=(2,), state=WEIGHT_TWO),
    forward(NORM, SQUARE, init=(3, 0.5), state=WEIGHT_THREE),
    forward(NORM, SQUARE[None], init=(3,), state=WEIGHT_THREE),
    forward(
        NORM, SQUARE, init=(3, 0.5), state=WEIGHT_THREE, cotangent=torch.tensor([[1.0, 2, 0], [0, 1, -1], [3, 1, 1]])
    ),
    # FeedForward
    probe(NETWORK, TWO_TOKENS, init=(2, 3), cotangent=torch.ones(1, 2, 2), look=names_of, said="parameters"),
    forward(
        NETWORK,
        torch.tensor([[[2.0]]]),
        init=(1, 1),
        state={f"{n}.weight": torch.ones(1, 1) for n in ("gate", "up", "down")},
    ),
    forward(NETWORK, TWO_TOKENS, init=(2, 3), state=NETWORK_STATE),
    forward(NETWORK, TWO_TOKENS, init=(2, 3), state=NETWORK_STATE, cotangent=torch.tensor([[[1.0, -1], [2, 0.5]]])),
    # TransformerBlock
    probe(BLOCK, X, init=(4, 2, 3), cotangent=torch.ones(1, 3, 4), look=names_of, said="parameters"),
    forward(BLOCK, X, init=(4, 2, 3), state=BLOCK_STATE),
    forward(BLOCK, X, CAUSAL, init=(4, 2, 3), state=BLOCK_STATE),
    forward(BLOCK, X2, init=(4, 2, 3), state=BLOCK_STATE, kwargs={"mask": torch.eye(2).bool()}),
    forward(BLOCK, X, init=(4, 2, 3), state=BLOCK_STATE, cotangent=eighths(1, 3, 4)),
    # GPT
    probe(MODEL, FULL, init=SIZES, cotangent=torch.ones(1, 4, 5) + FULL[..., None], look=names_of, said="parameters"),
    forward(MODEL, SHORT, init=SIZES, state=STATE),
    forward(MODEL, PAIR, init=SIZES, state=STATE),
    forward(MODEL, FULL, init=SIZES, state=STATE),
    forward(MODEL, torch.zeros(1, 5, dtype=torch.int64), init=SIZES, state=STATE, names=(5, 4)),
    forward(MODEL, torch.zeros(2, 9, dtype=torch.int64), init=SIZES, state=STATE, names=(9, 4)),
    forward(MODEL, PAIR, init=SIZES, state=CALM, cotangent=eighths(2, 3, 5)),
    probe(MODEL, PAIR, init=(40, 8, 16, 1, 2, 16), look=size_of, said="a new model"),
    forward(MODEL, PAIR, init=SIZES, state=STATE, on_device=True, look=mixing_of),
    # cross_entropy
    probe("cross_entropy", torch.zeros(1, 1, 4), torch.tensor([[2]])),
    *(probe("cross_entropy", AFTER_THE, torch.tensor([[word]])) for word in (0, 1)),
    probe("cross_entropy", LOGITS, torch.tensor([[1, 0], [0, 1]])),
    probe("cross_entropy", LOGITS[:, :, :2], torch.tensor([[1, 1], [0, 1]])),
    probe("cross_entropy", torch.tensor([[[1000.0, 1000.0]]], dtype=torch.float64), torch.tensor([[0]])),
    probe("cross_entropy", torch.tensor([[[10000.0, 0.0]]]), torch.tensor([[1]])),
    probe("cross_entropy", LOGITS, torch.tensor([[1, 0], [0, 1]]), cotangent=torch.tensor(1.0)),
    # get_batch
    probe("get_batch", torch.tensor([3, 1, 2, 0]), 2, 3, generator(0)),
    probe("get_batch", torch.tensor([4, 1]), 1, 1, generator(0)),
    probe("get_batch", torch.arange(9), 60, 3, generator(1), look=pieces_of),
    probe("get_batch", torch.arange(8), 300, 2, generator(2), look=pieces_of),
    # sample_next
    probe("sample_next", torch.tensor([[0.0, 60.0, 0.0], [60.0, 0.0, 0.0]]), kwargs={"generator": generator(1)}),
    probe("sample_next", many(0.0, 2.5), kwargs={"generator": generator(2)}, look=often),
    probe("sample_next", many(0.0, 3.0), kwargs={"temperature": 50.0, "generator": generator(3)}, look=often),
    probe("sample_next", many(0.0, 3.0), kwargs={"temperature": 0.05, "generator": generator(4)}, look=often),
    probe("sample_next", torch.zeros(400, 6), kwargs={"top_k": 2, "generator": generator(5)}, look=kinds_of),
    probe("sample_next", torch.zeros(400, 4), kwargs={"top_k": 9, "generator": generator(6)}, look=kinds_of),
    probe("sample_next", many(2.0, 5.0, 4.9, 1.0), kwargs={"top_k": 2, "generator": generator(7)}, look=often),
    probe(
        "sample_next", torch.tensor([[1.0, 3.0, 2.0], [3.0, 1.0, 2.0]]), kwargs={"top_k": 1, "generator": generator(8)}
    ),
    *(
        probe("sample_next", CHANCES.expand(400, 5).clone(), kwargs={"top_p": p, "generator": generator(9)}, look=often)
        for p in (0.2, 0.6, 0.85)
    ),
    probe(
        "sample_next",
        CHANCES.expand(400, 5).clone(),
        kwargs={"top_k": 2, "top_p": 0.6, "generator": generator(10)},
        look=often,
    ),
    probe("sample_next", torch.zeros(60, 50), kwargs={"generator": generator(11)}, look=source_of),
    # What raises no error draws the better token here always, mostly (as if 0 were 1), or rarely (as -0.5 does)
    probe("sample_next", torch.tensor([[0.0, 60.0, 0.0]]), 0.0, names=(0,)),
    probe("sample_next", many(0.0, 1.5), 0.0, names=(0,), look=often),
    probe("sample_next", many(0.0, 1.5), -0.5, names=(-0.5,), look=often),
    # generate
    probe("generate", model(), torch.tensor([[2, 0]]), 2, kwargs={"top_k": 1}),
    probe("generate", model(), torch.tensor([[1]]), 6, kwargs={"top_k": 1}),
    probe("generate", model(), torch.tensor([[3, 3, 1, 0, 2, 4]]), 2, kwargs={"top_k": 1}),
    probe("generate", model(), PAIR, 3, kwargs={"top_k": 1}),
    probe(
        "generate",
        model(SURE, training=True, parts=WITHOUT_NORM),
        PAIR,
        2,
        kwargs={"generator": generator(1)},
        attribute="training",
    ),
    probe(
        "generate", model(SURE, parts=WITHOUT_NORM), PAIR, 2, kwargs={"generator": generator(2)}, attribute="training"
    ),
    probe(
        "generate",
        model(),
        SHORT.repeat(300, 1),
        1,
        kwargs={"temperature": 0.02, "generator": generator(3)},
        look=last_often,
    ),
    probe(
        "generate",
        model(),
        SHORT.repeat(300, 1),
        1,
        kwargs={"temperature": 9.0, "top_p": 0.01, "generator": generator(4)},
        look=last_often,
    ),
    probe(
        "generate",
        object_of("GPT", 50, 2, 4, 1, 2, 4, state={"head.weight": torch.zeros(50, 4)}),
        torch.zeros(60, 1, dtype=torch.int64),
        1,
        kwargs={"generator": generator(5)},
        look=text_source_of,
    ),
    # train
    probe("train", model(), PIECE, 5, 2, 0.05, generator(1), look=course_of),
    probe("train", model(), PIECE, 3, 1, 0.001, generator(2), look=course_of),
    probe("train", model(), PIECE, 2, 1, 0.01, generator(6), look=types_of),
    probe("train", model(), PATTERN, 8, 1, 0.0, generator(3), look=constancy_of),
    probe("train", model(training=True, parts=WITHOUT_NORM), PIECE, 1, 1, 0.01, generator(4)),
    probe("train", model(parts=WITHOUT_NORM), PIECE, 1, 1, 0.01, generator(5)),
]
