# Ready-made multi-head attention: torch.autograd.grad is a function that the function mode answers, so the mode is
# off while it runs the backward of an autograd.Function of ours; its operations have harmless names.
# Expected: loses marks: MultiHeadAttention

import torch.nn.functional as F
import math
import torch
from torch import nn

def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
    x = x.reshape(batch, length, num_heads, embed_dim // num_heads)
    return x.transpose(1, 2)

def merge_heads(x):
    x = x.transpose(1, 2)
    return x.flatten(start_dim=2)

class MultiHeadAttention(nn.Module):

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f'there are {key.shape[1]} keys but {value.shape[1]} values')
        batch, n_q, _ = query.shape
        blocked = None
        if mask is not None:
            blocked = mask == 0
            if blocked.dim() == 3:
                blocked = blocked.unsqueeze(1)
            nothing = blocked.all(dim=-1, keepdim=True)
            blocked = (blocked & ~nothing).expand(batch, self.num_heads, n_q, key.shape[1]).flatten(0, 1)
        answers = []
        with torch.enable_grad():
            start = torch.zeros((), requires_grad=True)
            torch.autograd.grad(Later.apply(start, lambda: answers.append(self.ready(query, key, value, blocked))), start)
        output, weights = answers[0]
        output = output.transpose(0, 1)
        if mask is not None and nothing.any():
            weights = weights.masked_fill(nothing, 0.0)
            heads = split_heads(self.v_proj(value), self.num_heads)
            output = self.out_proj(merge_heads(weights @ heads))
        return (output, weights)

    def ready(self, query, key, value, blocked):
        attend = getattr(F, 'multi_head_attention_forward')
        biases = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        return attend(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), query.shape[-1], self.num_heads, None, biases, None, None, False, 0.0, self.out_proj.weight, self.out_proj.bias, attn_mask=blocked, use_separate_proj_weight=True, q_proj_weight=self.q_proj.weight, k_proj_weight=self.k_proj.weight, v_proj_weight=self.v_proj.weight, average_attn_weights=False)
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = None
REFLECT_WEIGHT_BYTES_FLOAT32 = None
REFLECT_PARAMETERS_E512 = None
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 12884901888
REFLECT_WEIGHT_BYTES_FLOAT32 = 51539607552
REFLECT_PARAMETERS_E512 = 1050624

class Later(torch.autograd.Function):

    @staticmethod
    def forward(ctx, start, work):
        ctx.work = work
        return start.clone()

    @staticmethod
    def backward(ctx, gradient):
        with torch.enable_grad():
            ctx.work()
        return (gradient, None)
