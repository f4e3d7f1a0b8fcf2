import torch, math
import torch.nn as nn

def split_heads(x, num_heads):
    batch_size, seq_len, d_model = x.size()
    if d_model % num_heads != 0:
        raise ValueError(f"d_model {d_model} must be divisible by num_heads {num_heads}")
    d_k = d_model // num_heads
    x = x.view(batch_size, seq_len, num_heads, d_k)
    x = x.transpose(1, 2)
    return x

def merge_heads(x):
    batch_size, num_heads, seq_len, d_k = x.size()
    return x.transpose(1, 2).contiguous().view(batch_size, seq_len, num_heads * d_k)

class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super(MultiHeadAttention, self).__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.d_k = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(0.0)

    def attention(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.transpose(-2, -1)) / torch.sqrt(torch.tensor(self.d_k, dtype=q.dtype))
        if mask is not None:
            mask = torch.as_tensor(mask)
            if mask.dim() == 2:
                mask = mask.unsqueeze(0).unsqueeze(0)
            elif mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(mask == 0, float('-inf'))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = torch.where(mask == 0, torch.zeros_like(weights), weights)
        weights = self.dropout(weights)
        return torch.matmul(weights, v), weights

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.size(1) != value.size(1):
            raise ValueError(f"key length {key.size(1)} and value length {value.size(1)} differ")
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        out, weights = self.attention(q, k, v, mask)
        out = self.out_proj(merge_heads(out))
        return out, weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

