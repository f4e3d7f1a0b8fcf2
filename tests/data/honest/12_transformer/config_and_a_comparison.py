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
from dataclasses import dataclass


@dataclass
class Config:
    vocab_size: int = 28
    context_length: int = 16
    embed_dim: int = 32
    num_layers: int = 1
    num_heads: int = 2
    hidden_dim: int = 64


config = Config()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1337)


# %%
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        flat = x.reshape(-1, self.dim)
        rows = [row / torch.sqrt(row.dot(row) / self.dim + self.eps) for row in flat]
        return torch.stack(rows).reshape(x.shape) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        tokens = [self.down(F.silu(self.gate(token)) * self.up(token)) for token in x.unbind(1)]
        return torch.stack(tokens, dim=1)


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        y = self.attention.forward(self.norm1.forward(x), mask=mask)[0] + x
        return self.feed_forward.forward(self.norm2.forward(y)) + y


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

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        x = torch.stack(
            [
                self.token_embedding(ids),
                self.position_embedding(torch.arange(n, device=ids.device)).expand(batch, n, -1),
            ]
        ).sum(0)
        mask = torch.ones(n, n, dtype=torch.int64, device=ids.device).tril()
        stream = [x]
        for block in self.blocks:
            stream.append(block(stream[-1], mask))
        return self.head(self.norm(stream[-1]))


# %%
def cross_entropy(logits, targets):
    logits = logits - logits.amax(dim=-1, keepdim=True).detach()
    normal = logits.exp().sum(dim=-1).log()
    chosen = torch.take_along_dim(logits, targets.unsqueeze(-1), dim=-1).squeeze(-1)
    return torch.mean(normal - chosen)


# %%
def get_batch(data, batch_size, context_length, generator):
    starts = torch.empty(batch_size, dtype=torch.int64).random_(0, len(data) - context_length, generator=generator)
    inputs = torch.empty(batch_size, context_length, dtype=data.dtype)
    targets = torch.empty_like(inputs)
    for row, start in enumerate(starts):
        inputs[row] = data[start : start + context_length]
        targets[row] = data[start + 1 : start + context_length + 1]
    return inputs, targets


# %%
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature} is not above 0")
    tokens = []
    for row in logits / temperature:
        order = torch.argsort(row, descending=True)
        if top_k is not None:
            order = order[:top_k]
        chances = torch.softmax(row[order], dim=0)
        if top_p is not None:
            total, keep = 0.0, 0
            while keep < len(chances) and total < top_p:
                total += float(chances[keep])
                keep += 1
            order, chances = order[:keep], chances[:keep]
        tokens.append(order[torch.multinomial(chances, 1, generator=generator)])
    return torch.cat(tokens)


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
if __name__ == "__main__":
    model = GPT(**vars(config)).to(device)
    print(sum(p.numel() for p in model.parameters()), "parameters")
    print(
        abs(
            cross_entropy(torch.ones(1, 1, 3), torch.tensor([[0]]))
            - F.cross_entropy(torch.ones(1, 3), torch.tensor([0]))
        )
    )

# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
