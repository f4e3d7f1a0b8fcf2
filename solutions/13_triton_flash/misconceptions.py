"""Misconceptions of 13_triton_flash. Each cell replaces part of the solution to make a wrong submission."""

import math

import torch

# %% values_not_rescaled
LIKELY = "the sum of values is not rescaled when the largest score changes"
HINT = "Row on of module 10: the factor in the second tile is .6065. Which two things does it multiply?"
REPLACE = {
    'values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")': (
        'values = values + tl.dot(weights.to(v.dtype), v, input_precision="ieee")'
    )
}

# %% sum_not_rescaled
LIKELY = "the sum of exponentials is not rescaled when the largest score changes"
HINT = "Both sums were made with the old largest score. What happens to the one that you divide by?"
REPLACE = {"total = total * rescale + tl.sum(weights, 1)": "total = total + tl.sum(weights, 1)"}

# %% largest_of_the_last_tile
LIKELY = "the largest score is that of the last tile, not of all tiles so far"
HINT = "The first tile has the score 600, the second has 0. What is exp(600 - 0)?"
REPLACE = {"new_largest = tl.maximum(largest, tl.max(scores, 1))": "new_largest = tl.max(scores, 1)"}

# %% divided_in_every_tile
LIKELY = "the values are divided by the sum in every tile, not once at the end"
HINT = "In the first tile the sum is not complete. What is left to divide at the end?"
REPLACE = {
    "largest = new_largest": "largest = new_largest\nvalues = values / total[:, None]",
    "tl.store(out_ptr + q_places, (values / total[:, None]).to(q.dtype), mask=is_query)": (
        "tl.store(out_ptr + q_places, values.to(q.dtype), mask=is_query)"
    ),
}

# %% ragged_tail_not_masked
LIKELY = "keys beyond the last one take part: they are loaded as zeros, and their score is 0"
HINT = "A key of zeros has the score 0, and exp(0) is 1. What score has the weight 0?"
REPLACE = {"is_seen = is_key[None, :]": "is_seen = keys[None, :] >= 0"}

# %% ragged_tail_left_out
LIKELY = "only full tiles of keys are read: the keys in the last, shorter tile are missing"
HINT = "For 77 keys in tiles of 32, at which key does your last tile start?"
REPLACE = {"end = n_k": "end = tl.maximum(n_k // BLOCK_K, 1) * BLOCK_K"}

# %% causal_off_by_one
LIKELY = "with is_causal, a query does not see its own key"
HINT = "Query 0 sees exactly one key. Which one?"
REPLACE = {
    "is_seen = is_seen & (keys[None, :] <= rows[:, None])": "is_seen = is_seen & (keys[None, :] < rows[:, None])"
}

# %% causal_sees_the_next
LIKELY = "with is_causal, a query also sees the next key"
HINT = "Query 0 sees exactly one key. Which one?"
REPLACE = {
    "is_seen = is_seen & (keys[None, :] <= rows[:, None])": "is_seen = is_seen & (keys[None, :] <= rows[:, None] + 1)"
}

# %% causal_from_the_end
LIKELY = "the causal mask is aligned at the last key: with more keys than queries, too many are seen"
HINT = "Module 09 aligns at the end, module 07 at the start. What does query 0 see here?"
REPLACE = {
    "end = tl.minimum(n_k, (tile + 1) * BLOCK_Q)": "end = n_k",
    "is_seen = is_seen & (keys[None, :] <= rows[:, None])": (
        "is_seen = is_seen & (keys[None, :] <= rows[:, None] + n_k - n_q)"
    ),
}

# %% causal_by_place_in_the_tile
LIKELY = "the causal mask compares places in the tile, not in the text"
HINT = "In the second tile, row 0 is query 64. Which keys of the first tile does it see?"
REPLACE = {
    "is_seen = is_seen & (keys[None, :] <= rows[:, None])": (
        "is_seen = is_seen & (keys[None, :] - start <= rows[:, None] - tile * BLOCK_Q)"
    )
}

# %% accumulates_in_bfloat16
LIKELY = "the sum of values is kept in the dtype of the input: in bfloat16 it is rounded once for each tile"
HINT = "bfloat16 has 8 significant bits. What is 256 + 1 there?"
REPLACE = {
    "values = tl.zeros([BLOCK_Q, WIDTH], tl.float32)": "values = tl.zeros([BLOCK_Q, WIDTH], tl.float32).to(q.dtype)",
    'values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")': (
        'values = (values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")).to(v.dtype)'
    ),
}

# %% tf32_products
LIKELY = "float32 is multiplied in TF32, with 10 bits after the leading one"
HINT = 'Look at the parameter input_precision of tl.dot. Its default on a GPU is "tf32".'
REPLACE = {
    'scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale': (
        'scores = tl.dot(q, tl.trans(k), input_precision="tf32") * scale'
    ),
    'values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")': (
        'values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="tf32")'
    ),
}

# %% scale_forgotten
LIKELY = "the scores are not divided by the square root of d"
HINT = "For d = 64 your scores are 8 times too large. Where do you use scale?"
REPLACE = {
    'scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale': (
        'scores = tl.dot(q, tl.trans(k), input_precision="ieee")'
    )
}

# %% output_in_float32
LIKELY = "the output is float32, also for bfloat16 input"
HINT = "Print the dtype of the output for bfloat16 input. It should be that of q."
REPLACE = {"out = torch.empty_like(q)": "out = torch.empty_like(q, dtype=torch.float32)"}

# %% one_head_for_all
LIKELY = "every program reads the first head"
HINT = "Which head does a program compute? Where do you use tl.program_id(1) in the address of k and v?"
REPLACE = {
    "k_places = head * n_k * WIDTH + keys[:, None] * WIDTH + columns[None, :]": (
        "k_places = keys[:, None] * WIDTH + columns[None, :]"
    )
}

# %% waits_for_the_gpu
LIKELY = "the CPU waits: a number is read from a tensor on the GPU"
HINT = "bool() of a tensor needs its value now. Does the launch need it?"
VALUES_RIGHT = True
REPLACE = {"return out": 'if bool(torch.isnan(out).any()):\n    raise ValueError("not a number")\nreturn out'}

# %% table_of_scores
LIKELY = "a table of all scores is written to memory: it has n times n numbers"
HINT = "Run attn profile triton_flash --device cuda. How does the memory grow when n doubles?"
VALUES_RIGHT = True
COSTLY = True


def flash_forward(q, k, v, is_causal=False):
    columns = [(q.double() * key[..., None, :]).sum(-1) for key in k.unbind(-2)]
    scores = torch.stack(columns, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    weights = torch.softmax(scores, -1)
    out = torch.zeros_like(q, dtype=torch.float64)
    for j in range(k.shape[-2]):
        out += weights[..., j, None] * v[..., j, None, :]
    return out.to(q.dtype)


# %% products_of_pytorch
LIKELY = "the tiles are computed by PyTorch's products, not in a kernel"
HINT = "Your loop launches a kernel for every step of every tile. Compute a tile in one kernel, with tl.dot."
VALUES_RIGHT = True
COSTLY = True


def flash_forward(q, k, v, is_causal=False):
    n_q, n_k, b = q.shape[-2], k.shape[-2], 64
    out = torch.zeros_like(q, dtype=torch.float64)
    total = torch.zeros_like(out[..., :1])
    largest = torch.full_like(total, -math.inf)
    rows = torch.arange(n_q, device=q.device)
    for j in range(0, n_k, b):
        scores = q.double() @ k[..., j : j + b, :].double().transpose(-1, -2) / math.sqrt(q.shape[-1])
        if is_causal:
            keys = torch.arange(j, min(j + b, n_k), device=q.device)
            scores = scores.masked_fill(keys[None, :] > rows[:, None], -math.inf)
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        weights, rescale = torch.exp(scores - new), torch.exp(largest - new)
        total = total * rescale + weights.sum(-1, keepdim=True)
        out = out * rescale + weights @ v[..., j : j + b, :].double()
        largest = new
    return (out / total).to(q.dtype)


# %% the_built_in
LIKELY = "PyTorch's own attention is called"
HINT = "This module is about writing that kernel."
VALUES_RIGHT = True
COSTLY = True


def flash_forward(q, k, v, is_causal=False):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
