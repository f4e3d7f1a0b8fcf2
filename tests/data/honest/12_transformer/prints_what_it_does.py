# %% [markdown]
# # 12 · A transformer that writes

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

try:
    from mylab.multi_head_attention import MultiHeadAttention  # your own, from module 06
except ModuleNotFoundError:  # where Python does not find mylab, PyTorch's attention takes its place
    from fallback import MultiHeadAttention


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
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        out, weights = self.attention(query=self.norm1(x), mask=mask)
        stream = torch.add(x, out)
        return torch.add(stream, self.feed_forward(self.norm2(stream)))


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
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    return (flat.logsumexp(1) - flat[torch.arange(len(wanted)), wanted]).mean()


# %%
def get_batch(data, batch_size, context_length, generator):
    windows = data.unfold(0, context_length + 1, 1)
    chosen = windows[torch.randint(len(windows), (batch_size,), generator=generator)]
    return chosen[:, :-1].contiguous(), chosen[:, 1:].contiguous()


# %%
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        print("bad temperature!", temperature)
        raise ValueError(f"temperature {temperature} is not above 0")
    probs, order = torch.softmax(logits / temperature, dim=-1).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs = probs.clone()
        probs[:, top_k:] = 0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        probs = torch.where(probs.cumsum(-1) - probs < top_p, probs, torch.zeros_like(probs))
    place = torch.multinomial(probs, 1, generator=generator)
    return order.gather(-1, place)[:, 0]


# %%
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    before = model.training
    model.train(False)
    text = torch.zeros(ids.shape[0], ids.shape[1] + max_new_tokens, dtype=torch.int64)
    text[:, : ids.shape[1]] = ids
    with torch.inference_mode():
        for end in range(ids.shape[1], text.shape[1]):
            start = max(0, end - model.context_length)
            logits = model(text[:, start:end].clone())
            text[:, end] = sample_next(logits[:, -1], temperature, top_k, top_p, generator)
    model.train(before)
    return text


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
    print("trained", len(losses), "steps, the last loss is", losses[-1] if losses else "unknown")
    return losses


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
