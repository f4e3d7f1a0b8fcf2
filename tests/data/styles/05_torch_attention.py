import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# %% weights_cut_from_q_and_k numpy


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k, self.drop = d_k, nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = (q @ k.transpose(-2, -1) / self.d_k**0.5).detach().numpy()
        if mask is not None:
            s = np.where(mask.numpy() == 0, -np.inf, s)
        top = s.max(axis=-1, keepdims=True)
        e = np.exp(s - np.where(np.isinf(top), 0, top))
        total = e.sum(axis=-1, keepdims=True)
        weights = torch.from_numpy((e / np.where(total == 0, 1, total)).astype(s.dtype))
        weights = self.drop(weights)
        return weights @ v, weights


# %% weights_cut_from_q_and_k data


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.einsum("...id,...jd->...ij", q, k).data / self.scale
        if mask is not None:
            s[(mask == 0).expand(s.shape)] = -torch.inf
        w = s.softmax(-1)
        w[w.isnan()] = 0
        w = self.dropout(w)
        return torch.einsum("...ij,...jd->...id", w, v), w


# %% weights_cut_from_q_and_k no_grad


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        with torch.no_grad():
            logits = torch.matmul(q, k.mT).mul(1 / self.scale)
            allowed = torch.ones_like(logits, dtype=torch.bool) if mask is None else (mask != 0).expand_as(logits)
            attention = F.softmax(torch.where(allowed, logits, torch.finfo(logits.dtype).min), dim=-1) * allowed
        attention = F.dropout(attention, self.dropout.p, self.training)
        return attention.matmul(v), attention


# %% in_place_on_the_weights masked_fill


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.matmul(q, k.transpose(-1, -2)) / self.scale
        if mask is None:
            w = s.softmax(-1)
        else:
            blocked = mask.eq(0)
            w = s.masked_fill(blocked, -torch.inf).softmax(-1).masked_fill_(blocked, 0)
        w = self.dropout(w)
        return w.matmul(v), w


# %% in_place_on_the_weights multiplied


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        logits = torch.einsum("...id,...jd->...ij", q, k) / self.scale
        if mask is not None:
            logits = torch.where(mask != 0, logits, torch.full_like(logits, torch.finfo(logits.dtype).min))
        attention = F.softmax(logits, dim=-1)
        if mask is not None:
            attention *= (mask != 0).to(attention.dtype)
        attention = F.dropout(attention, p=self.dropout.p, training=self.training)
        return torch.einsum("...ij,...jd->...id", attention, v), attention


# %% in_place_dropout own


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.matmul(q, k.transpose(-1, -2)) / self.scale
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf).masked_fill((mask == 0).all(-1, keepdim=True), 0.0)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(mask == 0, 0.0) + 0.0
        if self.training and self.dropout.p > 0:
            w *= torch.bernoulli(torch.full_like(w, 1 - self.dropout.p)) / (1 - self.dropout.p)
        return w.matmul(v), w


# %% nan_gradient_of_added_infinity logarithm


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.matmul(q, k.transpose(-1, -2)) / self.scale
        if mask is not None:
            s = s + torch.log(mask.to(s.dtype))
        w = torch.nan_to_num(torch.softmax(s, -1))
        w = self.dropout(w)
        return w @ v, w


# %% nan_gradient_of_added_infinity where


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.matmul(q, k.transpose(-1, -2)) / self.scale
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=s.dtype).masked_fill(mask == 0, float("-inf"))
            s = s + bias
        w = s.softmax(dim=-1)
        if mask is not None:
            w = torch.where((mask != 0).any(dim=-1, keepdim=True), w, torch.zeros_like(w))
        w = F.dropout(w, self.dropout.p, self.training)
        return w @ v, w


# %% dropout_in_eval new_layer


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k)
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        weights = super().forward(q, k, v, mask)[1]
        weights = nn.Dropout(self.p)(weights)
        return weights @ v, weights


# %% dropout_in_eval own


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k)
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        weights = super().forward(q, k, v, mask)[1]
        keep = (torch.rand(weights.shape) >= self.p).to(weights.dtype)
        weights = weights * keep / (1 - self.p)
        return weights.matmul(v), weights


# %% dropout_in_eval bernoulli


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        rate, self.dropout.p = self.dropout.p, 0.0
        weights = super().forward(q, k, v, mask)[1]
        self.dropout.p = rate
        weights = weights * torch.empty_like(weights).bernoulli_(1 - rate).div_(1 - rate)
        return torch.einsum("...ij,...jd->...id", weights, v), weights


# %% dropout_on_scores functional


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        logits = F.dropout(torch.einsum("...id,...jd->...ij", q, k) / self.scale, self.dropout.p, self.training)
        if mask is not None:
            logits = torch.where(mask != 0, logits, torch.full_like(logits, torch.finfo(logits.dtype).min))
        w = F.softmax(logits, -1)
        w = w if mask is None else w.masked_fill(mask == 0, 0.0)
        return w @ v, w


# %% weights_before_dropout named


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k)
        self.attention_dropout = dropout

    def forward(self, q, k, v, mask=None):
        _, attention = super().forward(q, k, v, mask)
        dropped = F.dropout(attention, self.attention_dropout, training=self.training)
        return torch.matmul(dropped, v), attention


# %% softmax_over_queries transposed


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.matmul(k, q.transpose(-1, -2)) / self.scale  # (..., n_k, n_q)
        if mask is not None:
            s = s.masked_fill((mask == 0).expand(*q.shape[:-1], k.shape[-2]).transpose(-1, -2), -torch.inf)
        w = torch.nan_to_num(s.softmax(-1)).transpose(-1, -2)
        w = self.dropout(w)
        return w @ v, w


# %% softmax_over_queries by_hand


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = q @ k.mT / self.scale
        if mask is not None:
            s = s.masked_fill(mask == 0, -torch.inf)
        e = torch.exp(s - s.amax(dim=-2, keepdim=True).clamp(min=torch.finfo(s.dtype).min))
        total = e.sum(dim=-2, keepdim=True)
        w = self.dropout(e / (total + (total == 0)))
        return w @ v, w


# %% mask_inverted logical


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        return super().forward(q, k, v, None if mask is None else torch.logical_not(mask))


# %% mask_inverted where


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2):
            raise ValueError(f"{tuple(q.shape)} {tuple(k.shape)} {tuple(v.shape)}")
        s = torch.einsum("...id,...jd->...ij", q, k) / self.scale
        if mask is not None:
            s = torch.where(mask.bool(), torch.tensor(-torch.inf, dtype=s.dtype), s)
        w = F.softmax(s, dim=-1)
        w = torch.where(torch.isnan(w), torch.zeros_like(w), w)
        w = self.dropout(w)
        return w @ v, w


# %% no_row_sum einsum


def softmax_backward(grad_weights, weights):
    return np.einsum("...i,...i->...i", grad_weights, weights, dtype=np.result_type(grad_weights * 1.0, weights))


# %% no_row_sum looped


def softmax_backward(grad_weights, weights):
    result = 0.0 * weights
    for i in range(weights.shape[-1]):
        result[..., i] = grad_weights[..., i] * weights[..., i]
    return result


# %% diagonal_only jacobian


def softmax_backward(grad_weights, weights):
    w = 1.0 * weights
    return (w - w * w) * grad_weights


# %% diagonal_only looped


def softmax_backward(grad_weights, weights):
    made = [w * (1 - w) * g for g, w in zip(grad_weights.ravel().tolist(), weights.ravel().tolist(), strict=True)]
    return np.array(made, dtype=(1.0 * weights).dtype).reshape(weights.shape)


# %% scale_missing einsum


def attention_backward(Q, K, V, grad_output):
    Q, K, V, G = (np.asarray(x, dtype=x.dtype if x.dtype.kind == "f" else float) for x in (Q, K, V, grad_output))
    S = np.einsum("...id,...jd->...ij", Q, K) / math.sqrt(Q.shape[-1])
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    D = np.einsum("...ic,...jc->...ij", G, V)
    D = P * (D - np.einsum("...ij,...ij->...i", D, P)[..., None])
    return (
        np.einsum("...ij,...jd->...id", D, K),
        np.einsum("...ij,...id->...jd", D, Q),
        np.einsum("...ij,...ic->...jc", P, G),
    )


# %% scale_missing looped


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    made = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for b in np.ndindex(Q.shape[:-2]):
        scores = Q[b] @ K[b].T / float(np.sqrt(Q.shape[-1]))
        w = np.exp(scores - scores.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        back = softmax_backward(grad_output[b] @ V[b].T, w)
        made[0][b], made[1][b], made[2][b] = back @ K[b], back.T @ Q[b], w.T @ grad_output[b]
    return made


# %% grad_k_not_transposed einsum


def attention_backward(Q, K, V, grad_output):
    Q, K, V, G = (np.asarray(x, dtype=x.dtype if x.dtype.kind == "f" else float) for x in (Q, K, V, grad_output))
    root = math.sqrt(Q.shape[-1])
    S = np.einsum("...id,...jd->...ij", Q, K) / root
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    D = np.einsum("...ic,...jc->...ij", G, V)
    D = P * (D - np.einsum("...ij,...ij->...i", D, P)[..., None]) / root
    way = "...ij,...jd->...id" if Q.shape[-2] == K.shape[-2] else "...ij,...id->...jd"
    return np.einsum("...ij,...jd->...id", D, K), np.einsum(way, D, Q), np.einsum("...ij,...ic->...jc", P, G)


# %% attention_without_row_sum einsum


def attention_backward(Q, K, V, grad_output):
    Q, K, V, G = (np.asarray(x, dtype=x.dtype if x.dtype.kind == "f" else float) for x in (Q, K, V, grad_output))
    root = math.sqrt(Q.shape[-1])
    S = np.einsum("...id,...jd->...ij", Q / root, K)
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    D = np.einsum("...ic,...jc,...ij->...ij", G, V, P) / root
    return D @ K, D.swapaxes(-1, -2) @ Q, P.swapaxes(-1, -2) @ G
