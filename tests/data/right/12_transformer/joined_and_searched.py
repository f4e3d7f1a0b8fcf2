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
        size = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / self.dim
        return x * (size + self.eps) ** -0.5 * self.weight


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


def cross_entropy(logits, targets):
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    return -(F.one_hot(targets, logits.shape[-1]) * log_p).sum() / targets.numel()


def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(high=data.numel() - context_length, size=(batch_size, 1), generator=generator)
    places = starts + torch.arange(context_length)
    return data[places], data[places + 1]


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


REFLECT_INITIAL_LOSS_V65 = 4.1744
REFLECT_PARAMETERS = 65 * 128 * 2 + 64 * 128 + 4 * (4 * (128 * 128 + 128) + 3 * 128 * 256 + 2 * 128) + 128
