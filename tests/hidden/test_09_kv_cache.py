"""Hidden suite of 09_kv_cache. Oracles: token by token in NumPy, and nn.MultiheadAttention with the same parameters."""

import numpy as np
import torch
from torch import nn

from grader import testing
from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_gradients_match_differences,
    assert_raises,
    assert_rows_sum_to_one,
    derangement,
    remembered,
    worth,
)

CACHE, REPEAT, LAYER, DECODE, BYTES = "KVCache", "repeat_kv", "GroupedQueryAttention", "decode", "kv_cache_bytes"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
# Float32 in any order of addition: products of a dozen numbers keep five digits.
SINGLE = Tolerance(1e-4, 2e-5)
STEEP = Tolerance(2e-3, 2e-4)  # gradients add up over the batch
DOUBLE = Tolerance(1e-6, 1e-7)  # the scale may be stored in float32
EXACT = Tolerance(0.0, 0.0)

# Batch, tokens, features, heads, key-value heads: grouped, multi-query, plain multi-head, one head, heads of width 1
SIZES = [(2, 5, 8, 4, 2), (3, 4, 12, 6, 1), (1, 6, 8, 2, 2), (2, 3, 4, 1, 1), (2, 4, 6, 6, 3), (1, 5, 12, 3, 1)]
SPLITS = [(1, 1, 1, 1, 1, 1, 1), (2, 2, 2, 1), (3, 3, 1), (1, 5, 1), (4, 3), (6, 1), (7,)]


def single(array):
    """Return an array as a float32 tensor."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(torch.float32)


def normal(rng, *shape, scale=1.0):
    return single(rng.normal(scale=scale, size=shape))


@remembered
def setting(rng, batch, n, embed_dim, num_heads, num_kv_heads, scale=1.0):
    """Return parameters and tokens that give uneven weights, but not all on one token, and make every bias matter."""
    narrow = embed_dim // num_heads * num_kv_heads
    state = {}
    for name, width in zip(PROJECTIONS, (embed_dim, narrow, narrow, embed_dim), strict=True):
        state[f"{name}.weight"] = normal(rng, width, embed_dim, scale=scale * embed_dim**-0.5)
        state[f"{name}.bias"] = normal(rng, width, scale=0.5)
    return state, normal(rng, batch, n, embed_dim)


def cut_state(embed_dim, width):
    """Return parameters for a layer with one key-value head: K and V are the first features, out_proj keeps all."""
    state = {}
    for name, rows in zip(PROJECTIONS, (embed_dim, width, width, embed_dim), strict=True):
        state |= {f"{name}.weight": torch.eye(rows, embed_dim), f"{name}.bias": torch.zeros(rows)}
    return state


def oracle_kept(pieces):
    """Return what a cache holds after these pieces."""
    return np.concatenate([piece.numpy() for piece in pieces], axis=2)


def oracle_repeat(x, n_rep):
    return np.stack([x.numpy()[:, h // n_rep] for h in range(x.shape[1] * n_rep)], axis=1)


@remembered
def oracle_attention(state, num_heads, num_kv_heads, x):
    """Return output and weights of one complete forward in float64, from loops over heads and tokens."""
    part = {name: array.double().numpy() for name, array in state.items()}
    tokens = x.double().numpy()
    (batch, n, embed_dim), width = tokens.shape, tokens.shape[2] // num_heads
    merged, weights = np.zeros((batch, n, embed_dim)), np.zeros((batch, num_heads, n, n))
    for h in range(num_heads):
        own, shared = (slice(one * width, (one + 1) * width) for one in (h, h * num_kv_heads // num_heads))
        q = np.einsum("bne,de->bnd", tokens, part["q_proj.weight"][own]) + part["q_proj.bias"][own]
        k = np.einsum("bne,de->bnd", tokens, part["k_proj.weight"][shared]) + part["k_proj.bias"][shared]
        v = np.einsum("bne,de->bnd", tokens, part["v_proj.weight"][shared]) + part["v_proj.bias"][shared]
        for i in range(n):
            scores = np.einsum("bd,bjd->bj", q[:, i], k[:, : i + 1]) * float(width) ** -0.5
            shares = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
            weights[:, h, i, : i + 1] = shares
            merged[:, i, own] = np.einsum("bj,bjd->bd", shares, v[:, : i + 1])
    output = merged @ part["out_proj.weight"].T + part["out_proj.bias"]
    return single(output), single(weights)


@remembered
def oracle_builtin(state, num_heads, x):
    """Return output and weights of PyTorch's own causal layer with these parameters: no heads are shared."""
    layer = nn.MultiheadAttention(x.shape[2], num_heads, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([state[f"{name}.weight"] for name in PROJECTIONS[:3]]))
        layer.in_proj_bias.copy_(torch.cat([state[f"{name}.bias"] for name in PROJECTIONS[:3]]))
        layer.out_proj.weight.copy_(state["out_proj.weight"])
        layer.out_proj.bias.copy_(state["out_proj.bias"])
    later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()  # True means blocked there
    results = layer(x, x, x, attn_mask=later, average_attn_weights=False)
    return tuple(result.detach() for result in results)


@remembered
def oracle_gradients(state, num_heads, num_kv_heads, x, cotangent):
    """Return the gradients of x and of the parameters, by autograd through einsum with the groups as an axis."""
    leaves = {name: array.clone().requires_grad_(True) for name, array in state.items()}
    tokens, width = x.clone().requires_grad_(True), x.shape[2] // num_heads
    made = [nn.functional.linear(tokens, leaves[f"{one}.weight"], leaves[f"{one}.bias"]) for one in PROJECTIONS[:3]]
    q = made[0].unflatten(-1, (num_kv_heads, -1, width))  # (B, N, H_kv, group, D)
    k, v = (one.unflatten(-1, (num_kv_heads, width)) for one in made[1:])
    later = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    scores = torch.einsum("bigrd,bjgd->bgrij", q, k) * width**-0.5
    weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
    merged = torch.einsum("bgrij,bjgd->bigrd", weights, v).flatten(2)
    output = nn.functional.linear(merged, leaves["out_proj.weight"], leaves["out_proj.bias"])
    torch.autograd.backward([output, weights.flatten(1, 2)], list(cotangent))
    return tokens.grad, {name: leaf.grad for name, leaf in leaves.items()}


def tensor_of(value, shape, of):
    """Return the student's result as a finite float32 tensor of this shape, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    if value.dtype == torch.float32 and value.shape == tuple(shape) and bool(value.isfinite().all()):
        return value.detach()
    return single(array_like(value, tuple(shape), of=of))  # fails with a clear message


def pair_of(value, names, of):
    """Return the two parts of a result, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair {names}"
    assert len(value) == 2, f"{of}: expected the pair {names}, got {len(value)} values"
    return value


def kept(value, shape, of="the update"):
    """Return keys and values as finite tensors of this shape, or fail."""
    keys, values = pair_of(value, "(keys, values)", of)
    return tensor_of(keys, shape, f"{of}: the keys"), tensor_of(values, shape, f"{of}: the values")


def updated(cache, k, v, before, of="the update"):
    """Update a cache that has `before` tokens; return the checked keys and values."""
    batch, heads, new, width = k.shape
    return kept(cache.update(k, v), (batch, heads, before + new, width), of)


def layer_of(student, sizes, state, *, training=False):
    """Return the student's layer with these parameters; errors show in its first call."""
    _, _, embed_dim, num_heads, num_kv_heads = sizes
    return student.GroupedQueryAttention.made(embed_dim, num_heads, num_kv_heads, state=state, training=training)


def cache_of(student, sizes, max_len=None, batch=None):
    """Return a cache of the student's for such a layer, with room for all tokens."""
    b, n, embed_dim, num_heads, num_kv_heads = sizes
    return student.KVCache(batch or b, num_kv_heads, max_len or n, embed_dim // num_heads)


def attended(value, x, num_heads, total=None, of="the call"):
    """Return output and weights as finite tensors of the right shapes, or fail."""
    output, weights = pair_of(value, "(output, weights)", of)
    shape = (x.shape[0], num_heads, x.shape[1], x.shape[1] if total is None else total)
    return tensor_of(output, x.shape, f"{of}: the output"), tensor_of(weights, shape, f"{of}: the weights")


def in_pieces(layer, cache, x, split, num_heads, before=0):
    """Give x to a layer piece by piece through a cache; return the checked pairs."""
    pairs, start = [], 0
    for count in split:
        piece, start = x[:, start : start + count].clone(), start + count
        of = f"tokens {start - count + 1} to {start} of {'+'.join(map(str, split))}"
        pairs.append(attended(layer(piece, cache), piece, num_heads, before + start, of))
    return pairs


def assert_attends(pair, expected, of):
    """Fail unless output and weights, both checked by `attended`, are as expected."""
    for name, ours, theirs in zip(("output", "weights"), pair, expected, strict=True):
        assert_close(ours, theirs, SINGLE, of=f"{of} {name}")


def padded(weights, total):
    """Return weights with zeros for tokens that were not there yet."""
    return nn.functional.pad(weights, (0, total - weights.shape[-1]))


def joined(pairs):
    """Return the output and the weights of all pieces as one."""
    total = pairs[-1][1].shape[-1]
    return torch.cat([one for one, _ in pairs], dim=1), torch.cat([padded(one, total) for _, one in pairs], dim=2)


# KVCache ------------------------------------------------------------------------------------------------


@worth(2.5, "update returns all keys and values so far, for any pieces and shapes", target=CACHE)
def test_cache_agrees_with_the_oracle(student, rng, shown):
    for (batch, heads, width), split in [((1, 1, 2), (3, 1)), ((2, 3, 4), (1, 2, 1, 3)), ((3, 1, 2), (4, 1))]:
        cache = student.KVCache(batch, heads, sum(split) + 1, width)
        pieces = [(normal(rng, batch, heads, n, width), normal(rng, batch, heads, n, width)) for n in split]
        for at, (k, v) in enumerate(pieces):
            keys, values = updated(cache, k, v, sum(split[:at]))
            assert_close(keys, single(oracle_kept([one for one, _ in pieces[: at + 1]])), EXACT, of="keys")
            assert_close(values, single(oracle_kept([one for _, one in pieces[: at + 1]])), EXACT, of="values")
    shown(student, "KVCache.update")


@worth(1.5, "an update leaves the tokens that are there as they are", target=CACHE)
def test_cache_keeps_what_is_there(student, rng):
    cache, x = student.KVCache(2, 2, 6, 3), normal(rng, 4, 2, 2, 3, 3)
    first = updated(cache, x[0], x[1], 0)
    second = updated(cache, x[2], x[3], 3)
    for name, before, after in zip(("keys", "values"), first, second, strict=True):
        assert_close(after[:, :, :3], before, EXACT, of=f"the first {name} after a second update")


@worth(1.5, "the new tokens come last, in their order", target=CACHE)
def test_cache_puts_new_tokens_behind(student, rng):
    cache = student.KVCache(1, 2, 8, 2)
    for count, before in ((3, 0), (1, 3), (2, 4)):
        k, v = normal(rng, 1, 2, count, 2), normal(rng, 1, 2, count, 2)
        keys, values = updated(cache, k, v, before)
        assert_close(keys[:, :, before:], k, EXACT, of=f"the new keys, behind {before}")
        assert_close(values[:, :, before:], v, EXACT, of=f"the new values, behind {before}")


@worth(1.5, "length is the number of tokens, an integer", target=CACHE)
def test_cache_length(student):
    cache, total = student.KVCache(2, 3, 9, 2), 0
    assert_close(cache.length, 0, of="length of a new cache")
    for count in (1, 4, 1, 3):
        cache.update(torch.ones(2, 3, count, 2), torch.ones(2, 3, count, 2))
        total += count
        found = cache.length
        assert_close(found, total, of=f"length after {total} tokens")
        assert type(found) is not float, f"length should be an integer, got {found}"


@worth(1, "tokens that do not fit raise a ValueError that names the length needed and max_len", target=CACHE)
def test_cache_refuses_too_many(student):
    for filled, new, room in ((2, 2, 3), (7, 1, 7), (0, 6, 5)):
        cache = student.KVCache(1, 2, room, 2)
        if filled:
            cache.update(torch.ones(1, 2, filled, 2), torch.ones(1, 2, filled, 2))
        ones = torch.ones(1, 2, new, 2)
        assert_raises(ValueError, lambda c=cache, x=ones: c.update(x, x), filled + new, room)


@worth(1.5, "a refused update changes nothing: a later one continues where the tokens end", target=CACHE)
def test_cache_stays_as_it_was(student, rng):
    x = normal(rng, 2, 1, 1, 4, 2)
    for k, v, numbers in ((5, 5, (8, 5)), (2, 1, (2, 1)), (1, 2, (1, 2))):
        cache = student.KVCache(1, 1, 5, 2)
        cache.update(x[0, :, :, :3], x[1, :, :, :3])
        many = [torch.full((1, 1, n, 2), 9.0) for n in (k, v)]
        assert_raises(ValueError, lambda c=cache, given=many: c.update(*given), *numbers)
        assert_close(cache.length, 3, of=f"length after {k} keys and {v} values were refused")
        keys, values = updated(cache, x[0, :, :, 3:], x[1, :, :, 3:], 3, "the next update")
        assert_close(keys, x[0], EXACT, of="keys after a refused update")
        assert_close(values, x[1], EXACT, of="values after a refused update")


@worth(1, "keys and values of different lengths raise a ValueError that names both", target=CACHE)
def test_cache_refuses_other_lengths(student):
    cache = student.KVCache(1, 1, 20, 2)
    for n_k, n_v in ((3, 5), (4, 1)):
        given = [torch.ones(1, 1, n, 2) for n in (n_k, n_v)]
        assert_raises(ValueError, lambda pair=given: cache.update(*pair), n_k, n_v)


@worth(1, "a cache can be filled to its last slot, at once and one by one", target=CACHE)
def test_cache_takes_max_len_tokens(student, rng):
    k, v = normal(rng, 2, 1, 4, 3), normal(rng, 2, 1, 4, 3)
    at_once, one_by_one = student.KVCache(2, 1, 4, 3), student.KVCache(2, 1, 4, 3)
    found = updated(at_once, k, v, 0, "4 tokens for 4 slots")
    for at in range(4):
        last = updated(one_by_one, k[:, :, at : at + 1], v[:, :, at : at + 1], at, f"token {at + 1} for 4 slots")
    for name, ours, theirs in zip(("keys", "values"), found, last, strict=True):
        assert_close(ours, theirs, EXACT, of=f"{name}, at once and one by one")
    assert_close(at_once.length, 4, of="length of a full cache")


@worth(1.5, "after reset, a cache behaves like a new one", target=CACHE)
def test_cache_reset(student, rng):
    used, new = student.KVCache(2, 2, 4, 2), student.KVCache(2, 2, 4, 2)
    used.update(normal(rng, 2, 2, 3, 2), normal(rng, 2, 2, 3, 2))
    used.reset()
    assert_close(used.length, 0, of="length after reset")
    for count, before in ((1, 0), (3, 1)):  # together more than was free before
        k, v = normal(rng, 2, 2, count, 2), normal(rng, 2, 2, count, 2)
        ours, theirs = updated(used, k, v, before, "after reset"), updated(new, k, v, before, "in a new cache")
        assert_close(ours[0], theirs[0], EXACT, of="keys after reset, compared with a new cache")
        assert_close(ours[1], theirs[1], EXACT, of="values after reset, compared with a new cache")
    assert_close(used.length, 4, of="length after reset and four tokens")


@worth(1.5, "two caches share nothing", target=CACHE)
def test_caches_share_nothing(student, rng):
    first, second = student.KVCache(1, 2, 4, 2), student.KVCache(1, 2, 4, 2)
    x = normal(rng, 4, 1, 2, 2, 2)
    updated(first, x[0, :, :, :1], x[1, :, :, :1], 0, "the first cache")
    assert_close(second.length, 0, of="length of the second cache, after an update of the first")
    updated(second, x[2], x[3], 0, "the second cache")
    keys, values = updated(first, x[0, :, :, 1:], x[1, :, :, 1:], 1, "the first cache again")
    assert_close(keys, x[0], EXACT, of="keys of the first cache")
    assert_close(values, x[1], EXACT, of="values of the first cache")
    second.reset()
    assert_close(first.length, 2, of="length of the first cache, after a reset of the second")


@worth(0.75, "each sentence and each head keeps its own tokens", target=CACHE)
def test_cache_keeps_sentences_and_heads_apart(student, rng):
    k, v = normal(rng, 3, 4, 2, 2), normal(rng, 3, 4, 2, 2)
    others, turned = (torch.from_numpy(derangement(rng, n)) for n in (3, 4))
    plain, moved = student.KVCache(3, 4, 3, 2), student.KVCache(3, 4, 3, 2)
    keys, values = updated(plain, k, v, 0)
    found = updated(moved, k[others][:, turned], v[others][:, turned], 0)
    assert_close(found[0], keys[others][:, turned], EXACT, of="keys in another order")
    assert_close(found[1], values[others][:, turned], EXACT, of="values in another order")


@worth(0.75, "keys and values have the dtype of the cache, also after reset", target=CACHE)
def test_cache_dtype(student):
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 1, 2, 2)  # in float32 these are all 1
    for kind, cache in (
        (torch.float64, student.KVCache(1, 1, 3, 2, dtype=torch.float64)),
        (torch.float64, student.KVCache(1, 1, 3, 2, torch.float64)),
        (torch.float32, student.KVCache(1, 1, 3, 2)),
    ):
        for when in ("in a new cache", "after reset"):
            pair = pair_of(cache.update(fine.to(kind), 2 * fine.to(kind)), "(keys, values)", f"{kind}")
            for part, wanted in zip(pair, (fine.to(kind), 2 * fine.to(kind)), strict=True):
                assert_dtype(part, kind)
                assert_close(part, wanted, EXACT, of=f"small differences in {kind}, {when}")
            cache.reset()


# repeat_kv ----------------------------------------------------------------------------------------------


@worth(1.5, "repeat_kv agrees with an independent computation for many shapes", target=REPEAT)
def test_repeat_agrees_with_the_oracle(student, rng, shown):
    cases = [(normal(rng, *shape), n_rep) for shape, n_rep in (((2, 2, 3, 2), 3), ((1, 3, 2, 4), 2), ((3, 4, 1, 1), 1))]
    for (x, n_rep), value in zip(cases, student.repeat_kv.call_many([arguments(*one) for one in cases]), strict=True):
        wanted = single(oracle_repeat(x, n_rep))
        assert_close(tensor_of(value, wanted.shape, "the heads"), wanted, EXACT, of=f"{tuple(x.shape)} times {n_rep}")
    shown(student, REPEAT)


@worth(1.5, "head h of the result is head h // n_rep of x", target=REPEAT)
def test_repeat_side_by_side(student):
    for heads, n_rep in ((2, 2), (3, 2), (2, 4)):
        x = torch.arange(float(heads)).reshape(1, heads, 1, 1).expand(2, heads, 3, 2).clone()
        found = tensor_of(student.repeat_kv(x, n_rep), (2, heads * n_rep, 3, 2), "the heads")
        order = [h // n_rep for h in range(heads * n_rep)]
        got = [int(h) for h in found[0, :, 0, 0]]
        assert got == order, f"{heads} heads, each {n_rep} times: the order is {got}, not {order}"
        assert_close(found, single(order).reshape(1, -1, 1, 1).expand_as(found), EXACT, of="every token and feature")


@worth(1, "once is x itself, and one head becomes equal heads", target=REPEAT)
def test_repeat_at_the_ends(student, rng):
    x, alone = normal(rng, 2, 3, 4, 2), normal(rng, 2, 1, 3, 2)
    once, many = student.repeat_kv.call_many([arguments(x, 1), arguments(alone, 5)])
    assert_close(tensor_of(once, x.shape, "each head once"), x, EXACT, of="each head once")
    assert_close(tensor_of(many, (2, 5, 3, 2), "one head"), alone.expand(2, 5, 3, 2), EXACT, of="one head five times")


@worth(1, "each token and each sentence is repeated alone", target=REPEAT)
def test_repeat_keeps_tokens_apart(student, rng):
    x = normal(rng, 3, 2, 4, 3)
    order, others = (torch.from_numpy(derangement(rng, n)) for n in (4, 3))
    calls = [arguments(x, 2), arguments(x[others][:, :, order], 2), arguments(x[1:2, :, 2:3], 2)]
    values = student.repeat_kv.call_many(calls)
    whole, turned = (tensor_of(value, (3, 4, 4, 3), "the heads") for value in values[:2])
    alone = tensor_of(values[2], (1, 4, 1, 3), "one token")
    assert_close(turned, whole[others][:, :, order], EXACT, of="tokens and sentences in another order")
    assert_close(alone, whole[1:2, :, 2:3], EXACT, of="one token alone")


@worth(1, "the gradient of a head is the sum over its copies", target=REPEAT)
def test_repeat_gradients(student, rng):
    x, cotangent = normal(rng, 2, 2, 3, 2), normal(rng, 2, 6, 3, 2)
    found = student.repeat_kv.vjp(x, 3, cotangent=cotangent)
    expected = torch.stack([cotangent[:, :3].sum(1), cotangent[:, 3:].sum(1)], dim=1)
    testing.assert_gradients(found, [expected], ("x",), SINGLE)


@worth(0.25, "repeat_kv returns the dtype of x", target=REPEAT)
def test_repeat_dtype(student):
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 2, 1, 2)
    for kind in (torch.float32, torch.float64):
        value = student.repeat_kv(fine.to(kind), 2)
        array_like(value, (1, 4, 1, 2))
        assert_dtype(value, kind)
        assert_close(value[:, ::2], fine.to(kind), EXACT, of=f"heads 0 and 2 in {kind}")


# GroupedQueryAttention: values --------------------------------------------------------------------------


@worth(3, "without a cache, output and weights are right for many sizes", target=LAYER)
def test_layer_agrees_with_the_oracle(student, rng, shown):
    for sizes in SIZES:
        state, x = setting(rng, *sizes)
        pair = attended(layer_of(student, sizes, state)(x), x, sizes[3], of=f"{sizes}")
        assert_attends(pair, oracle_attention(state, *sizes[3:], x), of=f"{sizes[3]} heads, {sizes[4]} for keys:")
    shown(student, "GroupedQueryAttention.forward", tolerance=SINGLE)


@worth(3, "with a cache, output and weights are right for many sizes and pieces", target=LAYER)
def test_cached_layer_agrees_with_the_oracle(student, rng):
    for sizes, split in zip(SIZES, ((2, 3), (1, 1, 2), (3, 1, 2), (2, 1), (1, 3), (3, 2)), strict=True):
        state, x = setting(rng, *sizes)
        pairs = in_pieces(layer_of(student, sizes, state), cache_of(student, sizes), x, split, sizes[3])
        expected = oracle_attention(state, *sizes[3:], x)
        assert_attends(joined(pairs), expected, of=f"{sizes[3]} heads, {sizes[4]} for keys, pieces of {split}:")


@worth(3, "pieces of any size give what one call gives, with 1, 2 and all key-value heads", target=LAYER)
def test_pieces_do_not_matter(student, rng):
    for num_kv_heads in (1, 2, 4):
        sizes = (2, 7, 8, 4, num_kv_heads)
        state, x = setting(rng, *sizes)
        layer = layer_of(student, sizes, state)
        complete = attended(layer(x), x, 4)
        for split in SPLITS:
            pairs = in_pieces(layer, cache_of(student, sizes), x, split, 4)
            assert_attends(joined(pairs), complete, of=f"{num_kv_heads} for keys, in pieces of {split}:")


@worth(2, "with as many key-value heads as heads, it is PyTorch's own causal multi-head attention", target=LAYER)
def test_parity_with_the_builtin_oracle(student, rng):
    for sizes in ((2, 5, 8, 4, 4), (3, 4, 6, 1, 1)):
        state, x = setting(rng, *sizes)
        pair = attended(layer_of(student, sizes, state)(x), x, sizes[3])
        assert_attends(pair, oracle_builtin(state, sizes[3], x), of=f"{sizes[3]} heads:")


@worth(2, "shared heads are like heads of their own with equal parameters", target=LAYER)
def test_shared_heads_are_equal_heads(student, rng):
    for num_kv_heads in (1, 2):
        sizes = (2, 4, 12, 4, num_kv_heads)
        state, x = setting(rng, *sizes)
        rows = [3 * (h * num_kv_heads // 4) + d for h in range(4) for d in range(3)]
        names = [f"{name}.{part}" for name in ("k_proj", "v_proj") for part in ("weight", "bias")]
        own = state | {name: state[name][rows] for name in names}
        shared = attended(layer_of(student, sizes, state)(x), x, 4)
        plain = attended(layer_of(student, (*sizes[:4], 4), own)(x), x, 4)
        assert_attends(shared, plain, of=f"{num_kv_heads} shared, compared with 4 equal ones:")


@worth(2, "no token sees a later one, and each sees itself, with a cache and without", target=LAYER)
def test_causal(student, rng):
    sizes = (1, 6, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, other = layer_of(student, sizes, state), x.clone()
    other[:, 4] += 1.0 + normal(rng, 8).abs()
    plain = [attended(layer(one), one, 4)[0] for one in (x, other)]
    cached = [joined(in_pieces(layer, cache_of(student, sizes), one, (2, 4), 4))[0] for one in (x, other)]
    for of, (first, second) in (("without a cache", plain), ("in pieces", cached)):
        assert_close(second[:, :4], first[:, :4], SINGLE, of=f"{of}: outputs before the token that changed")
        moved = (second - first).abs().amax(dim=-1)[0, 4:]
        assert bool((moved > 1e-3).all()), f"{of}: a token changed, but its own output or the next one did not"


@worth(2, "in a chunk behind a cache, token i sees the cache and the chunk up to itself", target=LAYER)
def test_chunk_is_aligned_to_the_bottom_right(student, rng):
    for filled, new in ((3, 2), (1, 4), (4, 4), (5, 1)):
        sizes = (2, filled + new, 8, 2, 1)
        state, x = setting(rng, *sizes)
        layer, cache = layer_of(student, sizes, state), cache_of(student, sizes, max_len=filled + new + 2)
        _, (_, weights) = in_pieces(layer, cache, x, (filled, new), 2)
        assert_rows_sum_to_one(weights, (2, 2, new, filled + new), dtype=np.float32)
        seen = torch.arange(filled + new) <= filled + torch.arange(new)[:, None]
        assert_close(weights * ~seen, torch.zeros_like(weights), EXACT, of=f"{new} behind {filled}: later tokens")
        assert bool((weights[:, :, seen] > 0).all()), f"{new} behind {filled}: a token that may be seen has no weight"


@worth(1.5, "one new token looks at every token in the cache and at itself, and at no empty slot", target=LAYER)
def test_one_token_sees_everything(student, rng):
    sizes = (2, 5, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes, max_len=9)
    for at in range(5):
        piece = x[:, at : at + 1].clone()
        _, weights = attended(layer(piece, cache), piece, 4, at + 1, f"token {at + 1}")
        assert_rows_sum_to_one(weights, (2, 4, 1, at + 1), dtype=np.float32)
        assert bool((weights > 0).all()), f"token {at + 1} does not look at some tokens"


@worth(1.5, "scores are divided by the square root of a head's width", target=LAYER)
def test_scale(student):
    for embed_dim, num_heads in ((16, 1), (16, 4), (8, 2)):
        width = embed_dim // num_heads
        x = torch.zeros(1, 2, embed_dim)
        x[0, :, 0] = torch.tensor([0.0, 2.0])  # head 0 of token 1 has the scores 0 and 4
        layer = student.GroupedQueryAttention.made(embed_dim, num_heads, 1, state=cut_state(embed_dim, width))
        _, weights = attended(layer(x), x, num_heads)
        ratio = float(np.exp(-4.0 / np.sqrt(width)))
        wanted = single([ratio / (1 + ratio), 1 / (1 + ratio)])
        assert_close(weights[0, 0, 1], wanted, SINGLE, of=f"scores of 0 and 4, heads of width {width}")


# A query of 1 against two keys that differ by the square root of 2, the scale: one weight is e times the other.
LARGE = cut_state(2, 2) | {"k_proj.weight": torch.tensor([[0.0, 1], [0, 0]])}
SHARES = single([[1, 0], [1 / (1 + np.exp(-1.0)), 1 - 1 / (1 + np.exp(-1.0))]])


@worth(0.5, "scores of thousands work without a cache", target=LAYER)
def test_large_scores(student):
    # Far below 0, a fill such as -10000 hides no later token. At -50000, float32 is too coarse for the second row.
    for key, rows in ((5000.0, 2), (-5000.0, 2), (-50000.0, 1)):
        x = torch.tensor([[[1.0, key], [1.0, key - 2**0.5]]])
        _, weights = attended(layer_of(student, (1, 2, 2, 1, 1), LARGE)(x), x, 1)
        assert_close(weights[0, 0, :rows], SHARES[:rows], STEEP, of=f"scores near {key}")


@worth(0.5, "scores of thousands work with a cache", target=LAYER)
def test_large_scores_in_a_cache(student):
    for key, split in ((5000.0, (1, 1)), (-5000.0, (1, 1)), (-5000.0, (2,))):
        x = torch.tensor([[[1.0, key], [1.0, key - 2**0.5]]])
        layer, cache = layer_of(student, (1, 2, 2, 1, 1), LARGE), student.KVCache(1, 1, 2, 2)
        _, weights = joined(in_pieces(layer, cache, x, split, 1))
        assert_close(weights[0, 0], SHARES, STEEP, of=f"scores near {key}")


@worth(1.25, "each sentence of a batch is handled alone", target=LAYER)
def test_batches(student, rng):
    sizes = (3, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state)
    together = joined(in_pieces(layer, cache_of(student, sizes), x, (1, 3), 4))
    for b in range(3):
        alone = joined(in_pieces(layer, cache_of(student, sizes, batch=1), x[b : b + 1], (1, 3), 4))
        assert_attends(alone, tuple(one[b : b + 1] for one in together), of=f"sentence {b + 1} alone:")


# GroupedQueryAttention: the cache -----------------------------------------------------------------------


@worth(1.5, "two caches of one layer are not mixed up", target=LAYER)
def test_two_texts_at_a_time(student, rng):
    sizes = (1, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    other = normal(rng, 1, 4, 8)
    layer = layer_of(student, sizes, state)
    caches, found = [cache_of(student, sizes) for _ in range(2)], [[], []]
    for at in range(4):
        for text, cache, pairs in zip((x, other), caches, found, strict=True):
            piece = text[:, at : at + 1].clone()
            pairs.append(attended(layer(piece, cache), piece, 4, at + 1, f"token {at + 1}"))
    for text, pairs in zip((x, other), found, strict=True):
        assert_attends(joined(pairs), attended(layer(text), text, 4), of="one of two texts:")


@worth(1.5, "a call without a cache neither changes a cache nor sees one", target=LAYER)
def test_plain_calls_in_between(student, rng):
    sizes = (2, 5, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes)
    complete = attended(layer(x), x, 4)
    first = attended(layer(x[:, :2].clone(), cache), x[:, :2], 4, 2)
    plain = attended(layer(x), x, 4, of="a call without a cache")
    assert_close(cache.length, 2, of="length of the cache after a call without it")
    second = attended(layer(x[:, 2:].clone(), cache), x[:, 2:], 4, 5)
    assert_attends(plain, complete, of="without a cache, between calls with one:")
    assert_attends(joined([first, second]), complete, of="with a cache, around a call without one:")


@worth(1.25, "after reset of its cache, the layer starts a new text", target=LAYER)
def test_layer_after_reset(student, rng):
    sizes = (2, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes)
    layer(normal(rng, 2, 3, 8), cache)
    cache.reset()
    pairs = in_pieces(layer, cache, x, (3, 1), 4)
    assert_attends(joined(pairs), attended(layer(x), x, 4), of="after reset:")


@worth(1.25, "a full cache raises its ValueError through the layer, and stays as it was", target=LAYER)
def test_layer_with_a_full_cache(student, rng):
    sizes = (1, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes)
    first = attended(layer(x[:, :3].clone(), cache), x[:, :3], 4, 3)
    assert_raises(ValueError, lambda: layer(normal(rng, 1, 3, 8), cache), 6, 4)
    assert_close(cache.length, 3, of="length after the refused call")
    second = attended(layer(x[:, 3:].clone(), cache), x[:, 3:], 4, 4)
    assert_attends(joined([first, second]), attended(layer(x), x, 4), of="around a refused call:")


@worth(1, "the new tokens are in the cache: the key-value heads of each, as k_proj and v_proj make them", target=LAYER)
def test_what_is_in_the_cache(student, rng):
    sizes = (2, 3, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes, max_len=4)
    layer(x[:, :2].clone(), cache)
    layer(x[:, 2:].clone(), cache)
    assert_close(cache.length, 3, of="length of the cache")
    more = normal(rng, 2, 2, 2, 1, 2)
    found = updated(cache, more[0], more[1], 3, "an update after the layer")
    for name, part in zip(("k_proj", "v_proj"), found, strict=True):
        made = nn.functional.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])
        wanted = torch.stack(made.split(2, dim=-1), dim=1)
        assert_close(part[:, :, :3], wanted, SINGLE, of=f"what {name} makes, in the cache")


# GroupedQueryAttention: gradients and the rest ----------------------------------------------------------


@worth(1.5, "without a cache, the gradients agree with those of an independent formula", target=LAYER)
def test_gradients_agree_with_the_oracle(student, rng):
    sizes = (2, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    cotangent = normal(rng, 2, 4, 8), normal(rng, 2, 4, 4, 4)
    found = layer_of(student, sizes, state, training=True).vjp(x, cotangent=cotangent)
    expected, parameters = oracle_gradients(state, 4, 2, x, cotangent)
    testing.assert_gradients(found, [expected], ("x",), STEEP)
    testing.assert_parameter_gradients(found, parameters, STEEP)


@worth(1.5, "without a cache, the gradients agree with finite differences in float64", target=LAYER)
def test_gradients_match_differences(student, rng):
    sizes = (1, 3, 4, 2, 1)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state)
    layer.double()
    cotangent = normal(rng, 1, 3, 4).double(), normal(rng, 1, 2, 3, 3).double()
    assert_gradients_match_differences(layer, [x.double()], cotangent, rng, of=("x",))


@worth(1.25, "without a cache, gradients reach every parameter, through the output and the weights", target=LAYER)
def test_gradients_reach_every_parameter(student, rng):
    sizes = (2, 4, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state, training=True)
    for of, cotangent, names in (
        ("output", (normal(rng, 2, 4, 8), None), list(state)),
        ("weights", (None, normal(rng, 2, 4, 4, 4)), ["q_proj.weight", "q_proj.bias", "k_proj.weight"]),
    ):
        found = layer.vjp(x, cotangent=cotangent)
        named = {"x": found.grads[0], **{name: found.parameters.get(name) for name in names}}
        for name, grad in named.items():
            assert grad is not None, f"no gradient of the {of} reaches {name}: the graph is cut"
            shape = x.shape if name == "x" else state[name].shape
            largest = float(tensor_of(grad, shape, f"the gradient of {name}").abs().max())
            # The same number added to all scores of a row changes nothing, so a bias of the keys has no gradient.
            assert largest > 1e-6 or name == "k_proj.bias", f"the gradient of {name} is 0"


@worth(1.25, "the four projections have the right names and shapes, and nothing else is learnt", target=LAYER)
def test_parameters(student):
    for embed_dim, num_heads, num_kv_heads in ((12, 4, 1), (12, 6, 3), (8, 2, 2)):
        layer = student.GroupedQueryAttention(embed_dim, num_heads, num_kv_heads)
        assert hasattr(layer, "call_many"), "GroupedQueryAttention(12, 4, 1) should be an nn.Module"
        narrow = embed_dim // num_heads * num_kv_heads
        rows = dict(zip(PROJECTIONS, (embed_dim, narrow, narrow, embed_dim), strict=True))
        shapes = {f"{name}.weight": (count, embed_dim) for name, count in rows.items()}
        shapes |= {f"{name}.bias": (count,) for name, count in rows.items()}
        found = layer.parameters()
        assert found.keys() == shapes.keys(), f"the parameters are {', '.join(sorted(found)) or 'none'}"
        for name, shape in shapes.items():
            array_like(found[name], shape, of=name)


@worth(1, "an embed_dim that is not a multiple of num_heads raises a ValueError that names both numbers", target=LAYER)
def test_refuses_features(student):
    for embed_dim, num_heads in ((6, 4), (3, 7)):
        make = student.GroupedQueryAttention
        assert_raises(ValueError, lambda m=make, e=embed_dim, h=num_heads: m(e, h, 1), embed_dim, num_heads)


@worth(1, "num_heads that are not a multiple of num_kv_heads raise a ValueError that names both numbers", target=LAYER)
def test_refuses_heads(student):
    for num_heads, num_kv_heads in ((6, 4), (2, 5), (4, 3)):
        make = student.GroupedQueryAttention
        assert_raises(ValueError, lambda m=make, h=num_heads, k=num_kv_heads: m(60, h, k), num_heads, num_kv_heads)


@worth(1, "train() and eval() give the same result, with any random seed", target=LAYER)
def test_modes(student, rng):
    sizes = (3, 4, 8, 2, 1)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state, training=True)
    student.seed(3)
    training = attended(layer(x), x, 2)
    layer.eval()
    student.seed(4)
    assert_attends(attended(layer(x), x, 2), training, of="in eval mode, compared with train mode:")
    assert_rows_sum_to_one(training[1], (3, 2, 4, 4), dtype=np.float32)


@worth(1, "output and weights have the dtype of the layer and its cache", target=LAYER)
def test_layer_dtype(student, rng):
    sizes = (1, 3, 8, 4, 2)
    state, x = setting(rng, *sizes)
    expected = oracle_attention(state, 4, 2, x)
    layer = layer_of(student, sizes, state)
    for kind in (torch.float32, torch.float64):
        cache = student.KVCache(1, 2, 3, 2, dtype=kind)
        if kind == torch.float64:
            layer.double()
        pieces = [x.to(kind), x[:, :2].to(kind), x[:, 2:].to(kind)]
        calls = [layer(pieces[0]), layer(pieces[1], cache), layer(pieces[2], cache)]
        for piece, total, pair in zip(pieces, (3, 2, 3), calls, strict=True):
            attended(pair, piece, 4, total, of=f"{kind}")
            for part in pair:
                assert_dtype(part, kind)
        assert_close(calls[0][0].detach(), expected[0].to(kind), SINGLE, of=f"{kind}: the output")
        close = DOUBLE if kind == torch.float64 else SINGLE
        assert_close(calls[2][0].detach(), calls[0][0][:, 2:].detach(), close, of=f"{kind}: with a cache")


# decode -------------------------------------------------------------------------------------------------


def decoded(student, layer, x, cache, of="the output"):
    """Return the checked output of decode."""
    return tensor_of(student.decode(layer, x, cache), x.shape, of)


@worth(2, "decode agrees with an independent computation for many sizes", target=DECODE)
def test_decode_agrees_with_the_oracle(student, rng, shown):
    for sizes in SIZES:
        state, x = setting(rng, *sizes)
        found = decoded(student, layer_of(student, sizes, state), x, cache_of(student, sizes))
        assert_close(found, oracle_attention(state, *sizes[3:], x)[0], SINGLE, of=f"{sizes}")
    shown(student, DECODE, tolerance=SINGLE)


@worth(2.5, "decode gives what one complete forward of the layer gives", target=DECODE)
def test_decode_equals_one_forward(student, rng):
    for num_kv_heads in (1, 2, 4):
        sizes = (2, 6, 8, 4, num_kv_heads)
        state, x = setting(rng, *sizes)
        layer = layer_of(student, sizes, state)
        found = decoded(student, layer, x, cache_of(student, sizes, max_len=8))
        assert_close(found, attended(layer(x), x, 4)[0], SINGLE, of=f"{num_kv_heads} key-value heads")


@worth(2, "decode continues a filled cache", target=DECODE)
def test_decode_continues(student, rng):
    sizes = (2, 7, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes)
    first = attended(layer(x[:, :3].clone(), cache), x[:, :3], 4, 3)[0]
    pieces = [decoded(student, layer, x[:, a:b].clone(), cache) for a, b in ((3, 5), (5, 7))]
    complete = attended(layer(x), x, 4)[0]
    assert_close(torch.cat([first, *pieces], dim=1), complete, SINGLE, of="3 tokens, then decode twice")


@worth(1.5, "the decoded tokens stay in the given cache", target=DECODE)
def test_decode_leaves_its_tokens(student, rng):
    sizes = (2, 5, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes, max_len=20)
    layer(x[:, :1].clone(), cache)
    decoded(student, layer, x[:, 1:4].clone(), cache)
    assert_close(cache.length, 4, of="length of the cache after one token and three in decode")
    last = attended(layer(x[:, 4:].clone(), cache), x[:, 4:], 4, 5)
    complete = attended(layer(x), x, 4)
    assert_attends(last, tuple(one[..., 4:, :] for one in complete), of="a token after decode:")


@worth(1.25, "decode calls the layer for each token: in a full cache, the tokens that fit are there", target=DECODE)
def test_decode_into_a_full_cache(student, rng):
    sizes = (1, 5, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer, cache = layer_of(student, sizes, state), cache_of(student, sizes, max_len=3)
    assert_raises(ValueError, lambda: student.decode(layer, x, cache), 4, 3)
    assert_close(cache.length, 3, of="length of the cache after three of five tokens")


@worth(1, "the output of a token does not depend on later ones, nor on other sentences", target=DECODE)
def test_decode_of_parts(student, rng):
    sizes = (3, 5, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state)
    complete = decoded(student, layer, x, cache_of(student, sizes))
    shorter = decoded(student, layer, x[:, :2].clone(), cache_of(student, sizes))
    alone = decoded(student, layer, x[1:2].clone(), cache_of(student, sizes, batch=1))
    single_token = decoded(student, layer, x[:, :1].clone(), cache_of(student, sizes))
    assert_close(shorter, complete[:, :2], SINGLE, of="the first two tokens")
    assert_close(alone, complete[1:2], SINGLE, of="one sentence alone")
    assert_close(single_token, complete[:, :1], SINGLE, of="one token")


@worth(0.5, "decode returns the dtype of the layer and its cache", target=DECODE)
def test_decode_dtype(student, rng):
    sizes = (1, 3, 8, 4, 2)
    state, x = setting(rng, *sizes)
    layer = layer_of(student, sizes, state)
    layer.double()
    found = student.decode(layer, x.double(), student.KVCache(1, 2, 3, 2, dtype=torch.float64))
    array_like(found, (1, 3, 8), of="the output")
    assert_dtype(found, torch.float64)
    complete = pair_of(layer(x.double()), "(output, weights)", "the layer")[0]
    array_like(complete, (1, 3, 8), of="the output of the layer")
    assert_close(found.detach(), complete.detach(), DOUBLE, of="decode in float64")


# kv_cache_bytes -----------------------------------------------------------------------------------------


def oracle_bytes(batch, layers, heads, length, width, each):
    return sum(2 * each * width * length for _ in range(batch * layers * heads))


@worth(1.5, "kv_cache_bytes agrees with an independent computation", target=BYTES)
def test_bytes_agree_with_the_oracle(student):
    for case in ((1, 32, 8, 8192, 128, 2), (3, 5, 7, 11, 13, 4), (2, 1, 1, 1, 1, 1)):
        assert_close(student.kv_cache_bytes(*case), oracle_bytes(*case), of=f"{case}")


@worth(1.5, "twice as many of anything take twice as many bytes", target=BYTES)
def test_bytes_double(student):
    base = [3, 4, 5, 6, 7, 8]
    once = student.kv_cache_bytes(*base)
    assert type(once) is int, f"expected an integer, got {type(once).__name__}"
    names = ("sentences", "layers", "key-value heads", "tokens", "features", "bytes")
    for at, name in enumerate(names):
        twice = [2 * number if i == at else number for i, number in enumerate(base)]
        assert_close(student.kv_cache_bytes(*twice), 2 * once, of=f"twice as many {name}")


@worth(1.25, "keys and values count, and a number has 2 bytes unless another size is given", target=BYTES)
def test_bytes_of_one_number(student):
    assert_close(student.kv_cache_bytes(1, 1, 1, 1, 1), 4, of="one token of width 1")
    assert_close(student.kv_cache_bytes(1, 1, 1, 1, 1, bytes_per_value=4), 8, of="one token of width 1 in float32")


# reflect ------------------------------------------------------------------------------------------------


@worth(1.5, "the bytes with 8 key-value heads are right", target="reflect")
def test_reflect_grouped(student):
    assert_close(student.REFLECT_KV_BYTES_70B_N4096_GQA8, 1342177280)


@worth(1.5, "the bytes with 64 key-value heads are right", target="reflect")
def test_reflect_plain(student):
    assert_close(student.REFLECT_KV_BYTES_70B_N4096_MHA64, 10737418240)
