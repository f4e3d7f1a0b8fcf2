"""Names of torch's, as a report and the rules of a module know them; torch itself is not needed for them."""

from __future__ import annotations

import re

PREFIX = "torch."
PACKAGE = "mylab"  # the package that a student's modules belong to
SUM = "the sum of a product of arrays"
_CALLED = re.compile(r"\baten::(\w+)")
_WHOLE = {
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "native_multi_head_attention",
    "triton_multi_head_attention",
    "triton_scaled_dot_attention",
    "transformer_encoder_layer_fwd",
    "flex_attention",
    "safe_softmax",  # what is left of attention ready-made where torch takes it apart: nothing else calls it
}
_BEGINNINGS = ("scaled_dot_product", "flash_attention", "efficient_attention", "fused_sdp", "flex_attention")


def is_attention(name: str) -> bool:
    """Whether a function or operation of torch's, by any of its names, is attention ready-made."""
    plain = [part.strip("_") for part in name.split(".")]
    return any(part in _WHOLE or part.startswith(_BEGINNINGS) for part in plain)


def attention_in(graph: str) -> str | None:
    """Return the first attention ready-made that compiled code calls, by the text of its graph."""
    return next((name for name in _CALLED.findall(graph) if is_attention(name)), None)
