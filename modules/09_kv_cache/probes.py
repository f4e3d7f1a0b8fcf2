"""Probes of 09_kv_cache: calls and scripts that tell its misconceptions apart."""

import numpy as np
import torch

from grader.diagnosis.probe import probe, step
from grader.sandbox.protocol.stand_ins import object_of

UPDATE, LENGTH, FORWARD = "KVCache.update", "KVCache.length", "GroupedQueryAttention.forward"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
RNG = np.random.default_rng(909)


def floats(*rows):
    """Return rows of numbers as a float32 tensor."""
    return torch.tensor(rows, dtype=torch.float32)


def counted(first, *shape):
    """Return the numbers first, first + 1, ... in this shape."""
    return first + torch.arange(float(np.prod(shape))).reshape(shape)


def eighths(*shape, size=12):
    """Return numbers between -size/8 and size/8 that float32 holds exactly, the same in every run."""
    return torch.from_numpy(RNG.integers(-size, size + 1, size=shape)).float() / 8


def mixed(embed_dim, num_heads, num_kv_heads):
    """Return parameters that are all different."""
    narrow = embed_dim // num_heads * num_kv_heads
    state = {}
    for name, width in zip(PROJECTIONS, (embed_dim, narrow, narrow, embed_dim), strict=True):
        state[f"{name}.weight"], state[f"{name}.bias"] = eighths(width, embed_dim, size=8), eighths(width, size=8)
    return state


def plain(embed_dim, width):
    """Return parameters for one key-value head: queries are the tokens, keys and values their first features."""
    eye = torch.eye(embed_dim)
    state = {"q_proj.weight": eye, "k_proj.weight": eye[:width], "v_proj.weight": eye[:width], "out_proj.weight": eye}
    return state | {f"{name}.bias": torch.zeros(len(state[f"{name}.weight"])) for name in PROJECTIONS}


# Layers by their sizes: features, heads, key-value heads
ONE, PAIR, GROUPS, FOUR, THREE = (2, 1, 1), (4, 2, 1), (8, 4, 2), (4, 2, 2), (6, 6, 3)
STATES = {sizes: mixed(*sizes) for sizes in (ONE, PAIR, GROUPS, FOUR, THREE)}
NARROW = (2, 2, 1)  # heads of width 1
STATES[NARROW] = plain(2, 1)
TEXT = {sizes: eighths(1, 5, sizes[0]) for sizes in STATES}
TWO_TEXTS = eighths(2, 4, 4)
OTHER = eighths(1, 3, 4)

# The shared example: a token holds its query, its key and its value side by side, and the projections cut them out.
SENTENCE = floats(
    [
        [1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0],
        [0, 2, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0],
        [1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1],
        [1, 0, 0, 1, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    ]
)
CUTS = plain(12, 4) | {"k_proj.weight": torch.eye(12)[4:8], "v_proj.weight": torch.eye(12)[8:]}
CUTS["q_proj.weight"] = torch.cat([torch.eye(12)[:4], torch.zeros(8, 12)])

LARGE = (1, 1, 1)
LARGE_TEXT = floats([[30], [300], [299]])
STATES[LARGE] = plain(1, 1)


def updates(*counts, batch=1, heads=1, width=1, first=0):
    """Return keys and values for several updates: numbers that say where they come from."""
    found = []
    for count in counts:
        shape = (batch, heads, count, width)
        found.append((counted(first, *shape), counted(first + 100, *shape)))
        first += int(np.prod(shape))
    return found


def update(*counts, room, batch=1, heads=1, width=1, names=(), first=0):
    """Return a probe of the last of several updates, which are made on a cache of their own."""
    *before, last = updates(*counts, batch=batch, heads=heads, width=width, first=first)
    steps = [step("update", *pair) for pair in before]
    return probe(UPDATE, *last, init=(batch, heads, room, width), before=steps, names=names)


def length(*counts, room, batch=1, heads=1):
    """Return a probe of the length after several updates; 0 stands for a reset."""
    steps = [
        step("update", *updates(count, batch=batch, heads=heads)[0]) if count else step("reset") for count in counts
    ]
    return probe(LENGTH, init=(batch, heads, room, 1), before=steps)


def cache_for(sizes, room, batch=1):
    """Return a cache for a layer; every probe makes its own."""
    embed_dim, num_heads, num_kv_heads = sizes
    return object_of("KVCache", batch, num_kv_heads, room, embed_dim // num_heads)


def forward(sizes, x, *, state=None, **more):
    """Return a probe of the forward method without a cache."""
    return probe(FORWARD, x, init=sizes, state=STATES[sizes] if state is None else state, **more)


def pieces(sizes, *counts, room=8, x=None, said="", state=None, names=()):
    """Return a probe of the last of several chunks of a text, all through one cache."""
    x = TEXT[sizes] if x is None else x
    cache = cache_for(sizes, room, x.shape[0])
    ends = np.cumsum(counts)
    chunks = [x[:, end - count : end].clone() for count, end in zip(counts, ends, strict=True)]
    before = [step("forward", chunk, cache) for chunk in chunks[:-1]]
    state = STATES[sizes] if state is None else state
    return probe(FORWARD, chunks[-1], cache, init=sizes, state=state, before=before, said=said, names=names)


def in_turn(sizes, x, other, room=6):
    """Return a probe of a text that is written in turn with another one, whose cache may have another size."""
    mine, theirs = cache_for(sizes, 6), cache_for(sizes, room)
    before = [step("forward", x[:, :2].clone(), mine), step("forward", other[:, :2].clone(), theirs)]
    said = "one token, after two of its own text and two of another text with another cache"
    return probe(FORWARD, x[:, 2:3].clone(), mine, init=sizes, state=STATES[sizes], before=before, said=said)


def around(sizes, x, other):
    """Return a probe of a text with a call without a cache in between."""
    cache = cache_for(sizes, 6)
    before = [step("forward", x[:, :2].clone(), cache), step("forward", other[:, :1].clone())]
    said = "one token, after two of its text and a call without a cache"
    return probe(FORWARD, x[:, 2:3].clone(), cache, init=sizes, state=STATES[sizes], before=before, said=said)


def after(sizes, x, other):
    """Return a probe of a call without a cache that follows one with a cache."""
    before = [step("forward", other[:, :2].clone(), cache_for(sizes, 6))]
    said = "two tokens without a cache, after a call with one"
    return probe(FORWARD, x[:, :2].clone(), init=sizes, state=STATES[sizes], before=before, said=said)


def layer_for(sizes):
    return object_of("GroupedQueryAttention", *sizes, state=STATES[sizes])


def decoded(sizes, *counts, room=8, x=None, said="", names=()):
    """Return a probe of decode; with several counts, of the last of several calls with one cache."""
    x = TEXT[sizes] if x is None else x
    layer, cache, ends = layer_for(sizes), cache_for(sizes, room, x.shape[0]), np.cumsum(counts)
    parts = [x[:, end - count : end].clone() for count, end in zip(counts, ends, strict=True)]
    before = [step("decode", layer, part, cache) for part in parts[:-1]]
    return probe("decode", layer, parts[-1], cache, before=before, said=said, names=names)


def names_of(result):
    """Return the names of the parameters, and of those that a gradient reaches."""
    found = result["parameters"]
    learning = [name for name, grad in found.items() if grad is not None]
    return {"parameters": ", ".join(sorted(found)) or "none", "learning": ", ".join(sorted(learning)) or "none"}


def kinds(result):
    """Return the types in a result."""
    return ", ".join(type(part).__name__ for part in result) if type(result) is tuple else "no tuple"


def arrived(result):
    """Return for each gradient whether it is there."""
    named = {"x": result["grads"][0]} | result["parameters"]
    return {name: "no gradient" if grad is None else "a gradient" for name, grad in named.items()}


def gradients(result):
    """Return the gradients, without the bias of the keys: the same number for all scores of a row changes nothing."""
    named = {"x": result["grads"][0]} | result["parameters"]
    return {name: "no gradient" if grad is None else grad for name, grad in named.items() if name != "k_proj.bias"}


def reached(result):
    """Return whether gradients from the weights alone reach the tokens, queries and keys."""
    named = {"x": result["grads"][0]} | result["parameters"]
    return {name: "cut" if named[name] is None else "there" for name in ("x", "q_proj.weight", "k_proj.weight")}


def evenness(result):
    """Describe weights that should all be equal in the last row."""
    if type(result) is not tuple or len(result) != 2 or type(result[1]) is not torch.Tensor:
        return "no pair of tensors"
    return {"dropped": "some" if bool((result[1][..., -1, :] == 0).any()) else "none"}


THIRDS = torch.ones(1, 1, 1, 2).double() / 3
GROWING = updates(2, 9, 2, 2, 2, width=3)

PROBES = [
    update(2, room=4, width=2),
    update(1, room=3, heads=2),
    update(3, room=3),
    update(2, room=5, batch=2),
    update(2, 1, room=4, width=2),
    update(1, 1, 1, room=5),
    update(1, 2, 1, room=6),
    update(2, 2, room=6, batch=2, heads=2),
    update(2, 2, room=4, first=7),
    probe(UPDATE, THIRDS, 2 * THIRDS, init=(1, 1, 2, 2, torch.float64)),
    update(3, room=2, names=(3, 2)),
    update(3, 2, room=4, width=2, names=(5, 4)),
    update(3, 1, room=3, names=(4, 3)),
    probe(UPDATE, counted(0, 1, 1, 2, 1), counted(9, 1, 1, 3, 1), init=(1, 1, 9, 1), names=(2, 3)),
    probe(UPDATE, counted(0, 1, 1, 4, 1), counted(9, 1, 1, 1, 1), init=(1, 1, 19, 1), names=(4, 1)),
    # These five are made on one cache, because they have no steps: what a refused update leaves can be seen.
    probe(UPDATE, *GROWING[0], init=(1, 1, 8, 3)),
    probe(UPDATE, *GROWING[1], init=(1, 1, 8, 3), names=(11, 8)),
    probe(UPDATE, *GROWING[2], init=(1, 1, 8, 3)),
    probe(UPDATE, *GROWING[4], init=(1, 1, 8, 3)),
    probe(UPDATE, GROWING[3][0], GROWING[3][1][:, :, :1].clone(), init=(1, 1, 8, 3), names=(2, 1)),
    probe("KVCache.reset", init=(1, 1, 4, 2)),
    length(room=4),
    length(2, room=4),
    length(2, 1, room=4),
    length(3, 1, 2, room=9),
    length(2, room=5, batch=2, heads=3),
    length(2, 0, room=4),
    length(2, 0, 1, room=4),
    length(3, 0, 4, room=4),
    probe("repeat_kv", counted(0, 1, 2, 1, 2), 2),
    probe("repeat_kv", counted(0, 1, 3, 2, 1), 2),
    probe("repeat_kv", counted(0, 2, 2, 2, 2), 3),
    probe("repeat_kv", counted(0, 1, 1, 2, 2), 4),
    probe("repeat_kv", counted(0, 1, 2, 1, 1), 4),
    probe("repeat_kv", counted(0, 2, 2, 1, 1), 1),
    probe("repeat_kv", counted(0, 1, 2, 1, 1).double() / 3, 2),
    probe("repeat_kv", eighths(1, 2, 2, 1), 2, cotangent=counted(0, 1, 4, 2, 1)),
    # Parameters and refusals; tokens of a third width: only the constructor can raise an error with these numbers
    probe(FORWARD, eighths(1, 2, 4), init=(4, 2, 1), cotangent=(counted(1, 1, 2, 4), None), look=names_of),
    probe(FORWARD, torch.ones(1, 2, 7), init=(6, 4, 2), names=(6, 4)),
    probe(FORWARD, torch.ones(1, 2, 11), init=(3, 7, 7), names=(3, 7)),
    probe(FORWARD, torch.ones(1, 2, 7), init=(8, 4, 3), names=(4, 3)),
    probe(FORWARD, torch.ones(1, 2, 7), init=(12, 4, 3), names=(4, 3)),
    # Without a cache
    forward(ONE, TEXT[ONE][:, :1].clone()),
    forward(ONE, TEXT[ONE][:, :2].clone()),
    forward(ONE, TEXT[ONE][:, :4].clone()),
    forward(NARROW, TEXT[NARROW][:, :3].clone()),
    forward(PAIR, TEXT[PAIR][:, :2].clone()),
    forward(PAIR, TEXT[PAIR][:, :3].clone()),
    forward(FOUR, TEXT[FOUR][:, :2].clone()),
    forward(FOUR, TEXT[FOUR]),
    forward(GROUPS, TEXT[GROUPS][:, :3].clone()),
    forward(THREE, TEXT[THREE][:, :2].clone()),
    forward(FOUR, TWO_TEXTS),
    forward((12, 3, 1), SENTENCE, state=CUTS, said="the shared example"),
    forward(LARGE, LARGE_TEXT),
    # With a cache
    pieces(ONE, 1),
    pieces(ONE, 2),
    pieces(ONE, 1, 1),
    pieces(ONE, 1, 1, 1, room=3),
    pieces(ONE, 1, 2),
    pieces(ONE, 2, 2),
    pieces(ONE, 3, 2),
    pieces(NARROW, 2, 1),
    pieces(PAIR, 2, 1),
    pieces(PAIR, 1, 3),
    pieces(FOUR, 2, 2),
    pieces(GROUPS, 3, 1),
    pieces(GROUPS, 2, 3),
    pieces(FOUR, 1, 2, x=TWO_TEXTS),
    pieces(THREE, 1, 1),
    pieces((12, 3, 1), 3, 2, x=SENTENCE, state=CUTS, said="on mat, after The cat sat"),
    pieces(ONE, 2, 2, room=3, names=(4, 3)),
    pieces(ONE, 4, room=3, names=(4, 3)),
    in_turn(FOUR, TEXT[FOUR], OTHER),
    in_turn(FOUR, TEXT[FOUR], OTHER, room=5),
    around(FOUR, TEXT[FOUR], OTHER),
    after(FOUR, TEXT[FOUR], OTHER),
    # Gradients and modes
    forward(PAIR, TEXT[PAIR][:, :2].clone(), cotangent=(counted(1, 1, 2, 4), None), look=arrived),
    forward(PAIR, TEXT[PAIR][:, :3].clone(), cotangent=(counted(1, 1, 3, 4), None), look=gradients),
    forward(PAIR, TEXT[PAIR][:, :2].clone(), cotangent=(None, counted(1, 1, 2, 2, 2)), look=reached),
    forward(PAIR, TEXT[PAIR][:, :2].clone(), training=True, look=kinds),
    forward(PAIR, torch.zeros(1, 40, 4), training=True, look=evenness, said="40 equal tokens"),
    forward(PAIR, torch.zeros(1, 40, 4), look=evenness, said="40 equal tokens"),
    # decode
    decoded(ONE, 1),
    decoded(ONE, 2),
    decoded(ONE, 4),
    decoded(PAIR, 3),
    decoded(GROUPS, 2),
    decoded(FOUR, 3, x=TWO_TEXTS),
    decoded(ONE, 1, 1),
    decoded(ONE, 2, 1),
    decoded(FOUR, 1, 3),
    decoded(ONE, 4, room=3, names=(4, 3)),
    decoded(ONE, 5, room=3, names=(4, 3)),
    probe("kv_cache_bytes", 1, 1, 1, 1, 1),
    probe("kv_cache_bytes", 1, 1, 1, 4, 2, kwargs={"bytes_per_value": 4}),
    probe("kv_cache_bytes", 3, 1, 1, 1, 1),
    probe("kv_cache_bytes", 2, 3, 5, 7, 11, 1),
    probe("kv_cache_bytes", 1, 32, 32, 4096, 128),
    probe("kv_cache_bytes", 1, 96, 96, 2048, 128),
    probe("kv_cache_bytes", 1, 32, 8, 8192, 128),
]
