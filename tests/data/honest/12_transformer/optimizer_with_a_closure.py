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
        mean_square = x.var(dim=-1, correction=0, keepdim=True) + x.mean(dim=-1, keepdim=True) ** 2
        return torch.div(x, torch.sqrt(mean_square + self.eps)) * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        hidden = F.silu(self.gate(x), inplace=True)
        hidden = hidden * self.up(x)
        return self.down(hidden)


# %%
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


# %%
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


# %%
def cross_entropy(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1).flatten(0, 1), targets.flatten())


# %%
def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)
    pieces = torch.stack([data[starts + i] for i in range(context_length + 1)], dim=1)
    return (pieces[:, :-1], pieces[:, 1:])


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


# %%
def train(model, data, steps, batch_size, lr, generator):
    mode = model.training
    model.train()
    optimizer = torch.optim.Adam([{"params": list(model.parameters())}], lr=lr, foreach=False)

    def step():
        optimizer.zero_grad()
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        return loss

    losses = [optimizer.step(step).item() for _ in range(steps)]
    model.train(mode)
    return losses


# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
