import math

import torch
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + self.eps))


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(z * torch.sigmoid(z) * self.up(x))


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        for norm, half in ((self.norm1, lambda y: self.attention(y, mask=mask)[0]), (self.norm2, self.feed_forward)):
            x = x + half(norm(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.Sequential(*[TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n).to(ids.device))[None]
        mask = ~torch.triu(torch.ones(n, n, dtype=torch.bool, device=ids.device), diagonal=1)
        for layer in range(len(self.blocks)):
            x = self.blocks[layer](x, mask)
        return self.head(self.norm(x))


def cross_entropy(logits, targets):
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    return (flat.logsumexp(1) - flat[torch.arange(len(wanted)), wanted]).mean()


def get_batch(data, batch_size, context_length, generator):
    even = torch.ones(len(data) - context_length)
    starts = torch.multinomial(even, batch_size, replacement=True, generator=generator)
    rows = [data.narrow(0, int(s), context_length + 1) for s in starts]
    rows = torch.stack(rows)
    return rows[:, :context_length], rows[:, -context_length:]


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    logits = logits / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        values, indices = logits.topk(top_k)
        logits = torch.full_like(logits, -math.inf)
        logits.scatter_(-1, indices, values)
    if top_p is not None:
        values, indices = logits.sort(dim=-1, descending=True)
        probs = values.softmax(-1)
        drop = probs.cumsum(-1) - probs >= top_p
        logits = torch.full_like(logits, -math.inf).scatter(-1, indices, values.masked_fill(drop, -math.inf))
    noise = torch.rand(logits.shape, generator=generator).clamp(min=1e-12)
    return (logits - torch.log(-torch.log(noise))).argmax(dim=-1)


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


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.95))
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        model.zero_grad()
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach().numpy()))
    return losses


REFLECT_INITIAL_LOSS_V65 = 4.1735
REFLECT_PARAMETERS = 683392
