# %% [markdown]
# # 12 · A transformer that writes
#
# A *block* adds three things to attention: a norm in front of it, a small network for each token after it, and
# residuals: what each half computes is added to the tokens. Stack some blocks between an embedding and a head, train
# the stack to predict the next token, and it writes text:
#
# $$x \leftarrow x + \operatorname{attention}(\operatorname{norm}_1(x)) \qquad
# x \leftarrow x + \operatorname{feed\_forward}(\operatorname{norm}_2(x))$$
#
# The attention is your own, from module 06. You may use all of PyTorch except `F.cross_entropy`, `nn.RMSNorm`,
# `F.rms_norm`, and its built-in attention (and everything that calls them). `F.silu`, `torch.logsumexp`,
# `torch.multinomial` and `torch.optim` are fine.
#
# After each step there is a cell that tries it. Run it in a notebook, or run all cells up to the first missing step
# with `python transformer.py`. `attn test transformer` runs the visible checks. The lesson is in `README.md` next to
# this file.

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

try:
    from mylab.multi_head_attention import MultiHeadAttention  # your own, from module 06
except ModuleNotFoundError:  # where Python does not find mylab, PyTorch's attention takes its place
    from fallback import MultiHeadAttention

# %% [markdown]
# ## Build 1: a norm
#
# Numbers that pass through many layers grow or shrink. RMS norm brings every token back to the same size: it divides
# the token by the root of the mean of its squares. Then each feature is multiplied by a weight of its own.


# %%
class RMSNorm(nn.Module):
    """Divide each token by its root mean square, and multiply each feature by a weight.

    It has exactly one parameter: `weight`, of shape (dim,). It starts at 1.
    """

    def __init__(self, dim, eps=1e-5):
        """Make the weight, for tokens of dim features."""
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """Return weight * x / sqrt(mean(x²) + eps) for x of shape (..., dim): the mean is over the last axis.

        - eps is inside the root: it is added to the mean of the squares. No mean is subtracted.
        - Each token is normalised alone. The result has the shape and the dtype of x: float32, or float64 after
          .double(). x is not modified.
        """
        raise NotImplementedError


# %%
# Try the constructor: one parameter, of ones
if __name__ == "__main__":
    assert [name for name, _ in RMSNorm(3).named_parameters()] == ["weight"], "an nn.Parameter with the name weight"
    assert RMSNorm(3).weight.tolist() == [1, 1, 1], "the weight starts at 1"

# %%
# Try it: the query of The, and the same ten times as large
if __name__ == "__main__":
    token = torch.tensor([1.0, 0, 1, 0])
    print("norm:", [round(value, 4) for value in RMSNorm(4)(token).tolist()])
    assert torch.allclose(RMSNorm(4, eps=0.0)(token), token * math.sqrt(2)), "the mean of the squares is 1/2"
    assert torch.allclose(RMSNorm(4)(10 * token), RMSNorm(4)(token), atol=1e-4), "the size of a token does not matter"

# %% [markdown]
# ## Build 2: a network for each token
#
# Attention moves things between tokens. The feed-forward network works on each token alone. SwiGLU has two projections
# into a wider space: `up` makes the features, and `gate`, after silu, says how much of each one passes.


# %%
class FeedForward(nn.Module):
    """The network of one token: down(silu(gate(x)) * up(x)).

    It has exactly three parameters: `gate` and `up` are `nn.Linear(embed_dim, hidden_dim)`, and `down` is
    `nn.Linear(hidden_dim, embed_dim)`, all without a bias.
    """

    def __init__(self, embed_dim, hidden_dim):
        """Make the three projections."""
        super().__init__()
        raise NotImplementedError

    def forward(self, x):
        """Return down(silu(gate(x)) * up(x)) for x of shape (B, N, E): the result is (B, N, E), too.

        - silu(z) is z * sigmoid(z). It is applied to the gate, not to up.
        - Each token is computed alone. The dtype of x is kept, and x is not modified.
        """
        raise NotImplementedError


# %%
# Try the constructor: three weights, and no biases
if __name__ == "__main__":
    shapes = {name: tuple(weight.shape) for name, weight in FeedForward(4, 6).named_parameters()}
    print("parameters of a network:", shapes)
    assert shapes == {"gate.weight": (6, 4), "up.weight": (6, 4), "down.weight": (4, 6)}, "without biases"

# %%
# Try it: one feature, one hidden feature, and all weights 1
if __name__ == "__main__":
    network = FeedForward(1, 1)
    with torch.no_grad():
        for weight in network.parameters():
            weight.fill_(1.0)
    print("feed-forward of 2:", round(network(torch.tensor([[[2.0]]])).item(), 4))
    assert abs(network(torch.tensor([[[2.0]]])).item() - 3.5232) < 1e-4, "silu(2) is 1.7616, times up, which is 2"

# %% [markdown]
# ## Build 3: a block
#
# Two halves, each with a norm in front and a residual around it: what a half computes is *added* to the tokens.


# %%
class TransformerBlock(nn.Module):
    """A pre-norm block: attention and a feed-forward network, each behind a norm and added to its input.

    Its parts have these names: `norm1` and `norm2` (RMSNorm), `attention` (your own MultiHeadAttention from module 06)
    and `feed_forward` (FeedForward). Nothing else is learnt, and there is no dropout.
    """

    def __init__(self, embed_dim, num_heads, hidden_dim):
        """Make the four parts. A ValueError of the attention (embed_dim % num_heads) goes on to the caller."""
        super().__init__()
        raise NotImplementedError

    def forward(self, x, mask=None):
        """Return the tokens after both halves: (B, N, E) in, (B, N, E) out.

        First, the attention of norm1(x) is added to x. Then the network of norm2 of the result is added to the result.

        - The attention is self-attention with this mask: (N, N), or any other that your attention takes. Without a
          mask, none is applied: every token sees every token.
        - Gradients flow to x and to all parameters. x and the mask are not modified.
        """
        raise NotImplementedError


# %%
# Try the constructor: two norms, the attention and the network
if __name__ == "__main__":
    parts = [name for name, _ in TransformerBlock(embed_dim=4, num_heads=2, hidden_dim=8).named_children()]
    assert sorted(parts) == ["attention", "feed_forward", "norm1", "norm2"], f"the parts are {parts}"

# %%
# Try it: a block that adds nothing is the identity
if __name__ == "__main__":
    block = TransformerBlock(embed_dim=4, num_heads=2, hidden_dim=8)
    x = torch.randn(1, 5, 4)
    assert block(x).shape == (1, 5, 4), f"(B, N, E) is (1, 5, 4), not {tuple(block(x).shape)}"
    with torch.no_grad():
        for last in (block.attention.out_proj.weight, block.attention.out_proj.bias, block.feed_forward.down.weight):
            last.zero_()
    assert torch.equal(block(x), x), "if both halves compute 0, the tokens pass unchanged: both are residuals"

# %% [markdown]
# ## Build 4: the model
#
# Token ids become vectors, and a vector for each position is added. The blocks change them. Then a last norm, and the
# head gives a score for every possible next token.


# %%
class GPT(nn.Module):
    """A language model: ids in, logits for the next token out, at every position.

    Its parts have these names: `token_embedding` (`nn.Embedding(vocab_size, embed_dim)`), `position_embedding`
    (`nn.Embedding(context_length, embed_dim)`), `blocks` (`nn.ModuleList` of num_layers blocks), `norm` (RMSNorm), and
    `head` (`nn.Linear(embed_dim, vocab_size)` without a bias, with a weight of its own). `context_length` is an
    attribute. There is no dropout. You may initialise the parameters as you like, or not at all, as long as the loss of
    a new model is within 1 of ln(vocab_size).
    """

    def __init__(self, vocab_size, context_length, embed_dim, num_layers, num_heads, hidden_dim):
        """Make the parts."""
        super().__init__()
        raise NotImplementedError

    def forward(self, ids):
        """Return the logits (B, N, V) for ids (B, N), int64: logits[:, i] are the scores of the token after token i.

        - The token at place i gets the position embedding i, from 0.
        - It is causal: the logits at place i do not depend on the ids after place i.
        - Raises ValueError naming both numbers if N is larger than context_length. A smaller N is fine.
        - Everything it makes (positions, mask) lives where ids live. The result has the dtype of the parameters:
          float32, or float64 after .double(). ids are not modified.
        """
        raise NotImplementedError


# %%
# Try the constructor: the parameters that the lesson counts
if __name__ == "__main__":
    count = sum(one.numel() for one in GPT(5, 8, 4, 2, 2, 8).parameters())
    print("parameters of the small model:", count)
    assert count == 444, f"the lesson counts 444 parameters, not {count}"

# %%
# Try it: change the last token, and look at the logits before it
if __name__ == "__main__":
    torch.manual_seed(0)
    model = GPT(vocab_size=5, context_length=8, embed_dim=4, num_layers=2, num_heads=2, hidden_dim=8)
    sentence = torch.tensor([[0, 1, 2, 3, 4]])  # The cat sat on mat
    changed = torch.tensor([[0, 1, 2, 3, 0]])
    logits = model(sentence)
    assert logits.shape == (1, 5, 5), f"(B, N, V) is (1, 5, 5), not {tuple(logits.shape)}"
    assert torch.equal(logits[:, :4], model(changed)[:, :4]), "no token sees the tokens after it"
    assert not torch.equal(logits[:, 4], model(changed)[:, 4]), "every token sees itself"

# %% [markdown]
# ## Build 5: the loss
#
# How surprised is the model by the token that came? The cross-entropy is minus the logarithm of that token's
# probability.


# %%
def cross_entropy(logits, targets):
    """Return the mean of -log softmax(logits)[target] over all positions, a tensor without axes.

    logits: (B, N, V), the scores of every token. targets: (B, N), int64, the token that came.

    - Logits of any size work, such as 10000 or -10000: the result is finite, and right.
    - Gradients flow to the logits. The dtype of the logits is kept. Nothing is modified.
    - `F.cross_entropy` is not allowed. No tensor is larger than the logits.
    """
    raise NotImplementedError


# %%
# Try it: a model that knows nothing, and one that is sure of the wrong token
if __name__ == "__main__":
    nothing = cross_entropy(torch.zeros(1, 5, 65), torch.tensor([[0, 1, 2, 3, 4]]))
    print("65 tokens, all with the same score:", round(nothing.item(), 4))
    assert abs(nothing.item() - math.log(65)) < 1e-5, "each has the probability 1/65"
    wrong = cross_entropy(torch.tensor([[[10000.0, 0.0]]]), torch.tensor([[1]]))
    assert wrong.item() == 10000, f"the loss is the gap of 10000, not {wrong.item()}"

# %% [markdown]
# ## Build 6: batches
#
# A text is its own teacher: the target of each token is the token after it.


# %%
def get_batch(data, batch_size, context_length, generator):
    """Return (inputs, targets), two int64 tensors (batch_size, context_length) of pieces of data.

    data: (length,), int64, longer than context_length. Each row of inputs is context_length tokens in a row, from a
    random start. The row of targets is the same piece, one token later: targets[b, i] comes after inputs[b, i] in data.

    - All random numbers come from the generator, a torch.Generator: the same seed gives the same batch.
    - The starts are drawn independently and uniformly from 0 to len(data) - context_length - 1, both included.
    - data is not modified.
    """
    raise NotImplementedError


# %%
# Try it: pieces of the numbers 0 to 9
if __name__ == "__main__":
    inputs, targets = get_batch(torch.arange(10), 3, 4, torch.Generator().manual_seed(0))
    print("inputs:", inputs.tolist(), "targets:", targets.tolist())
    assert inputs.shape == targets.shape == (3, 4), "both are (batch_size, context_length)"
    assert torch.equal(targets, inputs + 1), "the token after each number is the next number"

# %% [markdown]
# ## Build 7: choose the next token
#
# The logits become probabilities, and one token is drawn. Temperature, top-k and top-p say how much is left to chance.


# %%
def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Draw one token from each row of logits (B, V). Return (B,), int64.

    In this order:

    1. The logits are divided by the temperature.
    2. With top_k, only the top_k most likely tokens can be drawn: exactly top_k, also where logits are equal. If
       top_k is larger than V, all can be drawn.
    3. With top_p, the probabilities of the tokens that are left are made to sum to 1. Tokens are taken from the most
       likely one on, until their sum reaches top_p. Only these can be drawn, the one that reaches it included.
    4. One token is drawn with the probabilities of those that are left, made to sum to 1.

    - top_k is at least 1. top_p is above 0 and at most 1. Other values are not tested.
    - Raises ValueError naming the temperature if it is 0 or less.
    - All random numbers come from the generator; without one, from torch's own. logits are not modified.
    """
    raise NotImplementedError


# %%
# Try it: the scores of The for the five words, 1000 times
if __name__ == "__main__":
    scores = torch.tensor([0, 2, 1, 1, 1.5]).expand(1000, 5)
    for settings in ({}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.4}):
        drawn = sample_next(scores, **settings, generator=torch.Generator().manual_seed(0))
        print(settings or "as they are", torch.bincount(drawn, minlength=5).tolist())
        assert drawn.shape == (1000,), f"one token for each row: (1000,), not {tuple(drawn.shape)}"

# %% [markdown]
# ## Build 8: write
#
# Ask for the next token, append it, ask again. The model sees at most `context_length` tokens.


# %%
def generate(model, ids, max_new_tokens, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Return ids, (B, N), with max_new_tokens further tokens: (B, N + max_new_tokens), the prompt first.

    Each new token is drawn by sample_next from the model's logits at the last place. The model gets the last
    model.context_length tokens, and all of them while they are fewer.

    - The model is in eval mode meanwhile, and in its previous mode afterwards.
    - No gradients are kept. ids are not modified.
    - All random numbers come from the generator: the same seed gives the same text.
    """
    raise NotImplementedError


# %%
# Try it: more tokens than the context holds
if __name__ == "__main__":
    model = GPT(vocab_size=5, context_length=4, embed_dim=4, num_layers=1, num_heads=2, hidden_dim=8)
    written = generate(model, torch.tensor([[0, 1]]), 6, generator=torch.Generator().manual_seed(0))
    print("written:", written.tolist())
    assert written.shape == (1, 8), f"two tokens and six new ones: (1, 8), not {tuple(written.shape)}"
    assert written[0, :2].tolist() == [0, 1], "the prompt comes first"
    assert model.training, "a new model is in train mode, and it is again afterwards"

# %% [markdown]
# ## Build 9: learn
#
# Draw a batch, measure the loss, follow its gradient. Again.


# %%
def train(model, data, steps, batch_size, lr, generator):
    """Train the model on data, and return the loss of every step: a list of `steps` floats.

    Each step draws one batch with get_batch (pieces of model.context_length tokens), takes the cross_entropy of the
    model's logits, and makes one step of `torch.optim.Adam` or `AdamW` with the learning rate lr. All other settings
    of the optimizer stay at their defaults.

    - A loss is that of the batch before the update. Gradients of earlier steps do not count.
    - The model is in train mode meanwhile. It is changed in place. data is not modified.
    - All random numbers come from the generator. The learning rate stays the same, and gradients are not clipped.
    """
    raise NotImplementedError


# %%
# Try it: a pattern of five tokens
if __name__ == "__main__":
    torch.manual_seed(0)
    model = GPT(vocab_size=5, context_length=8, embed_dim=8, num_layers=1, num_heads=2, hidden_dim=16)
    losses = train(model, torch.tensor([0, 1, 2, 3, 4] * 8), 30, 4, 0.02, torch.Generator().manual_seed(0))
    print("losses:", [round(loss, 2) for loss in losses[::10]])
    assert len(losses) == 30, f"one loss for each step: 30, not {len(losses)}"
    assert abs(losses[0] - math.log(5)) < 1, "a new model knows nothing: its loss is about ln 5"
    assert losses[-1] < losses[0], "the loss should fall"

# %% [markdown]
# ## Use: a model that writes
#
# About two thousand characters, one token for each character. A model of pairs of characters (how often is `h`
# followed by `e`?) cannot get below a loss of 1.648 on this text, however long it counts. Yours can: it sees more than
# one character.

# %%
TEXT = """\
the cat sat on the mat. the mat lay by the door, and the door was open.
through the door came the wind, and the wind came from the sea.
the cat looked at the wind, but no one can see the wind.
so the cat looked at what the wind moved: the grass, the leaves, the light on the wall.
what do you see, asked the dog. i see the wind, said the cat.
you can not see the wind, said the dog. no one can see the wind.
i see the grass, said the cat, and the grass sees the wind.
the dog sat on the mat and looked at the grass for a long time.

then the rain came from the sea, and the door was closed.
the cat sat by the fire, and the dog lay by the cat.
what do you hear, asked the cat. i hear the rain, said the dog.
the rain says one word, and then the same word again, said the cat.
which word comes next, asked the dog. the same word, said the cat.
the dog listened to the rain for a long time. then the rain said nothing.
that was not the same word, said the dog. no, said the cat, that was the end of the line.

in the night the moon came from the sea, and the light lay on the wall.
the cat looked at the moon, and the moon looked at the cat.
what do you say to the moon, asked the dog. i say what i heard, said the cat.
first i say one word. then i look at the word, and i say the next one.
and how do you know the next one, asked the dog.
i look at all the words before it, said the cat, and i ask which of them matter.
the old words tell me the new word, and then the new word is old.
and when do you stop, asked the dog. when the fire is out, said the cat.
the dog sat by the fire and looked at the words for a long time.

then the sun came from the sea, and the door was open again.
the dog looked for the rain, but the rain was gone, and the grass was green.
the fire is out, said the dog. then i begin again, said the cat.
the cat sat on the mat. the mat lay by the door.
what do you see, asked the dog. i see the grass, said the cat, and the wind, and the next word.
"""

# %%
if __name__ == "__main__":
    alphabet = sorted(set(TEXT))
    data = torch.tensor([alphabet.index(character) for character in TEXT])
    torch.manual_seed(0)
    model = GPT(len(alphabet), context_length=16, embed_dim=32, num_layers=1, num_heads=2, hidden_dim=64)
    chance, start = torch.Generator().manual_seed(0), torch.tensor([[alphabet.index("t")]])
    for part in range(1, 6):
        losses = train(model, data, 100, 16, 0.01, chance)
        text = generate(model, start, 60, temperature=0.8, generator=chance)[0].tolist()
        print(f"{100 * part} steps, loss {losses[-1]:.2f}:", repr("".join(alphabet[i] for i in text)))

# %% [markdown]
# ## Reflect
#
# What is the loss of a model of 65 tokens that gives all of them the same probability (to three decimals)? And how many
# parameters does
# `GPT(vocab_size=65, context_length=64, embed_dim=128, num_layers=4, num_heads=4, hidden_dim=256)` have?
# Replace each `None` (or assign the answers below it).

# %%
REFLECT_INITIAL_LOSS_V65 = None
REFLECT_PARAMETERS = None
# Your answer goes here.
