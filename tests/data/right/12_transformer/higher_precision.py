import torch
import torch.nn.functional as F
from mylab.multi_head_attention import MultiHeadAttention
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.empty(dim).fill_(1.0))

    def forward(self, x):
        fine = x.double()
        fine = fine * torch.rsqrt((fine * fine).mean(-1, True) + self.eps)
        return fine.to(x.dtype) * self.weight


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        z = self.gate(x)
        return self.down(self.up(x) * z / (1 + torch.exp(-z)))


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
        mask = (places[:, :, None] >= places[:, None, :]).float()
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def cross_entropy(logits, targets):
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    return (flat.logsumexp(1) - flat[torch.arange(len(wanted)), wanted]).mean()


def get_batch(data, batch_size, context_length, generator):
    inputs, targets = [], []
    for _ in range(batch_size):
        start = int(torch.randint(len(data) - context_length, (1,), generator=generator))
        piece = data[start : start + context_length + 1]
        inputs.append(piece[:-1])
        targets.append(piece[1:])
    return torch.stack(inputs), torch.stack(targets)


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


REFLECT_INITIAL_LOSS_V65 = 4.175
REFLECT_PARAMETERS = 683392
