# %% joined_gate_and_up
# Expected: passes


class FeedForward(FeedForward):
    def forward(self, x):
        gate, up = F.linear(x, torch.cat([self.gate.weight, self.up.weight])).chunk(2, dim=-1)
        return self.down(F.silu(gate) * up)


# %% a_loop_over_tokens
# Expected: passes


class FeedForward(FeedForward):
    def forward(self, x):
        return torch.stack([self.down(F.silu(self.gate(t)) * self.up(t)) for t in x.unbind(1)], dim=1)


# %% norm_in_double_precision
# Expected: passes


class RMSNorm(RMSNorm):
    def forward(self, x):
        fine = x.double()
        return (fine * torch.rsqrt(fine.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


# %% norm_of_torch
# Expected: RMSNorm.forward: forbidden


class RMSNorm(RMSNorm):
    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)  # <-- here


# %% loss_from_log_softmax
# Expected: passes


def cross_entropy(logits, targets):
    return F.nll_loss(torch.log_softmax(logits, dim=-1).flatten(0, 1), targets.flatten())


# %% loss_from_one_hot
# Expected: passes


def cross_entropy(logits, targets):
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return -(log_p * F.one_hot(targets, logits.shape[-1])).sum() / targets.numel()


# %% loss_from_a_table
# Expected: cross_entropy: mem


def cross_entropy(logits, targets):
    table = torch.eye(logits.shape[-1], dtype=logits.dtype)  # <-- here
    return -(torch.log_softmax(logits, -1) * table[targets]).sum(-1).mean()


# %% loss_of_torch
# Expected: cross_entropy: forbidden


def cross_entropy(logits, targets):
    return nn.CrossEntropyLoss()(logits.flatten(0, 1), targets.flatten())  # <-- here


# %% mask_kept_as_a_buffer
# Expected: passes


class GPT(GPT):
    def __init__(self, vocab_size, context_length, *sizes):
        super().__init__(vocab_size, context_length, *sizes)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril(), persistent=False)

    def forward(self, ids):
        n = ids.shape[1]
        x = self.token_embedding(ids) + self.position_embedding.weight[:n]
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        return self.head(self.norm(x))
