"""Visible checks of 09_kv_cache. Run them with `attn test` or `python -m pytest checks.py`."""

import numpy as np
import torch

from grader.testing import Tolerance, array_like, assert_close, assert_raises, worth

# The shared example, "The cat sat on mat": a token holds its query, its key and its value side by side.
Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SENTENCE = torch.cat([Q, K, V], dim=-1)[None]  # (1, 5, 12)
LESSON = Tolerance(0.0, 6e-5)  # the lesson gives four decimals
SINGLE = Tolerance(1e-4, 2e-5)
CACHE, LAYER = "KVCache", "GroupedQueryAttention"


def cuts():
    """Return parameters with which head 0 has Q, and all heads share K and V: projections that cut out features."""
    eye = torch.eye(12)
    state = {"q_proj.weight": torch.cat([eye[:4], torch.zeros(8, 12)]), "q_proj.bias": torch.zeros(12)}
    state |= {"k_proj.weight": eye[4:8], "k_proj.bias": torch.zeros(4)}
    state |= {"v_proj.weight": eye[8:], "v_proj.bias": torch.zeros(4)}
    return state | {"out_proj.weight": eye, "out_proj.bias": torch.zeros(12)}


def counted(first, *shape):
    """Return the numbers first, first + 1, ... in this shape."""
    return first + torch.arange(float(np.prod(shape))).reshape(shape)


def cut_layer(student):
    """Return the student's layer with these parameters; errors show in its first call."""
    return student.GroupedQueryAttention.made(12, 3, 1, state=cuts())


def pair_of(value, of):
    """Return the two parts of a result, or fail."""
    assert type(value) is tuple, f"expected the pair {of}"
    assert len(value) == 2, f"expected the pair {of}, got {len(value)} values"
    return value


def kept(value, shape):
    """Return keys and values of these shapes as arrays, or fail."""
    keys, values = pair_of(value, "(keys, values)")
    return array_like(keys, shape, of="the keys"), array_like(values, shape, of="the values")


@worth(1.5, "the third token is behind the first two, in keys and in values", target=CACHE)
def test_two_updates(student):
    cache = student.KVCache(1, 1, 4, 2)
    k, v = counted(0, 1, 1, 3, 2), counted(100, 1, 1, 3, 2)
    cache.update(k[:, :, :2], v[:, :, :2])
    keys, values = kept(cache.update(k[:, :, 2:], v[:, :, 2:]), (1, 1, 3, 2))
    assert_close(keys, k.double().numpy(), of="the keys")
    assert_close(values, v.double().numpy(), of="the values")


@worth(1, "length counts the tokens: 0, then 2, then 3", target=CACHE)
def test_length(student):
    cache = student.KVCache(1, 1, 4, 2)
    assert_close(cache.length, 0, of="length of a new cache")
    for new, wanted in ((2, 2), (1, 3)):
        cache.update(torch.ones(1, 1, new, 2), torch.ones(1, 1, new, 2))
        assert_close(cache.length, wanted, of=f"length after {new} more")


@worth(1, "5 tokens for a cache of 4 raise a ValueError that names 5 and 4, and nothing changes", target=CACHE)
def test_full_cache(student):
    cache = student.KVCache(1, 1, 4, 2)
    cache.update(torch.ones(1, 1, 3, 2), torch.ones(1, 1, 3, 2))
    assert_raises(ValueError, lambda: cache.update(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2)), 5, 4)
    assert_close(cache.length, 3, of="length after the refused update")


@worth(0.5, "2 keys and 3 values raise a ValueError that names both numbers", target=CACHE)
def test_keys_without_values(student):
    cache = student.KVCache(1, 1, 8, 2)
    assert_raises(ValueError, lambda: cache.update(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 2)), 2, 3)


@worth(1, "after reset, the next token is the first one again", target=CACHE)
def test_reset(student):
    cache = student.KVCache(1, 1, 4, 2)
    cache.update(counted(0, 1, 1, 3, 2), counted(10, 1, 1, 3, 2))
    cache.reset()
    assert_close(cache.length, 0, of="length after reset")
    keys, values = kept(cache.update(counted(50, 1, 1, 1, 2), counted(60, 1, 1, 1, 2)), (1, 1, 1, 2))
    assert_close(keys, np.array([[[[50.0, 51]]]]), of="the keys")
    assert_close(values, np.array([[[[60.0, 61]]]]), of="the values")


@worth(1, "two heads, each twice, become 0 0 1 1", target="repeat_kv")
def test_two_heads_twice(student):
    x = torch.tensor([[[[0.0, 1]], [[10, 11]]]])  # (1, 2, 1, 2)
    assert_close(student.repeat_kv(x, 2), torch.tensor([[[[0.0, 1]], [[0, 1]], [[10, 11]], [[10, 11]]]]))


@worth(1, "there are four projections; k_proj and v_proj have the width of the key-value heads", target=LAYER)
def test_names_of_the_parameters(student):
    layer = student.GroupedQueryAttention(8, 4, 2)
    assert hasattr(layer, "call_many"), "GroupedQueryAttention(8, 4, 2) should be an nn.Module"
    found, widths = layer.parameters(), {"q_proj": 8, "k_proj": 4, "v_proj": 4, "out_proj": 8}
    wanted = sorted(f"{name}.{part}" for name in widths for part in ("weight", "bias"))
    assert sorted(found) == wanted, f"the parameters are {', '.join(sorted(found)) or 'none'}"
    for name, width in widths.items():
        array_like(found[f"{name}.weight"], (width, 8), of=f"{name}.weight")
        array_like(found[f"{name}.bias"], (width,), of=f"{name}.bias")


@worth(0.5, "6 features for 4 heads, and 4 heads for 3 key-value heads, are refused with both numbers", target=LAYER)
def test_numbers_that_do_not_divide(student):
    assert_raises(ValueError, lambda: student.GroupedQueryAttention(6, 4, 2), 6, 4)
    assert_raises(ValueError, lambda: student.GroupedQueryAttention(8, 4, 3), 4, 3)


@worth(2, "without a cache, the causal weights of the sentence are those of the lesson", target=LAYER)
def test_the_sentence(student):
    output, weights = pair_of(cut_layer(student)(SENTENCE), "(output, weights)")
    rows = array_like(weights, (1, 3, 5, 5), of="the weights")
    assert_close(rows[0, 0, 2], np.array([0.2327, 0.3837, 0.3837, 0, 0]), LESSON, of="sat, head 0")
    assert_close(rows[0, 0, 3], np.array([0.2350, 0.2350, 0.1425, 0.3875, 0]), LESSON, of="on, head 0")
    output = array_like(output, (1, 5, 12), of="the output")
    # The values of the first four tokens are unit vectors, so the output of on, head 0, is its weights.
    assert_close(output[0, 3, :4], np.array([0.2350, 0.2350, 0.1425, 0.3875]), LESSON, of="the output of on, head 0")


@worth(2, "The cat sat in the cache, then on mat as one chunk: on sees four tokens, mat sees five", target=LAYER)
def test_a_chunk_behind_a_cache(student):
    layer, cache = cut_layer(student), student.KVCache(1, 1, 8, 4)
    layer(SENTENCE[:, :3], cache)
    _, weights = pair_of(layer(SENTENCE[:, 3:], cache), "(output, weights)")
    rows = array_like(weights, (1, 3, 2, 5), of="the weights")
    assert_close(rows[0, 0, 0], np.array([0.2350, 0.2350, 0.1425, 0.3875, 0]), LESSON, of="on, head 0")
    assert_close(rows[0, 0, 1], np.array([0.1892, 0.1892, 0.1892, 0.1892, 0.2430]), LESSON, of="mat, head 0")
    assert_close(cache.length, 5, of="length of the cache")


@worth(1, "without a cache, gradients reach the tokens and every parameter", target=LAYER)
def test_gradients_arrive(student):
    found = cut_layer(student).vjp(SENTENCE, cotangent=(torch.ones(1, 5, 12), None))
    pair_of(found.value, "(output, weights)")
    for name, grad in [("x", found.grads[0]), *((name, found.parameters.get(name)) for name in cuts())]:
        assert grad is not None, f"no gradient reaches {name}: the graph is cut"
    # Each row of weights sums to 1, so a gradient of 1 for every output arrives once for each token and head.
    total = array_like(found.parameters["v_proj.bias"], (4,), of="the gradient of v_proj.bias")
    assert_close(total, np.full(4, 15.0), SINGLE, of="the gradient of v_proj.bias")


@worth(1.5, "token by token gives what one call gives, and the tokens stay in the cache", target="decode")
def test_decode_the_sentence(student):
    layer, cache = cut_layer(student), student.KVCache(1, 1, 5, 4)
    output = array_like(student.decode(layer, SENTENCE, cache), (1, 5, 12), of="the output")
    assert_close(output[0, 3, :4], np.array([0.2350, 0.2350, 0.1425, 0.3875]), LESSON, of="the output of on, head 0")
    assert_close(output[0, 4, :4], np.array([0.3108, 0.3108, 0.3108, 0.3108]), LESSON, of="the output of mat, head 0")
    assert_close(cache.length, 5, of="length of the cache")


@worth(1, "a text of 4096 tokens takes 2147483648 bytes in a model like LLaMA-2 7B", target="kv_cache_bytes")
def test_bytes_of_a_model(student):
    assert_close(student.kv_cache_bytes(1, 32, 32, 4096, 128), 2147483648)
    assert_close(student.kv_cache_bytes(1, 1, 1, 4, 2, bytes_per_value=4), 64)
