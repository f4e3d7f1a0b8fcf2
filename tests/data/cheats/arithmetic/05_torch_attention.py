# %% torch_above_measured_sizes
# Ready-made attention for more than 200 keys: no measured size has so many.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and k.shape[-2] > 200:
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights
