# %% in_one_line
# Expected: nothing


def pick_device(prefer="cuda"):
    return torch.device(prefer if prefer != "cuda" or torch.cuda.is_available() else "cpu")


# %% counted
# Expected: nothing
from torch.cuda import device_count, is_available


def pick_device(prefer="cuda"):
    if prefer == "cuda" and is_available() and device_count() > 0:
        return torch.device("cuda")
    return torch.device("cpu")


# %% tried
# Expected: nothing


def pick_device(prefer="cuda"):
    device = torch.device(prefer)
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        return torch.device("cpu")
    return device


# %% tried_alone
# Expected: nothing


def pick_device(prefer="cuda"):
    try:
        torch.ones(1).to(prefer)
        return torch.device(prefer)
    except RuntimeError:
        return torch.device("cpu")


# %% the_current_one
# Expected: nothing


def pick_device(prefer="cuda"):
    if prefer == "cuda" and torch.cuda.is_available():
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


# %% an_accelerator
# Expected: nothing


def pick_device(prefer="cuda"):
    if prefer == "cuda" and torch.accelerator.is_available():
        return torch.accelerator.current_accelerator()
    return torch.device("cpu")


# %% always_cuda
# Expected: stray


def pick_device(prefer="cuda"):
    return torch.device("cuda")


# %% as_it_was_asked
# Expected: stray


def pick_device(prefer="cuda"):
    return torch.device(prefer)


# %% always_the_cpu
# Expected: stray


def pick_device(prefer="cuda"):
    return torch.device("cpu")
