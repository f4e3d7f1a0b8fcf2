# %% heads_above_measured_sizes
# Ready-made attention for more than 200 keys: no measured size has so many.
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
        if mask is None and k.shape[-2] > 200:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights
