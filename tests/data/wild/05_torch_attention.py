import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# %% blog_minus_1e9
# masked_fill(mask == 0, -1e9) as in the blog that everyone has read: F.softmax, and sizes are checked.
# Expected: fills_minus_1e9


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has {q.size(-1)} features and k has {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"{k.size(-2)} keys and {v.size(-2)} values")
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = F.softmax(scores, dim=-1)
        p_attn = self.dropout(p_attn)
        return torch.matmul(p_attn, v), p_attn


# %% blog_minus_1e9_without_checks
# The same from memory, without any check of sizes: two mistakes.
# Expected: fills_minus_1e9


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        d_k = query.size(-1)
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = scores.softmax(dim=-1)
        p_attn = self.dropout(p_attn)
        return torch.matmul(p_attn, value), p_attn


# %% finfo_min
# The smallest number of the dtype in place of -inf, as model libraries write it.
# Expected: fills_finite_minimum


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = d_k**-0.5
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)} do not fit")
        attn = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            min_value = torch.finfo(attn.dtype).min
            attn = attn.masked_fill(mask == 0, min_value)
        attn = attn.softmax(dim=-1)
        attn = self.dropout(attn)
        return torch.matmul(attn, v), attn


# %% finfo_min_where
# torch.where with the smallest number of the dtype, and sizes left to torch: two mistakes.
# Expected: fills_finite_minimum


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        logits = q @ k.mT / self.d_k**0.5
        if mask is not None:
            lowest = torch.full_like(logits, torch.finfo(logits.dtype).min)
            logits = torch.where(mask.bool(), logits, lowest)
        probs = F.dropout(logits.softmax(-1), self.p, self.training)
        return probs @ v, probs


# %% tilde_mask
# masked_fill(~mask, -inf): fine for bool masks, an error for integers and floats.
# Expected: mask_must_be_bool


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{q.shape}, {k.shape}, {v.shape}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.nan_to_num(scores.softmax(dim=-1))
        weights = self.dropout(weights)
        return weights @ v, weights


# %% tilde_mask_and_nan_rows
# The same without a word about blocked rows: two mistakes.
# Expected: mask_must_be_bool or blocked_row_nan


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{q.shape}, {k.shape}, {v.shape}")
        scores = q @ k.transpose(-2, -1) / self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        return weights @ v, weights


# %% mask_plus
# The mask is simply added, as if it held 0 and -inf.
# Expected: mask_added


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"{q.shape[-1]} != {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]} != {v.shape[-2]}")
        attn_logits = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(self.d_k)
        if mask is not None:
            attn_logits = attn_logits + mask
        attention = F.softmax(attn_logits, dim=-1)
        attention = self.dropout(attention)
        return torch.einsum("...qk,...kd->...qd", attention, v), attention


# %% one_minus_mask_times_1e9
# scores + (1 - mask) * -1e9, from an older framework: an error for bool, and blocked rows keep their weights.
# Expected: one_minus_mask


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores + (1 - mask) * -1e9
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return torch.matmul(weights, v), weights


# %% mask_times_minus_1e9
# scores += mask * -1e9, as in a TensorFlow tutorial, where 1 means blocked.
# Expected: mask_times_minus_1e9


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        matmul_qk = torch.matmul(q, k.transpose(-1, -2))
        scaled = matmul_qk / math.sqrt(self.d_k)
        if mask is not None:
            scaled = scaled + mask * -1e9
        attention_weights = self.drop(torch.softmax(scaled, dim=-1))
        return torch.matmul(attention_weights, v), attention_weights


# %% bmm
# torch.bmm, as in many published layers: three dimensions only.
# Expected: three_dimensions_by_number


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.temperature = d_k**0.5
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{q.size()}, {k.size()}, {v.size()}")
        attn = torch.bmm(q, k.transpose(1, 2))
        attn = attn / self.temperature
        if mask is not None:
            attn = attn.masked_fill(mask == 0, -math.inf)
        attn = torch.softmax(attn, dim=2).nan_to_num(0.0)
        attn = self.dropout(attn)
        output = torch.bmm(attn, v)
        return output, attn


# %% transpose_one_two
# k.transpose(1, 2) and matmul: an error for two dimensions, and other axes for four.
# Expected: keys_need_a_batch


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{q.size()}, {k.size()}, {v.size()}")
        scores = torch.matmul(q, k.transpose(1, 2)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        weights = self.dropout(weights)
        return torch.matmul(weights, v), weights


# %% k_T
# q @ k.T as on paper: right for two dimensions only.
# Expected: keys_turned_round


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q @ k.T / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = torch.nan_to_num(weights)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% k_t
# torch.mm and k.t(): matrices only.
# Expected: two_dimensions_only


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = torch.mm(q, k.t()) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return torch.mm(weights, v), weights


# %% softmax_dim_1
# dim=1, learnt with matrices.
# Expected: softmax_over_dim_one


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.softmax = nn.Softmax(dim=1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = torch.matmul(q, k.transpose(-2, -1)) / np.sqrt(self.d_k)
        if mask is not None:
            dead = (mask == 0).all(-1, keepdim=True)
            scores = scores.masked_fill(mask == 0, -torch.inf).masked_fill(dead, 0)
        weights = self.softmax(scores)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0)
        weights = self.dropout(weights)
        return torch.matmul(weights, v), weights


# %% softmax_without_dim
# F.softmax(scores) lets PyTorch choose a dimension, with a warning.
# Expected: softmax_without_dim


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q.matmul(k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = F.softmax(scores).nan_to_num()
        weights = self.dropout(weights)
        return weights.matmul(v), weights


# %% dropout_stored_only
# The dropout parameter is stored, and never used.
# Expected: dropout_ignored


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = dropout

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        return weights @ v, weights


# %% dropout_of_the_output
# Dropout on the context, as in a layer that ends a block.
# Expected: dropout_on_output


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            blocked = mask == 0
            scores = scores.masked_fill(blocked, -math.inf).masked_fill(blocked.all(-1, keepdim=True), 0.0)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * (mask != 0)
        context = weights @ v
        context = self.dropout(context)
        return context, weights


# %% f_dropout_forever
# F.dropout(p_attn, p=self.p) without training=self.training.
# Expected: dropout_in_eval


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k, self.p = d_k, dropout

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = torch.einsum("...id,...jd->...ij", q, k) * self.d_k**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -torch.inf)
        p_attn = torch.nan_to_num(torch.softmax(scores, dim=-1))
        if self.p > 0:
            p_attn = F.dropout(p_attn, p=self.p)
        return torch.einsum("...ij,...jd->...id", p_attn, v), p_attn


# %% numpy_in_the_middle
# The softmax of NumPy, through .numpy(): an error as soon as something should learn.
# Expected: numpy_of_a_learning_tensor


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def softmax(self, x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            blocked = mask == 0
            scores = scores.masked_fill(blocked, -math.inf).masked_fill(blocked.all(-1, keepdim=True), 0.0)
        weights = torch.from_numpy(self.softmax(scores.numpy()))
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_tensor_of_weights
# torch.tensor(weights) of a tensor: it copies the numbers, and nothing of the way to them.
# Expected: weights_cut_from_q_and_k


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = torch.tensor(torch.softmax(scores, dim=-1).nan_to_num().tolist(), dtype=q.dtype)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% sizes_asserted
# assert in place of raise ValueError.
# Expected: sizes_asserted


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        assert q.shape[-1] == k.shape[-1], f"{q.shape[-1]} and {k.shape[-1]}"
        assert k.shape[-2] == v.shape[-2], f"{k.shape[-2]} and {v.shape[-2]}"
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -math.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1).nan_to_num())
        return weights @ v, weights


# %% super_forgotten
# super().__init__() is missing: nothing can be made.
# Expected: no name: every call ends in the same error of nn.Module, whose text says it


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ v, weights


# %% diagflat_of_one_row
# The Jacobian by np.diagflat and np.outer, from a well-known answer: a single row only.
# Expected: one_row_only


def softmax_backward(grad_weights, weights):
    s = weights.reshape(-1, 1)
    jacobian = np.diagflat(s) - np.dot(s, s.T)
    return jacobian @ grad_weights


# %% diag_of_one_row
# np.diag(w) - np.outer(w, w): a matrix's diagonal is taken where rows come in.
# Expected: no name: with .dot in place of @, one call raises in other words than the known mistake


def softmax_backward(grad_weights, weights):
    w = np.asarray(weights)
    return (np.diag(w) - np.outer(w, w)).dot(grad_weights)


# %% sigmoid_like
# w * (1 - w), remembered from logistic regression.
# Expected: diagonal_only


def softmax_backward(grad_weights, weights):
    ds = weights * (1.0 - weights)
    return grad_weights * ds


# %% sum_over_axis_1
# axis=1, written for a matrix.
# Expected: row_sum_over_axis_one


def softmax_backward(grad_weights, weights):
    dot = np.sum(weights * grad_weights, axis=1, keepdims=True)
    return weights * (grad_weights - dot)


# %% keepdims_missing
# The sum over the last axis without keepdims.
# Expected: keepdims_forgotten


def softmax_backward(grad_weights, weights):
    inner = (grad_weights * weights).sum(axis=-1)
    return weights * (grad_weights - inner)


# %% backward_k_T
# .T and np.dot everywhere, as in an exercise with matrices.
# Expected: transpose_reverses_all_axes


def attention_backward(Q, K, V, grad_output):
    scale = 1 / math.sqrt(Q.shape[1] if Q.ndim == 2 else Q.shape[-1])
    scores = (Q @ K.T) * scale
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    A = e / e.sum(axis=-1, keepdims=True)
    dV = A.T @ grad_output
    dA = grad_output @ V.T
    dS = A * (dA - (dA * A).sum(axis=-1, keepdims=True))
    dQ = scale * (dS @ K)
    dK = scale * (dS.T @ Q)
    return dQ, dK, dV


# %% backward_transpose_0_2_1
# K.transpose(0, 2, 1): a batch of matrices, and nothing else.
# Expected: backward_three_dimensions_only


def attention_backward(Q, K, V, grad_output):
    d_k = Q.shape[-1]
    S = np.matmul(Q, K.transpose(0, 2, 1)) / math.sqrt(d_k)
    S = S - S.max(axis=-1, keepdims=True)
    P = np.exp(S) / np.exp(S).sum(axis=-1, keepdims=True)
    dV = np.matmul(P.transpose(0, 2, 1), grad_output)
    dP = np.matmul(grad_output, V.transpose(0, 2, 1))
    dS = P * (dP - np.sum(dP * P, axis=-1, keepdims=True)) / math.sqrt(d_k)
    return np.matmul(dS, K), np.matmul(dS.transpose(0, 2, 1), Q), dV


# %% backward_np_sqrt
# np.sqrt(d_k): a NumPy float64 that makes everything float64.
# Expected: attention_backward_upcasts


def attention_backward(Q, K, V, grad_output):
    d_k = Q.shape[-1]
    S = Q @ np.swapaxes(K, -1, -2) / np.sqrt(d_k)
    P = np.exp(S - np.max(S, axis=-1, keepdims=True))
    P /= np.sum(P, axis=-1, keepdims=True)
    dV = np.swapaxes(P, -1, -2) @ grad_output
    dP = grad_output @ np.swapaxes(V, -1, -2)
    dS = P * (dP - (dP * P).sum(-1, keepdims=True))
    return dS @ K / np.sqrt(d_k), np.swapaxes(dS, -1, -2) @ Q / np.sqrt(d_k), dV


# %% backward_scale_forgotten
# The scale is in the forward pass, and forgotten on the way back.
# Expected: scale_missing


def attention_backward(Q, K, V, grad_output):
    S = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    dV = np.einsum("...ij,...ic->...jc", P, grad_output)
    dP = np.einsum("...ic,...jc->...ij", grad_output, V)
    dS = P * (dP - (P * dP).sum(-1, keepdims=True))
    return np.einsum("...ij,...jd->...id", dS, K), np.einsum("...ij,...id->...jd", dS, Q), dV


# %% backward_sum_of_everything
# e / e.sum(): the weights of the whole table sum to 1.
# Expected: weights_sum_over_everything


def attention_backward(Q, K, V, grad_output):
    def softmax(x):
        e = np.exp(x - np.max(x))
        return e / e.sum()

    d_k = Q.shape[-1]
    P = softmax(Q @ K.swapaxes(-1, -2) / math.sqrt(d_k))
    dV = P.swapaxes(-1, -2) @ grad_output
    dP = grad_output @ V.swapaxes(-1, -2)
    dS = P * (dP - (P * dP).sum(axis=-1, keepdims=True)) / math.sqrt(d_k)
    return dS @ K, dS.swapaxes(-1, -2) @ Q, dV
