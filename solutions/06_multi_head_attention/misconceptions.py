"""Misconceptions of 06_multi_head_attention. Each cell replaces part of the solution to make a wrong submission."""

import math

import torch
from multi_head_attention import MultiHeadAttention, merge_heads, split_heads  # the solution: each cell replaces a part
from torch import nn

# %% split_without_transpose
LIKELY = "the tokens are only reshaped, so tokens and heads are mixed up"
HINT = "Split torch.arange(8).reshape(1, 2, 4) for two heads. Which tokens are in head 0? Cut first, then swap axes."


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, num_heads, length, embed_dim // num_heads)


# %% split_interleaved
LIKELY = "a head gets every H-th feature instead of a slice of neighbouring features"
HINT = "With two heads, does head 0 get features 0 and 1, or 0 and 2? Look at the order of the sizes in your reshape."


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, length, embed_dim // num_heads, num_heads).permute(0, 3, 1, 2)


# %% split_the_tokens
LIKELY = "the tokens are divided among the heads, not the features"
HINT = "Which axis do you cut into heads: the one of size N or the one of size E? Every head should see every token."


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, num_heads, length // num_heads, embed_dim)


# %% split_left_by_token
LIKELY = "the axis of the heads comes after the tokens: the result is (B, N, H, E / H)"
HINT = "Print the shape for 2 sentences, 3 tokens, 8 features and 2 heads. Which axis should the heads be?"


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, length, num_heads, embed_dim // num_heads)


# %% split_heads_before_batch
LIKELY = "the axis of the heads comes before the batch: the result is (H, B, N, E / H)"
HINT = "Which axis does torch.stack add by default? The batch should stay first."


def split_heads(x, num_heads):
    _batch, _length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return torch.stack(x.chunk(num_heads, dim=-1))


# %% split_into_the_batch
LIKELY = "batch and heads are joined into one axis: the result is (B * H, N, E / H)"
HINT = "This shape is fine inside a function, for bmm. How many axes should the result have?"


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    x = x.reshape(batch, length, num_heads, embed_dim // num_heads).transpose(1, 2)
    return x.reshape(batch * num_heads, length, embed_dim // num_heads)


# %% split_features_before_tokens
LIKELY = "features and tokens are swapped: the result is (B, H, E / H, N)"
HINT = "Only tokens and heads should be swapped. Which axes does your permute move?"


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, length, num_heads, embed_dim // num_heads).permute(0, 2, 3, 1)


# %% split_takes_heads_for_width
LIKELY = "num_heads is used as the width of a head"
HINT = "With 8 features and 2 heads, each head is 4 wide. How many heads do you make, and how wide are they?"


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.reshape(batch, length, embed_dim // num_heads, num_heads).transpose(1, 2)


# %% split_first_slice_for_all
LIKELY = "every head gets the first slice of the features"
HINT = "Compare head 0 with head 1. Where does your code use the number of the head?"


def split_heads(x, num_heads):
    _batch, _length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    width = embed_dim // num_heads
    return torch.stack([x[..., :width] for _ in range(num_heads)], dim=1)


# %% split_scales_in_place
LIKELY = "the features are scaled in the caller's tensor while they are split"
HINT = "split_heads should not change any number. Print x before and after the call."


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    x /= math.sqrt(embed_dim // num_heads)
    return x.reshape(batch, length, num_heads, -1).transpose(1, 2)


# %% split_drops_the_rest
LIKELY = "features are dropped without an error if E is not a multiple of num_heads"
HINT = "What should happen with 6 features and 4 heads? The docstring says what the message must name."
VALUES_RIGHT = True


def split_heads(x, num_heads):
    _batch, _length, embed_dim = x.shape
    width = embed_dim // num_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(num_heads)], dim=1)


# %% split_asserts
LIKELY = "a wrong width raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    assert embed_dim % num_heads == 0, f"{embed_dim} features, {num_heads} heads"
    return x.reshape(batch, length, num_heads, embed_dim // num_heads).transpose(1, 2)


# %% split_error_without_numbers
LIKELY = "the ValueError of split_heads does not say which numbers disagree"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError("the features cannot be shared out among the heads")
    return x.reshape(batch, length, num_heads, embed_dim // num_heads).transpose(1, 2)


# %% split_detached
LIKELY = "split_heads cuts the graph, so no gradient flows back through it"
HINT = "Look for .detach() and .data. Without them the values are the same, and gradients can flow."


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    return x.detach().reshape(batch, length, num_heads, embed_dim // num_heads).transpose(1, 2)


# %% split_into_float32
LIKELY = "the heads are copied into torch.zeros, which is float32 for every x"
HINT = "Print split_heads(x, 2).dtype for a float64 x. What does torch.zeros_like or dtype=x.dtype change?"


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    width = embed_dim // num_heads
    heads = torch.zeros(batch, num_heads, length, width)
    for h in range(num_heads):
        heads[:, h] = x[..., h * width : (h + 1) * width]
    return heads


# %% split_left_to_torch
LIKELY = "split_heads does not check the width, so that PyTorch complains about a shape with a RuntimeError"
HINT = "Which exception does the docstring ask for, and which two numbers should its message name?"
VALUES_RIGHT = True
IN = "split_heads"
REPLACE = {
    "if embed_dim % num_heads != 0:\n"
    'raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")\n'
    "x = x.reshape(batch, length, num_heads, embed_dim // num_heads)": (
        "x = x.reshape(batch, length, num_heads, embed_dim // num_heads)"
    )
}

# %% split_chunks_joined
LIKELY = "the slices are joined along the tokens: the result has three axes, and the tokens of all heads in a row"
HINT = "A new axis is needed for the heads. What is the difference between torch.cat and torch.stack?"
REPLACE = {
    "x = x.reshape(batch, length, num_heads, embed_dim // num_heads)\nreturn x.transpose(1, 2)": (
        "return torch.cat(x.chunk(num_heads, dim=-1), dim=1)"
    )
}

# %% merge_without_transposing
LIKELY = "the heads are reshaped without swapping heads and tokens first"
HINT = "Split and merge a tensor. Is it the same again? Swap tokens and heads before you flatten."


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    return x.reshape(batch, length, num_heads * width)


# %% merge_interleaved
LIKELY = "the features of the heads are interleaved"
HINT = "In a merged token, what comes after the first feature of head 0: its second feature, or the first of head 1?"


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, length, width * num_heads)


# %% merge_averages
LIKELY = "the heads are averaged instead of put side by side"
HINT = "Two heads of width 4 make a token of 8 features. How wide is your result?"
REPLACE = {"x = x.transpose(1, 2)\nreturn x.flatten(start_dim=2)": "return x.mean(dim=1)"}

# %% merge_adds
LIKELY = "the heads are added up instead of put side by side"
HINT = "Two heads of width 4 make a token of 8 features. How wide is your result?"
REPLACE = {"x = x.transpose(1, 2)\nreturn x.flatten(start_dim=2)": "return x.sum(dim=1)"}

# %% merge_along_tokens
LIKELY = "the heads are joined along the axis of the tokens"
HINT = "How many tokens does your result have? Along which axis should the heads be joined?"
REPLACE = {"x = x.transpose(1, 2)\nreturn x.flatten(start_dim=2)": "return torch.cat(list(x.unbind(dim=1)), dim=1)"}

# %% merge_flattens_the_batch
LIKELY = "the tokens of all sentences are joined into one axis"
HINT = "For 2 sentences of 3 tokens the result should have three axes: (2, 3, E). What is your shape?"


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch * length, num_heads * width)


# %% merge_adds_in_place
LIKELY = "the heads are added up in the caller's tensor"
HINT = "Print x before and after the call, and the shape of your result."


def merge_heads(x):
    _batch, num_heads, _length, _width = x.shape
    x[:, 0] += x[:, 1:].sum(dim=1)
    return x[:, 0].repeat(1, 1, num_heads)


# %% merge_detached
LIKELY = "merge_heads cuts the graph, so no gradient flows back through it"
HINT = "Look for .detach() and .data. Without them the values are the same, and gradients can flow."


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    return x.data.transpose(1, 2).reshape(batch, length, num_heads * width)


# %% merge_into_float32
LIKELY = "the heads are copied into torch.zeros, which is float32 for every x"
HINT = "Print merge_heads(x).dtype for a float64 x. What does torch.zeros_like or dtype=x.dtype change?"


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    tokens = torch.zeros(batch, length, num_heads * width)
    for h in range(num_heads):
        tokens[..., h * width : (h + 1) * width] = x[:, h]
    return tokens


# %% merge_view_after_transpose
LIKELY = "view is called after a transpose: the numbers do not lie in that order in memory, so PyTorch refuses"
HINT = "Read the end of the error: what does it advise? What does .contiguous() do?"
RAISES = True
REPLACE = {"return x.flatten(start_dim=2)": "return x.view(x.shape[0], x.shape[1], -1)"}

# %% features_not_checked
LIKELY = "the constructor accepts an embed_dim that is not a multiple of num_heads"
HINT = "What should MultiHeadAttention(6, 4) do? The error should come before the first call."
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        nn.Module.__init__(self)
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)


# %% constructor_asserts
LIKELY = "the constructor raises an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        assert embed_dim % num_heads == 0, f"{embed_dim} features, {num_heads} heads"
        super().__init__(embed_dim, num_heads)


# %% constructor_without_numbers
LIKELY = "the ValueError of the constructor does not say which numbers disagree"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be a multiple of num_heads")
        super().__init__(embed_dim, num_heads)


# %% projections_without_bias
LIKELY = "the projections have no bias"
HINT = "Count the parameters: there should be eight. What does bias=False do?"


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)


# %% projections_are_no_parameters
LIKELY = "the layer has no parameters: PyTorch finds none in a plain list, and none that are made in forward"
HINT = "Print list(layer.parameters()). What would an optimiser train? Set each projection as an attribute in __init__."


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        nn.Module.__init__(self)
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.projections = [nn.Linear(embed_dim, embed_dim) for _ in range(4)]

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.projections[0](query), self.num_heads)
        K = split_heads(self.projections[1](key), self.num_heads)
        V = split_heads(self.projections[2](value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.projections[3](merge_heads(weights @ V)), weights


# %% projections_renamed
LIKELY = "the projections have other names than q_proj, k_proj, v_proj and out_proj"
HINT = "Trained weights are loaded by name. Print the names in layer.state_dict() and compare them with the docstring."


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        nn.Module.__init__(self)
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.W_q, self.W_k = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.W_v, self.W_o = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.W_q(query), self.num_heads)
        K = split_heads(self.W_k(key), self.num_heads)
        V = split_heads(self.W_v(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.W_o(merge_heads(weights @ V)), weights


# %% one_layer_for_queries_and_keys
LIKELY = "queries and keys share one projection, under two names"
HINT = "Print len(list(layer.parameters())). Assigning a layer to a second attribute does not copy it."


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.k_proj = self.q_proj


# %% projections_frozen
LIKELY = "the projections do not learn: their parameters do not require gradients"
HINT = "Print [p.requires_grad for p in layer.parameters()]. Can an optimiser train them?"


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        for parameter in self.parameters():
            parameter.requires_grad = False


# %% output_projection_frozen
LIKELY = "out_proj does not learn: its parameters do not require gradients"
HINT = "Print [p.requires_grad for p in layer.parameters()]. All eight should learn."


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.out_proj.requires_grad_(False)


# %% scale_is_learnt
LIKELY = "the scale is a parameter, so training would change it"
HINT = "Print the names of the parameters. The scale should be a plain number, or a buffer."
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.scale = nn.Parameter(torch.tensor(math.sqrt(self.head_dim)))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / self.scale
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% scale_of_the_whole_width
LIKELY = "the scores are divided by the square root of embed_dim; a head is only embed_dim / num_heads wide"
HINT = "How many products are added up in one score of one head? The scale is the square root of that number."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% no_scaling
LIKELY = "the scores are not divided by anything"
HINT = "With heads of width 4, what should a raw score of 2 become? See the formula at the top."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% divides_by_the_width
LIKELY = "the scores are divided by the width of a head, not by its square root"
HINT = "With heads of width 64, scores are divided by 8. What do you divide by?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / self.head_dim
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% scale_of_the_heads
LIKELY = "the scores are divided by the square root of the number of heads"
HINT = "With two heads of width 32, do you divide by the square root of 32 or of 2?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.num_heads)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% multiplies_by_the_scale
LIKELY = "the scores are multiplied by the scale instead of divided by it"
HINT = "Scaling should bring large scores down. Do yours grow?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) * math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% scale_of_the_keys
LIKELY = "the scores are divided by the square root of the number of keys"
HINT = "Add some blocked keys. The weights of the other keys should not change. Which axis is the width?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(K.shape[2])
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% scale_after_softmax
LIKELY = "the weights are divided by the scale, after the softmax"
HINT = "Do the weights still sum to 1? The division belongs before the softmax."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1) / math.sqrt(self.head_dim)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% output_projection_missing
LIKELY = "the merged heads are returned without out_proj"
HINT = "Set out_proj.weight to zeros. Should the output still depend on the tokens?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return merge_heads(weights @ V), weights


# %% output_projection_twice
LIKELY = "out_proj is applied twice"
HINT = "Set out_proj.weight to twice the identity. By how much should the output grow?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        output = self.out_proj(merge_heads(weights @ V))
        return self.out_proj(output), weights


# %% output_projection_before_mixing
LIKELY = "out_proj is applied to the values, before the heads mix them"
HINT = "out_proj combines the results of all heads. Can it come before them?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.out_proj(self.v_proj(value)), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return merge_heads(weights @ V), weights


# %% query_projection_for_keys
LIKELY = "the keys go through q_proj, so k_proj is never used"
HINT = "Change k_proj. Do the weights change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.q_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% key_projection_for_values
LIKELY = "the values go through k_proj, so v_proj is never used"
HINT = "Change v_proj. Does the output change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.k_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% values_projected_twice
LIKELY = "the values go through k_proj and then through v_proj"
HINT = "What is the input of v_proj in your code: the value, or the output of k_proj?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(self.k_proj(value)), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% keys_not_projected
LIKELY = "the keys are not projected"
HINT = "Change k_proj. Do the weights change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(key, self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% values_not_projected
LIKELY = "the values are not projected"
HINT = "Change v_proj. Does the output change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(value, self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% weight_without_bias
LIKELY = "only the weights of the projections are used, never their biases"
HINT = "nn.Linear adds its bias when it is called. What does x @ layer.weight.T leave out?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(query @ self.q_proj.weight.T, self.num_heads)
        K = split_heads(key @ self.k_proj.weight.T, self.num_heads)
        V = split_heads(value @ self.v_proj.weight.T, self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return merge_heads(weights @ V) @ self.out_proj.weight.T, weights


# %% weight_not_transposed
LIKELY = "the weights of the projections are not transposed: nn.Linear multiplies by weight.T"
HINT = "What is the shape of nn.Linear(2, 3).weight? Call the layer instead of multiplying by hand."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(query @ self.q_proj.weight + self.q_proj.bias, self.num_heads)
        K = split_heads(key @ self.k_proj.weight + self.k_proj.bias, self.num_heads)
        V = split_heads(value @ self.v_proj.weight + self.v_proj.bias, self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% data_of_the_parameters
LIKELY = "the projections are computed with .data, so their parameters get no gradients"
HINT = "After loss.backward(), what is layer.q_proj.weight.grad? Call the layer itself."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(query @ self.q_proj.weight.data.T + self.q_proj.bias.data, self.num_heads)
        K = split_heads(key @ self.k_proj.weight.data.T + self.k_proj.bias.data, self.num_heads)
        V = split_heads(value @ self.v_proj.weight.data.T + self.v_proj.bias.data, self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% projections_made_anew
LIKELY = "the projections are created again in every call, with new random weights"
HINT = "Call the layer twice with the same tokens. What belongs in the constructor?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        self.q_proj = nn.Linear(query.shape[-1], query.shape[-1])
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% value_from_query
LIKELY = "the values are made from the query, also in cross-attention"
HINT = "Pass a value that differs from the query. Does the output change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(query), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% value_defaults_to_query
LIKELY = "without a value, the query is used as the value, even if there is a key"
HINT = "In layer(query, key) the key is also the value. What is the value in your code?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = query if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% value_ignored
LIKELY = "the values are made from the key, even if a value is given"
HINT = "Pass a value that differs from the key. Does the output change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(key), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% key_ignored
LIKELY = "key and value are not used: the layer always does self-attention"
HINT = "Which shape should the weights have for two queries and five keys?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(query), self.num_heads)
        V = split_heads(self.v_proj(query), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% key_and_value_swapped
LIKELY = "keys are made from the value, and values from the key"
HINT = "Change only the value. Should the weights change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(value), self.num_heads)
        V = split_heads(self.v_proj(key), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% query_and_key_swapped
LIKELY = "queries are made from the key, and keys from the query"
HINT = "Row i of the weights belongs to query i. What is the shape of your weights for two queries and five keys?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(key), self.num_heads)
        K = split_heads(self.k_proj(query), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights.transpose(-1, -2) @ V)), weights


# %% lengths_cut_to_the_shorter
LIKELY = "keys and values of different lengths are cut to the shorter length"
HINT = "What should happen with 3 keys and 5 values? The docstring says what the message must name."
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        length = min(key.shape[1], value.shape[1])
        key, value = key[:, :length], value[:, :length]
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% lengths_without_numbers
LIKELY = "the ValueError does not say how many keys and values there are"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError("key and value must have the same length")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% first_heads_weights_for_all
LIKELY = "all heads use the weights of the first head"
HINT = "Print weights[0, 0] and weights[0, 1]. Should two heads look at the same things?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        weights = weights[:, :1].expand(-1, self.num_heads, -1, -1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% weights_averaged
LIKELY = "the returned weights are averaged over the heads"
HINT = "Which shape should the weights have? Every head has its own weights."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights.mean(dim=1)


# %% weights_averaged_before_mixing
LIKELY = "all heads use the mean of their weights"
HINT = "Print weights[0, 0] and weights[0, 1]. Each head mixes its values with its own weights."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        weights = weights.mean(dim=1, keepdim=True).expand(-1, self.num_heads, -1, -1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% heads_averaged
LIKELY = "the heads are averaged and the mean is repeated; they should be put side by side"
HINT = "Change the part of v_proj that belongs to head 0. Which features of the merged heads should change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        mixed = (weights @ V).mean(dim=1).repeat(1, 1, self.num_heads)
        return self.out_proj(mixed), weights


# %% one_head_of_full_width
LIKELY = "nothing is split: one head looks at all features, and its weights are repeated"
HINT = "Print weights[0, 0] and weights[0, 1]. Where is split_heads called?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = self.q_proj(query).unsqueeze(1)
        K = self.k_proj(key).unsqueeze(1)
        V = self.v_proj(value).unsqueeze(1)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(query.shape[-1])
        scores = scores.expand(-1, self.num_heads, -1, -1)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(weights[:, 0] @ V[:, 0]), weights


# %% heads_taken_for_width
LIKELY = "num_heads is used as the width of a head"
HINT = "MultiHeadAttention(8, 2) has two heads of width 4. How many heads do your weights have?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.head_dim)
        K = split_heads(self.k_proj(key), self.head_dim)
        V = split_heads(self.v_proj(value), self.head_dim)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.num_heads)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% values_not_split
LIKELY = "the values are split without swapping heads and tokens"
HINT = "Q, K and V are all split in the same way. Does V come from split_heads?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = self.v_proj(value).reshape(len(value), self.num_heads, value.shape[1], self.head_dim)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% softmax_over_queries
LIKELY = "the weights sum to 1 over the queries, not over the keys"
HINT = "Print weights.sum(dim=-1). What should it be?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-2))
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% softmax_over_heads
LIKELY = "the weights sum to 1 over the heads, not over the keys"
HINT = "Print weights.sum(dim=-1). Which axis has the keys?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=1))
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% softmax_overflows
LIKELY = "exp is taken of the scores without subtracting their maximum, so it overflows"
HINT = "What is torch.exp(torch.tensor(100.0))? Module 01 shows how to avoid this, and torch.softmax does it for you."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        exps = torch.exp(scores)
        weights = exps / exps.sum(dim=-1, keepdim=True)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% weights_first
LIKELY = "the pair is returned as (weights, output); it should be (output, weights)"
HINT = "Which shape should the first result have: that of the query or that of the scores?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return weights, output


# %% output_alone
LIKELY = "only the output is returned; it should be the pair (output, weights)"
HINT = "What does `output, weights = layer(x)` need?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        return super().forward(query, key, value, mask)[0]


# %% scores_for_weights
LIKELY = "the scores are returned instead of the weights"
HINT = "What should one row of the second result sum to?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), scores


# %% query_added_to_output
LIKELY = "the query is added to the output"
HINT = "Adding the input is the job of the block around this layer. What should the output be if all values are 0?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return query + self.out_proj(merge_heads(weights @ V)), weights


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call the layer with a mask of zeros. Does anything change?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):  # noqa: ARG002
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_inverted
LIKELY = "the mask is read the wrong way round: 1 should mean that the query may look at a key"
HINT = "With a causal mask, should cat see the tokens before it or after it? nn.MultiheadAttention means the opposite."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) != 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_over_the_wrong_axis
LIKELY = "the batch of a 3-dimensional mask lines up with the heads: shapes line up from the right"
HINT = "Write (B, N_q, N_k) below (B, H, N_q, N_k), aligned on the right. Where is an axis of size 1 missing?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = mask == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_in_the_first_head
LIKELY = "the mask of a sentence is used in the first head only"
HINT = "Look at weights[:, 1] where the mask is 0. The mask is for every head."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.clone()
            scores[:, 0] = scores[:, 0].masked_fill(blocked if mask.dim() == 2 else blocked[:, 0], -math.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = torch.nan_to_num(weights)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_repeated_in_another_order
LIKELY = "the mask is repeated for the heads in a different order than the sentences"
HINT = "With B * H rows, do rows 0 and 1 belong to one sentence or to one head? Compare repeat with repeat_interleave."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = mask == 0
            if mask.dim() == 3:
                blocked = blocked.repeat(self.num_heads, 1, 1).reshape(scores.shape)
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% first_mask_for_all_sentences
LIKELY = "every sentence gets the mask of the first sentence"
HINT = "Pass two sentences with different padding. What is blocked in the second?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask[:1].unsqueeze(1) if mask.dim() == 3 else mask[:1] if mask.dim() == 4 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% first_mask_for_all_heads
LIKELY = "every head gets the mask of the first head"
HINT = "A mask of four dimensions may be different for each head. What does mask[:, 0] throw away?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask[:, :1] if mask.dim() == 4 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_for_single_sentences_only
LIKELY = "a mask of two dimensions is used as a padding mask, with one row for each sentence"
HINT = "A mask of two dimensions is (N_q, N_k), the same for all sentences. What do its rows stand for in your code?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            if mask.dim() == 2 and len(mask) == len(query):
                blocked = blocked[:, None, None]
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_transposed
LIKELY = "the mask is transposed: its rows are used for keys"
HINT = "Row i of the mask is for query i. Try a causal mask. What may the first token see?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            if blocked.shape[-1] == blocked.shape[-2]:
                blocked = blocked.transpose(-1, -2)
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_after_softmax
LIKELY = "the mask is applied after the softmax, so the other weights no longer sum to 1"
HINT = "Print weights.sum(dim=-1) with a mask. Block the keys before the softmax."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_after_softmax_renormalised
LIKELY = "the mask is applied after the softmax, where a large blocked score has already made the others 0"
HINT = "Block a key whose score is 1000 above the others. Which weights are left?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
            weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_multiplies_scores
LIKELY = "the scores are multiplied by the mask, but a score of 0 does not give a weight of 0"
HINT = "What is exp(0)? Which score gives a weight of 0?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores * (mask.unsqueeze(1) if mask.dim() == 3 else mask).to(scores.dtype)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% float_mask_added
LIKELY = "a float mask is added to the scores, as in some functions of PyTorch"
HINT = "Pass the same mask as bool and as float. Both should give the same weights."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            if mask.is_floating_point():
                scores = scores + (mask.unsqueeze(1) if mask.dim() == 3 else mask).to(scores.dtype)
                blocked = torch.zeros_like(scores, dtype=torch.bool)
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% fills_minus_1e9
LIKELY = "blocked scores become -1e9, so a query with every key blocked gives all keys the same weight, not 0"
HINT = "Block every key of a query. What should its weights be? See the table in module 04."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -1e9)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% minus_1e9_is_not_infinity
LIKELY = "blocked scores become -1e9, which is higher than a very low allowed score"
HINT = "Try allowed scores of -2e10. Which number is lower than all others?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% nan_where_all_is_blocked
LIKELY = "a query with every key blocked has weights of NaN"
HINT = "What is the softmax of a row of minus infinities? Such rows should have weights of 0."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% nan_gradients_where_all_is_blocked
LIKELY = "the weights of a blocked query are fixed after the softmax, but its gradients are NaN"
HINT = "Print x.grad with a row of zeros in the mask. Fill instead of adding, or keep such rows out of the softmax."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores + torch.zeros_like(scores).masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = torch.nan_to_num(weights)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% blocked_output_is_zero
LIKELY = "the output of a blocked query is set to 0 after out_proj, so the bias is lost"
HINT = "The merged heads are 0 there. What is out_proj of zeros?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        output = self.out_proj(merge_heads(weights @ V))
        if mask is not None:
            seen = (~blocked).expand(weights.shape).any(dim=-1).any(dim=1)
            output = output.masked_fill(~seen.unsqueeze(-1), 0.0)
        return output, weights


# %% causal_by_default
LIKELY = "without a mask, a causal mask is used"
HINT = "In self-attention without a mask, does the first token see the last one?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is None:
            mask = torch.ones(scores.shape[-2:]).tril()
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_remembered
LIKELY = "the mask of one call is used in the next call"
HINT = "Call the layer with a mask, then without. Which attribute of self keeps the mask?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is None and getattr(self, "last", None) is not None and self.last.shape[-2:] == scores.shape[-2:]:
            mask = self.last
        self.last = mask
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% mask_overwritten
LIKELY = "the caller's mask is overwritten"
HINT = "Print the mask after the call. float() returns the same tensor if it is already float32."
VALUES_RIGHT = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
            mask = mask.float()
            mask[mask == 0] = -math.inf
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% query_overwritten
LIKELY = "the caller's query is changed in place"
HINT = "Print the query before and after the call. What is the difference between x -= y and x = x - y?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        with torch.no_grad():
            query -= query.mean(dim=-1, keepdim=True)
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% dropout_always
LIKELY = "some weights are dropped, also in eval mode: F.dropout does not know the mode by itself"
HINT = "Call the layer twice with the same tokens. This layer has no dropout."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        weights = nn.functional.dropout(weights, 0.1)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% dropout_in_training
LIKELY = "some weights are dropped in train mode"
HINT = "Call the layer twice in train mode. This layer has no dropout, and both modes give the same result."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        weights = nn.functional.dropout(weights, 0.1, self.training)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% no_weights_in_training
LIKELY = "in train mode, None is returned instead of the weights"
HINT = "What does the docstring say about the two modes?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        output = self.out_proj(merge_heads(weights @ V))
        return output, None if self.training else weights


# %% returned_weights_detached
LIKELY = "the returned weights are cut off from the graph"
HINT = "A loss may use the weights. What does .detach() do to their gradient?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights.detach()


# %% weights_detached
LIKELY = "the weights are cut off from the graph, so queries and keys learn nothing"
HINT = "After loss.backward(), what is layer.q_proj.weight.grad? Look for .detach(), .data or torch.tensor."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        weights = weights.detach()
        return self.out_proj(merge_heads(weights @ V)), weights


# %% query_detached
LIKELY = "the query is cut off from the graph before it is projected"
HINT = "Pass a query with requires_grad=True. What is its grad after backward()?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query.detach()), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% keys_and_values_without_gradients
LIKELY = "keys and values are computed under no_grad, so they learn nothing"
HINT = "After loss.backward(), what are layer.k_proj.weight.grad and layer.v_proj.weight.grad?"


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        with torch.no_grad():
            K = split_heads(self.k_proj(key), self.num_heads)
            V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% values_through_numpy
LIKELY = "the values go through NumPy, where no gradient can follow"
HINT = "After loss.backward(), what is layer.v_proj.weight.grad? Use PyTorch for every step."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        V = torch.from_numpy(V.detach().float().numpy()).to(V.dtype)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% everything_without_gradients
LIKELY = "all of forward runs under no_grad, so nothing can learn"
HINT = "Print output.requires_grad. Remove the no_grad."


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        torch.set_grad_enabled(False)
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        output = self.out_proj(merge_heads(weights @ V))
        torch.set_grad_enabled(True)
        return output, weights


# %% projections_in_one_layer
LIKELY = "one projection makes queries, keys and values; there should be q_proj, k_proj and v_proj"
HINT = "Trained weights are loaded by name. Print the names in layer.state_dict() and compare them with the docstring."
REPLACE = {
    "self.q_proj = nn.Linear(embed_dim, embed_dim)\n"
    "self.k_proj = nn.Linear(embed_dim, embed_dim)\n"
    "self.v_proj = nn.Linear(embed_dim, embed_dim)": "self.qkv = nn.Linear(embed_dim, 3 * embed_dim)",
    "Q = split_heads(self.q_proj(query), self.num_heads)": (
        "Q = split_heads(self.qkv(query).chunk(3, dim=-1)[0], self.num_heads)"
    ),
    "K = split_heads(self.k_proj(key), self.num_heads)": (
        "K = split_heads(self.qkv(key).chunk(3, dim=-1)[1], self.num_heads)"
    ),
    "V = split_heads(self.v_proj(value), self.num_heads)": (
        "V = split_heads(self.qkv(value).chunk(3, dim=-1)[2], self.num_heads)"
    ),
}

# %% query_key_value_without_bias
LIKELY = "q_proj, k_proj and v_proj have no bias"
HINT = "Count the parameters: there should be eight. What does bias=False do?"
REPLACE = {
    "self.q_proj = nn.Linear(embed_dim, embed_dim)": "self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)",
    "self.k_proj = nn.Linear(embed_dim, embed_dim)": "self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)",
    "self.v_proj = nn.Linear(embed_dim, embed_dim)": "self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)",
}

# %% one_projection_for_all
LIKELY = "queries, keys and values share one projection; there should be q_proj, k_proj and v_proj"
HINT = "What can a token ask for, if its query is always its own key? Print the names in layer.state_dict()."
REPLACE = {
    "self.q_proj = nn.Linear(embed_dim, embed_dim)\n"
    "self.k_proj = nn.Linear(embed_dim, embed_dim)\n"
    "self.v_proj = nn.Linear(embed_dim, embed_dim)": "self.proj = nn.Linear(embed_dim, embed_dim)",
    "Q = split_heads(self.q_proj(query), self.num_heads)": "Q = split_heads(self.proj(query), self.num_heads)",
    "K = split_heads(self.k_proj(key), self.num_heads)": "K = split_heads(self.proj(key), self.num_heads)",
    "V = split_heads(self.v_proj(value), self.num_heads)": "V = split_heads(self.proj(value), self.num_heads)",
}

# %% output_projection_not_made
LIKELY = "there is no out_proj"
HINT = "Which four projections does the docstring name? What mixes the results of the heads?"
REPLACE = {
    "self.v_proj = nn.Linear(embed_dim, embed_dim)\nself.out_proj = nn.Linear(embed_dim, embed_dim)": (
        "self.v_proj = nn.Linear(embed_dim, embed_dim)"
    ),
    "return self.out_proj(merged), weights": "return merged, weights",
}

# %% lengths_left_to_torch
LIKELY = "different numbers of keys and values are left to PyTorch, which raises a RuntimeError, not a ValueError"
HINT = "Which exception does the docstring ask for, and which two numbers should its message name?"
VALUES_RIGHT = True
REPLACE = {
    "if key.shape[1] != value.shape[1]:\n"
    'raise ValueError(f"there are {key.shape[1]} keys but {value.shape[1]} values")': ""
}

# %% truth_of_a_tensor
LIKELY = "`key or query` asks whether a tensor is true, which PyTorch says of a single number only"
HINT = "Which question about the key do you want to ask: whether it is true, or whether it is None?"
REPLACE = {
    "key = query if key is None else key": "key = key or query",
    "value = key if value is None else value": "value = value or key",
}

# %% bmm_of_heads
LIKELY = "torch.bmm takes three dimensions only, but with heads there are four"
HINT = "What does `@` do with the dimensions in front of the last two?"
RAISES = True
REPLACE = {
    "scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)": (
        "scores = torch.bmm(Q, K.transpose(-1, -2)) / math.sqrt(self.head_dim)"
    )
}

# %% context_viewed_after_transpose
LIKELY = "in forward, view is called after a transpose: the numbers do not lie in that order in memory"
HINT = "Read the end of the error: what does it advise? Or call merge_heads."
RAISES = True
REPLACE = {
    "merged = merge_heads(weights @ V)": (
        "merged = (weights @ V).transpose(1, 2).view(query.shape[0], query.shape[1], -1)"
    )
}

# %% mask_must_be_bool
LIKELY = "~mask and masked_fill work for bool masks only: a mask of numbers raises an error"
HINT = "What does ~torch.tensor([0, 1]) give, and what does masked_fill need? Compare the mask with 0: mask == 0."
RAISES = True
REPLACE = {"blocked = mask == 0": "blocked = ~mask"}

# %% fills_finite_minimum
LIKELY = "blocked scores become the smallest number of the dtype, so a query with every key blocked has weights above 0"
HINT = "What is the softmax of equal numbers, even if they are very low? Print the weights of a fully blocked row."
REPLACE = {
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "weights = torch.softmax(scores.masked_fill(blocked, torch.finfo(scores.dtype).min), dim=-1)"
    )
}

# %% reflect_one_sentence
LIKELY = "the weights are for one sentence, the bytes for float16, and the parameters do not include the biases"
HINT = "How many sentences are there? How many bytes is a float32? How many biases does each projection have?"
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 402653184
REFLECT_WEIGHT_BYTES_FLOAT32 = 25769803776
REFLECT_PARAMETERS_E512 = 1048576


# %% reflect_without_heads
LIKELY = "the weights are for one head, the bytes are bits, and the parameters do not include out_proj"
HINT = "Every head has its own weights. How many bytes are 32 bits? How many projections are there?"
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 134217728
REFLECT_WEIGHT_BYTES_FLOAT32 = 412316860416
REFLECT_PARAMETERS_E512 = 787968


# %% split_token_by_token
LIKELY = "a Python loop goes through the tokens one at a time; one reshape can do them all"
HINT = "Which of your steps would run twice as often with twice as many tokens?"
COSTLY = True


def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features, {num_heads} heads")
    width = embed_dim // num_heads
    return torch.stack([x[:, n].reshape(batch, num_heads, width) for n in range(length)], dim=2)


# %% merge_token_by_token
LIKELY = "a Python loop goes through the tokens one at a time; one reshape can do them all"
HINT = "Which of your steps would run twice as often with twice as many tokens?"
COSTLY = True


def merge_heads(x):
    batch, num_heads, length, width = x.shape
    return torch.stack([x[:, :, n].reshape(batch, num_heads * width) for n in range(length)], dim=1)


# %% projected_for_every_head
LIKELY = "all features are projected again for every head, and all but one slice are thrown away"
HINT = "How many times is q_proj(query) computed? Project once, then split."
COSTLY = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        heads = [slice(h * self.head_dim, (h + 1) * self.head_dim) for h in range(self.num_heads)]
        Q = torch.stack([self.q_proj(query)[..., h] for h in heads], dim=1)
        K = torch.stack([self.k_proj(key)[..., h] for h in heads], dim=1)
        V = torch.stack([self.v_proj(value)[..., h] for h in heads], dim=1)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% one_query_at_a_time
LIKELY = "attention is computed for one query at a time"
HINT = "The queries are independent. Which axis of the scores belongs to them?"
COSTLY = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        seen = torch.ones(1) if mask is None else mask.unsqueeze(1) if mask.dim() == 3 else mask
        shape = (len(query), self.num_heads, query.shape[1], key.shape[1])
        seen = seen.expand(shape)
        pairs = [
            super(MultiHeadAttention, self).forward(query[:, n : n + 1], key, value, seen[:, :, n : n + 1])
            for n in range(query.shape[1])
        ]
        return torch.cat([o for o, _ in pairs], dim=1), torch.cat([w for _, w in pairs], dim=2)


# %% all_products_at_once
LIKELY = "all single products are stored in one tensor (B, H, N_q, N_k, D) before they are added up"
HINT = "How many bytes does that tensor need for 2048 tokens? How many do the weights need?"
COSTLY = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = (Q.unsqueeze(3) * K.unsqueeze(2)).sum(dim=-1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ V)), weights


# %% ready_made_attention
LIKELY = "the output comes from scaled_dot_product_attention, which you should write yourself here"
HINT = "You already have the weights. Which product is left to write?"
COSTLY = True


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, but {value.shape[1]} values")
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            scores = scores.masked_fill(blocked, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(blocked, 0.0)
        mixed = weights @ V if mask is not None else nn.functional.scaled_dot_product_attention(Q, K, V)
        return self.out_proj(merge_heads(mixed)), weights
