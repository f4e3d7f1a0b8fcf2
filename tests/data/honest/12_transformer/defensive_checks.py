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
        squares = torch.einsum("...d,...d->...", x, x)[..., None]
        return torch.mul(x, self.weight) / torch.sqrt(squares / x.size(-1) + self.eps)


# %%
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


# %%
class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        if mask is None:
            attended = self.attention(self.norm1(x))[0]
        else:
            attended = self.attention(self.norm1(x), mask=mask)[0]
        y = x + attended
        return self.feed_forward(self.norm2(y)) + y


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
        n = ids.size(1)
        if not n <= self.context_length:
            raise ValueError("%d > %d" % (n, self.context_length))
        x = F.embedding(ids, self.token_embedding.weight) + self.position_embedding.weight[:n]
        mask = torch.tril(torch.ones((n, n), device=x.device, dtype=x.dtype))
        for block in self.blocks:
            x = block(x, mask)
        return F.linear(self.norm(x), self.head.weight)


# %%
def cross_entropy(logits, targets):
    if logits.shape[:2] != targets.shape:
        raise ValueError(f"logits {tuple(logits.shape)} and targets {tuple(targets.shape)}")
    wanted = torch.zeros_like(logits, dtype=torch.bool).scatter_(-1, targets[..., None], True)
    return torch.logsumexp(logits, -1).mean() - logits[wanted].mean()


# %%
def get_batch(data, batch_size, context_length, generator):
    if len(data) <= context_length:
        raise ValueError(f"{len(data)} tokens are too few for pieces of {context_length}")
    count = len(data) - context_length
    starts = (torch.rand(batch_size, generator=generator, dtype=torch.float64) * count).long()
    places = starts[:, None] + torch.arange(context_length)[None]
    return torch.take(data, places), torch.take(data, places + 1)


# %%
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
