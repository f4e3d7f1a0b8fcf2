"""Names of calls, as reports and the rules of a module write them. Only `is_torch_name` needs torch."""

from __future__ import annotations

import re
from functools import cache

PREFIX = "torch."
PACKAGE = "mylab"  # the package of a student's modules
SUM = "the sum of a product of arrays"
LONG_INTEGERS = "a product of long integers"
UNKNOWN_OPERATOR = "an operator of a library type"
OWN_PATH = "numpy.einsum with a path of its own"
UNKNOWN = "something of its own"
ATTENTION = "torch.scaled_dot_product_attention"
# Names of calls that are not names of functions.
OTHER_NAMES = frozenset({"@", SUM, LONG_INTEGERS, UNKNOWN_OPERATOR, OWN_PATH, UNKNOWN, "torch.jit"})
_CALLED = re.compile(r"\baten::(\w+)")
_ATTENTION = {
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "native_multi_head_attention",
    "triton_multi_head_attention",
    "triton_scaled_dot_attention",
    "transformer_encoder_layer_fwd",
    "flex_attention",
    "safe_softmax",  # what remains of ready-made attention after torch has split it up; nothing else calls it
}
_ATTENTION_PREFIXES = ("scaled_dot_product", "flash_attention", "efficient_attention", "fused_sdp", "flex_attention")
_READY_MADE = {"cross_entropy", "cross_entropy_loss", "linear_cross_entropy", "rms_norm", "fused_rms_norm"}
_PRODUCTS = {"matmul", "rmatmul", "mm", "bmm", "mv", "dot", "vdot", "inner", "vecdot", "einsum", "tensordot"}
_PRODUCTS |= {"addmm", "addbmm", "baddbmm", "addmv", "linear", "bilinear", "chain_matmul", "multi_dot"}


def is_product(name: str) -> bool:
    """Whether a torch function is a product of matrices or vectors."""
    return name.rpartition(".")[2].strip("_") in _PRODUCTS


def is_ready_made(name: str) -> bool:
    """Whether a torch function or operation is a loss or a norm that students write themselves."""
    return any(part.strip("_") in _READY_MADE for part in name.split("."))


def is_attention(name: str) -> bool:
    """Whether a torch function or operation, by any of its names, is ready-made attention."""
    plain = [part.strip("_") for part in name.split(".")]
    return any(part in _ATTENTION or part.startswith(_ATTENTION_PREFIXES) for part in plain)


def attention_in(graph: str) -> str | None:
    """Return the first ready-made attention that compiled code calls, found in the text of its graph."""
    return next((name for name in _CALLED.findall(graph) if is_attention(name)), None)


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
