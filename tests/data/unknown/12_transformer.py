import math

import torch
from torch import nn
from torch.nn import functional as F

# %% norm_by_the_largest


class RMSNorm(RMSNorm):
    def forward(self, x):
        return x / (x.abs().amax(dim=-1, keepdim=True) + self.eps) * self.weight


# %% norm_weight_twice


class RMSNorm(RMSNorm):
    def forward(self, x):
        return super().forward(x) * self.weight


# %% network_tanh


class FeedForward(FeedForward):
    def forward(self, x):
        return self.down(torch.tanh(self.gate(x)) * self.up(x))


# %% block_adds_attention_twice


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        x = x + 2 * self.attention(self.norm1(x), mask=mask)[0]
        return x + self.feed_forward(self.norm2(x))


# %% model_blocks_in_reverse


class GPT(GPT):
    def forward(self, ids):
        n = ids.shape[1]
        if n > self.context_length:
            raise ValueError(f"{n} tokens, {self.context_length}")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n, device=ids.device))
        mask = torch.ones(n, n, device=ids.device).tril()
        for block in list(self.blocks)[::-1]:
            x = block(x, mask)
        return self.head(self.norm(x))


# %% loss_of_the_largest


def cross_entropy(logits, targets):
    places = torch.logsumexp(logits, -1) - logits.gather(-1, targets[..., None])[..., 0]
    return places.amax()


# %% loss_squared


def cross_entropy(logits, targets):
    places = torch.logsumexp(logits, -1) - logits.gather(-1, targets[..., None])[..., 0]
    return places.square().mean()


# %% batch_rows_backwards


def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)
    pieces = data[starts[:, None] + torch.arange(context_length + 1)].flip(1)
    return pieces[:, :-1], pieces[:, 1:]


# %% sample_takes_zero_as_one


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    logits = logits / (temperature or 1.0)
    if top_k is not None:
        best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    p, order = logits.softmax(-1).sort(-1, descending=True)
    if top_p is not None:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0)
    return order.gather(-1, torch.multinomial(p, 1, generator=generator))[:, 0]


# %% generate_writes_each_token_twice


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for step in range(max_new_tokens):
            if step % 2 == 0:
                token = sample_next(
                    model(ids[:, -model.context_length :])[:, -1], temperature, top_k, top_p, generator
                )
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    model.train(was_training)
    return ids
