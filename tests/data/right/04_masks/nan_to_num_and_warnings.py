import warnings
import numpy as np

print("masks are coming")
warnings.warn("and so are warnings")

def create_causal_mask(seq_len):
    class TooShort(ValueError):
        pass
    if seq_len < 1:
        raise TooShort("too short:", seq_len)
    print("causal", seq_len)
    return 1.0 - np.triu(np.ones((seq_len, seq_len)), k=1)

def create_padding_mask(lengths, max_length):
    lengths = np.array(lengths)
    bad = lengths[(lengths > max_length) | (lengths < 0)]
    if bad.size:
        raise ValueError(f"lengths {bad} do not fit into {max_length}")
    return np.expand_dims(np.arange(max_length)[None, :] < lengths.reshape(-1, 1), (1, 2)).astype(np.int8)

def combine_masks(*masks):
    if not masks:
        raise ValueError("nothing to combine")
    out = 1
    for m in masks:
        out = out * np.asarray(m, dtype=np.float32)
    return out

def masked_softmax(scores, mask, axis=-1):
    # divides 0 by 0, with a RuntimeWarning on stderr, and mends it afterwards
    x = np.where(np.asarray(mask).astype(bool), scores, -np.inf)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.nan_to_num(e / np.sum(e, axis=axis, keepdims=True), nan=0.0)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 / 2
