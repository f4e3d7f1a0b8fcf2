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
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + self.eps))


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
        residual = x
        x = self.norm1(x)
        x, _ = self.attention(x, x, mask=mask)
        x = residual + x
        residual = x
        return residual + self.feed_forward(self.norm2(x))


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
        self.apply(self.start)

    def start(self, part):
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.02)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        place = torch.arange(n, device=ids.device)
        mask = place[:, None] >= place[None, :]
        x = self.token_embedding(ids) + self.position_embedding(place.expand(batch, n))
        for block in self.blocks:
            x = block(x, mask=mask)
        x = self.norm(x)
        return self.head(x)


# %%
def cross_entropy(logits, targets):
    log_p = torch.log_softmax(logits, dim=-1)
    return -log_p.gather(2, targets[..., None]).mean()


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
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(inputs), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
