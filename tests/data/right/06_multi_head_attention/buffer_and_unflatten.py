import torch
from torch import nn


def split_heads(x: torch.Tensor, num_heads: int) -> torch.Tensor:
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} % {num_heads} != 0")
    return x.unflatten(2, (num_heads, x.shape[-1] // num_heads)).movedim(2, 1)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    return x.movedim(1, 2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Multi-head attention with its scale in a buffer."""

    scale: torch.Tensor

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} % {num_heads} != 0")
        self.num_heads = num_heads
        self.register_buffer("scale", torch.tensor((embed_dim // num_heads) ** 0.5))
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if (n := key.shape[-2]) != (m := value.shape[-2]):
            raise ValueError(f"lengths {n} and {m}")
        q, k, v = (
            split_heads(proj(x), self.num_heads)
            for proj, x in zip((self.q_proj, self.k_proj, self.v_proj), (query, key, value), strict=True)
        )
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.scale
        weights = self.normalise(scores, mask)
        return self.out_proj(merge_heads(torch.matmul(weights, v))), weights

    @staticmethod
    def normalise(scores, mask):
        if mask is None:
            return scores.softmax(dim=-1)
        if mask.ndim == 3:
            mask = mask.unsqueeze(1)
        blocked = torch.logical_not(mask)
        weights = scores.masked_fill(blocked, float("-inf")).softmax(dim=-1)
        return weights.masked_fill(blocked, 0)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

