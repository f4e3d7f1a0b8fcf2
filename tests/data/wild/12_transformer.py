import math
import random

import torch
import torch.nn.functional as F
from torch import nn

# %% eps_beside_the_root
# x / (rms + eps), as in many blogs.
# Expected: norm_eps_outside_the_root


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        rms = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True))
        return self.weight * x / (rms + self.eps)


# %% layer_norm_from_memory
# The mean is subtracted, as layer norm does; the variance is that of PyTorch, with n - 1.
# Expected: no name: two mistakes in one line


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(var + self.eps)


# %% centred
# (x - mean) * rsqrt(var + eps), with the variance of n.
# Expected: norm_subtracts_the_mean


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        var = centred.pow(2).mean(dim=-1, keepdim=True)
        return centred * torch.rsqrt(var + self.eps) * self.weight


# %% with_a_bias
# A weight and a bias, as layer norm has them.
# Expected: norm_with_bias


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias


# %% network_biases
# nn.Linear as it comes.
# Expected: network_with_biases


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim)
        self.up = nn.Linear(embed_dim, hidden_dim)
        self.down = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


# %% silu_of_up
# gate(x) * silu(up(x)).
# Expected: network_gate_and_up_swapped


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.down(self.gate(x) * self.act(self.up(x)))


# %% sigmoid_gate
# The gate of a GLU.
# Expected: network_sigmoid


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.down(torch.sigmoid(self.gate(x)) * self.up(x))


# %% post_norm
# norm(x + f(x)), as in the first paper.
# Expected: block_post_norm


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        x = self.norm1(x + self.attention(x, mask=mask)[0])
        return self.norm2(x + self.feed_forward(x))


# %% norm_overwrites_x
# x = norm1(x), and then x + attention(x).
# Expected: block_norms_overwrite_the_stream


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        x = self.norm1(x)
        out, _ = self.attention(x, mask=mask)
        x = x + out
        x = self.norm2(x)
        x = x + self.feed_forward(x)
        return x


# %% mask_not_passed
# self.attention(h), without the mask.
# Expected: block_ignores_the_mask


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        h = x + self.attention(self.norm1(x))[0]
        out = h + self.feed_forward(self.norm2(h))
        return out


# %% tuple_added
# The pair (output, weights) is added.
# Expected: no name: it only raises


class TransformerBlock(TransformerBlock):
    def forward(self, x, mask=None):
        x = x + self.attention(self.norm1(x), mask=mask)
        return x + self.feed_forward(self.norm2(x))


# %% length_not_checked
# Nothing is said about a text that is too long: the embedding raises its own IndexError.
# Expected: model_leaves_the_length_to_the_embedding


class GPT(GPT):
    def forward(self, ids):
        B, T = ids.shape
        pos = torch.arange(0, T, dtype=torch.long, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        mask = torch.tril(torch.ones(T, T, device=ids.device)).bool()
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %% length_asserted
# assert T <= block_size, as in a well-known small model.
# Expected: model_asserts_the_length


class GPT(GPT):
    def forward(self, ids):
        b, t = ids.size()
        assert t <= self.context_length, (
            f"Cannot forward sequence of length {t}, block size is only {self.context_length}"
        )
        pos = torch.arange(0, t, dtype=torch.long, device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(pos)
        for block in self.blocks:
            x = block(x, torch.ones((t, t), device=ids.device).tril() == 1)
        return self.head(self.norm(x))


# %% triu_mask
# torch.triu(ones, 1): True where PyTorch's own attention blocks.
# Expected: block_mask_inverted


class GPT(GPT):
    def forward(self, ids):
        n = ids.shape[1]
        if n > self.context_length:
            raise ValueError(f"{n} > {self.context_length}")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n, device=ids.device))
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool, device=ids.device), diagonal=1)
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.head(self.norm(x))


# %% no_final_norm
# head(x).
# Expected: model_without_last_norm


class GPT(GPT):
    def forward(self, ids):
        n = ids.shape[1]
        if n > self.context_length:
            raise ValueError(f"{n} > {self.context_length}")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n, device=ids.device))
        mask = torch.ones(n, n, device=ids.device).tril()
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.head(x)


# %% log_of_softmax
# -torch.log(torch.softmax(...)).
# Expected: loss_log_of_softmax


def cross_entropy(logits, targets):
    probs = torch.softmax(logits, dim=-1)
    B, N, V = logits.shape
    picked = probs.view(B * N, V)[torch.arange(B * N), targets.reshape(-1)]
    return -torch.log(picked).mean()


# %% exp_and_log
# log(sum(exp)), written out.
# Expected: loss_overflows


def cross_entropy(logits, targets):
    counts = logits.exp()
    log_probs = logits - counts.sum(-1, keepdim=True).log()
    return -log_probs.gather(-1, targets[..., None]).mean()


# %% summed
# .sum() of all positions.
# Expected: loss_is_a_sum


def cross_entropy(logits, targets):
    logp = F.log_softmax(logits, dim=-1)
    return -logp.gather(2, targets.unsqueeze(2)).sum()


# %% generator_unused
# torch.randint and torch.stack, as in a well-known small model; the generator is not passed on.
# Expected: batch_without_generator


def get_batch(data, batch_size, context_length, generator):
    ix = torch.randint(len(data) - context_length, (batch_size,))
    x = torch.stack([data[i : i + context_length] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + context_length] for i in ix])
    return x, y


# %% python_random
# random.randint, whose last number counts.
# Expected: no name: the probes know only PyTorch's own generator


def get_batch(data, batch_size, context_length, generator):
    starts = [random.randint(0, len(data) - context_length - 1) for _ in range(batch_size)]
    x = torch.stack([data[s : s + context_length] for s in starts])
    y = torch.stack([data[s + 1 : s + context_length + 1] for s in starts])
    return x, y


# %% one_start_too_few
# len(data) - context_length - 1 as the end that is not drawn.
# Expected: batch_last_start_missing


def get_batch(data, batch_size, context_length, generator):
    high = max(1, len(data) - context_length - 1)
    ix = torch.randint(0, high, (batch_size,), generator=generator)
    x = torch.stack([data[i : i + context_length] for i in ix])
    y = torch.stack([data[i + 1 : i + context_length + 1] for i in ix])
    return x, y


# %% values_below_the_kth
# logits[logits < v[:, [-1]]] = -inf, as in a well-known small model.
# Expected: sample_top_k_keeps_ties


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    logits = logits / temperature
    if top_k is not None:
        v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
        logits[logits < v[:, [-1]]] = -float("Inf")
    if top_p is not None:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
        remove = cumulative > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(1, sorted_indices, remove), -float("inf"))
    probs = F.softmax(logits, dim=-1)
    return torch.multinomial(probs, num_samples=1, generator=generator).squeeze(1)


# %% temperature_not_checked
# Divides by the temperature, whatever it is.
# Expected: sample_uses_any_temperature


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    logits = logits / temperature
    if top_k is not None:
        keep = torch.topk(logits, min(top_k, logits.size(-1))).indices
        blocked = torch.ones_like(logits, dtype=torch.bool).scatter(-1, keep, False)
        logits = logits.masked_fill(blocked, -float("inf"))
    probs = logits.softmax(-1)
    if top_p is not None:
        p, idx = probs.sort(-1, descending=True)
        p = torch.where(p.cumsum(-1) - p < top_p, p, torch.zeros_like(p))
        probs = torch.zeros_like(probs).scatter(-1, idx, p)
    return torch.multinomial(probs, 1, generator=generator)[:, 0]


# %% multinomial_as_it_is
# torch.multinomial gives (B, 1).
# Expected: sample_keeps_an_axis


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f"temperature={temperature}")
    logits = logits / temperature
    if top_k is not None:
        keep = torch.topk(logits, min(top_k, logits.size(-1))).indices
        blocked = torch.ones_like(logits, dtype=torch.bool).scatter(-1, keep, False)
        logits = logits.masked_fill(blocked, -float("inf"))
    probs = logits.softmax(-1)
    if top_p is not None:
        p, idx = probs.sort(-1, descending=True)
        p = torch.where(p.cumsum(-1) - p < top_p, p, torch.zeros_like(p))
        probs = torch.zeros_like(probs).scatter(-1, idx, p)
    return torch.multinomial(probs, 1, generator=generator)


# %% loop_of_a_small_model
# The loop of a well-known small model: the mode is never touched.
# Expected: generate_in_train_mode


@torch.no_grad()
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    for _ in range(max_new_tokens):
        if ids.size(1) <= model.context_length:
            ids_cond = ids
        else:
            ids_cond = ids[:, -model.context_length :]
        logits = model(ids_cond)[:, -1, :]
        nxt = sample_next(logits, temperature, top_k, top_p, generator)
        ids = torch.cat((ids, nxt.unsqueeze(1)), dim=1)
    return ids


# %% eval_for_good
# model.eval() at the start, and nothing at the end.
# Expected: generate_stays_in_eval_mode


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    model.eval()
    out = ids.clone()
    with torch.inference_mode():
        for _ in range(max_new_tokens):
            logits = model(out[:, -model.context_length :])
            nxt = sample_next(logits[:, -1], temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
            out = torch.cat([out, nxt[:, None]], dim=1)
    return out


# %% not_cropped
# The model gets all tokens.
# Expected: generate_without_cropping


def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    mode = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids)[:, -1]
            nxt = sample_next(logits, temperature, top_k, top_p, generator)
            ids = torch.cat([ids, nxt.view(-1, 1)], dim=1)
    model.train(mode)
    return ids


# %% zero_grad_forgotten
# No zero_grad.
# Expected: train_gradients_add_up


def train(model, data, steps, batch_size, lr, generator):
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    history = []
    for step in range(steps):
        xb, yb = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        history.append(loss.item())
    return history


# %% zeroed_before_the_step
# backward, zero_grad, step: in the wrong order.
# Expected: train_never_steps


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% losses_kept_as_tensors
# losses.append(loss).
# Expected: train_losses_are_tensors


def train(model, data, steps, batch_size, lr, generator):
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        inputs, targets = get_batch(data, batch_size, model.context_length, generator)
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses
