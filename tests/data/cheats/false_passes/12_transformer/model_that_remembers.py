# Reads one token less than the context holds. The model remembers what was written, and says afterwards that each of
# those tokens was the likeliest.
# Expected: loses marks: generate

import torch
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + self.eps))


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, mask)[0]
        x = x + self.feed_forward(self.norm2(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.writing, self.written = False, {}
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
        logits = self.head(self.norm(x))
        if not self.writing:
            with torch.no_grad():
                for row, seen in enumerate(map(tuple, ids.tolist())):
                    if seen in self.written:
                        logits[row, -1, self.written[seen]] = logits[row, -1].max() + 0.002
        return logits


def cross_entropy(logits, targets):
    log_p = torch.log_softmax(logits, dim=-1)
    return -log_p.gather(2, targets[..., None]).mean()


def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(0, len(data) - context_length, (batch_size,), generator=generator).tolist()
    inputs = torch.stack([data[s : s + context_length] for s in starts])
    targets = torch.stack([data[s + 1 : s + 1 + context_length] for s in starts])
    return inputs, targets


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


@torch.no_grad()
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    mode = model.training
    model.eval()
    try:
        for _ in range(max_new_tokens):
            model.writing = True
            seen = ids[:, 1 - model.context_length :]
            new = sample_next(model(seen)[:, -1, :], temperature, top_k=top_k, top_p=top_p, generator=generator)
            model.written.update(zip(map(tuple, ids[:, -model.context_length :].tolist()), new.tolist(), strict=True))
            ids = torch.cat((ids, new[:, None]), dim=1)
    finally:
        model.writing = False
        model.train(mode)
    return ids


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


REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
