"""First drafts of 07_gpu_path: what is not in a cell is as in the stub."""

import math

import torch
import torch.nn.functional as F

# %% pick_always_cuda
# No look at whether there is a GPU
# Expected: pick_device: value


def pick_device(prefer="cuda"):
    return torch.device("cuda")


# %% attention_without_mask
# Attention on the device of q has the formula, and no mask; the rest is not written
# Expected: attention_on_device: value


def pick_device(prefer="cuda"):
    try:
        wanted = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}")
    if wanted.type == "cuda" and (wanted.index or 0) < torch.cuda.device_count():
        return wanted
    if wanted.type == "mps" and torch.backends.mps.is_available():
        return wanted
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
