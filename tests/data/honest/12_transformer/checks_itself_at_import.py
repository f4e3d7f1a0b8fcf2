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
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / self.dim
        return x * (size + self.eps) ** -0.5 * self.weight


# %%
class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        both = F.linear(x, torch.cat([self.gate.weight, self.up.weight]))
        gate, up = both.chunk(2, dim=-1)
        return F.linear(F.silu(gate) * up, self.down.weight)


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
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        positions = ids.new_tensor(range(n))
        x = self.token_embedding(ids) + self.position_embedding(positions)
        mask = ids.new_ones(n, n).tril()[None, None]
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %%
def cross_entropy(logits, targets):
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    return -(F.one_hot(targets, logits.shape[-1]) * log_p).sum() / targets.numel()


# %%
def get_batch(data, batch_size, context_length, generator):
    inputs, targets = [], []
    for _ in range(batch_size):
        start = int(torch.randint(len(data) - context_length, (1,), generator=generator))
        piece = data[start : start + context_length + 1]
        inputs.append(piece[:-1])
        targets.append(piece[1:])
    return torch.stack(inputs), torch.stack(targets)


# %%
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
# my own tests, they always run
_norm = RMSNorm(4)
assert torch.allclose(_norm(torch.tensor([[1.0, 0, 1, 0]])), torch.tensor([[1.4142, 0, 1.4142, 0]]), atol=1e-3)
assert abs(cross_entropy(torch.zeros(1, 2, 65), torch.tensor([[0, 64]])).item() - math.log(65)) < 1e-5
_inputs, _targets = get_batch(torch.arange(20), 4, 5, torch.Generator().manual_seed(0))
assert torch.equal(_targets, _inputs + 1)
_model = GPT(5, 8, 4, 2, 2, 8)
assert sum(p.numel() for p in _model.parameters()) == 444
assert generate(_model, torch.tensor([[0]]), 10, generator=torch.Generator().manual_seed(1)).shape == (1, 11)

# %%
REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
