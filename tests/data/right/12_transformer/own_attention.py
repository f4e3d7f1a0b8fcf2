import math

import torch
import torch.nn.functional as F
from torch import nn


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


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        root = torch.sqrt(x.square().mean(-1) + self.eps)
        return (x.movedim(-1, 0) / root).movedim(0, -1) * self.weight


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        for name in ("gate", "up"):
            setattr(self, name, nn.Linear(embed_dim, hidden_dim, bias=False))
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.down(torch.mul(F.silu(self.gate(x)), self.up(x)))


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        attended = self.attention(self.norm1(x), None, None, mask)
        x = attended[0] + x
        return torch.stack([x, self.feed_forward(self.norm2(x))]).sum(dim=0)


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, False)

    def stream(self, ids):
        n = ids.shape[-1]
        if n > self.context_length:
            raise ValueError(f"context_length is {self.context_length}, not {n}")
        where = torch.arange(0, n, dtype=torch.long, device=ids.device)
        x = self.token_embedding(ids).add(self.position_embedding(where))
        mask = torch.full((n, n), True, device=ids.device).tril(diagonal=0)
        for block in self.blocks:
            x = block(x, mask)
        return x

    def forward(self, ids):
        return self.head(self.norm(self.stream(ids)))


def cross_entropy(logits, targets):
    wanted = torch.zeros_like(logits, dtype=torch.bool).scatter_(-1, targets[..., None], True)
    return torch.logsumexp(logits, -1).mean() - logits[wanted].mean()


def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)
    pieces = torch.stack([data[starts + i] for i in range(context_length + 1)], dim=1)
    return (pieces[:, :-1], pieces[:, 1:])


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


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    training = model.training
    model.eval()
    columns = list(ids.unbind(1))
    with torch.no_grad():
        while len(columns) < ids.shape[1] + max_new_tokens:
            seen = torch.stack(columns[-model.context_length :], dim=1)
            columns.append(sample_next(model(seen)[:, -1], temperature, top_k, top_p, generator))
    if training:
        model.train()
    return torch.stack(columns, dim=1)


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.AdamW(list(model.parameters()), lr=lr, weight_decay=0.1)
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        optimizer.zero_grad(set_to_none=False)
        logits = model(inputs)
        loss = cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().item())
    return losses


REFLECT_INITIAL_LOSS_V65 = -math.log(1 / 65)
REFLECT_PARAMETERS = 683392
