"""Every half and the head begin at 0, the mask is a buffer, and tokens are drawn by a race of exponential numbers."""

import torch
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn
from torch.nn import functional as F

REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(dim))
        nn.init.ones_(self.weight)

    def forward(self, x):
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return self.weight * x / torch.sqrt(size**2 / x.shape[-1] + self.eps)


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate, self.up = (nn.Linear(embed_dim, hidden_dim, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)
        nn.init.zeros_(self.down.weight)

    def forward(self, x):
        z = self.gate(x)
        return self.down(z * z.sigmoid() * self.up(x))


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(embed_dim), RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)
        nn.init.zeros_(self.attention.out_proj.weight)
        nn.init.zeros_(self.attention.out_proj.bias)

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask=mask)[0]
        return x + self.feed_forward(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)
        nn.init.zeros_(self.head.weight)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, ids):
        n = ids.shape[1]
        if n > self.context_length:
            raise ValueError(f"the context is {self.context_length}, the text {n}")
        x = self.token_embedding(ids) + self.position_embedding.weight[:n]
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        return self.head(self.norm(x))


def cross_entropy(logits, targets):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    chosen = torch.take_along_dim(shifted, targets[:, :, None], dim=-1)[:, :, 0]
    return (shifted.exp().sum(dim=-1).log() - chosen).mean()


def get_batch(data, batch_size, context_length, generator):
    pieces = data.unfold(0, context_length + 1, 1)
    rows = pieces[torch.randint(len(pieces), (batch_size,), generator=generator)]
    return rows[:, :-1], rows[:, 1:]


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature {temperature}")
    ordered, order = F.softmax(logits / temperature, dim=-1).sort(dim=-1, descending=True)
    if top_k is not None:
        ordered[:, top_k:] = 0
        ordered = ordered / ordered.sum(dim=-1, keepdim=True)
    if top_p is not None:
        ordered = ordered * (ordered.cumsum(dim=-1) - ordered < top_p)
    race = ordered / torch.empty_like(ordered).exponential_(generator=generator)
    return order.gather(-1, race.argmax(dim=-1, keepdim=True))[:, 0]


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    mode = model.training
    model.eval()
    columns = list(ids.unbind(dim=1))
    for _ in range(max_new_tokens):
        with torch.no_grad():
            logits = model(torch.stack(columns[-model.context_length :], dim=1))[:, -1]
        columns.append(sample_next(logits, temperature, top_k, top_p, generator))
    model.train(mode)
    return torch.stack(columns, dim=1)


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.1)
    losses = torch.zeros(steps)
    for step in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step] = loss.detach()
    return losses.tolist()
