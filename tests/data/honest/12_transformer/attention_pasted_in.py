# %% [markdown]
# # 12 · A transformer that writes

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F


# %%
# I copied my attention from module 06.
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        self.num_heads = num_heads
        self.q_proj, self.k_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.v_proj, self.out_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        parts = zip((self.q_proj, self.k_proj, self.v_proj), (query, key, value), strict=True)
        q, k, v = (part(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for part, x in parts)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = scores.softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights


# %%
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        root = torch.sqrt(x.square().mean(-1) + self.eps)
        return (x.movedim(-1, 0) / root).movedim(0, -1) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(z * torch.sigmoid(z) * self.up(x))


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, mask)[0]
        x = x + self.feed_forward(self.norm2(x))
        return x


# %%
class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)), persistent=False)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n, device=ids.device))
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        return self.head(self.norm(x))


# %%
def cross_entropy(logits, targets):
    logits = logits - logits.amax(dim=-1, keepdim=True).detach()
    normal = logits.exp().sum(dim=-1).log()
    chosen = torch.take_along_dim(logits, targets.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(normal - chosen)


# %%
def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(high=data.numel() - context_length, size=(batch_size, 1), generator=generator)
    places = starts + torch.arange(context_length)
    return data[places], data[places + 1]


# %%
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    logits = logits / temperature
    ranks = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    if top_k is not None:
        logits = logits.masked_fill(ranks >= top_k, float("-inf"))
    probs = logits.softmax(dim=-1)
    if top_p is not None:
        best_first = probs.sort(dim=-1, descending=True).values
        kept = (best_first.cumsum(-1) - best_first < top_p).sum(dim=-1, keepdim=True)
        ranks = probs.argsort(dim=-1, descending=True).argsort(dim=-1)
        probs = probs * (ranks < kept)
    sums = probs.double().cumsum(-1)
    point = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64) * sums[:, -1:]
    return torch.searchsorted(sums, point, right=True).squeeze(-1)


# %%
@torch.no_grad()
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    mode = model.training
    model.eval()
    try:
        for _ in range(max_new_tokens):
            seen = ids if ids.shape[1] <= model.context_length else ids[:, -model.context_length :]
            new = sample_next(model(seen)[:, -1, :], temperature, top_k=top_k, top_p=top_p, generator=generator)
            ids = torch.cat((ids, new[:, None]), dim=1)
    finally:
        model.train(mode)
    return ids


# %%
def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr)
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss))
    return losses


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
