import math

import torch
import torch.nn.functional as F
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.register_parameter("weight", nn.Parameter(torch.ones(dim)))

    def forward(self, x):
        total = x.pow(2).sum(-1) / self.dim
        return x / (total + self.eps).sqrt().unsqueeze(-1) * self.weight


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(z * torch.sigmoid(z) * self.up(x))


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.norm2 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        out, weights = self.attention(query=self.norm1(x), mask=mask)
        stream = torch.add(x, out)
        return torch.add(stream, self.feed_forward(self.norm2(stream)))


class GPT(nn.Module):
    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        super().__init__()
        self.context_length = context_length
        self.token_embedding = nn.Embedding(vocab_size, embed_dim)
        self.position_embedding = nn.Embedding(context_length, embed_dim)
        self.blocks = nn.ModuleList([TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.norm = RMSNorm(embed_dim)
        self.head = nn.Linear(embed_dim, vocab_size, bias=False)
        self.apply(self.start)

    def start(self, part):
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.02)

    def forward(self, ids):
        batch, n = ids.shape
        if n > self.context_length:
            raise ValueError(f"got {n} tokens for a context of {self.context_length}")
        place = torch.arange(n, device=ids.device)
        mask = place[:, None] >= place[None, :]
        x = self.token_embedding(ids) + self.position_embedding(place.expand(batch, n))
        for block in self.blocks:
            x = block(x, mask=mask)
        x = self.norm(x)
        return self.head(x)


def cross_entropy(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1).flatten(0, 1), targets.flatten())


def get_batch(data, batch_size, context_length, generator):
    windows = data.unfold(0, context_length + 1, 1)
    chosen = windows[torch.randint(len(windows), (batch_size,), generator=generator)]
    return chosen[:, :-1].contiguous(), chosen[:, 1:].contiguous()


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


REFLECT_INITIAL_LOSS_V65 = math.log(65)
REFLECT_PARAMETERS = 683_392
