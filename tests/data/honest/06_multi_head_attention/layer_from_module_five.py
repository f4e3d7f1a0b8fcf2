from torch import nn

from mylab.torch_attention import ScaledDotProductAttention


def split_heads(x, num_heads):
    *rest, features = x.shape
    if features % num_heads:
        raise ValueError(f"cannot split {features} features among {num_heads} heads")
    return x.reshape(*rest, num_heads, features // num_heads).swapaxes(1, 2)


def merge_heads(x):
    return x.swapaxes(1, 2).flatten(start_dim=2)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"cannot split {embed_dim} features among {num_heads} heads")
        self.num_heads = num_heads
        self.attention = ScaledDotProductAttention(embed_dim // num_heads)
        for name in ["q_proj", "k_proj", "v_proj", "out_proj"]:
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(f"{key.shape[-2]} keys and {value.shape[-2]} values")
        if mask is not None and mask.ndim == 3:
            mask = mask[:, None]
        heads = [
            split_heads(projection(x), self.num_heads)
            for projection, x in [(self.q_proj, query), (self.k_proj, key), (self.v_proj, value)]
        ]
        output, weights = self.attention(*heads, mask=mask)
        return self.out_proj(merge_heads(output)), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
