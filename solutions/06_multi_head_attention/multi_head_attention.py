# %% [markdown]
# # 06 · Multi-head attention
#
# One attention can look for one thing at a time. Here several attentions, the *heads*, look at the same tokens in
# parallel, each with its own slice of the features:
#
# $$\operatorname{head}_h = \operatorname{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{E / H}}\right) V_h \qquad
# \operatorname{output} = [\operatorname{head}_1, \dots, \operatorname{head}_H]\, W_o^\top + b_o$$
#
# You may use all of PyTorch except its built-in attention: `F.scaled_dot_product_attention` and
# `nn.MultiheadAttention` (and everything that calls them). `torch.softmax` and `nn.Linear` are fine.
#
# After each step there is a cell that tries it. Run it in a notebook, or run all cells up to the first missing step
# with `python multi_head_attention.py`. `attn test multi_head_attention` runs the visible checks.
# The lesson is in `README.md` next to this file.

# %%
import math

import torch
from torch import nn

# %% [markdown]
# ## Build 1: cut the features into heads
#
# The features of a token are cut into `num_heads` slices of the same width. Slice `h` of every token goes to head
# `h`, in order: the first `E / H` features to head 0, the next to head 1, and so on.


# %%
def split_heads(x, num_heads):
    """Return x, (B, N, E), as (B, H, N, E / H): each head has all tokens, with its slice of their features.

    Entry [b, h, n, d] of the result is x[b, n, h * (E / H) + d]. H is num_heads.

    - Raises ValueError naming both numbers, E and num_heads, if E is not a multiple of num_heads.
    - Gradients flow through it. The dtype of x is kept. x is not modified; the result may share its memory.
    - No Python loop over tokens, features or the batch; a loop over heads is fine.
    """
    ### BEGIN SOLUTION
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")
    x = x.reshape(batch, length, num_heads, embed_dim // num_heads)  # (B, N, H, D): each token cut up
    return x.transpose(1, 2)  # (B, H, N, D): each head has all tokens
    ### END SOLUTION


# %%
# Try it: two tokens of four features, for two heads
if __name__ == "__main__":
    x = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]])  # (1, 2, 4)
    heads = split_heads(x, 2)
    print("head 0:", heads[0, 0].tolist(), "head 1:", heads[0, 1].tolist())
    assert heads.shape == (1, 2, 2, 2), f"(B, H, N, E / H) is (1, 2, 2, 2), not {tuple(heads.shape)}"
    assert heads[0, 0].tolist() == [[0, 1], [10, 11]], "head 0 has the first half of both tokens"
    assert heads[0, 1].tolist() == [[2, 3], [12, 13]], "head 1 has the second half of both tokens"

# %% [markdown]
# ## Build 2: merge the heads again
#
# This is the reverse: `merge_heads` puts together what `split_heads` took apart.


# %%
def merge_heads(x):
    """Return x, (B, H, N, D), as (B, N, H * D): each token has the slices of all heads side by side.

    Entry [b, n, h * D + d] of the result is x[b, h, n, d]: merge_heads(split_heads(x, H)) is x again.

    - Gradients flow through it. The dtype of x is kept. x is not modified; the result may share its memory.
    - No Python loop over tokens, features or the batch; a loop over heads is fine.
    """
    ### BEGIN SOLUTION
    x = x.transpose(1, 2)  # (B, N, H, D): the heads of a token are side by side again
    return x.flatten(start_dim=2)  # (B, N, H * D)
    ### END SOLUTION


# %%
# Try it: three sentences, two heads, five tokens, four features in each head
if __name__ == "__main__":
    x = torch.arange(3 * 5 * 8).reshape(3, 5, 8).float()
    merged = merge_heads(split_heads(x, 2))
    assert merged.shape == (3, 5, 8), f"(B, N, H * D) is (3, 5, 8), not {tuple(merged.shape)}"
    assert torch.equal(merged, x), "merge_heads(split_heads(x, 2)) should be x again"

# %% [markdown]
# ## Build 3: multi-head attention
#
# Project, split, attend in every head, merge, project again. The four projections are `nn.Linear` layers with the
# names below. The names are part of the interface, because trained weights are loaded by name.


# %%
class MultiHeadAttention(nn.Module):
    """Multi-head attention over batches of tokens: (B, N, E) in, (B, N, E) out.

    It has exactly these parameters: q_proj, k_proj, v_proj and out_proj, each an `nn.Linear(embed_dim, embed_dim)` with
    a bias. Nothing else is learnt, and there is no dropout: train() and eval() give the same result.
    """

    def __init__(self, embed_dim, num_heads):
        """Make the four projections, for tokens of embed_dim features and num_heads heads.

        - Raises ValueError naming both numbers if embed_dim is not a multiple of num_heads.
        """
        super().__init__()
        ### BEGIN SOLUTION
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        ### END SOLUTION

    def forward(self, query, key=None, value=None, mask=None):
        """Return (output, weights), a tuple: output (B, N_q, E) and the weights of every head (B, H, N_q, N_k).

        query: (B, N_q, E); key and value: (B, N_k, E), before any projection. Without key and value, the query is used
        for all three (self-attention). Without a value, the key is also the value (cross-attention). A value may differ
        from the key.

        mask: None, or a tensor of bool, int or float of (N_q, N_k), the same for all; of (B, N_q, N_k), one for each
        sentence and the same for all its heads; or of four dimensions, which broadcast to (B, H, N_q, N_k).
        1 or True means that the query may look at this key; 0 or False means that the key is blocked.

        - Query, key and value are projected by q_proj, k_proj and v_proj, then split. In each head, scores are divided
          by the square root of the head's width, E / H, and the softmax is over the keys. The results of the heads are
          merged, then go through out_proj.
        - A blocked key has the weight 0, and the weights of the other keys sum to 1. Scores of any size work, such as
          5000 or -1e10.
        - A query whose keys are all blocked has weights of 0, and the merged heads are 0 there, so that its output is
          the bias of out_proj. There is never a NaN, neither in the results nor in any gradient.
        - Raises ValueError naming both lengths if key and value have different lengths.
        - Gradients flow to query, key, value and all parameters, through the output and through the weights.
        - The result has the dtype of the parameters and the query: float32, float64 after .double(), float16 after
          .half(), bfloat16 after .bfloat16(). The dtype of the mask does not matter.
        - Arguments are not modified, and nothing is kept from one call to the next.
        - No Python loop over tokens, features or the batch; a loop over heads is fine. No product is computed twice,
          and no tensor is larger than the weights and the arguments.
        """
        ### BEGIN SOLUTION
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"there are {key.shape[1]} keys but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)  # (B, H, N_q, D)
        K = split_heads(self.k_proj(key), self.num_heads)  # (B, H, N_k, D)
        V = split_heads(self.v_proj(value), self.num_heads)  # (B, H, N_k, D)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)  # (B, H, N_q, N_k)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)  # (B, H, N_q, N_k)
        else:
            blocked = mask == 0
            if blocked.dim() == 3:
                blocked = blocked.unsqueeze(1)  # (B, 1, N_q, N_k): the same for all heads
            # The softmax of a fully blocked row is NaN. The second masked_fill sets its weights to 0. The first one
            # sets the gradient of its scores to 0, so that no NaN flows back.
            weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
        merged = merge_heads(weights @ V)  # (B, N_q, E)
        return self.out_proj(merged), weights
        ### END SOLUTION


# %%
# Try the constructor: eight parameters with their names
if __name__ == "__main__":
    shapes = {name: tuple(one.shape) for name, one in MultiHeadAttention(embed_dim=4, num_heads=2).named_parameters()}
    print("parameters:", ", ".join(f"{name} {shape}" for name, shape in shapes.items()))
    assert sorted({name.partition(".")[0] for name in shapes}) == ["k_proj", "out_proj", "q_proj", "v_proj"]
    assert sorted(shapes.values()) == 4 * [(4,)] + 4 * [(4, 4)], "each has a weight (4, 4) and a bias (4,)"

# %%
# The sentence of the lesson, as a batch of one, for the cells below: a query, a key and a value for each token
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = torch.tensor([[[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]])
    K = torch.tensor([[[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]])
    V = torch.tensor([[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]])

    def with_identity(layer):
        """Make every projection the identity, so that you can follow the numbers by hand."""
        with torch.no_grad():
            for projection in (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj):
                projection.weight.copy_(torch.eye(projection.weight.shape[0]))
                projection.bias.zero_()
        return layer


# %%
# Try it: two heads of width 2, with projections that are the identity
if __name__ == "__main__":
    layer = with_identity(MultiHeadAttention(embed_dim=4, num_heads=2))
    result = layer(Q, K, V)
    assert len(result) == 2, "forward returns the pair (output, weights)"
    assert result[1].shape == (1, 2, 5, 5), f"weights of every head: (1, 2, 5, 5), not {tuple(result[1].shape)}"
    print("weights of The in head 0:", [round(w, 4) for w in result[1][0, 0, 0].tolist()])
    print("weights of The in head 1:", [round(w, 4) for w in result[1][0, 1, 0].tolist()])
    print("output of The:", [round(x, 4) for x in result[0][0, 0].tolist()])
    expected = torch.tensor([0.2491, 0.3763, 0.2289, 0.3663])
    assert torch.allclose(result[0][0, 0], expected, atol=1e-4), "see the table in the lesson"

# %%
# Try the mask: causal, and with a padding mask of (1, 1, 1, 5)
if __name__ == "__main__":
    layer = with_identity(MultiHeadAttention(embed_dim=4, num_heads=2))
    causal = layer(Q, K, V, mask=torch.ones(5, 5).tril())[1]
    print("causal weights of cat, head by head:", [[round(w, 4) for w in head[1].tolist()] for head in causal[0]])
    assert torch.equal(causal[0, :, 1, 2:], torch.zeros(2, 3)), "cat sees The and itself, in both heads"
    padded = layer(Q, mask=torch.tensor([[[[1, 1, 1, 0, 0]]]]))[1]
    assert torch.equal(padded[..., 3:], torch.zeros(1, 2, 5, 2)), "no query looks at the padding, in any head"
    blocked, _ = layer(Q, mask=torch.zeros(5, 5))
    assert torch.equal(blocked, torch.zeros(1, 5, 4)), "with every key blocked, the output is the bias, here 0"

# %%
# Try cross-attention: two tokens look at five
if __name__ == "__main__":
    layer = with_identity(MultiHeadAttention(embed_dim=4, num_heads=2))
    crossed, looked = layer(Q[:, :2], K)
    assert looked.shape == (1, 2, 2, 5), f"two queries, five keys: (1, 2, 2, 5), not {tuple(looked.shape)}"
    assert torch.allclose(crossed, layer(Q[:, :2], K, K)[0]), "without a value, the key is also the value"

# %% [markdown]
# ## Use: what each head looks at
#
# The same sentence with one, two and four heads. The more heads there are, the narrower each of them is. With four
# heads of width 1, a head has little to tell the keys apart.

# %%
if __name__ == "__main__":
    for num_heads in (1, 2, 4):
        maps = with_identity(MultiHeadAttention(4, num_heads))(Q, K, V)[1][0]
        for h, head in enumerate(maps):
            bars = "  ".join(f"{key} {'#' * round(20 * w):<8}" for key, w in zip(tokens, head[1].tolist(), strict=True))
            print(f"{num_heads} heads, head {h}, cat: {bars}")

# %% [markdown]
# ## Use: why more than one
#
# A small task: every token should return the mark of the token *before* it and also the mark of the *first* token, in
# separate places. One head mixes everything it looks at into one vector and cannot keep the two apart. Two heads can.
# Both layers have the same number of parameters.

# %%
if __name__ == "__main__":
    places, marks = (
        6,
        4,
    )  # a token is its place (one of 6) and its mark (one of 4), both one-hot, and 6 zeros

    def sentences(count):
        held = torch.eye(marks)[torch.randint(marks, (count, places))]  # (count, 6, 4)
        return torch.cat([torch.eye(places).expand(count, -1, -1), held, torch.zeros(count, places, 6)], dim=-1), held

    for num_heads in (1, 2):
        torch.manual_seed(0)
        learner = MultiHeadAttention(16, num_heads)
        optimiser = torch.optim.Adam(learner.parameters(), lr=0.02)
        for _ in range(300):
            told, held = sentences(64)
            wanted = torch.cat([held.roll(1, dims=1), held[:, :1].expand_as(held)], dim=-1)  # (64, 6, 8)
            loss = (learner(told)[0][:, 1:, :8] - wanted[:, 1:]).square().sum(dim=-1).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"{num_heads} head(s): a squared error of {loss.item():.2f} after 300 steps")

# %% [markdown]
# ## Reflect
#
# How many attention weights does one layer make for 32 sentences of 2048 tokens, with 96 heads? How many bytes are
# these in float32? And how many parameters does `MultiHeadAttention(512, 8)` have, weights and biases together? Replace
# each `None` (or assign the answers below it).

# %%
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = None
REFLECT_WEIGHT_BYTES_FLOAT32 = None
REFLECT_PARAMETERS_E512 = None
### BEGIN SOLUTION
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 12884901888
REFLECT_WEIGHT_BYTES_FLOAT32 = 51539607552
REFLECT_PARAMETERS_E512 = 1050624
### END SOLUTION
