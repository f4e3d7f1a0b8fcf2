import torch
import torch.nn as nn
import torch.nn.functional as F
from itertools import chain


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("E = {}, H = {}".format(x.shape[-1], num_heads))
    return torch.stack(torch.tensor_split(x, num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat([*x.unbind(1)], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("E = {}, H = {}".format(embed_dim, num_heads))
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _joined(self, x, *layers):
        """Apply several layers to the same tokens as one larger product."""
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        return F.linear(x, weight, bias).chunk(len(layers), dim=-1)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            q, k, v = self._joined(query, self.q_proj, self.k_proj, self.v_proj)
        elif value is None or value is key:
            (q,), (k, v) = self._joined(query, self.q_proj), self._joined(key, self.k_proj, self.v_proj)
        else:
            if key.shape[1] != value.shape[1]:
                raise ValueError("N_k = {}, N_v = {}".format(key.shape[1], value.shape[1]))
            q, k, v = chain(
                self._joined(query, self.q_proj), self._joined(key, self.k_proj), self._joined(value, self.v_proj)
            )
        q, k, v = map(lambda t: split_heads(t, self.num_heads), (q, k, v))
        s = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        if mask is not None:
            keep = (mask.unsqueeze(1) if mask.ndim == 3 else mask) > 0
            s = s.masked_fill(~keep, -torch.inf)
            top = s.detach().amax(-1, keepdim=True).nan_to_num(neginf=0.0)
            e = torch.exp(s - top)
            w = e / (e.sum(-1, keepdim=True) + (~keep).all(-1, keepdim=True))
        else:
            w = s.softmax(-1)
        return self.out_proj(merge_heads(w @ v)), w


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
