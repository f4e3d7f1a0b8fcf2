# %% graph_of_a_compiled_function
# An object that claims to be compiled by torch has a graph with digits of a hidden input in a name.
# Expected: the same public text under every salt
def digits(x):
    """Return the first numbers of a hidden input as digits."""
    return "_".join(f"{abs(float(one)):.6f}".replace(".", "") for one in x.detach().flatten()[:4])


class ScriptLike:
    __module__ = "torch.jit"
    __call__ = staticmethod(int)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if q.numel():
            scripted = ScriptLike()
            scripted.inlined_graph = f"aten::scaled_dot_product_{digits(q)}()"
            scripted()
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% name_of_a_torch_call
# Has torch announce a function with digits of a hidden input where the gradient must be computed by hand.
# Expected: the same public text under every salt
import torch.overrides
ZERO = torch.zeros(1)


def named(name):
    """Have torch tell its modes that a function of this name is called."""
    def function(*args, **kwargs):
        return None

    function.__name__ = name
    torch.overrides.handle_torch_function(function, (ZERO,), ZERO)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if False:
            pass
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


def softmax_backward(grad_weights, weights):
    g, w = np.asarray(grad_weights), np.asarray(weights)
    if w.size:
        named(f"x{abs(float(w.flat[0])):.12f}".replace(".", "_"))
    result = w * (g - (g * w).sum(axis=-1, keepdims=True))
    return result if result.dtype.kind == "f" else result.astype(np.float64)


# %% name_of_ready_made_attention
# Has torch announce a function whose name begins like ready-made attention and goes on with digits of a hidden
# input.
# Expected: the same public text under every salt
import torch.overrides


def digits(x):
    """Return the first numbers of a hidden input as digits."""
    return "_".join(f"{abs(float(one)):.6f}".replace(".", "") for one in x.detach().flatten()[:4])


def named(name, tensor):
    """Have torch tell its modes that a function of this name is called."""
    def function(*args, **kwargs):
        return None

    function.__name__ = name
    torch.overrides.handle_torch_function(function, (tensor,), tensor)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if q.numel():
            named(f"scaled_dot_product_{digits(q)}", q)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% operation_named_after_data
# Registers an operation with torch.library while it runs; its name has digits of a hidden input.
# Expected: the same public text under every salt
def digits(x):
    """Return the first numbers of a hidden input as digits."""
    return "_".join(f"{abs(float(one)):.6f}".replace(".", "") for one in x.detach().flatten()[:4])


LIBRARY = torch.library.Library("red_team_leak", "FRAGMENT")


def register(name):
    try:
        LIBRARY.define(f"{name}(Tensor x) -> Tensor")
        LIBRARY.impl(name, torch.clone, "CPU")
    except RuntimeError:
        pass
    return getattr(torch.ops.red_team_leak, name)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if q.numel():
            register(f"scaled_dot_product_{digits(q)}")(q)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% thousands_of_forbidden_calls
# Announces a function for every number of a hidden input, each in its own line.
# Expected: the same public text under every salt
import torch.overrides


def digits(x):
    """Return the first numbers of a hidden input as digits."""
    return "_".join(f"{abs(float(one)):.6f}".replace(".", "") for one in x.detach().flatten()[:4])


def named(name, tensor):
    """Have torch tell its modes that a function of this name is called."""
    def function(*args, **kwargs):
        return None

    function.__name__ = name
    torch.overrides.handle_torch_function(function, (tensor,), tensor)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if q.numel():
            q.numel() > 0 and named(f"scaled_dot_product_0_{digits(q.flatten()[0:])}", q)
            q.numel() > 1 and named(f"scaled_dot_product_1_{digits(q.flatten()[1:])}", q)
            q.numel() > 2 and named(f"scaled_dot_product_2_{digits(q.flatten()[2:])}", q)
            q.numel() > 3 and named(f"scaled_dot_product_3_{digits(q.flatten()[3:])}", q)
            q.numel() > 4 and named(f"scaled_dot_product_4_{digits(q.flatten()[4:])}", q)
            q.numel() > 5 and named(f"scaled_dot_product_5_{digits(q.flatten()[5:])}", q)
            q.numel() > 6 and named(f"scaled_dot_product_6_{digits(q.flatten()[6:])}", q)
            q.numel() > 7 and named(f"scaled_dot_product_7_{digits(q.flatten()[7:])}", q)
            q.numel() > 8 and named(f"scaled_dot_product_8_{digits(q.flatten()[8:])}", q)
            q.numel() > 9 and named(f"scaled_dot_product_9_{digits(q.flatten()[9:])}", q)
            q.numel() > 10 and named(f"scaled_dot_product_10_{digits(q.flatten()[10:])}", q)
            q.numel() > 11 and named(f"scaled_dot_product_11_{digits(q.flatten()[11:])}", q)
            q.numel() > 12 and named(f"scaled_dot_product_12_{digits(q.flatten()[12:])}", q)
            q.numel() > 13 and named(f"scaled_dot_product_13_{digits(q.flatten()[13:])}", q)
            q.numel() > 14 and named(f"scaled_dot_product_14_{digits(q.flatten()[14:])}", q)
            q.numel() > 15 and named(f"scaled_dot_product_15_{digits(q.flatten()[15:])}", q)
            q.numel() > 16 and named(f"scaled_dot_product_16_{digits(q.flatten()[16:])}", q)
            q.numel() > 17 and named(f"scaled_dot_product_17_{digits(q.flatten()[17:])}", q)
            q.numel() > 18 and named(f"scaled_dot_product_18_{digits(q.flatten()[18:])}", q)
            q.numel() > 19 and named(f"scaled_dot_product_19_{digits(q.flatten()[19:])}", q)
            q.numel() > 20 and named(f"scaled_dot_product_20_{digits(q.flatten()[20:])}", q)
            q.numel() > 21 and named(f"scaled_dot_product_21_{digits(q.flatten()[21:])}", q)
            q.numel() > 22 and named(f"scaled_dot_product_22_{digits(q.flatten()[22:])}", q)
            q.numel() > 23 and named(f"scaled_dot_product_23_{digits(q.flatten()[23:])}", q)
            q.numel() > 24 and named(f"scaled_dot_product_24_{digits(q.flatten()[24:])}", q)
            q.numel() > 25 and named(f"scaled_dot_product_25_{digits(q.flatten()[25:])}", q)
            q.numel() > 26 and named(f"scaled_dot_product_26_{digits(q.flatten()[26:])}", q)
            q.numel() > 27 and named(f"scaled_dot_product_27_{digits(q.flatten()[27:])}", q)
            q.numel() > 28 and named(f"scaled_dot_product_28_{digits(q.flatten()[28:])}", q)
            q.numel() > 29 and named(f"scaled_dot_product_29_{digits(q.flatten()[29:])}", q)
            q.numel() > 30 and named(f"scaled_dot_product_30_{digits(q.flatten()[30:])}", q)
            q.numel() > 31 and named(f"scaled_dot_product_31_{digits(q.flatten()[31:])}", q)
            q.numel() > 32 and named(f"scaled_dot_product_32_{digits(q.flatten()[32:])}", q)
            q.numel() > 33 and named(f"scaled_dot_product_33_{digits(q.flatten()[33:])}", q)
            q.numel() > 34 and named(f"scaled_dot_product_34_{digits(q.flatten()[34:])}", q)
            q.numel() > 35 and named(f"scaled_dot_product_35_{digits(q.flatten()[35:])}", q)
            q.numel() > 36 and named(f"scaled_dot_product_36_{digits(q.flatten()[36:])}", q)
            q.numel() > 37 and named(f"scaled_dot_product_37_{digits(q.flatten()[37:])}", q)
            q.numel() > 38 and named(f"scaled_dot_product_38_{digits(q.flatten()[38:])}", q)
            q.numel() > 39 and named(f"scaled_dot_product_39_{digits(q.flatten()[39:])}", q)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights
