# %% [markdown]
# # 09 · The KV cache
#
# A model writes text one token at a time. The keys and values of the tokens before never change, so they are computed
# once and kept. Only the new token is projected, and it looks at everything that is kept:
#
# $$\operatorname{softmax}\!\left(\frac{q_t\, K_{\le t}^\top}{\sqrt{D}}\right) V_{\le t}$$
#
# You may use all of PyTorch except its built-in attention: `F.scaled_dot_product_attention` and
# `nn.MultiheadAttention` (and everything that calls them).
#
# After each step there is a cell that tries it. Run it in a notebook, or run all cells up to the first missing step
# with `python kv_cache.py`. `attn test kv_cache` runs the visible checks.
# The lesson is in `README.md` next to this file.

# %%
import math

import torch
from torch import nn

# %% [markdown]
# ## Build 1: a cache for keys and values
#
# The memory for `max_len` tokens is reserved once, at the beginning. After that, new tokens are only written behind the
# ones that are there. Nothing is moved.


# %%
class KVCache:
    """Keys and values of the tokens so far, for one attention layer.

    Two caches never share anything. A cache has room for max_len tokens of batch sentences.
    """

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        """Make an empty cache, and reserve its memory.

        Keys and values are (batch, num_kv_heads, up to max_len, head_dim), of this dtype.
        """
        ### BEGIN SOLUTION
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.used = 0
        ### END SOLUTION

    @property
    def length(self):
        """The number of tokens in the cache, an integer: 0 at first, and after `reset`.

        If you would rather set an attribute self.length in the methods, delete this property.
        """
        ### BEGIN SOLUTION
        return self.used
        ### END SOLUTION

    def update(self, k, v):
        """Write new keys and values behind those that are there. Return all keys and all values so far, a tuple.

        k, v: (batch, num_kv_heads, n_new, head_dim), for one new token or several. The two results are (batch,
        num_kv_heads, length, head_dim), oldest token first, with the dtype of the cache.

        - Raises ValueError naming both lengths if k and v have different numbers of tokens.
        - Raises ValueError naming the length that would be needed and max_len if there is no room for all of k. A
          refused update changes nothing: neither the length nor what is kept.
        - It costs as much as the new tokens, however many are there already: no work, no memory and no loop grows with
          the length or with max_len. So the results are views of the cache, not copies, and the cache never grows.
        - k and v are not modified.
        """
        ### BEGIN SOLUTION
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"there are {k.shape[2]} new keys but {v.shape[2]} new values")
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} tokens do not fit into a cache for {self.keys.shape[2]}")
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]
        ### END SOLUTION

    def reset(self):
        """Forget all tokens. After it, the cache behaves like a new one."""
        ### BEGIN SOLUTION
        self.used = 0
        ### END SOLUTION


# %%
# Try the constructor: room for four tokens
if __name__ == "__main__":
    KVCache(batch=1, num_kv_heads=1, max_len=4, head_dim=2)

# %%
# Try the length: a new cache is empty
if __name__ == "__main__":
    assert KVCache(1, 1, 4, 2).length == 0, "a new cache has no tokens"

# %%
# Try it: the keys and values of The and cat, then of sat
if __name__ == "__main__":
    cache = KVCache(1, 1, 4, 2)
    cache.update(torch.tensor([[[[0.0, 1], [1, 0]]]]), torch.tensor([[[[1.0, 0], [0, 1]]]]))
    keys, values = cache.update(torch.tensor([[[[1.0, 1]]]]), torch.tensor([[[[0.0, 0]]]]))
    print("keys:", keys[0, 0].tolist(), "values:", values[0, 0].tolist(), "length:", cache.length)
    assert keys[0, 0].tolist() == [[0, 1], [1, 0], [1, 1]], "the new key is behind the two that were there"
    assert values[0, 0].tolist() == [[1, 0], [0, 1], [0, 0]], "values are kept like keys"
    assert cache.length == 3, "two tokens and one more"
    two = torch.zeros(1, 1, 2, 2)
    try:
        cache.update(two, two)
    except ValueError as error:
        print("refused:", error)
    else:
        raise AssertionError("5 tokens do not fit into a cache for 4")
    assert cache.length == 3, "a refused update changes nothing"

# %%
# Try reset: the next token is the first one again
if __name__ == "__main__":
    cache = KVCache(1, 1, 4, 2)
    cache.update(torch.ones(1, 1, 3, 2), torch.ones(1, 1, 3, 2))
    cache.reset()
    assert cache.length == 0, "no tokens are left"
    keys, values = cache.update(torch.tensor([[[[5.0, 6]]]]), torch.tensor([[[[7.0, 8]]]]))
    assert keys.tolist() == [[[[5, 6]]]], "the old keys are gone"

# %% [markdown]
# ## Build 2: heads that share keys and values
#
# Fewer key-value heads make the cache smaller. Neighbouring query heads share one: with four query heads and two
# key-value heads, query heads 0 and 1 use key-value head 0, and query heads 2 and 3 use head 1.


# %%
def repeat_kv(x, n_rep):
    """Return x, (B, H_kv, N, D), as (B, H_kv * n_rep, N, D): each head n_rep times, copies of one head side by side.

    Head h of the result is head h // n_rep of x: with n_rep = 2, heads 0, 1 become 0, 0, 1, 1.

    - n_rep is at least 1. Gradients flow through it. The dtype of x is kept. x is not modified; the result may share
      its memory.
    """
    ### BEGIN SOLUTION
    return x.repeat_interleave(n_rep, dim=1)
    ### END SOLUTION


# %%
# Try it: two heads, each twice
if __name__ == "__main__":
    x = torch.tensor([[[[0.0, 1]], [[10, 11]]]])  # (1, 2, 1, 2): two heads of one token
    repeated = repeat_kv(x, 2)
    print("heads:", repeated[0, :, 0].tolist())
    assert repeated.shape == (1, 4, 1, 2), f"(B, H_kv * n_rep, N, D) is (1, 4, 1, 2), not {tuple(repeated.shape)}"
    assert repeated[0, :, 0].tolist() == [[0, 1], [0, 1], [10, 11], [10, 11]], "copies of one head side by side"

# %% [markdown]
# ## Build 3: attention with a cache
#
# This is module 06 with three changes: it is always causal, there may be fewer key-value heads than query heads, and
# the tokens may stand behind others that are only in the cache.


# %%
class GroupedQueryAttention(nn.Module):
    """Causal self-attention over batches of tokens, (B, N, E) in and out, with shared key-value heads and a cache.

    It has exactly these parameters: q_proj and out_proj, each an `nn.Linear(embed_dim, embed_dim)`, and k_proj and
    v_proj, each an `nn.Linear(embed_dim, num_kv_heads * head_dim)`, all with a bias. head_dim is embed_dim / num_heads.
    Nothing else is learnt, and there is no dropout: train() and eval() give the same result.
    """

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        """Make the four projections. 1 key-value head is multi-query, num_heads of them are plain multi-head attention.

        - Raises ValueError naming both numbers if embed_dim is not a multiple of num_heads.
        - Raises ValueError naming both numbers if num_heads is not a multiple of num_kv_heads.
        """
        super().__init__()
        ### BEGIN SOLUTION
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {num_kv_heads} key-value heads evenly")
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        ### END SOLUTION

    def forward(self, x, cache=None):
        """Return (output, weights), a tuple: output (B, n_new, E) and the weights of every head (B, H, n_new, total).

        x: (B, n_new, E), the new tokens, one or several. cache: None, or a KVCache whose tokens stand before those of
        x. total is the number of all tokens: those in the cache and the new ones. Afterwards the new tokens are in the
        cache, too.

        - Heads are cut as in module 06: head h has the features h * head_dim to (h + 1) * head_dim - 1 of its
          projection. Query head h uses key-value head h // (num_heads / num_kv_heads).
        - Scores are divided by the square root of head_dim. The softmax is over the tokens that a token may see.
        - Always causal: new token i stands at position (length of the cache before the call) + i. It sees every token
          at its own position or before, itself included. Later tokens have the weight 0.
        - Chunks do not matter: a text gives the same output and weights in one call, token by token, or in any pieces.
        - Without a cache nothing is kept from call to call, and no cache of an earlier call is read or changed. Then
          gradients flow to x and to all parameters. Gradients through a cache are not tested.
        - With a cache, it uses nothing but `update`, `length` and `reset` of it, so that any cache fits. If the cache
          is full, the ValueError of `update` reaches the caller, and the cache stays as it was.
        - Scores of any size work, such as 5000. The result has the dtype of the layer: float32, or float64 after
          .double(), with a cache of float64. x is not modified.
        - One new token costs as much as total * E + E * E: earlier tokens are not projected again, and there is no
          table of total * total.
        """
        ### BEGIN SOLUTION
        batch, n_new, _ = x.shape
        q, k, v = (
            projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)  # (B, H or H_kv, n_new, D)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        if cache is not None:
            k, v = cache.update(k, v)  # (B, H_kv, total, D)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)  # (B, H, total, D)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)  # (B, H, n_new, total)
        total = k.shape[2]
        allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)  # bottom right
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)  # (B, H, n_new, total)
        merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)  # (B, n_new, E)
        return self.out_proj(merged), weights
        ### END SOLUTION


# %%
# Try the constructor: four query heads of width 2 share two key-value heads
if __name__ == "__main__":
    shapes = {name: tuple(one.shape) for name, one in GroupedQueryAttention(8, 4, 2).named_parameters()}
    print("parameters:", ", ".join(f"{name} {shape}" for name, shape in shapes.items()))
    assert shapes["q_proj.weight"] == shapes["out_proj.weight"] == (8, 8)
    assert shapes["k_proj.weight"] == shapes["v_proj.weight"] == (4, 8), "two key-value heads of width 2"

# %%
# The sentence of the lesson, for the cells below: a token holds its query, its key and its value side by side, and the
# projections cut out one of them
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    sentence = torch.cat([Q, K, V], dim=-1)[None]  # (1, 5, 12)

    def with_cuts(layer):
        """Let the projections cut queries, keys and values out of the 12 features; out_proj keeps all features."""
        with torch.no_grad():
            for part, projection in enumerate((layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj)):
                projection.weight.copy_(torch.eye(12).roll(4 * part, dims=1)[: projection.weight.shape[0]])
                projection.bias.zero_()
            layer.q_proj.weight[4:] = 0
        return layer


# %%
# Try it: head 0 has the queries of the lesson, and all three heads share its keys and values
if __name__ == "__main__":
    layer = with_cuts(GroupedQueryAttention(embed_dim=12, num_heads=3, num_kv_heads=1))
    _, weights = layer(sentence)
    assert weights.shape == (1, 3, 5, 5), f"weights of every head: (1, 3, 5, 5), not {tuple(weights.shape)}"
    print("causal weights of on, head 0:", [round(w, 4) for w in weights[0, 0, 3].tolist()])
    expected = torch.tensor([0.2350, 0.2350, 0.1425, 0.3875, 0])
    assert torch.allclose(weights[0, 0, 3], expected, atol=1e-4), "see the table in the lesson"

# %%
# Try the cache: three tokens, then two more that stand behind them
if __name__ == "__main__":
    layer = with_cuts(GroupedQueryAttention(12, 3, 1))
    complete, _ = layer(sentence)
    cache = KVCache(batch=1, num_kv_heads=1, max_len=8, head_dim=4)
    first, _ = layer(sentence[:, :3], cache)
    second, weights = layer(sentence[:, 3:], cache)
    print("weights of the chunk (on, mat):", [[round(w, 4) for w in row] for row in weights[0, 0].tolist()])
    assert weights.shape == (1, 3, 2, 5), f"two new tokens, five in all: (1, 3, 2, 5), not {tuple(weights.shape)}"
    assert weights[0, 0, 0, 4] == 0, "on does not see mat"
    assert torch.allclose(torch.cat([first, second], dim=1), complete, atol=1e-6), "chunks do not matter"

# %% [markdown]
# ## Build 4: decode token by token
#
# This is what a program does that writes text: it gives the layer one token, takes the result, and gives it the next.


# %%
def decode(attention, x, cache):
    """Give the tokens of x to the layer one by one, through the cache. Return all outputs, (B, N, E).

    attention: a GroupedQueryAttention. x: (B, N, E). cache: a KVCache, empty or not; the tokens of x stand behind those
    that are there, and stay in it. The result is that of one call of the layer with all tokens.

    - The layer is called once for each token, in order, with that token only. So if the cache becomes full, the
      ValueError of `update` reaches the caller, and the tokens before are in the cache.
    - All N tokens together cost as much as N * N * E + N * E * E.
    - x is not modified. Only the outputs are returned, no weights.
    """
    ### BEGIN SOLUTION
    outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]  # each (B, 1, E)
    return torch.cat(outputs, dim=1)
    ### END SOLUTION


# %%
# Try it: token by token is the same as all at once
if __name__ == "__main__":
    torch.manual_seed(0)
    layer = GroupedQueryAttention(embed_dim=8, num_heads=4, num_kv_heads=2)
    x, cache = torch.randn(2, 6, 8), KVCache(batch=2, num_kv_heads=2, max_len=6, head_dim=2)
    one_by_one = decode(layer, x, cache)
    assert one_by_one.shape == (2, 6, 8), f"(B, N, E) is (2, 6, 8), not {tuple(one_by_one.shape)}"
    assert torch.allclose(one_by_one, layer(x)[0], atol=1e-6), "decode gives what one complete forward gives"
    assert cache.length == 6, "the tokens are in the cache"

# %% [markdown]
# ## Build 5: how large is a cache?


# %%
def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    """Return the bytes of all caches of a model, an integer: keys and values for every layer, sentence and token."""
    ### BEGIN SOLUTION
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value
    ### END SOLUTION


# %%
# Try it: the cache of the cells above, in float32
if __name__ == "__main__":
    print("bytes:", kv_cache_bytes(batch=1, num_layers=1, num_kv_heads=1, max_len=4, head_dim=2, bytes_per_value=4))
    assert kv_cache_bytes(1, 1, 1, 4, 2, bytes_per_value=4) == 64, (
        "4 tokens, keys and values of 2 numbers, 4 bytes each"
    )

# %% [markdown]
# ## Use: what is computed again and again
#
# A counter at `k_proj` shows how many tokens it gets while five tokens are written. Without a cache, every step
# projects all tokens so far. With one, each token is projected once.

# %%
if __name__ == "__main__":
    layer, projected = GroupedQueryAttention(8, 4, 2), []
    layer.k_proj.register_forward_hook(lambda _layer, args, _result: projected.append(args[0].shape[1]))
    x = torch.randn(1, 5, 8)
    for n in range(1, 6):
        layer(x[:, :n])
    print(f"without a cache: {projected}, together {sum(projected)} tokens")
    projected.clear()
    decode(layer, x, KVCache(1, 2, 5, 2))
    print(f"with a cache:    {projected}, together {sum(projected)} tokens")

# %% [markdown]
# ## Use: the sentence, one token at a time
#
# Each token looks at what is in the cache, and at itself. No row changes when the next token arrives.

# %%
if __name__ == "__main__":
    layer, cache = with_cuts(GroupedQueryAttention(12, 3, 1)), KVCache(1, 1, 5, 4)
    for token, now in zip(tokens, sentence.split(1, dim=1), strict=True):
        row = layer(now, cache)[1][0, 0, 0].tolist()
        print(f"{token:>4}: " + "  ".join(f"{seen} {w:.4f}" for seen, w in zip(tokens, row, strict=False)))

# %% [markdown]
# ## Reflect
#
# A model with 70 billion parameters has 80 layers and heads of width 128. Its numbers take 2 bytes each. How many bytes
# does the cache of one text of 4096 tokens take with 8 key-value heads? And how many would it take if each of the 64
# query heads had keys and values of its own? Replace each `None` (or assign the answers below it).

# %%
REFLECT_KV_BYTES_70B_N4096_GQA8 = None
REFLECT_KV_BYTES_70B_N4096_MHA64 = None
### BEGIN SOLUTION
REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
### END SOLUTION
