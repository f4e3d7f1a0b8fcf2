"""Right code with one slip that raises."""

# %% type_error_in_the_norm
# Math.sqrt of a tensor.
# Expected: no name; RMSNorm
class RMSNorm(nn.Module):

    def __init__(self, dim, eps=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x * math.sqrt(mean_square + self.eps) * self.weight


# %% misspelt_in_the_norm
# A misspelt attribute.
# Expected: no name; RMSNorm
class RMSNorm(nn.Module):

    def __init__(self, dim, eps=1e-05):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.eps) * self.wieght


# %% misspelt_in_the_feed_forward
# A misspelt function.
# Expected: no name; siluu
class FeedForward(nn.Module):

    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.gate = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.up = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.down = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        opened = F.siluu(self.gate(x))
        return self.down(opened * self.up(x))


# %% one_value_for_two
# A pair is not taken apart.
# Expected: no name; TransformerBlock
class TransformerBlock(nn.Module):

    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.norm1 = RMSNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = RMSNorm(embed_dim)
        self.feed_forward = FeedForward(embed_dim, hidden_dim)

    def forward(self, x, mask=None):
        attended = self.attention(self.norm1(x), mask=mask)
        x = x + attended
        return x + self.feed_forward(self.norm2(x))


# %% gather_of_dims
# An axis is missing.
# Expected: no name; cross_entropy
def cross_entropy(logits, targets):
    log_sums = torch.logsumexp(logits, dim=-1)
    chosen = logits.gather(-1, targets).squeeze(-1)
    return (log_sums - chosen).mean()


# %% generator_misspelt
# A misspelt keyword.
# Expected: no name; sample_next
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature <= 0:
        raise ValueError(f'the temperature must be above 0, not {temperature}')
    logits = logits / temperature
    if top_k is not None:
        best = logits.topk(min(top_k, logits.shape[-1]), dim=-1)
        logits = torch.full_like(logits, -math.inf).scatter(-1, best.indices, best.values)
    probabilities = torch.softmax(logits, dim=-1)
    if top_p is not None:
        ordered, places = probabilities.sort(dim=-1, descending=True)
        before = ordered.cumsum(dim=-1) - ordered
        ordered = ordered.masked_fill(before >= top_p, 0.0)
        probabilities = torch.zeros_like(probabilities).scatter(-1, places, ordered)
    return torch.multinomial(probabilities, 1, generater=generator).squeeze(-1)
