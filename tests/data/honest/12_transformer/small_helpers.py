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
def causal_mask(n, device):
    """True where a token may look."""
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def crop(ids, length):
    return ids if ids.shape[1] <= length else ids[:, -length:]


# %%
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.empty(dim).fill_(1.0))

    def forward(self, x):
        fine = x.double()
        fine = fine * torch.rsqrt((fine * fine).mean(-1, True) + self.eps)
        return fine.to(x.dtype) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(self.up(x) * z / (1 + torch.exp(-z)))


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        x = x.clone()
        x += self.attention(self.norm1(x), mask=mask)[0]
        return x + self.feed_forward(self.norm2(x))


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
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        places = torch.cumsum(torch.ones_like(ids), dim=1) - 1
        x = self.token_embedding(ids)
        x = x + self.position_embedding(places)
        mask = causal_mask(n, ids.device)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %%
def cross_entropy(logits, targets):
    log_p = torch.log_softmax(logits, dim=-1)
    return -log_p.gather(2, targets[..., None]).mean()


# %%
def get_batch(data, batch_size, context_length, generator):
    even = torch.ones(len(data) - context_length)
    starts = torch.multinomial(even, batch_size, replacement=True, generator=generator)
    rows = [data.narrow(0, int(s), context_length + 1) for s in starts]
    rows = torch.stack(rows)
    return rows[:, :context_length], rows[:, -context_length:]


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
        logits = model(crop(ids, model.context_length))[:, -1]
    model.train(mode)
    new = sample_next(logits, temperature, top_k, top_p, generator)
    return generate(
        model, torch.hstack([ids, new.reshape(-1, 1)]), max_new_tokens - 1, temperature, top_k, top_p, generator
    )


# %%
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


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
