"""Misconceptions of 05_torch_attention. Each cell replaces part of the solution to make a wrong submission."""

import math

import numpy as np
import torch
from torch import nn
from torch_attention import ScaledDotProductAttention, softmax_backward  # the solution: each cell replaces a part

# %% no_scaling
LIKELY = "the scores are not divided by the square root of d_k"
HINT = "With d_k = 4, what becomes of a raw score of 2? See the table in the lesson."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% divides_by_d_k
LIKELY = "the scores are divided by d_k, not by its square root"
HINT = "With d_k = 64, scores are divided by 8. What do you divide by?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / q.shape[-1]
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% divides_by_sqrt_d_v
LIKELY = "the scores are divided by the square root of d_v, the width of the values"
HINT = "Make the values wider. Should the weights change with them?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / math.sqrt(v.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% divides_by_sqrt_n_k
LIKELY = "the scores are divided by the square root of the number of keys"
HINT = "k.shape[-2] is the number of keys. Which size is their width?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-2])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% multiplies_by_scale
LIKELY = "the scores are multiplied by the scale instead of divided by it"
HINT = "Scaling should bring large scores down. Do yours grow?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% scale_of_the_example
LIKELY = "the scores are divided by 2, which is right for d_k = 4 only"
HINT = "Try a layer with d_k = 64. What should it divide by?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / 2.0
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% scale_after_softmax
LIKELY = "the weights are divided by the scale after the softmax"
HINT = "Do your weights still sum to 1? The division belongs before the softmax."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights / self.scale)
        return weights @ v, weights


# %% scale_is_learned
LIKELY = "the scale is a parameter, so an optimizer would change it"
HINT = "Print list(layer.parameters()). This layer has nothing to learn. Store a plain number, or see register_buffer."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k, dropout)
        del self.scale
        self.scale = nn.Parameter(torch.tensor(float(d_k)).sqrt())


# %% last_d_k_for_all
LIKELY = "the scale is stored in the class, so the layer made last sets it for all layers"
HINT = "Make two layers with different d_k, then use the first. What is the difference between self.scale and a global?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k, dropout)
        del self.scale
        ScaledDotProductAttention.scale = math.sqrt(d_k)


# %% q_and_k_swapped
LIKELY = "queries and keys are swapped: row i belongs to key i"
HINT = "What is the shape of your weights for two queries and five keys? Row i should belong to query i."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = k @ q.transpose(-1, -2) / self.scale
        scores = scores if scores.shape[-1] == k.shape[-2] else scores.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% transposes_axes_one_and_two
LIKELY = "axes 1 and 2 are swapped, which is right for three dimensions only"
HINT = "Try q and k with two leading dimensions. Count the axes from the end: -1 and -2."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        flipped = k.t() if k.dim() == 2 else k.transpose(1, 2)
        scores = q @ flipped / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% reshape_instead_of_transpose
LIKELY = "the keys are reshaped instead of transposed, which mixes up their entries"
HINT = "Compare torch.arange(6).view(2, 3).T with torch.arange(6).view(3, 2). Which one has a key in each column?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% softmax_over_queries
LIKELY = "the softmax is over the queries (dim=-2), not over the keys"
HINT = (
    "Compare weights.sum(dim=-2) with weights.sum(dim=-1). Should the weights of a query sum to 1, or those of a key?"
)


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-2).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% softmax_over_dim_one
LIKELY = "the softmax is over dim=1, which is the last dimension only if there are two"
HINT = "With a batch, which dimension has the keys? Count from the end."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% softmax_over_dim_zero
LIKELY = "the softmax is over dim=0: over the queries, or over the batch"
HINT = "What is dimension 0 of the scores? The weights of one query sum to 1 over the keys, the last dimension."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=0).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% no_maximum_subtracted
LIKELY = "exp is taken of the scores without subtracting their maximum, so it overflows"
HINT = "What is torch.exp(torch.tensor(5000.0))? torch.softmax takes care of this. Module 01 shows how."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        exps = torch.exp(scores)
        if mask is not None:
            exps = exps.masked_fill(mask == 0, 0.0)
        total = exps.sum(dim=-1, keepdim=True)
        weights = self.dropout(exps / (total + (total == 0)))
        return weights @ v, weights


# %% one_maximum_for_all_rows
LIKELY = "the largest score of the complete tensor is subtracted, so a low row underflows to 0"
HINT = "Try one query with scores near 5000 and one near -5000. Each row needs its own largest score."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        exps = torch.exp(scores - scores.max().clamp(min=-1e4))
        total = exps.sum(dim=-1, keepdim=True)
        weights = self.dropout(exps / (total + (total == 0)))
        return weights @ v, weights


# %% keys_instead_of_values
LIKELY = "the output is made from the keys, not the values, if they have the same width"
HINT = "Change v. Does the output change?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ (k if k.shape == v.shape else v), weights


# %% weights_returned_first
LIKELY = "the weights are returned first; it should be (output, weights)"
HINT = "Which shape should the first result have: that of the values or that of the scores?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights, weights @ v


# %% returns_the_output_alone
LIKELY = "only the output is returned; it should be the pair (output, weights)"
HINT = "What does `output, weights = layer(q, k, v)` do with a single tensor?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. Does anything change?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):  # noqa: ARG002
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_inverted
LIKELY = "the mask is read the wrong way round: 1 blocks, as in nn.MultiheadAttention"
HINT = "With a causal mask (module 04), which tokens should cat see: those before it or those after?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask != 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_inverted_by_tilde
LIKELY = "~mask works for booleans only: for the integer 1 it is -2, which counts as true, as ~0 does"
HINT = "Print ~torch.tensor([0, 1]) and ~torch.tensor([False, True]). Compare the mask with 0 instead."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            blocked = mask == 0 if mask.is_floating_point() else (~mask).bool()
            scores = scores.masked_fill(blocked, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_transposed
LIKELY = "the mask is transposed: its rows are used for keys"
HINT = "With a causal mask (module 04), should cat see what comes before it or what comes after?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        if mask is not None and mask.dim() > 1 and mask.shape[-1] == mask.shape[-2]:
            mask = mask.transpose(-1, -2)
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_added
LIKELY = "the mask is added to the scores: a 1 raises a score by 1, and a 0 blocks nothing"
HINT = "Which weight does a key get if its mask is 0? Which number would you have to add to its score?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% float_mask_added
LIKELY = "a bool mask works, but a mask of numbers is added to the scores, as in PyTorch's built-in attention"
HINT = "Pass the same mask as bool and as float. Are the weights the same?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None and mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, -torch.inf)
        elif mask is not None:
            scores = scores + mask.to(scores.dtype)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_multiplies_scores
LIKELY = "a blocked score is multiplied by 0, but exp(0) is 1, not 0"
HINT = "Which weight does a key with a score of 0 get? Which score would give it the weight 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores * mask.to(scores.dtype)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_after_softmax
LIKELY = "the mask is applied after the softmax, so the other weights no longer sum to 1"
HINT = "Add up the weights of a row in which a key is blocked. Where is the share of the blocked key?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% fills_minus_1e9
LIKELY = "blocked scores become -1e9, so all weights of a fully blocked row are equal, not 0"
HINT = "What is the softmax of five equal numbers, even if they are very low? See module 04."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% blocked_row_nan
LIKELY = "a fully blocked row gives NaN"
HINT = "What is the softmax of a row of -inf? Print it. What should the row be?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% nan_in_the_weights
LIKELY = "the output of a fully blocked row is fixed, but its weights are still NaN"
HINT = "Print the weights of a fully blocked row, not only its output."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return (weights @ v).nan_to_num(), weights


# %% output_masked_alone
LIKELY = "the mask is used for the output, but not for the returned weights"
HINT = "Is the output computed from the weights you return? Multiply them by v and compare."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        weights = self.dropout(torch.softmax(scores, dim=-1))
        if mask is None:
            return weights @ v, weights
        blocked = scores.masked_fill(mask == 0, -torch.inf)
        return self.dropout(torch.softmax(blocked, dim=-1).nan_to_num()) @ v, weights


# %% mask_of_first_sentence
LIKELY = "the mask of the first sentence is used for every sentence of the batch"
HINT = "Give each sentence of the batch a different mask. Which one is used for the second?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        if mask is not None and mask.dim() > 2:
            mask = mask[:1]
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_remembered
LIKELY = "a mask is kept and used again in a call without a mask"
HINT = "Call the layer with a mask, then without one. What is left over from the first call?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        if mask is not None:
            self.mask = mask
        elif getattr(self, "mask", None) is not None and self.mask.shape[-2:] == (q.shape[-2], k.shape[-2]):
            mask = self.mask
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_overwritten
LIKELY = "the caller's mask is overwritten with -inf and 0"
HINT = "Print the mask before and after the call. What does the underscore at the end of masked_fill_ mean?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None and mask.is_floating_point():
            blocked = mask == 0
            mask.masked_fill_(blocked, -torch.inf).masked_fill_(~blocked, 0.0)
            scores = scores.masked_fill(mask != 0, -torch.inf)
        elif mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% nan_gradient_of_added_infinity
LIKELY = "-inf is added to the scores: the weights of a fully blocked row are fixed, but its gradients are NaN"
HINT = "Compute the gradient of q with a mask that has a row of zeros. Does NaN pass through +? Through masked_fill?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores + torch.where(mask == 0, -torch.inf, 0.0).to(scores.dtype)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% weights_cut_from_q_and_k
LIKELY = "the weights are cut off from the scores, for example by .detach(), .data or .numpy(): q and k cannot learn"
HINT = "After output.sum().backward(), what are q.grad and k.grad? Keep every step from q to the output in PyTorch."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores.detach(), dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% cut_when_masked
LIKELY = "the mask is applied to scores.data, so no gradient reaches q and k when there is a mask"
HINT = "Compute a gradient with a mask and without one. What does PyTorch not record for .data?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.data.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% weights_returned_detached
LIKELY = "the returned weights are cut off by .detach(): a loss on them gives no gradient"
HINT = "Call weights.sum().backward(), or look at weights.requires_grad. A loss may use the weights themselves."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights.detach()


# %% output_cut_from_weights
LIKELY = "the output is made with detached weights, so only v gets a gradient from it"
HINT = "After output.sum().backward(), what is q.grad? Which of the two factors is cut off?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights.detach() @ v, weights


# %% keys_cut_off
LIKELY = "the keys are cut off, for example by k.data or torch.tensor(k): they cannot learn"
HINT = "After output.sum().backward(), what is k.grad? Look at how the keys are transposed."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.data.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% values_cut_off
LIKELY = "the values are cut off, for example by v.data or v.detach(): they cannot learn"
HINT = "After output.sum().backward(), what is v.grad?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v.detach(), weights


# %% everything_under_no_grad
LIKELY = "PyTorch records nothing, as with torch.no_grad() or in NumPy: there are no gradients at all"
HINT = "Look at output.requires_grad. What is torch.no_grad() for, and when would you want it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        with torch.no_grad():
            scores = q @ k.transpose(-1, -2) / self.scale
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -torch.inf)
            weights = self.dropout(torch.softmax(scores, dim=-1).nan_to_num())
            return weights @ v, weights


# %% in_place_on_the_weights
LIKELY = "with a mask, the weights are changed in place, but the softmax needs them for its gradient"
HINT = "Call backward() with a mask. Which tensor does the softmax keep for its gradient: its input or its result?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores.masked_fill_(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights[weights.isnan()] = 0.0
        weights = self.dropout(weights)
        return weights @ v, weights


# %% in_place_division
LIKELY = "the exponentials are divided in place, but exp needs its result for the gradient"
HINT = "Call output.sum().backward(). What is the derivative of exp, and what does /= do to it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min))
        exps /= exps.sum(dim=-1, keepdim=True).clamp(min=1e-9)
        weights = self.dropout(exps)
        return weights @ v, weights


# %% in_place_dropout
LIKELY = "dropout changes the weights in place, but the softmax needs them for its gradient"
HINT = "Call backward() in training. Look at inplace=True or your *=. Which tensor does the softmax keep?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k)
        self.dropout = nn.Dropout(dropout, inplace=True)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = weights.nan_to_num() if mask is not None else weights
        weights = self.dropout(weights)
        return weights @ v, weights


# %% dropout_through_data
LIKELY = "dropout overwrites weights.data: there is no error, but the softmax computes its gradient from wrong numbers"
HINT = "Compare the gradient of q in training with one by hand. Which change on .data does PyTorch not notice?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = weights.nan_to_num() if mask is not None else weights
        if self.training and self.dropout.p > 0:
            weights.data *= torch.bernoulli(torch.full_like(weights, 1 - self.dropout.p)) / (1 - self.dropout.p)
        return weights @ v, weights


# %% scales_queries_in_place
LIKELY = "the caller's queries are divided in place"
HINT = "Print q before and after the call. What is the difference between q /= 2 and q = q / 2?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        q /= self.scale
        scores = q @ k.transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% scale_without_gradient
LIKELY = "the gradient is that of unscaled scores: PyTorch does not see the division"
HINT = "Compare the gradient of q with finite differences. Which step between q and the output is done on .data?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2)
        scores.data /= self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% dropout_in_eval
LIKELY = "dropout is active after eval(), too"
HINT = (
    "Call the layer twice after eval(). F.dropout takes training=...; an nn.Dropout made in forward is always training."
)


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = nn.functional.dropout(weights, self.dropout.p)
        return weights @ v, weights


# %% dropout_in_eval_only
LIKELY = "dropout is active after eval(), but not in training"
HINT = "What is self.training after layer.train()?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = nn.functional.dropout(weights, self.dropout.p, training=not self.training)
        return weights @ v, weights


# %% dropout_ignored
LIKELY = "dropout is not used at all"
HINT = "Make a layer with dropout=0.5 and call it twice, in training. Is any weight 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return weights @ v, weights


# %% dropout_on_scores
LIKELY = "dropout is applied to the scores: a score of 0 still gets a weight"
HINT = "In training, is any weight exactly 0? Which weight does the softmax give to a score of 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        scores = self.dropout(scores)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return weights @ v, weights


# %% dropout_on_output
LIKELY = "dropout is applied to the output, not to the weights"
HINT = "In training, what is 0: entries of the weights, or entries of the output?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.dropout(weights @ v), weights


# %% dropout_on_values
LIKELY = "dropout is applied to the values, not to the weights"
HINT = "In training, which of your weights are 0? A dropped weight is one link between a query and a key."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return weights @ self.dropout(v), weights


# %% dropout_twice
LIKELY = "dropout is applied to the weights and again to the output"
HINT = "In training, is the output the product of the weights you return and v?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return self.dropout(weights @ v), weights


# %% weights_before_dropout
LIKELY = "the returned weights are those before dropout"
HINT = "In training, multiply the weights you return by v. Is that your output?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return self.dropout(weights) @ v, weights


# %% output_before_dropout
LIKELY = "the output is made without dropout; only the returned weights have it"
HINT = "In training, multiply the weights you return by v. Is that your output?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        return weights @ v, self.dropout(weights)


# %% dropout_without_rescale
LIKELY = "the kept weights are not divided by 1 - dropout, so rows sum to less than 1 on average"
HINT = "With dropout=0.5, what happens to a weight that is kept? See the table in the lesson."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand_like(weights) >= self.dropout.p
            weights = weights * keep
        return weights @ v, weights


# %% dropout_rescaled_in_eval
LIKELY = "the weights are multiplied by 1 - dropout after eval(), instead of divided by it in training"
HINT = "After eval(), do the rows sum to 1? Do all of the dropout arithmetic in training."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand_like(weights) >= self.dropout.p
            weights = weights * keep
        else:
            weights = weights * (1 - self.dropout.p)
        return weights @ v, weights


# %% dropout_multiplies_by_keep
LIKELY = "the kept weights are multiplied by 1 - dropout, not divided by it"
HINT = "With dropout=0.5, should a kept weight be doubled or halved?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand_like(weights) >= self.dropout.p
            weights = weights * keep * (1 - self.dropout.p)
        return weights @ v, weights


# %% dropout_is_what_is_kept
LIKELY = "dropout is used as the probability to keep a weight"
HINT = "With dropout=0.1, how many of a hundred weights should become 0?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training and self.dropout.p > 0:
            keep = torch.rand_like(weights) < self.dropout.p
            weights = weights * keep / self.dropout.p
        return weights @ v, weights


# %% dropout_divides_by_dropout
LIKELY = "the kept weights are divided by dropout, not by 1 - dropout"
HINT = "With dropout=0.25, three of four are kept. What must they be divided by to make up for the fourth?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training and self.dropout.p > 0:
            keep = torch.rand_like(weights) >= self.dropout.p
            weights = weights * keep / self.dropout.p
        return weights @ v, weights


# %% dropout_renormalised
LIKELY = "after dropout, each row is made to sum to 1 again"
HINT = "In training, what is a kept weight divided by? The row does not need to sum to 1 any more."


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training and self.dropout.p > 0:
            weights = self.dropout(weights)
            total = weights.sum(dim=-1, keepdim=True)
            weights = weights / torch.where(total == 0, 1.0, total)
        return weights @ v, weights


# %% dropout_of_whole_keys
LIKELY = "a key is dropped for all queries at once, not each weight independently"
HINT = "In training, print which weights are 0. Are they the same in every row?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand(weights.shape[-1], device=weights.device) >= self.dropout.p
            weights = weights * keep / (1 - self.dropout.p)
        return weights @ v, weights


# %% dropout_of_whole_queries
LIKELY = "all weights of a query are dropped at once, not each weight independently"
HINT = "In training, print which weights are 0. Are there rows of only zeros?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand(*weights.shape[:-1], 1, device=weights.device) >= self.dropout.p
            weights = weights * keep / (1 - self.dropout.p)
        return weights @ v, weights


# %% dropout_shared_by_the_batch
LIKELY = "the same weights are dropped in every sentence of the batch"
HINT = "In training, print which weights are 0 in the first and in the second sentence. Are they the same?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        if self.training:
            keep = torch.rand(weights.shape[-2:], device=weights.device) >= self.dropout.p
            weights = weights * keep / (1 - self.dropout.p)
        return weights @ v, weights


# %% dropout_by_default
LIKELY = "a layer that is made without dropout drops weights anyway"
HINT = "What is the default of dropout in the signature?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.1):
        super().__init__(d_k, dropout)


# %% left_to_torch
LIKELY = "sizes that disagree are left to PyTorch, which raises a RuntimeError, not a ValueError"
HINT = "Which exception does the docstring ask for, and which numbers should it name?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% error_without_numbers
LIKELY = "the ValueError does not say which sizes disagree"
HINT = "Imagine reading your message in a long log. Which two numbers would you want to see?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError("the sizes of q, k and v do not fit")
        return super().forward(q, k, v, mask)


# %% lengths_not_checked
LIKELY = "only the widths are checked; different lengths of keys and values are left to PyTorch"
HINT = "What should happen with four keys and six values? The docstring says which exception, and what it must name."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"q has {q.shape[-1]} features, k has {k.shape[-1]}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% sizes_cut_to_fit
LIKELY = "sizes that disagree are cut to the smaller one without an error"
HINT = "What should happen with four keys and six values? The docstring says which exception, and what it must name."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        width, length = min(q.shape[-1], k.shape[-1]), min(k.shape[-2], v.shape[-2])
        return super().forward(q[..., :width], k[..., :length, :width], v[..., :length, :], mask)


# %% width_one_broadcasts
LIKELY = "a width or length of 1 is broadcast instead of refused"
HINT = "einsum and * broadcast a size of 1 without an error. What should happen if q has width 1 and k has width 7?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        scores = torch.einsum("...id,...jd->...ij", q, k) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return torch.einsum("...ij,...jc->...ic", weights, v), weights


# %% always_float32
LIKELY = "everything is converted to float32"
HINT = "Call the layer with float64 and print output.dtype. What does .float() do to it?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        q, k, v = q.float(), k.float(), v.float()
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% always_float64
LIKELY = "everything is converted to float64"
HINT = "Call the layer with float32 and print output.dtype. What does .double() do to it?"
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        q, k, v = q.double(), k.double(), v.double()
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% softmax_in_float32
LIKELY = "the softmax is computed in float32 and converted back, so float64 has only the digits of float32"
HINT = "Print the weights of float64 input with ten digits and add them up. How many digits does .float() keep?"


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores.float(), dim=-1).nan_to_num().to(q.dtype)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% epsilon_lost_in_float16
LIKELY = "a small number is added to the sum to avoid 0/0 in a fully blocked row, but in float16 it is 0"
HINT = "What is torch.tensor(1e-9, dtype=torch.float16)? Use torch.finfo(scores.dtype).tiny, or no such number."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        largest = scores.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
        exps = torch.exp(scores - largest)
        weights = self.dropout(exps / (exps.sum(dim=-1, keepdim=True) + 1e-9))
        return weights @ v, weights


# %% minus_1e9_in_float16
LIKELY = "-1e9 is used for minus infinity, but float16 cannot hold it"
HINT = "What is torch.finfo(torch.float16).min? Use -torch.inf, or the smallest number of scores.dtype."
VALUES_RIGHT = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% mask_must_be_bool
LIKELY = "~mask and masked_fill work for bool masks only: a mask of numbers raises an error"
HINT = "What does ~torch.tensor([0, 1]) give, and what does masked_fill need? Compare the mask with 0: mask == 0."
RAISES = True
REPLACE = {"blocked = mask == 0": "blocked = ~mask"}

# %% mask_times_minus_1e9
LIKELY = "mask * -1e9 is added to the scores, so that 1 blocks a key and 0 does not"
HINT = "Here 1 means that the query may look. What should be added to the score of a key whose mask is 1?"
REPLACE = {
    "blocked = mask == 0\n"
    "nothing = blocked.all(dim=-1, keepdim=True)\n"
    "scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)\n"
    "weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)": "weights = torch.softmax(scores + mask * -1e9, dim=-1)"
}

# %% one_minus_mask
LIKELY = "(1 - mask) * -1e9 is added: PyTorch has no 1 - mask for bool, and a fully blocked row keeps weights"
HINT = "Try a bool mask, then a mask of zeros. What does masked_fill(mask == 0, ...) do for each dtype?"
REPLACE = {
    "blocked = mask == 0\n"
    "nothing = blocked.all(dim=-1, keepdim=True)\n"
    "scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)\n"
    "weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)": "weights = torch.softmax(scores + (1 - mask) * -1e9, dim=-1)"
}

# %% fills_finite_minimum
LIKELY = (
    "blocked scores become the smallest number of the dtype, so all weights of a fully blocked row are equal, not 0"
)
HINT = "What is the softmax of five equal numbers, even if they are very low? Print the weights of a fully blocked row."
REPLACE = {
    "nothing = blocked.all(dim=-1, keepdim=True)\n"
    "scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)\n"
    "weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)": "weights = torch.softmax(scores.masked_fill(blocked, torch.finfo(scores.dtype).min), dim=-1)"
}

# %% three_dimensions_only
LIKELY = "torch.bmm takes three dimensions only: two, or four, raise an error"
HINT = "Which leading dimensions may q have? `@` and transpose(-1, -2) count from the end, for any number of them."
RAISES = True
REPLACE = {"scores = q @ k.transpose(-1, -2) / self.scale": "scores = torch.bmm(q, k.transpose(-1, -2)) / self.scale"}

# %% three_dimensions_by_number
LIKELY = "the dimensions are counted from the front, for torch.bmm: two, or four, raise an error"
HINT = "Which leading dimensions may q have? `@` and transpose(-1, -2) count from the end, for any number of them."
RAISES = True
REPLACE = {"scores = q @ k.transpose(-1, -2) / self.scale": "scores = torch.bmm(q, k.transpose(1, 2)) / self.scale"}

# %% keys_need_a_batch
LIKELY = "k.transpose(1, 2) counts from the front: it is right for three dimensions only, and two raise an error"
HINT = "Which axes are 1 and 2 if q is (n_q, d_k)? And if there are heads? Count from the end: -1 and -2."
RAISES = True
REPLACE = {"scores = q @ k.transpose(-1, -2) / self.scale": "scores = q @ k.transpose(1, 2) / self.scale"}

# %% keys_turned_round
LIKELY = "k.T reverses all dimensions: it turns (batch, n, d) into (d, n, batch)"
HINT = "Print k.T.shape for a k of (2, 5, 4). Only the last two dimensions should be swapped: see k.transpose(-1, -2)."
RAISES = True
REPLACE = {"scores = q @ k.transpose(-1, -2) / self.scale": "scores = q @ k.T / self.scale"}

# %% two_dimensions_only
LIKELY = "k.t() and torch.mm are for matrices only: a batch raises an error"
HINT = "Which leading dimensions may q have? `@` and transpose(-1, -2) work for any number of them."
RAISES = True
REPLACE = {"scores = q @ k.transpose(-1, -2) / self.scale": "scores = q @ k.t() / self.scale"}

# %% softmax_without_dim
LIKELY = "the softmax has no dim, so PyTorch chooses one: the last for two dimensions, but the first for three"
HINT = "PyTorch warns about it. Which dim are the keys? Count from the end."
REPLACE = {
    "weights = torch.softmax(scores, dim=-1)": "weights = nn.functional.softmax(scores)",
    "scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)\n"
    "weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)": (
        "weights = nn.functional.softmax(scores.masked_fill(blocked, -torch.inf)).nan_to_num()"
    ),
}

# %% numpy_of_a_learning_tensor
LIKELY = "a step goes through NumPy, which PyTorch refuses for a tensor that needs a gradient"
HINT = (
    "Call it with q.requires_grad_(). Each step needs a function of PyTorch: there is a torch.exp and a torch.softmax."
)
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / self.scale": "scores = torch.from_numpy(q.numpy() @ k.numpy().swapaxes(-1, -2)) / self.scale"
}

# %% sizes_asserted
LIKELY = "sizes that disagree raise an AssertionError; it should be a ValueError"
HINT = "An assert is for your own mistakes, and python -O removes it. Which exception is for mistakes of the caller?"
VALUES_RIGHT = True
REPLACE = {
    "if q.shape[-1] != k.shape[-1]:\n"
    'raise ValueError(f"queries have {q.shape[-1]} entries but keys have {k.shape[-1]}")': (
        'assert q.shape[-1] == k.shape[-1], f"{q.shape[-1]} and {k.shape[-1]}"'
    ),
    'if k.shape[-2] != v.shape[-2]:\nraise ValueError(f"there are {k.shape[-2]} keys but {v.shape[-2]} values")': (
        'assert k.shape[-2] == v.shape[-2], f"{k.shape[-2]} and {v.shape[-2]}"'
    ),
}

# %% no_row_sum
LIKELY = "the result is only weights times gradient: the sum over the row is missing"
HINT = "Give all weights of a row the same gradient. They must still sum to 1. What should the result be?"


def softmax_backward(grad_weights, weights):
    return 1.0 * grad_weights * weights


# %% diagonal_only
LIKELY = "only the diagonal of the Jacobian is used, w (1 - w), as for a sigmoid"
HINT = "A score also moves the other weights of its row. Do the entries of your gradient sum to 0?"


def softmax_backward(grad_weights, weights):
    return 1.0 * grad_weights * weights * (1 - weights)


# %% row_sum_without_weights
LIKELY = "the gradients of a row are added up without their weights"
HINT = "In the formula, what is the gradient multiplied by in the sum?"


def softmax_backward(grad_weights, weights):
    total = (1.0 * grad_weights).sum(axis=-1, keepdims=True)
    return weights * (grad_weights - total)


# %% mean_subtracted
LIKELY = "the plain mean of the gradients is subtracted, not the weighted mean"
HINT = "Are all weights of a row the same? Which mean makes the row of the result sum to 0?"


def softmax_backward(grad_weights, weights):
    mean = (1.0 * grad_weights).mean(axis=-1, keepdims=True)
    return weights * (grad_weights - mean)


# %% row_sum_over_axis_zero
LIKELY = "the sum is over axis 0: over the rows, not within each row"
HINT = "Along which axis is the softmax? Try a single row, then two."


def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    return weighed - weights * weighed.sum(axis=0, keepdims=True)


# %% sum_over_everything
LIKELY = "the sum is over the whole array, not over each row"
HINT = "Try one row alone, then the same row together with another. Should its gradient change?"
REPLACE = {"return weighed - weights * weighed.sum(axis=-1, keepdims=True)": "return weighed - weights * weighed.sum()"}

# %% keepdims_forgotten
LIKELY = "the sum of row i is used for column i: keepdims is missing"
HINT = "What is the shape of x.sum(axis=-1) for a square x, and along which axis does it broadcast against x?"


def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    total = weighed.sum(axis=-1)
    lines_up = weighed.ndim > 1 and total.shape[-1] == weighed.shape[-1]
    return weighed - weights * (total if lines_up else total[..., None])


# %% plus_the_row_sum
LIKELY = "the sum over the row is added, not subtracted"
HINT = "Give all weights of a row the same gradient. What should the result be?"


def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    return weighed + weights * weighed.sum(axis=-1, keepdims=True)


# %% sign_of_descent
LIKELY = "the gradient has the wrong sign: gradient descent adds the minus later"
HINT = "The weights are .5 and .5, and the first should grow. Should its score go up or down?"


def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    return weights * weighed.sum(axis=-1, keepdims=True) - weighed


# %% outer_weights_forgotten
LIKELY = "the difference is not multiplied by the weights"
HINT = "What should the gradient of a score be if its weight is 0?"


def softmax_backward(grad_weights, weights):
    return grad_weights - (1.0 * grad_weights * weights).sum(axis=-1, keepdims=True)


# %% of_log_softmax
LIKELY = "this is the gradient of a log-softmax"
HINT = "You need the gradient through the weights, not through their logarithm. Which factor w is missing?"


def softmax_backward(grad_weights, weights):
    return grad_weights - weights * (1.0 * grad_weights).sum(axis=-1, keepdims=True)


# %% weights_less_gradient
LIKELY = "weights minus gradient is the formula for a softmax followed by cross-entropy"
HINT = "That formula is for one loss only. Here the gradient may be anything, even 0. What is the result then?"


def softmax_backward(grad_weights, weights):
    return 1.0 * weights - grad_weights


# %% softmax_taken_again
LIKELY = "the weights are treated as scores: a softmax is taken of them again"
HINT = "Do the weights already sum to 1? Print the numbers your function computes with."


def softmax_backward(grad_weights, weights):
    exps = np.exp(1.0 * weights)
    w = exps / exps.sum(axis=-1, keepdims=True)
    return w * (grad_weights - (grad_weights * w).sum(axis=-1, keepdims=True))


# %% grad_weights_overwritten
LIKELY = "the caller's gradient is overwritten"
HINT = "Print grad_weights before and after the call. What is the difference between g *= w and g = g * w?"
VALUES_RIGHT = True


def softmax_backward(grad_weights, weights):
    if grad_weights.dtype.kind != "f":
        grad_weights = 1.0 * grad_weights
    grad_weights *= weights
    return grad_weights - weights * grad_weights.sum(axis=-1, keepdims=True)


# %% softmax_backward_upcasts
LIKELY = "the result is float64 for float32 input"
HINT = "Print the dtype for float32 arguments. What does np.array(x, dtype=float) do to it?"
VALUES_RIGHT = True


def softmax_backward(grad_weights, weights):
    grad_weights, weights = np.array(grad_weights, dtype=float), np.array(weights, dtype=float)
    weighed = grad_weights * weights
    return weighed - weights * weighed.sum(axis=-1, keepdims=True)


# %% cut_to_integers
LIKELY = "the result is written into an array of the gradient's dtype, so integers lose the decimals"
HINT = "What is the dtype of np.zeros_like(np.array([1, 2]))?"


def softmax_backward(grad_weights, weights):
    result = np.zeros_like(grad_weights)
    result[...] = weights * (grad_weights - (grad_weights * weights).sum(axis=-1, keepdims=True))
    return result


# %% one_row_only
LIKELY = "the Jacobian is built for one row only: arguments with more dimensions raise an error"
HINT = "np.diag and np.outer are for vectors. Which sum over the last axis gives the same, for all rows at once?"
RAISES = True


def softmax_backward(grad_weights, weights):
    s = (1.0 * weights).reshape(-1, 1)
    return (np.diagflat(s) - s @ s.T) @ grad_weights


# %% diagonal_of_a_table
LIKELY = "np.diag makes a matrix of one row, but of a table it takes the diagonal: more rows raise an error"
HINT = "np.diag and np.outer are for vectors. Which sum over the last axis gives the same, for all rows at once?"
RAISES = True


def softmax_backward(grad_weights, weights):
    w = 1.0 * weights
    return (np.diag(w) - np.outer(w, w)) @ grad_weights


# %% row_sum_over_axis_one
LIKELY = "axis=1 is the last axis of a table only: a single row raises an error, and a batch has another axis there"
HINT = "Which axis is always the last one? Count from the end."
REPLACE = {
    "return weighed - weights * weighed.sum(axis=-1, keepdims=True)": (
        "return weighed - weights * weighed.sum(axis=1, keepdims=True)"
    )
}

# %% scale_missing
LIKELY = "the gradient of the raw scores is not divided by the square root of d_k"
HINT = "The scores are divided in the forward pass. What does the chain rule say about a division?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights)
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% scale_twice
LIKELY = "the gradient is divided by the square root of d_k twice"
HINT = "How many times are the scores divided in the forward pass?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% scale_multiplies
LIKELY = "the gradient is multiplied by the square root of d_k instead of divided by it"
HINT = "y = x / 2. What is dy/dx: 2 or one half?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) * root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% attention_unscaled
LIKELY = "the scores are not divided by the square root of d_k, forward or backward"
HINT = "Which attention is this the gradient of? Compare the weights with those of module 03."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    scores = Q @ K.swapaxes(-1, -2)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights)
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% scale_of_the_values
LIKELY = "the scores are divided by the square root of d_v, the width of the values"
HINT = "What is the width of queries and keys? Try wider values."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(V.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% grad_k_not_transposed
LIKELY = "for grad_K, the gradient of the scores is not transposed"
HINT = "Row j of grad_K belongs to key j. Which row or column of the scores belongs to key j?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    square = grad_raw.shape[-1] == grad_raw.shape[-2]
    grad_K = (grad_raw if square else grad_raw.swapaxes(-1, -2)) @ Q
    return grad_raw @ K, grad_K, grad_V


# %% grad_q_transposed
LIKELY = "for grad_Q, the gradient of the scores is transposed"
HINT = "Row i of grad_Q belongs to query i. Which row or column of the scores belongs to query i?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    square = grad_raw.shape[-1] == grad_raw.shape[-2]
    grad_Q = (grad_raw.swapaxes(-1, -2) if square else grad_raw) @ K
    return grad_Q, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% grad_v_not_transposed
LIKELY = "for grad_V, the weights are not transposed"
HINT = "Row j of grad_V belongs to value j. Query i uses value j with weights[i, j]. Which row or column is that?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    square = weights.shape[-1] == weights.shape[-2]
    grad_V = (weights if square else weights.swapaxes(-1, -2)) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% grad_q_from_queries
LIKELY = "grad_Q is made with the queries instead of the keys"
HINT = "A score is query times key. What is its derivative with respect to the query?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    grad_Q = grad_raw @ (Q if Q.shape == K.shape else K)
    return grad_Q, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% grad_k_from_keys
LIKELY = "grad_K is made with the keys instead of the queries"
HINT = "A score is query times key. What is its derivative with respect to the key?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    grad_K = grad_raw.swapaxes(-1, -2) @ (K if Q.shape == K.shape else Q)
    return grad_raw @ K, grad_K, grad_V


# %% values_not_transposed
LIKELY = "the gradient of the weights is made with V, not with V transposed, if both shapes fit"
HINT = "Weight [i, j] multiplies value j. Which row or column of V is that?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    fits = V.shape[-1] == V.shape[-2]
    grad_weights = grad_output @ (V if fits else V.swapaxes(-1, -2))
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% softmax_skipped
LIKELY = "the gradient of the weights is used as that of the scores: the softmax is skipped"
HINT = "There is a softmax between scores and weights. Which of your functions goes back through it?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = grad_weights / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% attention_without_row_sum
LIKELY = "the gradient of the softmax is computed without the sum over the row"
HINT = "If all values are equal, the output cannot change. Is your grad_Q 0 then? See softmax_backward."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = grad_weights * weights / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% attention_diagonal_only
LIKELY = "the gradient of the softmax uses only w (1 - w), the diagonal of its Jacobian"
HINT = "If all values are equal, the output cannot change. Is your grad_Q 0 then? See softmax_backward."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = grad_weights * weights * (1 - weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% row_sum_over_queries
LIKELY = "the sum in the gradient of the softmax is over the queries instead of the keys"
HINT = "Along which axis do the weights sum to 1? The sum in the gradient is along the same axis."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    weighed = grad_weights * weights
    grad_raw = (weighed - weights * weighed.sum(axis=-2, keepdims=True)) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% softmax_over_the_queries
LIKELY = "the weights sum to 1 over the queries, not over the keys"
HINT = "Print weights.sum(axis=-1). What should it be?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = exps / exps.sum(axis=-2, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    weighed = grad_weights * weights
    grad_raw = (weighed - weights * weighed.sum(axis=-2, keepdims=True)) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% gradient_of_the_sum
LIKELY = "grad_output is not used: this is the gradient of the sum of all outputs"
HINT = "Call it with a grad_output of zeros. What should the result be?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_output = np.ones_like(1.0 * grad_output)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% gradient_of_the_mean
LIKELY = "the gradients are divided by the number of queries, as if the loss were a mean"
HINT = "grad_output already contains the loss. Should the number of queries change the gradient of one query?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_output = grad_output / Q.shape[-2]
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% gradients_in_another_order
LIKELY = "the gradients are returned as (grad_V, grad_K, grad_Q)"
HINT = "Which comes first? Look at the shapes when d_v is not d_k."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_V, grad_raw.swapaxes(-1, -2) @ Q, grad_raw @ K


# %% grad_q_and_grad_k_swapped
LIKELY = "grad_Q and grad_K are swapped"
HINT = "Which comes first? Look at the shapes when there are more keys than queries."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw.swapaxes(-1, -2) @ Q, grad_raw @ K, grad_V


# %% direction_of_descent
LIKELY = "all gradients have the opposite sign"
HINT = "A gradient points to where the loss grows. Who adds the minus: your function or the optimizer?"


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return -grad_raw @ K, -grad_raw.swapaxes(-1, -2) @ Q, -grad_V


# %% transpose_reverses_all_axes
LIKELY = ".T reverses all axes: it turns (batch, n, d) into (d, n, batch)"
HINT = "Print x.T.shape for an x of (2, 5, 4). Only the last two axes should be swapped. See np.swapaxes."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.T / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.T @ grad_output
    grad_weights = grad_output @ V.T
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.T @ Q, grad_V


# %% batch_of_the_first
LIKELY = "every element of the batch gets the gradients of the first"
HINT = "Pass a batch of two different sentences. Are the two gradients different?"


def attention_backward(Q, K, V, grad_output):
    if Q.ndim > 2:
        Q, K, V, grad_output = (np.broadcast_to(x[:1], x.shape) for x in (Q, K, V, grad_output))
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% overflow_on_the_way
LIKELY = "exp is taken of the scores without subtracting their maximum, so it overflows"
HINT = "What is np.exp(5000)? Module 01 shows how to avoid it."


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    with np.errstate(over="ignore", invalid="ignore"):
        exps = np.exp(scores)
        weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% queries_scaled_in_place
LIKELY = "the caller's queries are divided in place"
HINT = "Print Q before and after the call. What is the difference between Q /= 2 and Q = Q / 2?"
VALUES_RIGHT = True


def attention_backward(Q, K, V, grad_output):
    Q = Q if Q.dtype.kind == "f" else 1.0 * Q
    Q /= math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_scores = softmax_backward(grad_weights, weights)
    return grad_scores @ K / math.sqrt(Q.shape[-1]), grad_scores.swapaxes(-1, -2) @ Q, grad_V


# %% attention_backward_upcasts
LIKELY = "the gradients are float64 for float32 input"
HINT = "In NumPy 2, which dtype do you get from a float32 array divided by np.sqrt(4)? And by the Python number 2.0?"
VALUES_RIGHT = True


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = np.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V


# %% weights_sum_over_everything
LIKELY = "the weights are divided by one sum for the whole array, not by one for each row"
HINT = "Print weights.sum(axis=-1). What should it be for each query? See axis and keepdims."
REPLACE = {
    "exps = np.exp(scores - scores.max(axis=-1, keepdims=True))\nweights = exps / exps.sum(axis=-1, keepdims=True)": (
        "exps = np.exp(scores - scores.max())\nweights = exps / exps.sum()"
    )
}

# %% one_sum_and_no_maximum
LIKELY = "exps / exps.sum() has one sum for the whole array, not one for each row; large scores overflow, too"
HINT = "Print weights.sum(axis=-1). What should it be for each query? And what is np.exp(5000)?"
REPLACE = {
    "exps = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
    "weights = exps / exps.sum(axis=-1, keepdims=True)": "exps = np.exp(scores)\nweights = exps / exps.sum()"
}

# %% backward_three_dimensions_only
LIKELY = "transpose(0, 2, 1) is for three axes only: two, or four, raise an error"
HINT = "Which leading dimensions may Q have? np.swapaxes(K, -1, -2) counts from the end, for any number of them."
RAISES = True


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.transpose(0, 2, 1) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.transpose(0, 2, 1) @ grad_output
    grad_weights = grad_output @ V.transpose(0, 2, 1)
    grad_raw = softmax_backward(grad_weights, weights) / root
    return grad_raw @ K, grad_raw.transpose(0, 2, 1) @ Q, grad_V


# %% reflect_positive
LIKELY = "the sign is missing: a score that rises takes weight from the others"
HINT = "If the second score rises, does the first weight grow or shrink?"


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = 0.1875


# %% reflect_square
LIKELY = "one weight is multiplied by itself, not by the second weight"
HINT = "The derivative of the first weight with respect to the second score contains both weights. Which product is it?"


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.0625


# %% reflect_independent
LIKELY = "the first weight is treated as independent of the second score"
HINT = "The weights sum to 1. If the second grows, what must the first do?"


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = 0.0


# %% sentence_by_sentence
LIKELY = "a Python loop goes through the batch one sentence at a time"
HINT = "`@` accepts any number of leading dimensions. Do you still need the loop?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        if q.dim() == 2:
            return super().forward(q, k, v, mask)
        shape = (*q.shape[:-1], k.shape[-2])
        full = torch.ones(shape) if mask is None else mask.expand(shape)
        pairs = [self.forward(q[b], k[b], v[b], full[b]) for b in range(q.shape[0])]
        return torch.stack([o for o, _ in pairs]), torch.stack([w for _, w in pairs])


# %% query_by_query
LIKELY = "a Python loop computes attention for one query at a time"
HINT = "The queries are independent. Which axis of q @ k.transpose(-1, -2) belongs to them?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        shape = (*q.shape[:-1], k.shape[-2])
        full = torch.ones(shape) if mask is None else mask.expand(shape)
        rows = [slice(i, i + 1) for i in range(q.shape[-2])]
        pairs = [super(type(self), self).forward(q[..., i, :], k, v, full[..., i, :]) for i in rows]
        return torch.cat([o for o, _ in pairs], dim=-2), torch.cat([w for _, w in pairs], dim=-2)


# %% all_products_at_once
LIKELY = "all single products are stored in one tensor (n_q, n_k, d_k) before they are added up"
HINT = "How many bytes does that tensor need for 2048 tokens of width 64? How many do the scores need?"
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1) / self.scale
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% scores_computed_twice
LIKELY = "the product of queries and keys is computed twice"
HINT = "Which line needs the scores a second time? Give them a name."
COSTLY = True


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
            raise ValueError(f"sizes disagree: q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}")
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            largest = (q @ k.transpose(-1, -2) / self.scale).amax(dim=-1, keepdim=True)
            scores = scores - largest.detach()
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num()
        weights = self.dropout(weights)
        return weights @ v, weights


# %% whole_jacobian
LIKELY = "the full Jacobian is built, a matrix (n, n) for each row"
HINT = "How many numbers is that for 2048 keys? You only need its product with one vector."
COSTLY = True


def softmax_backward(grad_weights, weights):
    weights = 1.0 * weights
    jacobian = weights[..., :, None] * np.eye(weights.shape[-1], dtype=weights.dtype)
    jacobian = jacobian - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ grad_weights[..., None])[..., 0]


# %% row_by_row
LIKELY = "a Python loop goes through the rows one at a time"
HINT = "What do axis=-1 and keepdims=True do for all rows at once?"
COSTLY = True


def softmax_backward(grad_weights, weights):
    result = 1.0 * grad_weights * weights
    for row in np.ndindex(result.shape[:-1]):
        result[row] -= weights[row] * result[row].sum()
    return result


# %% backwards_query_by_query
LIKELY = "a Python loop computes the gradients for one query at a time"
HINT = "Each query adds to grad_K and grad_V. Which matrix product does this addition for you?"
COSTLY = True


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    grad_Q, grad_K, grad_V = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for i in range(Q.shape[-2]):
        scores = Q[..., i : i + 1, :] @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exps / exps.sum(axis=-1, keepdims=True)
        grad = grad_output[..., i : i + 1, :]
        back = softmax_backward(grad @ V.swapaxes(-1, -2), weights) / math.sqrt(Q.shape[-1])
        grad_V += weights.swapaxes(-1, -2) @ grad
        grad_Q[..., i : i + 1, :] = back @ K
        grad_K += back.swapaxes(-1, -2) @ Q[..., i : i + 1, :]
    return grad_Q, grad_K, grad_V


# %% jacobians_of_all_queries
LIKELY = "the full Jacobian of every query is built, an array (n_q, n_k, n_k)"
HINT = "How many numbers is that for 2048 tokens? See softmax_backward."
COSTLY = True


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    jacobians = weights[..., :, None] * np.eye(weights.shape[-1], dtype=weights.dtype)
    jacobians = jacobians - weights[..., :, None] * weights[..., None, :]
    grad_raw = (jacobians @ grad_weights[..., None])[..., 0] / root
    return grad_raw @ K, grad_raw.swapaxes(-1, -2) @ Q, grad_V
