"""Probes of 03_attention: the calls that tell its misconceptions apart."""

import re

import numpy as np

from cli.attention.weights_reading import Weights
from grader.diagnosis.probe import probe

HEAD = "ScaledDotProductAttention"
FUNCTION = "scaled_dot_product_attention"
EXAMPLE = "the shared example"


def floats(*rows):
    """Return rows of numbers as an array of float64."""
    return np.array(rows, dtype=np.float64)


def single(array):
    """Return the same numbers in float32."""
    return array.astype(np.float32)


def whole(array):
    """Return the same numbers as integers, with fractions cut off."""
    return array.astype(np.int64)


# The shared example, "The cat sat on mat": one row for each token
TOKENS = ["The", "cat", "sat", "on", "mat"]
SENTENCE_Q = floats([1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1])
SENTENCE_K = floats([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5])
SENTENCE_V = floats([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5])
SENTENCE_RAW = floats([0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5])

# Tokens and matrices, for project_qkv
CAT_SAT = np.array([[1, 0, 2], [0, 1, 1]])
LESSON_W = (floats([1, 0], [0, 1], [0.5, 0]), floats([0, 1], [1, 0], [0, 0.5]), floats([0.5], [1], [0.25]))
TWO_X = floats([1, 2], [3, -1])
TWO_W = (floats([1, 2], [0, 3]), floats([2, -1], [5, 1]), floats([0, 4], [1, -2]))
OTHER_W = (floats([4, 0], [-1, 2]), floats([1, 1], [3, 0]), floats([-3, 1], [2, 7]))
WIDE_X = floats([1, 2], [0, -1], [3, 0.5])
WIDE_W = (floats([1, 0, 2], [3, 1, -1]), floats([0, 2, 1], [-2, 1, 4]), floats([1, 2, 3, 4], [0, -1, 2, 5]))
THREE_X = floats([1, 0, 2], [-1, 3, 0.5])
THREE_W = (
    floats([1, 2, 0], [0, 1, -1], [3, 0, 2]),
    floats([0, 1, 1], [2, 0, 5], [-1, 1, 0]),
    floats([1, 0], [2, -3], [0, 4]),
)
FOUR_W = (floats([1, 2, 0, 3], [5, 0, 1, -1]), floats([2, 0, 1, 1], [0, 4, -2, 1]), floats([3], [-1]))
CHAIN_W = (floats([1, 2], [0, 3]), floats([1, -1], [2, 1]), floats([1, 0, 3], [4, -2, 1]))
STACK_X = floats([[1, 2], [0, -1], [3, 1]], [[-2, 1], [2, 2], [0, 4]])
HEADS_X = floats([[[1, 2], [3, 0]]], [[[0, -1], [2, 5]]])

# Queries and keys
ONE_Q, PAIR_K = floats([1, 2]), floats([3, 1], [0, 2])
PAIR_Q, CROSS_K = floats([1, 2], [0, 3]), floats([1, 1], [-2, 0])
PLAIN_Q, PLAIN_K = floats([1, 0, 2], [-1, 1, 0]), floats([0, 1, 1], [2, 0, -1], [1, 1, 0], [3, -1, 0.5])
FOUR_Q, FOUR_K = floats([1, 0, 2, 1], [0, 3, -1, 0]), floats([1, 1, 0, 2], [0, 0, 0, 0], [2, -1, 1, 0])
MANY_Q = floats([1, 2], [0, -1], [4, 0], [1, 1])
CUBE_Q = floats([[1, 2], [0, 1]], [[3, -1], [2, 2]])
CUBE_K = floats([[1, 0], [2, 1]], [[-1, 1], [0, 4]])
BATCH_Q = floats([[1, 0, 2], [0, 1, -1]], [[2, 1, 0], [-1, 0, 3]])
BATCH_K = floats([[0, 1, 1], [2, 0, -1], [1, 1, 0], [0, 2, 0]], [[1, 0, 1], [3, 1, 0], [-1, 2, 1], [0, 0, 2]])
DEEP_Q = np.stack([CUBE_Q, CUBE_Q[::-1] - 1])
DEEP_K = np.stack([CUBE_K, 2 * CUBE_K[:, ::-1]])

# Scores, for scale_scores and compute_weights
ROW = floats([0, 2, 1])
SCORES = floats([0, 2, 1], [1, 1, 3])
SQUARE = floats([0, 2], [1, 4])
CUBE = floats([[0, 2], [1, 4]], [[3, 0], [0, 0.5]])
BLOCK = floats([[0, 1, 3], [2, 0, 1]], [[1, 1, 0], [4, 2, 0]])
DEEP = floats([[[0, 1, 3]], [[1, 0, 0]]], [[[0, 2, 4]], [[2, 1, 0.5]]])
THIRDS = floats([0, 1, 3], [2, 0, 1], [1, 4, 0])
HIGH = floats([800, 799, 0])
LARGE = floats([5000, 4999, 0], [-5000, -5001, -5003])
APART = floats([[5000, 5001]], [[-20000, -20002]])
HIDDEN = floats([-100, -101, 700], [-99, 0, -101])  # a blocked key may have by far the largest score
LOW = floats([-20000, -20001, 0], [3, 1, 2])

# Queries, keys and values
NARROW_V, FLAT_V = floats([1], [3]), floats([2, 0, 1], [1, 4, -1])
PLAIN_V = floats([1, 0], [0, 2], [3, -1], [2, 2])
WIDE_V = floats([1, 0, 2, 1, 3], [0, 4, 1, -2, 0], [2, 2, 0, 1, 1])
FOUR_V = floats([1, 0, 2, 4], [0, 3, 1, -2], [2, 2, 0, 1])
PAIR_V = floats([1, -1], [3, 2])
CUBE_V = floats([[1, 0], [2, 5]], [[3, 1], [-1, 4]])
BATCH_V = floats([[1], [2], [0], [4]], [[3], [-1], [1], [0]])
DEEP_V = np.stack([CUBE_V, CUBE_V[::-1] + 1])
FAR_Q, FAR_K = floats([100, 0], [0, 100]), floats([1, 0], [0.99, 100], [100, -0.5])
STEEP_Q, STEEP_K = floats([100, 0, 0, 0], [0, -100, 0, 0]), floats([100, 100, 0, 0], [99.96875, 101, 0, 0])

# A row that is fully blocked or fully allowed shows another mistake, too: only NO_SECOND has one.
CAUSAL = np.tri(4, 5)
FIRST_ONLY = np.array([[1.0, 0.0], [1.0, 0.0]])
STEPS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
GAP = np.array([[1, 0, 1], [0, 1, 1]])
NO_SECOND = np.array([[1, 1, 0], [0, 0, 0]])
PADDING = np.array([[[1, 1, 0]], [[0, 1, 1]]])
LONG_PADDING = np.array([[[1, 1, 0, 0]], [[0, 1, 1, 1]]])

# For explain: numbers that differ from each other and from the entries, and have more than three decimals
NAMES = ["zorp", "quib", "vlim", "nudj"]
ZORP_Q = floats([-11, -12, -11], [10, -12, -7], [10, -7, 5], [7, 12, 3]) / 8
ZORP_K = floats([-4, 5, -3], [-8, 9, 8], [9, 9, -8], [-12, -8, 5]) / 8
ZORP_V = floats([-18, -2], [-18, -12], [-18, -12], [18, -17]) / 8
ZORP_TOLD = {
    "raw scores": floats(
        [0.265625, -1.6875, -1.859375, 2.703125],
        [-1.234375, -3.8125, 0.59375, -0.921875],
        [-1.40625, -1.609375, -0.203125, -0.609375],
        [0.359375, 1.1875, 2.296875, -2.578125],
    ),
    "scaled scores": floats(
        [0.153359, -0.974279, -1.073511, 1.56065],
        [-0.712667, -2.201148, 0.342802, -0.532245],
        [-0.811899, -0.929173, -0.117274, -0.351823],
        [0.207485, 0.685603, 1.326101, -1.488481],
    ),
    "weights": floats(
        [0.175381, 0.056788, 0.051423, 0.716408],
        [0.188795, 0.042614, 0.542468, 0.226124],
        [0.182599, 0.162392, 0.365737, 0.289272],
        [0.170734, 0.2754, 0.52255, 0.031316],
    ),
    "output": floats([0.973837, -1.728529], [-1.232443, -1.405334], [-0.948277, -1.452547], [-2.109077, -1.306156]),
}
GRIM_Q = floats([1, 9], [-9, 12], [-11, -10]) / 8
GRIM_K = floats([8, 11], [1, 12], [-1, -8]) / 8
GRIM_V = floats([-15, 18, -1, -2, 15], [-16, 3, -5, 15, -17], [-15, 12, -8, -15, 8]) / 8
GRIM_TOLD = {
    "raw scores": floats(
        [1.671875, 1.703125, -1.140625], [0.9375, 2.109375, -1.359375], [-3.09375, -2.046875, 1.421875]
    ),
    "scaled scores": floats(
        [1.182194, 1.204291, -0.806544], [0.662913, 1.491553, -0.961223], [-2.187612, -1.447359, 1.005417]
    ),
    "weights": floats([0.463132, 0.47348, 0.063388], [0.286756, 0.65673, 0.056514], [0.036418, 0.07635, 0.887231]),
    "output": floats(
        [-1.934185, 1.314684, -0.417204, 0.653139, -0.074384],
        [-1.957091, 0.976246, -0.502815, 1.053714, -0.801369],
        [-1.884544, 1.44142, -0.939503, -1.529507, 0.793272],
    ),
}
SEVEN = ["zorp", "quib", "vlim", "nudj", "grum", "hask", "jeft"]
SEVEN_Q = floats([8, 9, -2, 7, 10], [1, -1, 0, 1, -3], [1, 5, -4, 8, 9], [-7, 7, 6, 9, -4], [-10, 0, -7, 9, 8]) / 8
SEVEN_Q = np.concatenate([SEVEN_Q, floats([9, -6, 1, 12, 3], [9, -4, -6, 2, 7]) / 8])
SEVEN_K = floats([-10, 7, 5, -4, -12], [9, -3, -2, -9, -4], [8, 11, 10, 10, -7], [1, 1, -4, -6, -12]) / 8
SEVEN_K = np.concatenate([SEVEN_K, floats([11, 10, -10, 2, -9], [3, -3, 11, 5, 5], [5, 2, -10, 2, 3]) / 8])
SEVEN_V = floats([14], [11], [16], [-1], [-13], [15], [-11]) / 8
SEVEN_TOLD = {  # of query 4 only
    "raw scores": floats([-1.046875, -2.953125, -1.8125, -2.0625, -1.46875, -0.34375, 0.96875]),
    "scaled scores": floats([-0.468177, -1.320678, -0.810575, -0.922378, -0.656845, -0.15373, 0.433238]),
    "weights": floats([0.134553, 0.057366, 0.095541, 0.085435, 0.111418, 0.184271, 0.331416]),
    "output": floats([0.203506]),
}
COUNTED = tuple(
    np.array(rows) for rows in ([[2, -1, 0], [2, -1, -2], [1, -1, 2]], [[1, 1, -2], [1, 2, -1], [-2, -1, -2]])
)
COUNTED_V = np.array([[-3, 5], [-1, 7], [-8, -8]])
COUNTED_TOLD = {  # of query 1 only
    "scaled scores": floats([2.886751, 1.154701, 0.57735]),
    "weights": floats([0.783551, 0.138627, 0.077823]),
    "output": floats([-3.111861, 4.265557]),
}
SENTENCE_TOLD = {  # of The and of cat
    "weights": floats(
        [0.109496, 0.297642, 0.180529, 0.180529, 0.231804], [0.402569, 0.089825, 0.244171, 0.148097, 0.115338]
    ),
    "output": floats([0.225398, 0.413544, 0.296431, 0.296431], [0.460238, 0.147494, 0.30184, 0.205766]),
}
ALONE_TOLD = {
    "raw scores": floats([-0.203125]),
    "scaled scores": floats([-0.117274]),
    "output": floats([-2.25, -1.5]),
}

DIGITS = re.compile(r"(-\s{0,9})?((?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?)")
DASHES = str.maketrans(dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{FIGURE DASH}\N{EM DASH}", "-"))


def read(text):
    """Return the numbers in a text. Read a dash that may be a minus sign or a separator in both ways."""
    plain = text[:100_000].translate(DASHES)
    found = []
    for match in DIGITS.finditer(plain):
        dash, size = match[1], float(match[2])
        is_sign = dash == "-" and not plain[: match.start()][-1:].isalnum() and plain[: match.start()][-1:] != "-"
        found += [size] if not dash else [-size] if is_sign else [size, -size]
    return np.array(found)


def there(found, numbers, decimals):
    """Return which of the numbers are found when rounded to this number of decimals."""
    return [bool((np.abs(found - number) < 0.6 * 10.0**-decimals).any()) for number in numbers]


def part_told(found, table, query):
    """Describe how much of one row of a table a text contains: all of it, or which other parts."""
    for decimals, words in ((4, "all"), (3, "to three decimals"), (2, "to two decimals")):
        if all(there(found, table[query], decimals)):
            return words
    square = table.shape[0] == table.shape[1]
    told = {
        "entries": there(found, table[query], 4),
        "queries": [all(there(found, row, 4)) for row in table],
        "keys": [square and all(there(found, column, 4)) for column in table.T],
    }
    kept = [f"{kind} {np.flatnonzero(which).tolist()}" for kind, which in told.items() if any(which)]
    return ", ".join(kept) or "none"


def strangers(found, inputs, tables):
    """Tell whether a text has fractions that are neither entries, nor right numbers, nor the scale."""
    d_k = inputs[0].shape[1]
    known = np.concatenate([*(x.ravel() for x in (*inputs, *tables.values())), [d_k**0.5, d_k**-0.5]])
    broken = found[found % 1 != 0]
    return bool((np.abs(np.abs(broken)[:, None] - np.abs(known)).min(axis=1, initial=1.0) > 0.006).any())


def telling(names, inputs, tables, row):
    """Return a function that looks in a text of any layout for the names and one query's numbers with four decimals."""

    def look(text):
        if type(text) is not str:
            return f"no text, but {type(text).__name__}"
        found = read(text)
        missing = [name for name in names if name not in text]
        told = {part: part_told(found, table, row) for part, table in tables.items()}
        if set(told.values()) != {"all"}:  # a right text may contain other numbers, too
            told["others"] = "some" if strangers(found, inputs, tables) else "none"
        return {"names": f"not {missing}" if missing else "all"} | told

    return look


def explain(Q, K, V, tokens, tables, *, query=0, row=None, names=None, kwargs=None, said=""):
    """Return a probe of explain. `row` is the query's row in the tables, if they do not contain all queries."""
    look = telling(names or tokens, (Q, K, V), tables, query if row is None else row)
    after = () if kwargs is not None else (query,)
    return probe(f"{HEAD}.explain", Q, K, V, tokens, *after, init=(Q.shape[1],), look=look, kwargs=kwargs, said=said)


def method(name, *args, d_k=4, kwargs=None, said="", reads=None, names=()):
    """Return a probe of one method of an instance for queries of width d_k."""
    return probe(f"{HEAD}.{name}", *args, init=(d_k,), kwargs=kwargs, said=said, reads=reads, names=names)


def shares(scores, *mask, d_k=4, said=""):
    """Return a probe of compute_weights."""
    seen = Weights(scores, mask=mask[0] if mask else None)
    return method("compute_weights", scores, *mask, d_k=d_k, said=said, reads=seen)


def seen_in(Q, K, mask, part):
    """Return the scores, the scale and the mask that the weights of attention are made of."""
    return Weights(Q @ K.swapaxes(-1, -2), float(np.sqrt(Q.shape[-1])), mask, part)


def forward(Q, K, V, *mask, said="", part=1):
    """Return a probe of forward that should return a result."""
    seen = seen_in(Q, K, mask[0] if mask else None, part)
    return method("forward", Q, K, V, *mask, d_k=Q.shape[-1], said=said, reads=seen)


def attend(Q, K, V, *mask, said="", part=1):
    """Return a probe of the function that should return a result."""
    return probe(FUNCTION, Q, K, V, *mask, said=said, reads=seen_in(Q, K, mask[0] if mask else None, part))


PROBES = [
    probe("project_qkv", CAT_SAT, *LESSON_W, said="cat and sat, the example of the lesson"),
    probe("project_qkv", TWO_X, *TWO_W),
    probe("project_qkv", TWO_X, *OTHER_W),
    probe("project_qkv", TWO_X, *CHAIN_W),
    probe("project_qkv", WIDE_X, *WIDE_W),
    probe("project_qkv", WIDE_X, *FOUR_W),
    probe("project_qkv", THREE_X, *THREE_W),
    probe("project_qkv", whole(TWO_X), *map(whole, OTHER_W)),
    probe("project_qkv", STACK_X, *TWO_W),
    probe("project_qkv", HEADS_X, *CHAIN_W),
    probe("project_qkv", single(TWO_X), *map(single, TWO_W)),
    probe("project_qkv", single(STACK_X[:, :1]), *map(single, FOUR_W)),
    # compute_scores
    method("compute_scores", ONE_Q, PAIR_K, d_k=2),
    method("compute_scores", PAIR_Q, CROSS_K, d_k=2),
    method("compute_scores", CROSS_K, PAIR_Q, d_k=2),
    method("compute_scores", PLAIN_Q, PLAIN_K, d_k=3),
    method("compute_scores", FOUR_Q, FOUR_K),
    method("compute_scores", MANY_Q, ONE_Q, d_k=2),
    method("compute_scores", floats([2], [-3]), floats([1], [4], [0]), d_k=1),
    method("compute_scores", whole(PAIR_Q), whole(CROSS_K), d_k=2),
    method("compute_scores", CUBE_Q, CUBE_K, d_k=2),
    method("compute_scores", BATCH_Q, BATCH_K, d_k=3),
    method("compute_scores", DEEP_Q, DEEP_K, d_k=2),
    method("compute_scores", single(PAIR_Q), single(CROSS_K), d_k=2),
    method("compute_scores", np.ones((2, 3)), np.ones((4, 6)), d_k=3, names=(3, 6)),
    method("compute_scores", np.ones((2, 1)), np.ones((3, 7)), d_k=1, names=(1, 7)),
    method("compute_scores", np.ones((2, 7)), np.ones((3, 1)), d_k=7, names=(7, 1)),
    method("compute_scores", np.ones((2, 2, 5)), np.ones((2, 3, 4)), d_k=5, names=(5, 4)),
    method("compute_scores", SENTENCE_Q, SENTENCE_K, said=EXAMPLE),
    # scale_scores
    method("scale_scores", ROW),
    method("scale_scores", ROW, d_k=9),
    method("scale_scores", SQUARE, d_k=2),
    method("scale_scores", -SCORES, d_k=3),
    method("scale_scores", SCORES, d_k=64),
    method("scale_scores", DEEP, d_k=7),
    method("scale_scores", single(SCORES)),
    method("scale_scores", SENTENCE_RAW, said=EXAMPLE),
    method("scale_scores", floats([[[5000]], [[-5000]]]), d_k=25),
    # compute_weights
    shares(ROW),
    shares(SQUARE),
    shares(SCORES, GAP),
    shares(HIDDEN, np.array([[1, 1, 0], [1, 0, 1]])),
    shares(whole(SCORES), d_k=16),
    shares(SQUARE, FIRST_ONLY),
    shares(SQUARE[::-1]),
    shares(THIRDS, STEPS, d_k=9),
    shares(SCORES, np.array([0, 1, 1])),
    shares(SCORES, np.array([[False, True, True]])),
    shares(SCORES, NO_SECOND),
    shares(CUBE),
    shares(BLOCK, PADDING),
    shares(BLOCK, np.stack([GAP, 1 - GAP])),
    shares(DEEP, PADDING[:, None]),
    shares(HIGH),
    shares(LARGE),
    shares(APART),
    shares(LOW, np.array([[1, 1, 0], [0, 1, 1]])),
    shares(single(SCORES)),
    shares(single(SCORES), GAP.astype(float)),
    shares(single(THIRDS), STEPS == 1),
    shares(SENTENCE_RAW[:4] / 2, CAUSAL, said=EXAMPLE),
    # compute_output
    method("compute_output", floats([0.25, 0.75]), NARROW_V),
    method("compute_output", floats([0.25, 0.75], [0.5, 0.5]), PAIR_V),
    method("compute_output", floats([0.5, 0.25, 0, 0.25], [0, 1, 0, 0]), PLAIN_V),
    method("compute_output", floats([2, 0], [0, 0], [0.5, 0.25]), FLAT_V),
    method("compute_output", floats([0.25, 0.75]), np.array([[1, 2], [4, 7]])),
    method("compute_output", floats([[0.25, 0.75], [1, 0]], [[0.5, 0.5], [0, 0]]), CUBE_V),
    method("compute_output", floats([[[0.25, 0.75]], [[1, 0]]], [[[0.5, 0.5]], [[0, 2]]]), DEEP_V),
    method("compute_output", single(floats([0.25, 0.75], [0, 1])), single(PAIR_V)),
    method("compute_output", single(floats([2, 0.5, 0])), single(WIDE_V)),
    # forward
    forward(ONE_Q, PAIR_K, NARROW_V),
    forward(PAIR_Q, CROSS_K, np.eye(2), part=0),
    forward(PAIR_K, CROSS_K, PAIR_V, FIRST_ONLY),
    forward(CROSS_K, PAIR_Q, PAIR_V),
    forward(PLAIN_Q, PLAIN_K, PLAIN_V[:, :1]),
    forward(FOUR_Q, FOUR_K, FOUR_V[:, :1], NO_SECOND),
    forward(FOUR_Q[:1], FOUR_K, WIDE_V, np.array([1, 0, 1])),
    forward(whole(ONE_Q), whole(CROSS_K), whole(FLAT_V)),
    forward(CUBE_Q, CUBE_K, CUBE_V[..., :1]),
    forward(BATCH_Q[:, :1], BATCH_K[:, :3], BATCH_V[:, :3], PADDING),
    forward(STEEP_Q, STEEP_K, NARROW_V),
    forward(single(PAIR_Q), single(CROSS_K), single(NARROW_V), FIRST_ONLY),
    method("forward", np.ones((2, 3)), np.ones((4, 3)), np.ones((6, 2)), d_k=3, names=(4, 6)),
    method("forward", np.ones((2, 3)), np.ones((7, 3)), np.ones((1, 2)), d_k=3, names=(7, 1)),
    method("forward", np.ones((2, 3)), np.ones((4, 5)), np.ones((4, 2)), d_k=3, names=(3, 5)),
    # explain
    explain(GRIM_Q, GRIM_K, GRIM_V, NAMES[:3], GRIM_TOLD, kwargs={}, said="three tokens, query_idx left out"),
    explain(GRIM_Q, GRIM_K, GRIM_V, NAMES[:3], GRIM_TOLD, query=1, said="three tokens, query_idx 1"),
    explain(
        GRIM_Q, GRIM_K, GRIM_V, NAMES[:3], GRIM_TOLD, query=2, kwargs={"query_idx": 2}, said="three tokens, query_idx 2"
    ),
    explain(ZORP_Q, ZORP_K, ZORP_V, NAMES, ZORP_TOLD, query=3, said="four tokens, query_idx 3"),
    explain(ZORP_Q, ZORP_K, ZORP_V, ["zorp", "quib", "zorp", "quib"], ZORP_TOLD, query=1, said="zorp quib zorp quib"),
    explain(ZORP_Q[2:3], ZORP_K[2:3], ZORP_V[2:3], NAMES[2:3], ALONE_TOLD, said="a single token"),
    explain(SEVEN_Q, SEVEN_K, SEVEN_V, SEVEN, SEVEN_TOLD, query=4, row=0, said="seven tokens, query_idx 4"),
    explain(*COUNTED, COUNTED_V, NAMES[:3], COUNTED_TOLD, query=1, row=0, said="three tokens, in whole numbers"),
    explain(
        SENTENCE_Q, SENTENCE_K, SENTENCE_V, TOKENS, SENTENCE_TOLD, query=1, names=["cat", "sat", "mat"], said=EXAMPLE
    ),
    # the function
    attend(ONE_Q, PAIR_K, NARROW_V),
    attend(CROSS_K, PAIR_Q, PAIR_V, FIRST_ONLY),
    attend(PAIR_Q, CROSS_K, np.eye(2), part=0),
    attend(PLAIN_Q[:1], PLAIN_K, PLAIN_V),
    attend(FOUR_Q, FOUR_K, FOUR_V[:, :1], NO_SECOND),
    attend(SENTENCE_Q[1:2], SENTENCE_K, SENTENCE_V, CAUSAL[1].astype(bool), said="cat of the shared example, masked"),
    attend(whole(ONE_Q), whole(CROSS_K), whole(FLAT_V)),
    attend(CUBE_Q, CUBE_K, CUBE_V[..., :1]),
    attend(BATCH_Q, BATCH_K, BATCH_V),
    attend(BATCH_Q[:, :1], BATCH_K, BATCH_V, LONG_PADDING),
    attend(STEEP_Q, STEEP_K, NARROW_V),
    attend(FAR_Q, FAR_K, PLAIN_V[:3, :1], np.array([[1, 1, 0], [1, 0, 1]])),
    attend(single(PAIR_Q), single(CROSS_K), single(NARROW_V), FIRST_ONLY),
    probe(FUNCTION, np.ones((2, 3)), np.ones((4, 6)), np.ones((4, 5)), names=(3, 6)),
    probe(FUNCTION, np.ones((2, 3)), np.ones((4, 3)), np.ones((6, 5)), names=(4, 6)),
    probe(FUNCTION, np.ones((2, 3)), np.ones((7, 3)), np.ones((1, 5)), names=(7, 1)),
]
