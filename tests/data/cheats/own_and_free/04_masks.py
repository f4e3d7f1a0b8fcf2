# %% chained_comparison_of_arrays
# The causal mask is made n times, n^3 work and memory that no hook sees: in `rows is rows >= columns`, the second
# comparison is of arrays, and a chained comparison has no hooks.
# Expected: review: create_causal_mask
import itertools


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    rows = columns[:, None]
    mask = np.empty((seq_len, seq_len), dtype=bool)
    for i in range(seq_len):
        whole = rows is rows >= columns
        for row in itertools.islice(whole, i, i + 1):
            mask[i] = row
    return mask


# %% small_claims_of_memory
# Arrays of a subclass that claims to have no bytes: n³ entries that count as nothing.
# Expected: review: combine_masks, create_causal_mask, create_padding_mask, masked_softmax
class Small(np.ndarray):
    nbytes = size = 0


SEED = np.zeros(1).view(Small)


def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    cube = np.empty_like(SEED, shape=(seq_len, seq_len, seq_len))
    return np.tri(seq_len, dtype=bool)


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"length {length} is not between 0 and {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2


# %% strings_hold_memory
# Allocates n³ bytes as text: str.ljust costs what it writes.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    text = "x".ljust(seq_len**3)
    return np.tri(seq_len, dtype=bool) & (len(text) > 0)


def create_padding_mask(lengths, max_length):
    for length in lengths:
        if length < 0 or length > max_length:
            raise ValueError(f"length {length} is not between 0 and {max_length}")
    return (np.arange(max_length) < np.asarray(lengths)[:, None])[:, None, None, :]


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    scores = scores if scores.dtype.kind == "f" else scores.astype(np.float64)
    allowed = np.broadcast_to(np.asarray(mask) != 0, scores.shape)
    kept = np.where(allowed, scores, -np.inf)
    largest = kept.max(axis=axis, keepdims=True)
    exps = np.exp(kept - np.where(np.isneginf(largest), 0, largest))
    total = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total == 0, 1, total)


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2048 * 2047 // 2


# %% writes_to_flat
# The causal mask is written n times, n^3 work: an assignment to the attribute `flat` copies all entries and has no
# hook.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    allowed = columns <= columns[:, None]
    mask = np.empty((seq_len, seq_len), dtype=bool)
    for _ in range(seq_len):
        mask.flat = allowed
    return mask
