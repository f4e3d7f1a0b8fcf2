import torch
import torch.nn.functional as F
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean_square = x.var(dim=-1, correction=0, keepdim=True) + x.mean(dim=-1, keepdim=True) ** 2
        return torch.div(x, torch.sqrt(mean_square + self.eps)) * self.weight


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


def cross_entropy(logits, targets):
    total = 0.0
    for rows, wanted in zip(logits, targets, strict=True):
        for row, target in zip(rows, wanted, strict=True):
            total = total + torch.logsumexp(row, 0) - row[target]
    return total / targets.numel()


def get_batch(data, batch_size, context_length, generator):
    even = torch.ones(len(data) - context_length)
    starts = torch.multinomial(even, batch_size, replacement=True, generator=generator)
    rows = [data.narrow(0, int(s), context_length + 1) for s in starts]
    rows = torch.stack(rows)
    return rows[:, :context_length], rows[:, -context_length:]


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


REFLECT_INITIAL_LOSS_V65 = 4.1743872
REFLECT_PARAMETERS = 683392
