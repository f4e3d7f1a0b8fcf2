import numpy as np


# %% causal_diagonal_excluded vectorised
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len} tokens are too few")
    place = np.arange(seq_len)
    return place[None, :] < place[:, None]


# %% causal_diagonal_excluded looped
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len} tokens are too few")
    mask = np.zeros((seq_len, seq_len), dtype=int)
    for i in range(seq_len):
        mask[i, :i] = 1
    return mask


# %% causal_diagonal_excluded lists
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"{seq_len} tokens are too few")
    return np.array([[1.0] * i + [0.0] * (seq_len - i) for i in range(seq_len)])


# %% causal_upper_triangle vectorised
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"got {seq_len}")
    i, j = np.indices((seq_len, seq_len))
    return j >= i


# %% causal_upper_triangle looped
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"got {seq_len}")
    mask = np.zeros((seq_len, seq_len))
    for key in range(seq_len):
        for query in range(seq_len):
            if query <= key:
                mask[query, key] = 1
    return mask


# %% causal_upper_triangle lists
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"got {seq_len}")
    rows = [[True] * seq_len]
    while len(rows) < seq_len:
        rows.append([False, *rows[-1][:-1]])
    return np.array(rows)


# %% padding_one_too_many vectorised
def create_padding_mask(lengths, max_length):
    counts = np.array(lengths)
    if (counts > max_length).any():
        raise ValueError(f"{counts.max()} tokens in {max_length} places")
    if (counts < 0).any():
        raise ValueError(f"a sentence of {counts.min()} tokens")
    blocked = np.greater.outer(np.arange(max_length), counts).T
    return 1 - blocked.reshape(len(counts), 1, 1, max_length)


# %% padding_one_too_many looped
def create_padding_mask(lengths, max_length):
    mask = np.zeros((len(lengths), 1, 1, max_length))
    for b, length in enumerate(lengths):
        if length < 0 or length > max_length:
            raise ValueError(f"{length} tokens in {max_length} places")
        mask[b, 0, 0, : length + 1] = 1
    return mask


# %% padding_one_too_many lists
def create_padding_mask(lengths, max_length):
    batch = []
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"{length} tokens in {max_length} places")
        batch.append([[[0 if place > length else 1 for place in range(max_length)]]])
    return np.array(batch)


# %% padding_true_is_blocked vectorised
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"{length} of {max_length}")
    tokens = np.add.outer(-np.asarray(lengths), np.arange(max_length)) < 0
    return np.logical_not(tokens)[:, np.newaxis, np.newaxis, :]


# %% padding_true_is_blocked looped
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"{length} of {max_length}")
    mask = np.zeros((len(lengths), 1, 1, max_length), dtype=int)
    for b in range(len(lengths)):
        mask[b, :, :, lengths[b] :] = 1
    return mask


# %% padding_true_is_blocked lists
def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"{length} of {max_length}")
    return np.array([[[[0.0] * int(length) + [1.0] * (max_length - int(length))]] for length in lengths])


# %% combines_with_or vectorised
def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("give at least one mask")
    total = 0
    for mask in masks:
        total = total + np.asarray(mask).astype(float)
    return (total > 0).astype(float)


# %% combines_with_or looped
def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("give at least one mask")
    shape = np.broadcast_shapes(*[mask.shape for mask in masks])
    result = np.zeros(shape, dtype=int)
    for mask in masks:
        full = np.broadcast_to(mask, shape)
        for place in np.ndindex(shape):
            if full[place]:
                result[place] = 1
    return result


# %% combines_with_or lists
def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError("give at least one mask")
    full = np.broadcast_arrays(*masks)
    flat = [any(entries) for entries in zip(*(mask.ravel().tolist() for mask in full), strict=True)]
    return np.array(flat).reshape(full[0].shape)


# %% mask_after_softmax vectorised
def softmax(x, axis):
    powers = np.exp(x - np.amax(x, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    return softmax(scores.astype(kind), axis) * (mask == 1).astype(kind)


# %% mask_after_softmax looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    rows, seen = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.moveaxis(weights, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        row = rows[place].astype(np.float64)
        powers = np.exp(row - row.max())
        for j in range(len(row)):
            if seen[place][j]:
                out[place][j] = powers[j] / powers.sum()
    return weights


# %% mask_after_softmax lists
def one_row(row, seen):
    from math import exp

    largest = max(row)
    powers = [exp(score - largest) for score in row]
    return [power / sum(powers) if ok else 0.0 for power, ok in zip(powers, seen, strict=True)]


def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores, axis, -1)
    seen = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    size = rows.shape[-1]
    pairs = zip(rows.reshape(-1, size).tolist(), seen.reshape(-1, size).tolist(), strict=True)
    weights = np.array([one_row(row, ok) for row, ok in pairs], dtype=kind)
    return np.moveaxis(weights.reshape(rows.shape), -1, axis)


# %% mask_after_softmax einsum
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores.astype(kind), axis, -1)
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    ones = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1).astype(kind)
    weights = np.einsum("...j,...,...j->...j", powers, 1 / np.einsum("...j->...", powers), ones)
    return np.moveaxis(weights, -1, axis)


# %% mask_multiplies_scores vectorised
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    zeroed = np.where(mask, scores, 0).astype(kind)
    zeroed -= zeroed.max(axis=axis, keepdims=True)
    np.exp(zeroed, out=zeroed)
    return zeroed / zeroed.sum(axis=axis, keepdims=True)


# %% mask_multiplies_scores looped
def masked_softmax(scores, mask, axis=-1):
    zeroed = np.array(scores, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    full = np.broadcast_to(mask, scores.shape)
    for place in np.ndindex(scores.shape):
        if not full[place]:
            zeroed[place] = 0
    rows = np.moveaxis(zeroed, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        powers = np.exp(rows[place] - max(rows[place]))
        rows[place] = powers / powers.sum()
    return zeroed


# %% mask_multiplies_scores einsum
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    ones = np.broadcast_to(mask, scores.shape).astype(kind)
    left = np.moveaxis(np.einsum("...,...->...", scores.astype(kind), ones), axis, -1)
    powers = np.exp(left - left.max(axis=-1)[..., None])
    return np.moveaxis(np.einsum("...j,...->...j", powers, 1 / np.einsum("...j->...", powers)), -1, axis)


# %% mask_multiplies_scores lists
def masked_softmax(scores, mask, axis=-1):
    from math import exp

    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores, axis, -1)
    seen = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1).reshape(-1, rows.shape[-1])
    result = []
    for row, oks in zip(rows.reshape(seen.shape).tolist(), seen.tolist(), strict=True):
        left = [score * ok for score, ok in zip(row, oks, strict=True)]
        powers = [exp(score - max(left)) for score in left]
        result.append([power / sum(powers) for power in powers])
    return np.moveaxis(np.array(result, dtype=kind).reshape(rows.shape), -1, axis)


# %% softmax_true_is_blocked vectorised
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    filled = np.ma.masked_array(scores.astype(kind), mask=np.broadcast_to(mask, scores.shape).astype(bool))
    powers = np.ma.exp(filled - filled.max(axis=axis, keepdims=True)).filled(0)
    total = powers.sum(axis=axis, keepdims=True)
    total[total == 0] = 1
    return powers / total


# %% softmax_true_is_blocked looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    rows, blocked = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.moveaxis(weights, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        keep = [j for j in range(rows.shape[-1]) if not blocked[place][j]]
        if keep:
            row = rows[place][keep].astype(np.float64)
            powers = np.exp(row - row.max())
            out[place][keep] = powers / powers.sum()
    return weights


# %% softmax_true_is_blocked lists
def masked_softmax(scores, mask, axis=-1):
    from math import exp

    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores, axis, -1)
    hide = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1).reshape(-1, rows.shape[-1])
    result = []
    for row, hidden in zip(rows.reshape(hide.shape).tolist(), hide.tolist(), strict=True):
        left = [score for score, away in zip(row, hidden, strict=True) if not away]
        total = sum(exp(score - max(left)) for score in left)
        result.append(
            [0.0 if away else exp(score - max(left)) / total for score, away in zip(row, hidden, strict=True)]
        )
    return np.moveaxis(np.array(result, dtype=kind).reshape(rows.shape), -1, axis)


# %% fills_minus_1e9 vectorised
def masked_softmax(scores, mask, axis=-1):
    filled = scores.astype(np.float32 if scores.dtype == np.float32 else np.float64)
    np.putmask(filled, np.broadcast_to(mask, scores.shape) == 0, -1e9)
    powers = np.exp(np.subtract(filled, filled.max(axis, keepdims=True)))
    return np.divide(powers, powers.sum(axis, keepdims=True))


# %% fills_minus_1e9 looped
def masked_softmax(scores, mask, axis=-1):
    filled = np.array(scores, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    full = np.broadcast_to(mask, scores.shape)
    for place in np.ndindex(scores.shape):
        filled[place] = filled[place] if full[place] else -1e9
    rows = np.moveaxis(filled, axis, 0)
    top = rows[0].copy()
    for row in rows:
        top = np.maximum(top, row)
    total = sum(np.exp(row - top) for row in rows)
    return np.moveaxis(np.stack([np.exp(row - top) / total for row in rows]), 0, axis)


# %% fills_minus_1e9 lists
def masked_softmax(scores, mask, axis=-1):
    from math import exp

    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores, axis, -1)
    seen = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1).reshape(-1, rows.shape[-1])
    result = []
    for row, oks in zip(rows.reshape(seen.shape).tolist(), seen.tolist(), strict=True):
        left = [score if ok else -1e9 for score, ok in zip(row, oks, strict=True)]
        powers = [exp(score - max(left)) for score in left]
        result.append([power / sum(powers) for power in powers])
    return np.moveaxis(np.array(result, dtype=kind).reshape(rows.shape), -1, axis)


# %% blocked_row_nan vectorised
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    with np.errstate(all="ignore"):
        left = scores.astype(kind) + np.log(np.asarray(mask) != 0).astype(kind)
        powers = np.exp(left - left.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


# %% blocked_row_nan looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    rows, seen = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.moveaxis(weights, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        ok = seen[place].astype(bool)
        top = np.max(rows[place], where=ok, initial=-np.inf) if rows.dtype.kind == "f" else rows[place][ok].max()
        powers = np.zeros(len(ok))
        powers[ok] = np.exp(rows[place][ok].astype(np.float64) - top)
        with np.errstate(invalid="ignore"):
            out[place] = powers / powers.sum()
    return weights


# %% blocked_row_nan einsum
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores.astype(kind), axis, -1).copy()
    rows[np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1) == 0] = -np.inf
    top = rows.max(axis=-1)[..., None]
    powers = np.exp(rows - np.where(np.isinf(top), 0, top))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 / np.einsum("...j->...", powers)
        return np.moveaxis(np.einsum("...j,...->...j", powers, share), -1, axis)


# %% blocked_maximum vectorised
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    whole = scores.astype(kind)
    powers = np.exp(whole - np.amax(whole, axis=axis, keepdims=True)) * np.asarray(mask).astype(kind)
    total = np.add.reduce(powers, axis=axis, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


# %% blocked_maximum looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    rows, seen = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.moveaxis(weights, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        total = 0.0
        for score, ok in zip(rows[place], seen[place], strict=True):
            total += np.exp(float(score) - float(rows[place].max())) if ok else 0.0
        for j, ok in enumerate(seen[place]):
            if ok and total > 0:
                out[place][j] = np.exp(float(rows[place][j]) - float(rows[place].max())) / total
    return weights


# %% blocked_maximum einsum
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = np.moveaxis(scores.astype(kind), axis, -1)
    ones = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1).astype(kind)
    powers = np.exp(rows - rows.max(axis=-1)[..., None])
    total = np.einsum("...j,...j->...", powers, ones)
    share = 1 / np.where(total == 0, kind(1), total)
    return np.moveaxis(np.einsum("...j,...j,...->...j", powers, ones, share), -1, axis)


# %% axis_ignored vectorised
def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    left = np.where(np.asarray(mask) == 0, -np.inf, scores).astype(kind)
    top = left.max(axis=-1, keepdims=True)
    top[top == -np.inf] = 0
    powers = np.exp(left - top)
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1e-300 if kind is np.float64 else kind(1e-30))


# %% axis_ignored looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    seen = np.broadcast_to(mask, scores.shape) != 0
    for place in np.ndindex(scores.shape[:-1]):
        ok = seen[place]
        if ok.any():
            row = scores[place][ok].astype(np.float64)
            powers = np.exp(row - row.max())
            weights[place][ok] = powers / powers.sum()
    return weights


# %% axis_ignored lists
def row_of(row, seen):
    from math import exp

    left = [score for score, ok in zip(row, seen, strict=True) if ok]
    total = sum(exp(score - max(left)) for score in left)
    return [exp(score - max(left)) / total if ok else 0.0 for score, ok in zip(row, seen, strict=True)]


def masked_softmax(scores, mask, axis=-1):
    kind = np.float32 if scores.dtype == np.float32 else np.float64
    rows = scores.reshape(-1, scores.shape[-1]).tolist()
    seen = np.broadcast_to(mask, scores.shape).reshape(-1, scores.shape[-1]).tolist()
    return np.array([row_of(*both) for both in zip(rows, seen, strict=True)], dtype=kind).reshape(scores.shape)


# %% weights_in_float32 looped
def masked_softmax(scores, mask, axis=-1):
    weights = np.zeros(scores.shape, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    rows, seen = np.moveaxis(scores, axis, -1), np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.moveaxis(weights, axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        ok = seen[place] != 0
        if ok.any():
            row = rows[place][ok].astype(np.float32)
            powers = np.exp(row - row.max())
            out[place][ok] = powers / powers.sum()
    return weights


# %% weights_in_float32 einsum
def masked_softmax(scores, mask, axis=-1):
    rows = np.moveaxis(scores, axis, -1).astype("f4")
    seen = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1) == 1
    rows = np.where(seen, rows, np.float32(-np.inf))
    powers = np.where(seen, np.exp2((rows - np.where(seen, rows, -9e37).max(axis=-1)[..., None]) / np.log(2)), 0)
    powers = powers.astype("f4")
    total = np.einsum("...j->...", powers)
    weights = np.einsum("...j,...->...j", powers, 1 / np.where(total > 0, total, np.float32(1)))
    return np.moveaxis(weights, -1, axis).astype("f4" if scores.dtype == np.float32 else "f8")


# %% blocked_row_uniform zeros
def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    kept = np.where(allowed.any(axis=axis, keepdims=True), kept, 0)
    exps = np.exp(kept - kept.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)
