"""Right code with one slip that raises."""

# %% tilde_of_a_mask
# ~ of a mask that may hold numbers.
# Expected: no name; this needs booleans
class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f'queries have {q.shape[-1]} entries but keys have {k.shape[-1]}')
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f'there are {k.shape[-2]} keys but {v.shape[-2]} values')
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = ~mask
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)


# %% super_forgotten
# Super().__init__() is missing.
# Expected: no name; super().__init__() must come first
class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f'queries have {q.shape[-1]} entries but keys have {k.shape[-1]}')
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f'there are {k.shape[-2]} keys but {v.shape[-2]} values')
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)


# %% numpy_function
# NumPy inside the layer.
# Expected: no name; In words: 
class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f'queries have {q.shape[-1]} entries but keys have {k.shape[-1]}')
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f'there are {k.shape[-2]} keys but {v.shape[-2]} values')
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            weights = np.exp(scores) / np.exp(scores).sum(axis=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = np.exp(scores) / np.exp(scores).sum(axis=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)


# %% misspelt_attribute
# A misspelt attribute.
# Expected: no name; has no attribute
class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f'queries have {q.shape[-1]} entries but keys have {k.shape[-1]}')
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f'there are {k.shape[-2]} keys but {v.shape[-2]} values')
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.drop(weights)
        return (weights @ v, weights)


# %% wrong_keyword
# The keyword of PyTorch in NumPy.
# Expected: no name; keepdim
def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    return weighed - weights * weighed.sum(axis=-1, keepdim=True)


# %% type_error
# A tuple for a number.
# Expected: no name; the functions of math take one number
def attention_backward(Q, K, V, grad_output):
    Q, K, V = (1.0 * Q, 1.0 * K, 1.0 * V)
    root = math.sqrt(Q.shape)
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    grad_Q = grad_raw @ K
    grad_K = grad_raw.swapaxes(-1, -2) @ Q
    return (grad_Q, grad_K, grad_V)
