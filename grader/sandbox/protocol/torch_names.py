"""Names of torch's functions and operations: the only names that a message about a worker's finding may have."""

from __future__ import annotations

from functools import cache

# How the simulated GPU names what has no function of its own.
_OURS = {"mask", "synchronize"}


def is_torch_name(name: str) -> bool:
    """Whether torch has a function, a method or an operation of this name. Student code can choose any other."""
    return name in _OURS or name in _names()


@cache
def _names() -> frozenset[str]:
    import torch

    owners = (torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.fft, torch.special, torch.autograd)
    operations = (name.partition("::")[2].partition(".")[0] for name in torch._C._dispatch_get_all_op_names())
    return frozenset(name for owner in owners for name in dir(owner)) | frozenset(operations)
