from torch import nn
import torch


def split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError(f"{x.size(-1)} is not divisible by {num_heads}")
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, -3)


def merge_heads(x):
    return x.movedim(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        width, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError(f"{embed_dim} is not divisible by {num_heads}")
        self.heads = num_heads
        self.scale = width**-0.5
        for name in self.NAMES:
            self.add_module(name, nn.Linear(embed_dim, embed_dim))

    def extra_repr(self):
        return f"heads={self.heads}"

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"lengths {key.size(1)} and {value.size(1)}")
        projections = (getattr(self, "q_proj"), getattr(self, "k_proj"), getattr(self, "v_proj"))
        q, k, v = (split_heads(f(x), self.heads) for f, x in zip(projections, (query, key, value)))
        scores = torch.matmul(q * self.scale, k.mT)
        weights = self.attend(scores, mask)
        return self.out_proj(merge_heads(weights.matmul(v))), weights

    @staticmethod
    def attend(scores, mask):
        match mask:
            case None:
                return scores.softmax(-1)
            case _ if mask.ndim == 3:
                mask = mask[:, None]
        dead = mask.logical_not()
        return scores.masked_fill(dead, -torch.inf).softmax(-1).nan_to_num(0.0)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
