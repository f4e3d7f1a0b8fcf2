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

from torch import Tensor


# %%
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        root = torch.sqrt(x.square().mean(-1) + self.eps)
        return (x.movedim(-1, 0) / root).movedim(0, -1) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        for name in ("gate", "up"):
            setattr(self, name, nn.Linear(embed_dim, hidden_dim, bias=False))
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.mul(F.silu(self.gate(x)), self.up(x)))


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
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

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.norm(self.stream(ids)))


# %%
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    logits = logits - logits.amax(dim=-1, keepdim=True).detach()
    normal = logits.exp().sum(dim=-1).log()
    chosen = torch.take_along_dim(logits, targets.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(normal - chosen)


# %%
def get_batch(data: Tensor, batch_size: int, context_length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    starts = torch.randint(high=data.numel() - context_length, size=(batch_size, 1), generator=generator)
    places = starts + torch.arange(context_length)
    return data[places], data[places + 1]


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
def train(
    model: nn.Module, data: Tensor, steps: int, batch_size: int, lr: float, generator: torch.Generator
) -> list[float]:
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
