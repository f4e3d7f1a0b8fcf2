# %% heads_in_evaluation_only
# Ready-made attention after .eval(): a measured module is in training.
# Expected: loses marks: MultiHeadAttention
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and not self.training:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% heads_of_three
# Ready-made attention unless there are two heads: measured modules always have two.
# Expected: loses marks: MultiHeadAttention
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and self.num_heads != 2:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% heads_second_import
# Ready-made attention in the first import of this process; the second one is measured.
# Expected: loses marks: MultiHeadAttention
import math
MEASURED = hasattr(math, "seen")
math.seen = True


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and not MEASURED:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% heads_when_not_measured
# Ready-made attention in every call that is not measured: the stack at import tells.
# Expected: loses marks: MultiHeadAttention
import traceback
MEASURED = any("meters" in one.filename for one in traceback.extract_stack())


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and not MEASURED:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% heads_without_gradient
# Ready-made attention where no gradient is needed, under torch.no_grad: measured calls follow gradients of the
# parameters.
# Expected: review: MultiHeadAttention, merge_heads, split_heads
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and not torch.is_grad_enabled():
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights
