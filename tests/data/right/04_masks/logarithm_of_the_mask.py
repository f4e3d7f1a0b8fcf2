import functools
import numpy as np

def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len=}")
    i, j = np.indices((seq_len, seq_len))
    return np.less_equal(j, i)

def create_padding_mask(lengths, max_length):
    low, high = min(lengths), max(lengths)
    if low < 0:
        raise ValueError(f"{low} < 0")
    if high > max_length:
        raise ValueError(f"{high} > {max_length}")
    return np.greater.outer(np.asarray(lengths), np.arange(max_length))[:, np.newaxis, np.newaxis, :]

def combine_masks(*masks):
    if not masks:
        raise ValueError("combine_masks() needs a mask")
    return functools.reduce(np.minimum, masks)

def masked_softmax(scores, mask, axis=-1):
    # log 1 = 0 leaves a score as it is, log 0 = -inf takes it away; log-sum-exp does the rest
    floats = np.asarray(scores, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = floats + np.log(np.asarray(mask, dtype=np.float64))
        norm = np.logaddexp.reduce(logits, axis=axis, keepdims=True)
        weights = np.exp(logits - norm)
    weights[np.isnan(weights)] = 0
    return weights.astype(scores.dtype if scores.dtype.kind == "f" else np.float64)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = (2048**2 - 2048) // 2
