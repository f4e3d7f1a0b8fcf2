"""Misconceptions of 07_gpu_path. Each cell replaces part of the solution to make a wrong submission."""

import math

import torch
import torch.nn.functional as F
from gpu_path import attention_on_device  # the solution: each cell replaces a part

# %% pick_always_cuda
LIKELY = "cuda is returned, with or without a GPU"
HINT = "What does the program do on a machine without a GPU? Ask torch.cuda.is_available() first."


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cuda")


# %% pick_without_fallback
LIKELY = "the requested device is returned, even if the machine does not have it"
HINT = 'torch.device("cuda") is only a name. Which function tells you whether there is a GPU?'


def pick_device(prefer="cuda"):
    try:
        return torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None


# %% pick_always_cpu
LIKELY = "the CPU is returned, even if there is a GPU"
HINT = "What does your function return on a machine with a GPU? Does it ask about the GPU in each call?"


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cpu")


# %% pick_ignores_the_wish
LIKELY = "the GPU is returned, even if the caller asks for the CPU"
HINT = 'What does pick_device("cpu") return on a machine with a GPU? Where do you use prefer?'


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


# %% pick_returns_a_name
LIKELY = "a name is returned, not a torch.device"
HINT = "Print repr(pick_device()). Does your result have a .type?"


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if device.type == "cpu" or (device.type == "cuda" and (device.index or 0) < torch.cuda.device_count()):
        return str(device)
    return "cpu"


# %% pick_takes_unknown_for_the_cpu
LIKELY = "a text that is not a device name gives the CPU, without an error"
HINT = 'If you mistype "cuda0", the program runs on the CPU for hours. What should happen instead?'


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        return torch.device("cpu")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_leaves_the_runtime_error
LIKELY = "a text that is not a device name raises torch.device's RuntimeError; it should be a ValueError"
HINT = 'What does torch.device("gpu") raise? Catch it, and raise the exception named in the docstring.'


def pick_device(prefer="cuda"):
    device = torch.device(prefer)
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_error_without_the_name
LIKELY = "the ValueError does not contain the bad name"
HINT = "Imagine reading your message in a long log. Which word would you want to see?"


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError("there is no such device") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_drops_the_number
LIKELY = "for cuda:0, cuda without a number is returned"
HINT = "A machine may have eight GPUs. What happens to the number in your code?"
VALUES_RIGHT = True


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return torch.device(device.type if (device.index or 0) < there.get(device.type, 0) else "cpu")


# %% pick_does_not_count
LIKELY = "a GPU number that does not exist is returned anyway"
HINT = "is_available() says whether there is a GPU, not how many. What does torch.cuda.device_count() say?"
VALUES_RIGHT = True


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return device if there.get(device.type, False) else torch.device("cpu")


# %% pick_knows_cuda_alone
LIKELY = "only cuda is checked: mps is returned on every machine"
HINT = 'What does pick_device("mps") return on your machine? Can you move a tensor there?'
VALUES_RIGHT = True


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        return torch.device("cpu")
    return device


# %% pick_compares_with_the_word_cuda
LIKELY = 'only the text "cuda" is recognised: cuda:0 or a torch.device gives the CPU'
HINT = 'Print torch.device("cuda") == "cuda". Which attribute does a device have that a text does not?'


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if prefer == "cuda" and torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


# %% pick_the_other_way_round
LIKELY = "the condition is the wrong way round: the GPU is returned if there is none"
HINT = "Go through your condition for a machine without a GPU."


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if device.type == "cuda":
        return torch.device("cpu") if torch.cuda.is_available() else device
    return torch.device("cpu")


# %% no_scaling
LIKELY = "the scores are not divided by the square root of d_k"
HINT = "Compare your scores for d_k = 4 and d_k = 400. Which softmax gives nearly all weight to one key?"
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": "scores = q @ k.transpose(-1, -2)",
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% divides_by_d_k
LIKELY = "the scores are divided by d_k instead of its square root"
HINT = "For d_k = 64, do you divide by 8 or by 64?"
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": "scores = q @ k.transpose(-1, -2) / q.shape[-1]",
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% scaled_by_the_number_of_keys
LIKELY = "the scores are divided by the square root of the number of keys"
HINT = "Which axis of q has the size d_k? Try a number of keys that is not d_k."
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-2])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% softmax_over_queries
LIKELY = "the softmax is over the queries, not over the keys"
HINT = "Which axis of the scores has the keys: -1 or -2? The weights of one query should sum to 1."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-2)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-2).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% softmax_over_dim_one
LIKELY = "the softmax is over dim 1, for any number of axes"
HINT = "For scores of (2, 3, 5, 5), which axis is dim=1? Count from the end."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_ignored
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. What should change?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% mask_inverted
LIKELY = "the mask is read the wrong way round: 1 blocks"
HINT = "In this course, 1 means that the query may look at the key. What does your == or ~ do to a 1?"
IN = "attention_on_device"
REPLACE = {"blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) != 0"}

# %% mask_after_softmax
LIKELY = "blocked weights are set to 0 after the softmax, so the others no longer sum to 1"
HINT = "Add up the weights of a row with a blocked key. Where is the share of the blocked key?"


def attention_on_device(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask.to(q.device, q.dtype)
    return weights @ v, weights


# %% mask_multiplies_scores
LIKELY = "the scores are multiplied by the mask: a blocked key has the score 0, not minus infinity"
HINT = "What is exp(0)? Which weight does a key with the score 0 get?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores * mask.to(q.device, q.dtype)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% fills_minus_1e9
LIKELY = "blocked scores become -1e9, so all weights of a fully blocked row are equal, not 0"
HINT = "What is the softmax of a row of equal numbers, even very small ones? And what if an allowed score is -2e10?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0\n"
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "blocked = mask.to(q.device) == 0\nweights = torch.softmax(scores.masked_fill(blocked, -1e9), dim=-1)"
    ),
}

# %% adds_minus_1e9
LIKELY = "-1e9 is added to blocked scores, so a fully blocked row keeps its weights"
HINT = "How does the softmax of a row change if you add the same number everywhere?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (1 - mask.to(q.device, q.dtype)) * -1e9
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% blocked_row_nan
LIKELY = "a fully blocked row gives NaN: the softmax of a row of minus infinities"
HINT = "What is the softmax of [-inf, -inf]? After the softmax, put 0 where the mask is 0."
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0\n"
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "blocked = mask.to(q.device) == 0\nweights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1)"
    ),
}

# %% nan_gradient_of_added_infinity
LIKELY = "minus infinity is added to the scores: the weights are fixed, but the gradient is NaN"
HINT = "The gradient of a filled score is 0. An addition passes every gradient on, including NaN. Which one do you use?"
VALUES_RIGHT = True


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    return weights @ v, weights


# %% no_max_subtraction
LIKELY = "exp is taken of the scores without subtracting their maximum, so it overflows"
HINT = "What is exp(100) in float32? Subtract the largest score of each row first, or let torch.softmax do it."


def attention_on_device(q, k, v, mask=None):
    exps = torch.exp(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]))
    if mask is not None:
        exps = exps.masked_fill(mask.to(q.device) == 0, 0.0)
    totals = exps.sum(dim=-1, keepdim=True)
    weights = exps / (totals + (totals == 0))
    return weights @ v, weights


# %% weights_returned_first
LIKELY = "the pair is returned as (weights, output); it should be (output, weights)"
HINT = "Which comes first in (output, weights)?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return weights @ v, weights": "return weights, weights @ v",
}

# %% output_alone
LIKELY = "only the output is returned; it should be the pair (output, weights)"
HINT = "What does the docstring say about the result? Only fused_attention returns no weights."
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return weights @ v, weights": "return weights @ v",
}

# %% a_list_of_two
LIKELY = "output and weights are returned in a list; it should be a tuple"
HINT = "Which type does the docstring name? Write `return output, weights`."
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return weights @ v, weights": "return [weights @ v, weights]",
}

# %% keys_for_values
LIKELY = "the weights are applied to the keys instead of the values"
HINT = "Which of q, k and v has the width d_v?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return weights @ v, weights": "return weights @ k, weights",
}

# %% graph_cut
LIKELY = "the graph is cut: no gradient reaches q and k"
HINT = "Look for .detach(), .data and torch.no_grad(). What does PyTorch not record there?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    weights = weights.detach()
    return weights @ v, weights


# %% weights_returned_detached
LIKELY = "the returned weights are cut off from the graph"
HINT = "A loss may use the weights. What does .detach() do to their gradient?"


def attention_on_device(q, k, v, mask=None):
    output, weights = _right(q, k, v, mask)
    return output, weights.detach()


def _right(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% scaled_in_place
LIKELY = "q is divided in place, so the caller's tensor is changed"
HINT = "Print q before and after the call. What does /= do to the caller's tensor?"
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "with torch.no_grad():\n    q /= math.sqrt(q.shape[-1])\nscores = q @ k.transpose(-1, -2)"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% always_float32
LIKELY = "everything is computed and returned in float32"
HINT = "Print the dtype of the result for a float64 q. Which of your lines names float32?"
VALUES_RIGHT = True
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "q, k, v = q.float(), k.float(), v.float()\nscores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% mask_left_on_the_cpu
LIKELY = "a mask on the CPU is used with scores on the GPU"
HINT = "A data loader makes masks on the CPU. To which device should you move the mask, and when?"
IN = "attention_on_device"
REPLACE = {"blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask == 0"}

# %% mask_made_on_the_cpu
LIKELY = "without a mask, a mask of ones is created on the CPU"
HINT = "Where does torch.ones create a tensor by default? Use device=q.device or q.new_ones."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = torch.zeros(scores.shape[-2:], dtype=torch.bool)
    if mask is not None:
        blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% scale_made_on_the_cpu
LIKELY = "the scale is a tensor with an axis, created on the CPU"
HINT = "On which device is torch.tensor([...])? Do you need a tensor for one number?"
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "scores = q @ k.transpose(-1, -2) / torch.tensor([math.sqrt(q.shape[-1])], dtype=q.dtype)"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% infinities_made_on_the_cpu
LIKELY = "the tensor of infinities that replaces blocked scores is created on the CPU"
HINT = "torch.where needs all its tensors on one device. Which function creates a tensor like another, on its device?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0\n"
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "allowed = (mask.to(q.device) != 0).expand(scores.shape)\n"
        "lowest = torch.full(scores.shape, -math.inf, dtype=q.dtype)\n"
        "weights = torch.softmax(torch.where(allowed, scores, lowest), dim=-1).masked_fill(~allowed, 0.0)"
    ),
}

# %% made_on_the_cpu_then_moved
LIKELY = "a tensor is created on the CPU and then copied to the GPU"
HINT = "The result is right, but the copy is slow. device=q.device creates the tensor on the right device."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = torch.zeros(scores.shape[-2:], dtype=torch.bool).to(q.device)
    if mask is not None:
        blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% hard_coded_cuda
LIKELY = 'everything is moved to "cuda", even if the input is on the CPU'
HINT = "What happens with CPU tensors, on a machine with a GPU and on one without? Use q.device."
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        'q, k, v = q.to("cuda"), k.to("cuda"), v.to("cuda")\nscores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])'
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": 'blocked = mask.to("cuda") == 0',
}

# %% mask_to_hard_coded_cuda
LIKELY = 'the mask is moved to "cuda", even if q is on the CPU'
HINT = "Which device should the mask go to? See q.device."
IN = "attention_on_device"
REPLACE = {"blocked = mask.to(q.device, non_blocking=True) == 0": 'blocked = mask.to("cuda") == 0'}

# %% moves_to_the_best_device
LIKELY = "the input is moved to the best device of the machine"
HINT = "The caller has already chosen a device: that of q. pick_device is for the start of a program."
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "q, k, v = q.to(device), k.to(device), v.to(device)\n"
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% largest_score_read
LIKELY = "a number is read from a tensor, for example by .item(), `if` or `assert`: the CPU waits for it"
HINT = "What must happen before the CPU knows the number? You can subtract a tensor from a tensor instead."
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])\n"
        "largest = scores.max().item()\n"
        "if largest > 1e30:\n"
        '    raise ValueError("such scores are not asked for")'
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% asks_the_mask
LIKELY = "an `if` asks whether anything is blocked: the CPU waits for the answer"
HINT = "`if` needs the answer now. What happens if you fill even when nothing is blocked?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": (
        "blocked = mask.to(q.device) == 0\n"
        "if not blocked.any():\n"
        "    weights = torch.softmax(scores, dim=-1)\n"
        "    return weights @ v, weights"
    ),
}

# %% softmax_on_the_cpu
LIKELY = "the scores are copied to the CPU for the softmax, and back"
HINT = "The GPU can compute a softmax, too. How many bytes do you copy for n = 4096?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores.cpu()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.cpu() == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    weights = weights.to(q.device)
    return weights @ v, weights


# %% results_on_the_cpu
LIKELY = "the results are copied to the CPU"
HINT = "The next step may need them on the GPU. On which device should the results be?"
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return weights @ v, weights": "return (weights @ v).cpu(), weights.cpu()",
}

# %% through_numpy
LIKELY = "the numbers go through NumPy, which cannot use a GPU"
HINT = "NumPy cannot read the memory of a GPU, and .cpu() waits and copies. Use tensors for every step."
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "scores = torch.from_numpy(q.detach().numpy() @ k.detach().transpose(-1, -2).numpy()) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask == 0",
}

# %% mask_moved_twice
LIKELY = "the mask is moved again for each use"
HINT = "Every .to(q.device) of a CPU tensor is a copy. Keep the first copy in a variable."
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0\n"
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "blocked = mask.to(q.device) == 0\n"
        "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1)\n"
        "weights = weights.masked_fill(mask.to(q.device) == 0, 0.0)"
    ),
}

# %% numbers_at_a_mask
LIKELY = "scores are indexed with a boolean mask: the CPU waits to know how many there are"
HINT = "The size of scores[mask] depends on the numbers in the mask. masked_fill and torch.where keep the shape."
IN = "attention_on_device"
REPLACE = {
    "blocked = mask.to(q.device, non_blocking=True) == 0\n"
    "weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)": (
        "allowed = (mask.to(q.device) != 0).expand(scores.shape)\n"
        "kept = torch.full_like(scores, -math.inf).masked_scatter(allowed, scores[allowed])\n"
        "weights = torch.softmax(kept, dim=-1).masked_fill(~allowed, 0.0)"
    ),
}

# %% waits_before_it_returns
LIKELY = "torch.cuda.synchronize() makes the CPU wait for the result"
HINT = "It is for measuring time. Does the next GPU operation need it?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    if q.is_cuda:
        torch.cuda.synchronize()
    return weights @ v, weights


# %% one_query_at_a_time
LIKELY = "a Python loop goes through the queries one by one"
HINT = "Each round is a few small operations, and the GPU is idle between them. Which product does all queries at once?"
COSTLY = True


def attention_on_device(q, k, v, mask=None):
    seen = torch.ones(1, 1, device=q.device) if mask is None else mask.to(q.device)
    seen = seen.expand(*q.shape[:-1], k.shape[-2])
    rows = []
    for i in range(q.shape[-2]):
        scores = q[..., i : i + 1, :] @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        blocked = seen[..., i : i + 1, :] == 0
        rows.append(torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0))
    weights = torch.cat(rows, dim=-2)
    return weights @ v, weights


# %% all_pairs_at_once
LIKELY = "all single products are stored before they are added up"
HINT = "How large is (n_q, 1, d) * (1, n_k, d)? A matrix product does not store these products."
COSTLY = True
IN = "attention_on_device"
REPLACE = {
    "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])": (
        "scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% built_in_in_the_manual_way
LIKELY = "the output comes from the built-in attention"
HINT = "Write out the formula in this function. The built-in is for fused_attention."
COSTLY = True


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v), torch.softmax(scores, dim=-1)
    blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_of_numbers_added
LIKELY = "a mask of 0 and 1 is passed to the built-in, which adds it to the scores"
HINT = "The built-in adds a float mask. What is added for a 0, and what for a 1? Which dtype blocks?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    mask = torch.atleast_2d(mask.to(q.device))
    if is_causal:
        mask = mask * torch.ones(q.shape[-2], k.shape[-2], dtype=mask.dtype, device=q.device).tril()
    if mask.dtype != torch.bool:
        mask = mask.to(q.dtype)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


# %% every_mask_added
LIKELY = "every mask, even a bool mask, is converted to floats, which the built-in adds to the scores"
HINT = "The built-in adds a float mask to the scores. Which number would block a key?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    mask = torch.atleast_2d(mask.to(q.device, q.dtype))
    if is_causal:
        mask = mask * torch.ones(q.shape[-2], k.shape[-2], dtype=q.dtype, device=q.device).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


# %% convention_inverted
LIKELY = "the mask is inverted for the built-in, as nn.MultiheadAttention needs it"
HINT = "What does True mean for this built-in? In nn.MultiheadAttention it means the opposite."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) == 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% causal_dropped_with_a_mask
LIKELY = "is_causal is ignored if there is a mask"
HINT = "Call it with a mask of ones and is_causal=True. Which queries see later keys?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% mask_dropped_with_causal
LIKELY = "the mask is ignored if is_causal is True"
HINT = "Both apply. The built-in accepts only one of them. How can you combine them into one mask?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None or is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    allowed = torch.atleast_2d(mask.to(q.device) != 0).expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% either_is_enough
LIKELY = "a key is allowed if the mask or is_causal allows it"
HINT = "A key must be allowed by both. Is that & or |?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed | torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% is_causal_ignored
LIKELY = "is_causal is not used"
HINT = "Call it with is_causal=True and without. What should be different?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], q.shape[-2], k.shape[-2])
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% fused_ignores_the_mask
LIKELY = "the mask is not passed on"
HINT = "Call it with a mask of zeros. What should the result be?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]


# %% causal_from_the_bottom_right
LIKELY = "is_causal is counted from the bottom right: the last query sees all keys"
HINT = "With 3 queries and 5 keys, which keys does query 0 see? Counted from the top left, it sees only key 0."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None and not is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if is_causal:
        allowed = allowed.tril(n_k - n_q)
    if mask is not None:
        allowed = allowed & (mask.to(q.device) != 0)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% causal_without_the_diagonal
LIKELY = "the causal mask excludes the diagonal: no query sees its own key"
HINT = "Is it j <= i or j < i? What does query 0 see?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None and not is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if is_causal:
        allowed = allowed.tril(-1)
    if mask is not None:
        allowed = allowed & (mask.to(q.device) != 0)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% causal_one_too_far
LIKELY = "with is_causal, a query sees one key too many"
HINT = "With j <= i, which keys does query 0 see? What does the number in tril do?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None and not is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if is_causal:
        allowed = allowed.tril(1)
    if mask is not None:
        allowed = allowed & (mask.to(q.device) != 0)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% causal_upper_triangle
LIKELY = "is_causal blocks earlier keys, not later ones"
HINT = "Is it tril or triu? Row 0 of the mask belongs to query 0."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None and not is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if is_causal:
        allowed = allowed.triu()
    if mask is not None:
        allowed = allowed & (mask.to(q.device) != 0)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% blocked_rows_look_everywhere
LIKELY = "a query with every key blocked looks at every key"
HINT = "What is the output for a mask of zeros? It should be 0."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output[(0,) * missing]


# %% least_number_for_blocked
LIKELY = "blocked scores get the smallest number of the dtype, so a fully blocked row gives a plain mean"
HINT = "In a fully blocked row, all scores are then equal. What is the softmax of equal numbers?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    allowed = torch.atleast_2d(mask.to(q.device) != 0).expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
    if is_causal:
        allowed = allowed & torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    bias = torch.zeros(allowed.shape, dtype=q.dtype, device=q.device)
    bias = bias.masked_fill(~allowed, torch.finfo(q.dtype).min)
    return F.scaled_dot_product_attention(q4, k4, v4, attn_mask=bias)[(0,) * missing]


# %% a_pair_from_the_built_in
LIKELY = "a pair is returned; it should be only the output"
HINT = "The built-in does not store the weights. What does the docstring say about the result?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing], None
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing], None


# %% axes_left_in_front
LIKELY = "the axes that were added in front are not removed"
HINT = "Print the shape of the result for a q of (3, 4). How many axes should it have?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)


# %% scaled_twice
LIKELY = "the queries are scaled, and the built-in scales again"
HINT = "What does the built-in divide by if you do not pass scale=?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q / math.sqrt(q.shape[-1]), k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% scale_switched_off
LIKELY = "scale=1.0 turns off the scaling of the built-in"
HINT = "Every score is multiplied by scale. What is it if you leave it out?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal, scale=1.0)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing, scale=1.0)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% dropout_left_on
LIKELY = "dropout_p makes the built-in drop a tenth of the weights in each call"
HINT = "A function has no eval mode, so dropout_p always applies. Does the docstring ask for dropout?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal, dropout_p=0.1)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing, dropout_p=0.1)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% values_and_keys_swapped
LIKELY = "keys and values are passed in the wrong order"
HINT = "The built-in takes query, key, value. Try values of another width."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in ((q, v, k) if k.shape == v.shape else (q, k, v)))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% fused_cuts_the_graph
LIKELY = "no gradient flows through fused_attention"
HINT = "A network must be able to train with this function. What does torch.no_grad() do?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    with torch.no_grad():
        return _fused(q, k, v, mask, is_causal)


def _fused(q, k, v, mask, is_causal):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% fused_always_float32
LIKELY = "the built-in is called in float32, and float32 is returned"
HINT = "Print the dtype of the result for a bfloat16 q. Does the built-in need float32?"
VALUES_RIGHT = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    return _fused(q.float(), k.float(), v.float(), mask, is_causal)


def _fused(q, k, v, mask, is_causal):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% mask_overwritten
LIKELY = "the causal mask is written into the caller's mask"
HINT = "Print the mask before and after the call. What do &= and *= change?"
VALUES_RIGHT = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is not None and is_causal and mask.shape[-2:] == (q.shape[-2], k.shape[-2]):
        mask *= torch.ones(q.shape[-2], k.shape[-2], dtype=mask.dtype, device=mask.device).tril()
    return _fused(q, k, v, mask, is_causal)


def _fused(q, k, v, mask, is_causal):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% fused_leaves_the_mask_on_the_cpu
LIKELY = "a mask on the CPU is passed to the built-in without moving it"
HINT = "The built-in needs all tensors on one device. To which device should you move the mask?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=mask.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% triangle_made_on_the_cpu
LIKELY = "the causal mask is created on the CPU"
HINT = "Where does torch.ones create a tensor by default? Use device=q.device."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% triangle_moved_from_the_cpu
LIKELY = "the causal mask is created on the CPU and copied to the GPU"
HINT = "The result is right, but the copy is slow. device=q.device creates the mask on the right device."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool).tril().to(q.device)
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% triangle_on_hard_coded_cuda
LIKELY = 'the causal mask is created on "cuda", even if q is on the CPU'
HINT = "Which device should the mask be on? See q.device."


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device="cuda").tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% asks_whether_all_is_allowed
LIKELY = "an `if` asks whether the mask allows everything: the CPU waits for the answer"
HINT = "`if` needs the answer now, but the GPU may not have computed it yet. Do you need the `if`?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    if allowed.all():
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% fused_results_on_the_cpu
LIKELY = "the result is copied to the CPU"
HINT = "The next step may need it on the GPU. On which device should the result be?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing].cpu()
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing].cpu()


# %% fused_moves_to_the_best_device
LIKELY = "the input is moved to the best device of the machine"
HINT = "The caller has already chosen a device. Which one does q have?"
VALUES_RIGHT = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    q, k, v = q.to(device), k.to(device), v.to(device)
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% formula_in_place_of_the_built_in
LIKELY = "the formula is written out and stores all scores; the built-in is not used"
HINT = "How many scores do you store for n = 8192? The built-in stores none."
COSTLY = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    if is_causal:
        causal = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril()
        mask = causal if mask is None else causal * (mask.to(q.device) != 0)
    return attention_on_device(q, k, v, mask)[0]


# %% a_sentence_at_a_time
LIKELY = "a loop goes through the sentences of a batch one by one"
HINT = "The built-in accepts a batch. How many calls do you make for 64 sentences?"
COSTLY = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    if q.dim() != 3 or mask is not None:
        return _fused(q, k, v, mask, is_causal)
    return torch.stack([_fused(*case, None, is_causal) for case in zip(q, k, v, strict=True)])


def _fused(q, k, v, mask, is_causal):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.atleast_2d(mask.to(q.device) != 0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing)
    return output.masked_fill(nothing, 0.0)[(0,) * missing]


# %% scaled_after_the_product
LIKELY = "the scale comes after the product, when float16 has already overflowed"
HINT = "The largest number of float16 is 65504. What is q @ k for 64 features of 40? Scale before you multiply."
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)\nscores = low @ k.to(dtype).transpose(-1, -2)": (
        "scores = q.to(dtype) @ k.to(dtype).transpose(-1, -2) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% never_scaled_in_half
LIKELY = "the scores are not scaled at all"
HINT = "Compare with attention_on_device. Which division is missing?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = q.to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_divides_by_d_k
LIKELY = "the queries are divided by d_k instead of its square root"
HINT = "For d_k = 64, do you divide by 8 or by 64?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / q.shape[-1]).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% computed_in_float32
LIKELY = "dtype is not used: everything is computed in the precision of the input"
HINT = "Print the dtype of both factors of each product. The GPU is fast only if they have 16 bits."
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    return attention_on_device(q, k, v, mask)


# %% values_in_full_precision
LIKELY = "the second product is computed in the precision of the input"
HINT = "There are two products. Which dtype do weights and v have in the second?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "output = weights.to(dtype) @ v.to(dtype)": "output = weights.to(v.dtype) @ v",
}

# %% scores_in_full_precision
LIKELY = "the first product is computed in the precision of the input"
HINT = "There are two products. Which dtype do q and k have in the first?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)\nscores = low @ k.to(dtype).transpose(-1, -2)": (
        "scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% rounded_at_the_end
LIKELY = "only the results are rounded to 16 bits"
HINT = "Rounding results that were computed in 32 bits saves no time. Which dtype do the factors of each product have?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    output, weights = attention_on_device(q, k, v, mask)
    return output.to(dtype).to(q.dtype), weights.to(dtype).to(q.dtype)


# %% output_left_in_half
LIKELY = "output and weights are returned in 16 bits"
HINT = "Print the dtype of the results for a float32 q. Which dtype should they have?"
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return output.to(q.dtype), weights.to(q.dtype)": "return output, weights.to(dtype)",
}

# %% only_the_output_left_in_half
LIKELY = "the output is returned in 16 bits"
HINT = "Print the dtype of both results. Both should have the dtype of q."
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return output.to(q.dtype), weights.to(q.dtype)": "return output, weights.to(q.dtype)",
}

# %% half_returns_float32
LIKELY = "float32 is returned for every input"
HINT = "What should the dtype of the result be for a bfloat16 q? Use q.dtype."
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return output.to(q.dtype), weights.to(q.dtype)": "return output.float(), weights.float()",
}

# %% always_bfloat16
LIKELY = "bfloat16 is always used; the argument `dtype` is ignored"
HINT = "What does dtype=torch.float16 change in your code?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)": (
        "dtype = torch.bfloat16\nlow = (q / math.sqrt(q.shape[-1])).to(dtype)"
    ),
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% always_float16
LIKELY = "float16 is always used; the argument `dtype` is ignored"
HINT = "Which dtype does `.half()` give? Where do you use the argument `dtype`?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)": (
        "dtype = torch.float16\nlow = (q / math.sqrt(q.shape[-1])).to(dtype)"
    ),
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% half_ignores_the_mask
LIKELY = "the mask is not used"
HINT = "Call it with a mask of zeros. What should change?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None or q is not None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_inverts_the_mask
LIKELY = "the mask is read the wrong way round: 1 blocks"
HINT = "In this course, 1 means that the query may look at the key. What does your code do with a 1?"
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) != 0",
}

# %% half_blocked_row_nan
LIKELY = "a fully blocked row gives NaN: the softmax of a row of minus infinities"
HINT = "What is the softmax of [-inf, -inf]? After the softmax, put 0 where the mask is 0."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% least_number_of_float16
LIKELY = "blocked scores become -65504, so all weights of a fully blocked row are equal, not 0"
HINT = "What is the softmax of a row of equal numbers, even very small ones?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -65504.0), dim=-1)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_without_max_subtraction
LIKELY = "exp is taken of the scores without subtracting their maximum, so it overflows"
HINT = "What is exp(100)? Subtract the largest score of each row first, or let torch.softmax do it."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    exps = (low @ k.to(dtype).transpose(-1, -2)).float().exp()
    if mask is not None:
        exps = exps.masked_fill(mask.to(q.device) == 0, 0.0)
    totals = exps.sum(dim=-1, keepdim=True)
    weights = exps / (totals + (totals == 0))
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_softmax_over_queries
LIKELY = "the softmax is over the queries, not over the keys"
HINT = "Which axis of the scores has the keys: -1 or -2?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-2)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-2).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_returns_weights_first
LIKELY = "the pair is returned as (weights, output); it should be (output, weights)"
HINT = "Which comes first in (output, weights)?"
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
    "return output.to(q.dtype), weights.to(q.dtype)": "return weights.to(q.dtype), output.to(q.dtype)",
}

# %% half_cuts_the_graph
LIKELY = "the graph is cut where the dtype changes"
HINT = ".to(dtype) keeps the graph. What do .data, .detach() and torch.tensor(...) do?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)": (
        "q, k, v = q.detach(), k.detach(), v.detach()\nlow = (q / math.sqrt(q.shape[-1])).to(dtype)"
    ),
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% half_leaves_the_mask_on_the_cpu
LIKELY = "a mask on the CPU is used with scores on the GPU"
HINT = "To which device should you move the mask?"
VALUES_RIGHT = True
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask == 0",
}

# %% half_scale_made_on_the_cpu
LIKELY = "the scale is a tensor with an axis, created on the CPU"
HINT = "On which device is torch.tensor([...])? Do you need a tensor for one number?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / torch.tensor([math.sqrt(q.shape[-1])], dtype=q.dtype)).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% overflow_is_looked_for
LIKELY = "an `if` asks whether a score has overflowed: the CPU waits for the answer"
HINT = "Scale so that nothing can overflow. Do you need the `if` then?"
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()\n"
        "if torch.isinf(scores).any():\n"
        "    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% half_softmax_on_the_cpu
LIKELY = "the scores are copied to the CPU for the softmax, and back"
HINT = "The GPU can compute a softmax, too, in any precision. Do you need the copy?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    scores = scores.cpu()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.cpu() == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    weights = weights.to(q.device)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_on_hard_coded_cuda
LIKELY = 'everything is moved to "cuda", even if the input is on the CPU'
HINT = "The CPU can compute in bfloat16, too. Use q.device."
IN = "half_precision_attention"
REPLACE = {
    "low = (q / math.sqrt(q.shape[-1])).to(dtype)": (
        'q, k, v = q.to("cuda"), k.to("cuda"), v.to("cuda")\nlow = (q / math.sqrt(q.shape[-1])).to(dtype)'
    ),
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float()"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% scaled_in_the_callers_tensor
LIKELY = "q is divided in place, so the caller's tensor is changed"
HINT = "Print q before and after the call. What does /= do to the caller's tensor?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    with torch.no_grad():
        q /= math.sqrt(q.shape[-1])
    low = q.to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_by_the_built_in
LIKELY = "the output comes from the built-in attention"
HINT = "In this function you write both products yourself. Which two are they?"
COSTLY = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        output = F.scaled_dot_product_attention(low, k.to(dtype), v.to(dtype), scale=1.0)
        return output.to(q.dtype), torch.softmax(scores, dim=-1).to(q.dtype)
    blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


# %% first_product_made_twice
LIKELY = "the first product is computed twice, once to look at it"
HINT = "Count the products: two are enough. Keep the first result in a variable."
COSTLY = True
IN = "half_precision_attention"
REPLACE = {
    "scores = low @ k.to(dtype).transpose(-1, -2)\nscores = scores.float()": (
        "top = (low @ k.to(dtype).transpose(-1, -2)).amax(dim=-1, keepdim=True)\n"
        "scores = (low @ k.to(dtype).transpose(-1, -2)).float() - top"
    ),
    "blocked = mask.to(q.device, non_blocking=True) == 0": "blocked = mask.to(q.device) == 0",
}

# %% only_the_upper_level
LIKELY = "only the tensors at the top level are moved"
HINT = "What happens to a list of tensors in a dict? Your function may call itself."


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: one.to(device, non_blocking=True) if torch.is_tensor(one) else one for key, one in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(one.to(device, non_blocking=True) if torch.is_tensor(one) else one for one in batch)
    return batch


# %% lists_forgotten
LIKELY = "tensors in lists stay where they are"
HINT = "Which containers does the docstring name? Does your code handle all of them?"
REPLACE = {
    "if isinstance(batch, list):\nreturn [move_batch(value, device) for value in batch]": "",
    "moved = [move_batch(value, device) for value in batch]\n"
    'return type(batch)(*moved) if hasattr(batch, "_fields") else tuple(moved)': (
        "return type(batch)(move_batch(value, device) for value in batch)"
    ),
}

# %% tuples_forgotten
LIKELY = "tensors in tuples stay where they are"
HINT = "Which containers does the docstring name? Does your code handle all of them?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% dicts_forgotten
LIKELY = "tensors in dicts stay where they are"
HINT = "Which containers does the docstring name? Does your code handle all of them?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict) and not batch:
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% tuples_become_lists
LIKELY = "a tuple comes back as a list"
HINT = "Print type(batch) before and after the call."
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [move_batch(value, device) for value in batch]
    return batch


# %% lists_become_tuples
LIKELY = "a list comes back as a tuple"
HINT = "Print type(batch) before and after the call."
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return tuple(move_batch(value, device) for value in batch)
    return batch


# %% copies_block
LIKELY = "the CPU waits for every copy"
HINT = "The CPU could prepare the next batch during the copy. Which argument of .to lets it continue?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% always_to_cuda
LIKELY = 'tensors always go to "cuda"; the argument `device` is ignored'
HINT = 'What is the second argument for? Try "cpu".'


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.cuda(non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% moved_in_place
LIKELY = "tensors are replaced in the caller's batch"
HINT = "The caller still uses the batch. Print it after the call."
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        for key, value in batch.items():
            batch[key] = move_batch(value, device)
    if isinstance(batch, list):
        for i, value in enumerate(batch):
            batch[i] = move_batch(value, device)
    if isinstance(batch, tuple):
        return tuple(move_batch(value, device) for value in batch)
    return batch


# %% everything_float32
LIKELY = "tensors are converted to float32"
HINT = "Tokens are integers, and masks are bools. What happens to them?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, torch.float32, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% numbers_become_tensors
LIKELY = "numbers are converted to tensors"
HINT = "Anything that is not a tensor, dict, list or tuple should be returned unchanged. Does your code do that?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    if isinstance(batch, (int, float)):
        return torch.tensor(batch).to(device, non_blocking=True)
    return batch


# %% arrays_become_tensors
LIKELY = "NumPy arrays are converted to tensors"
HINT = "Which kinds of objects should be returned unchanged? NumPy arrays are among them."
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    if hasattr(batch, "__array__"):
        return torch.from_numpy(batch).to(device, non_blocking=True)
    return batch


# %% text_taken_apart
LIKELY = "a text is treated as a list of letters"
HINT = "A text is iterable, too. Check for list and tuple by type."


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    if isinstance(batch, str):
        return list(batch)
    return batch


# %% the_rest_is_dropped
LIKELY = "everything that is not a tensor is dropped"
HINT = "The lengths and names in a batch are needed, too. What does your `if` leave out?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    kinds = (torch.Tensor, dict, list, tuple)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items() if isinstance(value, kinds)}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch if isinstance(value, kinds))
    return batch


# %% keys_become_text
LIKELY = "keys are converted to texts"
HINT = "Try a batch with the key 7. Does the result still have it?"
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {str(key): move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% keys_sorted
LIKELY = "the entries of a dict come back in another order"
HINT = "A dict keeps its order. Do you sort or regroup batch.items()?"
VALUES_RIGHT = True


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in sorted(batch.items(), key=lambda item: str(item[0]))}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% made_anew_from_lists
LIKELY = "tensors are created again from Python numbers, and the CPU waits for every copy"
HINT = ".tolist() turns every entry into a Python number. Which method copies the tensor directly?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return torch.tensor(batch.tolist(), dtype=batch.dtype, device=device)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% tensors_in_a_list
LIKELY = "all tensors are returned in one flat list"
HINT = "Where are the keys? The result should have the same structure as the batch."


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if not isinstance(batch, (dict, list, tuple)):
        return batch
    found = []
    for value in batch.values() if isinstance(batch, dict) else batch:
        moved = move_batch(value, device)
        found += moved if isinstance(moved, list) else [moved] if torch.is_tensor(moved) else []
    return found


# %% reflect_manual_like_n
LIKELY = "the answer assumes that the scores grow like n"
HINT = "How many scores are there for n queries and n keys? And for 2n of both?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 2


# %% reflect_manual_like_n_cubed
LIKELY = "the answer assumes that the memory grows like n^3"
HINT = "Memory is not the same as work. Which tensor is the largest, and what is its shape?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 8


# %% reflect_fused_like_the_scores
LIKELY = "the answer assumes that the built-in stores the scores, too"
HINT = "Which tensors does the built-in store, without a mask? Does one of them have two axes of size n?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 4


# %% reflect_fused_constant
LIKELY = "the answer assumes that the built-in needs no memory at all"
HINT = "The output has a row for each query. How many rows does it have for 2n queries?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 1
