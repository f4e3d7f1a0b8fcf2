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
        flat = x.reshape(-1, self.dim)
        rows = [row / torch.sqrt(row.dot(row) / self.dim + self.eps) for row in flat]
        return torch.stack(rows).reshape(x.shape) * self.weight


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        tokens = [self.down(F.silu(self.gate(token)) * self.up(token)) for token in x.unbind(1)]
        return torch.stack(tokens, dim=1)


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


def cross_entropy(logits, targets):
    return -torch.distributions.Categorical(logits=logits).log_prob(targets).mean()


def get_batch(data, batch_size, context_length, generator):
    starts = torch.empty(batch_size, dtype=torch.int64).random_(0, len(data) - context_length, generator=generator)
    inputs = torch.empty(batch_size, context_length, dtype=data.dtype)
    targets = torch.empty_like(inputs)
    for row, start in enumerate(starts):
        inputs[row] = data[start : start + context_length]
        targets[row] = data[start + 1 : start + context_length + 1]
    return inputs, targets


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


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    if max_new_tokens == 0:
        return ids.clone()
    mode = model.training
    model.eval()
    with torch.no_grad():
        logits = model(ids[:, -model.context_length :])[:, -1]
    model.train(mode)
    new = sample_next(logits, temperature, top_k, top_p, generator)
    return generate(
        model, torch.hstack([ids, new.reshape(-1, 1)]), max_new_tokens - 1, temperature, top_k, top_p, generator
    )


def train(model, data, steps, batch_size, lr, generator):
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


REFLECT_INITIAL_LOSS_V65 = 4.174
REFLECT_PARAMETERS = 683392
