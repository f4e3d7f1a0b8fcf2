"""Right code with one slip that raises."""

# %% tuple_is_no_number
# A size that is a float.
# Expected: no name; a size or a place must be a whole number
def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
    x = x.reshape(batch, length, num_heads, embed_dim / num_heads)
    return x.transpose(1, 2)


# %% undefined_width
# A name that is not defined.
# Expected: no name; nothing has the name head_dim here
def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
    x = x.reshape(batch, length, num_heads, head_dim)
    return x.transpose(1, 2)


# %% type_error_in_split
# Three axes for transpose.
# Expected: no name; split_heads
def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape
    if embed_dim % num_heads != 0:
        raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
    x = x.reshape(batch, length, num_heads, embed_dim // num_heads)
    return x.transpose(1, 2, 0)


# %% view_after_transpose
# View of a transposed tensor.
# Expected: no name; reshape can: it copies
def merge_heads(x):
    x = x.transpose(1, 2)
    return x.view(x.shape[0], x.shape[1], -1)


# %% wrong_heads
# An argument too many.
# Expected: no name; another number of arguments
class MultiHeadAttention(nn.Module):

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f'there are {key.shape[1]} keys but {value.shape[1]} values')
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            if blocked.dim() == 3:
                blocked = blocked.unsqueeze(1)
            weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
        merged = merge_heads(weights @ V, self.num_heads)
        return (self.out_proj(merged), weights)


# %% masked_fill_of_numbers
# A mask of numbers for masked_fill.
# Expected: no name; this needs booleans
class MultiHeadAttention(nn.Module):

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f'there are {key.shape[1]} keys but {value.shape[1]} values')
        Q = split_heads(self.q_proj(query), self.num_heads)
        K = split_heads(self.k_proj(key), self.num_heads)
        V = split_heads(self.v_proj(value), self.num_heads)
        scores = Q @ K.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = 1 - mask.long()
            if blocked.dim() == 3:
                blocked = blocked.unsqueeze(1)
            weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
        merged = merge_heads(weights @ V)
        return (self.out_proj(merged), weights)


# %% index_of_shape
# An axis that is not there.
# Expected: no name; there are fewer axes
def split_heads(x, num_heads):
    batch, length, embed_dim = x.shape[0], x.shape[1], x.shape[3]
    if embed_dim % num_heads != 0:
        raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
    x = x.reshape(batch, length, num_heads, embed_dim // num_heads)
    return x.transpose(1, 2)
