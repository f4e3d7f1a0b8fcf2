import math

import torch
import torch.nn.functional as F
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        squares = torch.einsum("...d,...d->...", x, x)[..., None]
        return torch.mul(x, self.weight) / torch.sqrt(squares / x.size(-1) + self.eps)


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        gate = torch.einsum("bne,he->bnh", x, self.gate.weight)
        up = torch.einsum("bne,he->bnh", x, self.up.weight)
        return torch.einsum("bnh,eh->bne", F.silu(gate) * up, self.down.weight)


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        residual = x
        x = self.norm1(x)
        x, _ = self.attention(x, x, mask=mask)
        x = residual + x
        residual = x
        return residual + self.feed_forward(self.norm2(x))


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
    logits = logits - logits.amax(dim=-1, keepdim=True).detach()
    normal = logits.exp().sum(dim=-1).log()
    chosen = torch.take_along_dim(logits, targets.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(normal - chosen)


def get_batch(data, batch_size, context_length, generator):
    count = len(data) - context_length
    starts = (torch.rand(batch_size, generator=generator, dtype=torch.float64) * count).long()
    places = starts[:, None] + torch.arange(context_length)[None]
    return torch.take(data, places), torch.take(data, places + 1)


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


REFLECT_INITIAL_LOSS_V65 = round(math.log(65), 3)
REFLECT_PARAMETERS = 683392
