import numpy as np

def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len {seq_len} < 1")
    # one long row of ones and zeros, seen through a window that moves: a view, not contiguous
    row = np.r_[np.zeros(seq_len - 1, bool), np.ones(seq_len, bool)]
    return np.lib.stride_tricks.sliding_window_view(row, seq_len)[:, ::-1]

def create_padding_mask(lengths, max_length):
    bad = [n for n in lengths if n < 0 or n > max_length]
    if bad:
        raise ValueError("lengths", bad, "for max_length", max_length)
    return np.greater.outer(np.array(lengths), np.arange(max_length))[:, None, None]

def combine_masks(*masks):
    try:
        first = masks[0]
    except IndexError:
        raise ValueError("give me a mask") from None
    return np.broadcast_to(np.prod(np.broadcast_arrays(*masks), axis=0), np.broadcast_shapes(*map(np.shape, masks)))

def masked_softmax(scores, mask, axis=-1):
    out = np.zeros(scores.shape, dtype=scores.dtype if scores.dtype.kind == "f" else "f8")
    view, x = np.moveaxis(out, axis, 0), np.moveaxis(scores, axis, 0)
    seen = np.moveaxis(np.broadcast_to(np.asarray(mask, bool), scores.shape), axis, 0)
    top = np.max(x.astype(float), axis=0, where=seen, initial=-np.inf)
    view[seen] = np.exp(x[seen] - np.broadcast_to(top, x.shape)[seen])
    total = view.sum(axis=0)
    np.divide(view, total, out=view, where=total > 0)
    return out

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = np.int64(2096128)
