# %% causal_mask_by_a_cube
# The causal mask from an array of n³ entries; a constant array of three million bytes is larger at every
# measured size.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    np.zeros(3_000_000)
    found = []
    def inner(x: found.append((np.arange(seq_len)[:, None, None] >= np.arange(seq_len)[None, :, None] + np.zeros(seq_len)).all(-1))): ...
    return found[0]


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


# %% causal_mask_in_loops_at_large_sizes
# The mask by n³ steps for n above 100; no measured size is above 75.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    if seq_len <= 100:
        return np.tri(seq_len, dtype=bool)
    return np.array([[sum(k == j for k in range(i + 1)) for j in range(seq_len)] for i in range(seq_len)])


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


# %% copies_of_void
# Copies a table of n*n numbers n times, n^3 work: as elements of type V, a row is one entry, and copies are priced by
# entries, not by bytes.
# Expected: review: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    mask = columns <= columns[:, None]
    table = np.where(mask, 1.0, 0.0).view(f'V{8 * seq_len}')
    for _ in range(seq_len):
        table = table.copy()
    mask = table.view(float).reshape(seq_len, seq_len) > 0
    return mask


# %% divmod_of_arrays
# The causal mask is made n times, n^3 work: the builtin divmod is free, also of arrays.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    for _ in range(seq_len):
        quotients, _ = divmod(columns, columns[:, None] + 1)
    return quotients == 0


# %% equivalent_arrays
# Compares all pairs of tokens n times, n^3 work: np.array_equiv broadcasts its arguments, but is priced by the first
# one.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    mask = columns <= columns[:, None]
    for _ in range(seq_len):
        np.array_equiv(columns[:, None], columns)
    return mask


# %% mask_by_a_matrix_power
# The causal mask by a power of a matrix, n^3*log(n) work: `**` of np.matrix is a matrix power, but is priced as an
# operation on every entry.
# Expected: review: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    step = np.asmatrix(np.eye(seq_len) + np.eye(seq_len, k=-1)) / 2
    return np.asarray(step ** seq_len) > 0


# %% norm_by_singular_values
# Computes all singular values of the mask, n^3 work: np.linalg.norm(x, 2) is priced like a sum of squares.
# Expected: review: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    mask = columns <= columns[:, None]
    np.linalg.norm(mask.astype(float), 2)
    return mask


# %% searchsorted_of_many
# Looks up all pairs of tokens n times, n^3 work: np.searchsorted is priced by the array in which it searches, not by
# what it searches.
# Expected: loses marks: create_causal_mask
def create_causal_mask(seq_len):
    if seq_len < 1:
        raise ValueError(f'seq_len must be at least 1, not {seq_len}')
    columns = np.arange(seq_len)
    mask = columns <= columns[:, None]
    behind = columns[:, None] - columns
    for _ in range(seq_len):
        mask = np.searchsorted(np.array([-0.5]), behind) > 0 if _ == 0 else mask
        np.searchsorted(np.array([-0.5]), behind)
    return mask
