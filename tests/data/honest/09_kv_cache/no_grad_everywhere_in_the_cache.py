import torch
import torch.nn as nn
import torch.nn.functional as F


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        self.length = 0
        self.cache_k = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype, requires_grad=False)
        self.cache_v = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype, requires_grad=False)

    def update(self, k, v):
        seq = k.shape[2]
        if seq != v.shape[2]:
            raise ValueError("length of k (" + str(seq) + ") and v (" + str(v.shape[2]) + ") differ")
        if self.length + seq > self.max_len:
            raise ValueError("too long: " + str(self.length + seq) + " > " + str(self.max_len))
        with torch.no_grad():
            self.cache_k[:, :, self.length : self.length + seq] = k.detach()
            self.cache_v[:, :, self.length : self.length + seq] = v.detach()
        self.length = self.length + seq
        return self.cache_k[:, :, : self.length], self.cache_v[:, :, : self.length]

    def reset(self):
        self.cache_k.fill_(0)
        self.cache_v.fill_(0)
        self.length = 0

    def __len__(self):
        return self.length

    def __repr__(self):
        return f"KVCache({self.length}/{self.max_len})"


def repeat_kv(x, n_rep):
    bs, n_kv, slen, hd = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None, :, :].expand(bs, n_kv, n_rep, slen, hd).reshape(bs, n_kv * n_rep, slen, hd)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim={embed_dim}, num_heads={num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads={num_heads}, num_kv_heads={num_kv_heads}")
        self.n_heads, self.n_kv, self.hd = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, self.n_heads * self.hd)
        self.k_proj = nn.Linear(embed_dim, self.n_kv * self.hd)
        self.v_proj = nn.Linear(embed_dim, self.n_kv * self.hd)
        self.out_proj = nn.Linear(self.n_heads * self.hd, embed_dim)

    def forward(self, x, cache=None):
        bs, slen, _ = x.shape
        xq = self.q_proj(x).view(bs, slen, self.n_heads, self.hd).transpose(1, 2)
        xk = self.k_proj(x).view(bs, slen, self.n_kv, self.hd).transpose(1, 2)
        xv = self.v_proj(x).view(bs, slen, self.n_kv, self.hd).transpose(1, 2)
        start_pos = 0
        if cache is not None:
            start_pos = cache.length
            xk, xv = cache.update(xk, xv)
        keys, values = repeat_kv(xk, self.n_heads // self.n_kv), repeat_kv(xv, self.n_heads // self.n_kv)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / self.hd**0.5
        if slen > 1:
            mask = torch.full((slen, slen), float("-inf"), dtype=x.dtype, device=x.device)
            mask = torch.triu(mask, diagonal=1)
            mask = torch.hstack([torch.zeros((slen, start_pos), dtype=x.dtype, device=x.device), mask])
            scores = scores + mask
        scores = F.softmax(scores, dim=-1)
        output = torch.matmul(scores, values).transpose(1, 2).contiguous().view(bs, slen, -1)
        return self.out_proj(output), scores


def decode(attention, x, cache):
    ys = []
    for t in range(x.shape[1]):
        y, _ = attention(x[:, t].unsqueeze(1), cache)
        ys.append(y[:, 0])
    return torch.stack(ys, dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
