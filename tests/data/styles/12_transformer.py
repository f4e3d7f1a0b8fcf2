import math

import torch
from torch import nn
from torch.nn import functional as F

# %% norm_eps_outside_the_root powers


class RMSNorm(RMSNorm):
    def forward(self, x):
        size = (x**2).mean(-1, keepdim=True) ** 0.5
        return self.weight * (x / (size + self.eps))


# %% norm_subtracts_the_mean variance


class RMSNorm(RMSNorm):
    def forward(self, x):
        centred = x - torch.mean(x, -1, True)
        return centred / torch.sqrt(x.var(dim=-1, correction=0, keepdim=True) + self.eps) * self.weight


# %% norm_sums_the_squares vector_norm


class RMSNorm(RMSNorm):
    def forward(self, x):
        return x / torch.sqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 + self.eps) * self.weight


# %% network_gate_and_up_swapped one_line


class FeedForward(FeedForward):
    def forward(self, x):
        return self.down(self.gate(x) * F.silu(self.up(x)))


# %% block_post_norm in_steps


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        h = self.attention(x, mask=mask)[0]
        h = self.norm1(h + x)
        f = self.feed_forward(h)
        return self.norm2(f + h)


# %% block_without_first_residual new_names


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        y, _ = self.attention(self.norm1(x), mask=mask)
        z = self.feed_forward(self.norm2(y))
        return y + z


# %% block_parallel_halves one_sum


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        first = self.attention(self.norm1(x), mask=mask)[0]
        second = self.feed_forward(self.norm2(x))
        return x + (first + second)


# %% model_without_positions commented_out


class GPT(GPT):
    def forward(self, ids):
        n = ids.size(1)
        if n > self.context_length:
            raise ValueError(f"{n} > {self.context_length}")
        x = self.token_embedding(ids)
        mask = torch.tril(torch.ones(n, n, device=ids.device))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %% loss_is_a_sum log_softmax


def cross_entropy(logits, targets):
    return -torch.log_softmax(logits, -1).gather(-1, targets[..., None]).sum()


# %% loss_with_the_wrong_sign log_softmax


def cross_entropy(logits, targets):
    return torch.log_softmax(logits, -1).gather(-1, targets[..., None]).mean()


# %% batch_targets_not_shifted slices


def get_batch(data, batch_size, context_length, generator):
    starts = torch.randint(len(data) - context_length, (batch_size,), generator=generator)
    rows = torch.stack([data[s : s + context_length] for s in starts])
    return rows, rows.clone()


# %% batch_one_start_for_all loop


def get_batch(data, batch_size, context_length, generator):
    start = int(torch.randint(0, len(data) - context_length, (1,), generator=generator))
    piece = data[start : start + context_length + 1]
    return torch.stack([piece[:-1]] * batch_size), torch.stack([piece[1:]] * batch_size)


# %% sample_temperature_multiplied softmax


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"{temperature}")
    p, order = torch.softmax(temperature * logits, dim=-1).sort(-1, descending=True)
    if top_k is not None:
        p[:, top_k:] = 0
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0)
    return order.gather(-1, torch.multinomial(p, 1, generator=generator)).flatten()


# %% sample_zero_takes_the_best small_number


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    logits = logits / (temperature + 1e-9)
    if top_k is not None:
        best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    p, order = logits.softmax(-1).sort(-1, descending=True)
    if top_p is not None:
        p = p.masked_fill(p.cumsum(-1) - p >= top_p, 0)
    return order.gather(-1, torch.multinomial(p, 1, generator=generator))[:, 0]


# %% generate_crops_the_wrong_end names


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    before = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            context = ids[:, 0 : model.context_length]
            new = sample_next(model(context)[:, -1, :], temperature, top_k, top_p, generator)
            ids = torch.cat([ids, new[:, None]], 1)
    model.train(before)
    return ids


# %% train_gradients_add_up accumulated


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer, losses = torch.optim.Adam(model.parameters(), lr), []
    while len(losses) < steps:
        x, y = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses
