"""Names of torch's, as a report and the rules of a module know them; torch itself is not needed for them."""

from __future__ import annotations

PREFIX = "torch."
_WHOLE = {
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "native_multi_head_attention",
    "triton_multi_head_attention",
    "triton_scaled_dot_attention",
    "transformer_encoder_layer_fwd",
    "flex_attention",
}
_BEGINNINGS = ("scaled_dot_product", "flash_attention", "efficient_attention", "fused_sdp", "flex_attention")


def is_attention(name: str) -> bool:
    """Whether a function or operation of torch's is attention ready-made."""
    plain = name.rpartition(".")[2].strip("_")
    return plain in _WHOLE or plain.startswith(_BEGINNINGS)
