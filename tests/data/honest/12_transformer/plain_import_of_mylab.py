# %% [markdown]
# # 12 · A transformer that writes

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

import mylab.multi_head_attention as earlier

MultiHeadAttention = earlier.MultiHeadAttention


# %%
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.register_parameter("weight", nn.Parameter(torch.ones(dim)))

    def forward(self, x):
        total = x.pow(2).sum(-1) / self.dim
        return x / (total + self.eps).sqrt().unsqueeze(-1) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        for name in ("gate", "up"):
            setattr(self, name, nn.Linear(embed_dim, hidden_dim, bias=False))
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.down(torch.mul(F.silu(self.gate(x)), self.up(x)))


# %%
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


# %%
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


# %%
def cross_entropy(logits, targets):
    total = 0.0
    for rows, wanted in zip(logits, targets, strict=True):
        for row, target in zip(rows, wanted, strict=True):
            total = total + torch.logsumexp(row, 0) - row[target]
    return total / targets.numel()


# %%
def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(0, len(data) - context_length, (batch_size,), generator=generator).tolist()
    inputs = torch.stack([data[s : s + context_length] for s in starts])
    targets = torch.stack([data[s + 1 : s + 1 + context_length] for s in starts])
    return inputs, targets


# %%
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    scaled = logits / temperature
    width = logits.size(-1) if top_k is None else min(top_k, logits.size(-1))
    best, tokens = torch.topk(scaled, width, dim=-1)
    probs = F.softmax(best, dim=-1)
    if top_p is not None:
        sums = probs.cumsum(dim=-1)
        probs[:, 1:] = probs[:, 1:].masked_fill(sums[:, :-1] >= top_p, 0)
    return tokens.gather(1, torch.multinomial(probs, num_samples=1, generator=generator)).view(-1)


# %%
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    if max_new_tokens == 0:
        return ids.clone()
    mode = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, -model.context_length :])[:, -1]
    model.train(mode)
    new = sample_next(logits, temperature, top_k, top_p, generator)
    return generate(
        model, torch.hstack([ids, new.reshape(-1, 1)]), max_new_tokens - 1, temperature, top_k, top_p, generator
    )


# %%
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


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
