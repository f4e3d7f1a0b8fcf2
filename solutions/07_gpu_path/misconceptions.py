"""The known wrong ways of 07_gpu_path: one cell each, laid over the solution to make a wrong submission."""

import math

import torch
import torch.nn.functional as F
from gpu_path import attention_on_device  # the solution, which each is laid over

# %% pick_always_cuda
LIKELY = "cuda is returned whether there is a GPU or not"
HINT = "On which of your machines would this program not even start? Ask torch.cuda.is_available() first."


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cuda")


# %% pick_without_fallback
LIKELY = "what was asked for is returned, though the machine may not have it"
HINT = 'torch.device("cuda") is only a name: making one does not ask whether there is a GPU. Who asks?'


def pick_device(prefer="cuda"):
    try:
        return torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None


# %% pick_always_cpu
LIKELY = "the CPU is returned even where there is a GPU"
HINT = "What does your function return on a machine with a GPU? Follow the condition with is_available() true."


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cpu")


# %% pick_ignores_the_wish
LIKELY = "the GPU is taken even if the CPU was asked for"
HINT = 'Somebody wants to compare with the CPU and calls pick_device("cpu"). Where does prefer come in?'


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


# %% pick_returns_a_name
LIKELY = "a name is returned, not a torch.device"
HINT = "Print repr(pick_device()). A name has no .type that others could ask for."


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if device.type == "cpu" or (device.type == "cuda" and (device.index or 0) < torch.cuda.device_count()):
        return str(device)
    return "cpu"


# %% pick_takes_unknown_for_the_cpu
LIKELY = "a name that is none is replaced by the CPU without a word"
HINT = 'Somebody mistypes "cuda0" and waits for hours: the program runs on the CPU. What should it do instead?'


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        return torch.device("cpu")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_leaves_the_runtime_error
LIKELY = "a name that is none raises the RuntimeError of torch.device; a ValueError is asked for"
HINT = 'What does torch.device("gpu") raise? Catch it, and raise what the docstring asks for.'


def pick_device(prefer="cuda"):
    device = torch.device(prefer)
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_error_without_the_name
LIKELY = "the ValueError does not say which name it is about"
HINT = "Imagine reading your message in a long log. Which word would you want to see?"


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError("there is no such device") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < there.get(device.type, 0) else torch.device("cpu")


# %% pick_drops_the_number
LIKELY = "cuda:0 was asked for, and cuda without a number is returned"
HINT = "A machine may have eight GPUs. What is left of the number that was asked for?"
VALUES_RIGHT = True


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return torch.device(device.type if (device.index or 0) < there.get(device.type, 0) else "cpu")


# %% pick_does_not_count
LIKELY = "a GPU by a number that is not there is returned all the same"
HINT = "is_available() says that there is a GPU, not how many. What does torch.cuda.device_count() say?"
VALUES_RIGHT = True


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return device if there.get(device.type, False) else torch.device("cpu")


# %% pick_knows_cuda_alone
LIKELY = "only for cuda it is asked whether it is there: mps is returned on every machine"
HINT = 'What does pick_device("mps") return on your machine, and what happens when a tensor goes there?'
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
LIKELY = 'only the word "cuda" is understood: cuda:0, or a torch.device, gives the CPU'
HINT = 'Compare torch.device("cuda") == "cuda". What has a device that a text has not?'


def pick_device(prefer="cuda"):
    try:
        torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"unknown device {prefer!r}") from None
    if prefer == "cuda" and torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


# %% pick_the_other_way_round
LIKELY = "the condition is the wrong way round: the GPU where there is none"
HINT = "Read your condition aloud for a machine without a GPU."


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
HINT = "Compare your scores for d_k = 4 and d_k = 400. Which softmax is nearly all on one key?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% divides_by_d_k
LIKELY = "the scores are divided by d_k instead of its square root"
HINT = "For d_k = 64, by what do you divide: 8 or 64?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / q.shape[-1]
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% scaled_by_the_number_of_keys
LIKELY = "the scores are divided by the root of the number of keys"
HINT = "Which axis of q has the size d_k? With as many keys as features nobody would notice."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-2])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% softmax_over_queries
LIKELY = "the softmax is taken over the queries"
HINT = "Which axis of the scores are the keys in: -1 or -2? The weights of one query should sum to 1."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-2)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-2).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% softmax_over_dim_one
LIKELY = "the softmax is taken over dim 1, whatever the number of axes"
HINT = "For scores of (2, 3, 5, 5), what does dim=1 run over? Count from the end."


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
LIKELY = "the mask is taken the other way round: 1 blocks"
HINT = "In this course 1 means that a key may be attended to. What does your == or ~ do to a 1?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) != 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_after_softmax
LIKELY = "weights are put to 0 after the softmax, and do not sum to 1 any more"
HINT = "Add up the weights of a row with a blocked key. Who has the share that it lost?"


def attention_on_device(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask.to(q.device, q.dtype)
    return weights @ v, weights


# %% mask_multiplies_scores
LIKELY = "the scores are multiplied by the mask: a blocked key has the score 0, not minus infinity"
HINT = "What is exp(0)? How much weight does a key with the score 0 get?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores * mask.to(q.device, q.dtype)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% fills_minus_1e9
LIKELY = "blocked scores are filled with -1e9, so that a fully blocked row becomes even"
HINT = "What is the softmax of a row of equal numbers, however small they are? And what if a score is -2e10?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -1e9), dim=-1)
    return weights @ v, weights


# %% adds_minus_1e9
LIKELY = "-1e9 is added to blocked scores, so that a fully blocked row keeps its weights"
HINT = "What is left of the softmax of a row when the same number is added everywhere?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + (1 - mask.to(q.device, q.dtype)) * -1e9
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% blocked_row_nan
LIKELY = "a row of minus infinities comes out of the softmax as NaN"
HINT = "What is the softmax of [-inf, -inf]? Put 0 where the mask is 0, once more, after it."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1)
    return weights @ v, weights


# %% nan_gradient_of_added_infinity
LIKELY = "minus infinity is added to the scores: the weights are mended, but the gradient is NaN"
HINT = "Where a score is filled, its gradient is 0. Where something is added, the gradient comes through, NaN and all."
VALUES_RIGHT = True


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    return weights @ v, weights


# %% no_max_subtraction
LIKELY = "the exponentials are taken of the scores as they are, and overflow"
HINT = "What is exp(100) in float32? Take away the largest score of each row first, or let torch.softmax do it."


def attention_on_device(q, k, v, mask=None):
    exps = torch.exp(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]))
    if mask is not None:
        exps = exps.masked_fill(mask.to(q.device) == 0, 0.0)
    totals = exps.sum(dim=-1, keepdim=True)
    weights = exps / (totals + (totals == 0))
    return weights @ v, weights


# %% weights_returned_first
LIKELY = "the pair is returned the other way round"
HINT = "Which comes first in (output, weights)?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights, weights @ v


# %% output_alone
LIKELY = "the output is returned alone"
HINT = "The docstring asks for a pair. fused_attention is the one without weights."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v


# %% a_list_of_two
LIKELY = "output and weights are returned in a list"
HINT = "The docstring asks for a tuple: return output, weights."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return [weights @ v, weights]


# %% keys_for_values
LIKELY = "the weights are applied to the keys instead of the values"
HINT = "Which of q, k and v has the width d_v?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ k, weights


# %% graph_cut
LIKELY = "the graph is cut: no gradient reaches q and k"
HINT = "What do .detach(), .data and torch.no_grad() leave behind?"


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
LIKELY = "the weights that are returned are cut off from the graph"
HINT = "Who learns from the weights themselves gets no gradient. Return them as they are."


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
LIKELY = "q is divided in place: it is another tensor afterwards"
HINT = "Print q before and after the call. What does /= do to the tensor of the caller?"


def attention_on_device(q, k, v, mask=None):
    with torch.no_grad():
        q /= math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-1, -2)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% always_float32
LIKELY = "everything is computed and returned in float32"
HINT = "Print the dtype for q in float64. Which line of yours names float32?"
VALUES_RIGHT = True


def attention_on_device(q, k, v, mask=None):
    q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_left_on_the_cpu
LIKELY = "a mask that was given on the CPU meets scores on the GPU"
HINT = "The data loader made the mask, and nobody moved it. Where should it be moved to, and when?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_made_on_the_cpu
LIKELY = "where there is no mask, one of ones is made on the CPU"
HINT = "Where does torch.ones make a tensor if it is not told? Say device=q.device, or ask new_ones of q."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = torch.zeros(scores.shape[-2:], dtype=torch.bool)
    if mask is not None:
        blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% scale_made_on_the_cpu
LIKELY = "the scale is a tensor with an axis, made on the CPU"
HINT = "Where does torch.tensor([...]) live? A number needs no tensor."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / torch.tensor([math.sqrt(q.shape[-1])], dtype=q.dtype)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% infinities_made_on_the_cpu
LIKELY = "the infinities that blocked scores are replaced by are made on the CPU"
HINT = "torch.where wants all its tensors on one device. What makes a tensor like another, device and all?"


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        allowed = (mask.to(q.device) != 0).expand(scores.shape)
        lowest = torch.full(scores.shape, -math.inf, dtype=q.dtype)
        weights = torch.softmax(torch.where(allowed, scores, lowest), dim=-1).masked_fill(~allowed, 0.0)
    return weights @ v, weights


# %% made_on_the_cpu_then_moved
LIKELY = "a tensor is made on the CPU and then copied to the GPU"
HINT = "It is right, and slow: why make it where it is not needed? device=q.device makes it there from the start."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = torch.zeros(scores.shape[-2:], dtype=torch.bool).to(q.device)
    if mask is not None:
        blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% hard_coded_cuda
LIKELY = 'everything is moved to "cuda", whatever device the input is on'
HINT = "Who calls it with tensors of the CPU gets something of the GPU back, or an error where there is none. Ask q."


def attention_on_device(q, k, v, mask=None):
    q, k, v = q.to("cuda"), k.to("cuda"), v.to("cuda")
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to("cuda") == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_to_hard_coded_cuda
LIKELY = 'the mask is moved to "cuda", also where q is on the CPU'
HINT = "Which device should the mask go to? q knows."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to("cuda") == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% moves_to_the_best_device
LIKELY = "the input is moved to the best device there is"
HINT = "The caller has chosen a device already. Follow q; pick_device is called once, at the start of a program."


def attention_on_device(q, k, v, mask=None):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    q, k, v = q.to(device), k.to(device), v.to(device)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% largest_score_read
LIKELY = "a number is read out of a tensor, be it by .item(), `if` or `assert`: the CPU waits for it"
HINT = "What does a line that wants a number have to wait for? A tensor can be subtracted from a tensor."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    largest = scores.max().item()
    if largest > 1e30:
        raise ValueError("such scores are not asked for")
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% asks_the_mask
LIKELY = "it is asked whether anything is blocked: for the answer, the CPU waits"
HINT = "`if` needs the answer now. Filling where nothing is blocked costs little, and waits for nothing."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        if not blocked.any():
            weights = torch.softmax(scores, dim=-1)
            return weights @ v, weights
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% softmax_on_the_cpu
LIKELY = "the scores go to the CPU for the softmax, and come back"
HINT = "The GPU has a softmax, too. How many bytes go back and forth for n = 4096?"


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
LIKELY = "the results are brought back to the CPU"
HINT = "Whoever goes on computing would have to move them again. Let them decide when to fetch what."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights @ v).cpu(), weights.cpu()


# %% through_numpy
LIKELY = "the numbers go through NumPy, which knows no GPU"
HINT = "NumPy cannot read the memory of a GPU, and .cpu() is a wait and a copy. Stay with tensors."


def attention_on_device(q, k, v, mask=None):
    scores = torch.from_numpy(q.detach().numpy() @ k.detach().transpose(-1, -2).numpy()) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_moved_twice
LIKELY = "the mask is moved for each use of it"
HINT = "Every .to(q.device) of a CPU tensor is a copy. Keep what the first one returns."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1)
        weights = weights.masked_fill(mask.to(q.device) == 0, 0.0)
    return weights @ v, weights


# %% numbers_at_a_mask
LIKELY = "scores are read at a boolean mask: how many there are, the CPU has to wait for"
HINT = "The size of scores[mask] depends on the numbers in the mask. masked_fill and torch.where keep the shape."


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        allowed = (mask.to(q.device) != 0).expand(scores.shape)
        kept = torch.full_like(scores, -math.inf).masked_scatter(allowed, scores[allowed])
        weights = torch.softmax(kept, dim=-1).masked_fill(~allowed, 0.0)
    return weights @ v, weights


# %% waits_before_it_returns
LIKELY = "torch.cuda.synchronize() makes the CPU wait for the result"
HINT = "It is for clocks. The next operation on the GPU waits for this one by itself."


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
LIKELY = "queries are taken one by one, in a Python loop"
HINT = "Each round is a handful of small operations, and a GPU is idle between them. One product does them all."
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
LIKELY = "all products of entries are stored before they are added up"
HINT = "How large is (n_q, 1, d) * (1, n_k, d)? A product of matrices adds up as it goes."
COSTLY = True


def attention_on_device(q, k, v, mask=None):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% built_in_in_the_manual_way
LIKELY = "the output comes from the built-in"
HINT = "This function is the formula, written out. The built-in has a function of its own here."
COSTLY = True


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v), torch.softmax(scores, dim=-1)
    blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_of_numbers_added
LIKELY = "a mask of 0 and 1 is handed to the built-in, which adds it to the scores"
HINT = "The built-in adds a mask of floats. What does a key get for a 0, and what for a 1? Hand it bools."


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
LIKELY = "every mask, also one of bools, is turned to floats, which the built-in adds to the scores"
HINT = "What does the built-in do with a mask of floats? It adds. What would have to stand where a key is blocked?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    mask = torch.atleast_2d(mask.to(q.device, q.dtype))
    if is_causal:
        mask = mask * torch.ones(q.shape[-2], k.shape[-2], dtype=q.dtype, device=q.device).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


# %% convention_inverted
LIKELY = "the mask is turned round for the built-in, as nn.MultiheadAttention would want it"
HINT = (
    "For this built-in, True means that a key takes part, as in this course. nn.MultiheadAttention means the opposite."
)


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
LIKELY = "is_causal is dropped where a mask is given"
HINT = "Call it with a mask of ones and is_causal=True. Which queries see what comes after them?"


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
LIKELY = "the mask is dropped where is_causal is asked for"
HINT = "Both hold. The built-in wants one or the other, so make one mask of the two."


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
HINT = "Both must hold: is that & or |?"


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
HINT = "Call it with is_causal=True and without. What should differ?"


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
LIKELY = "the mask is not handed on"
HINT = "Call it with a mask of zeros. What should come out?"


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]


# %% causal_from_the_bottom_right
LIKELY = "is_causal is counted from the bottom right: the last query sees all keys"
HINT = "With 3 queries and 5 keys, which keys does query 0 see? Counted from the top left it is key 0 alone."


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
LIKELY = "is_causal leaves out the diagonal: no query sees its own key"
HINT = "j <= i, or j < i? What does query 0 see?"


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
HINT = "j <= i: which keys does query 0 see? What does the number in tril do?"


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
LIKELY = "is_causal blocks what came before, not what comes after"
HINT = "tril or triu? Row 0 of the mask belongs to query 0."


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
LIKELY = "a query that may look nowhere looks everywhere"
HINT = "What comes out for a mask of zeros? It should be 0."


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
LIKELY = "blocked scores get the least number there is, so that a fully blocked row becomes a plain mean"
HINT = "In a row of nothing but least numbers, all are equal. What is the softmax of equal numbers?"


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
LIKELY = "a pair is returned, though there are no weights"
HINT = "The built-in never writes the weights down, so there is nothing to return but the output."


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
LIKELY = "the axes that were put in front are left there"
HINT = "Print the shape of the result for q of (3, 4). How many axes should it have?"


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
LIKELY = "the queries are scaled, and the built-in scales once more"
HINT = "What does the built-in divide by if nothing is said? Leave it to it, or say scale=."


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
LIKELY = "the built-in is told to divide by nothing"
HINT = "scale=1.0 is what every score is multiplied by. What is it if you leave it out?"


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
LIKELY = "the built-in drops a tenth of the weights each time"
HINT = "dropout_p is not off in eval mode by itself: a function has no mode. What is asked for here?"


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
LIKELY = "keys and values are handed over in the wrong order"
HINT = "The built-in takes query, key, value. With keys as wide as values nobody would complain."


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
HINT = "It may be quick without gradients, but nobody can train with it. What does torch.no_grad() do?"


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
HINT = "Print the dtype of the result for q in bfloat16. The built-in takes it as it is."
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
LIKELY = "the causal mask is written into the mask of the caller"
HINT = "Print the mask before and after. What do &= and *= change?"
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
LIKELY = "a mask that was given on the CPU is handed to the built-in as it is"
HINT = "The built-in wants all of it on one device. Where should the mask be moved to?"


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
LIKELY = "the causal mask is made on the CPU"
HINT = "Where does torch.ones make a tensor if it is not told? Say device=q.device."


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
LIKELY = "the causal mask is made on the CPU and copied to the GPU"
HINT = "It is right, and slow. device=q.device makes it there from the start."


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
LIKELY = 'the causal mask is made on "cuda", also where q is on the CPU'
HINT = "Which device should the mask be on? q knows."


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
LIKELY = "it is asked whether the mask allows everything: for the answer, the CPU waits"
HINT = "`if` needs the answer now, and the GPU has not come to it yet."


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
LIKELY = "the result is brought back to the CPU"
HINT = "Whoever goes on computing would have to move it again."


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
LIKELY = "the input is moved to the best device there is"
HINT = "The caller has chosen a device already. Follow q."
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
LIKELY = "the formula is written out, scores and all, in place of the built-in"
HINT = "What is stored for n = 8192? This function is there so that it is not."
COSTLY = True


def fused_attention(q, k, v, mask=None, is_causal=False):
    if is_causal:
        causal = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril()
        mask = causal if mask is None else causal * (mask.to(q.device) != 0)
    return attention_on_device(q, k, v, mask)[0]


# %% a_sentence_at_a_time
LIKELY = "the sentences of a batch are taken one by one"
HINT = "The built-in takes a whole batch. How many calls do you make for 64 sentences?"
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
LIKELY = "the scale comes after the product, where float16 has overflowed already"
HINT = "The largest number of float16 is 65504. What is q @ k for 64 features of 40? Scale before you multiply."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = q.to(dtype) @ k.to(dtype).transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% never_scaled_in_half
LIKELY = "the scores are not scaled at all"
HINT = "Compare with attention_on_device: which division is missing?"


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
HINT = "For d_k = 64, by what do you divide: 8 or 64?"


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
HINT = "Print the dtype of both factors of each product. The GPU is quick only if they have 16 bits."
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    return attention_on_device(q, k, v, mask)


# %% values_in_full_precision
LIKELY = "the second product is computed in the precision of the input"
HINT = "There are two products. Which dtype do weights and v have in the second?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(v.dtype) @ v
    return output.to(q.dtype), weights.to(q.dtype)


# %% scores_in_full_precision
LIKELY = "the first product is computed in the precision of the input"
HINT = "There are two products. Which dtype do q and k have in the first?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% rounded_at_the_end
LIKELY = "only the results are rounded to 16 bits"
HINT = "Rounding what has been computed in 32 bits saves no time. Turn the factors before each product."
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    output, weights = attention_on_device(q, k, v, mask)
    return output.to(dtype).to(q.dtype), weights.to(dtype).to(q.dtype)


# %% output_left_in_half
LIKELY = "output and weights are left in 16 bits"
HINT = "Print the dtype of what comes out for q in float32. Whoever goes on computing expects it as it came in."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output, weights.to(dtype)


# %% only_the_output_left_in_half
LIKELY = "the output is left in 16 bits"
HINT = "Both parts of the pair have the dtype of q."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output, weights.to(q.dtype)


# %% half_returns_float32
LIKELY = "float32 is returned, whatever the input was"
HINT = "What should come out for q in bfloat16? Ask q for its dtype."
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.float(), weights.float()


# %% always_bfloat16
LIKELY = "it is bfloat16 whatever dtype was asked for"
HINT = "What does dtype=torch.float16 change in your code?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    dtype = torch.bfloat16
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% always_float16
LIKELY = "it is float16 whatever dtype was asked for"
HINT = "What does the default, bfloat16, change in your code? `.half()` is float16."
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    dtype = torch.float16
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


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
LIKELY = "the mask is taken the other way round: 1 blocks"
HINT = "In this course 1 means that a key may be attended to."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) != 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_blocked_row_nan
LIKELY = "a row of minus infinities comes out of the softmax as NaN"
HINT = "Put 0 where the mask is 0, once more, after the softmax."


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
LIKELY = "blocked scores are filled with -65504, so that a fully blocked row becomes even"
HINT = "A row of equal numbers is even after a softmax, however small they are."


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
LIKELY = "the exponentials are taken of the scores as they are, and overflow"
HINT = "What is exp(100)? Take away the largest score of each row first, or let torch.softmax do it."


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
LIKELY = "the softmax is taken over the queries"
HINT = "Which axis of the scores are the keys in: -1 or -2?"


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
LIKELY = "the pair is returned the other way round"
HINT = "Which comes first in (output, weights)?"


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return weights.to(q.dtype), output.to(q.dtype)


# %% half_cuts_the_graph
LIKELY = "the graph is cut where the dtype changes"
HINT = ".to(dtype) keeps the graph. What do .data, .detach() and torch.tensor(...) do?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    q, k, v = q.detach(), k.detach(), v.detach()
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_leaves_the_mask_on_the_cpu
LIKELY = "a mask that was given on the CPU meets scores on the GPU"
HINT = "Where should the mask be moved to?"
VALUES_RIGHT = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_scale_made_on_the_cpu
LIKELY = "the scale is a tensor with an axis, made on the CPU"
HINT = "Where does torch.tensor([...]) live? A number needs no tensor."


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
LIKELY = "it is asked whether a score has overflowed: for the answer, the CPU waits"
HINT = "If nothing can overflow, nobody has to ask."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if torch.isinf(scores).any():
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_softmax_on_the_cpu
LIKELY = "the scores go to the CPU for the softmax, and come back"
HINT = "The GPU has a softmax, too, in any precision."


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
LIKELY = 'everything is moved to "cuda", whatever device the input is on'
HINT = "On the CPU there is bfloat16, too. Ask q for its device."


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    q, k, v = q.to("cuda"), k.to("cuda"), v.to("cuda")
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% scaled_in_the_callers_tensor
LIKELY = "q is divided in place: it is another tensor afterwards"
HINT = "Print q before and after the call. What does /= do to the tensor of the caller?"
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
LIKELY = "the output comes from the built-in"
HINT = "This function is about what happens inside. Write both products yourself."
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
HINT = "Count the products: two are enough. Keep what you have computed."
COSTLY = True


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    top = (low @ k.to(dtype).transpose(-1, -2)).amax(dim=-1, keepdim=True)
    scores = (low @ k.to(dtype).transpose(-1, -2)).float() - top
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


# %% only_the_upper_level
LIKELY = "only the tensors of the upper level are moved"
HINT = "What happens to a list of tensors in a dict? A function may call itself."


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
HINT = "Which kinds of containers does the docstring name? Count your branches."


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% tuples_forgotten
LIKELY = "tensors in tuples stay where they are"
HINT = "Which kinds of containers does the docstring name? Count your branches."


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
HINT = "Which kinds of containers does the docstring name? Count your branches."


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
HINT = "What does type(batch) say before, and after?"
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
HINT = "What does type(batch) say before, and after?"
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
HINT = "The CPU could prepare the next batch meanwhile. Which argument of .to lets it go on?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% always_to_cuda
LIKELY = 'tensors go to "cuda", whatever device was asked for'
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
LIKELY = "tensors are replaced in the batch that was given"
HINT = "Whoever gave you the batch still has it. Print it after the call."
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
LIKELY = "tensors are turned to float32 on the way"
HINT = "Tokens are numbers of words, and masks are bools. What becomes of them?"


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, torch.float32, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% numbers_become_tensors
LIKELY = "numbers are made tensors"
HINT = "What is neither a tensor nor a dict, list or tuple stays what it is."


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
LIKELY = "NumPy arrays are made tensors"
HINT = "What is neither a tensor nor a dict, list or tuple stays what it is, NumPy arrays among them."
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
LIKELY = "a text is taken for a list, and taken apart"
HINT = "A text can be gone through, letter by letter. Ask for list and tuple by name."


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
LIKELY = "what is no tensor is dropped"
HINT = "The lengths and names of a batch are needed, too. What stands in your if?"


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
LIKELY = "keys are made texts"
HINT = "batch[7] was there before. Is it there afterwards?"
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
HINT = "Go through batch.items() as it is: a dict remembers its order."
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
LIKELY = "tensors are made anew of Python numbers, and every copy blocks"
HINT = ".tolist() goes through all numbers, one by one, in Python. .to copies them as they are."


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
HINT = "Where have the keys gone? The result looks like the batch, but for where its tensors live."


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
LIKELY = "the scores are taken to grow like n"
HINT = "How many scores are there for n queries and n keys? And for 2n of both?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 2


# %% reflect_manual_like_n_cubed
LIKELY = "the memory is taken to grow like n to the third"
HINT = "Work is one thing, memory another. Which tensor is the largest, and what is its shape?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 8


# %% reflect_fused_like_the_scores
LIKELY = "the built-in is taken to store the scores, too"
HINT = "Which tensors does the built-in leave behind, without a mask? None of them has two axes of size n."
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 4


# %% reflect_fused_constant
LIKELY = "the built-in is taken to need no memory at all"
HINT = "The output has a row for each query. How many rows are there for 2n?"
VALUES_RIGHT = True


REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 1
